import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from probatum import stats
from probatum.stats.resampling import resampled_sums


def one_by_one(values, clusters, draws):
    """Means of resamples, cluster by cluster, as one writes them down first."""
    members = {
        name: [v for v, c in zip(values, clusters, strict=True) if c == name]
        for name in dict.fromkeys(clusters)
    }
    names = list(members)
    means = []
    for draw in draws:
        picked = [value for i in draw for value in members[names[i]]]
        means.append(sum(picked) / len(picked))
    return means


@given(
    st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(0, 5)), min_size=1, max_size=40),
    st.integers(0, 2**31),
)
def test_sums_give_bit_for_bit_what_concatenated_clusters_give(rows, seed):
    values, clusters = [v for v, _ in rows], [c for _, c in rows]
    count = len(set(clusters))
    draws = np.random.default_rng(seed).integers(0, count, (20, count))
    assert stats.resampled_means(values, clusters, draws).tolist() == one_by_one(values, clusters, draws)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [
        ([1, 0, 1, 1, 0, 0, 1, 1, 1, 0] * 8, None),
        ([1, 0, 1, 1, 0, 0, 1, 1, 1, 0] * 8, [i // 3 for i in range(80)]),
        ([0.1 * (i % 7) for i in range(90)], [i % 11 for i in range(90)]),
    ],
)
def test_collapsing_equal_clusters_keeps_the_law_of_the_resampled_mean(values, clusters):
    found = stats.bootstrap_mean(values, clusters, samples=20_000, ci="percentile")
    names = list(range(len(values))) if clusters is None else clusters
    count = len(set(names))
    draws = np.random.default_rng(1).integers(0, count, (20_000, count))
    plain = stats.resampled_means(values, names, draws)
    assert found.se == pytest.approx(plain.std(), rel=0.03)
    assert found.interval == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.25 * found.se)


@pytest.mark.parametrize(
    "repeats", [(40, 30, 25, 20, 15, 14, 13, 12, 11, 11), (60, 50, 40, 30, 20, 12, 9, 5, 3, 2, 1, 1)]
)
def test_counts_of_many_types_are_multinomial(repeats):
    random = np.random.default_rng(4)
    columns = random.integers(-3, 9, (len(repeats), 3)).astype(float)
    counts, total = np.array(repeats), sum(repeats)
    sums = resampled_sums(columns, counts, 60_000, random)
    share = counts / total
    mean = total * share @ columns
    covariance = total * (columns.T @ (columns * share[:, np.newaxis])) - np.outer(mean, mean) / total
    spread = np.sqrt(np.diag(covariance))
    assert sums.mean(axis=0) == pytest.approx(mean, abs=4 * spread.max() / np.sqrt(60_000))
    assert np.cov(sums.T) / np.outer(spread, spread) == pytest.approx(
        covariance / np.outer(spread, spread), abs=0.03
    )
    plain = columns[np.repeat(np.arange(len(counts)), counts)][
        random.integers(0, total, (20_000, total))
    ].sum(axis=1)
    for column in range(3):
        assert scipy.stats.ks_2samp(sums[:, column], plain[:, column]).pvalue > 1e-4


def test_a_column_of_ones_counts_every_cluster_once():
    random = np.random.default_rng(5)
    for repeats in (
        (100, 80, 30),
        (40, 30, 25, 20, 15, 14, 13, 12, 11, 11),
        (1,) * 30,
        (50,) + (12,) * 9 + (1,) * 20,
    ):
        columns = np.column_stack([np.arange(len(repeats)), np.ones(len(repeats))]).astype(float)
        sums = resampled_sums(columns, np.array(repeats), 500, random)
        assert (sums[:, 1] == sum(repeats)).all()


def test_the_error_is_the_ideal_one_of_all_resamples():
    values = [1, 0, 1, 1, 0, 0, 1, 1, 1, 0]
    support, mass = stats.exact_bootstrap_distribution(values)
    ideal = stats.ideal_bootstrap_error(values)
    assert mass.sum() == pytest.approx(1)
    assert math.sqrt(mass @ (support - mass @ support) ** 2) == pytest.approx(ideal)
    assert stats.bootstrap_mean(values, samples=100_000).se == pytest.approx(ideal, rel=0.02)


@pytest.mark.parametrize(("ours", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
def test_limits_are_those_of_scipy(ours, theirs):
    values = np.random.default_rng(3).exponential(1, 30)
    expected = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method=theirs, rng=np.random.default_rng(0)
    ).confidence_interval
    found = stats.bootstrap_mean(values, samples=40_000, ci=ours)
    assert found.interval == pytest.approx((expected.low, expected.high), abs=0.03)


def test_the_studentised_interval_is_wider_than_the_percentile_one_in_few_clusters():
    random = np.random.default_rng(8)
    clusters = np.repeat(np.arange(7), 6)
    values = random.normal(0, 1, 7)[clusters] + random.normal(0, 1, 42)
    studentised, percentile = (stats.bootstrap_mean(values, clusters, ci=ci) for ci in ("t", "percentile"))
    assert studentised.width > percentile.width
    assert studentised.se == pytest.approx(stats.mean_interval(values, clusters, method="CR1").se)


def test_strata_keep_their_weight_in_every_resample():
    scores = [1] * 30 + [0] * 10
    strata = ["a"] * 30 + ["b"] * 10
    found = stats.bootstrap_mean(scores, strata=strata)
    assert found.interval == (0.75, 0.75)
    assert "no resample varies" in found.warnings[0]
    free = stats.bootstrap_mean(scores)
    assert free.width > 0.2


def test_the_seed_decides_and_is_written_down():
    a, b = [1, 0, 1, 1, 0, 1] * 5, [0, 0, 1, 1, 1, 1] * 5
    one, two, other = (stats.paired_cluster_bootstrap(a, b, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one.seed == 1
    assert one.interval != other.interval or one.se != other.se


def test_systems_that_agree_everywhere_have_no_width_and_a_warning():
    found = stats.paired_cluster_bootstrap([1, 0, 1, 1], [1, 0, 1, 1], ["r1", "r1", "r2", "r2"], samples=200)
    assert (found.value, found.interval) == (0, (0.0, 0.0))
    assert "says nothing of other items" in found.warnings[0]


def test_misaligned_and_empty_input_is_refused_with_sizes():
    with pytest.raises(ValueError, match="2 and 1 values"):
        stats.paired_cluster_bootstrap([1, 0], [1])
    with pytest.raises(ValueError, match="1 clusters do not match 2"):
        stats.paired_cluster_bootstrap([1, 0], [1, 1], ["a"])


def test_any_statistic_can_be_resampled_and_undefined_resamples_are_counted():
    scores = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 9, 50])
    median = stats.bootstrap_interval(lambda rows: float(np.median(scores[rows])), 10, samples=500)
    assert median.low <= 5.5 <= median.high
    labels = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])

    def rate_given_one(rows):
        return float(scores[rows][labels[rows] == 1].mean()) if labels[rows].any() else None

    found = stats.bootstrap_interval(rate_given_one, 10, samples=500)
    assert found.value == 50
    assert 0.25 < found.missing["undefined resamples"] / 500 < 0.45


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30), st.floats(0, 1))
def test_quantile_rules_are_named_and_differ(values, q):
    assert stats.quantile(values, q) == pytest.approx(float(np.quantile(values, q)))
    assert stats.quantile(values, q, "inverted_cdf") in values


def test_a_statistic_that_is_not_a_number_is_none():
    assert stats.bootstrap_interval(lambda _: math.nan, 10, samples=10).value is None


def test_t_values_of_two_or_three_clusters_give_no_limits():
    for scores, clusters in (([1, 0], None), ([1, 0, 1, 0, 0], [0, 0, 1, 1, 2])):
        found = stats.bootstrap_mean(scores, clusters, samples=500, ci="t")
        assert found.interval is None
        assert "different t values" in found.warnings[-1]
