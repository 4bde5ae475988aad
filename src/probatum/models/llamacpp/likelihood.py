"""Scores continuations with the library itself: the logits of a prompt, one block of it after the other.

Sequences are taken in the order of their tokens, so that what one shares with the one before (the few-shot
examples, the question) is held already, and is copied or kept rather than computed again. As in generation,
only whole blocks are shared, and a block is always computed alone: the numbers of a request do not depend on
its company.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from probatum.core.records import Request, Response
from probatum.models.decoding import Logits
from probatum.models.likelihood import Plan, Stretch, scored_response
from probatum.models.llamacpp.batching import Batching
from probatum.models.llamacpp.engine import Engine

__all__ = ["LlamaVocabulary", "Scored", "score"]


class LlamaVocabulary:
    """The tokenizer in the model's file, as `probatum.models.likelihood` asks for it."""

    def __init__(self, engine: Engine, *, special: bool) -> None:
        """`special`: whether names of special tokens in a text are read as such."""
        self._engine = engine
        self._special = special
        self.opening: tuple[int, ...] = () if engine.bos is None else (engine.bos,)
        self.begin: int | None = engine.first if engine.first >= 0 else None
        self.end: int | None = engine.eos if engine.eos >= 0 else None

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, none added.

        Raises:
            UnicodeEncodeError: the text holds half of a surrogate pair.
        """
        return self._engine.encode(text, special=self._special)

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        """UTF-8 bytes of `text` before its token number `count`.

        Counted from the end: some tokenizers put a space before a text that is not in it.
        """
        behind = sum(len(self._engine.spelling(token)) for token in tokens[count:])
        return max(0, len(text.encode()) - behind)


@dataclass(eq=False)
class Scored:
    """A request, and the numbers of its stretches as they come."""

    request: Request
    plan: Plan
    logprobs: dict[int, list[float]] = field(default_factory=dict)
    """Number of the stretch → log-probabilities."""
    greedy: bool = True

    @property
    def complete(self) -> bool:
        """Whether all stretches have come."""
        return len(self.logprobs) == len(self.plan.stretches)

    def response(self, started: float) -> Response:
        """What it came to; `started` is a time of the monotonic clock."""
        logprobs = tuple(value for number in sorted(self.logprobs) for value in self.logprobs[number])
        seconds = time.monotonic() - started
        return scored_response(self.request, self.plan, logprobs, greedy=self.greedy, seconds=seconds)


def score(asked: Sequence[Scored], batching: Batching) -> Iterator[Scored]:
    """Computes all stretches; yields each request when its last one is there.

    Between two of its answers, nothing else may use the engine.
    """
    groups: dict[tuple[tuple[int, ...], int], list[tuple[Scored, int, Stretch]]] = {}
    for one in asked:
        for number, stretch in enumerate(one.plan.stretches):
            # The letters of a question are asked at one place: it is computed once. Stretches that begin to
            # be scored elsewhere are computed on their own, since how many rows of logits there are is
            # part of how they are rounded.
            groups.setdefault((stretch.evaluated, len(stretch.seen)), []).append((one, number, stretch))
    for evaluated, first in sorted(groups):
        found = groups[evaluated, first]
        places = range(first - 1, len(evaluated))
        values: list[list[float]] = [[] for _ in found]
        for row, (_, logits) in enumerate(batching.logits(list(evaluated), places)):
            targets = [stretch.scored[row] for _, _, stretch in found]
            logprobs, likeliest = _logprobs(logits, targets)
            for (one, _, _), own, value, best in zip(found, values, logprobs, likeliest, strict=True):
                own.append(value)
                one.greedy &= best
        for (one, number, _), own in zip(found, values, strict=True):
            one.logprobs[number] = own
            if one.complete:
                yield one


def _logprobs(logits: Logits, targets: Sequence[int]) -> tuple[list[float], list[bool]]:
    """Log-probabilities of the targets at one place, and whether no token is likelier."""
    largest = logits.max()
    total = float(np.log(np.exp(logits - largest).sum(dtype=np.float64)))
    picked = logits[list(targets)]
    return [float(value) - float(largest) - total for value in picked], [
        bool(one >= largest) for one in picked
    ]
