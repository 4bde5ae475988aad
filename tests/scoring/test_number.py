"""Number match: exact by default, within a tolerance where one is declared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.core.errors import ProtocolError
from probatum.core.records import Item, Response
from probatum.core.status import Status
from probatum.extraction import DeclaredLine, FinalNumber
from probatum.scoring import NumberMatch, Tolerance, numbers_equal


def grade(scorer: NumberMatch, text: str, *targets: str) -> tuple[Status, float | None]:
    outcome = scorer.grade(Item(id="i", fields={}, targets=targets), 0, [Response(request="", text=text)])
    return outcome.status, outcome.scores.get("correct")


@pytest.mark.parametrize(
    ("text", "target", "score"),
    [
        ("She pays $31.00.", "31", 1.0),
        ("#### 1,234", "1234", 1.0),
        ("Answer: 1/2", "0.5", 1.0),
        ("Answer: 0.333", "1/3", 0.0),
        ("Answer: 0.1", "0.10", 1.0),
        ("Answer: 25%", "25", 1.0),
        ("Answer: 25%", "0.25", 0.0),
        ("Answer: 9", "9.4", 0.0),
        ("Answer: -5", "−5", 1.0),
        ("Answer: 100000000000000000001", "100000000000000000000", 0.0),
        ("答案：１２", "12", 1.0),
    ],
)
def test_values_are_compared_exactly(text: str, target: str, score: float) -> None:
    assert grade(NumberMatch(), text, target) == (Status.SCORED, score)


def test_any_target_will_do() -> None:
    assert grade(NumberMatch(), "Answer: 3", "2", "3") == (Status.SCORED, 1.0)
    assert grade(NumberMatch(), "Answer: 3", "three", "3") == (Status.SCORED, 1.0)


@pytest.mark.parametrize("targets", [(), ("three",), ("",)])
def test_an_item_without_a_number_as_target_is_invalid(targets: tuple[str, ...]) -> None:
    assert grade(NumberMatch(), "Answer: 3", *targets)[0] is Status.INVALID_ITEM


def test_an_answer_that_is_no_number_is_wrong_where_an_extractor_gives_one() -> None:
    assert grade(NumberMatch(DeclaredLine()), "Answer: many", "3") == (Status.SCORED, 0.0)
    assert grade(NumberMatch(), "Answer: many", "3")[0] is Status.NO_ANSWER


def test_a_number_in_words_counts_where_numbers_are_looked_for() -> None:
    assert grade(NumberMatch(), "Answer: three", "3") == (Status.SCORED, 1.0)


@pytest.mark.parametrize(
    ("tolerance", "answer", "score"),
    [
        (Tolerance(absolute="0.01"), "3.15", 1.0),
        (Tolerance(absolute="0.01"), "3.151", 0.0),
        (Tolerance(relative="0.01"), "3.17", 1.0),
        (Tolerance(relative="0.01"), "3.18", 0.0),
        (Tolerance(absolute="0.001", relative="0.01"), "3.17", 1.0),
        (Tolerance(), "3.14", 1.0),
        (Tolerance(), "3.1400001", 0.0),
    ],
)
def test_a_declared_tolerance_is_itself_exact(tolerance: Tolerance, answer: str, score: float) -> None:
    assert grade(NumberMatch(tolerance=tolerance), f"Answer: {answer}", "3.14") == (Status.SCORED, score)


@pytest.mark.parametrize("value", ["-1", "a", "", "1e-"])
def test_a_tolerance_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(ProtocolError):
        Tolerance(absolute=value)


@given(st.integers(), st.integers())
@settings(deadline=None)
def test_equality_is_that_of_integers(left: int, right: int) -> None:
    assert numbers_equal(str(left), str(right)) == (left == right)


@given(st.fractions(max_denominator=1000), st.fractions(max_denominator=1000))
@settings(deadline=None)
def test_equality_is_symmetric(left: object, right: object) -> None:
    assert numbers_equal(str(left), str(right)) == numbers_equal(str(right), str(left)) == (left == right)


def test_percentages_as_declared() -> None:
    fraction = NumberMatch(FinalNumber(percent="fraction"))
    assert grade(fraction, "Answer: 25%", "0.25") == (Status.SCORED, 1.0)
