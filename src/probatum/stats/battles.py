"""Who met whom and who won: what rankings are fitted to, and whether they can be."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import Floats, Integers, Labels, check_size, encode

__all__ = ["TIE", "Battles", "components", "pair_matrix"]

TIE = 0.5
"""Score of either side of a tie."""
_OUTCOMES = {"a": 1.0, "b": 0.0, "tie": TIE}


@dataclass(frozen=True, kw_only=True)
class Battles:
    """n comparisons of two models each."""

    models: tuple[Hashable, ...]
    first: Integers
    """Position in `models` of the first model of each battle, shape (n,)."""
    second: Integers
    score: Floats
    """1 where the first won, 0 where the second did, ½ for a tie."""

    def __len__(self) -> int:
        return len(self.score)

    @classmethod
    def of(
        cls, first: Labels, second: Labels, outcome: Sequence[object] | npt.NDArray[np.generic]
    ) -> Battles:
        """From one label a side and battle.

        `outcome` is `a` (the first won), `b` or `tie`; or the score of the first: 1, 0 or 0.5. What is
        neither (an invalid verdict, an error) is no tie: leave it out, and count it as missing.

        Raises:
            ValueError: sizes that do not match, no battle, an unknown outcome, a model against itself.
        """
        n = len(first)
        check_size(second, n, "second models", "first models")
        check_size(outcome, n, "outcomes", "first models")
        if not n:
            raise ValueError("there are no battles: 0 outcomes")
        models, codes = _models(first, second)
        own = codes[:n] == codes[n:]
        if own.any():
            raise ValueError(
                f"{int(own.sum())} battles are of a model with itself, e.g. {models[codes[own.argmax()]]!r}"
            )
        return cls(models=models, first=codes[:n], second=codes[n:], score=_scores(outcome))

    @classmethod
    def of_triples(cls, battles: Iterable[tuple[Hashable, Hashable, object]]) -> Battles:
        """From (first, second, outcome) triples."""
        rows = list(battles)
        if not rows:
            raise ValueError("there are no battles: 0 outcomes")
        try:
            first, second, outcome = zip(*rows, strict=True)
        except (TypeError, ValueError):
            raise ValueError("every battle must be a triple (first, second, outcome)") from None
        return cls.of(first, second, outcome)

    @cached_property
    def cells(self) -> Integers:
        """Cell (first, second, lost/tied/won) of each battle in a table of that shape."""
        outcome = (2 * self.score).astype(np.int64)
        return np.asarray((self.first * len(self.models) + self.second) * 3 + outcome)

    @property
    def ties(self) -> int:
        """Battles without a winner."""
        return int((self.score == TIE).sum())


def _models(first: Labels, second: Labels) -> tuple[tuple[Hashable, ...], Integers]:
    """The models in sorted order (of first appearance, if they have no order), and the code of each label."""
    n = len(first)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and first.dtype.kind in "iu":
        return _integer_models(np.concatenate([first, second]))
    joined = [*first, *second]
    codes, count = encode(joined, 2 * n, "models")
    place = np.full(count, 2 * n)
    np.minimum.at(place, codes, np.arange(2 * n))
    names = [joined[i] for i in place.tolist()]
    try:
        order = sorted(range(count), key=names.__getitem__)
    except TypeError:
        order = np.argsort(place).tolist()
    renumber = np.empty(count, np.int64)
    renumber[order] = np.arange(count)
    return tuple(names[i] for i in order), renumber[codes]


def _integer_models(labels: Integers) -> tuple[tuple[Hashable, ...], Integers]:
    low, high = int(labels.min()), int(labels.max())
    if high - low > 10 * len(labels):
        values, codes = np.unique(labels, return_inverse=True)
        return tuple(values.tolist()), codes.astype(np.int64, copy=False)
    present = np.bincount(labels - low, minlength=high - low + 1) > 0
    renumber = np.cumsum(present) - 1
    return tuple((np.flatnonzero(present) + low).tolist()), renumber[labels - low]


def _scores(outcome: Sequence[object] | npt.NDArray[np.generic]) -> Floats:
    if isinstance(outcome, np.ndarray) and outcome.dtype.kind in "iufb":
        score = outcome.astype(np.float64)
        known = (score == 0) | (score == TIE) | (score == 1)
    else:
        listed = outcome.tolist() if isinstance(outcome, np.ndarray) else list(outcome)
        named = [_OUTCOMES.get(value, value) if isinstance(value, str) else value for value in listed]
        known = np.array([value in (0, 0.5, 1) for value in named], dtype=bool)
        score = np.array(
            [value if ok else np.nan for value, ok in zip(named, known, strict=True)], dtype=np.float64
        )
    if not known.all():
        example = list(outcome)[int(np.argmin(known))]
        raise ValueError(
            f"{int((~known).sum())} of {len(score)} outcomes are neither a, b, tie nor 1, 0, 0.5, "
            f"e.g. {example!r}; leave invalid verdicts out and count them as missing"
        )
    return score


def pair_matrix(battles: Battles) -> tuple[Floats, Floats]:
    """Wins of row over column, and ties (symmetric, each counted once a side), shape (models, models)."""
    size = len(battles.models)
    counts = np.bincount(battles.cells, minlength=3 * size * size).reshape(size, size, 3).astype(np.float64)
    lost, tied, won = counts[:, :, 0], counts[:, :, 1], counts[:, :, 2]
    return won + lost.T, tied + tied.T


def components(wins: Floats) -> tuple[tuple[int, ...], ...]:
    """Strongly connected parts of "has beaten or tied", best part first.

    A finite maximum of the likelihood exists where there is one part only (Ford 1957).
    """
    edges = wins > 0
    left = np.ones(len(wins), dtype=bool)
    found: list[tuple[int, ...]] = []
    while left.any():
        start = int(np.flatnonzero(left)[0])
        part = _reach(edges, start) & _reach(edges.T, start) & left
        found.append(tuple(np.flatnonzero(part).tolist()))
        left &= ~part
    return tuple(sorted(found, key=lambda part: -int(_reach(edges, part[0]).sum())))


def _reach(edges: npt.NDArray[np.bool_], start: int) -> npt.NDArray[np.bool_]:
    seen = np.zeros(len(edges), dtype=bool)
    seen[start] = True
    frontier = seen.copy()
    while frontier.any():
        frontier = edges[frontier].any(axis=0) & ~seen
        seen |= frontier
    return seen
