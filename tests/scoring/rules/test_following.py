"""The scorer and the accuracy over instructions."""

from __future__ import annotations

from typing import Any

import pytest

from probatum.benchmarks.ifeval import TASK
from probatum.core.records import Finish, Item, Mark, Outcome, Response
from probatum.core.status import Status
from probatum.scoring import FollowsInstructions, InstructionRate
from probatum.scoring.rules import unusable_instructions

ASKED = [
    ("punctuation:no_comma", {}),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}),
]


def item(asked: list[tuple[str, dict[str, Any]]] = ASKED) -> Item:
    fields = {
        "prompt": "Write 3 words.",
        "instruction_id_list": [each[0] for each in asked],
        "kwargs": [each[1] for each in asked],
    }
    return Item(id="1", fields=fields)


def graded(
    text: str, of: Item | None = None, *, finish: Finish = Finish.STOP, edition: Any = "probatum"
) -> Outcome:
    responses = [Response(request="", text=text, finish=finish)]
    return FollowsInstructions(edition=edition).grade(of or item(), 0, responses)


def test_scores_are_of_the_prompt_and_of_its_instructions() -> None:
    outcome = graded("One, two three.")
    assert outcome.status is Status.SCORED
    assert outcome.scores == {
        "prompt_strict": 0.0,
        "prompt_loose": 0.0,
        "followed_strict": 1.0,
        "followed_loose": 1.0,
        "instructions": 2.0,
    }
    assert outcome.reason == "punctuation:no_comma: 1 commas"
    assert graded("One two three.").scores["prompt_strict"] == 1.0
    assert graded("One two three.").reason is None


def test_what_only_the_loose_reading_follows_says_so() -> None:
    outcome = graded("Sure, here:\nOne two three.")
    assert (outcome.scores["prompt_strict"], outcome.scores["prompt_loose"]) == (0.0, 1.0)
    assert "(followed without its first line)" in str(outcome.reason)


def test_reasoning_is_put_aside() -> None:
    outcome = graded("<think>Commas, many, commas.</think>\nOne two three.")
    assert outcome.scores["prompt_strict"] == 1.0
    assert outcome.answer == "One two three."


def test_an_empty_response_is_scored_and_follows_nothing() -> None:
    outcome = graded("")
    assert outcome.status is Status.SCORED
    assert outcome.scores["followed_loose"] == 0.0


@pytest.mark.parametrize(
    ("text", "finish"), [("One two three", Finish.LENGTH), ("<think>One two", Finish.STOP)]
)
def test_a_text_that_was_cut_off_is_truncated_and_the_published_edition_grades_it(
    text: str, finish: Finish
) -> None:
    assert graded(text, finish=finish).status is Status.TRUNCATED
    assert graded(text, finish=finish, edition="official").status is Status.SCORED


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ([("made_up:rule", {})], "unknown instruction id"),
        ([("punctuation:no_comma", {"x": 1})], "takes no argument"),
        ([], "there is no instruction"),
    ],
)
def test_an_item_that_no_rule_can_check_is_invalid_and_never_passed(asked: Any, reason: str) -> None:
    for edition in ("probatum", "official"):
        outcome = graded("One two three.", item(asked), edition=edition)
        assert outcome.status is Status.INVALID_ITEM
        assert reason in str(outcome.reason)
        assert outcome.scores == {}


def test_a_contradiction_is_invalid_in_our_edition_and_graded_in_the_published_one() -> None:
    both = item([("change_case:english_capital", {}), ("change_case:english_lowercase", {})])
    assert graded("One.", both).status is Status.INVALID_ITEM
    assert unusable_instructions(both, edition="official") is None


def mark(number: int, status: Status, followed: float = 0.0, asked: float = 0.0) -> Mark:
    scores = {"followed_strict": followed, "instructions": asked} if status is Status.SCORED else {}
    return Mark(str(number), 0, status, scores)


def test_every_instruction_counts_once_in_the_accuracy_over_instructions() -> None:
    marks = [mark(1, Status.SCORED, 1, 1), mark(2, Status.SCORED, 1, 3), mark(3, Status.SCORED, 0, 2)]
    whole, answered = InstructionRate().estimate(marks, TASK, 0.95)
    assert whole.value == answered.value == pytest.approx(2 / 6)
    assert (whole.n, whole.clusters, whole.coverage, whole.bounds) == (3, 3, 1.0, (2 / 6, 2 / 6))
    assert whole.low is not None
    assert whole.low < 2 / 6 < float(whole.high or 0)


def test_what_was_not_scored_counts_as_wrong_or_opens_the_bounds() -> None:
    marks = [
        mark(1, Status.SCORED, 2, 2),
        mark(2, Status.SCORED, 1, 2),
        mark(3, Status.TRUNCATED),
        mark(4, Status.INFRA_ERROR),
    ]
    whole, answered = InstructionRate().estimate([*marks, mark(5, Status.INVALID_ITEM)], TASK, 0.95)
    assert whole.value == pytest.approx(3 / 6)
    assert whole.bounds == (3 / 8, 5 / 8)
    assert whole.coverage == 0.75
    assert answered.value == pytest.approx(3 / 4)
    assert answered.bounds == (3 / 8, 7 / 8)


def test_nothing_scored_is_no_number() -> None:
    whole, _ = InstructionRate().estimate([mark(1, Status.TRUNCATED)], TASK, 0.95)
    assert whole.value is None
    assert whole.warnings
