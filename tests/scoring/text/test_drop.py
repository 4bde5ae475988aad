"""DROP's rules: numbers must agree, spans are aligned, words are bags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.status import Status
from probatum.scoring.text import DropMatch, drop_scores
from probatum.scoring.text.drop import drop_text
from tests.scoring.text.answers import graded


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The 10-yard line", "10.0 yard line"),
        ("1,000", "1000.0"),
        ("an Apple!", "apple"),
        ("$5.50", "550.0"),  # the stop goes with the other punctuation: "$5.50" is no number before
        ("5.50", "5.5"),
        ("-", ""),
    ],
)
def test_numbers_are_floats_and_the_rest_loses_punctuation_and_articles(text: str, normal: str) -> None:
    assert drop_text(text) == normal


@pytest.mark.parametrize(
    ("prediction", "targets", "exact", "f1"),
    [
        ("3", ["3.0"], 1.0, 1.0),
        ("3 yards", ["4 yards"], 0.0, 0.0),
        ("3 yards", ["3"], 0.0, 0.67),
        ("Tom Brady", ["Brady"], 0.0, 0.67),
        (("a b", "c d"), [("c d", "a b")], 1.0, 1.0),
        (("c", "x"), [("c", "d")], 0.0, 0.5),
        (("c",), [("c", "d")], 0.0, 0.5),
        (("c", "d"), ["c"], 0.0, 0.5),
        ("d", ["c", "d"], 1.0, 1.0),
        ("", ["c"], 0.0, 0.0),
    ],
)
def test_scores(
    prediction: str | tuple[str, ...], targets: list[str | tuple[str, ...]], exact: float, f1: float
) -> None:
    assert drop_scores(prediction, targets) == (exact, f1)


WORDS = st.lists(st.sampled_from(["a", "cat", "3", "4.0", "dog", "the"]), max_size=4).map(" ".join)


@given(
    spans=st.lists(WORDS.filter(lambda text: bool(drop_text(text))), min_size=1, max_size=4), data=st.data()
)
def test_the_order_of_spans_does_not_count(spans: list[str], data: st.DataObject) -> None:
    mixed = data.draw(st.permutations(spans))
    assert drop_scores(tuple(mixed), [tuple(spans)]) == (1.0, 1.0)


@given(
    prediction=st.lists(WORDS, min_size=1, max_size=4),
    target=WORDS.filter(lambda text: bool(drop_text(text))),
)
def test_exact_means_f1_of_one(prediction: list[str], target: str) -> None:
    exact, f1 = drop_scores(tuple(prediction), [target])
    assert 0 <= f1 <= 1
    assert exact <= f1


def test_targets_that_say_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="no target"):
        drop_scores("x", ["the", ""])
    assert graded(DropMatch(), "x", "the").status is Status.INVALID_ITEM


def test_the_scorer_splits_answers_at_its_separator() -> None:
    assert graded(DropMatch(separator=";"), "Brady; Manning", "Manning;Brady").scores == {
        "exact": 1.0,
        "f1": 1.0,
    }
    assert graded(DropMatch(), "Brady; Manning", "Manning;Brady").scores["exact"] == 0.0
