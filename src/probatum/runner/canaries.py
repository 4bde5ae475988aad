"""Known answers through the grader before a run's own: a broken one must not look like a poor model.

Text is graded by pure functions, and every gold answer goes through them (`gold.py`). Programs need a
sandbox, an interpreter and libraries, which can be broken as a whole: nothing runs, and every model scores
0; or nothing is really run, and every model scores 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final
from typing import Protocol as Interface

from probatum.core.errors import GraderError
from probatum.core.protocol import CalibratedScorer, ProgramScorer, Task
from probatum.core.records import Execution, Item, Outcome, Program, Response
from probatum.core.status import Status

__all__ = ["CANARIES", "Canaries", "check_grader"]

CANARIES: Final = 3
"""Items whose reference solution and known-bad answer are run first."""
LOOKED_AT: Final = 50
"""Items among which those are looked for that have both."""


class Executor(Interface):
    """What runs programs."""

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        """Runs each program once, in any order."""
        ...


@dataclass(frozen=True)
class Canaries:
    """How known answers were graded."""

    items: tuple[str, ...] = ()
    good_failed: tuple[str, ...] = ()
    """Items whose reference solution did not pass."""
    bad_passed: tuple[str, ...] = ()
    """Items whose known-bad answer did."""
    reason: str | None = None
    """Why the first of them was misgraded."""

    def notes(self) -> list[str]:
        """What a reader of the numbers should know; nothing where all were graded rightly."""
        notes = []
        if self.good_failed:
            notes.append(
                f"the reference solution of {', '.join(self.good_failed)} fails here ({self.reason})"
            )
        if self.bad_passed:
            notes.append(f"the known-bad answer of {', '.join(self.bad_passed)} passes")
        return notes


def check_grader(task: Task, scorer: ProgramScorer, items: Iterable[Item], executor: Executor) -> Canaries:
    """Runs the reference solutions and the known-bad answers of the first items.

    Args:
        task: gives both.
        scorer: as the run uses it.
        items: sound ones.
        executor: as the run uses it.

    Raises:
        GraderError: no reference solution passes, or every known-bad answer does.
        SandboxError: programs cannot be run at all.
    """
    chosen = list(islice(_written(task, islice(items, LOOKED_AT)), CANARIES))
    good = {item.id: _graded(text, item, scorer, executor) for item, text, _ in chosen}
    bad = {item.id: _graded(text, item, scorer, executor) for item, _, text in chosen}
    key = task.scorer.scores[0]
    failed = [name for name, outcome in good.items() if outcome.scores.get(key) != 1.0]
    passed = [name for name, outcome in bad.items() if outcome.scores.get(key) == 1.0]
    reason = good[failed[0]].reason if failed else None
    if chosen and len(failed) == len(chosen):
        raise GraderError(
            f"task {task.name!r}: reference pass rate 0 of {len(chosen)} ({reason}); no model was asked. "
            f"Find out why with `probatum validate {task.name}`"
        )
    if chosen and len(passed) == len(chosen):
        raise GraderError(
            f"task {task.name!r}: all of {len(chosen)} known-bad answers pass; no model was asked. "
            f"Find out why with `probatum validate {task.name}`"
        )
    return Canaries(tuple(good), tuple(failed), tuple(passed), reason)


def _written(task: Task, items: Iterable[Item]) -> Iterator[tuple[Item, str, str]]:
    """Items with both answers; an item for which the task can write none is no canary."""
    for item in items:
        try:
            good, bad = task.gold(item), task.wrong(item)
        except Exception:  # noqa: BLE001, S112 - the boundary of tasks, ours and others'
            continue
        if good.strip():
            yield item, good, bad


def _graded(text: str, item: Item, scorer: ProgramScorer, executor: Executor) -> Outcome:
    """As a model's answer would be."""
    responses = [Response(request="", text=text)]
    program: Program | Outcome | None = None
    if isinstance(scorer, CalibratedScorer):  # what models answer may be of another form than the solution
        program = scorer.reference(item, text)
    if program is None:
        program = scorer.program(item, 0, responses)
    if isinstance(program, Outcome):
        return program
    for execution in executor.execute([program]):
        return scorer.verdict(item, 0, responses, execution)
    return Outcome(item_id=item.id, sample=0, status=Status.INFRA_ERROR, reason="the program was not run")
