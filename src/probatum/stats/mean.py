"""The mean of scores whose items may come in clusters and strata."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from probatum.stats.clustering import METHODS, ClusterVariance, Sampling, cluster_variance
from probatum.stats.inputs import (
    Floats,
    Integers,
    Labels,
    binary,
    check_bounds,
    check_choice,
    check_level,
    check_size,
    encode,
    picked,
    positive_weights,
    scores_of,
    sum_by,
)
from probatum.stats.proportion import proportion_test, wilson_limits
from probatum.stats.quantiles import normal_quantile, t_quantile, t_tail
from probatum.stats.result import HypothesisTest, Interval

__all__ = ["Strata", "check_range", "mean_interval", "mean_test", "picked_strata", "sampling_of"]

FEW_DEGREES = 5
DOMINANT_SHARE = 0.5


@dataclass(frozen=True, kw_only=True)
class Strata:
    """Parts of a benchmark, and what they stand for.

    `role="fixed"`: the parts *are* the benchmark (the 57 subjects of MMLU); the interval is for other items
    of the same parts. `role="random"`: the parts are a sample of the parts that might have been chosen; they
    are then the clusters.
    """

    labels: Labels
    weights: str | Mapping[object, float] = "size"
    """`size`: every item weighs the same (micro average); `equal`: every part does (macro average); or
    part → weight."""
    role: str = "fixed"


@dataclass(frozen=True)
class _Design:
    """The sampling design of n scores, with what a report must be told of it."""

    sampling: Sampling
    estimand: str
    warnings: tuple[str, ...] = ()
    random_clusters: Integers | None = field(default=None)
    """Strata as clusters, to compare the standard errors of the two readings."""


def mean_interval(
    scores: npt.ArrayLike,
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    weights: npt.ArrayLike | None = None,
    level: float = 0.95,
    method: str = "CR2",
    bounds: tuple[float, float] | None = None,
) -> Interval:
    """Interval of the mean of `scores`, shape (n,), in the units of the scores.

    Args:
        scores: One finite number an item. Of k samples an item take the item means first (`item_means`):
            their spread already contains the sampling noise of the answers.
        clusters: One label an item; items of one cluster are not independent. `None`: every item is one.
        strata: Labels of fixed parts, or `Strata`, which says their weights and whether they are fixed.
        weights: Weight of each item within its stratum (sampling weights). Items of weight 0 are left out
            and counted in `missing`, like strata of weight 0.
        level: Confidence level.
        method: `CR2` (default: exact first-order correction, Bell–McCaffrey t), `CR1` (G/(G-1), t with G-1),
            `CR3` (jackknife, t with G-1) or `CR0` (no correction, normal law).
        bounds: The range that a score can take, e.g. (0, 1). Then the limits have Wilson's form with the
            effective number of items, stay in the range, and have a width even where all scores are equal.

    With fewer than 2 clusters the standard error and the limits are `None`, and a warning says so.

    Raises:
        ValueError: nothing to average, sizes that do not match, scores that are not finite or out of bounds,
            a missing label.
    """
    values = scores_of(scores)
    check_level(level)
    check_choice(method, METHODS, "method")
    if bounds is not None:
        check_range(values, check_bounds(bounds))
    design = _design(len(values), clusters, strata, weights)
    if not design.sampling.shares.all():
        kept = np.flatnonzero(design.sampling.shares)
        found = mean_interval(
            values[kept],
            picked(clusters, kept),
            picked_strata(strata, kept),
            picked(None if weights is None else np.asarray(weights), kept),
            level,
            method,
            bounds,
        )
        return replace(found, missing={"weight of 0": len(values) - len(kept)})
    value = _weighted_mean(values, design.sampling)
    empty = Interval(
        value=value,
        level=level,
        method=method,
        n=len(values),
        clusters=design.sampling.cluster_count,
        estimand=design.estimand,
        warnings=design.warnings,
    )
    if design.sampling.cluster_count < 2:  # noqa: PLR2004 - a spread needs two
        return _warned(empty, "1 cluster has no standard error: at least 2 independent clusters are needed")
    variance = cluster_variance(values, design.sampling, method)
    if _is_constant(variance, values):
        return _constant(empty, bounds)
    warnings = (*design.warnings, *_reliability(variance), *_roles(values, design, variance.variance))
    return _finish(empty, variance, bounds, warnings)


def picked_strata(strata: Labels | Strata | None, kept: Integers) -> Labels | Strata | None:
    """The strata of the items at these positions."""
    if isinstance(strata, Strata):
        return replace(strata, labels=picked(strata.labels, kept) or [])
    return picked(strata, kept)


def sampling_of(
    n: int,
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    weights: npt.ArrayLike | None = None,
) -> Sampling:
    """The sampling design of n observations: shares, cluster codes and strata codes."""
    return _design(n, clusters, strata, weights).sampling


def check_range(values: Floats, bounds: tuple[float, float]) -> None:
    """Scores lie in the range that they can take."""
    outside = values[(values < bounds[0]) | (values > bounds[1])]
    if outside.size:
        raise ValueError(
            f"{outside.size} of {values.size} scores lie outside {bounds[0]:g} … {bounds[1]:g}, "
            f"e.g. {float(outside[0])!r}"
        )


def _design(
    n: int, clusters: Labels | None, strata: Labels | Strata | None, weights: npt.ArrayLike | None
) -> _Design:
    given = positive_weights(weights, n)
    weight = np.ones(n) if given is None else given
    coded, count = (np.arange(n), n) if clusters is None else encode(clusters, n, "clusters")
    unit = "items" if clusters is None else "clusters"
    if strata is None:
        sampling = Sampling(weight / weight.sum(), coded, count, np.zeros(n, np.int64), 1)
        return _Design(sampling, f"mean over the population of {unit} that these {count} are a sample of")
    parts = strata if isinstance(strata, Strata) else Strata(labels=strata)
    check_choice(parts.role, ("fixed", "random"), "role of the strata")
    check_size(parts.labels, n, "strata")
    pools, pool_count = encode(parts.labels, n, "strata")
    shares = _shares(weight, pools, pool_count, parts)
    weighting = parts.weights if isinstance(parts.weights, str) else "given"
    if parts.role == "random":
        if clusters is not None and not _nested(coded, count, pools):
            raise ValueError(
                "clusters cross strata, so that strata cannot be the clusters; give them as fixed"
            )
        sampling = Sampling(shares, pools, pool_count, np.zeros(n, np.int64), 1)
        return _Design(
            sampling, f"mean over a population of strata ({weighting} weights); the {pool_count} are a sample"
        )
    merged, merged_count, warnings = _merge_lonely(coded, count, pools, pool_count)
    return _Design(
        Sampling(shares, coded, count, merged, merged_count),
        f"mean over {pool_count} fixed strata ({weighting} weights), for new {unit} of the same strata",
        warnings,
        pools if pool_count > 1 and _nested(coded, count, pools) else None,
    )


def _shares(weight: Floats, pools: Integers, count: int, parts: Strata) -> Floats:
    """Share of the mean that each item carries, after the weights of the strata."""
    within = sum_by(pools, weight, count)
    if within.min() <= 0:
        raise ValueError("the weights of a whole stratum are 0; leave its items out")
    if parts.weights == "size":
        return np.asarray(weight / weight.sum())
    if parts.weights == "equal":
        return np.asarray(weight / within[pools] / count)
    if not isinstance(parts.weights, Mapping):
        raise ValueError(  # noqa: TRY004 - a name out of a closed set
            f"weights of strata must be size, equal or a mapping, not {parts.weights!r}"
        )
    named = [parts.weights.get(label) for label in parts.labels]
    unnamed = {str(label) for label, share in zip(parts.labels, named, strict=True) if share is None}
    if unnamed:
        raise ValueError(f"no weight for {len(unnamed)} strata: {', '.join(sorted(unnamed)[:5])}")
    share = scores_of(np.asarray(named, dtype=object), "weights of strata")
    total = sum(share[pools == code][0] for code in range(count))
    if share.min() < 0 or total <= 0:
        raise ValueError("weights of strata must not be negative and must not all be 0")
    return np.asarray(weight / within[pools] * share / total)


def _nested(clusters: Integers, cluster_count: int, pools: Integers) -> bool:
    """Whether every cluster lies in one stratum."""
    first = np.full(cluster_count, -1, np.int64)
    first[clusters[::-1]] = pools[::-1]
    return bool((first[clusters] == pools).all())


def _merge_lonely(
    clusters: Integers, cluster_count: int, pools: Integers, pool_count: int
) -> tuple[Integers, int, tuple[str, ...]]:
    """Strata of one cluster have no spread of their own: they share one (collapsed strata, conservative)."""
    merged, count = pools, pool_count
    warnings: tuple[str, ...] = ()
    while count > 1:
        size = np.bincount(np.unique(clusters * count + merged) % count, minlength=count)
        lonely = np.flatnonzero(size < 2)  # noqa: PLR2004 - a spread needs two
        if not lonely.size:
            break
        note = (
            f"{lonely.size} of {pool_count} strata have 1 cluster and no spread of their own; "
            "for the standard error they are taken together with others (conservative)"
        )
        warnings = warnings or (note,)
        target = lonely
        if lonely.size == 1:
            others = np.where(np.arange(count) == lonely[0], cluster_count + 1, size)
            target = np.array([lonely[0], int(np.argmin(others))])
        renamed = np.arange(count)
        renamed[target] = target[0]
        _, codes = np.unique(renamed[merged], return_inverse=True)
        merged, count = codes.astype(np.int64, copy=False), int(codes.max()) + 1
    return merged, count, warnings


def _weighted_mean(values: Floats, sampling: Sampling) -> float:
    shares = sampling.shares
    if (shares == shares[0]).all():
        return float(math.fsum(values) / len(values))
    return float(math.fsum(values * shares) / math.fsum(shares))


def _is_constant(variance: ClusterVariance, values: Floats) -> bool:
    """Whether the spread is nothing but rounding."""
    scale = max(1e-300, float(np.abs(values).max()))
    return math.sqrt(variance.variance) <= 1e-14 * scale


def _warned(interval: Interval, *warnings: str) -> Interval:
    return replace(interval, warnings=(*interval.warnings, *warnings))


def _constant(empty: Interval, bounds: tuple[float, float] | None) -> Interval:
    """No spread at all: Wilson on the number of clusters where the range is known, else nothing."""
    count = empty.clusters or 0
    if bounds is None or empty.value is None:
        return _warned(
            empty,
            f"all {count} clusters have the same mean: the standard error cannot be estimated; "
            "give bounds=(low, high) for an interval",
        )
    span = bounds[1] - bounds[0]
    share = min(1.0, max(0.0, (empty.value - bounds[0]) / span))
    low, high = wilson_limits(share, count, normal_quantile((1 + empty.level) / 2))
    return replace(
        _warned(
            empty,
            f"all {count} clusters have the same mean: no standard error; the interval is Wilson's with "
            "one trial a cluster",
        ),
        low=bounds[0] + span * low,
        high=bounds[0] + span * high,
        method="wilson over clusters",
    )


def _reliability(variance: ClusterVariance) -> tuple[str, ...]:
    warnings = []
    if variance.df < FEW_DEGREES:
        warnings.append(f"only {variance.df:.1f} degrees of freedom: the interval rests on very few clusters")
    if variance.largest_share > DOMINANT_SHARE:
        warnings.append(f"one cluster carries {variance.largest_share:.0%} of the mean")
    return tuple(warnings)


def _roles(values: Floats, design: _Design, variance: float) -> tuple[str, ...]:
    """A warning where it matters whether the strata are fixed or a sample."""
    if design.random_clusters is None:
        return ()
    codes = design.random_clusters
    other = Sampling(design.sampling.shares, codes, int(codes.max()) + 1, np.zeros(len(codes), np.int64), 1)
    random_error = math.sqrt(cluster_variance(values, other, "CR2").variance)
    if random_error <= 1.5 * math.sqrt(variance):
        return ()
    warning = (
        f"strata are taken as fixed; were they a sample of strata, the standard error would be "
        f"{random_error:.4g} instead of {math.sqrt(variance):.4g}"
    )
    return (warning,)


def _finish(
    empty: Interval,
    variance: ClusterVariance,
    bounds: tuple[float, float] | None,
    warnings: tuple[str, ...],
) -> Interval:
    se = math.sqrt(variance.variance)
    quantile = t_quantile(variance.df, (1 + empty.level) / 2)
    value = float(empty)
    low, high = value - quantile * se, value + quantile * se
    law = "normal" if math.isinf(variance.df) else "t"
    method = f"{empty.method} {law}"
    if bounds is not None:
        low, high = _bounded_limits(value, se, quantile, bounds)
        method += ", Wilson form"
    return replace(
        empty,
        low=low,
        high=high,
        method=method,
        se=se,
        df=None if math.isinf(variance.df) else variance.df,
        warnings=warnings,
    )


def _bounded_limits(
    value: float, se: float, quantile: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Wilson's limits with the size at which independent 0/1 trials would have this standard error."""
    span = bounds[1] - bounds[0]
    share = (value - bounds[0]) / span
    size = share * (1 - share) / (se / span) ** 2
    low, high = wilson_limits(share, size, quantile)
    return bounds[0] + span * low, bounds[0] + span * high


def mean_test(
    scores: npt.ArrayLike,
    chance: npt.ArrayLike,
    clusters: Labels | None = None,
    alternative: str = "greater",
    bounds: tuple[float, float] = (0.0, 1.0),
) -> HypothesisTest:
    """One-sided test of a mean score against chance (the expected score of a blind guess).

    Exact binomial where the scores are 0/1, `chance` is one number and every item is its own cluster;
    otherwise Student's t on the CR2 standard error of score - chance. `chance` is a number, or one an item.

    Raises:
        ValueError: as `mean_interval`.
    """
    values = scores_of(scores)
    check_range(values, check_bounds(bounds))
    check_choice(alternative, ("greater", "less", "two-sided"), "alternative")
    expected = scores_of(np.atleast_1d(np.asarray(chance, dtype=object)), "chances")
    if np.ndim(chance):
        check_size(expected, len(values), "chances")
    else:
        expected = expected.reshape(())
    check_range(np.atleast_1d(expected), bounds)
    if clusters is None and not expected.ndim and set(bounds) == {0.0, 1.0} and np.isin(values, (0, 1)).all():
        return proportion_test(int(binary(values).sum()), len(values), float(expected), alternative)
    sampling = sampling_of(len(values), clusters)
    side = {"greater": "at most ", "less": "at least "}.get(alternative, "")
    null = f"the mean is {side}{float(expected.mean()):g}"
    if sampling.cluster_count < 2:  # noqa: PLR2004 - a spread needs two
        return HypothesisTest(
            p_value=None,
            method="CR2 t",
            null=null,
            alternative=alternative,
            n=len(values),
            clusters=sampling.cluster_count,
            warnings=("1 cluster has no standard error: at least 2 independent clusters are needed",),
        )
    excess = values - expected
    variance = cluster_variance(excess, sampling, "CR2")
    if _is_constant(variance, excess):
        return _constant_test(values, expected, sampling, alternative, bounds, null)
    t = float(excess.mean()) / math.sqrt(variance.variance)
    tail = {"greater": t_tail(variance.df, t), "less": t_tail(variance.df, -t)}
    return HypothesisTest(
        p_value=tail.get(alternative, min(1.0, 2 * t_tail(variance.df, abs(t)))),
        statistic=t,
        method="CR2 t",
        null=null,
        alternative=alternative,
        n=len(values),
        clusters=sampling.cluster_count,
        df=variance.df,
        warnings=_reliability(variance),
    )


def _constant_test(
    values: Floats,
    expected: Floats,
    sampling: Sampling,
    alternative: str,
    bounds: tuple[float, float],
    null: str,
) -> HypothesisTest:
    """Every score at one end of its range: P ≤ chance^clusters, because P(cluster at the top) ≤ its mean."""
    span = bounds[1] - bounds[0]
    top, bottom = bool((values == bounds[1]).all()), bool((values == bounds[0]).all())
    highest, lowest = ((float(limit) - bounds[0]) / span for limit in (expected.max(), expected.min()))
    p_value: float | None = None
    if top or bottom:
        tail = (highest if top else 1 - lowest) ** sampling.cluster_count
        against = "less" if top else "greater"
        p_value = 1.0 if alternative == against else min(1.0, tail * (1 + (alternative == "two-sided")))
    return HypothesisTest(
        p_value=p_value,
        method="Markov bound over clusters",
        null=null,
        alternative=alternative,
        n=len(values),
        clusters=sampling.cluster_count,
        warnings=()
        if p_value is not None
        else ("all clusters have the same mean: the standard error cannot be estimated",),
    )
