import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats


@given(st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_mixture_is_an_exact_ratio(count):
    k, n = count
    exact = Fraction(2**n, (n + 1) * math.comb(n, k))
    assert stats.beta_binomial_e_value(k, n, 0.5) == pytest.approx(math.log(exact), abs=1e-9)


@pytest.mark.parametrize("n", [1, 5, 12])
def test_the_mixture_has_mean_one_under_its_null(n):
    mean = math.fsum(
        math.comb(n, k) * 0.3**k * 0.7 ** (n - k) * math.exp(stats.beta_binomial_e_value(k, n, 0.3))
        for k in range(n + 1)
    )
    assert mean == pytest.approx(1)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_betting_has_mean_one_under_its_null(alternative):
    mean = 0.0
    for code in range(2**8):
        path = [(code >> i) & 1 for i in range(8)]
        chance = math.prod(0.4 if hit else 0.6 for hit in path)
        mean += chance * stats.e_process(path, 0.4, alternative=alternative).e_value
    assert mean == pytest.approx(1, rel=1e-9)


def test_looking_after_every_item_rarely_rejects_a_true_null():
    random = np.random.default_rng(0)
    rejected = sum(
        stats.e_process(random.integers(0, 2, 400), 0.5).rejected_at(0.05) is not None for _ in range(400)
    )
    assert rejected / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_a_real_difference_is_found_and_stopping_then_is_valid():
    random = np.random.default_rng(1)
    found = stats.e_process(random.random(3_000) < 0.6, 0.5)
    stop = found.rejected_at(0.05)
    assert stop is not None
    assert stop < 1_500
    assert found.p_value < 0.001
    again = stats.e_process((np.random.default_rng(1).random(3_000) < 0.6)[:stop], 0.5)
    assert again.log_e == pytest.approx(found.log_e[:stop])


def test_paired_differences_are_bets_on_zero():
    found = stats.e_process([0, 1, 0, 1, 1, 0, 1] * 20, 0, bounds=(-1, 1), alternative="greater")
    assert found.rejected_at() is not None
    assert stats.e_process([0, 1, 0, 1] * 20, 0, bounds=(-1, 1), alternative="less").rejected_at() is None


def test_a_confidence_sequence_holds_the_mean_at_all_times():
    random = np.random.default_rng(2)
    missed = 0
    for _ in range(150):
        found = stats.confidence_sequence(random.random(150) < 0.7)
        assert (np.diff(found.lows) >= 0).all()
        assert (np.diff(found.highs) <= 0).all()
        missed += not bool(((found.lows <= 0.7) & (found.highs >= 0.7)).all())
    assert missed / 150 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 150)


def test_a_confidence_sequence_is_wider_than_a_fixed_interval_and_narrows():
    scores = np.random.default_rng(3).random(2_000) < 0.8
    found = stats.confidence_sequence(scores)
    fixed = stats.proportion_interval(int(scores.sum()), 2_000)
    assert fixed.width < found.width < 3 * fixed.width
    assert found.highs[99] - found.lows[99] > 2 * found.width
    scaled = stats.confidence_sequence(scores * 10.0, bounds=(0, 10))
    assert scaled.low == pytest.approx(10 * found.low)


def test_impossible_bets_are_refused():
    with pytest.raises(ValueError, match="must lie within 0 … 1"):
        stats.e_process([0, 2], 0.5)
    with pytest.raises(ValueError, match="null must lie inside"):
        stats.e_process([0, 1], 1.0)


@pytest.mark.filterwarnings("error")
def test_evidence_beyond_floating_point_is_infinite():
    assert stats.e_process([1] * 3000, 0.5).e_value == math.inf


def test_a_mean_outside_of_its_limits_is_told():
    found = stats.confidence_sequence([1] * 200 + [0] * 600)
    assert not found.low <= found.value <= found.high
    assert "contradict" in found.warnings[0]
