"""Estimators for evaluations: arrays in, frozen results out; numpy and scipy only.

What every run needs is imported here and stands on numpy and `scipy.special` alone; the rest is imported
when its name is first used.
"""

from __future__ import annotations

from probatum.stats.mean import Strata, mean_interval, mean_test
from probatum.stats.missing import (
    MissingBounds,
    missing_bounds,
    missing_bounds_of_counts,
    paired_missing_bounds,
)
from probatum.stats.pass_at_k import (
    pass_at_k,
    pass_at_k_interval,
    pass_hat_k,
    pass_hat_k_interval,
    pass_power_k,
)
from probatum.stats.proportion import (
    bernoulli_standard_error,
    proportion_difference,
    proportion_interval,
    proportion_test,
    rule_of_three,
)
from probatum.stats.result import HypothesisTest, Interval

__all__ = [
    "HypothesisTest",
    "Interval",
    "MissingBounds",
    "Strata",
    "bernoulli_standard_error",
    "mean_interval",
    "mean_test",
    "missing_bounds",
    "missing_bounds_of_counts",
    "paired_missing_bounds",
    "pass_at_k",
    "pass_at_k_interval",
    "pass_hat_k",
    "pass_hat_k_interval",
    "pass_power_k",
    "proportion_difference",
    "proportion_interval",
    "proportion_test",
    "rule_of_three",
]
