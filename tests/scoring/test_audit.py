"""The extraction audit: what a parser lost, seen without knowing the truth about any answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from probatum.core.records import Finish, Item, Request, Response
from probatum.core.run import Sample
from probatum.core.status import END_TO_END, Status
from probatum.extraction import (
    DeclaredLine,
    Extraction,
    Extractor,
    FinalNumber,
    OptionLetter,
    PatternAnswer,
    ShortAnswer,
)
from probatum.extraction.alternatives import alternatives
from probatum.scoring import ByField, ChoiceMatch, ExactMatch, NumberMatch, PassesTests, RefusalAware
from probatum.scoring.audit import ExtractionAudit, audit_extraction

OPTIONS = ("red", "green", "blue", "grey")
LETTERS = ("A", "B", "C", "D")


def option(number: int) -> Item:
    return Item(id=f"q{number}", fields={"kind": "option"}, targets=(LETTERS[number % 4],), choices=OPTIONS)


def number(value: int) -> Item:
    return Item(id=f"n{value}", fields={"kind": "number"}, targets=(str(value),))


def graded(scorer, items: Iterable[Item], answer: Callable[[Item], str | Response]) -> list[Sample]:
    samples = []
    for position, item in enumerate(items):
        said = answer(item)
        response = said if isinstance(said, Response) else Response(request="r", text=said)
        samples.append(
            Sample(
                task="t",
                position=position,
                item=item,
                requests=(Request(item_id=item.id, prompt="p"),),
                responses=(response,),
                outcome=scorer.grade(item, 0, [response]),
            )
        )
    return samples


def audit(scorer, items: Iterable[Item], answer: Callable[[Item], str | Response]) -> ExtractionAudit:
    return audit_extraction(graded(scorer, items, answer), scorer, task="t")


def reading(found: ExtractionAudit, name: str):
    (one,) = [each for each in found.readings if each.name == name]
    return one


# ── the story of the 29 points ──────────────────────────────────────────────────────────────────────

PATTERN = ExactMatch(PatternAnswer(pattern=r"ANSWER:\s*([A-D])\b"))
ITEMS = [option(each) for each in range(1000)]


def dollars(item: Item) -> str:
    """587 right ones that the pattern reads, 288 right ones that it does not, 125 wrong ones."""
    place = int(item.id[1:])
    if place < 587:
        return f"Because of light.\nANSWER: {item.targets[0]}"
    if place < 875:
        return f"Because of light.\nANSWER: ${item.targets[0]}$"
    return f"Because of light.\nANSWER: {'A' if item.targets[0] != 'A' else 'B'}"


def test_right_answers_that_a_pattern_loses_are_seen_at_once():
    found = audit(PATTERN, ITEMS, dollars)
    assert found.value == pytest.approx(0.587)
    assert found.failures == 288
    assert found.failure_rate == pytest.approx(0.288)
    assert found.bounds["no_answer_right"] == pytest.approx(0.875)
    assert found.bounds["failures_reread"] == pytest.approx(0.875)
    assert found.bounds["high"] == pytest.approx(0.875)
    assert found.at_stake == pytest.approx(0.288)
    stages = reading(found, "stages")
    assert (stages.found, stages.gained, stages.lost, stages.different) == (288, 288, 0, 0)
    assert stages.value == pytest.approx(0.875)
    example = found.examples[0]
    assert example.kind == "failure"
    assert example.readings["stages"] == example.targets[0]
    assert "stages" in example.right
    assert "$" in example.text


def test_where_nothing_is_lost_the_bounds_close_on_the_score():
    scorer = ChoiceMatch(OptionLetter(declared=("ANSWER",)))
    found = audit(scorer, ITEMS[:200], lambda item: f"ANSWER: {item.targets[0] if item.id < 'q5' else 'A'}")
    assert found.failures == found.disagreements == 0
    assert set(found.bounds.values()) == {found.value}
    assert found.examples == ()
    assert [(each.rule, each.samples) for each in found.rules] == [("declared:line", 200)]


# ── rules, disagreement ─────────────────────────────────────────────────────────────────────────────


def test_a_rule_that_reads_wrongly_stands_out_by_its_score():
    scorer = ChoiceMatch()
    found = audit(
        scorer,
        ITEMS[:100],
        lambda item: f"Answer: {item.targets[0]}" if int(item.id[1:]) % 2 else "I think of D",
    )
    rules = {each.rule: (each.samples, each.value) for each in found.rules}
    assert rules["declared:line"] == (50, 1.0)
    assert rules["loose:only_label"][0] == 50
    assert rules["loose:only_label"][1] < 0.5


def test_marked_readings_that_differ_give_a_worst_and_a_best_case():
    """The task takes the first declared line; these models correct themselves in a second one."""
    scorer = ExactMatch(DeclaredLine(take="first"))

    def corrects(item: Item) -> str:
        first, then = ("x", item.targets[0]) if item.id < "n5" else (item.targets[0], "x")
        return f"Answer: {first}\nNo, wait.\nAnswer: {then}"

    items = [Item(id=f"n{each}", fields={}, targets=(f"word{each}",)) for each in range(10)]
    found = audit(scorer, items, corrects)
    assert found.value == 0.5
    assert found.disagreements == 10
    assert found.bounds["disagreements_low"] == 0.0
    assert found.bounds["disagreements_high"] == 1.0
    assert (found.bounds["low"], found.bounds["high"]) == (0.0, 1.0)
    assert reading(found, "declared line").different == 10
    assert {example.kind for example in found.examples} == {"disagreement"}
    assert found.examples[0].right  # those in which another reading is right come first


def test_first_and_last_match_are_told_and_move_no_bound():
    found = audit(
        ChoiceMatch(), ITEMS[:40], lambda item: f"D comes to mind.\nAnswer: {item.targets[0]}\nNot C."
    )
    assert found.value == 1.0
    assert reading(found, "first label").kind == reading(found, "last label").kind == "search"
    assert reading(found, "first label").different == 30
    assert reading(found, "last label").value == 0.25
    assert found.disagreements == 0
    assert found.bounds["low"] == 1.0


def test_the_same_answer_written_otherwise_is_no_disagreement():
    found = audit(
        ExactMatch(PatternAnswer(pattern=r"answer is (\S+)")),
        [number(each) for each in range(2, 12)],
        lambda item: f"The answer is {item.targets[0]}.00",
    )
    assert found.disagreements == 0


def test_truncated_texts_are_failures_of_their_own():
    cut = Response(request="r", text="Let me see: 3 +", finish=Finish.LENGTH)
    found = audit(
        NumberMatch(),
        [number(each) for each in range(1, 5)],
        lambda item: cut if item.id == "n1" else item.id[1:],
    )
    assert found.statuses == {"scored": 3, "truncated": 1}
    assert found.bounds["no_answer_right"] == 0.75
    assert found.bounds["failures_right"] == 1.0


# ── what is counted ─────────────────────────────────────────────────────────────────────────────────


def test_scores_are_means_over_items_and_only_of_what_the_policy_counts():
    samples = graded(ChoiceMatch(), ITEMS[:2] * 2, lambda item: f"Answer: {item.targets[0]}")
    failed = Response(request="r", finish=Finish.INFRA_ERROR)
    refused = Response(request="r", finish=Finish.REFUSAL)
    samples += graded(ChoiceMatch(), ITEMS[2:4], lambda item: failed if item.id == "q2" else refused)
    found = audit_extraction(samples, ChoiceMatch(), task="t")
    assert (found.items, found.samples) == (3, 5)
    assert found.value == pytest.approx(2 / 3)
    strict = audit_extraction(samples, ChoiceMatch(), task="t", counted=END_TO_END - {Status.REFUSED})
    assert (strict.items, strict.value) == (2, 1.0)


def test_kinds_of_items_are_each_read_by_their_own_alternatives():
    scorer = ByField(field="kind", scorers={"option": ChoiceMatch(), "number": NumberMatch()})
    items = [*ITEMS[:4], *(number(each) for each in range(2, 6))]
    found = audit(scorer, items, lambda item: f"Answer: {item.targets[0]}")
    assert reading(found, "last label").same == 4
    assert reading(found, "last number").same == 4
    assert {each.value for each in found.readings if each.kind == "search"} >= {1.0}


def test_a_wrapped_scorer_is_read_again_through_its_wrapper():
    found = audit(RefusalAware(scorer=ChoiceMatch()), ITEMS[:4], lambda item: item.targets[0])
    assert reading(found, "last label").same == 4


@pytest.mark.parametrize(
    ("scorer", "reason"),
    [(PassesTests(), "running"), (None, "not at hand")],
)
def test_what_cannot_be_read_again_says_why_and_keeps_its_failures(scorer, reason):
    samples = graded(NumberMatch(), [number(1), number(2)], lambda item: "" if item.id == "n1" else "2")
    found = audit_extraction(samples, scorer, task="t", score="correct")
    assert found.readings == ()
    assert reason in (found.left_out or "")
    assert found.bounds == {"no_answer_right": 1.0, "failures_right": 1.0, "high": 1.0}


def test_no_sample_is_no_zero():
    found = audit_extraction([], ChoiceMatch(), task="t")
    assert found.value is None
    assert found.failure_rate is None
    assert found.at_stake is None
    assert found.bounds == {}
    assert "no sample" in (found.left_out or "")


def test_an_audit_is_plain_json():
    json.dumps(audit(PATTERN, ITEMS[580:600], dollars).plain(), allow_nan=False)


# ── other readings ──────────────────────────────────────────────────────────────────────────────────

TEXT = "Answer: B\n\nD is first.\nSo \\boxed{C}"
NUMBERS = "We take 7 of them.\nAnswer: 42\n\nIn all 9."
WORDS = "Which city?\nAnswer: Paris.\nAnswer: Rome\nThat is all"


@pytest.mark.parametrize(
    ("extractor", "item", "text", "readings"),
    [
        (
            PatternAnswer(pattern="([A-D])"),
            option(1),
            TEXT,
            {"stages": "B", "declared line": "B", "box": "C", "first label": "B", "last label": "C"},
        ),
        (
            OptionLetter(),
            option(1),
            "<think>A</think>C",
            {"first label": "C", "last label": "C", "first line": "C"},
        ),
        (
            PatternAnswer(pattern="([A-D])"),
            Item(id="x", fields={}, targets=("E",)),
            "Answer: E",
            {"stages": "E"},
        ),
        (
            FinalNumber(),
            number(42),
            NUMBERS,
            {"declared line": "42", "first number": "7", "last number": "9"},
        ),
        (PatternAnswer(pattern=r"(\d+)"), number(42), NUMBERS, {"stages": "42"}),
        (
            ShortAnswer(),
            Item(id="x", fields={}, targets=("Paris",)),
            WORDS,
            {
                "first declared line": "Paris",
                "declared line": "Rome",
                "first line": "Which city?",
                "box": None,
            },
        ),
    ],
)
def test_other_readings_take_the_kind_of_the_item(extractor: Extractor, item: Item, text, readings):
    found = {each.name: each.extractor.extract(text, item) for each in alternatives(extractor, item)}
    for name, answer in readings.items():
        one = found[name]
        assert (one.answer if isinstance(one, Extraction) else None) == answer, name
        if isinstance(one, Extraction):
            assert text[slice(*one.span)].strip(".") == one.answer


@pytest.mark.parametrize("extractor", [OptionLetter(), FinalNumber(), ShortAnswer(loose=True)])
def test_the_tasks_own_reading_is_none_of_the_others(extractor):
    item = option(1) if isinstance(extractor, OptionLetter) else number(3)
    others = [each.extractor for each in alternatives(extractor, item)]
    assert extractor not in others
    assert len(set(others)) == len(others) >= 4


def test_labels_that_do_not_fit_an_item_are_no_answer_and_no_error():
    own = OptionLetter(labels=("A", "B"))
    for each in alternatives(own, option(1)):
        assert not isinstance(each.extractor.extract("B", option(1)), Extraction)
