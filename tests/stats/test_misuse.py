"""What cannot be meant is a ValueError with the value; no function ever returns NaN."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats

NAN, HUGE = math.nan, 10**400


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stats.bits_per_byte(NAN, 8), "nll must be finite"),
        (lambda: stats.bits_per_byte(HUGE, 8), "nll must be a number"),
        (lambda: stats.bits_per_byte(1.0, 0), "at least 1 byte"),
        (lambda: stats.effective_size(100, 0), "effect must be at least"),
        (lambda: stats.effective_size(NAN, 1), "n must be finite"),
        (lambda: stats.design_effect(NAN, 0.1), "cluster_size must be finite"),
        (lambda: stats.power_of_t(NAN, 30), "effect must be finite"),
        (lambda: stats.power_of_t(0.5, 1), "n must be at least"),
        (lambda: stats.sample_size_of_t(NAN), "effect must be finite"),
        (lambda: stats.sample_size_of_t(0.0), "effect must not be 0"),
        (lambda: stats.t_interval(NAN, 1, 5), "value must be finite"),
        (lambda: stats.t_interval(0.0, 1, -1), "df must be above 0"),
        (lambda: stats.t_interval(0.0, -1, 5), "se must be at least 0"),
        (lambda: stats.mean_test([0, 1, 1, 0], NAN, clusters=[0, 0, 1, 1]), "chances are not finite"),
        (lambda: stats.mean_test([0, 1, 1], [0.5, NAN, 0.5]), "chances are not finite"),
        (lambda: stats.mean_test([0, 1, 1], [0.5, 0.5]), "2 chances do not match 3"),
        (lambda: stats.item_means([1.0, 0.0], {"a": 1, "b": 2}), "not a mapping"),
        (lambda: stats.item_means([1.0], 0), "items must be a sequence"),
        (lambda: stats.mean_interval([0, 1, 1], bounds=-1), "bounds must be two finite numbers"),
        (lambda: stats.mean_interval([0, 1, 1], level="high"), "level must be a number"),
        (lambda: stats.mean_interval(["a", "b"]), "scores must be numbers"),
        (lambda: stats.mean_interval([HUGE]), "scores must be numbers"),
        (lambda: stats.proportion_interval(1, HUGE), "n must be below"),
        (lambda: stats.rule_of_three(HUGE), "n must be below"),
        (lambda: stats.quantile([1, 2], 1.5), "q must lie in"),
        (lambda: stats.resampled_means([1.0, 2.0], None, [[0, 2]]), "numbers of 2 clusters"),
        (lambda: stats.pooled_standard_error([0.1, 0.2], [1, 1]), "sizes must be at least 1"),
        (lambda: stats.resampling_variance_ratio(NAN, 1, 2), "between must be finite"),
    ],
)
def test_misuse_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@given(
    value=st.floats() | st.integers() | st.booleans(),
    n=st.integers(-3, 30),
    level=st.sampled_from([0.5, 0.95, 0.999999, 1.0, 0.0, NAN]),
)
def test_a_number_or_a_named_error_and_never_nan(value, n, level):
    for call in (
        lambda: stats.bits_per_byte(value, n),
        lambda: stats.effective_size(value, n),
        lambda: stats.power_of_t(value, n),
        lambda: stats.t_interval(value, abs(n), 5, level=level)[0],
        lambda: stats.bernoulli_standard_error(value, n),
        lambda: stats.proportion_interval(max(n - 1, 0), n, level=level).low,
        lambda: stats.rule_of_three(n, level=level),
        lambda: stats.dkw_band(n, level=level),
    ):
        try:
            found = call()
        except ValueError:
            continue
        assert found is None or not math.isnan(found)
