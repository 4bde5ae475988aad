"""Scores of models from battles without a probability model: for tables that use them, no more.

They have no interval, and the two eigenvector scores may rank a model with fewer points higher.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from probatum.stats.battles import Battles, pair_matrix
from probatum.stats.inputs import Floats, check_choice

__all__ = ["average_win_rates", "eigenvector_scores", "pagerank_scores", "win_points"]

_STEPS = 10_000


def win_points(battles: Battles) -> Floats:
    """Wins plus half of the ties of each model, in the order of `battles.models`."""
    return np.asarray(_points(battles).sum(axis=1))


def average_win_rates(battles: Battles) -> Floats:
    """Mean over the opponents that a model met of its score against each."""
    points = _points(battles)
    games = points + points.T
    met = games > 0
    rates = np.divide(points, games, out=np.zeros_like(points), where=met)
    return np.asarray(rates.sum(axis=1) / met.sum(axis=1))


def eigenvector_scores(battles: Battles, of: str = "wins") -> Floats:
    """Leading eigenvector of the matrix of points, of length 1.

    `of="wins"`: beating strong models counts more. `of="losses"` is the transposed matrix, in which the
    weakest model scores highest; evalica's `eigen` is that one.

    Raises:
        ValueError: an unknown `of`, or battles in which no chain of wins comes back to where it began.
    """
    check_choice(of, ("wins", "losses"), "of")
    points = _points(battles)
    scores = _leading(points if of == "wins" else points.T)
    return np.asarray(scores / np.sqrt(np.square(scores).sum()))


def pagerank_scores(battles: Battles, damping: float = 0.85) -> Floats:
    """PageRank where every loser points at its winners (ties both ways, by half); sums to 1.

    Source: Brin and Page 1998.
    """
    points = _points(battles)
    lost = points.sum(axis=0)
    size = len(points)
    links = np.divide(points, lost, out=np.full_like(points, 1 / size), where=lost > 0)
    return _leading(damping * links + (1 - damping) / size)


def _points(battles: Battles) -> Floats:
    wins, ties = pair_matrix(battles)
    return np.asarray(wins + ties / 2)


def _leading(matrix: npt.NDArray[np.float64]) -> Floats:
    """The leading eigenvector, summing to 1, by power iteration."""
    scores = np.full(len(matrix), 1 / len(matrix))
    for _ in range(_STEPS):
        following = (matrix * scores).sum(axis=1)
        if not following.sum() > 0:
            raise ValueError("no cycle of wins: the matrix of points has no leading eigenvector")
        following /= following.sum()
        moved = float(np.abs(following - scores).max())
        scores = following
        if moved < 1e-15:  # noqa: PLR2004 - rounding
            break
    return scores
