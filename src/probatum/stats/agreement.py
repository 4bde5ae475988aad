"""Do raters agree beyond chance: Cohen, Fleiss, Krippendorff and Gwet, each beside the raw agreement."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from probatum.stats.bootstrap import limits_of_draws
from probatum.stats.inputs import (
    Floats,
    Integers,
    Labels,
    check_choice,
    check_level,
    counts_of,
    generator,
    whole,
)
from probatum.stats.resampling import draw_counts
from probatum.stats.result import Interval

__all__ = ["Agreement", "cohen_kappa", "fleiss_kappa", "gwet_ac1", "krippendorff_alpha"]

Table = Sequence[Sequence[int]] | npt.NDArray[Any]
"""Counts of (label of the first rater, label of the second), square."""
_ROUNDING = 1e-15
"""Disagreement that is expected by rounding alone."""
WEIGHTS = ("none", "linear", "quadratic")


@dataclass(frozen=True, kw_only=True)
class Agreement(Interval):
    """A coefficient of agreement, with what it hides.

    With one label much commoner than the others kappa is low at high raw agreement (the prevalence paradox),
    so that both are always printed.
    """

    raw_agreement: float | None
    """Share of equal labels among pairs of labels of one item."""
    chance_agreement: float | None
    """What the coefficient expects of raters who guess."""
    prevalence: Mapping[Hashable, float]
    """Share of each label over all raters."""
    raters: int
    """Raters (the most that rated one item)."""


@dataclass(frozen=True)
class _Draws:
    """How the bootstrap interval is drawn."""

    samples: int
    seed: int
    level: float


def cohen_kappa(
    a: Labels | Table,
    b: Labels | None = None,
    weights: str = "none",
    samples: int = 2_000,
    seed: int = 0,
    level: float = 0.95,
) -> Agreement:
    """Cohen's kappa of two raters, with a percentile bootstrap interval over items.

    Args:
        a: Labels of the first rater, one an item (`None` where missing); or without `b` the square table of
            counts of (label of the first, label of the second).
        b: Labels of the second rater, same order.
        weights: `none`, or `linear` or `quadratic` for ordered labels (in sorted order).
        samples: Resamples; 0 for no interval.
        seed: Of the resamples.
        level: Confidence level.

    Where both raters only ever used one and the same label it is 0/0: `None`.

    Raises:
        ValueError: sizes that do not match, empty, or an unknown weighting.
    """
    check_choice(weights, WEIGHTS, "weights")
    pairs = _pairs(a, b)
    disagreement = _disagreement(len(pairs.labels), weights)

    def kappa(tables: Floats) -> tuple[Floats, Floats]:
        n = tables.sum(axis=(1, 2))
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        observed = (tables * disagreement).sum(axis=(1, 2)) / n
        expected = np.einsum("bi,ij,bj->b", rows, disagreement, columns) / n**2
        return _beyond(observed, expected), 1 - expected

    name = "Cohen's kappa" + (f", {weights} weights" if weights != "none" else "")
    return _of_tables(name, pairs, kappa, _Draws(whole(samples, "samples"), seed, level))


def gwet_ac1(
    a: Labels | Table, b: Labels | None = None, samples: int = 2_000, seed: int = 0, level: float = 0.95
) -> Agreement:
    """Gwet's AC1 of two raters: agreement beyond chance that stays stable when one label is rare.

    Arguments and errors as `cohen_kappa`.

    Source: Gwet, British Journal of Mathematical and Statistical Psychology 2008.
    """
    pairs = _pairs(a, b)
    labels = len(pairs.labels)

    def ac1(tables: Floats) -> tuple[Floats, Floats]:
        n = tables.sum(axis=(1, 2))
        share = (tables.sum(axis=1) + tables.sum(axis=2)) / (2 * n[:, np.newaxis])
        agreed = np.einsum("bii->b", tables) / n
        chance = (share * (1 - share)).sum(axis=1) / max(1, labels - 1)
        return (agreed - chance) / (1 - chance) if labels > 1 else np.full(len(n), np.nan), chance

    return _of_tables("Gwet's AC1", pairs, ac1, _Draws(whole(samples, "samples"), seed, level))


@dataclass(frozen=True)
class _Pairs:
    """Pairs of labels as a table of counts."""

    table: Integers
    labels: tuple[Hashable, ...]
    missing: int


def _pairs(a: Labels | Table, b: Labels | None) -> _Pairs:
    if b is None:
        table = counts_of(a, "table")
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.sum():  # noqa: PLR2004 - square
            raise ValueError(
                f"without b, a must be a square table of counts that is not empty, not {table.shape}"
            )
        return _Pairs(table, tuple(range(len(table))), 0)
    first, second = list(a), list(b)
    if len(first) != len(second) or not first:
        raise ValueError(f"a and b must be aligned and not empty: {len(first)} and {len(second)} labels")
    both = [(x, y) for x, y in zip(first, second, strict=True) if not (_absent(x) or _absent(y))]
    labels = _sorted({label for pair in both for label in pair})
    place = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)), np.int64)
    for x, y in both:
        table[place[x], place[y]] += 1
    return _Pairs(table, labels, len(first) - len(both))


def _absent(label: object) -> bool:
    return label is None or label != label  # noqa: PLR0124 - NaN


def _sorted(labels: set[Any]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(labels))
    except TypeError:  # labels of several types have no order of their own
        return tuple(sorted(labels, key=lambda label: (type(label).__name__, repr(label))))


def _disagreement(labels: int, weights: str) -> Floats:
    distance = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))).astype(np.float64)
    return {"none": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weights]


def _beyond(observed: Floats, expected: Floats) -> Floats:
    """1 - observed/expected disagreement; NaN where none is expected."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > _ROUNDING, 1 - observed / expected, np.nan)


_Coefficient = Callable[[Floats], tuple[Floats, Floats]]


def _of_tables(name: str, pairs: _Pairs, coefficient: _Coefficient, draws: _Draws) -> Agreement:
    n, labels = int(pairs.table.sum()), len(pairs.labels)
    missing = {"one of two labels": pairs.missing} if pairs.missing else {}
    if not n:
        return _agreement(name, None, _Facts(n=0, raters=2, missing=missing), draws)

    def of_cells(cells: Floats) -> tuple[Floats, Floats]:
        return coefficient(cells.reshape(-1, labels, labels))

    value, chance, drawn = _of_weights(of_cells, pairs.table.ravel(), draws)
    share = (pairs.table.sum(axis=0) + pairs.table.sum(axis=1)) / (2 * n)
    facts = _Facts(
        n=n,
        raters=2,
        missing=missing,
        raw=float(np.trace(pairs.table)) / n,
        chance=chance,
        prevalence=dict(zip(pairs.labels, share.tolist(), strict=True)),
    )
    return _agreement(name, value, facts, draws, drawn)


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What stands beside a coefficient."""

    n: int
    raters: int
    missing: Mapping[str, int]
    raw: float | None = None
    chance: float | None = None
    prevalence: Mapping[Hashable, float] = field(default_factory=dict)


def _agreement(
    name: str, value: float | None, facts: _Facts, draws: _Draws, estimates: Sequence[Floats] = ()
) -> Agreement:
    check_level(draws.level)
    low = high = error = None
    warnings: tuple[str, ...] = ()
    if value is None or math.isnan(value):
        why = "the labels do not vary" if facts.n else "no item has two labels"
        value, warnings = None, (f"{name} is undefined: {why}",)
    elif not estimates or facts.n < 2:  # noqa: PLR2004 - a spread needs two
        warnings = ("no interval: " + ("none was asked for (samples=0)" if facts.n > 1 else "only 1 item"),)
    else:
        low, high, error, _, warnings = limits_of_draws(np.concatenate(estimates), draws.level)
    return Agreement(
        value=value,
        low=low,
        high=high,
        se=error,
        level=draws.level,
        method=f"percentile bootstrap over items, {draws.samples} resamples",
        n=facts.n,
        missing=facts.missing,
        estimand=name,
        seed=draws.seed if draws.samples else None,
        warnings=warnings,
        raw_agreement=facts.raw,
        chance_agreement=facts.chance,
        prevalence=facts.prevalence,
        raters=facts.raters,
    )


def _of_weights(
    coefficient: _Coefficient, kinds: Integers, draws: _Draws
) -> tuple[float, float, list[Floats]]:
    """A coefficient of weighted patterns: its value, what chance gives, and its resamples."""
    own, chance = coefficient(kinds[np.newaxis].astype(np.float64))
    random = generator(draws.seed)
    drawn = [coefficient(block.astype(np.float64))[0] for block in draw_counts(kinds, draws.samples, random)]
    return float(own[0]), float(chance[0]), drawn


def fleiss_kappa(counts: Table, samples: int = 2_000, seed: int = 0, level: float = 0.95) -> Agreement:
    """Fleiss' kappa of m raters an item, with a percentile bootstrap interval over items.

    `counts` has shape (items, labels): how many raters gave each label. Raters may differ between items,
    but every item needs the same number of them; otherwise use `krippendorff_alpha`.

    Raises:
        ValueError: items with different numbers of raters, fewer than 2 raters, or no item.

    Source: Fleiss 1971.
    """
    table = counts_of(counts, "counts")
    if table.ndim != 2 or not len(table):  # noqa: PLR2004 - items × labels
        raise ValueError(f"counts must have the shape (items, labels) and not be empty, not {table.shape}")
    raters = set(table.sum(axis=1).tolist())
    if len(raters) > 1 or min(raters) < 2:  # noqa: PLR2004 - a pair
        raise ValueError(
            f"every item needs the same number of raters, at least 2, not {min(raters)} to {max(raters)}; "
            "krippendorff_alpha allows missing ratings"
        )
    m, n = raters.pop(), len(table)
    rows, kinds = np.unique(table, axis=0, return_counts=True)
    agreed = (rows * (rows - 1)).sum(axis=1) / (m * (m - 1))
    draws = _Draws(whole(samples, "samples"), seed, level)

    def kappa(weights: Floats) -> tuple[Floats, Floats]:
        share = weights @ rows / (n * m)
        chance = np.square(share).sum(axis=1)
        return _beyond(1 - weights @ agreed / n, 1 - chance), chance

    value, chance, drawn = _of_weights(kappa, kinds, draws)
    facts = _Facts(
        n=n,
        raters=m,
        missing={},
        raw=float(kinds @ agreed) / n,
        chance=chance,
        prevalence=dict(enumerate((table.sum(axis=0) / table.sum()).tolist())),
    )
    return _agreement("Fleiss' kappa", value, facts, draws, drawn)


def krippendorff_alpha(
    ratings: Sequence[Sequence[Any]] | npt.NDArray[Any],
    metric: str = "nominal",
    samples: int = 2_000,
    seed: int = 0,
    level: float = 0.95,
) -> Agreement:
    """Krippendorff's alpha of any number of raters, with missing ratings.

    Args:
        ratings: Shape (raters, items); `None` (or NaN) where a rater did not rate.
        metric: `nominal`, `ordinal` (labels in sorted order), `interval` (numbers) or `ratio` (numbers of
            which 0 means none).
        samples: Resamples of the percentile bootstrap over items; 0 for no interval.
        seed: Of the resamples.
        level: Confidence level.

    Items with fewer than 2 ratings say nothing and are counted in `missing`. Where only one label occurs
    it is undefined: `None`.

    Raises:
        ValueError: rows of different lengths, no ratings, or a metric that the labels do not allow.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
    """
    check_choice(metric, ("nominal", "ordinal", "interval", "ratio"), "metric")
    draws = _Draws(whole(samples, "samples"), seed, level)
    counts, labels, raters = _rating_counts(ratings)
    usable = counts.sum(axis=1) > 1
    missing = {"fewer than 2 ratings": int((~usable).sum())} if not usable.all() else {}
    if not usable.any():
        return _agreement("Krippendorff's alpha", None, _Facts(n=0, raters=raters, missing=missing), draws)
    patterns, kinds = np.unique(counts[usable], axis=0, return_counts=True)
    value, chance, drawn = _of_weights(_alpha(patterns, labels, metric), kinds, draws)
    sizes = patterns.sum(axis=1)
    agreed = (patterns * (patterns - 1)).sum(axis=1) / (sizes * (sizes - 1))
    facts = _Facts(
        n=int(usable.sum()),
        raters=int(counts.sum(axis=1).max()),
        missing=missing,
        raw=float(kinds @ agreed) / int(usable.sum()),
        chance=chance if metric == "nominal" else None,
        prevalence=dict(zip(labels, (counts.sum(axis=0) / counts.sum()).tolist(), strict=True)),
    )
    return _agreement(f"Krippendorff's alpha, {metric}", value, facts, draws, drawn)


def _rating_counts(
    ratings: Sequence[Sequence[Any]] | npt.NDArray[Any],
) -> tuple[Integers, tuple[Hashable, ...], int]:
    """How many raters gave each label to each item, shape (items, labels); the labels; the raters."""
    rows = [list(row) for row in ratings]
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError(f"ratings must be raters × items of one length, not {[len(row) for row in rows]}")
    labels = _sorted({label for row in rows for label in row if not _absent(label)})
    if not labels:
        raise ValueError(f"all {len(rows) * len(rows[0])} ratings are missing")
    place = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(rows[0]), len(labels)), np.int64)
    for row in rows:
        for item, label in enumerate(row):
            if not _absent(label):
                counts[item, place[label]] += 1
    return counts, labels, len(rows)


def _alpha(patterns: Integers, labels: tuple[Hashable, ...], metric: str) -> _Coefficient:
    """Alpha as a function of how often each pattern of ratings occurs, shape (draws, patterns)."""
    sizes = patterns.sum(axis=1)
    if metric in {"interval", "ratio"}:
        values = _numbers(labels, metric)
    if metric == "ratio":
        ratios = _ratio_distance(values)
        return _alpha_of_distances(patterns, sizes, lambda _: ratios)
    if metric == "interval":
        first, second = patterns @ values, patterns @ values**2
        within = 2 * (sizes * second - first**2) / (sizes - 1)

        def interval(weights: Floats) -> tuple[Floats, Floats]:
            n, total, squares = weights @ sizes, weights @ first, weights @ second
            expected = 2 * (n * squares - total**2) / (n * (n - 1))
            return _beyond(weights @ within / n, expected), expected

        return interval
    if metric == "nominal":
        within = (sizes**2 - (patterns**2).sum(axis=1)) / (sizes - 1)

        def nominal(weights: Floats) -> tuple[Floats, Floats]:
            n, totals = weights @ sizes, weights @ patterns
            expected = (n**2 - np.square(totals).sum(axis=1)) / (n * (n - 1))
            return _beyond(weights @ within / n, expected), 1 - expected

        return nominal
    return _alpha_of_distances(patterns, sizes, _rank_distance)


def _numbers(labels: tuple[Hashable, ...], metric: str) -> Floats:
    try:
        values = np.array([float(label) for label in labels])  # type: ignore[arg-type]  # refused below
    except (TypeError, ValueError):
        raise ValueError(f"metric {metric} needs numbers, not {labels[0]!r}") from None
    if not np.isfinite(values).all() or (metric == "ratio" and values.min() < 0):
        raise ValueError(f"metric {metric} needs finite numbers" + (", none negative" * (metric == "ratio")))
    return values


def _ratio_distance(values: Floats) -> Floats:
    """((v - w)/(v + w))², 0 for equal values; shape (1, labels, labels)."""
    total = np.add.outer(values, values)
    apart = np.abs(np.subtract.outer(values, values))
    return np.square(np.divide(apart, total, out=np.zeros_like(total), where=total > 0))[np.newaxis]


def _rank_distance(totals: Floats) -> Floats:
    """Squared distance in ranks, shape (draws, labels, labels)."""
    ranks = np.cumsum(totals, axis=1) - totals / 2
    return np.asarray(np.square(ranks[:, :, np.newaxis] - ranks[:, np.newaxis, :]))


def _alpha_of_distances(
    patterns: Integers, sizes: Integers, distances: Callable[[Floats], Floats]
) -> _Coefficient:
    """Alpha where the distance of two labels may follow from how often the labels occur."""
    coincidence = patterns[:, :, np.newaxis] * patterns[:, np.newaxis, :] - np.einsum(
        "ui,ij->uij", patterns, np.eye(patterns.shape[1], dtype=np.int64)
    )
    shared = coincidence / (sizes - 1)[:, np.newaxis, np.newaxis]

    def coefficient(weights: Floats) -> tuple[Floats, Floats]:
        totals = weights @ patterns
        n = totals.sum(axis=1)
        distance = np.broadcast_to(distances(totals), (len(n), patterns.shape[1], patterns.shape[1]))
        observed = (np.tensordot(weights, shared, axes=1) * distance).sum(axis=(1, 2)) / n
        expected = np.einsum("bi,bij,bj->b", totals, distance, totals) / (n * (n - 1))
        return _beyond(observed, expected), expected

    return coefficient
