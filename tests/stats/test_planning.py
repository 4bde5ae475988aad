import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from probatum import stats
from probatum.cli.plan import command

designs = st.builds(
    stats.Design,
    between=st.floats(0.01, 1),
    within_a=st.floats(0, 1),
    within_b=st.floats(0, 1),
    samples_a=st.integers(1, 10),
    samples_b=st.integers(1, 10),
    cluster_size=st.floats(1, 20),
    icc=st.floats(0, 0.5),
)


@given(designs, st.floats(0.01, 0.5), st.floats(0.5, 0.99), st.sampled_from(["two-sided", "one-sided"]))
def test_size_effect_and_power_are_one_equation(design, effect, wanted, alternative):
    plan = stats.sample_size(effect, design, power=wanted, alternative=alternative)
    assert plan.n - 1 < plan.n_exact <= plan.n + 1e-6
    assert stats.minimum_detectable_effect(
        plan.n, design, power=wanted, alternative=alternative
    ).effect <= effect * (1 + 1e-9)
    assert stats.power(plan.n, effect, design, alternative=alternative).power >= wanted - 1e-9


@given(designs, st.integers(10, 10_000))
def test_more_items_detect_smaller_effects(design, n):
    smaller, larger = (stats.minimum_detectable_effect(size, design).effect for size in (4 * n, n))
    assert smaller == pytest.approx(larger / 2)


@given(st.floats(0.1, 1), st.floats(0.5, 0.95))
def test_the_t_test_needs_what_statsmodels_says(effect, wanted):
    expected = TTestPower().solve_power(effect, alpha=0.05, power=wanted)
    assert stats.sample_size_of_t(effect, power=wanted) == pytest.approx(
        float(np.squeeze(expected)), rel=1e-5
    )
    assert stats.power_of_t(effect, 40) == pytest.approx(TTestPower().power(effect, 40, 0.05), rel=1e-8)


def test_pairing_at_half_correlation_halves_the_items():
    paired = stats.sample_size(0.03, stats.Design.of_rates(correlation=0.5))
    unpaired = stats.sample_size(0.03, stats.Design.of_rates(paired=False))
    assert paired.n == math.ceil(2.801585218**2 * 0.25 / 0.03**2)
    assert unpaired.n_exact == pytest.approx(2 * paired.n_exact)
    assert paired.assumptions == (
        "rates 0.5 and 0.5 (the worst case)",
        "paired on the same items, correlation 0.5",
        "one answer an item",
    )


def test_the_plan_is_what_a_simulation_shows():
    plan = stats.sample_size(0.1, stats.Design.of_rates(0.6, 0.5, 0.4))
    random = np.random.default_rng(0)
    both = 0.6 * 0.5 + 0.4 * math.sqrt(0.24 * 0.25)
    chances = [both, 0.6 - both, 0.5 - both, 1 - 1.1 + both]
    drawn = random.multinomial(plan.n, chances, size=20_000)
    difference = (drawn[:, 1] - drawn[:, 2]) / plan.n
    error = np.sqrt(((drawn[:, 1] + drawn[:, 2]) / plan.n - difference**2) / plan.n)
    assert np.mean(difference / error > 1.96) == pytest.approx(0.8, abs=0.02)


def test_clusters_cost_their_design_effect():
    alone = stats.sample_size(0.05, stats.Design(between=0.2))
    grouped = stats.sample_size(0.05, stats.Design(between=0.2, cluster_size=5, icc=0.3))
    assert grouped.n_exact == pytest.approx(2.2 * alone.n_exact)
    assert grouped.clusters == math.ceil(grouped.n / 5)
    assert stats.effective_size(grouped.n_exact, grouped.design_effect) == pytest.approx(alone.n_exact)
    assert stats.design_effect(5, 0.3, 1.0) == pytest.approx(1 + 9 * 0.3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: stats.sample_size(0, stats.Design(between=1)), "effect must not be 0"),
        (lambda: stats.sample_size(0.1, stats.Design(between=1), power=1), "power must lie between"),
        (lambda: stats.Design(between=0), "variances are all 0"),
        (lambda: stats.Design(between=-1), "between must be a variance"),
        (lambda: stats.Design.of_rates(0.9, 0.2, 0.9), "correlation 0.9 is impossible"),
        (lambda: stats.design_effect(0.5, 0.1), "cluster_size must be at least 1"),
        (lambda: stats.minimum_detectable_effect(0, stats.Design(between=1)), "n must be at least 1"),
    ],
)
def test_plans_that_cannot_be_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_few_units_are_warned_of():
    assert "few for a normal approximation" in stats.power(20, 0.3, stats.Design(between=0.2)).warnings[0]


def test_more_samples_an_item_reduce_only_the_variance_within():
    one = stats.Design.of_rates(0.7, correlation=0.3)
    split = stats.Design.of_rates(0.7, correlation=0.3, within=0.1)
    four = stats.Design.of_rates(0.7, correlation=0.3, within=0.1, samples=4)
    assert one.variance == pytest.approx(split.variance) == pytest.approx(2 * 0.21 * 0.7)
    assert four.variance == pytest.approx(2 * 0.21 * 0.7 - 2 * 0.1 + 2 * 0.1 / 4)
    assert "4 answers an item" in stats.sample_size(0.03, four).assumptions
    with pytest.raises(ValueError, match=r"within 0\.3 is impossible"):
        stats.Design.of_rates(0.5, within=0.3)
    assert stats.sample_size(0.03, stats.Design(between=0.1)).assumptions


def test_the_command_plans_as_the_library():
    def asked(*options):
        result = CliRunner().invoke(command, [*options, "--json"], standalone_mode=False)
        return json.loads(result.output)

    design = stats.Design.of_rates(0.7, correlation=0.3, within=0.1, samples=4, cluster_size=5, icc=0.2)
    options = [
        "--rate",
        "0.7",
        "--correlation",
        "0.3",
        "--within",
        "0.1",
        "--samples",
        "4",
        "--cluster-size",
        "5",
        "--icc",
        "0.2",
    ]
    assert asked("--effect", "0.03", *options)["n_exact"] == stats.sample_size(0.03, design).n_exact
    one_sided = asked("--items", "500", "--one-sided", *options)
    expected = stats.minimum_detectable_effect(500, design, alternative="one-sided")
    assert (one_sided["effect"], one_sided["alternative"]) == (expected.effect, "one-sided")
