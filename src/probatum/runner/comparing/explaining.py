"""Why two scores differ: what differs first, from the data to the score, and how much each part explains.

Common items fall into classes by where the two runs part: asked otherwise, answered otherwise, read
otherwise, graded otherwise, or nowhere. The difference of the scores is the sum over these classes and over
the items that only one run has, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

import numpy as np

from probatum import stats
from probatum.core.canonical import digest_json
from probatum.core.comparability import Difference
from probatum.core.records import Item, Prompted
from probatum.core.run import Run, Sample
from probatum.runner.comparing.comparison import common_tasks
from probatum.runner.comparing.naming import letter
from probatum.runner.comparing.pairing import Scores, load_scores
from probatum.runner.comparing.protocols import made_elsewhere, protocol_differences
from probatum.runner.result import EvaluatedRun

__all__ = ["Explanation", "Parting", "Share", "Step", "explain"]

CONTEXT: Final = 40
"""Characters of a text that are shown around the first one that differs."""


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


@dataclass(frozen=True, kw_only=True)
class Share:
    """A part of the difference of two scores."""

    of: str
    items: int
    value: float
    """What it adds to B - A."""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step from the data to the score, and whether the two runs differ in it."""

    name: str
    same: bool
    a: object
    b: object
    detail: str


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why the score of B is not that of A, on one task."""

    task: str
    score: str
    mean_a: float | None
    """Over all items of A in its denominator."""
    mean_b: float | None
    steps: tuple[Step, ...]
    """In order: the first that is not the same is where to look."""
    recipe: tuple[Difference, ...]
    """Fields of recipe and model that differ."""
    shares: tuple[Share, ...]
    """They add up to `mean_b` - `mean_a`."""
    level: float
    notes: tuple[str, ...]

    @property
    def first(self) -> Step | None:
        """The first step in which the runs differ."""
        return next((step for step in self.steps if not step.same), None)

    @property
    def difference(self) -> float | None:
        """B - A, each on its own items."""
        if self.mean_a is None or self.mean_b is None:
            return None
        return self.mean_b - self.mean_a

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        recipe = [
            {"field": each.field, "a": each.one, "b": each.other, "kind": each.kind, "meaning": each.meaning}
            for each in self.recipe
        ]
        return {
            "task": self.task,
            "score": self.score,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
            "difference": self.difference,
            "first": None if self.first is None else self.first.name,
            "steps": [asdict(step) for step in self.steps],
            "recipe": recipe,
            "shares": [asdict(share) for share in self.shares],
            "level": self.level,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class _Trace:
    """One item of one run, by digests: small, because there may be many."""

    content: str
    prompts: str
    requests: str
    responses: str
    readings: str
    grades: str


@dataclass
class _First:
    """The first item of a class, and how many there are."""

    item: str
    count: int = 1


def explain(
    a: EvaluatedRun,
    b: EvaluatedRun,
    *,
    task: str | Sequence[str] | None = None,
    score: str | None = None,
    level: float = 0.95,
) -> tuple[Explanation, ...]:
    """Explains the difference of two runs, one explanation a common task.

    Args:
        a: the run that is started from.
        b: the run whose score is to be explained.
        task: these tasks alone; `None`: all that both have.
        score: which score; `None`: that of each task's first metric.
        level: of the intervals of the shares.

    Raises:
        UsageError: one run twice, no common task, no such task or score.
    """
    tasks = common_tasks((a, b), task, level)
    return tuple(_explained(a, b, name, score, level) for name in tasks)


def _explained(a: EvaluatedRun, b: EvaluatedRun, task: str, score: str | None, level: float) -> Explanation:
    first, second = (load_scores(run, task, score, answered=False) for run in (a, b))
    traces, others = _traces(first), _traces(second)
    partings = {name: _parting(trace, others[name]) for name, trace in traces.items() if name in others}
    seen: dict[Parting, _First] = {}
    for name, parting in partings.items():
        if parting in seen:
            seen[parting].count += 1
        else:
            seen[parting] = _First(name)
    recipe = protocol_differences(a.record, first.record, b.record, second.record)
    shares, notes = _shares(first, second, partings, level)
    if made_elsewhere(first.record) or made_elsewhere(second.record):
        notes.append("answers were made elsewhere: what was asked for them is unknown, and not compared")
    return Explanation(
        task=task,
        score=first.score,
        mean_a=first.mean,
        mean_b=second.mean,
        steps=tuple(_steps(first, second, partings, seen)),
        recipe=recipe,
        shares=tuple(shares),
        level=level,
        notes=tuple(notes),
    )


def _traces(scores: Scores) -> dict[str, _Trace]:
    """Item id → digests of its samples, stage by stage."""
    samples = scores.run.store.samples(scores.run.id, scores.record.task)
    return {item: _trace(list(same)) for item, same in groupby(samples, key=lambda one: one.item.id)}


def _trace(samples: Sequence[Sample]) -> _Trace:
    asked = [request for sample in samples for request in sample.requests]
    given = [response for sample in samples for response in sample.responses]
    outcomes = [sample.outcome for sample in samples]
    return _Trace(
        content=samples[0].item.digest,
        prompts=digest_json([[_shape(request.prompt), request.continuation] for request in asked]),
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


def _parting(one: _Trace, other: _Trace) -> Parting:
    for name, parting in (
        ("content", Parting.CONTENT),
        ("prompts", Parting.PROMPT),
        ("requests", Parting.SAMPLING),
        ("responses", Parting.ANSWER),
        ("readings", Parting.READING),
        ("grades", Parting.GRADING),
    ):
        if getattr(one, name) != getattr(other, name):
            return parting
    return Parting.NOWHERE


def _shares(
    first: Scores, second: Scores, partings: Mapping[str, Parting], level: float
) -> tuple[list[Share], list[str]]:
    """The parts of B - A: of the items that are not counted in both, then of each class of those that are."""
    both = [name for name in partings if first.units.get(name) and second.units.get(name)]
    both = [name for name in both if first.units[name].counted and second.units[name].counted]
    mean_a, mean_b = first.mean, second.mean
    if mean_a is None or mean_b is None or not both:
        return [], ["no item is counted in both runs: nothing can be explained"]
    a = np.array([first.units[name].mean for name in both])
    b = np.array([second.units[name].mean for name in both])
    weights = np.array([1.0 if first.weights is None else first.weights[name] for name in both])
    a, b = a * weights / weights.mean(), b * weights / weights.mean()  # whose means are the weighted ones
    clusters = [first.units[name].cluster for name in both]
    counted = [sum(1 for unit in scores.units.values() if unit.counted) for scores in (first, second)]
    alone = sum(counted) - 2 * len(both)
    shares = [
        Share(
            of="items that are counted in one run alone",
            items=alone,
            value=(mean_b - float(b.mean())) - (mean_a - float(a.mean())) if alone else 0.0,
        )
    ]
    for parting in Parting:
        chosen = np.array([partings[name] is parting for name in both])
        if not chosen.any():
            continue
        part = (b - a) * chosen
        found = stats.mean_interval(part, clusters=clusters, level=level)
        shares.append(
            Share(
                of=parting.value,
                items=int(chosen.sum()),
                value=float(part.mean()),
                low=found.low,
                high=found.high,
            )
        )
    return shares, []


def _steps(
    first: Scores, second: Scores, partings: Mapping[str, Parting], seen: Mapping[Parting, _First]
) -> Iterator[Step]:
    """From the data to the score."""
    one, other = first.record, second.record
    yield _items_step(first, second, seen)
    shots = one.summary.get("shots"), other.summary.get("shots")
    yield Step(name="shots", same=shots[0] == shots[1], a=shots[0], b=shots[1], detail="ids, in order")
    yield _prompt_step(first, second, partings, seen)
    yield _field_step("chat template", first.run.record, second.run.record, "template")
    yield _sampling_step(first, second, seen)
    yield _model_step(first.run.record, second.run.record)
    yield _versions_step(first.run.record, second.run.record)
    for name, parting, words in (
        ("answers", Parting.ANSWER, "with the same requests"),
        ("extraction", Parting.READING, "with the same responses"),
        ("grading", Parting.GRADING, "with the same extracted answers"),
    ):
        found = seen.get(parting)
        detail = f"none differs {words}" if found is None else f"{found.count} items differ {words}"
        shown: tuple[object, object] = (None, None)
        if found is not None:
            shown = _shown(first, second, found.item, parting)
            detail += f", first {found.item!r}"
        yield Step(name=name, same=found is None, a=shown[0], b=shown[1], detail=detail)


def _items_step(first: Scores, second: Scores, seen: Mapping[Parting, _First]) -> Step:
    one, other = first.record.items, second.record.items
    only_a = [name for name in first.units if name not in second.units]
    only_b = [name for name in second.units if name not in first.units]
    parts = [
        f"{len(names)} only in {sign}" for sign, names in ((letter(0), only_a), (letter(1), only_b)) if names
    ]
    if (changed := seen.get(Parting.CONTENT)) is not None:
        parts.append(f"{changed.count} of one id and two contents, {_contents(first, second, changed.item)}")
    return Step(
        name="data", same=one == other, a=one, b=other, detail="; ".join(parts) or "digests of the items"
    )


def _contents(first: Scores, second: Scores, item: str) -> str:
    left, right = (_sample(scores, item).item for scores in (first, second))
    fields = ("fields", "targets", "choices", "cluster", "stratum", "invalid")
    named = next((name for name in fields if getattr(left, name) != getattr(right, name)), "id")
    return f"first {item!r} in {named}: {_cut(left, named)} against {_cut(right, named)}"


def _cut(item: Item, name: str) -> str:
    text = repr(getattr(item, name))
    return text if len(text) <= 2 * CONTEXT else f"{text[: 2 * CONTEXT]}…"


def _prompt_step(
    first: Scores, second: Scores, partings: Mapping[str, Parting], seen: Mapping[Parting, _First]
) -> Step:
    found = seen.get(Parting.PROMPT)
    if found is None:
        unknown = bool(partings) and all(each is Parting.CONTENT for each in partings.values())
        detail = "no common item of the same content" if unknown else "the same texts for all common items"
        return Step(
            name="prompts", same=True, a=first.record.requests, b=second.record.requests, detail=detail
        )
    left, right = (_asked(_sample(scores, found.item)) for scores in (first, second))
    place, here, there = _first_difference(left, right)
    return Step(
        name="prompts",
        same=False,
        a=here,
        b=there,
        detail=f"{found.count} items, first {found.item!r} at character {place}",
    )


def _sampling_step(first: Scores, second: Scores, seen: Mapping[Parting, _First]) -> Step:
    left, right = (_sampling(scores) for scores in (first, second))
    found = seen.get(Parting.SAMPLING)
    differing = [name for name in left if left.get(name) != right.get(name)]
    detail = ", ".join(differing) or "temperature, budget, stop strings, samples"
    if found is not None:
        detail += f"; {found.count} items asked with the same texts, first {found.item!r}"
    return Step(
        name="sampling",
        same=not differing and found is None,
        a={name: left[name] for name in differing},
        b={name: right.get(name) for name in differing},
        detail=detail,
    )


def _sampling(scores: Scores) -> dict[str, object]:
    protocol: Any = scores.record.recipe.get("protocol")
    if not isinstance(protocol, Mapping):
        return {}
    fields = protocol["fields"]
    return {**dict(fields["sampling"]["fields"]), "samples": fields["samples"], "seed": fields["seed"]}


def _field_step(name: str, one: Run, other: Run, field: str) -> Step:
    left, right = getattr(one.model, field), getattr(other.model, field)
    return Step(name=name, same=left == right, a=left, b=right, detail="digest")


def _model_step(one: Run, other: Run) -> Step:
    names = ("provider", "name", "revision", "weights", "tokenizer", "precision", "backend", "settings")
    differing = [name for name in names if getattr(one.model, name) != getattr(other.model, name)]
    return Step(
        name="model",
        same=not differing,
        a={name: getattr(one.model, name) for name in differing},
        b={name: getattr(other.model, name) for name in differing},
        detail=", ".join(differing) or "name, weights, tokenizer, precision, backend, settings",
    )


def _versions_step(one: Run, other: Run) -> Step:
    left, right = (_versions(run) for run in (one, other))
    differing = [name for name in sorted({*left, *right}) if left.get(name) != right.get(name)]
    return Step(
        name="versions",
        same=not differing,
        a={name: left.get(name) for name in differing},
        b={name: right.get(name) for name in differing},
        detail=", ".join(differing) or "probatum and what it stands on",
    )


def _versions(run: Run) -> dict[str, object]:
    dependencies = run.environment.get("dependencies")
    found = dict(dependencies) if isinstance(dependencies, Mapping) else {}
    names = ("probatum", "commit", "python", "platform")
    return {**found, **{name: run.environment.get(name) for name in names}}


def _sample(scores: Scores, item: str) -> Sample:
    """The first sample of an item, read again."""
    samples = scores.run.store.samples(scores.run.id, scores.record.task)
    return next(sample for sample in samples if sample.item.id == item)


def _shown(first: Scores, second: Scores, item: str, parting: Parting) -> tuple[str, str]:
    """What of an item's first sample differs."""
    left, right = (_sample(scores, item) for scores in (first, second))
    if parting is Parting.ANSWER:
        texts = [next((one.text for one in each.responses if one is not None), "") for each in (left, right)]
        _, here, there = _first_difference(*texts)
        return here, there
    outcomes = [each.outcome for each in (left, right)]
    if parting is Parting.READING:
        found = [f"{one.answer!r} by {one.rule}" for one in outcomes]
    else:
        found = [f"{one.status.value} {dict(one.scores)}" for one in outcomes]
    return found[0], found[1]


def _asked(sample: Sample) -> str:
    return "\n".join(_text(request.prompt) + (request.continuation or "") for request in sample.requests)


def _shape(prompt: Prompted) -> object:
    return prompt if isinstance(prompt, str) else [[turn.role, turn.content] for turn in prompt]


def _text(prompt: Prompted) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n".join(f"{turn.role}: {turn.content}" for turn in prompt)


def _first_difference(one: str, other: str) -> tuple[int, str, str]:
    """Where two texts part, and what stands there in each."""
    shortest = min(len(one), len(other))
    place = next((n for n in range(shortest) if one[n] != other[n]), shortest)
    start = max(0, place - CONTEXT // 2)
    return place, one[start : place + CONTEXT], other[start : place + CONTEXT]
