import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, permutation_test, ttest_ind, ttest_rel
from statsmodels.stats.contingency_tables import cochrans_q
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

from probatum import stats

binary_pairs = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])), min_size=2, max_size=60)


def sides(pairs):
    return [a for a, _ in pairs], [b for _, b in pairs]


@given(binary_pairs)
def test_swapping_the_systems_mirrors_everything(pairs):
    a, b = sides(pairs)
    one, two = stats.paired_difference(a, b), stats.paired_difference(b, a)
    assert (one.wins, one.losses, one.ties) == (two.losses, two.wins, two.ties)
    assert (one.low, one.high, one.value) == pytest.approx((-two.high, -two.low, -two.value))
    assert one.p_value == two.p_value or one.p_value == pytest.approx(two.p_value)
    assert stats.sign_flip_test(np.subtract(a, b)).p_value == stats.sign_flip_test(np.subtract(b, a)).p_value


@given(binary_pairs)
def test_the_interval_excludes_zero_exactly_where_its_test_rejects(pairs):
    found = stats.paired_difference(*sides(pairs))
    if found.p_value is not None and abs(found.p_value - 0.05) > 1e-9:
        assert (found.low > 0 or found.high < 0) == (found.p_value < 0.05)


def test_without_clusters_it_is_the_paired_t_test():
    random = np.random.default_rng(1)
    a, b = random.random(40), random.random(40)
    expected = ttest_rel(a, b)
    found = stats.paired_difference(a, b)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert found.correlation == pytest.approx(np.corrcoef(a, b)[0, 1])
    welch = ttest_ind(a, b[:25], equal_var=False)
    assert stats.unpaired_difference(a, b[:25]).p_value == pytest.approx(welch.pvalue)


def test_pairing_is_by_item_id_whatever_the_order():
    a, b = {"q1": 1, "q2": 0, "q3": 1}, {"q3": 0, "q1": 1, "q2": 0}
    found = stats.paired_difference(a, b, clusters={"q1": "p", "q2": "r", "q3": "p"})
    assert found.value == pytest.approx(1 / 3)
    assert (found.wins, found.losses, found.ties) == (1, 0, 2)
    assert found.clusters == 2


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ({"q1": 1, "q2": 0}, {"q1": 1, "q3": 0}, "1 of 2 are only in a, 1 of 2 only in b, e.g. 'q2'"),
        ([1, 0], [1], "2 and 1 values"),
        ([], [], "0 and 0 values"),
        ({"q1": 1}, [1], "both systems as item id"),
    ],
)
def test_items_that_do_not_match_are_an_error_that_names_them(a, b, said):
    with pytest.raises(ValueError, match=said):
        stats.paired_difference(a, b)


def test_systems_that_agree_on_every_item_may_still_differ_elsewhere():
    found = stats.paired_difference([1, 0] * 50, [1, 0] * 50)
    assert found.value == 0
    assert found.high == -found.low == pytest.approx(stats.rule_of_three(100))
    assert found.p_value is None


def test_few_discordant_pairs_are_warned_of_and_bonett_price_is_the_safe_interval():
    a, b = [1] * 40 + [0] * 10, [1] * 38 + [0] * 12
    assert "only 2 discordant pairs" in stats.paired_difference(a, b).warnings[0]
    safe = stats.paired_difference(a, b, method="bonett_price")
    assert safe.low < 0 < safe.value < safe.high
    with pytest.raises(ValueError, match="independent 0/1"):
        stats.paired_difference([0.5, 1], [0, 1], method="bonett_price")


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(b, c):
    expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    found = stats.mcnemar(b, c)
    assert found.p_value == pytest.approx(expected, rel=1e-9)
    assert stats.mcnemar(b, c, "midp").p_value <= found.p_value
    if b + c:
        theirs = their_mcnemar([[0, b], [c, 0]], exact=False, correction=True)
        found_chi2 = stats.mcnemar(b, c, "chi2")
        if b != c:
            assert (found_chi2.statistic, found_chi2.p_value) == pytest.approx(
                (theirs.statistic, theirs.pvalue)
            )
        else:
            assert (found_chi2.statistic, found_chi2.p_value) == (0.0, 1.0)


def flipped(sums):
    """p by trying every pattern of signs."""
    observed = abs(sum(sums))
    totals = [
        abs(sum(s * v for s, v in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    return sum(total >= observed - 1e-9 for total in totals) / len(totals)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=9))
def test_sign_flips_on_a_lattice_are_exact(values):
    assert stats.sign_flip_test(values).p_value == pytest.approx(flipped(values), rel=1e-9)


# five digits: sums that differ by less than a billionth of their total count as equal
@given(st.lists(st.integers(-99_999, 99_999).map(lambda x: x / 99_999), min_size=1, max_size=9))
def test_sign_flips_of_any_scores_are_exact_for_few_clusters(values):
    found = stats.sign_flip_test(values).p_value
    assert found == pytest.approx(flipped(values), abs=1e-9)


def test_sign_flips_agree_with_scipy_and_scale_to_any_number_of_clusters():
    random = np.random.default_rng(5)
    scores = random.normal(0.3, 1, 14)
    expected = permutation_test((scores,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    assert stats.sign_flip_test(scores).p_value == pytest.approx(expected)
    many = random.integers(-1, 2, 14_000)
    found = stats.sign_flip_test(many)
    assert found.seed is None
    discordant = (int((many > 0).sum()), int((many < 0).sum()))
    assert found.p_value == pytest.approx(stats.mcnemar(*discordant).p_value, rel=1e-9)


def test_sampled_sign_flips_are_seeded_and_never_zero():
    scores = np.random.default_rng(2).normal(2, 1, 200)
    found = stats.sign_flip_test(scores, samples=999, seed=7)
    assert found.p_value == 1 / 1000
    assert found.seed == 7
    weak = np.random.default_rng(2).normal(0.1, 1, 200)
    assert stats.sign_flip_test(weak, seed=3).p_value == stats.sign_flip_test(weak, seed=3).p_value
    assert stats.sign_flip_test(weak).p_value == pytest.approx(ttest_rel(weak, weak * 0).pvalue, abs=0.02)


def test_sign_flips_say_when_they_can_never_reject():
    found = stats.sign_flip_test([1, 1, 1, 1, 1, 1], ["a", "a", "b", "b", "c", "d"])
    assert found.p_value == found.smallest == 0.125
    assert "cannot fall below 0.125" in found.warnings[0]


def test_non_inferiority_is_the_t_test_against_the_margin():
    random = np.random.default_rng(3)
    a, b = random.random(80), random.random(80)
    found = stats.paired_difference(a, b)
    expected = ttest_rel(a + 0.1, b, alternative="greater").pvalue
    assert stats.non_inferiority(found, 0.1).p_value == pytest.approx(expected)
    nothing = stats.non_inferiority(stats.paired_difference([1.5, 0], [1.5, 0]), 0.1)
    assert nothing.p_value is None
    assert "no standard error" in nothing.warnings[-1]


def test_margins_that_make_no_sense_are_refused():
    found = stats.paired_difference([1, 0, 1], [0, 0, 1])
    with pytest.raises(ValueError, match="margin must be positive"):
        stats.non_inferiority(found, 0)
    with pytest.raises(ValueError, match="enclose 0"):
        stats.tost(found, (0.1, 0.2))


@given(st.floats(0.01, 0.3))
def test_equivalence_is_shown_exactly_where_the_90_percent_interval_lies_within_the_margin(margin):
    random = np.random.default_rng(4)
    a, b = random.integers(0, 2, 300), random.integers(0, 2, 300)
    inner = stats.paired_difference(a, b, level=0.9)
    assert (stats.tost(stats.paired_difference(a, b), margin).p_value < 0.05) == (
        -margin < inner.low and inner.high < margin
    )


@given(st.lists(st.tuples(*[st.sampled_from([0, 1])] * 3), min_size=1, max_size=30))
def test_cochran_q_is_that_of_statsmodels(rows):
    found = stats.cochran_q(rows)
    if all(len(set(row)) == 1 for row in rows):
        assert found.p_value == 1.0
        return
    expected = cochrans_q(np.array(rows))
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-9)


def test_agreement_on_every_item_speaks_against_a_loss_that_would_have_shown():
    found = stats.paired_difference([1, 0] * 50, [1, 0] * 50)
    assert stats.non_inferiority(found, 0.05).p_value == pytest.approx(0.95**100)
    assert stats.tost(found, 0.05).p_value == pytest.approx(0.95**100)
    assert stats.non_inferiority(found, found.high).p_value == pytest.approx(0.05)


def test_a_difference_that_never_varies_counts_clusters_and_not_items():
    clusters = [0] * 50 + [1] * 50
    found = stats.paired_difference([1] * 100, [0] * 100, clusters)
    assert found.interval == stats.mean_interval([1] * 2, bounds=(-1, 1)).interval
    assert found.clusters == 2
    mixed = stats.paired_difference([1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1])
    assert mixed.interval == stats.mean_interval([0.5, 0.5], bounds=(-1, 1)).interval


@pytest.mark.parametrize("wins", range(3, 9))
def test_the_p_value_of_bonett_and_price_is_that_of_their_interval(wins):
    a, b = [1] * wins + [0] * (100 - wins), [0] * 100
    p_value = stats.paired_difference(a, b, method="bonett_price").p_value
    inside = stats.paired_difference(a, b, method="bonett_price", level=1 - p_value * 0.999)
    outside = stats.paired_difference(a, b, method="bonett_price", level=1 - p_value * 1.001)
    assert inside.low < 0 < outside.low
    if wins == 5:
        assert p_value == pytest.approx(2 * norm.sf(5 / 102 / math.sqrt((7 / 102 - 25 / 10404) / 102)))


def test_limits_stay_within_what_a_difference_can_be():
    assert stats.paired_difference([1, 1, 0], [0, 0, 0]).interval[1] == 1.0
    assert stats.paired_difference([4, 5, 1], [1, 1, 1], bounds=(1, 5)).interval[1] == 4.0
    with pytest.raises(ValueError, match="1 of 4 scores lie outside 0 … 1"):
        stats.paired_difference([1, 5], [0, 1], bounds=(0, 1))


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_welch_with_one_sample_that_does_not_vary_is_scipys():
    a, b = [1, 1, 1, 1], [0, 1, 0]
    found = stats.unpaired_difference(a, b)
    expected = ttest_ind(a, b, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.df == pytest.approx(expected.df)
    assert "of a all have the same mean" in found.warnings[0]
    assert (found.wins, found.losses, found.ties) == (None, None, None)
    neither = stats.unpaired_difference([1, 1], [0, 0])
    assert (neither.se, neither.p_value) == (None, None)
    assert "proportion_difference" in neither.warnings[0]


def test_series_whose_indices_differ_are_not_paired_by_position():
    pandas = pytest.importorskip("pandas")
    a, b = pandas.Series([1, 0, 1], ["x", "y", "z"]), pandas.Series([1, 0, 1], ["z", "y", "x"])
    with pytest.raises(ValueError, match="indices of a and b differ"):
        stats.paired_difference(a, b)
    assert stats.paired_difference(a.to_dict(), b.to_dict()).ties == 3
    assert stats.paired_difference(a, a).ties == 3
