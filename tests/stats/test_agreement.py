import numpy as np
import pandas as pd
import pytest
from evalica import alpha as their_alpha
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as their_fleiss

from probatum import stats

labels = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=60)


@given(labels, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_is_that_of_sklearn(pairs, weights):
    a, b = zip(*pairs, strict=True)
    found = stats.cohen_kappa(a, b, weights, samples=0)
    if len(set(a) | set(b)) == 1:
        assert found.value is None
        assert "do not vary" in found.warnings[0]
        return
    used = sorted(set(a) | set(b))  # sklearn weighs by position among the labels that occur
    expected = cohen_kappa_score(a, b, labels=used, weights=None if weights == "none" else weights)
    assert found.value == pytest.approx(expected, abs=1e-12)


@given(labels)
def test_agreement_does_not_depend_on_who_is_first_nor_on_the_order_of_items(pairs):
    a, b = zip(*pairs, strict=True)
    for coefficient in (stats.cohen_kappa, stats.gwet_ac1):
        one, two = coefficient(a, b, samples=0), coefficient(b[::-1], a[::-1], samples=0)
        assert one.raw_agreement == two.raw_agreement
        assert one.value == (two.value if two.value is None else pytest.approx(two.value))


@given(labels)
def test_alpha_of_two_raters_is_that_of_evalica(pairs):
    a, b = zip(*pairs, strict=True)
    for metric in ("nominal", "ordinal", "interval"):
        found = stats.krippendorff_alpha([a, b], metric, samples=0)
        if len(set(a) | set(b)) == 1:
            assert found.value is None
            continue
        expected = their_alpha(pd.DataFrame([a, b]), distance=metric).alpha
        assert found.value == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(
        st.integers(0, 4).flatmap(lambda x: st.tuples(st.just(x), st.integers(0, 4 - x))),
        min_size=2,
        max_size=20,
    )
)
def test_fleiss_kappa_is_that_of_statsmodels(rows):
    counts = [[x, y, 4 - x - y] for x, y in rows]
    found = stats.fleiss_kappa(counts, samples=0)
    if (np.array(counts).sum(axis=0) > 0).sum() == 1:
        assert found.value is None
        return
    assert found.value == pytest.approx(their_fleiss(np.array(counts)), abs=1e-12)


def test_raw_agreement_and_prevalence_stand_beside_a_kappa_below_zero():
    found = stats.cohen_kappa([[90, 5], [5, 0]])
    assert found.value == pytest.approx(-0.0526, abs=1e-4)
    assert found.raw_agreement == 0.9
    assert found.prevalence == {0: 0.95, 1: 0.05}
    assert stats.gwet_ac1([[90, 5], [5, 0]]).value == pytest.approx(0.8895, abs=1e-4)


def test_the_bootstrap_error_of_kappa_is_the_asymptotic_one():
    table = [[120, 25, 10], [20, 140, 15], [5, 20, 145]]
    found = stats.cohen_kappa(table, samples=4_000)
    expected = cohens_kappa(np.array(table))
    assert found.se == pytest.approx(expected.std_kappa, rel=0.06)
    assert found.interval == pytest.approx((expected.kappa_low, expected.kappa_upp), abs=0.01)
    assert stats.cohen_kappa(table, samples=4_000) == found


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_has_an_interval_and_counts_items_that_nobody_pairs(metric):
    random = np.random.default_rng(0)
    truth = random.integers(1, 5, 80)
    ratings = [
        [int(v) if random.random() < 0.7 else int(random.integers(1, 5)) for v in truth] for _ in range(3)
    ]
    ratings[0][0] = ratings[1][0] = None
    found = stats.krippendorff_alpha(ratings, metric, samples=500)
    assert found.missing == {"fewer than 2 ratings": 1}
    assert found.n == 79
    assert found.raters == 3
    assert found.low < found.value < found.high


def test_missing_labels_are_dropped_in_pairs_and_counted():
    found = stats.cohen_kappa(["a", "b", None, "a", "b"], ["a", "b", "a", None, "a"], samples=0)
    assert found.n == 3
    assert found.missing == {"one of two labels": 2}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: stats.cohen_kappa(["a"], ["a", "b"]), "1 and 2 labels"),
        (lambda: stats.cohen_kappa([], []), "0 and 0 labels"),
        (lambda: stats.cohen_kappa([[1, 2, 3]]), "square table of counts"),
        (lambda: stats.cohen_kappa(["a"], ["b"], "cubic"), "weights must be one of none, linear, quadratic"),
        (lambda: stats.fleiss_kappa([[2, 1], [1, 1]]), "same number of raters"),
        (lambda: stats.krippendorff_alpha([[1, 2], [1]]), "of one length"),
        (
            lambda: stats.krippendorff_alpha([["x", "y"], ["x", "x"]], "interval"),
            "metric interval needs numbers",
        ),
        (lambda: stats.krippendorff_alpha([[None], [None]]), "all 2 ratings are missing"),
    ],
)
def test_ratings_that_cannot_be_compared_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_perfect_agreement_has_no_interval_of_no_width():
    for found in (
        stats.cohen_kappa([1, 2] * 10, [1, 2] * 10),
        stats.krippendorff_alpha([[1, 2] * 10, [1, 2] * 10]),
        stats.gwet_ac1([1, 2] * 10, [1, 2] * 10),
    ):
        assert (found.value, found.interval, found.se) == (1.0, None, None)
        assert any("no resample varies" in warning for warning in found.warnings)


def test_no_item_with_two_labels_is_not_said_to_be_constant():
    assert "no item has two labels" in stats.cohen_kappa([None, 1], [1, None]).warnings[0]


def test_alpha_of_ratios_is_krippendorffs():
    ratings = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    assert round(stats.krippendorff_alpha(ratings, "ratio", samples=0).value, 3) == 0.797
    tenfold = [[None if x is None else 10 * x for x in row] for row in ratings]
    assert stats.krippendorff_alpha(tenfold, "ratio", samples=0).value == pytest.approx(0.7974027747)
    with pytest.raises(ValueError, match="none negative"):
        stats.krippendorff_alpha([[-1, 2], [1, 2]], "ratio")
