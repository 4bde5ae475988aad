import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from probatum import stats

pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=30)
THEIRS = {
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "bonferroni": "bonferroni",
    "bh": "fdr_bh",
    "by": "fdr_by",
}


@given(pvalues, st.sampled_from(sorted(THEIRS)))
def test_adjusted_values_are_those_of_statsmodels(p, method):
    expected = multipletests(p, method=THEIRS[method])[1]
    assert stats.adjust_pvalues(p, method) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(pvalues, st.sampled_from(sorted(THEIRS)))
def test_adjusting_raises_values_keeps_their_order_and_treats_ties_alike(p, method):
    adjusted = stats.adjust_pvalues(p, method)
    assert (adjusted >= np.array(p) - 1e-15).all()
    assert adjusted.max() <= 1
    for i, first in enumerate(p):
        for j, second in enumerate(p):
            if first <= second:
                assert adjusted[i] <= adjusted[j]


def test_values_out_of_range_and_unknown_methods_are_refused():
    with pytest.raises(ValueError, match=r"p-values must lie in \[0, 1\]"):
        stats.adjust_pvalues([0.1, 1.2])
    with pytest.raises(ValueError, match="method must be one of holm"):
        stats.adjust_pvalues([0.1], "sidak")


def answers():
    """Four systems of rates .9, .88, .6, .59 on 400 shared items."""
    random = np.random.default_rng(0)
    difficulty = random.random((400, 1))
    return (difficulty < [0.9, 0.88, 0.6, 0.59]).astype(float)


def test_ranks_that_cannot_be_told_apart_share_their_interval():
    found = stats.rank_intervals(answers())
    assert found.low[2] == found.low[3] == 3
    assert found.high[0] <= 2
    assert found.high[2] == found.high[3] == 4
    assert all(low <= rank <= high for low, rank, high in zip(found.low, found.rank, found.high, strict=True))


@given(st.integers(0, 10_000))
def test_rank_intervals_hold_the_rank_of_the_estimate(seed):
    scores = np.random.default_rng(seed).integers(0, 2, (30, 4))
    for method in ("holm", "bootstrap"):
        found = stats.rank_intervals(scores, method=method, samples=50)
        assert all(1 <= low <= high <= 4 for low, high in zip(found.low, found.high, strict=True))
        if method == "holm":
            assert all(
                low <= rank <= high for low, rank, high in zip(found.low, found.rank, found.high, strict=True)
            )


def test_groups_name_systems_that_do_not_differ():
    table = answers()
    groups = stats.significance_groups(table.mean(axis=0), stats.pairwise_pvalues(table), 0.001)
    assert groups[-1] == (2, 3)
    assert groups[0][0] == 0
    assert stats.significance_groups([0.5, 0.6, 0.7], np.ones((3, 3))) == ((2, 1, 0),)
    apart = np.where(np.eye(3) == 1, 1.0, 0.0)
    assert stats.significance_groups([0.5, 0.6, 0.7], apart) == ((2,), (1,), (0,))
    chain = np.array([[1, 0.5, 0.01], [0.5, 1, 0.5], [0.01, 0.5, 1]])
    assert stats.significance_groups([0.7, 0.6, 0.5], chain) == ((0, 1), (1, 2))


def test_the_leader_keeps_company_with_whoever_is_not_significantly_behind():
    found = stats.groups_from_leader("top", {"m2": 0.4, "m3": 0.07, "m4": 0.01})
    assert found == (("top", "m2", "m3"), ("m4",))


def test_equal_scores_in_another_order_share_a_rank():
    assert stats.rank_intervals([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]]).rank == (1, 1)
