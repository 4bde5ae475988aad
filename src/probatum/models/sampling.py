"""Chooses the next token: temperature, then top-k, then top-p, then one draw. Nothing else is applied.

The order is that of Hugging Face transformers and of vLLM: top-p is measured on the distribution that the
temperature has already changed. (llama.cpp's own default cuts first and applies the temperature last, and
adds min-p 0.05: the same settings would give other scores.)
Nucleus sampling: Holtzman et al. 2020, arXiv:1904.09751, section 3.1.
"""

from __future__ import annotations

import hashlib
import random
from typing import Final

import numpy as np
from numpy.typing import NDArray

from probatum.core.records import Request, Sampling

__all__ = ["Sampler", "seed_of"]

COLD: Final = 1e-5
"""A temperature below it is greedy: logits are not known so exactly, and the quotient would overflow."""

BLOCK: Final = 512
"""Tokens added up together when one is drawn from the whole vocabulary."""


def seed_of(request: Request) -> int:
    """The seed of a request: the one it carries, or else one that follows from its key."""
    if request.sampling.seed is not None:
        return request.sampling.seed
    return int.from_bytes(hashlib.sha256(request.key.encode()).digest()[:8])


class Sampler:
    """Draws the tokens of one sample, one after the other. Depends on nothing but seed and logits."""

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._temperature = sampling.temperature
        self._top_p = sampling.top_p
        self._top_k = sampling.top_k
        self._random = random.Random(seed)  # noqa: S311 - reproducible by intent; the same in every Python

    def choose(self, logits: NDArray[np.float32]) -> int:
        """The next token.

        Args:
            logits: one for each token of the vocabulary.

        Raises:
            ArithmeticError: the greatest logit is not a finite number.
        """
        best = int(logits.argmax())  # the first of equals; a NaN counts as the greatest
        if not np.isfinite(logits[best]):
            raise ArithmeticError(f"the logit of token {best} is {logits[best]}")
        if self._temperature < COLD or self._top_k == 1:
            return best
        weights = np.exp((logits - logits[best]) / np.float32(self._temperature))
        candidates = self._top(logits, weights)
        if candidates is None:
            return _draw(weights, self._random.random())
        kept = np.cumsum(weights[candidates], dtype=np.float64)
        place = int(np.searchsorted(kept, self._random.random() * kept[-1], side="right"))
        return int(candidates[min(place, len(candidates) - 1)])

    def _top(self, logits: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.intp] | None:
        """Tokens that may be drawn, likeliest first; `None` where all may."""
        limit = len(weights)
        if 0 < self._top_k < limit:
            threshold = np.partition(logits, limit - self._top_k)[limit - self._top_k]
            candidates = _sorted(np.flatnonzero(logits >= threshold), logits)[: self._top_k]
            total = float(weights[candidates].sum(dtype=np.float64))
        elif self._top_p < 1:
            total = float(weights.sum(dtype=np.float64))
            candidates = _sorted(_nucleus_and_more(weights, self._top_p * total), logits)
        else:
            return None
        if self._top_p < 1:
            mass = np.cumsum(weights[candidates], dtype=np.float64)
            candidates = candidates[: int(np.searchsorted(mass, self._top_p * total)) + 1]
        return candidates


def _nucleus_and_more(weights: NDArray[np.float32], mass: float) -> NDArray[np.intp]:
    """Tokens above some weight that together have at least `mass`: few, so that sorting them is cheap."""
    threshold = np.float32(1e-2)
    while threshold > 0:
        candidates = np.flatnonzero(weights >= threshold)
        if weights[candidates].sum(dtype=np.float64) >= mass:
            return candidates
        threshold = np.float32(threshold / 16)
    return np.arange(len(weights))


def _sorted(candidates: NDArray[np.intp], logits: NDArray[np.float32]) -> NDArray[np.intp]:
    """Likeliest first; of equals the one with the lower number."""
    return candidates[np.argsort(-logits[candidates], kind="stable")]


def _draw(weights: NDArray[np.float32], chance: float) -> int:
    """A token in proportion to its weight; `chance` is in [0, 1)."""
    blocks = np.add.reduceat(weights, np.arange(0, len(weights), BLOCK), dtype=np.float64)
    bounds = np.cumsum(blocks)
    target = chance * bounds[-1]
    block = min(int(np.searchsorted(bounds, target, side="right")), len(bounds) - 1)
    start = block * BLOCK
    inner = np.cumsum(weights[start : start + BLOCK], dtype=np.float64)
    place = int(np.searchsorted(inner, target - (bounds[block] - blocks[block]), side="right"))
    while place >= len(inner) or weights[start + place] == 0:  # rounding went past the last that can be drawn
        place -= 1
    return start + place
