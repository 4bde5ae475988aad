import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from probatum import stats

SCORES = [1, 0, 1, 1, 0, 0, 1, 1, 1, 0]
CLUSTERS = [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]


def matrix_form(values, shares, clusters, pools):
    """CR2 and Satterthwaite degrees of freedom through the n × n matrices of the definition."""
    n = len(values)
    means = np.zeros((n, n))
    for pool in set(pools):
        rows = np.flatnonzero(pools == pool)
        means[np.ix_(rows, rows)] = shares[rows] / shares[rows].sum()
    names = sorted(set(clusters))
    scores = np.array([(shares * (clusters == name)) @ (np.eye(n) - means) for name in names])
    covariance = scores @ scores.T
    ratio = np.array([(shares[clusters == name] ** 2).sum() for name in names]) / np.diag(covariance)
    corrected = np.sqrt(np.outer(ratio, ratio)) * covariance
    variance = float((ratio * (scores @ values) ** 2).sum())
    return np.sqrt(variance), np.trace(corrected) ** 2 / (corrected**2).sum()


@pytest.mark.parametrize("design", ["plain", "nested", "crossed"])
def test_cr2_and_its_degrees_of_freedom_are_those_of_the_matrix_form(design):
    random = np.random.default_rng(7)
    values, weights = random.random(60), random.random(60) + 0.1
    clusters = random.integers(0, 14, 60)
    pools = {"plain": np.zeros(60, int), "nested": clusters % 3, "crossed": random.integers(0, 3, 60)}[design]
    found = stats.mean_interval(values, clusters, pools, weights)
    se, df = matrix_form(values, weights / weights.sum(), clusters, pools)
    assert found.se == pytest.approx(se, rel=1e-12)
    assert found.df == pytest.approx(df, rel=1e-10)


@pytest.mark.parametrize(("method", "correction"), [("CR0", False), ("CR1", True)])
def test_cr0_and_cr1_are_those_of_statsmodels(method, correction):
    fit = sm.OLS(SCORES, np.ones(10)).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(CLUSTERS), "use_correction": correction}
    )
    assert stats.mean_interval(SCORES, CLUSTERS, method=method).se == pytest.approx(fit.bse[0], rel=1e-12)


def test_cr3_is_the_jackknife():
    values, clusters = np.array(SCORES, float), np.array(CLUSTERS)
    left_out = np.array([values[clusters != name].mean() for name in range(4)])
    jackknife = np.sqrt(((left_out - values.mean()) ** 2).sum())
    assert stats.mean_interval(SCORES, CLUSTERS, method="CR3").se == pytest.approx(jackknife, rel=1e-12)


@given(st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=3, max_size=40))
def test_single_item_clusters_give_the_t_interval(values):
    found = stats.mean_interval(values)
    if len(set(values)) == 1:
        assert found.se is None
        return
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.df == pytest.approx(len(values) - 1, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-6)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=2, max_size=60),
    st.sampled_from(["CR0", "CR1", "CR2", "CR3"]),
    st.randoms(use_true_random=False),
)
def test_order_of_the_items_and_names_of_the_clusters_do_not_matter(rows, method, random):
    found = stats.mean_interval([score for score, _ in rows], [c for _, c in rows], method=method)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    again = stats.mean_interval(
        [s for s, _ in shuffled], [f"passage {c}" for _, c in shuffled], method=method
    )
    assert again.value == pytest.approx(found.value, abs=1e-12)
    if found.se is None or again.se is None:
        assert (found.se or 0) == pytest.approx(again.se or 0, abs=1e-12)
        return
    assert again.se == pytest.approx(found.se, rel=1e-6, abs=1e-12)


@given(
    st.lists(
        st.tuples(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0])), st.integers(0, 6)),
        min_size=1,
        max_size=60,
    )
)
def test_limits_of_bounded_scores_stay_in_bounds_and_hold_the_mean(rows):
    found = stats.mean_interval([score for score, _ in rows], [c for _, c in rows], bounds=(0, 1))
    if len({c for _, c in rows}) < 2:
        assert found.interval is None
        return
    assert -1e-12 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1 + 1e-12
    if all(score in {0, 1} for score, _ in rows):
        assert found.width > 1 / len(rows) ** 2


def test_one_cluster_has_no_standard_error():
    found = stats.mean_interval(SCORES, [0] * 10)
    assert found.value == 0.6
    assert (found.se, found.low, found.high) == (None, None, None)
    assert "at least 2 independent clusters" in found.warnings[0]


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0, 10)])
def test_equal_scores_fall_back_to_wilson_on_the_clusters(bounds):
    found = stats.mean_interval([bounds[1]] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2], bounds=bounds)
    expected = stats.proportion_interval(3, 3)
    assert found.low == pytest.approx(expected.low * bounds[1])
    assert found.high == bounds[1]
    assert found.method == "wilson over clusters"
    assert found.se is None
    assert "same mean" in found.warnings[0]


def test_equal_scores_without_a_range_have_no_interval():
    found = stats.mean_interval([0.5, 0.5, 0.5])
    assert found.interval is None
    assert "give bounds" in found.warnings[0]


def test_few_and_dominant_clusters_are_warned_of():
    found = stats.mean_interval([1, 0, 1, 1, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1, 2])
    assert any("degrees of freedom" in text for text in found.warnings)
    assert any("one cluster carries 75%" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([],), "scores are empty: 0 values"),
        (([1, 0], ["a"]), "1 clusters do not match 2 scores"),
        (([1, 1, 0, 0], ["a", "a", None, None]), "2 of 4 observations have no label in clusters"),
        (([1, float("nan")],), "1 of 2 scores are not finite"),
        (([1, None],), "1 of 2 scores are not finite"),
        (([1, 5, 0], None, None, None, 0.95, "CR2", (0, 1)), r"1 of 3 scores lie outside 0 … 1, e.g. 5.0"),
        (([1, 0], None, None, [1, -1]), "weights must not be negative"),
        (([1, 0], None, None, None, 0.95, "HC1"), "method must be one of CR0, CR1, CR2, CR3, not 'HC1'"),
    ],
)
def test_input_that_cannot_be_averaged_is_refused_with_sizes(arguments, said):
    with pytest.raises(ValueError, match=said):
        stats.mean_interval(*arguments)


def test_fixed_strata_take_the_spread_within_and_the_weights_as_said():
    scores = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1], float)
    strata = ["law"] * 8 + ["art"] * 4
    within = {"law": scores[:8], "art": scores[8:]}
    for weights, share in (
        ("size", (8 / 12, 4 / 12)),
        ("equal", (0.5, 0.5)),
        ({"law": 3, "art": 1}, (0.75, 0.25)),
    ):
        found = stats.mean_interval(scores, strata=stats.Strata(labels=strata, weights=weights))
        parts = [
            (within[name].mean(), within[name].var(ddof=1) / len(within[name])) for name in ("law", "art")
        ]
        assert found.value == pytest.approx(sum(w * mean for w, (mean, _) in zip(share, parts, strict=True)))
        assert found.se**2 == pytest.approx(
            sum(w * w * var for w, (_, var) in zip(share, parts, strict=True))
        )
        assert "2 fixed strata" in found.estimand


def test_random_strata_are_the_clusters():
    strata = ["a", "a", "b", "b", "b", "c", "c", "d"]
    scores = [1, 0, 1, 1, 0, 0, 0, 1]
    found = stats.mean_interval(scores, strata=stats.Strata(labels=strata, role="random"))
    assert found.se == stats.mean_interval(scores, strata).se
    assert "population of strata" in found.estimand


def test_strata_that_differ_much_are_warned_of_because_their_role_decides():
    scores = [1] * 20 + [0] * 19 + [1] + [1, 0] * 10
    found = stats.mean_interval(scores, strata=["x"] * 20 + ["y"] * 20 + ["z"] * 20)
    assert any("were they a sample" in text for text in found.warnings)


def test_a_stratum_of_one_cluster_borrows_a_spread_and_says_so():
    found = stats.mean_interval([1, 0, 1, 0, 1, 1], strata=["a", "a", "a", "b", "b", "c"])
    assert found.se > 0
    assert any("1 of 3 strata have 1 cluster" in text for text in found.warnings)


def test_better_than_chance_is_exact_for_independent_answers():
    found = stats.mean_test([1] * 40 + [0] * 60, 0.25)
    assert found.method == "exact binomial"
    assert found.p_value == pytest.approx(0.000687, abs=1e-5)


def test_better_than_chance_takes_a_chance_for_each_item_and_clusters():
    scores = np.array([1, 1, 0, 1, 1, 0, 1, 1])
    chance = np.array([0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5])
    expected = ttest_1samp(scores - chance, 0, alternative="greater")
    assert stats.mean_test(scores, chance).p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert stats.mean_test(scores, chance, [0, 0, 1, 1, 2, 2, 3, 3]).clusters == 4


def test_a_perfect_score_in_few_clusters_is_bounded_by_chance_to_the_number_of_clusters():
    assert stats.mean_test([1] * 6, 0.25, [0, 0, 1, 1, 2, 2]).p_value == pytest.approx(0.25**3)
    assert stats.mean_test([0.5] * 6, 0.25, [0, 0, 1, 1, 2, 2]).p_value is None


def test_items_of_weight_0_are_as_if_they_were_not_there():
    found = stats.mean_interval([1, 0, 9, 0, 1], [0, 0, 1, 2, 3], weights=[1, 1, 0, 1, 1])
    without = stats.mean_interval([1, 0, 0, 1], [0, 0, 2, 3], weights=[1, 1, 1, 1])
    assert (found.value, found.se, found.df) == (without.value, without.se, without.df)
    assert (found.n, found.clusters, found.missing) == (4, 3, {"weight of 0": 1})


def test_strata_of_weight_0_are_left_out():
    scores, labels = [1, 0, 1, 1, 0, 0, 5, 6], list("aabbbbcc")
    weights = {"a": 1, "b": 2, "c": 0}
    found = stats.mean_interval(scores, strata=stats.Strata(labels=labels, weights=weights))
    without = stats.mean_interval(scores[:6], strata=stats.Strata(labels=labels[:6], weights=weights))
    assert (found.interval, found.se) == (without.interval, without.se)
    assert found.missing == {"weight of 0": 2}
    drawn = stats.bootstrap_mean(scores, strata=stats.Strata(labels=labels, weights=weights), samples=100)
    kept = stats.bootstrap_mean(
        scores[:6], strata=stats.Strata(labels=labels[:6], weights=weights), samples=100
    )
    assert drawn.interval == kept.interval


def test_scores_that_are_all_at_one_end_speak_against_chance_on_that_side():
    def p(scores, alternative):
        return stats.mean_test(scores, 0.25, [0, 0, 1, 1, 2], alternative).p_value

    ones, zeros = [1] * 5, [0] * 5
    assert (p(ones, "greater"), p(ones, "less"), p(ones, "two-sided")) == (0.25**3, 1.0, 2 * 0.25**3)
    assert (p(zeros, "less"), p(zeros, "greater"), p(zeros, "two-sided")) == (0.75**3, 1.0, 2 * 0.75**3)
    assert stats.mean_test(zeros, 0.25, [0, 0, 1, 1, 2], "less").null == "the mean is at least 0.25"
    assert stats.proportion_test(0, 5, 0.25, "less").null == "the rate is at least 0.25"


def test_strata_that_share_their_only_cluster_are_merged_with_others():
    scores, clusters, strata = [1, 1, 1, 0, 1, 0, 1], [1, 0, 2, 0, 1, 1, 1], [0, 1, 1, 1, 2, 0, 2]
    found = stats.mean_interval(scores, clusters, strata)
    assert found.se == pytest.approx(stats.mean_interval(scores, clusters).se)
    assert "2 of 3 strata have 1 cluster" in found.warnings[0]
