"""Combining results that are already summed up: strata, pooled errors, a band around a distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from probatum.stats.inputs import (
    Floats,
    check_choice,
    check_level,
    check_size,
    finite,
    positive_weights,
    scores_of,
    whole,
)
from probatum.stats.quantiles import t_quantile
from probatum.stats.result import Interval

__all__ = ["combine_strata", "dkw_band", "pooled_standard_error", "t_interval"]


def combine_strata(
    values: Sequence[float],
    errors: Sequence[float],
    sizes: Sequence[float],
    weights: str | Sequence[float] = "size",
    level: float = 0.95,
) -> Interval:
    """Weighted mean of independent fixed strata: Σ wᵢxᵢ, with standard error √Σ wᵢ²seᵢ².

    `weights` is `size` (micro average), `equal` (macro average) or one number a stratum. The error follows
    the weights: a macro average does not have the error of a micro average.

    Raises:
        ValueError: sizes that do not match, or negative weights.
    """
    means, spreads, counts = (
        scores_of(x, name) for x, name in ((values, "values"), (errors, "errors"), (sizes, "sizes"))
    )
    if not len(means) == len(spreads) == len(counts):
        raise ValueError(f"{len(means)} values, {len(spreads)} errors and {len(counts)} sizes do not match")
    if spreads.min() < 0:
        raise ValueError(f"errors must not be negative: {float(spreads.min())!r}")
    share: Floats | None
    if isinstance(weights, str):
        check_choice(weights, ("size", "equal"), "weights")
        share = positive_weights(counts if weights == "size" else np.ones(len(means)), len(means))
    else:
        share = positive_weights(np.asarray(weights), len(means))
    portion = np.asarray(share) / float(np.sum(np.asarray(share)))
    value, se = float(portion @ means), math.sqrt(float(portion**2 @ spreads**2))
    half = t_quantile(None, (1 + level) / 2) * se
    check_level(level)
    return Interval(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        method="stratified normal",
        n=int(counts.sum()),
        se=se,
        estimand=f"mean of {len(means)} fixed strata, "
        + (f"{weights} weights" if isinstance(weights, str) else "weights given"),
    )


def pooled_standard_error(errors: Sequence[float], sizes: Sequence[float]) -> float:
    """Error of a group as lm-eval pools it: √(Σ (nᵢ-1)·nᵢ·seᵢ² / (Σn - k) / Σn).

    To reproduce its tables only: it supposes one variance for all, and size weights.
    """
    spreads, counts = scores_of(errors, "errors"), scores_of(sizes, "sizes")
    check_size(counts, len(spreads), "sizes", "errors")
    total = float(counts.sum())
    if spreads.min() < 0:
        raise ValueError(f"errors must not be negative: {float(spreads.min())!r}")
    if counts.min() < 1 or total <= len(counts):
        raise ValueError(f"sizes must be at least 1 and one of them more: {counts.tolist()}")
    return math.sqrt(float(((counts - 1) * counts * spreads**2).sum()) / (total - len(counts)) / total)


def t_interval(value: float, se: float, df: float | None, level: float = 0.95) -> tuple[float, float]:
    """The limits value ± t·se; the normal quantile where `df` is `None`."""
    if df is not None and not df > 0:
        raise ValueError(f"df must be above 0, not {df!r}")
    half = t_quantile(df, (1 + check_level(level)) / 2) * finite(se, "se", minimum=0)
    middle = finite(value, "value")
    return middle - half, middle + half


def dkw_band(n: int, level: float = 0.95) -> float:
    """Half width of the band around an empirical distribution function that holds the true one everywhere.

    √(ln(2/α)/(2n)). Source: Massart 1990.
    """
    return math.sqrt(math.log(2 / (1 - check_level(level))) / (2 * whole(n, "n", minimum=1)))
