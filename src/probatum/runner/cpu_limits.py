"""How much CPU time programs of a task may use: ten times what the reference solution takes here.

The rule is part of the recipe, and so of a run's identity; the seconds are not, since they depend on the
machine. They are rounded up and kept, so that the same machine finds the same programs again, and are
written down with the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from probatum.core.errors import UsageError
from probatum.core.protocol import CalibratedScorer, Task
from probatum.core.records import Item, Limits, Program
from probatum.runner.isolation import LazySandbox
from probatum.sandbox import reference_limits

__all__ = ["CpuLimits", "cpu_limits", "with_cpu_seconds"]

WALL: Final = 10  # times the CPU limit: a backstop that does not bind on a machine shared by ten


@dataclass
class CpuLimits:
    """The limits of one task's items, measured when they are first asked for.

    Raises nothing of its own: an item without a reference solution that passes keeps the task's limit.
    """

    scorer: CalibratedScorer
    gold: Callable[[Item], str]
    measure: Callable[[Sequence[Program]], Mapping[str, float]]
    """Reference programs → CPU seconds by digest; what does not pass is left out."""
    seconds: dict[str, float | None] = field(default_factory=dict)
    """Item id → its limit; `None` where the task's own holds."""

    def limited(self, waiting: Sequence[tuple[Item, Program]]) -> list[Program]:
        """The programs, each with the limit of its item."""
        self._find([item for item, _ in waiting if item.id not in self.seconds])
        return [self._with_limit(program, self.seconds[item.id]) for item, program in waiting]

    def _find(self, items: Sequence[Item]) -> None:
        references = {item.id: self._reference(item) for item in items}
        found = self.measure([one for one in references.values() if one is not None])
        for name, program in references.items():
            self.seconds[name] = None if program is None else found.get(program.digest)

    def _reference(self, item: Item) -> Program | None:
        try:
            return self.scorer.reference(item, self.gold(item))
        except Exception:  # noqa: BLE001 - a benchmark without a usable solution keeps its own limit
            return None

    def _with_limit(self, program: Program, seconds: float | None) -> Program:
        if seconds is None:
            return program
        limits = program.limits
        wall = max(limits.wall_seconds, WALL * seconds)
        return replace(program, limits=replace(limits, cpu_seconds=seconds, wall_seconds=wall))

    def plain(self) -> dict[str, Any]:
        """For the record of the run: seconds → how many items, and which ones keep the task's own limit."""
        known = Counter(f"{seconds:g}" for seconds in self.seconds.values() if seconds is not None)
        return {
            "rule": "max(0.5, 10 × reference solution), rounded up to 0.5",
            "cpu_seconds": dict(sorted(known.items(), key=lambda pair: float(pair[0]))),
            "of_the_task": sorted(name for name, seconds in self.seconds.items() if seconds is None),
        }


def cpu_limits(task: Task, scorer: object, sandbox: LazySandbox) -> CpuLimits | None:
    """The limits of a task's programs; `None` where its scorer measures nothing.

    Args:
        task: whose gold answers are the reference solutions.
        scorer: the task's, as this run uses it.
        sandbox: runs the reference solutions as it runs the others.
    """
    if not isinstance(scorer, CalibratedScorer) or not scorer.calibrated:
        return None
    return CpuLimits(scorer, task.gold, lambda programs: reference_limits(sandbox, programs))


def with_cpu_seconds(task: Task, seconds: float | None) -> Task:
    """The task with the limit that the user has chosen in place of its own; `None` changes nothing.

    Raises:
        UsageError: the task runs no programs.
    """
    if seconds is None:
        return task
    scorer: Any = task.scorer
    limits = getattr(scorer, "limits", None)
    if not isinstance(limits, Limits):
        raise UsageError(f"task {task.name!r} runs no programs ({seconds:g} CPU seconds); leave it out")
    wall = max(limits.wall_seconds, WALL * seconds)
    changes = {
        "limits": replace(limits, cpu_seconds=seconds, wall_seconds=wall),
        "cpu_field": None,
        "calibrated": False,
    }
    known = {one.name for one in fields(scorer)}
    chosen = replace(scorer, **{name: value for name, value in changes.items() if name in known})
    return replace(task, scorer=chosen)
