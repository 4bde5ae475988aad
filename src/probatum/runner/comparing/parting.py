"""Where two runs part on an item: the texts, the sampling, the answer, its reading, or its grading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from probatum.core.canonical import digest_json
from probatum.core.records import Prompted
from probatum.core.run import Sample
from probatum.runner.comparing.pairing import Scores

__all__ = ["Parting", "Trace", "parting_of", "traces_of"]


class Parting(StrEnum):
    """Where two runs part on an item; the first of these that holds."""

    CONTENT = "other content"
    """One id, two contents: another question or another gold answer."""
    PROMPT = "asked with other texts"
    SAMPLING = "asked with other sampling"
    ANSWER = "answered otherwise"
    """The same requests, and other responses."""
    READING = "read otherwise"
    """The same responses, and another extracted answer or rule."""
    GRADING = "graded otherwise"
    """The same extracted answers, and other scores or statuses."""
    NOWHERE = "the same throughout"


@dataclass(frozen=True, slots=True)
class Trace:
    """One item of one run, by digests: small, because there may be many."""

    content: str
    prompts: str
    requests: str
    responses: str
    readings: str
    grades: str


def traces_of(scores: Scores) -> dict[str, Trace]:
    """Item id → digests of its samples, stage by stage."""
    samples = scores.run.store.samples(scores.run.id, scores.record.task)
    return {item: _trace(list(same)) for item, same in groupby(samples, key=lambda one: one.item.id)}


def _trace(samples: Sequence[Sample]) -> Trace:
    asked = [request for sample in samples for request in sample.requests]
    given = [response for sample in samples for response in sample.responses]
    outcomes = [sample.outcome for sample in samples]
    return Trace(
        content=samples[0].item.digest,
        # each text once: asked five times instead of once, it is the same text, and other sampling
        prompts=digest_json(
            list(dict.fromkeys(digest_json([_shape(one.prompt), one.continuation]) for one in asked))
        ),
        requests=digest_json([request.digest for request in asked]),
        responses=digest_json(
            [
                None
                if response is None
                else [response.text, response.finish, [repr(one) for one in response.logprobs or ()]]
                for response in given
            ]
        ),
        readings=digest_json([[outcome.answer, outcome.rule] for outcome in outcomes]),
        grades=digest_json(
            [
                [outcome.status, sorted((name, repr(one)) for name, one in outcome.scores.items())]
                for outcome in outcomes
            ]
        ),
    )


def parting_of(one: Trace, other: Trace, *, asked: bool = True) -> Parting:
    """The first stage at which two items differ; `asked` is whether it is known what was asked for both."""
    for name, parting in (
        ("content", Parting.CONTENT),
        ("prompts", Parting.PROMPT),
        ("requests", Parting.SAMPLING),
        ("responses", Parting.ANSWER),
        ("readings", Parting.READING),
        ("grades", Parting.GRADING),
    ):
        if not asked and name in ("prompts", "requests"):
            continue
        if getattr(one, name) != getattr(other, name):
            return parting
    return Parting.NOWHERE


def _shape(prompt: Prompted) -> object:
    return prompt if isinstance(prompt, str) else [[turn.role, turn.content] for turn in prompt]
