"""Every row of the shared file of reference values."""

import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from probatum import scoring, stats

SHARED = Path(os.environ.get("PROBATUM_SHARED") or Path(__file__).parents[3] / "shared")
FILE = SHARED / "oracles" / "statistics.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.is_file() else []
WINNERS = {"x": "a", "y": "b", "tie": "tie", "draw": "tie"}
METHODS = {
    "normal": "wald",
    "beta": "clopper_pearson",
    "exact": "clopper_pearson",
    "clopper-pearson": "clopper_pearson",
    "agresti-coull": "agresti_coull",
}
"""Other libraries' names of intervals."""


def undefined_if_refused(call):
    """The value; NaN where the library refuses or says that it is undefined."""
    try:
        value = call()
    except ValueError:
        return math.nan
    return math.nan if value is None else value


def proportion(i):
    method = METHODS.get(i.get("method", "wilson"), i.get("method", "wilson"))
    return stats.proportion_interval(i["x"], i["n"], method, i.get("level", 0.95)).interval


def pass_at_k_mean(i):
    return stats.pass_at_k_interval(i["n"], i["c"], i["k"]).value


def mcnemar_chi2(i):
    found = stats.mcnemar(i["b"], i["c"], "chi2", correction=i.get("correction", True))
    return {"stat": found.statistic, "p": found.p_value}


def cochran(i):
    found = stats.cochran_q(i["table"])
    return {"Q": found.statistic, "df": found.df, "p": found.p_value}


def kappa(i):
    given = (i["table"],) if "table" in i else (i["a"], i["b"])
    return stats.cohen_kappa(*given, weights=i.get("weights", "none"), samples=0).value


def clustered_se(i):
    kind = i.get("correction", "CR2")
    found = stats.mean_interval(i["scores"], i.get("clusters"), method=kind)
    if kind == "CR2":
        return {"se": found.se, "df_bell_mccaffrey": found.df}
    return found.se


def paired_t(i):
    found = stats.paired_difference(i["a"], i["b"], i.get("clusters"), level=i.get("level", 0.95))
    return {"t": found.value / found.se, "p": found.p_value, "ci": found.interval}


def welch(i):
    found = stats.unpaired_difference(i["a"], i["b"])
    return {"t": found.value / found.se, "p": found.p_value}


def stratified_se(i):
    errors = i["stderrs"]
    sizes = i.get("sizes", [1] * len(errors))
    return stats.combine_strata([0.5] * len(errors), errors, sizes, i["weights"]).se


def exact_bootstrap(i):
    support, mass = stats.exact_bootstrap_distribution(i["x"])
    return {"support": support.tolist(), "prob": mass.tolist()}


def bootstrap(ci):
    def interval(i):
        assert i.get("stat", "mean") == "mean"
        return stats.bootstrap_mean(i["x"], samples=200_000, ci=ci, level=i.get("level", 0.95)).interval

    return interval


def miller_design(i):
    return stats.Design(
        between=i["omega2"],
        within_a=i.get("sigma2_a", 0),
        within_b=i.get("sigma2_b", 0),
        samples_a=i.get("K_a", 1),
        samples_b=i.get("K_b", 1),
    )


def miller_size(i):
    return stats.sample_size(i["mde"], miller_design(i), i["alpha"], i["power"]).n_exact


def miller_effect(i):
    return stats.minimum_detectable_effect(i["n"], miller_design(i), i["alpha"], i["power"]).effect


def rates_effect(i):
    design = stats.Design.of_rates(i["p"], correlation=i.get("rho", 0), paired=i["paired"])
    return stats.minimum_detectable_effect(i["n_per_arm"], design, i["alpha"], i["power"]).effect


def alpha(i):
    return stats.krippendorff_alpha(i["data"], i["level"], samples=0).value


def bradley_terry(i):
    try:
        return stats.bradley_terry_of_wins(i["wins"])[1].tolist()
    except ValueError as refused:
        return "refused" if "no finite estimate" in str(refused) else str(refused)


def elo_like(i):
    found = stats.bradley_terry_of_wins(i["wins"])[1]
    return (i["center"] + i["scale"] * found / math.log(i["base"])).tolist()


def battles(i):
    return stats.Battles.of(i["x"], i["y"], [WINNERS[winner] for winner in i["winner"]])


def by_model(score):
    def named(i):
        given = battles(i)
        settings = {"k": i["K"], "init": i["init"], "scale": i["scale"]} if "K" in i else {}
        return dict(zip(given.models, np.asarray(score(given, **settings)).tolist(), strict=True))

    return named


def calibration_error(i):
    return stats.expected_calibration_error(i["p"], i["y"], i["bins"], edges=i.get("edges", "(lo,hi]")).value


def maximum_error(i):
    return stats.reliability_table(i["p"], i["y"], i["bins"], edges=i.get("edges", "(lo,hi]")).maximum


def brier_parts(i):
    found = stats.brier_decomposition(i["p"], i["y"])
    return {name: getattr(found, name) for name in ("brier", "reliability", "resolution", "uncertainty")}


def temperature(i):
    found = stats.temperature_scale(i["logits"], i["y"])
    return {"T": found.temperature, "nll": found.nll}


def ppi(i):
    weight, level = i.get("lam", "optimal"), i.get("level", 0.95)
    return stats.ppi_mean(i["y"], i["yhat"], i["yhat_unlabeled"], weight, level, law="normal")


def missing(i):
    low, high = i.get("range", (0, 1))
    scores = [high] * i["correct"] + [low] * i["incorrect"]
    found = stats.missing_bounds(scores, i["missing"], (low, high))
    if (low, high) == (0, 1):
        counted = stats.missing_bounds_of_counts(i["correct"], i["incorrect"], i["missing"])
        assert (counted.lower, counted.upper) == pytest.approx((found.lower, found.upper), abs=1e-12)
    return {"lower": found.lower, "upper": found.upper, "complete_case": found.value}


def paired_missing(i):
    found = stats.paired_missing_bounds(i["a"], i["b"])
    return {"lower": found.lower, "upper": found.upper}


def mixture(i):
    prior = tuple(float(each) for each in re.fullmatch(r"Beta\((.+),(.+)\)", i["mixture"]).groups())
    return {"log_e": stats.beta_binomial_e_value(i["k"], i["n"], i["p0"], prior)}


def resampling(i):
    """Chances of the items by a beta law: their variance, and the mean variance of one answer."""
    law = re.match(r"theta~(?:U\(0,1\)|Beta\(([^,]+),([^)]+)\))", i["model"])
    a, b = (float(each) if each else 1.0 for each in law.groups())
    both = a * b / ((a + b) * (a + b + 1))
    return stats.resampling_variance_ratio(both / (a + b), both, i["K"])


def squad_em(i):
    return scoring.squad_exact(i["prediction"], [i["gold"]])


def squad_f1(i):
    tokens = "words" if i["tokens"] == "words" else "characters"
    return scoring.token_f1(i["prediction"], [i["gold"]], tokens=tokens)


ADAPTERS = {
    "adjust_pvalues": lambda i: stats.adjust_pvalues(i["p"], i["method"]).tolist(),
    "aurc": lambda i: stats.aurc(i["confidence"], i["error"]).value,
    "auroc": lambda i: stats.auroc(i["confidence"], i["correct"]).value,
    "beta_binomial_ci": lambda i: (
        stats.proportion_interval(
            i["x"], i["n"], "beta_binomial", i.get("level", 0.95), (i["a"], i["b"])
        ).interval
    ),
    "betting_or_msprt": mixture,
    "bootstrap_bca": bootstrap("bca"),
    "bootstrap_exact_distribution": exact_bootstrap,
    "bootstrap_percentile": bootstrap("percentile"),
    "bootstrap_se_exact": lambda i: stats.ideal_bootstrap_error(i["x"]),
    "bradley_terry": bradley_terry,
    "bradley_terry_elo": elo_like,
    "brier": lambda i: stats.brier_score(i["p"], i["y"]).value,
    "brier_decomposition": brier_parts,
    "brier_multiclass": lambda i: stats.brier_score(i["p"], i["y"]).value,
    "clustered_se": clustered_se,
    "cochran_q": cochran,
    "cohen_kappa": kappa,
    "combine_swapped": lambda i: stats.combine_swapped(i["game1"], i["game2"], i.get("rule", "conservative")),
    "design_effect": lambda i: stats.design_effect(i["m"], i["icc"]),
    "diff_proportions_ci": lambda i: (
        stats.proportion_difference((i["x1"], i["x2"]), (i["n1"], i["n2"]), i["method"]).interval
    ),
    "dkw_band": lambda i: stats.dkw_band(i["n"], i["level"]),
    "e_aurc": lambda i: stats.e_aurc(i["confidence"], i["error"]).value,
    "ece_classwise": lambda i: (
        stats.expected_calibration_error(i["p"], i["y"], i.get("bins", 10), "classwise").value
    ),
    "ece_debiased": lambda i: (
        stats.expected_calibration_error(i["p"], i["y"], i.get("bins", 10), "debiased").value
    ),
    "ece_equal_mass": lambda i: stats.expected_calibration_error(i["p"], i["y"], i["bins"], "quantile").value,
    "ece_equal_width": calibration_error,
    "ece_float_edge": calibration_error,
    "elo_online": by_model(lambda given, **settings: stats.elo(given, **settings).ratings),
    "evalica_average_win_rate": by_model(stats.average_win_rates),
    "evalica_bradley_terry": by_model(lambda given: np.exp(stats.bradley_terry(given).strengths)),
    "evalica_counting": by_model(stats.win_points),
    "evalica_eigen": by_model(lambda given: stats.eigenvector_scores(given, "losses")),
    "evalica_newman": by_model(lambda given: np.exp(stats.bradley_terry(given, "davidson").strengths)),
    "evalica_pagerank": by_model(stats.pagerank_scores),
    "fleiss_kappa": lambda i: stats.fleiss_kappa(i["counts"], samples=0).value,
    "gwet_ac1": lambda i: stats.gwet_ac1(i["pairs_table"], samples=0).value,
    "krippendorff_alpha": alpha,
    "lm_eval_pooled_stderr": lambda i: stats.pooled_standard_error(i["stderrs"], i["sizes"]),
    "manski_bounds": missing,
    "manski_bounds_paired": paired_missing,
    "mce_equal_width": maximum_error,
    "mcnemar_chi2": mcnemar_chi2,
    "mcnemar_exact": lambda i: stats.mcnemar(i["b"], i["c"]).p_value,
    "mcnemar_midp": lambda i: stats.mcnemar(i["b"], i["c"], "midp").p_value,
    "mde_paired": miller_effect,
    "mde_two_proportions": rates_effect,
    "nll": lambda i: stats.negative_log_likelihood(i["p"], i["y"], eps=i.get("clip", 1e-15)).value,
    "paired_clustered_se": lambda i: (
        stats.paired_difference(i["a"], i["b"], i["clusters"], method=i["correction"]).se
    ),
    "paired_se": lambda i: stats.paired_difference(i["a"], i["b"]).se,
    "paired_t": paired_t,
    "pass_at_k": lambda i: stats.pass_at_k(i["n"], i["c"], i["k"]),
    "pass_at_k_mean": pass_at_k_mean,
    "pass_hat_k": lambda i: stats.pass_hat_k(i["n"], i["c"], i["k"]),
    "permutation_p": lambda i: stats.permutation_pvalue(i["exceed"], i["B"]),
    "ppi_mean": lambda i: ppi(i).value,
    "ppi_mean_ci": lambda i: ppi(i).interval,
    "ppi_plus_mean": lambda i: ppi(i).value,
    "ppi_plus_mean_ci": lambda i: ppi(i).interval,
    "proportion_ci": proportion,
    "quantile": lambda i: stats.quantile(i["x"], i["q"], i["method"]),
    "resampling_variance_ratio": resampling,
    "rule_of_three": lambda i: stats.rule_of_three(i["n"], i["level"]),
    "sample_size_mean": lambda i: stats.sample_size_of_t(i["effect_d"], i["alpha"], i["power"]),
    "sample_size_paired": miller_size,
    "se_mean_bernoulli": lambda i: stats.bernoulli_standard_error(i["p"], i["n"], i["ddof"]),
    "sign_flip_test_exact": lambda i: stats.sign_flip_test(i["deltas"], i.get("clusters")).p_value,
    "smooth_ece": lambda i: stats.expected_calibration_error(i["p"], i["y"], kind="smooth").value,
    "squad_em": squad_em,
    "squad_f1": squad_f1,
    "stratified_se": stratified_se,
    "t_ci": lambda i: stats.t_interval(i["mean"], i["se"], i["df"], i["level"]),
    "temperature_scaling": temperature,
    "unpaired_welch": welch,
}


def agrees(found, expected, tolerance):
    if isinstance(expected, dict):
        if "error" in expected:
            return found == "refused"
        return found.keys() == expected.keys() and all(
            agrees(found[key], value, tolerance) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(
            agrees(f, e, tolerance) for f, e in zip(found, expected, strict=True)
        )
    if expected == "nan":
        return math.isnan(found)
    if isinstance(expected, str):
        return found == expected
    if isinstance(found, dict):  # the row asks for the first of several
        found = next(iter(found.values()))
    return abs(found - expected) <= max(tolerance, 1e-15)


@pytest.mark.skipif(not ROWS, reason="no file of reference values: set PROBATUM_SHARED to the shared folder")
@pytest.mark.parametrize("row", ROWS or [None], ids=lambda row: row and f"{row['function']}-{row['id']}")
def test_value_is_that_of_the_reference(row):
    found = undefined_if_refused(lambda: ADAPTERS[row["function"]](row["inputs"]))
    assert agrees(found, row["expected"], row["tol"]), f"{found} is not {row['expected']}"


@pytest.mark.skipif(not ROWS, reason="no file of reference values: set PROBATUM_SHARED to the shared folder")
def test_no_row_is_left_out():
    assert len(ROWS) >= 183
    assert {row["function"] for row in ROWS} <= ADAPTERS.keys()
