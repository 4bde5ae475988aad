import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats

maybe = st.one_of(st.none(), st.sampled_from([0, 1]))


def test_a_rate_spans_all_missing_wrong_to_all_missing_right():
    found = stats.missing_bounds_of_counts(70, 20, 10)
    assert (found.lower, found.upper, found.value) == pytest.approx((0.7, 0.8, 7 / 9))
    assert found.low < 0.7
    assert found.high > 0.8
    assert found.missing == {"unspecified": 10}


@given(st.lists(st.tuples(maybe, maybe), min_size=1, max_size=5))
def test_a_paired_difference_spans_every_way_to_fill_the_gaps(pairs):
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    fills = [
        sum(x - y for x, y in zip(filled[: len(a)], filled[len(a) :], strict=True)) / len(a)
        for filled in itertools.product(*([0, 1] if score is None else [score] for score in a + b))
    ]
    found = stats.paired_missing_bounds(a, b)
    assert (found.lower, found.upper) == pytest.approx((min(fills), max(fills)))


@given(st.lists(maybe, min_size=1, max_size=30), st.integers(0, 5))
def test_what_is_observed_lies_between_the_bounds_and_every_gap_is_counted(scores, further):
    found = stats.missing_bounds(scores, {"judge error": further})
    gaps = sum(score is None for score in scores)
    assert found.n == len(scores) - gaps
    assert sum(found.missing.values()) == gaps + further
    if found.value is None:
        assert (found.lower, found.upper) == (0, 1)
    else:
        assert found.lower - 1e-12 <= found.value <= found.upper + 1e-12


def test_nothing_missing_leaves_one_point():
    found = stats.missing_bounds([1, 0, 1, 1])
    assert found.lower == found.upper == found.value == 0.75
    assert found.missing == {}


@pytest.mark.parametrize(
    ("scores", "missing", "said"),
    [
        ([], 0, "0 values and 0 missing"),
        ([1, 2], 0, "1 of 2 scores lie outside"),
        ([1], -1, "must be at least 0"),
    ],
)
def test_impossible_input_is_refused(scores, missing, said):
    with pytest.raises(ValueError, match=said):
        stats.missing_bounds(scores, missing)


def test_scores_are_in_order_and_within_their_range():
    with pytest.raises(ValueError, match="not a mapping"):
        stats.paired_missing_bounds({0: 1, 1: 0}, {0: 0, 1: 0})
    with pytest.raises(ValueError, match="2 of 2 scores lie outside 0 … 1"):
        stats.paired_missing_bounds([5, 6], [5, 6])


def test_complete_pairs_that_cannot_stand_for_all_are_told():
    found = stats.paired_missing_bounds([None, 1, 1, 0, 1, 1], [1, 0, 0, None, 0, None])
    assert found.value == 1 > found.upper
    assert "outside the bounds" in found.warnings[-1]
