"""Tests of a paired difference by counting: McNemar's, and the sign-flip (randomisation) test."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import (
    Floats,
    Labels,
    check_choice,
    encode,
    generator,
    scores_of,
    sum_by,
    whole,
)
from probatum.stats.quantiles import binomial_tail, chi2_tail
from probatum.stats.result import HypothesisTest

__all__ = ["mcnemar", "permutation_pvalue", "sign_flip_test"]

_ENUMERATED = 20
"""Up to so many clusters all 2^G sign patterns are tried."""
_LATTICE_WORK = 50_000_000
"""Additions that the exact distribution on a lattice may cost."""
_DENOMINATORS = (*range(1, 65), 100, 128, 1000)
"""Scores that are multiples of 1/d live on a lattice: counts, and means of d samples."""
_ELEMENTS = 1 << 21
_TINIEST = 5e-324
"""The smallest number above 0: a p-value is never 0."""
_ROUNDING = 1e-10
"""Relative rounding of sums of fractions."""


def mcnemar(b: int, c: int, method: str = "exact", *, correction: bool = True) -> HypothesisTest:
    """McNemar's test on independent 0/1 pairs, from the discordant ones alone.

    Args:
        b: Items that only the first system got right.
        c: Items that only the second got right.
        method: `exact` (2·P(X ≤ min), capped at 1), `midp` (less conservative; Fagerland 2013) or `chi2`.
        correction: Edwards' continuity correction of `chi2`.

    Without discordant pairs p is 1.

    Raises:
        ValueError: a count is negative, or the method is unknown.
    """
    b, c = whole(b, "b"), whole(c, "c")
    check_choice(method, ("exact", "midp", "chi2"), "method")
    total, larger = b + c, max(b, c)
    statistic: float | None = float(min(b, c))
    if total == 0:
        p_value = 1.0
    elif method == "chi2":
        statistic = max(0.0, abs(b - c) - correction) ** 2 / total
        p_value = chi2_tail(1, statistic)
    else:
        tail = binomial_tail(larger, total, 0.5)
        if method == "midp" and b != c:
            tail -= math.exp(_log_choose(total, larger) - total * math.log(2)) / 2
        p_value = min(1.0, max(2 * tail, _TINIEST))
    return HypothesisTest(
        p_value=p_value,
        statistic=statistic,
        method=f"McNemar {method}" + (" (corrected)" if method == "chi2" and correction else ""),
        null="both systems are right equally often",
        n=total,
        df=1.0 if method == "chi2" else None,
        smallest=min(1.0, max(2.0 ** (1 - total), _TINIEST)) if method == "exact" else None,
        warnings=("no discordant pairs: the systems agree on every item",) if total == 0 else (),
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def permutation_pvalue(exceed: int, samples: int) -> float:
    """(exceed + 1)/(samples + 1): the p-value of a sampled randomisation test, never 0.

    Source: Phipson and Smyth 2010.
    """
    exceed, samples = whole(exceed, "exceed"), whole(samples, "samples", minimum=1)
    if exceed > samples:
        raise ValueError(f"{exceed} of {samples} samples")
    return (exceed + 1) / (samples + 1)


def sign_flip_test(
    differences: npt.ArrayLike, clusters: Labels | None = None, samples: int = 9_999, seed: int = 0
) -> HypothesisTest:
    """Two-sided randomisation test of a - b: under the null a cluster's difference could have either sign.

    `differences` has one a - b an item, shape (n,). The statistic is |Σ differences|. Exact where the
    cluster sums are counts or multiples of a small fraction (any number of clusters), or where there are at
    most 20 clusters; otherwise from `samples` random sign patterns with p = (b+1)/(B+1). Sums that differ by
    less than a billionth of Σ |cluster sums| count as equal.

    Raises:
        ValueError: nothing to test, values that are not finite, sizes that do not match.
    """
    values = scores_of(differences, "differences")
    samples = whole(samples, "samples", minimum=1)
    codes, count = (
        (np.arange(len(values)), len(values))
        if clusters is None
        else encode(clusters, len(values), "clusters")
    )
    sums = np.abs(sum_by(codes, values, count))
    observed = abs(float(sum_by(codes, values, count).sum()))
    moving = sums[sums > 1e-12 * max(1.0, float(sums.max()))]
    lattice = _on_lattice(moving)
    if not moving.size:
        p_value, how = 1.0, "exact"
    elif lattice is not None:
        steps, unit = lattice
        p_value, how = _lattice_tail(steps, round(observed * unit)), "exact"
    elif moving.size <= _ENUMERATED:
        p_value, how = _enumerated_tail(moving, observed), "exact"
    else:
        p_value, how = _sampled_tail(moving, observed, samples, seed), f"{samples} sign patterns"
    smallest = 2.0 ** (1 - moving.size) if how == "exact" else 1 / (samples + 1)
    smallest = min(1.0, max(smallest, _TINIEST))
    warnings = []
    if smallest > 0.05:  # noqa: PLR2004 - the customary level
        warnings.append(f"{moving.size} clusters differ: p cannot fall below {smallest:.3g}")
    return HypothesisTest(
        p_value=min(1.0, max(p_value, smallest)),
        statistic=observed / len(values),
        method=f"sign flip, {how}",
        null="the difference of each cluster is as likely positive as negative",
        n=len(values),
        clusters=count,
        smallest=smallest,
        seed=None if how == "exact" else seed,
        warnings=tuple(warnings),
    )


def _on_lattice(sums: Floats) -> tuple[npt.NDArray[np.int64], int] | None:
    """The sums as whole multiples of 1/d, and d, where there is such a d and the work is bearable."""
    for denominator in _DENOMINATORS:
        scaled = sums * denominator
        steps = np.rint(scaled)
        if (steps >= 1).all() and (np.abs(scaled - steps) < _ROUNDING * steps).all():
            whole_steps = steps.astype(np.int64)
            return (whole_steps, denominator) if _lattice_work(whole_steps) <= _LATTICE_WORK else None
    return None


def _by_count(steps: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Distinct steps with how often each occurs, the commonest first."""
    sizes, counts = np.unique(steps, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return list(zip(sizes[order].tolist(), counts[order].tolist(), strict=True))


def _lattice_work(steps: npt.NDArray[np.int64]) -> int:
    """Additions of `_lattice_tail`: the commonest step costs one pass, each further one a pass a cluster."""
    return int(steps.sum()) * (1 + sum(count + 1 for _, count in _by_count(steps)[1:]))


def _lattice_tail(steps: npt.NDArray[np.int64], observed: int) -> float:
    """P(|Σ ±steps| ≥ observed), exactly: one binomial law for each distinct step."""
    law = np.ones(1)  # of the sum of the steps that are taken upward
    for step, count in _by_count(steps):
        weights = np.exp([_log_choose(count, k) - count * math.log(2) for k in range(count + 1)])
        wider = np.zeros(len(law) + step * count)
        if len(law) == 1:
            wider[::step] = weights
        else:
            for k, weight in enumerate(weights.tolist()):
                wider[k * step : k * step + len(law)] += weight * law
        law = wider
    positions = 2 * np.arange(len(law)) - int(steps.sum())
    return float(law[np.abs(positions) >= observed].sum())


def _enumerated_tail(sums: Floats, observed: float) -> float:
    totals = np.array([sums[0]])  # one sign may be fixed: the law is symmetric
    for value in sums[1:]:
        totals = np.concatenate([totals + value, totals - value])
    return float(np.mean(np.abs(totals) >= observed - 1e-9 * float(sums.sum())))


def _sampled_tail(sums: Floats, observed: float, samples: int, seed: int) -> float:
    random = generator(seed)
    total, exceed, done = float(sums.sum()), 0, 0
    rows = max(1, _ELEMENTS // len(sums))
    while done < samples:
        size = min(rows, samples - done)
        signs = random.integers(0, 2, (size, len(sums)), dtype=np.int8)
        flipped = np.abs(2 * (signs @ sums) - total)
        exceed += int((flipped >= observed - 1e-9 * total).sum())
        done += size
    return permutation_pvalue(exceed, samples)
