import math

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from probatum import stats

METHODS = [
    "wald",
    "wilson",
    "clopper_pearson",
    "jeffreys",
    "jeffreys_modified",
    "agresti_coull",
    "beta_binomial",
]
counts = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("wald", "normal"),
        ("wilson", "wilson"),
        ("clopper_pearson", "beta"),
        ("jeffreys", "jeffreys"),
        ("agresti_coull", "agresti_coull"),
    ],
)
@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (14, 20), (164, 164), (700, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_limits_are_those_of_statsmodels(ours, theirs, successes, n, level):
    expected = proportion_confint(successes, n, alpha=1 - level, method=theirs)
    assert stats.proportion_interval(successes, n, ours, level).interval == pytest.approx(
        tuple(float(limit) for limit in expected), abs=1e-9
    )


@given(counts, st.sampled_from(METHODS), st.floats(0.5, 0.999))
def test_limits_hold_the_value_and_stay_within_zero_and_one(count, method, level):
    found = stats.proportion_interval(*count, method, level)
    assert 0 <= found.low <= found.high <= 1
    if method not in {"jeffreys", "beta_binomial", "agresti_coull"}:
        assert found.low <= found.value <= found.high


@given(counts, st.sampled_from(METHODS))
def test_failures_mirror_successes(count, method):
    successes, n = count
    found = stats.proportion_interval(successes, n, method)
    mirrored = stats.proportion_interval(n - successes, n, method)
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "jeffreys_modified", "wald"])
@pytest.mark.parametrize("n", [1, 10, 164, 10**6])
def test_limits_are_exact_where_nothing_or_everything_succeeds(method, n):
    assert stats.proportion_interval(0, n, method).low == 0.0
    assert stats.proportion_interval(n, n, method).high == 1.0


def test_no_event_gives_the_rule_of_three_and_no_standard_error():
    found = stats.proportion_interval(0, 300)
    assert found.se is None
    assert "rule of three: 0.01" in found.warnings[0]
    assert stats.rule_of_three(300) == pytest.approx(1 - 0.05 ** (1 / 300), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 0), "n must be at least 1, not 0"),
        ((3, 2), "3 successes in 2 trials"),
        ((-1, 2), "successes must be at least 0, not -1"),
        ((1.5, 2), "successes must be an integer, not 1.5"),
        ((True, 2), "successes must be an integer, not True"),
        ((1, 2, "normal"), "method must be one of wald, .*not 'normal'"),
        ((1, 2, "wilson", 95), "level must lie between 0 and 1, not 95"),
    ],
)
def test_counts_that_cannot_be_are_refused_with_the_value(arguments, said):
    with pytest.raises(ValueError, match=said):
        stats.proportion_interval(*arguments)


@given(counts, st.floats(0, 1), st.sampled_from(["greater", "less", "two-sided"]))
def test_the_exact_test_is_that_of_scipy(count, chance, alternative):
    try:
        expected = binomtest(*count, chance, alternative=alternative).pvalue
    except OverflowError:  # scipy's, at chances below some 1e-307; the next test holds ours there
        reject()
    found = stats.proportion_test(*count, chance, alternative)
    assert found.p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 1), ("less", 1), ("two-sided", 1)])
def test_no_success_at_the_smallest_chances_speaks_against_nothing(alternative, expected):
    for chance in (5e-324, 1.1125369292536007e-308, 1e-300):
        found = stats.proportion_test(0, 2, chance, alternative)
        assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_independent_samples_are_compared_by_newcombe():
    found = stats.proportion_difference((7, 3), (10, 10))
    assert found.value == pytest.approx(0.4)
    assert found.low < 0.4 < found.high
    assert math.isclose(found.low, -0.0288, abs_tol=1e-4)


@pytest.mark.parametrize(("method", "name"), [("agresti_caffo", "agresti-caffo"), ("wald", "wald")])
def test_other_differences_of_rates_are_those_of_statsmodels(method, name):
    for counts, sizes in (((7, 3), (10, 12)), ((143, 130), (164, 164)), ((1, 4), (5, 9))):
        expected = confint_proportions_2indep(
            counts[0], sizes[0], counts[1], sizes[1], compare="diff", method=name
        )
        found = stats.proportion_difference(counts, sizes, method)
        assert found.interval == pytest.approx(expected)
        assert found.method == method


def test_a_difference_without_a_plain_error_says_so():
    found = stats.proportion_difference((0, 0), (10, 10))
    assert found.se is None
    assert "plain standard error is undefined" in found.warnings[0]
    with pytest.raises(ValueError, match="3 successes in 2 sizes"):
        stats.proportion_difference((0, 0, 1), (10, 10))
