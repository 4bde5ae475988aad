"""Whether the numbers of a run add up: an invariant that is broken makes the run invalid, and is named.

Checked on every run before its numbers are shown: by what its record tells of itself, and by what the store
keeps of its samples, from which the estimates are made again.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from probatum.core.canonical import canonical
from probatum.core.errors import ProbatumError, StoreError
from probatum.core.protocol import Metric, Policy, Task
from probatum.core.records import Estimate, Mark
from probatum.core.run import Run, TaskRun
from probatum.core.status import Status
from probatum.runner.summaries import task_estimates
from probatum.scoring.invariants import broken_counts, broken_scores
from probatum.scoring.metrics import MacroRate, PassAtK, Rate
from probatum.store import Store

__all__ = [
    "is_rate",
    "kept_faults",
    "kept_task_faults",
    "mark_faults",
    "run_faults",
    "task_faults",
    "task_fields",
    "task_policy",
]

_ROUNDING: Final = 1e-9
_NO_SUMMARY: Final = "its summary cannot be read"
_METRICS: Final[Mapping[str, type]] = {
    "probatum.scoring.metrics.Rate": Rate,
    "probatum.scoring.metrics.MacroRate": MacroRate,
    "probatum.scoring.metrics.PassAtK": PassAtK,
}
"""Metrics whose estimates are made again from the samples; they need no more of a task than `_Declared`."""


@dataclass(frozen=True)
class _Declared:
    """What those metrics read of a task, from its recipe."""

    policy: Policy
    chance: float | None


def run_faults(run: Run) -> tuple[str, ...]:
    """One line for each invariant that a run breaks by what is written down of it; none is good."""
    return tuple(f"{task.task}: {fault}" for task in run.tasks for fault in task_faults(task))


def kept_faults(run: Run, store: Store) -> tuple[str, ...]:
    """The same, and for each that the samples break that the store keeps of it.

    Raises:
        StoreError: the store is closed.
    """
    return tuple(
        f"{task.task}: {fault}" for task in run.tasks for fault in kept_task_faults(run, task, store)
    )


def kept_task_faults(run: Run, task: TaskRun, store: Store) -> tuple[str, ...]:
    """The same of one task.

    Raises:
        StoreError: the store is closed.
    """
    found = list(task_faults(task))
    if not task.summary or any(fault.startswith(_NO_SUMMARY) for fault in found):
        return tuple(found)
    try:
        found += mark_faults(task, list(store.marks(run.id, task.task)))
        found += _lost(store.unanswered(run.id, task.task))
        found += _misnamed(store.misnamed(run.id, task.task))
    except StoreError as error:
        if "was closed" in str(error):
            raise
        found.append(f"its samples cannot be read: {error}")
    return tuple(found)


def _lost(samples: Sequence[tuple[str, int]]) -> list[str]:
    if not samples:
        return []
    item, sample = samples[0]
    what = f"such as sample {sample} of item {item!r}"
    return [f"{len(samples)} samples are scored, and a response of theirs is not kept, {what}"]


def _misnamed(samples: Sequence[tuple[str, str]]) -> list[str]:
    if not samples:
        return []
    one, other = samples[0]
    return [f"{len(samples)} samples are of another item than they say, such as {one!r}, which is {other!r}"]


def _line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def task_faults(task: TaskRun) -> tuple[str, ...]:
    """What one task breaks by its record; one without a summary claims nothing that could be broken."""
    if not task.summary:
        return ()
    try:
        return tuple(_told_faults(task))
    except (StoreError, TypeError, ValueError) as error:
        return (f"{_NO_SUMMARY} ({_line(error)})",)


def is_rate(estimate: Estimate) -> bool:
    """Whether it is a share from 0 to 1: what the missing could change is known of those alone."""
    return estimate.bounds is not None


# ── by the record ───────────────────────────────────────────────────────────────────────────────────


def _told_faults(task: TaskRun) -> Iterator[str]:
    yield from (f"statuses: {fault}" for fault in broken_counts(task.planned, _told_statuses(task)))
    estimates = task_estimates(task)
    rates = [each for each in estimates if is_rate(each)]
    by_denominator: dict[str, dict[str, float | None]] = {}
    for each in rates:
        by_denominator.setdefault(each.denominator, {})[each.name] = each.value
    for scores in by_denominator.values():
        yield from broken_scores(scores)
    others = {each.name: each.value for each in estimates if not is_rate(each)}
    yield from broken_scores(others, bounds=None, not_above=())
    for each in estimates:
        yield from _of_estimate(each, task)


def _told_statuses(task: TaskRun) -> dict[str, int]:
    statuses = task.summary.get("statuses")
    return (
        {str(name): int(count) for name, count in statuses.items()} if isinstance(statuses, Mapping) else {}
    )


def _of_estimate(estimate: Estimate, task: TaskRun) -> Iterator[str]:
    name = estimate.name
    if not -_ROUNDING <= estimate.coverage <= 1 + _ROUNDING:
        yield f"{name}: coverage {estimate.coverage:g} lies outside 0 … 1"
    if not 0 <= estimate.n <= task.planned:
        yield f"{name}: n {estimate.n} lies outside 0 … {task.planned} planned samples"
    if estimate.p_chance is not None and not 0 <= estimate.p_chance <= 1:
        yield f"{name}: p {estimate.p_chance:g} lies outside 0 … 1"
    limits = (estimate.low, estimate.value, estimate.high)
    if any(each is not None and math.isnan(each) for each in limits):
        yield f"{name}: its value or its interval is no number"
        return
    low, value, high = limits
    if value is None or not is_rate(estimate):
        return
    below = low is not None and low > value + _ROUNDING
    if below or (high is not None and high < value - _ROUNDING):
        yield f"{name}: {value:g} lies outside its own interval {low} … {high}"
    bounds = estimate.bounds or (0.0, 1.0)
    if not -_ROUNDING <= bounds[0] <= bounds[1] + _ROUNDING <= 1 + 2 * _ROUNDING:
        yield f"{name}: bounds {bounds[0]:g} … {bounds[1]:g} are no span within 0 … 1"


# ── by the samples ──────────────────────────────────────────────────────────────────────────────────


def mark_faults(task: TaskRun, marks: Sequence[Mark]) -> list[str]:
    """What a task that has a summary breaks by its samples."""
    if not task.summary:
        return []
    return [
        *_count_faults(task, marks),
        *_item_faults(task, marks),
        *_score_faults(marks),
        *_estimate_faults(task, marks),
    ]


def _count_faults(task: TaskRun, marks: Sequence[Mark]) -> Iterator[str]:
    """N × samples = responses + failures, twice: by the plan, and by status."""
    if len(marks) != task.planned:
        yield f"{task.planned} samples were planned, and {len(marks)} are kept"
    kept = Counter(mark.status.value for mark in marks)
    told = {name: count for name, count in _told_statuses(task).items() if count}
    if told != kept:
        yield f"the summary tells of statuses {told}, and the samples have {dict(kept)}"


def _item_faults(task: TaskRun, marks: Sequence[Mark]) -> Iterator[str]:
    """Every item once: with each of its samples, and no other."""
    samples: dict[str, list[int]] = {}
    broken = set()
    for mark in marks:
        samples.setdefault(mark.item_id, []).append(mark.sample)
        if mark.status is Status.INVALID_ITEM:
            broken.add(mark.item_id)
    units = task.summary.get("units")
    if isinstance(units, int) and units != len(samples):
        yield f"the summary tells of {units} items, and the samples are of {len(samples)}"
    each = _samples_an_item(task)
    for name, numbers in samples.items():
        wanted = 1 if name in broken else each or len(numbers)
        if sorted(numbers) != list(range(wanted)):
            listed = ", ".join(map(str, sorted(numbers)[:10]))
            yield f"item {name!r} has the samples {listed}, and should have {wanted}, numbered from 0"
            return  # one names the kind; thousands would say no more


def _samples_an_item(task: TaskRun) -> int | None:
    """As the recipe has it; answers of a file are as many as they are."""
    fields = _protocol_fields(task)
    count = fields.get("samples")
    return count if isinstance(count, int) and "answers" not in task.origin else None


def _score_faults(marks: Sequence[Mark]) -> Iterator[str]:
    bare = [mark for mark in marks if (mark.status is Status.SCORED) != bool(mark.scores)]
    if bare:
        yield (
            f"{len(bare)} samples are scored without a score, or have a score without being scored, such as "
            f"{_named(bare[0])}"
        )
    wild = [mark for mark in marks if not all(map(math.isfinite, mark.scores.values()))]
    if wild:
        yield f"{len(wild)} samples have a score that is no finite number, such as {_named(wild[0])}"
    seen: dict[tuple[tuple[str, float], ...], None] = {}
    for mark in marks:
        form = tuple(mark.scores.items())
        if form in seen:
            continue
        seen[form] = None
        if faults := broken_scores(mark.scores, bounds=None):
            yield f"{_named(mark)}: {faults[0]}"
            return


def _named(mark: Mark) -> str:
    return f"sample {mark.sample} of item {mark.item_id!r}"


def _estimate_faults(task: TaskRun, marks: Sequence[Mark]) -> Iterator[str]:
    """Estimates made again from the samples, where the recipe says how, held against those that are told."""
    told: dict[tuple[str, str], Estimate] = {}
    for each in task_estimates(task):
        told.setdefault((each.name, each.denominator), each)
    declared = cast("Task", _Declared(task_policy(task), _chance(task)))  # they read no more of it
    for metric, same_code in _metrics(task):
        if not any(name.startswith(_beginning(metric)) for name, _ in told):
            continue  # nothing is claimed of it
        try:
            again = metric.estimate(marks, declared, 0.95)
        except ProbatumError as error:
            yield f"its estimates cannot be made again: {error}"
            return
        for each in again:
            yield from _differing(told.get((each.name, each.denominator)), each, whole=same_code)


def _beginning(metric: Metric) -> str:
    """How the names of its estimates begin."""
    if isinstance(metric, PassAtK):
        return "pass@"
    return str(getattr(metric, "name", None) or getattr(metric, "score", ""))


def _differing(told: Estimate | None, again: Estimate, *, whole: bool) -> Iterator[str]:
    """`whole`: whether the code is that of then, so that all but the interval must be the same."""
    if told is None:
        return
    pairs: dict[str, tuple[float | None, float | None]] = {"value": (told.value, again.value)}
    if whole:
        pairs |= {"n": (told.n, again.n), "coverage": (told.coverage, again.coverage)}
    if whole and told.bounds is not None and again.bounds is not None:
        pairs["lower bound"] = (told.bounds[0], again.bounds[0])
        pairs["upper bound"] = (told.bounds[1], again.bounds[1])
    for name, (one, other) in pairs.items():
        if not _same(one, other):
            what = "" if name == "value" else f"{name} of "
            named = f"{what}{again.name} [{again.denominator}]"
            yield f"{named} is told as {one}, and the samples make it {other}"
            return


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _ROUNDING


# ── what stands in a recipe ─────────────────────────────────────────────────────────────────────────


def _protocol_fields(task: TaskRun) -> Mapping[str, Any]:
    protocol: Any = task.recipe.get("protocol")
    fields = protocol.get("fields") if isinstance(protocol, Mapping) else None
    return fields if isinstance(fields, Mapping) else {}


def task_fields(task: TaskRun) -> Mapping[str, Any]:
    """The fields of the task in its recipe; empty where the recipe is not known."""
    form = _protocol_fields(task).get("task")
    fields = form.get("fields") if isinstance(form, Mapping) else None
    return fields if isinstance(fields, Mapping) else {}


def task_policy(task: TaskRun) -> Policy:
    """The policy that the recipe declares; the usual one where there is no recipe."""
    form = task_fields(task).get("policy")
    if not isinstance(form, Mapping):
        return Policy()
    listed = {str(json.loads(one)).rpartition(".")[2] for one in form["fields"]["counted"]["set"]}
    counted = frozenset(status for status in Status if status.name in listed)
    return Policy(name=str(form["fields"]["name"]), counted=counted)


def _chance(task: TaskRun) -> float | None:
    chance = task_fields(task).get("chance")
    return float(chance) if isinstance(chance, (int, float)) else None


def _metrics(task: TaskRun) -> Iterator[tuple[Metric, bool]]:
    """The metrics of the recipe that are ours, and whether their code is that of then.

    One that this version cannot make is left out.
    """
    listed = task_fields(task).get("metrics")
    for form in listed if isinstance(listed, Iterable) else ():
        kind = _METRICS.get(str(form.get("is"))) if isinstance(form, Mapping) else None
        if kind is None:
            continue
        try:
            metric: Metric = kind(**form["fields"])
        except (TypeError, ProbatumError):
            continue
        today: Any = canonical(metric)
        yield metric, today.get("source") == form.get("source")
