"""Continuous batching: samples take slots, all advance one token at a time, prompts share beginnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from probatum.core.records import Response
from probatum.models.decoding import Logits, Sample
from probatum.models.llamacpp.engine import Engine

__all__ = ["Batching"]


@dataclass(eq=False)
class _Slot:
    """One sequence of the engine."""

    index: int
    prompt: list[int] = field(default_factory=list)
    """Tokens it holds that were evaluated as a prompt; behind them may stand what was generated."""
    after: Logits | None = None
    """Logits after the whole prompt."""
    sample: Sample | None = None
    used: int = 0
    """Grows with time."""


class Batching:
    """Slots of one engine. All of it runs in the caller's thread."""

    def __init__(self, engine: Engine, slots: int) -> None:
        """All slots are idle."""
        self._engine = engine
        self._rows = [_Slot(index) for index in range(engine.rows)]
        self._slots = self._rows[:slots]  # the others only keep the number of rows what it must be
        self._clock = count(1)
        self.evaluated = 0
        """Prompt tokens evaluated so far; what was shared is not among them."""
        self.steps = 0
        """Steps computed so far."""

    @property
    def busy(self) -> bool:
        """Whether any slot decodes."""
        return any(slot.sample for slot in self._slots)

    @property
    def room(self) -> bool:
        """Whether any slot is idle."""
        return any(slot.sample is None for slot in self._slots)

    def begin(self, sample: Sample) -> Response | None:
        """Gives an idle slot to the sample and chooses its first token; its response if that was the last."""
        slot = self._place(sample.prompt)
        if slot.after is None:
            slot.after = self._engine.evaluate(slot.index, sample.prompt, len(slot.prompt))
            self.evaluated += len(sample.prompt) - len(slot.prompt)
            slot.prompt = sample.prompt
        slot.used = next(self._clock)
        if sample.accept(slot.after, self._engine):
            self._trim(slot)
            return sample.response()
        slot.sample = sample
        return None

    def logits(self, tokens: list[int], wanted: range) -> Iterator[tuple[int, Logits]]:
        """Logits at places of a prompt, each with its place; a slot must be idle.

        They are overwritten by the next, and all must be taken.
        """
        slot = self._place(tokens, before=wanted.start)
        shared = len(slot.prompt)
        slot.prompt, slot.after = [], None  # nothing to rely on, until all is there
        yield from self._engine.prompt_logits(slot.index, tokens, shared, wanted)
        self.evaluated += len(tokens) - shared
        slot.prompt, slot.used = tokens, next(self._clock)

    def advance(self) -> list[Response]:
        """One more token for every sample; the responses of those that end."""
        rows = [self._row(slot) for slot in self._rows]
        self.steps += 1
        ended = []
        for slot, logits in zip(self._rows, self._engine.step(rows), strict=True):
            if slot.sample is None:
                self._trim(slot)
            elif slot.sample.accept(logits, self._engine):
                sample, slot.sample = slot.sample, None
                self._trim(slot)
                ended.append(sample.response())
        return ended

    def reset(self) -> None:
        """Forgets all samples and everything that the slots hold."""
        for slot in self._rows:
            slot.sample, slot.prompt, slot.after = None, [], None

    def _row(self, slot: _Slot) -> tuple[int, int]:
        if slot.sample is not None:
            return slot.sample.token, slot.sample.position
        if not slot.prompt:
            self._engine.keep(slot.index, 0)
        return self._engine.filler, len(slot.prompt)

    def _trim(self, slot: _Slot) -> None:
        """Takes an idle slot back to its prompt."""
        if not self._engine.trims:
            slot.prompt, slot.after = [], None
        self._engine.keep(slot.index, len(slot.prompt))

    def _place(self, prompt: list[int], before: int | None = None) -> _Slot:
        """An idle slot that holds as much of the prompt as any slot does.

        Only whole blocks from the beginning are shared, or the whole prompt: so that what a sequence
        holds was always computed in the same blocks, wherever it comes from. With `before`, the whole is not
        shared either: the logits from that place on are wanted.
        """
        idle = [slot for slot in self._slots if slot.sample is None]
        donors = [slot for slot in self._slots if slot.prompt and self._engine.trims]
        whole = [
            slot for slot in donors if before is None and slot.after is not None and slot.prompt == prompt
        ]
        room = len(prompt) - 1 if before is None else before
        shares = {slot.index: self._shared(slot.prompt, prompt, room) for slot in donors}
        donor = max(whole or donors, key=lambda slot: (shares[slot.index], slot.sample is None), default=None)
        length = len(prompt) if whole else shares[donor.index] if donor else 0
        if donor is not None and donor.sample is None and length:
            target = donor
            self._engine.keep(target.index, length)
        else:
            target = min(idle, key=lambda slot: slot.used)
            if donor is not None and length:
                self._engine.copy(donor.index, target.index, length)
            else:
                self._engine.keep(target.index, 0)
        target.after = donor.after if whole and donor is not None else None
        target.prompt = prompt[:length]
        return target

    def _shared(self, held: Sequence[int], prompt: Sequence[int], most: int) -> int:
        """Tokens of the whole blocks in which the two begin alike, within the first `most` tokens."""
        same = next(
            (place for place, (one, other) in enumerate(zip(held, prompt, strict=False)) if one != other),
            min(len(held), len(prompt)),
        )
        return min(same, most) // self._engine.batch_tokens * self._engine.batch_tokens
