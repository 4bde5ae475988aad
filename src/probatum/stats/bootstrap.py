"""Resampling whole clusters: for means and paired differences through sums, for any statistic by indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from probatum.stats.clustering import Sampling
from probatum.stats.inputs import (
    Floats,
    Integers,
    Labels,
    aligned_scores,
    check_choice,
    check_level,
    check_probability,
    counts_of,
    encode,
    generator,
    picked,
    scores_of,
    sum_by,
    whole,
)
from probatum.stats.mean import Strata, picked_strata, sampling_of
from probatum.stats.quantiles import normal_quantile
from probatum.stats.resampling import distinct_rows, resampled_sums
from probatum.stats.result import Interval

__all__ = [
    "bootstrap_interval",
    "bootstrap_mean",
    "exact_bootstrap_distribution",
    "ideal_bootstrap_error",
    "limits_of_draws",
    "paired_cluster_bootstrap",
    "quantile",
    "resampled_means",
]

QUANTILE_RULES = (
    *("linear", "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"),
    *("hazen", "weibull", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)
"""The nine of Hyndman and Fan (The American Statistician 1996), and the older four."""


def quantile(values: npt.ArrayLike, q: float, rule: str = "linear") -> float:
    """The q quantile of values under a named rule (the names are numpy's).

    Raises:
        ValueError: there are no values, or the rule is unknown.
    """
    check_choice(rule, QUANTILE_RULES, "rule")
    return float(np.quantile(scores_of(values, "values"), check_probability(q, "q"), method=rule))  # type: ignore[call-overload]  # a checked name


_PIVOTS = 20
"""Different t values below which their quantiles mean nothing."""


@dataclass(frozen=True)
class _Pool:
    """The clusters of one stratum, as sums; clusters with equal sums are one type."""

    share: float
    """Of the stratum in the mean."""
    columns: Floats
    """Σ score and Σ weight of each type, of shape (types, 2)."""
    counts: Integers
    """Clusters of each type."""

    @property
    def mean(self) -> float:
        totals = self.counts @ self.columns
        return float(totals[0] / totals[1])


def bootstrap_mean(
    scores: npt.ArrayLike,
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    samples: int = 10_000,
    ci: str = "bca",
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Bootstrap interval of a mean: clusters are drawn with return, within strata of fixed weight.

    `ci`: `bca` (bias-corrected and accelerated), `t` (studentised) or `percentile`. Quantiles are `linear`.
    For a mean `mean_interval` covers better with few clusters; this is for comparison with the
    literature and for differences of ratios.

    Raises:
        ValueError: as `mean_interval`; fewer than 2 samples.

    Source: Efron and Tibshirani 1993, chapters 12 to 14; Davison and Hinkley 1997, section 3.2.
    """
    values = scores_of(scores)
    check_level(level)
    check_choice(ci, ("bca", "t", "percentile"), "ci")
    samples = whole(samples, "samples", minimum=2)
    sampling = sampling_of(len(values), clusters, strata)
    if not sampling.shares.all():  # strata of weight 0
        kept = np.flatnonzero(sampling.shares)
        values, clusters, strata = values[kept], picked(clusters, kept), picked_strata(strata, kept)
        sampling = sampling_of(len(values), clusters, strata)
    pools, count = _pools(values, sampling)
    found = Interval(
        value=math.fsum(pool.share * pool.mean for pool in pools),
        level=level,
        method=f"{ci} cluster bootstrap, {samples} resamples, linear quantiles",
        n=len(values),
        clusters=count,
        estimand=f"mean over the population of {'items' if clusters is None else 'clusters'} that these "
        f"{count} are a sample of" + (f", in {len(pools)} fixed strata" if len(pools) > 1 else ""),
        seed=seed,
    )
    if count < 2:  # noqa: PLR2004 - a spread needs two
        note = "1 cluster has no standard error: at least 2 independent clusters are needed"
        return replace(found, warnings=(note,))
    estimates, errors = _resampled(pools, samples, generator(seed), studentised=ci == "t")
    return _interval(found, estimates, errors, pools, ci)


def paired_cluster_bootstrap(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    samples: int = 10_000,
    ci: str = "bca",
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Bootstrap interval of the mean of a - b over items; arguments as `bootstrap_mean`.

    Raises:
        ValueError: a, b and clusters are not aligned, or empty.
    """
    first, second = aligned_scores(a, b)
    found = bootstrap_mean(first - second, clusters, strata, samples, ci, seed, level)
    return replace(found, estimand=found.estimand.replace("mean over", "mean paired difference over"))


def resampled_means(scores: npt.ArrayLike, clusters: Labels | None, draws: npt.NDArray[np.integer]) -> Floats:
    """Means of given cluster resamples, of shape (samples,).

    `draws` holds numbers of clusters, counted in the order in which they first occur, shape (samples,
    clusters). The mean of the concatenated clusters is Σ sums / Σ sizes; for whole-number scores bit for bit.
    """
    values = scores_of(scores)
    codes, count = (
        (np.arange(len(values)), len(values))
        if clusters is None
        else encode(list(clusters), len(values), "clusters")
    )
    drawn = counts_of(draws, "draws")
    if drawn.ndim != 2 or (drawn.size and int(drawn.max()) >= count):  # noqa: PLR2004 - samples × clusters
        raise ValueError(f"draws must be numbers of {count} clusters of shape (samples, clusters)")
    sums, sizes = sum_by(codes, values, count), np.bincount(codes, minlength=count).astype(np.float64)
    return np.asarray(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))


def _pools(values: Floats, sampling: Sampling) -> tuple[list[_Pool], int]:
    key = sampling.clusters * sampling.pool_count + sampling.pools
    if sampling.pool_count > 1 and len(np.unique(key)) > sampling.cluster_count:
        raise ValueError(
            "clusters cross strata, so that strata cannot be resampled one by one; use mean_interval"
        )
    count, plain = sampling.cluster_count, bool((sampling.shares == sampling.shares[0]).all())
    if plain:  # whole numbers stay whole: types collapse, and sums are exact
        sums = sum_by(sampling.clusters, values, count)
        weights = np.bincount(sampling.clusters, minlength=count).astype(np.float64)
        shares = np.bincount(sampling.pools, minlength=sampling.pool_count) / len(values)
    else:
        sums = sum_by(sampling.clusters, values * sampling.shares, count)
        weights = sum_by(sampling.clusters, sampling.shares, count)
        shares = sum_by(sampling.pools, sampling.shares, sampling.pool_count)
    home = np.empty(count, np.int64)
    home[sampling.clusters] = sampling.pools
    pools = []
    for pool in range(sampling.pool_count):
        mine = home == pool
        columns, counts = distinct_rows(np.column_stack([sums[mine], weights[mine]]))
        pools.append(_Pool(float(shares[pool]), columns, counts))
    return pools, sampling.cluster_count


def _resampled(
    pools: list[_Pool], samples: int, random: np.random.Generator, *, studentised: bool
) -> tuple[Floats, Floats]:
    """The estimate (and where wanted the variance) of every resample, of shape (samples,) each."""
    estimates, variances = np.zeros(samples), np.zeros(samples)
    for pool in pools:
        columns = pool.columns
        if studentised:
            score, weight = columns.T
            columns = np.column_stack([columns, score * score, score * weight, weight * weight])
        sums = resampled_sums(columns, pool.counts, samples, random)
        means = sums[:, 0] / sums[:, 1]
        estimates += pool.share * means
        if studentised:
            variances += pool.share**2 * _ratio_variance(sums, int(pool.counts.sum()))
    return estimates, variances


def _ratio_variance(sums: Floats, clusters: int) -> Floats:
    """CR1 variance of Σ score / Σ weight from the sums of the squares and products."""
    mean = sums[:, 0] / sums[:, 1]
    spread = sums[:, 2] - 2 * mean * sums[:, 3] + mean * mean * sums[:, 4]
    return np.asarray(np.maximum(spread, 0.0) / sums[:, 1] ** 2 * (clusters / max(1, clusters - 1)))


def _own_variance(pools: list[_Pool]) -> float:
    total = 0.0
    for pool in pools:
        score, weight = pool.columns.T
        columns = np.column_stack([score, weight, score * score, score * weight, weight * weight])
        total += pool.share**2 * float(
            _ratio_variance((pool.counts @ columns)[np.newaxis], int(pool.counts.sum()))[0]
        )
    return total


def _interval(found: Interval, estimates: Floats, variances: Floats, pools: list[_Pool], ci: str) -> Interval:
    value = float(found)
    error = float(estimates.std(ddof=1))
    scale = max(abs(value), float(np.abs(estimates).max()), 1e-300)
    if error <= 1e-14 * scale:
        note = "no resample varies: the interval has no width and says nothing of other items"
        return replace(found, low=value, high=value, warnings=(note,))
    tails = (1 - found.level) / 2, (1 + found.level) / 2
    if ci == "percentile":
        low, high = (quantile(estimates, tail) for tail in tails)
        return replace(found, low=low, high=high, se=error)
    if ci == "bca":
        levels = _bca_levels(estimates, value, _acceleration(pools), tails)
        if levels is None:
            note = "the estimate lies outside all resamples: BCa is undefined, percentile limits are given"
            low, high = (quantile(estimates, tail) for tail in tails)
            return replace(found, low=low, high=high, se=error, warnings=(note,))
        low, high = (quantile(estimates, tail) for tail in levels)
        return replace(found, low=low, high=high, se=error)
    own, usable = math.sqrt(_own_variance(pools)), variances > 0
    pivots = (estimates[usable] - value) / np.sqrt(variances[usable])
    dropped = int((~usable).sum())
    note_t = (f"{dropped} resamples have no spread and no t value; they are left out",) if dropped else ()
    if len(np.unique(np.round(pivots, 9))) < _PIVOTS:
        note = f"{found.clusters} clusters give fewer than {_PIVOTS} different t values: no limits"
        return replace(found, se=own, missing={"no spread": dropped}, warnings=(*note_t, note))
    low, high = value - own * quantile(pivots, tails[1]), value - own * quantile(pivots, tails[0])
    return replace(
        found, low=low, high=high, se=own, missing={"no spread": dropped} if dropped else {}, warnings=note_t
    )


def _bca_levels(
    estimates: Floats, value: float, acceleration: float, tails: tuple[float, float]
) -> tuple[float, float] | None:
    """The quantiles that BCa reads; ties with the estimate count half."""
    below = float(np.mean(estimates < value) + 0.5 * np.mean(estimates == value))
    if not 0 < below < 1:
        return None
    bias = normal_quantile(below)
    levels = []
    for tail in tails:
        shifted = bias + normal_quantile(tail)
        slope = 1 - acceleration * shifted
        if slope <= 0:
            return None
        levels.append(0.5 * math.erfc(-(bias + shifted / slope) / math.sqrt(2)))
    return levels[0], levels[1]


def _acceleration(pools: list[_Pool]) -> float:
    """From the means without one cluster at a time, in closed form."""
    cubes = squares = 0.0
    for pool in pools:
        totals = pool.counts @ pool.columns
        rest = totals - pool.columns
        without = pool.share * np.divide(
            rest[:, 0], rest[:, 1], out=np.full(len(rest), np.nan), where=rest[:, 1] > 0
        )
        clusters = int(pool.counts.sum())
        if clusters < 2 or not np.isfinite(without).all():  # noqa: PLR2004 - leaves none
            continue
        influence = (clusters - 1) / clusters * (float(pool.counts @ without) / clusters - without)
        cubes += float(pool.counts @ influence**3)
        squares += float(pool.counts @ influence**2)
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def limits_of_draws(
    estimates: Floats, level: float
) -> tuple[float | None, float | None, float | None, int, tuple[str, ...]]:
    """Percentile limits, standard error, number of undefined draws (NaN), and what must be said of them."""
    defined = estimates[np.isfinite(estimates)]
    absent = len(estimates) - len(defined)
    warnings: tuple[str, ...] = ()
    if absent:
        warnings = (
            f"{absent} of {len(estimates)} resamples leave the statistic undefined; they are left out",
        )
    if len(defined) < max(2, len(estimates) // 2):
        return None, None, None, absent, (*warnings, "too few resamples define the statistic: no interval")
    error = float(defined.std(ddof=1))
    if error <= 1e-14 * max(1e-300, float(np.abs(defined).max())):
        note = "no resample varies: the bootstrap cannot say how sure the value is, and gives no interval"
        return None, None, None, absent, (*warnings, note)
    low, high = (quantile(defined, tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    return low, high, error, absent, warnings


def bootstrap_interval(
    statistic: Callable[[Integers], float | None],
    n: int,
    clusters: Labels | None = None,
    samples: int = 2_000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Percentile bootstrap interval of any statistic of n observations.

    `statistic` is called with the indices of a resample (and once with 0 … n-1) and gives a number, or `None`
    where it is undefined; such resamples are counted in `missing`. Whole clusters are drawn.

    Raises:
        ValueError: n or samples are too small, or the clusters do not match.
    """
    n, samples = whole(n, "n", minimum=1), whole(samples, "samples", minimum=2)
    check_level(level)
    codes, count = (np.arange(n), n) if clusters is None else encode(clusters, n, "clusters")
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(codes, minlength=count))[:-1])
    whole_value = _defined(statistic(np.arange(n)))
    found = Interval(
        value=whole_value,
        level=level,
        method=f"percentile cluster bootstrap, {samples} resamples, linear quantiles",
        n=n,
        clusters=count,
        seed=seed,
    )
    if whole_value is None or count < 2:  # noqa: PLR2004 - a spread needs two
        return replace(found, warnings=("the statistic is undefined, or there is only 1 cluster",))
    random = generator(seed)
    drawn = (
        statistic(np.concatenate([members[i] for i in random.integers(0, count, count)]))
        for _ in range(samples)
    )
    estimates = np.array([np.nan if value is None else value for value in drawn])
    low, high, error, absent, warnings = limits_of_draws(estimates, level)
    missing = {"undefined resamples": absent} if absent else {}
    return replace(found, low=low, high=high, se=error, missing=missing, warnings=warnings)


def _defined(value: float | None) -> float | None:
    """A finite statistic, or `None`."""
    return None if value is None or not math.isfinite(value) else float(value)


def ideal_bootstrap_error(values: npt.ArrayLike) -> float:
    """Standard error of a mean over all n^n resamples: population SD / √n, √((n-1)/n) below the usual one."""
    array = scores_of(values, "values")
    return float(array.std() / math.sqrt(len(array)))


def exact_bootstrap_distribution(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The law of the resampled mean over all n^n resamples: support and probabilities, ascending.

    Feasible where few distinct sums arise (n up to some hundreds for 0/1 values).
    """
    array = scores_of(values, "values")
    distinct, counts = np.unique(array, return_counts=True)
    law: dict[float, float] = {0.0: 1.0}
    for _ in range(len(array)):
        wider: dict[float, float] = {}
        for total, mass in law.items():
            for value, count in zip(distinct.tolist(), counts.tolist(), strict=True):
                key = round(total + value, 12)
                wider[key] = wider.get(key, 0.0) + mass * count / len(array)
        law = wider
    support = sorted(law)
    return np.array(support) / len(array), np.array([law[total] for total in support])
