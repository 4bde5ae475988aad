from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats


@st.composite
def triples(draw):
    n = draw(st.integers(1, 400))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(triples())
def test_both_estimators_are_exact_fractions_to_twelve_digits(triple):
    n, c, k = triple
    at_least_one = 1 - Fraction(comb(n - c, k), comb(n, k))
    all_of = Fraction(comb(c, k), comb(n, k))
    assert stats.pass_at_k(n, c, k) == pytest.approx(float(at_least_one), rel=1e-12, abs=0)
    assert stats.pass_hat_k(n, c, k) == pytest.approx(float(all_of), rel=1e-12, abs=1e-300)


@given(st.lists(triples(), min_size=1, max_size=50))
def test_arrays_give_what_numbers_give(rows):
    n, c, k = (np.array(column) for column in zip(*rows, strict=True))
    assert stats.pass_at_k(n, c, k).tolist() == [stats.pass_at_k(*map(int, row)) for row in rows]
    assert stats.pass_hat_k(n, c, k).tolist() == [stats.pass_hat_k(*map(int, row)) for row in rows]


@given(triples())
def test_more_draws_never_make_one_success_rarer_nor_all_successes_commoner(triple):
    n, c, _ = triple
    draws = np.arange(1, n + 1)
    assert (np.diff(stats.pass_at_k(n, c, draws)) >= -1e-12).all()
    assert (np.diff(stats.pass_hat_k(n, c, draws)) <= 1e-12).all()


@pytest.mark.parametrize(
    ("triple", "expected"),
    [
        ((10, 0, 3), 0.0),
        ((10, 10, 3), 1.0),
        ((200, 101, 100), 1.0),
        ((10_000, 1, 5_000), 0.5),
        ((5, 0, 5), 0.0),
    ],
)
def test_edges_are_exact(triple, expected):
    assert stats.pass_at_k(*triple) == pytest.approx(expected, rel=1e-12)
    if expected in {0.0, 1.0}:
        assert stats.pass_at_k(*triple) == expected


@pytest.mark.parametrize(
    ("triple", "said"),
    [
        ((3, 1, 5), "k=5 needs at least 5 samples, and there are 3"),
        ((2, 0, 5), "undefined"),
        ((3, 1, 0), "k must be at least 1, not 0"),
        ((3, 4, 1), "4 successes in 3 samples"),
        ((3, -1, 1), "c must be at least 0, not -1"),
        ((0, 0, 1), "n must be at least 1, not 0"),
        ((3.5, 1, 1), "n must be an integer"),
    ],
)
@pytest.mark.parametrize("estimator", [stats.pass_at_k, stats.pass_hat_k])
def test_numbers_that_leave_it_undefined_are_refused(estimator, triple, said):
    with pytest.raises(ValueError, match=said):
        estimator(*triple)


def test_arrays_keep_none_where_it_is_undefined():
    assert stats.pass_at_k([10, 3, 3], [3, 1, 0], 5).tolist() == [pytest.approx(11 / 12), None, None]
    with pytest.raises(TypeError):
        stats.pass_at_k([10, 3], [3, 1], 5).sum()


def test_the_interval_is_over_tasks_and_not_over_pooled_samples():
    found = stats.pass_at_k_interval([4, 4], [4, 0], 2)
    assert found.value == 0.5
    assert found.n == 2
    assert found.low < 0.5 < found.high


def test_tasks_with_too_few_samples_are_counted_as_missing():
    found = stats.pass_at_k_interval([20, 20, 5], [5, 10, 5], 10)
    assert found.n == 2
    assert found.missing == {"fewer than 10 samples": 1}
    assert "left out" in found.warnings[0]
    nothing = stats.pass_at_k_interval([5, 5], [1, 2], 10)
    assert nothing.value is None
    assert nothing.interval is None


def test_tasks_that_all_fail_still_have_a_width():
    found = stats.pass_at_k_interval([10] * 20, [0] * 20, 3)
    assert found.value == 0.0
    assert found.high == pytest.approx(stats.proportion_interval(0, 20).high)


def test_all_runs_succeed_is_a_share_of_tasks():
    found = stats.pass_power_k([[True, True], [True, False], [False, False], [True, True]])
    assert found.value == 0.5
    assert found.interval == stats.proportion_interval(2, 4).interval
    with pytest.raises(ValueError, match="1 of 2 have none"):
        stats.pass_power_k([[True], []])
    with pytest.raises(ValueError, match="every task needs"):
        stats.pass_power_k([])


def test_plug_in_reliability_is_not_what_is_computed():
    assert stats.pass_hat_k(8, 4, 4) == pytest.approx(1 / 70)
    assert stats.pass_hat_k(8, 4, 4) < (4 / 8) ** 4


def test_labels_may_be_series():
    pandas = pytest.importorskip("pandas")
    n, c, tasks = ([5, 5, 2], [1, 2, 2], ["x", "y", "z"])
    series = [pandas.Series(values, [5, 6, 7]) for values in (n, c, tasks)]
    expected = stats.pass_at_k_interval(n, c, 3, clusters=tasks)
    assert stats.pass_at_k_interval(series[0], series[1], 3, clusters=series[2]) == expected


def test_k_outside_the_samples_is_none_in_arrays_also_below_1():
    assert stats.pass_at_k([5, 5, 5], [2, 2, 2], [-1, 0, 6]).tolist() == [None, None, None]


def test_runs_that_are_no_outcome_are_not_counted():
    for episodes in ([["no", True]], [[None, True]], [[float("nan")]], {"a": [True]}, [1, 0]):
        with pytest.raises(ValueError, match=r"runs"):
            stats.pass_power_k(episodes)
    assert stats.pass_power_k([[np.True_, 1], [1, 0.0]]).value == 0.5


def test_sizes_are_named():
    with pytest.raises(ValueError, match=r"\(3,\), \(2,\), \(\)"):
        stats.pass_at_k([5, 5, 5], [1, 2], 3)
    with pytest.raises(ValueError, match=r"shapes \(0,\) and \(0,\)"):
        stats.pass_at_k_interval([], [], 1)
    with pytest.raises(ValueError, match="2 clusters do not match 3 tasks"):
        stats.pass_at_k_interval([5, 5, 5], [1, 2, 3], 1, clusters=["a", "b"])


def test_one_number_of_successes_for_two_tasks_is_refused():
    with pytest.raises(ValueError, match="2 numbers of samples do not match 1"):
        stats.pass_at_k_interval([5, 5], [1], 2)
    assert stats.pass_at_k_interval(5, [1, 5], 2).value == pytest.approx(0.7)
