import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.metrics import brier_score_loss, log_loss

from probatum import stats

grid = st.integers(0, 100).map(lambda i: i / 100)
forecasts = st.lists(st.tuples(grid, st.sampled_from([0, 1])), min_size=1, max_size=80)


def bins_of(p, bins, edges):
    """Exact bins by integer arithmetic on hundredths."""
    hundredths = round(p * 100)
    if edges == "(lo,hi]":
        return max(0, -(-hundredths * bins // 100) - 1)
    return min(bins - 1, hundredths * bins // 100)


@given(forecasts, st.sampled_from([1, 2, 5, 10, 20, 50, 100]), st.sampled_from(["(lo,hi]", "[lo,hi)"]))
def test_edges_are_exact_and_no_forecast_is_dropped(rows, bins, edges):
    p, y = [p for p, _ in rows], [y for _, y in rows]
    table = stats.reliability_table(p, y, bins, edges=edges)
    expected = [0] * bins
    for value in p:
        expected[bins_of(value, bins, edges)] += 1
    assert [row.count for row in table] == expected
    gaps = [row.count * abs(row.confidence - row.accuracy) for row in table if row.count]
    assert stats.expected_calibration_error(p, y, bins, edges=edges).value == pytest.approx(
        sum(gaps) / len(p)
    )


@given(forecasts, st.integers(1, 12), st.randoms(use_true_random=False))
def test_bins_of_equal_mass_do_not_depend_on_the_order_of_the_input(rows, bins, random):
    p, y = zip(*rows, strict=True)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    q, z = zip(*shuffled, strict=True)
    for kind in ("quantile", "uniform", "debiased", "smooth"):
        one, two = (stats.expected_calibration_error(a, b, bins, kind).value for a, b in ((p, y), (q, z)))
        assert one == pytest.approx(two, abs=1e-9)
    table = stats.reliability_table(p, y, bins, "quantile")
    assert sum(row.count for row in table) == len(rows)
    assert all(before.high < after.low for before, after in zip(table.bins, table.bins[1:], strict=False))


@given(forecasts)
def test_the_decomposition_adds_up(rows):
    p, y = zip(*rows, strict=True)
    for bins in (None, 7):
        found = stats.brier_decomposition(p, y, bins)
        total = found.reliability - found.resolution + found.uncertainty + found.within
        assert total == pytest.approx(found.brier, abs=1e-12)
        assert min(found.reliability, found.resolution, found.uncertainty) >= 0
    assert found.brier == pytest.approx(brier_score_loss(y, p))
    assert stats.brier_score(p, y).value == pytest.approx(found.brier)


@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.sampled_from([0, 1])), min_size=2, max_size=60))
def test_log_loss_is_that_of_sklearn(rows):
    p, y = zip(*rows, strict=True)
    assert stats.negative_log_likelihood(p, y).value == pytest.approx(log_loss(y, p, labels=[0, 1]))
    table = np.column_stack([1 - np.array(p), p])
    assert stats.negative_log_likelihood(table, np.array(y)).value == pytest.approx(
        log_loss(y, p, labels=[0, 1])
    )
    assert stats.brier_score(table, np.array(y)).value == pytest.approx(2 * stats.brier_score(p, y).value)


def test_a_label_of_probability_zero_is_counted_and_never_hidden():
    found = stats.negative_log_likelihood([0.0, 1.0, 0.5], [1, 1, 1])
    assert found.infinite == 1
    assert found.eps == 1e-15
    assert "1 of 3 labels have probability 0" in found.warnings[-1]
    endless = stats.negative_log_likelihood([0.0, 1.0], [1, 1], eps=0)
    assert endless.value is None
    assert "infinite" in endless.warnings[0]
    assert stats.negative_log_likelihood([0.2, 0.7], [0, 1]).eps == 0


def test_debiasing_removes_what_noise_adds_to_a_calibrated_forecast():
    random = np.random.default_rng(0)
    plain, debiased = [], []
    for _ in range(200):
        p = random.random(300)
        y = (random.random(300) < p).astype(int)
        plain.append(stats.expected_calibration_error(p, y, 15).value)
        debiased.append(stats.expected_calibration_error(p, y, 15, "debiased").value)
    assert np.mean(plain) > 0.06
    assert np.mean(debiased) < 0.65 * np.mean(plain)


def test_debiasing_leaves_a_real_miscalibration():
    random = np.random.default_rng(1)
    p = random.uniform(0.5, 0.9, 20_000)
    y = (random.random(20_000) < p - 0.2).astype(int)
    assert stats.expected_calibration_error(p, y, kind="debiased").value == pytest.approx(0.2, abs=0.01)
    assert stats.expected_calibration_error(p, y, kind="smooth").value == pytest.approx(0.2, abs=0.02)


def test_smoothing_by_the_definition_gives_the_same_error():
    random = np.random.default_rng(2)
    p = random.random(60)
    y = (random.random(60) < p**2).astype(int)
    found = stats.expected_calibration_error(p, y, kind="smooth")
    t = (np.arange(4_000) + 0.5) / 4_000
    shifts = np.concatenate([2 * m + sign * p for m in range(-3, 4) for sign in (1, -1)])
    kernel = np.exp(-0.5 * ((t[:, np.newaxis] - shifts) / found.bandwidth) ** 2) / (
        found.bandwidth * math.sqrt(2 * math.pi)
    )
    smoothed = kernel @ np.tile(y - p, 14) / 60
    assert np.abs(smoothed).mean() == pytest.approx(found.value, abs=2e-4)
    assert found.value == pytest.approx(found.bandwidth, abs=1e-4)


def test_classwise_error_is_the_mean_over_classes():
    random = np.random.default_rng(3)
    table = softmax(random.normal(0, 1, (200, 3)), axis=1)
    labels = random.integers(0, 3, 200)
    found = stats.expected_calibration_error(table, labels, kind="classwise")
    each = [stats.expected_calibration_error(table[:, k], labels == k).value for k in range(3)]
    assert found.value == pytest.approx(np.mean(each))
    assert found.by_class == pytest.approx(each)
    top = stats.expected_calibration_error(table, labels)
    assert top.value == pytest.approx(
        stats.expected_calibration_error(table.max(axis=1), table.argmax(axis=1) == labels).value
    )


def test_a_temperature_is_the_maximum_of_the_likelihood_and_helps_on_held_out_folds():
    random = np.random.default_rng(4)
    logits = random.normal(0, 1, (600, 4))
    labels = np.array([random.choice(4, p=softmax(row)) for row in logits])
    found = stats.temperature_scale(3 * logits, labels, cv=5)
    best = minimize_scalar(
        lambda t: (logsumexp(3 * logits / t, axis=1) - 3 * logits[np.arange(600), labels] / t).mean(),
        bounds=(0.1, 20),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found.temperature == pytest.approx(best.x, abs=1e-5)
    assert found.nll == pytest.approx(best.fun)
    assert found.nll < found.nll_held_out < found.nll_before
    assert len(found.folds) == 5


def test_a_likelihood_without_a_maximum_gives_no_temperature():
    perfect = stats.temperature_scale([[2.0, 0.0], [0.0, 2.0]], [0, 1])
    assert perfect.temperature is None
    assert "falls to 0" in perfect.warnings[0]
    hopeless = stats.temperature_scale([[2.0, 0.0], [0.0, 2.0]], [1, 0])
    assert hopeless.temperature is None


def test_a_perfect_forecast_scores_zero():
    found = stats.calibration_report([0.0, 1.0], [0, 1], bins=2)
    assert (found.brier.value, found.ece.value) == (0, 0)
    assert found.brier.interval is not None
    assert found.brier.high > 0


@pytest.mark.parametrize(
    ("p", "y", "bins", "said"),
    [
        ([math.nan], [0], 1, "not finite"),
        ([0.5], [0.9], 1, "labels must be 0 or 1: 1 are not, e.g. 0.9"),
        ([1.5], [1], 1, r"probabilities must lie in \[0, 1\]: 1 do not, e.g. 1.5"),
        ([0.5], [0], 0, "bins must be at least 1, not 0"),
        ([0.5], [0], True, "bins must be an integer"),
        ([0.5, 0.5], [0], 1, "2 and 1 values"),
        ([], [], 1, "0 and 0 values"),
    ],
)
def test_forecasts_that_cannot_be_scored_are_refused(p, y, bins, said):
    with pytest.raises(ValueError, match=said):
        stats.calibration_report(p, y, bins)


def test_rows_of_class_probabilities_must_be_distributions():
    with pytest.raises(ValueError, match="must add up to 1"):
        stats.brier_score([[0.5, 0.6]], np.array([0]))
    with pytest.raises(ValueError, match="labels must be classes"):
        stats.brier_score([[0.5, 0.5]], np.array([2]))


def test_classes_may_be_whole_floats():
    table = [[0.1, 0.9], [0.5, 0.5]]
    assert stats.brier_score(table, [0.0, 1.0]).value == stats.brier_score(table, [0, 1]).value
    logits = [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert stats.temperature_scale(logits, [0.0, 1.0, 1.0]) == stats.temperature_scale(logits, [0, 1, 1])
    with pytest.raises(ValueError, match="labels must be classes 0 … 1, one a row"):
        stats.brier_score(table, [[0, 1], [1, 0]])
