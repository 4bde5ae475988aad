import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from probatum import stats

rows = st.lists(
    st.tuples(st.sampled_from([0.2, 0.5, 0.5, 0.7, 0.9]), st.sampled_from([0, 1])), min_size=1, max_size=40
)


def test_equal_confidence_is_accepted_or_refused_together():
    found = stats.risk_coverage([0.8, 0.8, 0.2], [0.0, 1.0, 1.0])
    assert len(found) == 2
    assert found[0] == stats.RiskCoveragePoint(threshold=0.8, coverage=2 / 3, risk=0.5)
    assert found[1].risk == pytest.approx(2 / 3)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(pairs, random):
    shuffled = pairs.copy()
    random.shuffle(shuffled)
    (c, e), (d, f) = (zip(*given_rows, strict=True) for given_rows in (pairs, shuffled))
    assert stats.risk_coverage(c, e) == stats.risk_coverage(d, f)
    assert stats.aurc(c, e).value == pytest.approx(stats.aurc(d, f).value, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.sampled_from([0, 1])), min_size=1, max_size=6))
def test_the_area_is_the_mean_over_all_orders_of_the_ties(pairs):
    areas = []
    for order in itertools.permutations(pairs):
        ranked = sorted(order, key=lambda pair: -pair[0])
        risks = [sum(loss for _, loss in ranked[:k]) / k for k in range(1, len(ranked) + 1)]
        areas.append(sum(risks) / len(risks))
    c, e = zip(*pairs, strict=True)
    assert stats.aurc(c, e).value == pytest.approx(np.mean(areas), abs=1e-12)


@given(rows)
def test_coverage_rises_to_one_and_the_last_risk_is_the_mean_loss(pairs):
    c, e = zip(*pairs, strict=True)
    found = stats.risk_coverage(c, e)
    coverage = [point.coverage for point in found]
    assert coverage == sorted(coverage)
    assert coverage[-1] == 1
    assert found[-1].risk == pytest.approx(np.mean(e))
    assert found.risk_at(1.0) == found[-1].risk
    assert found.risk_at(1.1) is None
    assert found.coverage_at(1.0) == 1
    assert found.coverage_at(-0.1) == 0
    assert stats.e_aurc(c, e).value >= -1e-12


def test_a_perfect_ranking_has_no_excess_area():
    assert stats.e_aurc([0.9, 0.8, 0.3], [0, 0, 1]).value == pytest.approx(0)
    interval = stats.aurc(np.linspace(0, 1, 60), np.arange(60) % 3 == 0, samples=200)
    assert interval.low < interval.value < interval.high
    assert interval.seed == 0


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.sampled_from([0, 1])), min_size=4, max_size=60
    )
)
def test_ranking_quality_is_that_of_sklearn(pairs):
    c, y = zip(*pairs, strict=True)
    found = stats.auroc(c, y)
    if len(set(y)) == 1:
        assert found.value is None
        assert "nothing to rank" in found.warnings[0]
        return
    assert found.value == pytest.approx(roc_auc_score(y, c))
    if found.interval:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_the_error_of_the_ranking_quality_is_what_a_simulation_shows():
    random = np.random.default_rng(0)
    found, errors = [], []
    for _ in range(400):
        y = random.integers(0, 2, 150)
        one = stats.auroc(random.normal(y, 1), y)
        found.append(one.value)
        errors.append(one.se)
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.1)


def test_clusters_widen_the_interval_of_the_ranking_quality():
    random = np.random.default_rng(1)
    y = np.tile([0, 1, 1, 0], 60)
    sure = np.repeat(random.normal(0, 1, 60), 4) * (2 * y - 1) + random.normal(0, 0.3, 240)
    clustered = stats.auroc(sure, y, clusters=np.repeat(np.arange(60), 4))
    assert clustered.clusters == 60
    assert clustered.width > 1.3 * stats.auroc(sure, y).width


def test_misaligned_input_is_refused():
    with pytest.raises(ValueError, match="confidence and loss must be aligned and not empty: 1 and 2"):
        stats.risk_coverage([0.5], [0, 1])
    with pytest.raises(ValueError, match="0 and 0"):
        stats.risk_coverage([], [])
    with pytest.raises(ValueError, match="correct must be 0 or 1"):
        stats.auroc([0.5, 0.6], [0.5, 1])


def test_no_standard_error_has_its_own_reason():
    assert "equally sure" in stats.auroc([0.5] * 4, [1, 0, 1, 0]).warnings[0]
    assert "separates" in stats.auroc([0.5, 0.4, 0.6, 0.3], [1, 0, 1, 0]).warnings[0]
    assert "1 cluster has" in stats.auroc([0.5, 0.6, 0.4], [1, 0, 1], clusters=[0, 0, 0]).warnings[0]
