"""What tests of the runner share: a run behind fakes, and its outcomes as a table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from probatum.core.protocol import Task
from probatum.core.records import Execution, ExecutionStatus, Program
from probatum.core.run import Run
from probatum.models import Model
from probatum.runner import EvaluatedRun, Options, Progress
from probatum.runner.evaluation import Evaluation
from probatum.runner.preparation import prepare
from probatum.runner.resolution import protocol_for
from probatum.store import Store


@dataclass
class FakeSandbox:
    """Executes as it is told; a program passes where its code is the number that its tests check."""

    verdict: Callable[[Program], ExecutionStatus | BaseException | None] = lambda program: (
        ExecutionStatus.PASSED
        if program.tests == f"check({program.code})"
        else ExecutionStatus.ASSERTION_FAILED
    )
    """`None` gives no execution at all; an exception is raised in place of one."""
    executed: list[Program] = field(default_factory=list)
    proven: str | None = "fake"
    isolation: str = "fake"
    environment_digest: str = "0" * 64
    environment: dict[str, object] = field(default_factory=lambda: {"executor": "fake"})

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        for program in programs:
            self.executed.append(program)
            status = self.verdict(program)
            if isinstance(status, BaseException):
                raise status
            if status is not None:
                yield Execution(program=program.digest, status=status)


def carry_out(
    tasks: Task | list[Task],
    model: Model,
    store: Store,
    data: Path,
    *,
    sandbox: FakeSandbox | None = None,
    stop: threading.Event | None = None,
    progress: Progress | None = None,
    **options: object,
) -> EvaluatedRun:
    """As `evaluate`, with a sandbox and a stop event of one's own."""
    chosen = Options(data_directory=data, **options)
    named = tasks if isinstance(tasks, list) else [tasks]
    prepared = [prepare(protocol_for(task, model, chosen), chosen, model) for task in named]
    evaluation = Evaluation(
        model,
        store,
        sandbox or FakeSandbox(),
        chosen,
        progress or Progress(),
        stop or threading.Event(),
    )
    return evaluation.carry_out(evaluation.record([one.record for one in prepared]), prepared)


Outcomes = list[tuple[str, str, int, str, dict[str, float], str | None, str | None]]


def outcomes(store: Store, run: Run | str) -> Outcomes:
    """Task, item, sample, status, scores, answer and reason of every sample of a run, in order."""
    record = store.run(run) if isinstance(run, str) else run
    return [
        (
            task.task,
            sample.outcome.item_id,
            sample.outcome.sample,
            sample.outcome.status.value,
            dict(sample.outcome.scores),
            sample.outcome.answer,
            sample.outcome.reason,
        )
        for task in record.tasks
        for sample in store.samples(record.id, task.task)
    ]


def statuses(run: EvaluatedRun, task: str = "sums") -> dict[str, int]:
    """Status → count, from the summary."""
    return dict(run.statuses[task])


def kept(store: Store, run: str, task: str = "sums") -> int:
    """Outcomes that the store holds of a task."""
    return sum(store.statuses(run, task).values())
