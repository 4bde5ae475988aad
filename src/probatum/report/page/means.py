"""The interval of a mean score, as the metrics of a run have it: a report has no other one beside theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from probatum import stats

__all__ = ["score_interval"]


def score_interval(values: npt.ArrayLike, clusters: Sequence[str], level: float) -> stats.Interval:
    """Wilson for independent 0/1 scores, else the mean over clusters (CR2), kept in 0 to 1 where they are.

    Args:
        values: one an item or a sample, of shape (n,); n is 1 or more.
        clusters: which of them belong together.
        level: of the interval.
    """
    scores = np.asarray(values, dtype=np.float64)
    alone = len(set(clusters)) == len(clusters)
    if alone and bool(np.isin(scores, (0, 1)).all()):
        return stats.proportion_interval(int(scores.sum()), len(scores), level=level)
    rates = bool(((scores >= 0) & (scores <= 1)).all())
    return stats.mean_interval(scores, clusters=clusters, level=level, bounds=(0.0, 1.0) if rates else None)
