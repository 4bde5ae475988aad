"""Log-probabilities from hidden states, without ever holding the logits of a whole vocabulary.

A row of logits of a large vocabulary is a megabyte; written, exponentiated and summed by ordinary means it
costs more than the product that makes it. Here the vocabulary goes through in blocks that stay in the
cache, and of each block only a running maximum, a running sum and the wanted logits are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch.nn.functional import linear

__all__ = ["Head", "Scores"]

BLOCK: Final = 2048
"""Vocabulary entries at once."""

ROWS: Final = 512
"""Hidden states at once."""


@dataclass(frozen=True)
class Scores:
    """Of each wanted pair."""

    logprobs: torch.Tensor
    greedy: torch.Tensor
    """Whether no token is likelier."""


@dataclass(frozen=True)
class Head:
    """The last layer: hidden state → logits."""

    weight: torch.Tensor
    """(vocabulary, size)"""
    bias: torch.Tensor | None = None
    cap: float | None = None
    """Logits are squashed into (-cap, cap) by tanh."""
    factor: float = 1.0
    """What logits are multiplied by (Cohere's `logit_scale`; Granite divides by `logits_scaling`)."""

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(rows, vocabulary), in single precision."""
        return self._capped(linear(hidden, self.weight, self.bias))

    def score(self, hidden: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> Scores:
        """Log-probabilities of `targets[i]` at `hidden[rows[i]]`.

        Args:
            hidden: (r, size).
            rows: (n,), ascending.
            targets: (n,), numbers of tokens.
        """
        parts = []
        for begin in range(0, len(hidden), ROWS):
            first, last = torch.searchsorted(rows, torch.tensor([begin, begin + ROWS], device=rows.device))
            chosen = slice(int(first), int(last))
            parts.append(self._score(hidden[begin : begin + ROWS], rows[chosen] - begin, targets[chosen]))
        return Scores(
            torch.cat([part.logprobs for part in parts]), torch.cat([part.greedy for part in parts])
        )

    def _score(self, hidden: torch.Tensor, rows: torch.Tensor, targets: torch.Tensor) -> Scores:
        largest = torch.full((len(hidden),), -torch.inf, device=hidden.device)
        total = torch.zeros(len(hidden), device=hidden.device)
        picked = torch.empty(len(rows), device=hidden.device)
        order = torch.argsort(targets)
        bounds = torch.arange(0, len(self.weight) + BLOCK, BLOCK, device=targets.device)
        edges = torch.searchsorted(targets[order], bounds).tolist()
        for number, begin in enumerate(range(0, len(self.weight), BLOCK)):
            bias = None if self.bias is None else self.bias[begin : begin + BLOCK]
            logits = self._capped(linear(hidden, self.weight[begin : begin + BLOCK], bias))
            here = order[edges[number] : edges[number + 1]]
            if len(here):
                picked[here] = logits[rows[here], targets[here] - begin]
            new = torch.maximum(largest, logits.amax(1))
            total = total * torch.exp(largest - new) + logits.sub_(new[:, None]).exp_().sum(1)
            largest = new
        return Scores(picked - (largest + total.log())[rows], picked >= largest[rows])

    def _capped(self, logits: torch.Tensor) -> torch.Tensor:
        logits = logits.float()
        if self.factor != 1.0:
            logits = logits * self.factor
        return logits if self.cap is None else torch.tanh(logits / self.cap) * self.cap
