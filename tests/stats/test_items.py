import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1)), min_size=1, max_size=60))
def test_item_means_are_the_means_of_each_item_in_order_of_appearance(rows):
    found = stats.item_means([score for _, score in rows], [f"q{item}" for item, _ in rows])
    order = list(dict.fromkeys(f"q{item}" for item, _ in rows))
    assert found.items == tuple(order)
    for name, mean, count in zip(order, found.means, found.counts, strict=True):
        own = [score for item, score in rows if f"q{item}" == name]
        assert count == len(own)
        assert mean == pytest.approx(np.mean(own), abs=1e-12)


def test_the_spread_of_item_means_already_holds_the_noise_of_the_answers():
    """Adding the variance within items to that of their means would count it twice."""
    random = np.random.default_rng(0)
    k, n = 4, 200
    estimates, errors, doubled = [], [], []
    for _ in range(1_500):
        difficulty = random.random(n)
        answers = random.random((n, k)) < difficulty[:, np.newaxis]
        means = stats.item_means(answers.ravel().astype(float), np.repeat(np.arange(n), k))
        found = stats.mean_interval(means.means)
        estimates.append(found.value)
        errors.append(found.se)
        doubled.append(np.sqrt(found.se**2 + means.within / (n * k)))
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.04)
    assert np.mean(doubled) > 1.1 * np.std(estimates)


def test_the_split_of_the_variance_tells_what_more_samples_bring():
    random = np.random.default_rng(1)
    difficulty = random.random(4_000)
    answers = (random.random((4_000, 5)) < difficulty[:, np.newaxis]).astype(float)
    found = stats.item_means(answers.ravel(), np.repeat(np.arange(4_000), 5))
    assert found.between == pytest.approx(1 / 12, rel=0.05)
    assert found.within == pytest.approx(1 / 6, rel=0.05)
    assert found.standard_error() == pytest.approx(stats.mean_interval(found.means).se, rel=1e-9)
    one, many = found.standard_error(1), found.standard_error(10**6)
    assert many**2 / one**2 == pytest.approx(stats.resampling_variance_ratio(1 / 12, 1 / 6, 10**6), rel=0.05)


def test_one_sample_an_item_leaves_the_split_unknown():
    found = stats.item_means([1, 0, 1], ["a", "b", "c"])
    assert (found.within, found.between, found.standard_error(4)) == (None, None, None)


def test_macro_averages_have_the_error_of_a_macro_average():
    values, errors, sizes = [0.5, 0.8], [0.05, 0.1333333333], [100, 10]
    macro = stats.combine_strata(values, errors, sizes, "equal")
    assert (macro.value, macro.se) == pytest.approx((0.65, 0.0712), abs=1e-4)
    micro = stats.combine_strata([0.9, 0.5, 0.5], [0.01] * 3, [400, 100, 100])
    assert micro.value == pytest.approx(0.76667, abs=1e-5)
    with pytest.raises(ValueError, match="2 values, 1 errors and 2 sizes"):
        stats.combine_strata([1, 2], [1], [1, 2])


def test_combined_strata_are_those_of_the_scores_themselves():
    random = np.random.default_rng(2)
    scores, labels = random.random(90), np.repeat(["a", "b", "c"], [20, 30, 40])
    parts = [stats.mean_interval(scores[labels == name]) for name in "abc"]
    combined = stats.combine_strata([p.value for p in parts], [p.se for p in parts], [p.n for p in parts])
    whole = stats.mean_interval(scores, strata=labels)
    assert (combined.value, combined.se) == pytest.approx((whole.value, whole.se))
