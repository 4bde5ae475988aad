"""Checks a benchmark without a model: gold answers score 1, known-bad ones 0, and the content is sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Form, FormScorer, ProgramScorer, Scorer, Task
from probatum.core.records import Item, Outcome, Program, Response
from probatum.core.status import Status
from probatum.datasets import Dataset, load_items
from probatum.runner.isolation import LazySandbox
from probatum.runner.lint import Finding, lint

__all__ = ["Validation", "validate"]

Verdict = TypeVar("Verdict", Outcome, "Outcome | Program")


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
    known_broken: tuple[str, ...] = ()
    """Those of them that the task itself declares: they are in no rate, and no surprise."""

    @property
    def passed(self) -> bool:
        """Whether every gold answer scores 1, every bad one 0, and no item is broken unawares."""
        sound = self.items - len(self.invalid)
        counted = self.items > 0 and self.gold_right == self.wrong_right == sound
        return counted and not self.faults and not self.invalid.keys() - set(self.known_broken)

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {**asdict(self), "passed": self.passed}


def validate(task: Task, *, data_directory: Path | None = None, workers: int | None = None) -> Validation:
    """Grades each item's gold answer and a known-bad answer, and lints the items.

    Programs are the benchmark's own reference solutions; they run in the sandbox all the same.

    Raises:
        DataError: the rows cannot be used.
        ProtocolError: `gold` or `wrong` of the task raises.
        SandboxError: programs must run, and nothing here would hold them.
    """
    dataset = load_items(task.source, task.row, task.to_item, data_directory=data_directory)
    with LazySandbox(workers) as sandbox:
        graders = [Grader(scorer, dataset, sandbox) for scorer in _scorers(task)]
        gold = [outcome for grader in graders for outcome in grader.outcomes(task.gold)]
        wrong = [outcome for grader in graders for outcome in grader.outcomes(task.wrong)]
        isolation = sandbox.isolation if task.executes_code else None
    key = task.scorer.scores[0]
    bad_gold = [outcome for outcome in gold if not _scores(outcome, key, 1.0)]
    bad_wrong = [outcome for outcome in wrong if not _scores(outcome, key, 0.0)]
    prompt = task.completion or task.chat
    shots: tuple[Item, ...] = ()
    if task.shot_source is not None:
        shots = tuple(load_items(task.shot_source, task.row, task.to_item, data_directory=data_directory))
    findings = lint(dataset, prompt, shots) if prompt is not None else []
    return Validation(
        task=task.name,
        items=dataset.count,
        gold_right=len(_ids(gold) - _ids(bad_gold)),
        wrong_right=len(_ids(wrong) - _ids(bad_wrong)),
        origin=dict(dataset.origin),
        isolation=isolation,
        faults=(
            *(_fault(outcome, "gold") for outcome in bad_gold),
            *(_fault(outcome, "wrong") for outcome in bad_wrong),
        ),
        findings=tuple(findings),
        invalid=dict(dataset.invalid),
        known_broken=tuple(item.id for item in dataset if item.invalid is not None),
    )


def _scores(outcome: Outcome, key: str, value: float) -> bool:
    """Whether it was compared and scored so; an answer that was not understood scores nothing."""
    return outcome.status is Status.SCORED and outcome.scores.get(key) == value


def _fault(outcome: Outcome, answer: str) -> Fault:
    return Fault(outcome.item_id, answer, outcome.status.value, outcome.reason)


def _ids(outcomes: Iterable[Outcome]) -> set[str]:
    return {outcome.item_id for outcome in outcomes}


def _scorers(task: Task) -> list[Scorer | ProgramScorer]:
    """One for each form that the task has, where the form makes a difference."""
    if not isinstance(task.scorer, FormScorer):
        return [task.scorer]
    forms: tuple[Form, ...] = ("completion", "chat")
    return [task.scorer.for_form(form) for form in forms if task.prompt(form) is not None]


@dataclass(frozen=True)
class Grader:
    """Grades one answer an item as a run would."""

    scorer: Scorer | ProgramScorer
    dataset: Dataset
    sandbox: LazySandbox

    def outcomes(self, answer: Callable[[Item], str]) -> Iterator[Outcome]:
        """Each item's outcome if a model answered so."""
        if isinstance(self.scorer, ProgramScorer):
            yield from self._executed(self.scorer, answer)
            return
        for item, responses in self._given(answer):
            yield _graded(item, partial(self.scorer.grade, item, 0, responses))

    def _given(self, answer: Callable[[Item], str]) -> Iterator[tuple[Item, list[Response]]]:
        for item in self.dataset:
            if item.id not in self.dataset.invalid:
                try:
                    text = answer(item)
                except Exception as error:
                    raise ProtocolError(
                        f"the task's {getattr(answer, '__name__', 'answer')!r} fails on item {item.id!r}: "
                        f"{type(error).__name__}: {error}; mend the task"
                    ) from error
                yield item, [Response(request="", text=text)]

    def _executed(self, scorer: ProgramScorer, answer: Callable[[Item], str]) -> Iterator[Outcome]:
        waiting: dict[str, list[tuple[Item, list[Response]]]] = {}
        programs: list[Program] = []
        for item, responses in self._given(answer):
            what = _graded(item, partial(scorer.program, item, 0, responses))
            if isinstance(what, Outcome):
                yield what
                continue
            if what.digest not in waiting:
                programs.append(what)
            waiting.setdefault(what.digest, []).append((item, responses))
        for execution in self.sandbox.execute(programs):
            for item, responses in waiting[execution.program]:
                yield _graded(item, partial(scorer.verdict, item, 0, responses, execution))


def _graded(item: Item, grade: Callable[[], Verdict]) -> Verdict | Outcome:
    """What the scorer says; where it raises, a fault of this item rather than the end of the check."""
    try:
        return grade()
    except Exception as error:  # noqa: BLE001 - the boundary of graders, ours and others'
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(item_id=item.id, sample=0, status=Status.GRADER_ERROR, reason=reason)
