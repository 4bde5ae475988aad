"""Reasoning is no answer, and a box holds one."""

from __future__ import annotations

import pytest

from probatum.extraction import Ambiguous, Missing, extract_boxed, strip_reasoning
from probatum.extraction.boxes import find_boxed, find_boxes
from probatum.extraction.reasoning import visible

CLOSED = [
    ("<think>a</think>b", "b", "think"),
    ("<think>\na\n</think>\n\nb", "b", "think"),
    ("<THINK>a</THINK>b", "b", "think"),
    ('<think effort="high">a</think>b', "b", "think"),
    ("a</think>b", "b", "think"),
    ("<thinking>a</thinking>b", "b", "thinking"),
    ("<thought>a</thought>b", "b", "thought"),
    ("<reasoning>a</reasoning>b", "b", "reasoning"),
    ("<reflection>a</reflection>b", "b", "reflection"),
    ("<scratchpad>a</scratchpad>b", "b", "scratchpad"),
    ("<inner_thoughts>a</inner_thoughts>b", "b", "inner_thoughts"),
    ("<seed:think>a</seed:think>b", "b", "seed:think"),
    ("<longcat_think>a</longcat_think>b", "b", "longcat_think"),
    ("[THINK]a[/THINK]b", "b", "bracket"),
    ("◁think▷a◁/think▷b", "b", "kimi"),
    ("<|begin_of_thought|>a<|end_of_thought|>b", "b", "token"),
    ("<|START_THINKING|>a<|END_THINKING|>b", "b", "token"),
    ("<unused94>thought\na<unused95>b", "b", "unused"),
    ('<details type="reasoning" done="true">a</details>b', "b", "details"),
    ("<|channel>thought\na<channel|>b", "b", "gemma"),
    ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b", "harmony"),
    ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "b", "harmony"),
    ("<|channel|>final<|message|>b", "b", "harmony"),
    ("analysisWe need a.assistantfinalb", "b", "harmony"),
    ("Here is my thought process: a\nHere is my response: b", "b", "granite"),
    ("<think>a</think>b<think>c</think>d", "b", "think"),
    ("<think>a <think> b</think>c", "c", "think"),
    ("<think>a</think>b</think>", "b", "think"),
    ("<think></think>b", "b", "think"),
    ("b", "b", "none"),
    ("The tag `<think>` opens it", "The tag `<think>` opens it", "none"),
    ('text.split("</think>")[1]', 'text.split("</think>")[1]', "none"),
    ("<div>b</div>", "<div>b</div>", "none"),
    ("a <b", "a <b", "none"),
]


@pytest.mark.parametrize(("text", "answer", "kind"), CLOSED)
def test_what_is_no_reasoning_is_left(text: str, answer: str, kind: str) -> None:
    found = strip_reasoning(text)
    assert found is not None
    assert found.answer.startswith(answer)
    assert "a" not in found.answer or kind == "none"
    assert found.rule == f"reasoning:{kind}"
    assert text[slice(*found.span)].startswith(answer[:1])


def test_blocks_inside_the_answer_are_blanked() -> None:
    text = "one <think>two</think> three"
    seen = visible(text)
    assert len(seen.text) == len(text)
    assert seen.text.split() == ["one", "three"]


@pytest.mark.parametrize(
    "text",
    [
        "<think>a",
        "b<think>a",
        "[THINK]a",
        "◁think▷a",
        "<|channel|>analysis<|message|>a",
        "analysisWe need a",
        "Here's my thought process: a",
        "<think>a</think>b<think>c",
    ],
)
def test_reasoning_that_stays_open_leaves_nothing(text: str) -> None:
    assert strip_reasoning(text) is None
    assert visible(text).truncated


@pytest.mark.parametrize("text", ["", "  ", "<think>a</think>", "<think>a</think>\n "])
def test_nothing_but_reasoning_is_no_answer(text: str) -> None:
    assert strip_reasoning(text) is None
    assert not visible(text).truncated


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("\\boxed{5}", "5"),
        ("\\boxed {5}", "5"),
        ("\\fbox{5}", "5"),
        ("\\boxed{ 5 }", "5"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\boxed{\\boxed{5}}", "5"),
        ("\\boxed{1}. Later: \\boxed{2}.", "2"),
        ("\\boxed{315}., but let me restate.\n\n\\boxed{315}", "315"),
        ("\\boxed{7}. (mark it with \\boxed )", "7"),
        ("\\boxed{7} and } or { alone", "7"),
        ("\\boxed{}\\boxed{7}", "7"),
        ("<think>\\boxed{3}</think>\\boxed{7}", "7"),
        ("{ \\boxed{7}", "7"),
    ],
)
def test_the_last_complete_box_holds_the_answer(text: str, answer: str) -> None:
    found = extract_boxed(text)
    assert found is not None
    assert found.answer == answer
    assert text[slice(*found.span)] == answer


@pytest.mark.parametrize("text", ["", "5", "\\boxed", "\\boxed 5", "\\boxed{}", "\\notboxed{5}"])
def test_without_a_box_there_is_none(text: str) -> None:
    assert isinstance(find_boxed(text), Missing)
    assert not find_boxed(text).truncated


def test_a_box_that_was_cut_off_takes_the_drafts_with_it() -> None:
    found = find_boxed("First guess \\boxed{12}. After checking, the true value is \\boxed{")
    assert isinstance(found, Missing)
    assert found.truncated


def test_different_boxes_in_one_sentence_are_ambiguous() -> None:
    assert isinstance(find_boxed("x = \\boxed{3} or x = \\boxed{4}"), Ambiguous)
    assert extract_boxed("x = \\boxed{3}, that is \\boxed{3}").answer == "3"


def test_depth_does_not_matter() -> None:
    deep = 50_000
    assert extract_boxed("\\boxed{" * deep + "5" + "}" * deep).answer == "5"
    assert find_boxes("{" * deep).spans == ()
    assert find_boxes("\\boxed{" * deep).unclosed
