import itertools
import math

import choix
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from probatum import stats

matrices = st.lists(st.integers(1, 9), min_size=12, max_size=12)


def square(values):
    wins = np.zeros((4, 4))
    wins[~np.eye(4, dtype=bool)] = values
    return wins


@given(matrices)
def test_strengths_are_those_of_choix(values):
    wins = square(values)
    pairs = [(i, j) for i in range(4) for j in range(4) for _ in range(int(wins[i, j]))]
    assert stats.bradley_terry_of_wins(wins)[1] == pytest.approx(choix.opt_pairwise(4, pairs), abs=1e-3)
    games, theta = wins + wins.T, stats.bradley_terry_of_wins(wins)[1]
    expected = games / (1 + np.exp(theta - theta[:, np.newaxis]))
    np.fill_diagonal(expected, 0)
    assert expected.sum(axis=1) == pytest.approx(wins.sum(axis=1), abs=1e-9), "the slope is 0 at the maximum"


@given(matrices, st.permutations(range(4)))
def test_names_and_their_order_do_not_matter(values, order):
    wins = square(values)
    permuted = wins[np.ix_(order, order)]
    one, two = stats.bradley_terry_of_wins(wins)[1], stats.bradley_terry_of_wins(permuted)[1]
    assert two == pytest.approx(one[list(order)], abs=1e-9)


def simulated(n=3_000, models=6, ties=0.2, seed=0):
    random = np.random.default_rng(seed)
    theta = np.linspace(1, -1, models)
    first = random.integers(0, models, n)
    second = (first + random.integers(1, models, n)) % models
    score = (random.random(n) < 1 / (1 + np.exp(theta[second] - theta[first]))).astype(float)
    score[random.random(n) < ties] = 0.5
    return first, second, score


def test_logistic_regression_gives_the_same_strengths():
    first, second, score = simulated(ties=0)
    design = np.zeros((len(first), 6))
    design[np.arange(len(first)), first], design[np.arange(len(first)), second] = 1, -1
    fit = LogisticRegression(fit_intercept=False, C=1e8, tol=1e-10, max_iter=10_000).fit(design, score)
    found = stats.bradley_terry(stats.Battles.of(first, second, score))
    assert found.strengths == pytest.approx(fit.coef_[0] - fit.coef_[0].mean(), abs=1e-4)


def test_davidson_is_the_maximum_of_its_likelihood():
    first, second, score = simulated(n=800, models=4)
    found = stats.bradley_terry(stats.Battles.of(first, second, score), ties="davidson")

    def loss(x):
        theta, eta = np.r_[0, x[:3]], x[3]
        gap = theta[first] - theta[second]
        total = np.logaddexp(np.logaddexp(gap / 2, -gap / 2), eta)
        return -np.where(score == 1, gap / 2, np.where(score == 0, -gap / 2, eta)).sum() + total.sum()

    best = minimize(loss, np.zeros(4), tol=1e-10)
    theta = np.r_[0, best.x[:3]]
    assert found.strengths == pytest.approx(theta - theta.mean(), abs=1e-4)
    assert math.log(found.tie_strength) == pytest.approx(best.x[3], abs=1e-4)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)


def test_undefeated_models_and_models_that_never_met_are_named_before_any_fit():
    with pytest.raises(ValueError, match=r"never lost.*best first: champion \| .*other"):
        stats.bradley_terry(
            [("champion", "other", "a"), ("champion", "third", "a"), ("other", "third", "tie")]
        )
    apart = [("a", "b", "a"), ("a", "b", "b"), ("c", "d", "a"), ("c", "d", "b")]
    with pytest.raises(ValueError, match="2 parts that never met"):
        stats.bradley_terry(apart)
    assert np.isfinite(stats.bradley_terry_of_wins([[0, 3], [0, 0]], prior=0.5)[1]).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["a", "b", "tie"])),
        min_size=1,
        max_size=25,
    )
)
def test_a_fit_succeeds_exactly_where_the_graph_of_wins_is_strongly_connected(rows):
    rows = [row for row in rows if row[0] != row[1]]
    assume(rows)
    names = sorted({name for row in rows for name in row[:2]})
    beats = {(a, b) for a, b, outcome in rows if outcome != "b"} | {
        (b, a) for a, b, outcome in rows if outcome != "a"
    }
    reach = set(beats)
    for middle, one, two in itertools.product(names, repeat=3):
        if (one, middle) in reach and (middle, two) in reach:
            reach.add((one, two))
    connected = all(pair in reach for pair in itertools.permutations(names, 2))
    if connected:
        assert np.isfinite(stats.bradley_terry(rows).strengths).all()
    else:
        with pytest.raises(ValueError, match="no finite estimate"):
            stats.bradley_terry(rows)


def test_sandwich_and_bootstrap_errors_agree():
    battles = stats.Battles.of(*simulated())
    sandwich, bootstrap = stats.bradley_terry(battles), stats.bradley_terry(battles, samples=400)
    ratios = [b.se / s.se for b, s in zip(bootstrap.intervals, sandwich.intervals, strict=True)]
    assert np.mean(ratios) == pytest.approx(1, abs=0.06)
    assert bootstrap.seed == 0
    assert stats.bradley_terry(battles, ties="davidson", samples=50).tie_strength > 0


def test_the_error_of_a_strength_is_what_a_simulation_shows():
    fits = [stats.bradley_terry(stats.Battles.of(*simulated(n=600, seed=seed))) for seed in range(150)]
    spread = np.std([fit.strengths for fit in fits], axis=0)
    stated = np.mean([[found.se for found in fit.intervals] for fit in fits], axis=0)
    assert stated == pytest.approx(spread, rel=0.2)


def test_duplicated_battles_of_one_prompt_do_not_count_as_new_evidence():
    first, second, score = simulated(n=600)
    once = stats.bradley_terry(stats.Battles.of(first, second, score))
    copied = stats.Battles.of(*(np.repeat(x, 3) for x in (first, second, score)))
    clustered = stats.bradley_terry(copied, clusters=np.repeat(np.arange(600), 3))
    naive = stats.bradley_terry(copied)
    assert clustered.strengths == pytest.approx(once.strengths)
    assert [i.se for i in clustered.intervals] == pytest.approx([i.se for i in once.intervals], rel=1e-6)
    assert naive.intervals[0].se == pytest.approx(once.intervals[0].se / math.sqrt(3), rel=1e-3)
    assert clustered.clusters == 600
    resampled = stats.bradley_terry(copied, clusters=np.repeat(np.arange(600), 3), samples=200)
    assert resampled.intervals[0].se == pytest.approx(once.intervals[0].se, rel=0.15)


def test_a_difference_uses_the_covariance_of_the_two_strengths():
    fit = stats.bradley_terry(stats.Battles.of(*simulated()))
    found = fit.difference(0, 1)
    assert found.value == pytest.approx(fit.strengths[0] - fit.strengths[1])
    assert found.se**2 == pytest.approx(
        fit.covariance[0, 0] + fit.covariance[1, 1] - 2 * fit.covariance[0, 1]
    )
    assert fit.difference(1, 0).low == pytest.approx(-found.high)
    assert fit.difference_test(0, 5).p_value < 1e-10
    assert fit.probability(0, 5) == pytest.approx(1 / (1 + math.exp(fit.strengths[5] - fit.strengths[0])))
    assert [model for model, _ in fit.ranking()] == list(np.argsort(-fit.strengths))
    assert fit.elo_scale().mean() == pytest.approx(1000)
    with pytest.raises(ValueError, match="no model 'x'"):
        fit.difference("x", 0)


def test_style_is_taken_out_by_covariates():
    random = np.random.default_rng(5)
    n = 20_000
    first = random.integers(0, 4, n)
    second = (first + random.integers(1, 4, n)) % 4
    verbosity = np.array([1.0, 0.0, 0.0, 0.0])
    longer = verbosity[first] - verbosity[second] + random.normal(0, 1, n)
    score = (random.random(n) < 1 / (1 + np.exp(-0.8 * longer))).astype(float)
    battles = stats.Battles.of(first, second, score)
    plain = stats.bradley_terry(battles)
    controlled = stats.bradley_terry(battles, covariates={"length": longer})
    assert plain.strengths[0] > 0.4
    assert np.abs(controlled.strengths).max() < 0.08
    (effect,) = controlled.coefficients
    assert effect.low < 0.8 < effect.high
    assert effect.estimand == "effect of length on the log odds"
    resampled = stats.bradley_terry(battles, covariates=longer, clusters=np.arange(n) // 2, samples=30)
    assert resampled.coefficients[0].se == pytest.approx(effect.se, rel=0.5)


def test_elo_depends_on_the_order_and_says_so():
    rows = [("a", "b", "a"), ("b", "c", "a"), ("c", "a", "a"), ("a", "c", "tie")]
    one, two = stats.elo(rows), stats.elo(rows[::-1])
    assert one.order_dependent
    assert one.ratings.sum() == pytest.approx(3_000)
    assert not np.allclose(one.ratings, two.ratings, atol=1e-9)
    assert (stats.elo(rows, shuffles=20).spread_over_orders > 0).all()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "0 outcomes"),
        ([("a", "b", "A wins")], "1 of 1 outcomes are neither a, b, tie"),
        ([("a", "b", None)], "leave invalid verdicts out"),
        ([("a", "a", "a")], "1 battles are of a model with itself, e.g. 'a'"),
        ([("a", "b", 0.7)], "neither a, b, tie nor 1, 0, 0.5"),
    ],
)
def test_battles_that_are_none_are_refused(rows, said):
    with pytest.raises(ValueError, match=said):
        stats.Battles.of_triples(rows)


def test_covariates_that_separate_or_repeat_have_no_finite_effect():
    battles = stats.Battles.of([0, 1, 0, 1] * 5, [1, 0, 1, 0] * 5, [1, 1, 0, 0] * 5)
    with pytest.raises(ValueError, match="separates the wins"):
        stats.bradley_terry(battles, covariates=[1, 1, -1, -1] * 5)
    noise = np.random.default_rng(0).normal(size=20)
    with pytest.raises(ValueError, match="cannot be told apart"):
        stats.bradley_terry(battles, covariates=np.column_stack([noise, 2 * noise]))
    with pytest.raises(ValueError, match="0 in every battle"):
        stats.bradley_terry(battles, covariates=[0] * 20)


def test_battles_that_do_not_vary_say_why_there_is_no_error():
    found = stats.bradley_terry([("a", "b", "tie")] * 3)
    for interval in (*found.intervals, found.difference("a", "b")):
        assert interval.interval is None
        assert "do not vary" in interval.warnings[0]
    assert "do not vary" in found.difference_test("a", "b").warnings[0]


@pytest.mark.parametrize("rare", [1.0, 1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize("common", [1.0, 1e6])
def test_lopsided_pairs_are_fitted_to_the_last_digits(rare, common):
    _, found = stats.bradley_terry_of_wins([[0, rare], [common, 0]])
    assert found[0] == pytest.approx(math.log(rare / common) / 2, abs=1e-12)


@pytest.mark.filterwarnings("error")
def test_ties_that_explain_everything_have_no_finite_davidson_fit():
    battles = [(0, 1, "tie"), (1, 2, "a"), (2, 3, "tie"), (2, 0, "tie")]
    with pytest.raises(ValueError, match="no finite estimate exists"):
        stats.bradley_terry(battles, "davidson")


@pytest.mark.filterwarnings("error")
def test_davidsons_resamples_without_a_fit_are_counted():
    battles = [(0, 1, "b")] * 8 + [(0, 1, "a")] * 4 + [(0, 1, "tie")]
    found = stats.bradley_terry(battles, "davidson", samples=60)
    assert found.intervals[0].missing["resamples without an estimate"] > 0


def test_an_eigenvector_without_a_cycle_of_wins_is_refused():
    with pytest.raises(ValueError, match="no cycle of wins"):
        stats.eigenvector_scores(stats.Battles.of([0], [1], ["a"]))
