"""A share of the samples asked a second time: which ones, and under which key their answers are kept.

The second answer is really asked for. It is kept beside the first, under a digest of its own in place of the
model's, so that it is found again when a run goes on, and is never taken for an answer of the run.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from probatum.core.canonical import digest_json
from probatum.core.records import Identity
from probatum.core.run import Sample
from probatum.prompting import Plan

__all__ = ["Chosen", "choose", "plans_of", "second_answers", "second_task"]

ROUNDING: Final = 1e-9
"""5 % of 60 samples are 3, and not the 4 that binary fractions make of it."""


@dataclass(frozen=True)
class Chosen:
    """The samples that are asked again."""

    samples: frozenset[tuple[int, int]]
    """Position of the item, and index of the sample."""
    among: int
    """Samples that they were chosen from: those that the model has answered."""


def second_task(task: str) -> str:
    """Under which name the outcomes of second answers are kept."""
    return f"{task} (asked again)"


def second_answers(model: Identity) -> str:
    """In place of the model's digest in the key of a second answer."""
    return digest_json(["asked again", model.digest])


def choose(samples: Iterable[Sample], share: float, seed: int) -> Chosen:
    """A share of the answered samples, rounded up, by a digest of what they ask.

    The choice hangs on content and seed alone: not on the order of asking, and a larger share holds every
    sample of a smaller one.
    """
    answered = [
        (_draw(sample, seed), sample.position, sample.outcome.sample)
        for sample in samples
        if sample.requests and None not in sample.responses
    ]
    count = math.ceil(share * len(answered) - ROUNDING)
    return Chosen(
        frozenset((position, number) for _, position, number in heapq.nsmallest(count, answered)),
        len(answered),
    )


def _draw(sample: Sample, seed: int) -> bytes:
    text = "\x1f".join([str(seed), "asked again", *(request.key for request in sample.requests)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def plans_of(samples: Iterable[Sample], chosen: Chosen) -> Iterator[tuple[int, Plan]]:
    """What those samples ask, word for word and with the same seeds."""
    for position, several in groupby(samples, key=lambda sample: sample.position):
        again = [one for one in several if (position, one.outcome.sample) in chosen.samples]
        if again:
            yield position, Plan(again[0].item, tuple(one.requests for one in again))
