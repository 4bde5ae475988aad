"""From responses to answers: every way to end has its status, and only compared answers are scored."""

from __future__ import annotations

import pytest

from probatum.core.records import ANSWERS, Finish, Item, Outcome, Response
from probatum.core.status import Status
from probatum.extraction import Extraction, FinalNumber, OptionLetter, ShortAnswer
from probatum.scoring.answers import STATUS_OF, read, unanswered

ITEM = Item(id="i", fields={}, targets=("B",), choices=("41", "42", "43"))


def response(text: str, finish: Finish = Finish.STOP, reason: str | None = None) -> Response:
    return Response(request="r", text=text, finish=finish, reason=reason)


def test_every_way_to_finish_is_read_or_has_a_status() -> None:
    assert set(STATUS_OF) | {Finish.STOP, Finish.LENGTH} == set(Finish)
    assert {finish for finish in Finish if finish in ANSWERS and finish in STATUS_OF} == {
        Finish.REFUSAL,
        Finish.FILTERED,
    }


@pytest.mark.parametrize(("finish", "status"), STATUS_OF.items())
def test_what_did_not_finish_is_not_read(finish: Finish, status: Status) -> None:
    outcome = read(ITEM, 3, [response("Answer: B", finish, "why")], OptionLetter())
    assert isinstance(outcome, Outcome)
    assert (outcome.item_id, outcome.sample, outcome.status, outcome.reason) == ("i", 3, status, "why")
    assert outcome.scores == {}
    assert unanswered(ITEM, 0, [response("", finish)]).reason == f"the model's answer ended with {finish}"


def test_one_part_that_failed_fails_the_sample() -> None:
    parts = [response("", Finish.TIMEOUT), response("Answer: B")]
    assert unanswered(ITEM, 0, parts).status is Status.TIMEOUT


def test_no_response_is_our_failure() -> None:
    assert unanswered(ITEM, 0, []).status is Status.INFRA_ERROR


READ = [
    ("Answer: B", Finish.STOP, OptionLetter(), "B"),
    ("Answer: B", Finish.LENGTH, OptionLetter(), "B"),  # a label is whole
    ("B", Finish.LENGTH, OptionLetter(), "B"),  # one token was asked for
    ("The answer is (B). It is", Finish.LENGTH, OptionLetter(), "B"),
    ("Answer: 12\nand", Finish.LENGTH, FinalNumber(), "12"),
    ("Answer: Paris\nbecause", Finish.LENGTH, ShortAnswer(), "Paris"),
]


@pytest.mark.parametrize(("text", "finish", "extractor", "answer"), READ)
def test_an_answer_that_is_whole_counts_however_the_text_ends(
    text: str, finish: Finish, extractor: object, answer: str
) -> None:
    found = read(ITEM, 0, [response(text, finish)], extractor)
    assert isinstance(found, Extraction)
    assert found.answer == answer


TRUNCATED = [
    ("Let me see. First", OptionLetter()),
    ("It is 42, so", OptionLetter()),  # only a search finds it
    ("Answer: 12", FinalNumber()),  # may be the beginning of 1234
    ("There are 12 apples and", FinalNumber()),
    ("Answer: New Yo", ShortAnswer()),
    ("The answer is A. The answer is B", OptionLetter()),
    ("", OptionLetter()),
]


@pytest.mark.parametrize(("text", "extractor"), TRUNCATED)
def test_a_text_that_ran_out_of_tokens_before_its_answer_is_truncated(text: str, extractor: object) -> None:
    outcome = read(ITEM, 0, [response(text, Finish.LENGTH)], extractor)
    assert outcome.status is Status.TRUNCATED
    assert outcome.answer is None


@pytest.mark.parametrize("text", ["<think>The answer is B", "Answer: B, or \\boxed{"])
def test_what_stays_open_is_truncated_however_the_model_stopped(text: str) -> None:
    outcome = read(ITEM, 0, [response(text)], OptionLetter())
    assert outcome.status is Status.TRUNCATED
    assert outcome.reason.endswith("no final answer")


def test_no_answer_and_ambiguous_ones_say_why() -> None:
    nothing = read(ITEM, 0, [response("I cannot decide.")], OptionLetter())
    assert (nothing.status, nothing.reason, nothing.rule) == (Status.NO_ANSWER, "no option", None)
    empty = read(ITEM, 0, [response("")], OptionLetter())
    assert (empty.status, empty.reason) == (Status.NO_ANSWER, "the answer is empty")
    two = read(ITEM, 0, [response("Answer: A, B")], OptionLetter())
    assert (two.status, two.rule) == (Status.NO_ANSWER, "declared:line")
    assert two.reason == "ambiguous: 'A' and 'B' (declared:line)"
