"""Checks a benchmark without a model: gold answers score 1, known-bad ones 0, and the content is sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from probatum.core.protocol import ProgramScorer, Scorer, Task
from probatum.core.records import Item, Outcome, Program, Response
from probatum.core.status import Status
from probatum.datasets import Dataset, load_items
from probatum.runner.isolation import LazySandbox
from probatum.runner.lint import Finding, lint

__all__ = ["Validation", "validate"]


@dataclass(frozen=True)
class Fault:
    """An answer that was graded otherwise than it must be."""

    item_id: str
    answer: str
    """`gold` or `wrong`."""
    status: str
    reason: str | None


@dataclass(frozen=True)
class Validation:
    """What was found about one task."""

    task: str
    items: int
    gold_right: int
    """Items whose gold answer scores 1 through the same path as a model's."""
    wrong_right: int
    """Items whose known-bad answer scores 0."""
    origin: dict[str, object]
    isolation: str | None
    faults: tuple[Fault, ...] = ()
    findings: tuple[Finding, ...] = ()
    invalid: dict[str, str] = field(default_factory=dict)
    """Broken items: id → reason."""

    @property
    def passed(self) -> bool:
        """Whether every gold answer scores 1, every bad one 0, and no item is broken."""
        return self.items > 0 and not self.faults and not self.invalid

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {**asdict(self), "passed": self.passed}


def validate(task: Task, *, data_directory: Path | None = None, workers: int | None = None) -> Validation:
    """Grades each item's gold answer and a known-bad answer, and lints the items.

    Programs are the benchmark's own reference solutions; they run in the sandbox all the same.

    Raises:
        DataError: the rows cannot be used.
        SandboxError: programs must run, and nothing here would hold them.
    """
    dataset = load_items(task.source, task.row, task.to_item, data_directory=data_directory)
    with LazySandbox(workers) as sandbox:
        gold = list(_outcomes(task, dataset, task.gold, sandbox))
        wrong = list(_outcomes(task, dataset, task.wrong, sandbox))
        isolation = sandbox.isolation if task.executes_code else None
    key = task.scorer.scores[0]
    faults = [_fault(outcome, "gold") for outcome in gold if not _scores(outcome, key, 1.0)]
    faults += [_fault(outcome, "wrong") for outcome in wrong if not _scores(outcome, key, 0.0)]
    prompt = task.completion or task.chat
    shots: tuple[Item, ...] = ()
    if task.shot_source is not None:
        shots = tuple(load_items(task.shot_source, task.row, task.to_item, data_directory=data_directory))
    findings = lint(dataset, prompt, shots) if prompt is not None else []
    return Validation(
        task=task.name,
        items=dataset.count,
        gold_right=sum(_scores(outcome, key, 1.0) for outcome in gold),
        wrong_right=sum(_scores(outcome, key, 0.0) for outcome in wrong),
        origin=dict(dataset.origin),
        isolation=isolation,
        faults=tuple(faults),
        findings=tuple(findings),
        invalid=dict(dataset.invalid),
    )


def _scores(outcome: Outcome, key: str, value: float) -> bool:
    """Whether it was compared and scored so; an answer that was not understood scores nothing."""
    return outcome.status is Status.SCORED and outcome.scores[key] == value


def _fault(outcome: Outcome, answer: str) -> Fault:
    return Fault(outcome.item_id, answer, outcome.status.value, outcome.reason)


def _outcomes(
    task: Task, dataset: Dataset, answer: Callable[[Item], str], sandbox: LazySandbox
) -> Iterator[Outcome]:
    """Each item's outcome if a model answered so."""
    scorer = task.scorer
    given = (
        (item, [Response(request="", text=answer(item))])
        for item in dataset
        if item.id not in dataset.invalid
    )
    if not isinstance(scorer, ProgramScorer):
        yield from (_graded(scorer, item, responses) for item, responses in given)
        return
    waiting: dict[str, list[tuple[Item, list[Response]]]] = {}
    programs: list[Program] = []
    for item, responses in given:
        what = scorer.program(item, 0, responses)
        if isinstance(what, Outcome):
            yield what
            continue
        if what.digest not in waiting:
            programs.append(what)
        waiting.setdefault(what.digest, []).append((item, responses))
    for execution in sandbox.execute(programs):
        for item, responses in waiting[execution.program]:
            yield scorer.verdict(item, 0, responses, execution)


def _graded(scorer: Scorer, item: Item, responses: list[Response]) -> Outcome:
    return scorer.grade(item, 0, responses)
