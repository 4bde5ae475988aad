"""Exact match, and one scorer a kind of item."""

from __future__ import annotations

import pytest

from probatum.core.canonical import digest
from probatum.core.errors import ProtocolError
from probatum.core.protocol import Scorer
from probatum.core.records import Item, Response
from probatum.core.status import Status
from probatum.extraction import DeclaredLine, FinalNumber
from probatum.scoring import (
    ByField,
    ChoiceMatch,
    ExactMatch,
    NumberMatch,
    PassesTests,
    exact_match,
    loose_text,
    squad_text,
    verbatim,
)


def grade(
    scorer: Scorer, text: str, targets: tuple[str, ...], **fields: object
) -> tuple[Status, dict[str, float]]:
    item = Item(id="i", fields=fields, targets=targets, choices=("41", "42") if targets[:1] == ("B",) else ())
    outcome = scorer.grade(item, 0, [Response(request="", text=text)])
    return outcome.status, dict(outcome.scores)


RIGHT, WRONG = (Status.SCORED, {"correct": 1.0}), (Status.SCORED, {"correct": 0.0})


@pytest.mark.parametrize(
    ("text", "targets", "verdict"),
    [
        ("Paris", ("Paris",), RIGHT),
        ("Answer: “paris”.", ("Paris",), RIGHT),
        ("**Answer:** *New  York*", ("new york",), RIGHT),
        ("The answer is ＰＡＲＩＳ.", ("Paris", "Lutetia"), RIGHT),
        ("答案：巴黎。", ("巴黎",), RIGHT),
        ("\\boxed{\\text{Paris}}", ("Paris",), RIGHT),
        ("Answer: Paris, France", ("Paris",), WRONG),
        ("Answer: 9", ("9.4",), WRONG),
        ("Answer: Lutetia", ("???", "Lutetia"), RIGHT),
        ("Straße", ("STRASSE",), RIGHT),
    ],
)
def test_an_answer_equals_a_target_or_not(text: str, targets: tuple[str, ...], verdict: object) -> None:
    assert grade(ExactMatch(), text, targets) == verdict


@pytest.mark.parametrize("targets", [(), ("",), ("???",), (" . ",)])
def test_an_item_without_a_usable_target_is_invalid(targets: tuple[str, ...]) -> None:
    assert grade(ExactMatch(), "anything", targets)[0] is Status.INVALID_ITEM


def test_an_empty_answer_is_none() -> None:
    assert grade(ExactMatch(), "", ("Paris",))[0] is Status.NO_ANSWER
    assert exact_match("", ["Paris"]) is False
    assert exact_match("x", ["???"]) is None


def test_normalisers() -> None:
    assert loose_text(" “Ｐaris.” ") == "paris"
    assert squad_text('The "New York" - a City.') == "new york city"
    assert squad_text("北京。") == "北京。"
    assert verbatim(" Paris. ") == "Paris."
    assert exact_match("The Paris!", ["paris"], squad_text)
    assert not exact_match("paris", ["Paris"], verbatim)


def test_the_normaliser_and_the_extractor_are_in_the_digest() -> None:
    made = [
        ExactMatch(),
        ExactMatch(normaliser=verbatim),
        ExactMatch(DeclaredLine()),
        ExactMatch(FinalNumber()),
    ]
    assert len({digest(each) for each in made}) == len(made)


MIXED = ByField(
    field="kind", scorers={"option": ChoiceMatch(), "number": NumberMatch(), "short": ExactMatch()}
)


@pytest.mark.parametrize(
    ("kind", "text", "target", "verdict"),
    [
        ("option", "Answer: B", "B", RIGHT),
        ("number", "Answer: 7.0", "7", RIGHT),
        ("short", "Answer: seven", "Seven", RIGHT),
        ("number", "Answer: 8", "7", WRONG),
    ],
)
def test_each_kind_has_its_scorer(kind: str, text: str, target: str, verdict: object) -> None:
    assert grade(MIXED, text, (target,), kind=kind) == verdict
    assert MIXED.scores == ("correct",)


@pytest.mark.parametrize("fields", [{}, {"kind": "song"}, {"kind": 3}])
def test_a_kind_without_a_scorer_is_an_invalid_item(fields: dict[str, object]) -> None:
    status, _ = grade(MIXED, "Answer: B", ("B",), **fields)
    assert status is Status.INVALID_ITEM


@pytest.mark.parametrize("scorers", [{}, {"code": PassesTests()}, {"a": ChoiceMatch(), "b": PassesTests()}])
def test_scorers_of_a_mixed_task_give_the_same_scores_from_text(scorers: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        ByField(field="kind", scorers=scorers)


def test_scorers_are_scorers() -> None:
    for scorer in (ExactMatch(), NumberMatch(), ChoiceMatch(), MIXED):
        assert isinstance(scorer, Scorer)
        digest(scorer)
