"""Answering only when confident: risk against coverage, and how well confidence ranks the errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from probatum.stats.bootstrap import limits_of_draws
from probatum.stats.inputs import (
    Floats,
    Labels,
    aligned_scores,
    binary,
    check_level,
    encode,
    generator,
    sum_by,
    whole,
)
from probatum.stats.quantiles import normal_quantile
from probatum.stats.result import Interval

__all__ = ["RiskCoverage", "RiskCoveragePoint", "aurc", "auroc", "e_aurc", "risk_coverage"]


@dataclass(frozen=True, kw_only=True)
class RiskCoveragePoint:
    """What answering every item of at least this confidence gives."""

    threshold: float
    coverage: float
    """Share of items answered."""
    risk: float
    """Mean loss of the items answered."""


@dataclass(frozen=True, kw_only=True)
class RiskCoverage:
    """The points that a threshold can reach, from the highest confidence down."""

    points: tuple[RiskCoveragePoint, ...]
    n: int

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> RiskCoveragePoint:
        return self.points[index]

    def __iter__(self) -> Iterator[RiskCoveragePoint]:
        return iter(self.points)

    def risk_at(self, coverage: float) -> float | None:
        """Risk at the smallest reachable coverage of at least `coverage`; `None` above 1."""
        return next((point.risk for point in self.points if point.coverage >= coverage - 1e-12), None)

    def coverage_at(self, risk: float) -> float:
        """The largest coverage whose risk is at most `risk`; 0 where none is."""
        return max((point.coverage for point in self.points if point.risk <= risk), default=0.0)


def risk_coverage(confidence: npt.ArrayLike, loss: npt.ArrayLike) -> RiskCoverage:
    """Risk and coverage at every threshold; items of equal confidence are accepted together.

    Args:
        confidence: Shape (n,); higher is surer. Any scale.
        loss: Shape (n,); 0/1 errors or any loss.

    Raises:
        ValueError: sizes that do not match, empty, or values that are not finite.
    """
    levels, _, sizes, losses = _groups(*aligned_scores(confidence, loss, ("confidence", "loss")))
    accepted, total = np.cumsum(sizes), np.cumsum(losses)
    n = int(accepted[-1])
    points = tuple(
        RiskCoveragePoint(threshold=float(threshold), coverage=int(count) / n, risk=float(lost) / int(count))
        for threshold, count, lost in zip(levels, accepted, total, strict=True)
    )
    return RiskCoverage(points=points, n=n)


def _groups(
    confidence: Floats, loss: Floats
) -> tuple[Floats, npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Distinct confidences from high to low: value, first position, size and Σ loss of each."""
    order = np.argsort(-confidence, kind="stable")
    ordered, losses = confidence[order], loss[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.r_[starts, len(ordered)])
    return ordered[starts], starts, sizes, np.add.reduceat(losses, starts)


def _area(confidence: Floats, loss: Floats) -> float:
    """Mean over k of the risk of the k surest, averaged over the orders of equal confidence."""
    _, starts, sizes, losses = _groups(confidence, loss)
    before = np.cumsum(losses) - losses
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, len(loss) + 1))]
    mean = losses / sizes
    return float(
        ((before - starts * mean) * (harmonic[starts + sizes] - harmonic[starts]) + losses).sum()
    ) / len(loss)


def aurc(
    confidence: npt.ArrayLike, loss: npt.ArrayLike, samples: int = 0, seed: int = 0, level: float = 0.95
) -> Interval:
    """Area under the risk-coverage curve: mean over k = 1 … n of the risk of the k surest items.

    Where confidences are equal it is the mean over all orders of the equal items, so that the order of the
    input does not matter. `samples` > 0 adds a percentile bootstrap interval over items.

    Raises:
        ValueError: as `risk_coverage`.

    Source: Geifman, Uziel and El-Yaniv 2019.
    """
    pair = aligned_scores(confidence, loss, ("confidence", "loss"))
    return _with_draws("area under the risk-coverage curve", _area, *pair, (samples, seed, level))


def e_aurc(
    confidence: npt.ArrayLike, loss: npt.ArrayLike, samples: int = 0, seed: int = 0, level: float = 0.95
) -> Interval:
    """`aurc` less that of the best possible order of the same losses (finite n, exact); 0 is best.

    Raises:
        ValueError: as `risk_coverage`.
    """

    def excess(sure: Floats, lost: Floats) -> float:
        return _area(sure, lost) - _area(-lost, lost)

    pair = aligned_scores(confidence, loss, ("confidence", "loss"))
    return _with_draws("excess area under the risk-coverage curve", excess, *pair, (samples, seed, level))


def _with_draws(
    name: str,
    area: Callable[[Floats, Floats], float],
    confidence: Floats,
    loss: Floats,
    draws: tuple[int, int, float],
) -> Interval:
    samples, seed, level = draws
    check_level(level)
    n = len(loss)
    found = Interval(value=area(confidence, loss), level=level, method="exact over ties", n=n, estimand=name)
    if not whole(samples, "samples"):
        return replace(found, warnings=("no interval was asked for (samples=0)",))
    random = generator(seed)
    picks = (random.integers(0, n, n) for _ in range(samples))
    estimates = np.array([area(confidence[pick], loss[pick]) for pick in picks])
    low, high, error, _, warnings = limits_of_draws(estimates, level)
    return replace(
        found,
        low=low,
        high=high,
        se=error,
        seed=seed,
        method=f"percentile bootstrap, {samples} resamples",
        warnings=warnings,
    )


def auroc(
    confidence: npt.ArrayLike,
    correct: npt.ArrayLike,
    clusters: Labels | None = None,
    level: float = 0.95,
) -> Interval:
    """Probability that a right answer is surer than a wrong one (ties count half).

    The standard error is DeLong's; with clusters its cluster-summed form (Obuchowski 1997), corrected by
    G/(G-1). The limits are on the logit scale.

    Raises:
        ValueError: sizes that do not match, empty, or `correct` that is not 0/1.
    """
    sure, hits = aligned_scores(confidence, correct, ("confidence", "correct"))
    positive = binary(hits, "correct") == 1
    check_level(level)
    found = Interval(
        value=None,
        level=level,
        method="DeLong, logit",
        n=len(sure),
        estimand="P(surer when right), ties half",
    )
    m, k = int(positive.sum()), int((~positive).sum())
    if not m or not k:
        return replace(found, warnings=(f"{m} right and {k} wrong answers: nothing to rank",))
    shares = np.empty(len(sure))
    shares[positive] = _share_below(sure[positive], sure[~positive])
    shares[~positive] = 1 - _share_below(sure[~positive], sure[positive])
    value = float(shares[positive].mean())
    influence = (shares - value) / np.where(positive, m, k)
    codes, count = (
        (np.arange(len(sure)), len(sure)) if clusters is None else encode(clusters, len(sure), "clusters")
    )
    if clusters is None:
        terms = [
            (shares[side].var(ddof=1) / side.sum()) if side.sum() > 1 else math.nan
            for side in (positive, ~positive)
        ]
        variance = float(sum(terms))
    else:
        found = replace(found, method="clustered DeLong, logit", clusters=count)
        variance = float(np.square(sum_by(codes, influence, count)).sum()) * (
            count / (count - 1) if count > 1 else math.nan
        )
    return _logit_limits(replace(found, value=value), variance)


def _share_below(values: Floats, others: Floats) -> Floats:
    """Share of `others` that lie below each value, ties half."""
    ordered = np.sort(others)
    strictly = np.searchsorted(ordered, values, side="left")
    weakly = np.searchsorted(ordered, values, side="right")
    return np.asarray((strictly + weakly) / (2 * len(others)))


def _logit_limits(found: Interval, variance: float) -> Interval:
    value = float(found)
    if math.isnan(variance):
        few = "too few right or wrong answers for a standard error"
        alone = "1 cluster has no standard error: at least 2 independent clusters are needed"
        return replace(found, warnings=(alone if found.clusters == 1 else few,))
    if not 0 < value < 1:
        return replace(found, warnings=("confidence separates right from wrong: no standard error",))
    if variance <= 0:
        return replace(found, warnings=("right and wrong answers are equally sure: no standard error",))
    se = math.sqrt(variance)
    half = normal_quantile((1 + found.level) / 2) * se / (value * (1 - value))
    odds = math.log(value / (1 - value))
    low, high = (1 / (1 + math.exp(-(odds + side * half))) for side in (-1, 1))
    return replace(found, low=low, high=high, se=se)
