"""Free answers: overlap and inclusion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import UsageError
from probatum.core.records import Item, Response
from probatum.core.status import Status
from probatum.scoring.free_answers import (
    AnswerIncluded,
    AnswerOverlap,
    OverlapScores,
    answer_overlap,
    includes_answer,
    qa_text,
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("“New York” –", "new york"), ("The cat's hat!", "cat s hat"), ("9.4", "9.4"), ("-5", "-5"), ("−5", "-5"),
        ("3-7", "3 7"), ("1,000,000", "1000000"), ("1,00", "1,00"), ("12:30", "12:30"), ("5%", "5"), ("$5.00", "5.00"),
        ("C++", "c++"), ("C#", "c#"), ("A+", "a+"), ("a", "a"), ("The", "the"), ("???", ""), ("…", ""), ("，。", ""),
        ("ＰＡＲＩＳ", "paris"), ("Straße", "strasse"), ("北京。", "北京"), ("¿Qué?", "qué"),
    ],
)  # fmt: skip
def test_what_is_left_of_a_text(text: str, normal: str) -> None:
    assert qa_text(text) == normal


@pytest.mark.parametrize(
    ("answer", "targets", "exact", "f1"),
    [
        ("Paris", ["Paris", "???"], 1, 1), ("“New York” –", ["New York"], 1, 1), ("", ["Paris"], 0, 0),
        ("", [""], 1, 1), ("Rome", [""], 0, 0), ("The cat sat", ["a cat sat down"], 0, 0.8),
        ("94", ["9.4"], 0, 0), ("5", ["-5"], 0, 0), ("Lyon Paris", ["Paris", "Lyon Paris"], 1, 1), ("!", ["x"], 0, 0),
    ],
)  # fmt: skip
def test_overlap(answer: str, targets: list[str], exact: float, f1: float) -> None:
    scored = answer_overlap(answer, targets)
    assert (scored.exact, scored.f1) == (exact, pytest.approx(f1))


@pytest.mark.parametrize(
    ("answer", "targets", "said"),
    [
        ("", ["Paris"], False), ("It is Paris.", ["Paris"], True), ("Parisian", ["Paris"], False),
        ("comparison", ["Paris"], False), ("The width is 9", ["9.4"], False), ("The width is 9.40 m", ["9.4"], True),
        ("19.4", ["9.4"], False), ("9 or 9.4", ["9.4"], False), ("1,000", ["1000"], True), ("１２", ["12"], True),
        ("its capital is new york", ["New York"], True), ("York, New", ["New York"], False), ("首都是北京。", ["北京"], True),
        ("I like C++.", ["C"], False), ("I like C++.", ["C++"], True), ("Rome", ["Paris", "Rome"], True),
        ("x", ["x", "???"], True),
    ],
)  # fmt: skip
def test_inclusion(answer: str, targets: list[str], said: bool) -> None:
    assert includes_answer(answer, targets) is said


@pytest.mark.parametrize("targets", [["???"], [], ["…", " ! "]])
def test_references_of_which_nothing_is_left_are_an_error(targets: list[str]) -> None:
    with pytest.raises(UsageError, match="no usable reference"):
        answer_overlap("Paris", targets)
    with pytest.raises(UsageError, match="no usable reference"):
        includes_answer("Paris", targets)


@given(st.text(), st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_exact_match_never_exceeds_f1_and_a_reference_matches_itself(answer: str, targets: list[str]) -> None:
    usable = [target for target in targets if not target.strip() or qa_text(target)]
    if not usable:
        return
    scored = answer_overlap(answer, targets)
    assert 0 <= scored.exact <= scored.f1 <= 1
    assert answer_overlap(usable[0], targets).exact == 1


def test_scorers_grade_items_and_name_the_broken_ones() -> None:
    item = Item(id="1", fields={}, targets=("New York",))
    said = [Response(request="", text="Answer: in New York City")]
    overlap = AnswerOverlap().grade(item, 0, said)
    assert (overlap.status, overlap.scores) == (Status.SCORED, {"exact": 0.0, "f1": pytest.approx(2 / 3)})
    assert AnswerIncluded().grade(item, 0, said).scores == {"included": 1.0}
    broken = Item(id="1", fields={}, targets=("???",))
    assert AnswerOverlap().grade(broken, 0, said).status is Status.INVALID_ITEM


def test_initials_and_numbers_are_said_by_what_they_are() -> None:
    assert includes_answer("He lives in the U.S.A.", ["USA"])
    assert includes_answer("at 5 p.m. sharp", ["5 pm"])
    assert answer_overlap("2", ["2.0"]) == OverlapScores(1.0, 1.0)
    assert answer_overlap("1,000", ["1000.00"]) == OverlapScores(1.0, 1.0)
    assert answer_overlap("3.5", ["35"]) == OverlapScores(0.0, 0.0)
    assert answer_overlap("2.0 m", ["2"]).exact == 0.0
