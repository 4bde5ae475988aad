"""Two systems on the same items: the paired difference, and tests of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import (
    Floats,
    Labels,
    aligned_scores,
    binary,
    check_bounds,
    check_choice,
    check_level,
    finite,
    scores_of,
    table_of,
)
from probatum.stats.mean import Strata, check_range, mean_interval
from probatum.stats.proportion import rule_of_three
from probatum.stats.quantiles import chi2_tail, normal_quantile, t_quantile, t_tail
from probatum.stats.result import HypothesisTest, Interval

__all__ = [
    "PairedDifference",
    "cochran_q",
    "non_inferiority",
    "paired_difference",
    "tost",
    "unpaired_difference",
]

Scores = npt.ArrayLike | Mapping[Any, float]
"""One score an item: in the order of the items, or item id → score."""
Names = Labels | Mapping[Any, Any]
"""One label an item, likewise."""
_AGREEMENT = "exact limit of the discordance"
"""Method of the interval of two systems that agree on every item."""
SPARSE = 10
"""Below so many discordant 0/1 pairs the t interval covers less than it says (docs/statistics.md)."""


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Interval):
    """The mean of a - b over items, with what one needs to judge it."""

    mean_a: float
    mean_b: float
    wins: int | None
    """Items on which a scores higher; `None` where the samples are not paired."""
    losses: int | None
    ties: int | None
    correlation: float | None
    """Of the two scores over items; `None` where one of them does not vary."""
    p_value: float | None
    """Two-sided, of the test that the interval belongs to; for 0/1 scores see also `mcnemar`."""


def paired_difference(
    a: Scores,
    b: Scores,
    clusters: Names | None = None,
    strata: Names | Strata | None = None,
    level: float = 0.95,
    method: str = "CR2",
    bounds: tuple[float, float] | None = None,
) -> PairedDifference:
    """Mean of a - b over items that both systems answered, and its interval.

    Args:
        a: Scores of the first system: an array, or item id → score.
        b: Scores of the second; the same items. With ids the pairing is by id, and the ids must agree.
        clusters: One label an item (or item id → label) where items are not independent.
        strata: Fixed parts of the benchmark, as in `mean_interval`.
        level: Confidence level.
        method: `CR2` (default), `CR0`, `CR1`, `CR3` as in `mean_interval`, or `bonett_price` (adjusted Wald
            for independent 0/1 pairs: conservative, and safe with few discordant pairs).
        bounds: The range of one score; found by itself for 0/1 scores. No limit lies further out than such
            scores can differ. Where the two systems agree on every item it gives the largest difference that
            such agreement still allows.

    Raises:
        ValueError: sizes or item ids that do not match (both sides are named), empty or not finite scores.

    Source: Miller 2024, arXiv:2411.00640, section 4; Bonett and Price, JEBS 2012.
    """
    check_level(level)
    check_choice(method, ("CR0", "CR1", "CR2", "CR3", "bonett_price"), "method")
    first, second, ids = _pair(a, b)
    names = None if clusters is None else _labels(clusters, ids, "clusters")
    parts = _strata(strata, ids)
    is_binary = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    if bounds is None and is_binary:
        bounds = (0.0, 1.0)
    if bounds is not None:
        check_range(np.concatenate([first, second]), check_bounds(bounds))
    if bounds is None and is_binary:
        bounds = (0.0, 1.0)
    if bounds is not None:
        check_range(np.concatenate([first, second]), check_bounds(bounds))
    difference = first - second
    if method == "bonett_price":
        if not is_binary or names is not None or parts is not None:
            raise ValueError("bonett_price is for independent 0/1 scores, without clusters and strata")
        found = _bonett_price(difference, level)
    else:
        found = mean_interval(difference, names, parts, level=level, method=method)
        if found.interval is None and (found.clusters or 0) > 1:
            found = _with_width(found, difference, names, parts, bounds)
        found = _within_range(found, bounds)
    discordant = int(np.count_nonzero(difference))
    if is_binary and 0 < discordant < SPARSE and method != "bonett_price":
        note = f"only {discordant} discordant pairs: rely on the exact mcnemar test, or method='bonett_price'"
        found = replace(found, warnings=(*found.warnings, note))
    return PairedDifference(
        **{field.name: getattr(found, field.name) for field in fields(Interval)},
        mean_a=float(first.mean()),
        mean_b=float(second.mean()),
        wins=int((difference > 0).sum()),
        losses=int((difference < 0).sum()),
        ties=len(difference) - discordant,
        correlation=_correlation(first, second),
        p_value=_p_value(found),
    )


def _pair(a: Scores, b: Scores) -> tuple[Floats, Floats, list[Any] | None]:
    """Scores in one order, and the ids where they have any."""
    if not isinstance(a, Mapping) and not isinstance(b, Mapping):
        _check_index(a, b)
        return *aligned_scores(a, b), None
    if not isinstance(a, Mapping) or not isinstance(b, Mapping):
        raise ValueError("give both systems as item id → score, or both as arrays in the order of the items")  # noqa: TRY004 - the two do not match
    only_a, only_b = [key for key in a if key not in b], [key for key in b if key not in a]
    if only_a or only_b:
        examples = ", ".join(repr(key) for key in (only_a + only_b)[:3])
        raise ValueError(
            f"the items do not match: {len(only_a)} of {len(a)} are only in a, {len(only_b)} of {len(b)} "
            f"only in b, e.g. {examples}; compare those that both answered, and report the others as missing"
        )
    ids = list(a)
    return *aligned_scores([a[key] for key in ids], [b[key] for key in ids]), ids


def _check_index(a: Any, b: Any) -> None:
    """Two pandas series are in the order of one index."""
    first: Any = getattr(a, "index", None)
    second: Any = getattr(b, "index", None)
    if hasattr(first, "equals") and hasattr(second, "equals") and not first.equals(second):
        raise ValueError("the indices of a and b differ; to pair by index give a.to_dict() and b.to_dict()")


def _labels(labels: Names, ids: list[Any] | None, name: str) -> Labels:
    """Labels in the order of the items."""
    if not isinstance(labels, Mapping):
        return labels
    if ids is None:
        raise ValueError(f"{name} name item ids, but the scores do not; give scores as item id → score")
    absent = [key for key in ids if key not in labels]
    if absent:
        raise ValueError(f"{len(absent)} of {len(ids)} items have no label in {name}, e.g. {absent[0]!r}")
    return [labels[key] for key in ids]


def _strata(strata: Names | Strata | None, ids: list[Any] | None) -> Labels | Strata | None:
    if strata is None or isinstance(strata, Strata):
        return strata
    return _labels(strata, ids, "strata")


def _correlation(a: Floats, b: Floats) -> float | None:
    spread = float(a.std() * b.std())
    if spread <= 0:
        return None
    return max(-1.0, min(1.0, float(((a - a.mean()) * (b - b.mean())).mean()) / spread))


def _with_width(
    found: Interval,
    difference: Floats,
    clusters: Labels | None,
    strata: Labels | Strata | None,
    bounds: tuple[float, float] | None,
) -> Interval:
    """An interval also where the difference of the clusters does not vary."""
    if bounds is None:
        return found
    span, count = bounds[1] - bounds[0], found.clusters or 0
    if difference.any():
        return mean_interval(difference, clusters, strata, level=found.level, bounds=(-span, span))
    reach = span * rule_of_three(count, found.level)
    note = (
        f"the two agree on every item of {count} clusters: the interval is the largest difference that "
        f"the one-sided {found.level:.0%} limit of the rate of disagreement allows"
    )
    return replace(
        found,
        low=-reach,
        high=reach,
        method=_AGREEMENT,
        warnings=(note,),
    )


def _within_range(found: Interval, bounds: tuple[float, float] | None) -> Interval:
    """The limits, no further out than a difference can be."""
    if bounds is None or found.low is None or found.high is None:
        return found
    span = bounds[1] - bounds[0]
    return replace(found, low=max(-span, found.low), high=min(span, found.high))


def _bonett_price(difference: Floats, level: float) -> Interval:
    """Adjusted Wald: one discordant pair is added on each side."""
    n = len(difference)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    p, q = (wins + 1) / (n + 2), (losses + 1) / (n + 2)
    se = math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    half = normal_quantile((1 + level) / 2) * se
    return Interval(
        value=(wins - losses) / n,
        low=max(-1.0, p - q - half),
        high=min(1.0, p - q + half),
        level=level,
        method="bonett_price",
        n=n,
        se=se,
        estimand=f"mean difference over the population of items that these {n} are a sample of",
    )


def _p_value(found: Interval) -> float | None:
    if found.se is None or found.value is None or found.se <= 0:
        return None
    return min(1.0, 2 * t_tail(found.df, abs(_centre(found, found.value)) / found.se))


def _centre(found: Interval, value: float) -> float:
    """What the standard error belongs to: the adjusted difference of Bonett and Price, else the value."""
    return value * found.n / (found.n + 2) if found.method == "bonett_price" else value


def unpaired_difference(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    clusters: tuple[Labels | None, Labels | None] = (None, None),
    level: float = 0.95,
) -> PairedDifference:
    """Difference of two means on *different* items: Welch's t, with CR2 where items come in clusters.

    On the same items this wastes the pairing: use `paired_difference`.

    Raises:
        ValueError: empty or not finite scores.
    """
    first, second = scores_of(a, "a"), scores_of(b, "b")
    one, two = (
        mean_interval(scores, labels, level=level)
        for scores, labels in zip((first, second), clusters, strict=True)
    )
    value = float(one) - float(two)
    found = Interval(
        value=value,
        level=level,
        method="Welch t" if clusters == (None, None) else "CR2 Welch t",
        n=len(first) + len(second),
        clusters=(one.clusters or 0) + (two.clusters or 0),
        estimand="difference of two population means, from independent samples",
        warnings=tuple(dict.fromkeys((*one.warnings, *two.warnings))),
    )
    spread = {name: x for name, x in (("a", one), ("b", two)) if x.se is not None}
    flat = [name for name in "ab" if name not in spread]
    if flat and min(one.clusters or 0, two.clusters or 0) > 1:
        note = f"the clusters of {' and of '.join(flat)} all have the same mean: their spread counts as 0"
        if not spread:
            note += ", and there is no standard error; for 0/1 scores use proportion_difference"
        found = replace(found, warnings=(note, *(w for x in spread.values() for w in x.warnings)))
    if spread and min(one.clusters or 0, two.clusters or 0) > 1:
        terms = [(x.se or 0.0, x.df or math.inf) for x in spread.values()]
        square = sum(se**2 for se, _ in terms)
        df = square**2 / sum(se**4 / df for se, df in terms)
        half = t_quantile(df, (1 + level) / 2) * math.sqrt(square)
        found = replace(found, low=value - half, high=value + half, se=math.sqrt(square), df=df)
    return PairedDifference(
        **{field.name: getattr(found, field.name) for field in fields(Interval)},
        mean_a=float(one),
        mean_b=float(two),
        wins=None,
        losses=None,
        ties=None,
        correlation=None,
        p_value=_p_value(found),
    )


def non_inferiority(difference: Interval, margin: float) -> HypothesisTest:
    """One-sided test that a is not worse than b by `margin` or more (null: a - b ≤ -margin).

    Raises:
        ValueError: the margin is not positive.
    """
    margin = finite(margin, "margin")
    if not margin > 0:
        raise ValueError(f"margin must be positive, not {margin!r}; it is the loss that would matter")
    return _shifted(difference, -margin, "greater")


def tost(difference: Interval, margin: float | tuple[float, float]) -> HypothesisTest:
    """Two one-sided tests of equivalence: the difference lies within the margin(s).

    The p-value is the larger of the two; below α, the (1-2α) interval lies within the margins.

    Raises:
        ValueError: the margins do not enclose 0.

    Source: Schuirmann 1987.
    """
    low, high = margin if isinstance(margin, tuple | list) else (-margin, margin)
    low, high = finite(low, "margin"), finite(high, "margin")
    if not low < 0 < high:
        raise ValueError(f"margins must enclose 0, not {margin!r}")
    tests = (_shifted(difference, low, "greater"), _shifted(difference, high, "less"))
    known = [test for test in tests if test.p_value is not None]
    if len(known) < len(tests):
        return tests[0]
    worse = max(known, key=float)
    return replace(
        worse,
        method="TOST, " + worse.method,
        null=f"the difference lies outside {low:g} … {high:g}",
        alternative="equivalence",
    )


def _shifted(difference: Interval, null: float, alternative: str) -> HypothesisTest:
    sign = "≤" if alternative == "greater" else "≥"
    found = HypothesisTest(
        p_value=None,
        method=difference.method,
        null=f"the difference is {sign} {null:g}",
        alternative=alternative,
        n=difference.n,
        clusters=difference.clusters,
        df=difference.df,
        warnings=difference.warnings,
    )
    if difference.method == _AGREEMENT and difference.high and difference.clusters:
        span = difference.high / rule_of_three(difference.clusters, difference.level)
        p_value = (1 - min(1.0, abs(null) / span)) ** difference.clusters
        return replace(found, p_value=p_value)
    if difference.value is None or not difference.se:
        return replace(found, warnings=(*found.warnings, "the difference has no standard error"))
    t = (_centre(difference, difference.value) - null) / difference.se
    return replace(found, statistic=t, p_value=t_tail(difference.df, t if alternative == "greater" else -t))


def cochran_q(table: Sequence[Sequence[int]] | npt.NDArray[Any]) -> HypothesisTest:
    """Cochran's Q: do k systems share one success rate? `table` is 0/1 of shape (items, systems).

    Items are taken as independent; only those on which the systems differ carry information.

    Raises:
        ValueError: other than 0/1, or fewer than 2 systems.
    """
    array = table_of(table, "table", "(items, systems)")
    if array.shape[1] < 2:  # noqa: PLR2004 - two systems
        raise ValueError(f"table must be items × at least 2 systems, not of shape {array.shape}")
    binary(array.ravel(), "table entries")
    systems = array.shape[1]
    by_system, by_item = array.sum(axis=0), array.sum(axis=1)
    informative = float((systems * by_item - by_item**2).sum())
    found = HypothesisTest(
        p_value=None,
        method="Cochran Q",
        null="all systems have the same success rate",
        n=len(array),
        df=float(systems - 1),
    )
    if informative == 0:
        note = "the systems agree on every item: there is nothing to tell them apart by"
        return replace(found, p_value=1.0, warnings=(note,))
    q = (systems - 1) * float(systems * (by_system**2).sum() - by_system.sum() ** 2) / informative
    return replace(found, statistic=q, p_value=chi2_tail(systems - 1, q))
