"""What cannot be meant is a ValueError with the value; no function ever returns NaN."""

from __future__ import annotations

import math

import numpy as np
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
        (lambda: stats.proportion_interval(1, 3, "beta_binomial", prior=(NAN, 1)), "two positive numbers"),
        (lambda: stats.beta_binomial_e_value(1, 3, 0.5, prior=(1, 2, 3)), "two positive numbers"),
        (lambda: stats.power(100, NAN, stats.Design(between=0.1)), "effect must be finite"),
        (lambda: stats.Design(between="x"), "between must be a number"),
        (lambda: stats.Design.of_rates(correlation=NAN), "correlation must be finite"),
        (lambda: stats.e_process([0, 1], NAN), "null must be finite"),
        (lambda: stats.e_process([0, 1], 0.5).rejected_at(0), "alpha must lie"),
        (lambda: stats.ppi_mean([0, 1], [0, 1], [1, 0], weight=NAN), "weight must be finite"),
        (lambda: stats.ppi_mean([0, 1], [0, 1], [1, 0], weight="best"), "weight must be a number"),
        (lambda: stats.elo([("a", "b", "a")], k=NAN), "k must be finite"),
        (lambda: stats.elo([("a", "b", "a")], scale=0), "scale must be at least"),
        (lambda: stats.bradley_terry([("a", "b")]), "must be a triple"),
        (lambda: stats.bradley_terry_of_wins([[0, 1], [1, 0]], prior=NAN), "prior must be finite"),
        (lambda: stats.bradley_terry([("a", "b", "tie")], covariates={"x": [1, 2]}), "2 values of x do not"),
        (
            lambda: stats.tost(stats.paired_difference([1, 0, 1], [0, 0, 1]), math.inf),
            "margin must be finite",
        ),
        (lambda: stats.mean_interval([1, 0], clusters=[[1], [2]]), "clusters must be hashable"),
        (lambda: stats.cohen_kappa([1, 2], [1, 1], samples=-1), "samples must be at least"),
        (lambda: stats.bootstrap_mean([1, 0, 1], seed=1.5), "seed must be an integer"),
        (lambda: stats.combine_strata([0.1, 0.2], [-0.1, 0.1], [9, 9]), "must not be negative"),
        (lambda: stats.significance_groups([0.1, 0.2], [[1, NAN], [NAN, 1]]), "not finite"),
        (lambda: stats.cochran_q([[1, 0], [1]]), "rows of one length"),
        (lambda: stats.rank_intervals([[1, 0], [1]]), "rows of one length"),
        (lambda: stats.fleiss_kappa([[1, 2], [3]]), "rows of one length"),
        (lambda: stats.temperature_scale([[1, 2], [3]], [0, 1]), "rows of one length"),
        (lambda: stats.brier_score([[0.5, 0.5], [1]], [0, 1]), "rows of one length"),
    ],
)
def test_misuse_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_message_stays_short_however_long_the_value():
    with pytest.raises(ValueError, match="b must be an integer") as caught:
        stats.mcnemar(np.zeros(10_000), np.zeros(10_000))
    assert len(str(caught.value)) < 120
    with pytest.raises(ValueError, match="whole numbers") as caught:
        stats.pass_at_k([0.5] * 10_000, [1] * 10_000, 1)
    assert len(str(caught.value)) < 120


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


@pytest.mark.parametrize(
    "call",
    [
        stats.mean_interval,
        stats.sign_flip_test,
        stats.ideal_bootstrap_error,
        stats.missing_bounds,
        stats.confidence_sequence,
        lambda values: stats.quantile(values, 0.5),
        lambda values: stats.paired_difference(values, [1, 0, 1]),
        lambda values: stats.paired_missing_bounds(values, [1, 0, 1]),
        stats.adjust_pvalues,
        lambda values: stats.brier_score(values, [1, 0, 1]),
        lambda values: stats.auroc(values, [1, 0, 1]),
        lambda values: stats.masked_perplexity(values, [1, 1, 1]),
    ],
)
@pytest.mark.parametrize(
    "values",
    [
        ["1", "0", "1"],
        [1, "0", 1],
        np.array(["1", "0", "1"]),
        np.array([1, "0", 1], dtype=object),
        np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]"),
        [1j, 0, 1],
        [[1, 0], [0, 1]],
        [1e300, -1e300, 1e300],
    ],
    ids=lambda values: str(values)[:40],
)
def test_texts_dates_and_what_overflows_are_no_numbers(call, values):
    with pytest.raises(ValueError, match=r"."):
        call(values)


def test_a_text_is_no_setting():
    for call in (
        lambda: stats.mean_interval([0, 1], level="0.95"),
        lambda: stats.mean_interval([0, 1], bounds=("0", "1")),
        lambda: stats.t_interval("0", 1.0, 5.0),
    ):
        with pytest.raises(ValueError, match="number"):
            call()
