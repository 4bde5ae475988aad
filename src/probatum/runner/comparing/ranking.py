"""Several runs on one task: ranks that are not ruled out, and groups that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probatum import stats
from probatum.runner.comparing.pairing import Scores

__all__ = ["Ranked", "Ranking", "rank"]


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One run among others."""

    run: str
    """Its letter."""
    mean: float
    rank: int
    """Of the point estimates."""
    low: int
    """Best rank that is not ruled out."""
    high: int
    """Worst rank that is not ruled out."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """All runs that have a task, on the items that all of them have."""

    task: str
    score: str
    rows: tuple[Ranked, ...]
    """The best first."""
    groups: tuple[tuple[str, ...], ...]
    """Letters of runs of which no two differ significantly; a run may be in several groups."""
    n: int
    """Items."""
    clusters: int
    left_out: int
    """Items that one of the runs has no score of."""
    level: float
    method: str
    anyway: bool = False
    """Whether runs are in it that are not comparable."""

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def rank(named: Sequence[tuple[str, Scores]], changed: frozenset[str], level: float) -> Ranking | None:
    """Ranks runs on the items that all have; `None` where there is no such item.

    Args:
        named: letter and scores of each run.
        changed: ids of items whose contents differ between two of the runs.
        level: probability with which all intervals of ranks hold their true ranks.
    """
    first = named[0][1]
    everywhere = [
        name
        for name in first.units
        if name not in changed
        and all(name in scores.units and scores.units[name].counted for _, scores in named)
    ]
    if not everywhere:
        return None
    sign = 1.0 if first.higher_is_better else -1.0
    table = np.array([[scores.units[name].mean for _, scores in named] for name in everywhere])
    labels = [first.units[name].cluster for name in everywhere]
    clusters = None if len(set(labels)) == len(labels) else labels
    if first.weights is not None:  # the mean of these is the weighted mean
        weights = np.array([first.weights[name] for name in everywhere])
        table = table * (weights / weights.mean())[:, np.newaxis]
    found = stats.rank_intervals(sign * table, clusters, level)
    means = table.mean(axis=0)
    p = stats.pairwise_pvalues(sign * table, clusters)
    upper = np.triu_indices(len(named), 1)
    corrected = np.ones_like(p)
    corrected[upper] = stats.adjust_pvalues(p[upper], "holm")
    corrected = np.minimum(corrected, corrected.T)
    groups = stats.significance_groups([float(one) for one in sign * means], corrected, 1 - level)
    rows = [
        Ranked(run=letter, mean=float(mean), rank=place, low=low, high=high)
        for (letter, _), mean, place, low, high in zip(
            named, means, found.rank, found.low, found.high, strict=True
        )
    ]
    union = {name for _, scores in named for name in scores.units}
    return Ranking(
        task=first.record.task,
        score=first.score,
        rows=tuple(sorted(rows, key=lambda row: row.rank)),
        groups=tuple(tuple(named[place][0] for place in group) for group in groups),
        n=len(everywhere),
        clusters=len(set(labels)),
        left_out=len(union) - len(everywhere),
        level=level,
        method=found.method,
    )
