"""What the missing scores could change: worst-case (Manski) bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import Floats, Labels, check_bounds, check_level, scores_of, whole
from probatum.stats.mean import Strata, check_range, mean_interval
from probatum.stats.result import Interval

__all__ = ["MissingBounds", "missing_bounds", "missing_bounds_of_counts", "paired_missing_bounds"]

Scores = Sequence[float | None] | npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class MissingBounds(Interval):
    """The mean of what is there (`value`), and the range that the missing could span.

    `lower` … `upper` is certain, whatever the missing would have been; `low` … `high` adds sampling error to
    both ends, and so covers the mean of all items at least at the level.
    """

    lower: float
    upper: float


def missing_bounds(
    scores: Scores,
    missing: int | Mapping[str, int] = 0,
    bounds: tuple[float, float] = (0.0, 1.0),
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    level: float = 0.95,
) -> MissingBounds:
    """Mean score if every missing score were at the bottom of `bounds` … if every one were at the top.

    Args:
        scores: One score an item; `None` or NaN where it is missing.
        missing: Further missing items that are not in `scores`: a number, or reason → number.
        bounds: The range that a score can take.
        clusters: One label an item of `scores`; the further missing items count as clusters of their own.
        strata: Likewise; not together with a further number of missing items.
        level: Confidence level of `low` … `high`.

    The mean of the observed (`value`) is right only if what is missing is missing at random.

    Raises:
        ValueError: there is no item at all, or a score is out of bounds.

    Source: Manski, American Economic Review 1990; Horowitz and Manski, JASA 2000.
    """
    check_bounds(bounds)
    check_level(level)
    values, absent = _with_gaps(scores)
    reasons = _reasons(missing, int(absent.sum()))
    further = sum(reasons.values()) - int(absent.sum())
    if further and strata is not None:
        raise ValueError("missing items of no stratum cannot be counted: put them into scores as None")
    if not len(values) + further:
        raise ValueError("scores are empty: 0 values and 0 missing")
    names = None if clusters is None else [*clusters, *(("missing", i) for i in range(further))]
    filled = [
        mean_interval(
            np.concatenate([np.where(absent, fill, values), np.full(further, fill)]),
            clusters=names,
            strata=strata,
            level=level,
            bounds=bounds,
        )
        for fill in bounds
    ]
    observed = values[~absent]
    return _spanned(filled, float(np.mean(observed)) if observed.size else None, len(observed), reasons)


def _with_gaps(scores: Scores) -> tuple[Floats, npt.NDArray[np.bool_]]:
    if isinstance(scores, Mapping):
        raise ValueError("scores must be in the order of the items, not a mapping")  # noqa: TRY004 - misuse is ValueError here
    try:
        kept = [score is not None and bool(score == score) for score in scores]  # noqa: PLR0124 - NaN
    except (TypeError, ValueError):
        raise ValueError("scores must be numbers in one dimension, or None where missing") from None
    present = np.array(kept, dtype=bool)
    values = np.full(len(present), np.nan)
    values[present] = scores_of([each for each, there in zip(scores, kept, strict=True) if there], empty=True)
    return values, ~present


def _reasons(missing: int | Mapping[str, int], gaps: int) -> dict[str, int]:
    named = missing if isinstance(missing, Mapping) else {"unspecified": missing}
    reasons = {reason: whole(count, f"missing ({reason})") for reason, count in named.items()}
    if gaps:
        reasons["no score"] = reasons.get("no score", 0) + gaps
    return {reason: count for reason, count in reasons.items() if count}


def _spanned(
    filled: list[Interval], value: float | None, n: int, reasons: Mapping[str, int]
) -> MissingBounds:
    worst, best = filled
    warnings = dict.fromkeys((*worst.warnings, *best.warnings))
    if value is None:
        warnings["every score is missing: only the bounds are known"] = None
    elif not float(worst) - 1e-12 <= value <= float(best) + 1e-12:
        warnings["the mean of the complete pairs lies outside the bounds: what is missing is not random"] = (
            None
        )
    return MissingBounds(
        value=value,
        lower=float(worst),
        upper=float(best),
        low=worst.low,
        high=best.high,
        level=worst.level,
        method=f"worst case bounds, {worst.method}",
        n=n,
        clusters=worst.clusters,
        missing=reasons,
        estimand="mean over all items, the missing included",
        warnings=tuple(warnings),
    )


def missing_bounds_of_counts(
    correct: int, incorrect: int, missing: int, level: float = 0.95
) -> MissingBounds:
    """`missing_bounds` of one rate, from counts.

    Raises:
        ValueError: a count is negative, or all are 0.
    """
    scores = np.repeat([1.0, 0.0], [whole(correct, "correct"), whole(incorrect, "incorrect")])
    return missing_bounds(scores, missing, level=level)


def paired_missing_bounds(
    a: Scores,
    b: Scores,
    bounds: tuple[float, float] = (0.0, 1.0),
    clusters: Labels | None = None,
    level: float = 0.95,
) -> MissingBounds:
    """Bounds of the mean paired difference a - b, where either score of an item may be missing.

    `value` is the mean over items of which both scores are there.

    Raises:
        ValueError: a and b do not match in size, or are empty.
    """
    if len(a) != len(b) or not len(a):
        raise ValueError(f"a and b must be aligned and not empty: {len(a)} and {len(b)} values")
    low, high = check_bounds(bounds)
    (first, no_first), (second, no_second) = _with_gaps(a), _with_gaps(b)
    span = high - low
    for scores, absent in ((first, no_first), (second, no_second)):
        check_range(scores[~absent], (low, high))
    filled = [
        mean_interval(
            np.where(no_first, fill_a, first) - np.where(no_second, fill_b, second),
            clusters=clusters,
            level=level,
            bounds=(-span, span),
        )
        for fill_a, fill_b in ((low, high), (high, low))
    ]
    both = ~(no_first | no_second)
    reasons = {
        "no score of a": int((no_first & ~no_second).sum()),
        "no score of b": int((no_second & ~no_first).sum()),
        "no score of either": int((no_first & no_second).sum()),
    }
    value = float((first - second)[both].mean()) if both.any() else None
    return _spanned(
        filled, value, int(both.sum()), {reason: count for reason, count in reasons.items() if count}
    )
