"""Short answers in words, and declared lines."""

from __future__ import annotations

import pytest

from probatum.core.errors import ProtocolError
from probatum.core.records import Item
from probatum.extraction import Ambiguous, DeclaredLine, Extraction, Missing, PatternAnswer
from probatum.extraction.short import find_declared, find_short
from probatum.extraction.stops import Cut, check_stops, cut_at_stop

ITEM = Item(id="i", fields={})

SHORT = [
    ("Answer: Paris", "Paris", "declared:line"),
    ("**Answer:** *Paris*.", "Paris", "declared:line"),
    ("Some words.\nAnswer: “New York”", "New York", "declared:line"),
    ("Answer: St. Petersburg", "St. Petersburg", "declared:line"),
    ("Answer:\nParis", "Paris", "declared:line"),
    ("Answer: Paris\nAnswer: Rome", "Rome", "declared:line"),
    ("答案：巴黎。", "巴黎", "declared:line"),
    ("So \\boxed{\\text{Paris}}", "Paris", "box"),
    ("Let me see. The answer is Paris.", "Paris", "phrase:answer"),
    ("It is known that the correct answer is: Paris", "Paris", "phrase:answer"),
    ("因此答案是巴黎。", "巴黎", "phrase:answer"),
    ("Paris", "Paris", "whole:line"),
    (" 'Paris'. \n", "Paris", "whole:line"),
    ("Paris<|im_end|>", "Paris", "whole:line"),
    ("<think>Rome?</think>\n\nParis", "Paris", "whole:line"),
    ("3.5", "3.5", "whole:line"),
]


@pytest.mark.parametrize(("text", "answer", "rule"), SHORT)
def test_a_short_answer_is_found_without_its_dress(text: str, answer: str, rule: str) -> None:
    found = find_short(text)
    assert isinstance(found, Extraction), found
    assert (found.answer, found.rule) == (answer, rule)
    assert answer in text[slice(*found.span)]


def test_several_lines_are_no_short_answer_unless_the_task_says_so() -> None:
    text = "Paris\nIt lies on the Seine."
    assert isinstance(find_short(text), Missing)
    found = find_short(text, loose=True)
    assert (found.answer, found.rule, found.loose) == ("Paris", "loose:first_line", True)


def test_two_short_answers_are_none() -> None:
    assert isinstance(find_short("I say the answer is Paris. Or the answer is Rome."), Ambiguous)
    assert find_short("I say the answer is Paris. Yes, the answer is paris.").answer == "paris"


@pytest.mark.parametrize("text", ["", " \n", "Answer:", "...", "<think>a</think>"])
def test_nothing_is_no_answer(text: str) -> None:
    assert isinstance(find_short(text), Missing)


def test_the_declared_line_that_counts_is_declared() -> None:
    text = "#### 5\nmore\n#### 7"
    assert find_declared(text, ("####",)).answer == "7"
    assert find_declared(text, ("####",), "first").answer == "5"
    assert isinstance(find_declared(text, ("####",), "only"), Ambiguous)
    assert find_declared("#### 5\n#### 5", ("####",), "only").answer == "5"
    assert isinstance(DeclaredLine(declared=("####",)).extract("Answer: 5", ITEM), Missing)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("RESULT => 5", "5"),
        ("result => 5", "5"),
        ("- **RESULT  =>** 5", "5"),
        ("We have RESULT => 5", "5"),
        ("RESULTS => 5", None),
    ],
)
def test_a_mark_may_be_any_text(text: str, answer: str | None) -> None:
    found = DeclaredLine(declared=("RESULT =>",)).extract(text, ITEM)
    assert (found.answer if isinstance(found, Extraction) else None) == answer


def test_marks_of_any_width() -> None:
    for mark in ("答案：", "答案:"):
        for text in ("答案：B", "答案: B", "**答案**：B"):
            assert find_declared(text, (mark,)).answer == "B"


def test_patterns_of_other_harnesses() -> None:
    text = "Result: 17 units, 18 boxes"
    assert PatternAnswer(pattern=r"\d+").extract(text, ITEM).answer == "18"
    assert PatternAnswer(pattern=r"(\d+) units").extract(text, ITEM).answer == "17"
    assert PatternAnswer(pattern=r"\d+", take="first").extract(text, ITEM).span == (8, 10)
    assert isinstance(PatternAnswer(pattern=r"\d+", take="only").extract(text, ITEM), Ambiguous)
    assert isinstance(PatternAnswer(pattern="x{3}").extract(text, ITEM), Missing)
    with pytest.raises(ProtocolError):
        PatternAnswer(pattern="(")


@pytest.mark.parametrize(
    ("text", "stops", "cut"),
    [
        ("a STOP2 b STOP1", ("STOP1", "STOP2"), Cut("a ", "STOP2")),
        ("ab", (), Cut("ab")),
        ("ab", ("c",), Cut("ab")),
        ("a\n\n\nb", ("\n", "\n\n"), Cut("a", "\n\n")),
        ("a.*b", (".*",), Cut("a", ".*")),
        ("STOP", ("STOP",), Cut("", "STOP")),
    ],
)
def test_the_earliest_stop_string_cuts(text: str, stops: tuple[str, ...], cut: Cut) -> None:
    assert cut_at_stop(text, stops) == cut


def test_a_partial_stop_string_is_cut_only_where_the_server_says_it_stopped() -> None:
    assert cut_at_stop("}\n>>> UPD", (">>> UPDATED",), stopped=True) == Cut(
        "}\n", ">>> UPDATED", partial=True
    )
    assert cut_at_stop("}\n>>> UPD", (">>> UPDATED",)).text == "}\n>>> UPD"
    assert cut_at_stop("a >", (">>>>",), stopped=True).text == "a >"


def test_an_empty_stop_string_is_refused() -> None:
    with pytest.raises(ProtocolError, match="empty"):
        check_stops(("\n", ""))
    with pytest.raises(ProtocolError):
        cut_at_stop("a", ("",))


SHORT = [
    ("<answer>Paris</answer>", "Paris", "declared:tag"),
    ("<answer>Rome</answer> No: <answer>\nParis\n</answer>", "Paris", "declared:tag"),
    ("<answer>Answer: **Paris**</answer>", "Paris", "declared:tag"),
    ('{"answer": "Paris"}', "Paris", "declared:field"),
    ('Sure:\n```json\n{"reason": "It is.", "answer": 7}\n```', "7", "declared:field"),
    ("### Answer\nParis", "Paris", "declared:line"),
    ("**Final Answer**\n\nParis", "Paris", "declared:line"),
    ("The answer is Paris. Wait, the answer is Rome.", "Rome", "phrase:answer"),
    ("The answer is not Rome but Paris.", "Paris", "phrase:answer"),
    ("The wrong answer is Rome. The answer is Paris.", "Paris", "phrase:answer"),
]


@pytest.mark.parametrize(("text", "answer", "rule"), SHORT)
def test_short_answers_in_tags_fields_and_under_headings(text: str, answer: str, rule: str) -> None:
    found = find_short(text)
    assert isinstance(found, Extraction), found
    assert (found.answer, found.rule) == (answer, rule)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": null}',
        '{"answer": ["a", "b"]}\nor so',
        "<answer></answer>\nNobody\nknows",
        "The answer is Paris. The answer is Rome.",
    ],
)
def test_what_holds_no_short_answer(text: str) -> None:
    assert not isinstance(find_short(text), Extraction)


@pytest.mark.parametrize(
    ("text", "stops", "left"),
    [
        ("<think>a\n\nb</think>\n\n5", ("\n\n",), "<think>a\n\nb</think>\n\n5"),
        ("<think>Q: x</think> 5\nQ: next", ("Q:",), "<think>Q: x</think> 5\n"),
        ("a\n\nb</think>5\n\nc", ("\n\n",), "a\n\nb</think>5"),
        ("<think>a\n\nb", ("\n\n",), "<think>a\n\nb"),
        ("\n\n5", ("\n\n",), ""),
    ],
)
def test_a_stop_string_ends_the_answer_and_not_the_reasoning(text, stops, left):
    assert cut_at_stop(text, stops).text == left
