"""Why two scores differ: what differs first, from the data to the score, and how much each part explains.

Common items fall into classes by where the two runs part: asked otherwise, answered otherwise, read
otherwise, graded otherwise, or nowhere. The difference of the scores is the sum over these classes and over
the items that only one run has, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from probatum import stats
from probatum.core.comparability import Difference
from probatum.core.protocol import Task
from probatum.core.records import Item
from probatum.core.run import Run, Sample
from probatum.runner.comparing.comparison import common_tasks
from probatum.runner.comparing.naming import letter
from probatum.runner.comparing.pairing import Scores, load_scores
from probatum.runner.comparing.parting import Parting, parting_of, traces_of
from probatum.runner.comparing.protocols import asks_conversations, made_elsewhere, protocol_differences
from probatum.runner.comparing.stepping import Pair, Path, Stage, walk, within
from probatum.runner.result import EvaluatedRun

__all__ = ["Explanation", "Parting", "Path", "Share", "Stage", "Step", "explain"]

CONTEXT: Final = 40
"""Characters of a text that are shown around the first one that differs."""


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
    caret: int | None = None
    """Where `a` and `b`, as excerpts of two texts, part: the first character that differs."""


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
    path: Path | None
    """From A's score to B's, one change at a time; `None` where there is no common item or no score."""
    level: float
    notes: tuple[str, ...]
    faults: tuple[str, ...] = ()
    """Invariants that A or B breaks: then their scores are none to explain."""

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
            "path": None if self.path is None else asdict(self.path),
            "level": self.level,
            "notes": list(self.notes),
            "valid": not self.faults,
            "faults": list(self.faults),
        }


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
    definitions: Sequence[Task] = (),
) -> tuple[Explanation, ...]:
    """Explains the difference of two runs, one explanation a common task.

    Args:
        a: the run that is started from.
        b: the run whose score is to be explained.
        task: these tasks alone; `None`: all that both have.
        score: which score; `None`: that of each task's first metric.
        level: of the intervals.
        definitions: tasks of one's own, which are not found by their names; their scorers grade A's kept
            responses as B was graded.

    Raises:
        UsageError: one run twice, no common task, no such task or score.
    """
    tasks = common_tasks((a, b), task, level)
    known = {one.name: one for one in definitions}
    found = []
    for name in tasks:
        first, second = (load_scores(run, name, score, answered=False) for run in (a, b))
        found.append(_explained(first, second, level, known.get(name)))
    return tuple(found)


def _explained(first: Scores, second: Scores, level: float, definition: Task | None) -> Explanation:
    traces, others = traces_of(first), traces_of(second)
    asked = not made_elsewhere(first.record) and not made_elsewhere(second.record)
    partings = {
        name: parting_of(trace, others[name], asked=asked) for name, trace in traces.items() if name in others
    }
    seen: dict[Parting, _First] = {}
    for name, parting in partings.items():
        if parting in seen:
            seen[parting].count += 1
        else:
            seen[parting] = _First(name)
    recipe = protocol_differences(first.run.record, first.record, second.run.record, second.record)
    path = walk(Pair(first, second, traces, others, recipe, definition, asked), level)
    shares, notes = _shares(first, second, partings, level)
    if not asked:
        notes.append("answers were made elsewhere: what was asked for them is unknown, and not compared")
    return Explanation(
        task=first.record.task,
        score=first.score,
        mean_a=first.mean,
        mean_b=second.mean,
        steps=tuple(_steps(first, second, partings, seen)),
        recipe=recipe,
        shares=tuple(shares),
        path=path,
        level=level,
        notes=tuple(notes),
        faults=tuple(
            f"{sign} is INVALID: {fault}"
            for sign, scores in (("A", first), ("B", second))
            for fault in scores.faults
        ),
    )


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
        low, high = within(
            found.low, found.high, rates=bool(((a >= 0) & (a <= 1) & (b >= 0) & (b <= 1)).all())
        )
        shares.append(
            Share(
                of=parting.value,
                items=int(chosen.sum()),
                value=float(part.mean()),
                low=low,
                high=high,
            )
        )
    return shares, []


def _steps(
    first: Scores, second: Scores, partings: Mapping[str, Parting], seen: Mapping[Parting, _First]
) -> Iterator[Step]:
    """From the data to the score."""
    one, other = first.record, second.record
    yield _items_step(first, second, seen)
    asked = not made_elsewhere(one) and not made_elsewhere(other)
    if asked:
        yield from _asking_steps(first, second, partings, seen)
    else:
        for name in ("shots", "prompts", "chat template", "sampling"):
            yield Step(name=name, same=True, a=None, b=None, detail="unknown: answers were made elsewhere")
    yield _model_step(first.run.record, second.run.record)
    yield _versions_step(first.run.record, second.run.record)
    for name, parting, words in (
        ("answers", Parting.ANSWER, "with the same requests" if asked else "of the same question"),
        ("extraction", Parting.READING, "with the same responses"),
        ("grading", Parting.GRADING, "with the same extracted answers"),
    ):
        found = seen.get(parting)
        detail = f"none differs {words}" if found is None else f"{found.count} items differ {words}"
        a, b, caret = (None, None, None) if found is None else _shown(first, second, found.item, parting)
        if found is not None:
            detail += f", first {found.item!r}"
        yield Step(name=name, same=found is None, a=a, b=b, detail=detail, caret=caret)


def _asking_steps(
    first: Scores, second: Scores, partings: Mapping[str, Parting], seen: Mapping[Parting, _First]
) -> Iterator[Step]:
    """What was asked."""
    shots = first.record.summary.get("shots"), second.record.summary.get("shots")
    yield Step(name="shots", same=shots[0] == shots[1], a=shots[0], b=shots[1], detail="ids, in order")
    yield _prompt_step(first, second, partings, seen)
    yield _template_step(first, second)
    yield _sampling_step(first, second, seen)


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
    texts = "".join(text for _, text in left), "".join(text for _, text in right)
    parts = _first_difference(*texts)
    return Step(
        name="prompts",
        same=False,
        a=parts.a,
        b=parts.b,
        detail=f"{found.count} items, first {found.item!r} at {parts.where}, "
        f"in {_segment(left, parts.place)}",
        caret=parts.caret,
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


def _template_step(first: Scores, second: Scores) -> Step:
    left, right = first.run.record.model.template, second.run.record.model.template
    if not asks_conversations(first.record, second.record):
        return Step(name="chat template", same=True, a=left, b=right, detail="not used: texts were asked")
    return Step(name="chat template", same=left == right, a=left, b=right, detail="digest")


def _model_step(one: Run, other: Run) -> Step:
    left, right = (_of_model(run) for run in (one, other))
    differing = [name for name in dict.fromkeys([*left, *right]) if left.get(name) != right.get(name)]
    return Step(
        name="model",
        same=not differing,
        a={name: left.get(name) for name in differing},
        b={name: right.get(name) for name in differing},
        detail=", ".join(differing) or "name, weights, tokenizer, precision, backend, settings",
    )


def _of_model(run: Run) -> dict[str, object]:
    names = ("provider", "name", "revision", "weights", "tokenizer", "precision", "backend")
    settings = {f"settings.{name}": value for name, value in run.model.settings.items()}
    return {**{name: getattr(run.model, name) for name in names}, **settings}


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


def _shown(first: Scores, second: Scores, item: str, parting: Parting) -> tuple[str, str, int | None]:
    """What of an item's first sample that differs does, and where the texts part."""
    left, right = (_sample(scores, item) for scores in (first, second))
    if parting is Parting.ANSWER:
        return _said(left, right)
    outcomes = [each.outcome for each in (left, right)]
    if parting is Parting.READING:
        found = [f"{one.answer!r} by {one.rule}" for one in outcomes]
    else:
        found = [f"{one.status.value} {dict(one.scores)}" for one in outcomes]
    return found[0], found[1], None


def _said(left: Sample, right: Sample) -> tuple[str, str, int | None]:
    """The first response that differs: its text, or its likelihood."""
    for one, other in zip(left.responses, right.responses, strict=False):
        if one is None or other is None:
            continue
        if one.text != other.text:
            parts = _first_difference(one.text, other.text)
            return parts.a, parts.b, parts.caret
        if one.logprobs != other.logprobs:
            sums = [f"log-probability {math.fsum(each.logprobs or ()):.6g}" for each in (one, other)]
            return sums[0], sums[1], None
        if one.finish is not other.finish:
            return one.finish.value, other.finish.value, None
    shown = ["no answer" if None in each.responses else "answered" for each in (left, right)]
    return shown[0], shown[1], None


def _asked(sample: Sample) -> list[tuple[str, str]]:
    """What was asked, part by part: what it is called, and the text."""
    found = []
    several = len(sample.requests) > 1
    for number, request in enumerate(sample.requests, 1):
        of = f" of request {number}" if several else ""
        if isinstance(request.prompt, str):
            found.append((f"the prompt{of}", request.prompt))
        else:
            found += [
                (f"message {place}{of} ({turn.role})", f"{turn.role}: {turn.content}\n")
                for place, turn in enumerate(request.prompt, 1)
            ]
        if request.continuation is not None:
            found.append((f"the continuation{of}", request.continuation))
        found.append(("the end", "\n"))
    return found[:-1]


def _segment(segments: Sequence[tuple[str, str]], place: int) -> str:
    """The part that a character of the whole stands in."""
    end = 0
    for name, text in segments:
        end += len(text)
        if place < end:
            return name
    return "what stands after the end of the other"


@dataclass(frozen=True)
class _Excerpt:
    """Two texts around the first character in which they differ."""

    place: int
    where: str
    """In words: character, byte, line and column."""
    a: str
    b: str
    caret: int


def _first_difference(one: str, other: str) -> _Excerpt:
    """Where two texts part, and what stands there in each."""
    shortest = min(len(one), len(other))
    place = next((n for n in range(shortest) if one[n] != other[n]), shortest)
    start = max(0, place - CONTEXT // 2)
    before = one[:place]
    line, column = before.count("\n") + 1, place - before.rfind("\n")
    byte = len(before.encode("utf-8", "surrogatepass"))
    return _Excerpt(
        place=place,
        where=f"character {place} (byte {byte}, line {line}, column {column})",
        a=one[start : place + CONTEXT],
        b=other[start : place + CONTEXT],
        caret=place - start,
    )
