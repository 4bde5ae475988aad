"""Many comparisons: adjusted p-values, intervals of ranks, and groups that cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import (
    Floats,
    Labels,
    check_choice,
    check_level,
    encode,
    generator,
    probabilities,
    scores_of,
    sum_by,
    table_of,
    whole,
)
from probatum.stats.mean import mean_interval
from probatum.stats.quantiles import t_tail

__all__ = [
    "RankIntervals",
    "adjust_pvalues",
    "groups_from_leader",
    "pairwise_pvalues",
    "rank_intervals",
    "significance_groups",
]

METHODS = ("holm", "hochberg", "bonferroni", "bh", "by")


def adjust_pvalues(p: npt.ArrayLike, method: str = "holm") -> Floats:
    """Adjusted p-values in the order given, each at most 1; empty in, empty out.

    `holm` (default), `hochberg` and `bonferroni` bound the chance of any false claim (Hochberg needs
    independence or positive dependence); `bh` bounds the expected share of false claims among the claims
    under the same condition, `by` under any dependence.

    Raises:
        ValueError: a p-value is not in [0, 1], or the method is unknown.

    Sources: Holm 1979; Hochberg 1988; Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001.
    """
    check_choice(method, METHODS, "method")
    if np.size(p) == 0:
        return np.zeros(0)
    values = probabilities(p, "p-values")
    count = len(values)
    order = np.argsort(values, kind="stable")
    ranks = np.arange(1, count + 1)
    ordered = values[order]
    if method == "bonferroni":
        stepped = ordered * count
    elif method == "holm":
        stepped = np.maximum.accumulate(ordered * (count - ranks + 1))
    else:
        factor = np.asarray(count - ranks + 1.0)
        if method in {"bh", "by"}:
            factor = np.asarray(count / ranks * (float((1 / ranks).sum()) if method == "by" else 1.0))
        stepped = np.minimum.accumulate((ordered * factor)[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def pairwise_pvalues(scores: npt.ArrayLike, clusters: Labels | None = None) -> Floats:
    """Two-sided p-values of every paired difference (CR2 t), shape (systems, systems); 1 on the diagonal.

    `scores` has shape (items, systems). Where two systems agree on every item p is 1.
    """
    table = _table(scores)
    systems = table.shape[1]
    p = np.ones((systems, systems))
    for i in range(systems):
        for j in range(i):
            found = mean_interval(table[:, i] - table[:, j], clusters)
            if found.se is not None and found.value is not None:
                p[i, j] = p[j, i] = min(1.0, 2 * t_tail(found.df, abs(found.value) / found.se))
    return p


def _table(scores: npt.ArrayLike) -> Floats:
    return table_of(scores, "scores", "(items, systems)")


@dataclass(frozen=True, kw_only=True)
class RankIntervals:
    """The ranks (1 is best) that each system could have."""

    rank: tuple[int, ...]
    """Rank of the point estimates; equal means share the better rank."""
    low: tuple[int, ...]
    """Best rank that is not ruled out: 1 + systems that are significantly better."""
    high: tuple[int, ...]
    """Worst rank that is not ruled out: systems - those that are significantly worse."""
    level: float
    method: str
    n: int
    """Items; 0 where the ranks come from draws alone."""
    seed: int | None = None


def rank_intervals(
    scores: npt.ArrayLike,
    clusters: Labels | None = None,
    level: float = 0.95,
    method: str = "holm",
    samples: int = 2_000,
    seed: int = 0,
) -> RankIntervals:
    """Simultaneous intervals of the ranks of systems that answered the same items.

    Args:
        scores: Shape (items, systems); higher is better.
        clusters: One label an item.
        level: Probability with which all intervals hold their true ranks.
        method: How the pairwise comparisons are adjusted (`holm`, `bonferroni`, …), or `bootstrap` for
            percentile intervals of each rank on its own (not simultaneous, and too narrow where systems are
            equal).
        samples: Resamples of `bootstrap`.
        seed: Its seed.

    Source: Mohamad, van Zwet and Goeman 2018; Holm's closed form for all pairwise comparisons.
    """
    table = _table(scores)
    check_level(level)
    check_choice(method, (*METHODS, "bootstrap"), "method")
    means = np.array([math.fsum(column) for column in table.T]) / len(table)  # equal scores, equal means
    rank = tuple(int(1 + (means > mean).sum()) for mean in means)
    if method == "bootstrap":
        low, high = _bootstrap_ranks(table, clusters, level, samples, seed)
        return RankIntervals(
            rank=rank,
            low=low,
            high=high,
            level=level,
            method=f"bootstrap, {samples} resamples",
            n=len(table),
            seed=seed,
        )
    p = pairwise_pvalues(table, clusters)
    systems = len(means)
    upper = np.triu_indices(systems, 1)
    claimed = np.zeros((systems, systems), dtype=bool)
    claimed[upper] = adjust_pvalues(p[upper], method) <= 1 - level
    claimed |= claimed.T
    better = claimed & (means[np.newaxis, :] > means[:, np.newaxis])
    worse = claimed & (means[np.newaxis, :] < means[:, np.newaxis])
    return RankIntervals(
        rank=rank,
        low=tuple(int(count) for count in 1 + better.sum(axis=1)),
        high=tuple(int(count) for count in systems - worse.sum(axis=1)),
        level=level,
        method=f"pairwise CR2 t, {method}",
        n=len(table),
    )


def _bootstrap_ranks(
    table: Floats, clusters: Labels | None, level: float, samples: int, seed: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    codes, count = (
        (np.arange(len(table)), len(table)) if clusters is None else encode(clusters, len(table), "clusters")
    )
    sums = np.column_stack([sum_by(codes, column, count) for column in table.T])
    sizes = np.bincount(codes, minlength=count)
    random = generator(seed)
    drawn = random.multinomial(count, np.full(count, 1 / count), size=whole(samples, "samples", minimum=2))
    means = (drawn @ sums) / (drawn @ sizes)[:, np.newaxis]
    ranks = 1 + (means[:, np.newaxis, :] > means[:, :, np.newaxis]).sum(axis=2)
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = np.quantile(ranks, tails, axis=0, method="inverted_cdf")
    return tuple(int(rank) for rank in low), tuple(int(rank) for rank in high)


def significance_groups(
    values: Sequence[float], p: npt.ArrayLike, alpha: float = 0.05
) -> tuple[tuple[int, ...], ...]:
    """Maximal runs of systems of which no two differ significantly, best first; a system may be in several.

    Args:
        values: One mean a system.
        p: Two-sided p-values of every pair, shape (systems, systems), already adjusted for their number.
        alpha: Level of the claims.

    Returns:
        Groups of positions in `values`, ordered from the best. (The letters of a compact letter display.)
    """
    means = scores_of(values, "values")
    table = table_of(p, "p-values", "(systems, systems)")
    probabilities(table.ravel(), "p-values")
    if table.shape != (len(means), len(means)):
        raise ValueError(f"{len(means)} values need p-values of shape {(len(means),) * 2}, not {table.shape}")
    order = np.argsort(-means, kind="stable")
    groups: list[tuple[int, ...]] = []
    covered = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and (table[order[stop], order[start:stop]] > alpha).all():
            stop += 1
        if stop > covered:
            groups.append(tuple(int(i) for i in order[start:stop]))
            covered = stop
    return tuple(groups)


def groups_from_leader(
    leader: Hashable, p_against_leader: Mapping[Hashable, float], alpha: float = 0.05
) -> tuple[tuple[Hashable, ...], ...]:
    """The leader with every system that cannot be told from it, then the others.

    The p-values are already adjusted for their number. Within the second group nothing is claimed.
    """
    probabilities(list(p_against_leader.values()) or [1.0], "p-values")
    tied = [name for name, p in p_against_leader.items() if p > alpha]
    behind = tuple(name for name in p_against_leader if name not in tied)
    return ((leader, *tied), behind) if behind else ((leader, *tied),)
