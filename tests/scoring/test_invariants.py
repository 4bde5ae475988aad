import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.scoring import invariants
from probatum.scoring.invariants import broken_counts, broken_scores


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({"exact": 0.89, "f1": 0.87}, "above f1"),
        ({"exact_match": 0.5, "f1": 0.4}, "swapped"),
        ({"accuracy": 1.2}, "outside"),
        ({"accuracy": -1.0}, "outside"),
        ({"accuracy": float("nan")}, "no number"),
        ({"prompt_strict": 0.5, "prompt_loose": 0.4}, "above"),
    ],
)
def test_an_impossible_score_is_named(scores, says):
    (found,) = broken_scores(scores)
    assert says in found


@pytest.mark.parametrize(
    "scores", [{}, {"exact": None, "f1": 0.1}, {"exact": 0.5, "f1": 0.5}, {"a": 0, "b": 1}]
)
def test_possible_scores_break_nothing(scores):
    assert broken_scores(scores) == []


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5))
def test_counts_hold_exactly_where_they_add_up(counts):
    parts = {str(place): count for place, count in enumerate(counts)}
    assert broken_counts(sum(counts), parts) == []
    assert len(broken_counts(sum(counts) + 1, parts)) == 1


def test_a_negative_count_is_broken_even_where_the_sum_holds():
    assert broken_counts(1, {"a": 2, "b": -1}) == ["b -1 is below 0"]


def test_examples_are_true():
    assert doctest.testmod(invariants).failed == 0
