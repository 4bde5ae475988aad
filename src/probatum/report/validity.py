"""Whether the numbers of a run add up: an invariant that is broken makes the run invalid, and is named."""

from __future__ import annotations

import math
from collections.abc import Iterator

from probatum.core.records import Estimate
from probatum.core.run import Run, TaskRun
from probatum.runner.result import task_estimates
from probatum.scoring.invariants import broken_counts, broken_scores

__all__ = ["is_rate", "run_faults", "task_faults"]

_ROUNDING = 1e-9


def run_faults(run: Run) -> tuple[str, ...]:
    """One line for each invariant that a run breaks by what is written down of it; none is good."""
    return tuple(f"{task.task}: {fault}" for task in run.tasks for fault in task_faults(task))


def task_faults(task: TaskRun) -> tuple[str, ...]:
    """The same for one task; one without a summary claims nothing that could be broken."""
    if not task.summary:
        return ()
    return tuple(_faults(task))


def is_rate(estimate: Estimate) -> bool:
    """Whether it is a share from 0 to 1: what the missing could change is known of those alone."""
    return estimate.bounds is not None


def _faults(task: TaskRun) -> Iterator[str]:
    statuses = task.summary.get("statuses")
    counts = {str(name): int(count) for name, count in statuses.items()} if isinstance(statuses, dict) else {}
    yield from (f"statuses: {fault}" for fault in broken_counts(task.planned, counts))
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


def _of_estimate(estimate: Estimate, task: TaskRun) -> Iterator[str]:
    name = estimate.name
    if not -_ROUNDING <= estimate.coverage <= 1 + _ROUNDING:
        yield f"{name}: coverage {estimate.coverage:g} lies outside 0 … 1"
    if not 0 <= estimate.n <= task.planned:
        yield f"{name}: n {estimate.n} lies outside 0 … {task.planned} planned samples"
    for chance in (estimate.p_chance,):
        if chance is not None and not 0 <= chance <= 1:
            yield f"{name}: p {chance:g} lies outside 0 … 1"
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
