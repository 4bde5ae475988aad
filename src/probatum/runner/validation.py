"""Checks a benchmark without a model: gold answers score 1, known-bad ones 0, and the content is sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from probatum.core.errors import ProtocolError
from probatum.core.protocol import SCORED_FORMS, Form, FormScorer, ProgramScorer, ScoredPrompt, Scorer, Task
from probatum.core.raised import described
from probatum.core.records import Item, Outcome, Program, Response
from probatum.core.status import Status
from probatum.datasets import Dataset, load_items
from probatum.prompting.forms import LABELS
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
    compared: bool = True
    """Whether there are answers to compare: texts of which the likelihood is measured have none."""

    @property
    def passed(self) -> bool:
        """Whether every gold answer scores 1, every bad one 0, and no item is broken unawares."""
        sound = self.items - len(self.invalid)
        counted = self.items > 0 and (not self.compared or self.gold_right == self.wrong_right == sound)
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
        for form in task.forms:
            scored = task.prompt(form)
            if isinstance(scored, ScoredPrompt) and form != "text":
                likely = Likely(_scorer(task, form), scored, dataset)
                gold += likely.outcomes(right=True)
                wrong += likely.outcomes(right=False)
        isolation = sandbox.isolation if task.executes_code else None
    key = task.scorer.scores[0]
    bad_gold = [outcome for outcome in gold if not _scores(outcome, key, 1.0)]
    bad_wrong = [outcome for outcome in wrong if not _scores(outcome, key, 0.0)]
    prompt = next((task.prompt(form) for form in task.forms), None)
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
        compared=task.forms != ("text",),
    )


def _scores(outcome: Outcome, key: str, value: float) -> bool:
    """Whether it was compared and scored so; an answer that was not understood scores nothing."""
    return outcome.status is Status.SCORED and outcome.scores.get(key) == value


def _fault(outcome: Outcome, answer: str) -> Fault:
    return Fault(outcome.item_id, answer, outcome.status.value, outcome.reason)


def _ids(outcomes: Iterable[Outcome]) -> set[str]:
    return {outcome.item_id for outcome in outcomes}


def _scorers(task: Task) -> list[Scorer | ProgramScorer]:
    """One for each form in which text is generated, where the form makes a difference."""
    forms = [form for form in task.forms if form not in SCORED_FORMS]
    if not isinstance(task.scorer, FormScorer):
        return [task.scorer] if forms else []
    return [task.scorer.for_form(form) for form in forms]


def _scorer(task: Task, form: Form) -> Scorer:
    scorer = task.scorer.for_form(form) if isinstance(task.scorer, FormScorer) else task.scorer
    if isinstance(scorer, ProgramScorer):
        raise ProtocolError(f"task {task.name!r} runs programs, and its form {form!r} yields none")
    return scorer


@dataclass(frozen=True)
class Likely:
    """Grades likelihoods as a run would, of a model that is sure of the right option, or of a wrong one."""

    scorer: Scorer
    prompt: ScoredPrompt
    dataset: Dataset

    def outcomes(self, *, right: bool) -> Iterator[Outcome]:
        """Each item's outcome."""
        for item in self.dataset:
            if item.id in self.dataset.invalid:
                continue
            parts = self.prompt.parts(item, (), None)
            places = self._right(item)
            responses = [
                Response(
                    request="",
                    logprobs=(-0.01 if ((place in places) == right) else -9.0,)
                    * max(1, len(part.continuation)),
                    greedy=(place in places) == right,
                    scored_bytes=len(part.continuation.encode("utf-8", "replace")),
                )
                for place, part in enumerate(parts)
            ]
            yield _graded(item, partial(self.scorer.grade, item, 0, responses))

    def _right(self, item: Item) -> frozenset[int]:
        """Places of the right options; an item without options has one continuation, and that is right."""
        if not item.choices:
            return frozenset({0})
        texts = {
            text.strip() for label, text in zip(LABELS, item.choices, strict=False) if label in item.targets
        }
        return frozenset(place for place, text in enumerate(item.choices) if text.strip() in texts)


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
                        f"{described(error)}; mend the task"
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
        found = grade()
    except Exception as error:  # noqa: BLE001 - the boundary of graders, ours and others'
        return Outcome(item_id=item.id, sample=0, status=Status.GRADER_ERROR, reason=described(error))
    given: object = found  # whatever a scorer of the user's own declares
    if isinstance(given, (Outcome, Program)):
        return found
    reason = f"the scorer gave a {type(given).__name__} and no outcome"
    return Outcome(item_id=item.id, sample=0, status=Status.GRADER_ERROR, reason=reason)
