"""The report of one run or several: read once from the store, written in any format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from probatum.core.errors import UsageError
from probatum.core.moments import now, to_the_second
from probatum.core.run import Run, RunState
from probatum.core.strictjson import strict_json
from probatum.report.card import Card, make_card, shown_value
from probatum.report.page.blocks import Block, Paragraph, Section, Table
from probatum.report.page.comparisons import comparison_section, sensitivity_section, summary_section
from probatum.report.page.contamination import Contamination, CorpusAudit
from probatum.report.page.gathering import TaskReport, gather
from probatum.report.page.messages import Words, words
from probatum.report.page.sensitivity import PromptSensitivity, prompt_sensitivity
from probatum.report.page.tasks import TaskPage, task_sections
from probatum.report.page.writing import html_page, markdown_page
from probatum.runner.comparing import Comparison, compare
from probatum.runner.comparing.naming import letter
from probatum.runner.noise import noise_floor_of
from probatum.runner.result import EvaluatedRun
from probatum.scoring.audit import ExtractionAudit

__all__ = ["EXAMPLES", "Report", "RunReport", "make_report"]

EXAMPLES: Final = 20
"""Most examples of each group, where nobody says how many."""
BUDGET: Final = 5_000_000
"""Bytes that all examples of a report may take together."""


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """One run."""

    letter: str
    run: Run
    tasks: tuple[TaskReport, ...]
    card: Card

    @property
    def faults(self) -> tuple[str, ...]:
        """Invariants that are broken, with their tasks."""
        return tuple(f"{task.record.task}: {fault}" for task in self.tasks for fault in task.faults)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Runs, ready to be written."""

    runs: tuple[RunReport, ...]
    comparison: Comparison | None
    """Of two runs or more."""
    not_compared: str | None
    """Why there is none."""
    sensitivity: tuple[PromptSensitivity, ...]
    """Of tasks that several runs ask one model in different words."""
    words: Words
    examples: int
    made: str

    @property
    def valid(self) -> bool:
        """Whether no run breaks an invariant."""
        return not any(run.faults for run in self.runs)

    def html(self, *, printed: bool = False) -> str:
        """One page that loads nothing; `printed`: for paper, with everything open and no script."""
        return html_page(self.title, self.sections(), self.words, self._about(), printed=printed)

    def markdown(self) -> str:
        """The same without plots: their tables have the numbers."""
        return markdown_page(self.title, self.sections(), self.words, self._about())

    def plain(self) -> dict[str, Any]:
        """As strict JSON data."""
        found: dict[str, Any] = strict_json(
            {
                "made": self.made,
                "probatum": version("probatum"),
                "language": self.words.language,
                "valid": self.valid,
                "runs": [_plain_run(run) for run in self.runs],
                "comparison": None if self.comparison is None else self.comparison.plain(),
                "not_compared": self.not_compared,
                "prompt_sensitivity": [each.plain() for each in self.sensitivity],
            }
        )
        return found

    @property
    def title(self) -> str:
        """Which models."""
        models = dict.fromkeys(f"{each.run.model.provider}/{each.run.model.name}" for each in self.runs)
        return self.words("title", models=", ".join(models))

    def sections(self) -> tuple[Section, ...]:
        """The sections in order."""
        return tuple(self._sections())

    def _about(self) -> str:
        told = self.words("made", version=version("probatum"), moment=self.made)
        return told if self.words.language == "en" else f"{told} {self.words('english_parts')}"

    def _sections(self) -> Iterator[Section]:
        yield summary_section([(each.letter, each.run, each.tasks) for each in self.runs], self.words)
        if self.comparison is not None or self.not_compared is not None:
            yield comparison_section(self.comparison, self.not_compared, self.words)
        if self.sensitivity:
            yield sensitivity_section(self.sensitivity, self.words)
        for each in self.runs:
            model = f"{each.run.model.provider}/{each.run.model.name}"
            title = self.words("of_run", letter=each.letter, model=model)
            yield Section(f"run-{each.letter}", 2, title, tuple(self._of_run(each)))
            for task in each.tasks:
                yield from task_sections(
                    TaskPage(
                        run=each.run, letter=each.letter, task=task, words=self.words, examples=self.examples
                    )
                )
        for each in self.runs:
            title = self.words("card", run=each.run.id)
            yield Section(f"card-{each.letter}", 2, title, tuple(self._card(each.card)))

    def _of_run(self, each: RunReport) -> Iterator[Block]:
        run = each.run
        if each.faults:
            yield Paragraph(self.words("invalid_run", run=run.id), "bad")
        elif all(task.record.summary for task in each.tasks):
            yield Paragraph(self.words("valid_run", run=run.id), "good")
        if run.state is not RunState.COMPLETE:
            yield Paragraph(self.words("state_note", run=run.id, state=run.state.value), "bad")
        values = (run.id, run.state.value, to_the_second(run.created), to_the_second(run.updated))
        yield Table(
            caption=self.words("run"),
            columns=tuple(self.words(name) for name in ("run", "state", "started", "updated")),
            rows=(values,),
        )

    def _card(self, card: Card) -> Iterator[Table]:
        for title, fields in card.sections.items():
            yield Table(
                caption=title,
                columns=(self.words("field"), self.words("value")),
                rows=tuple((name, shown_value(value)) for name, value in fields.items()),
                english=True,
                folded=True,
            )


def make_report(
    *runs: EvaluatedRun,
    language: str = "en",
    examples: int = EXAMPLES,
    audits: Mapping[str, Mapping[str, ExtractionAudit]] | None = None,
    corpus_audits: Mapping[str, CorpusAudit] | None = None,
) -> Report:
    """Reads runs once and makes their report; no model is asked.

    Args:
        runs: one or more, each with its store; two or more are compared with the first.
        language: `en` or `zh`.
        examples: most examples of each group: right, wrong, and every other status.
        audits: run id → task → extraction audit, for the cards.
        corpus_audits: task → what a corpus holds of its items (`page.contamination.read_audit`).

    Raises:
        StoreError: a store cannot be read.
        UsageError: no run, one run twice, a language that there is not, a negative number of examples.
    """
    spoken = words(language)
    if not runs:
        raise UsageError("no run to report: give one or more")
    ids = [run.id for run in runs]
    if twice := [run for run in ids if ids.count(run) > 1]:
        raise UsageError(f"run {twice[0]} is given twice: name each run once")
    if examples < 0:
        raise UsageError(f"examples {examples} cannot be used: give 0 or more")
    count = max(sum(len(run.record.tasks) for run in runs), 1)
    choices = _Choices(examples, BUDGET // count, audits or {}, corpus_audits or {})
    comparison, reason = _compared(runs)
    return Report(
        runs=tuple(_run_report(run, letter(place), choices) for place, run in enumerate(runs)),
        comparison=comparison,
        not_compared=reason,
        sensitivity=prompt_sensitivity(
            [(letter(place), run) for place, run in enumerate(runs)], _level(runs[0])
        ),
        words=spoken,
        examples=examples,
        made=to_the_second(now()),
    )


@dataclass(frozen=True)
class _Choices:
    """What every task of a report is given."""

    examples: int
    budget: int
    """Bytes of the examples of one task."""
    audits: Mapping[str, Mapping[str, ExtractionAudit]]
    corpus_audits: Mapping[str, CorpusAudit]


def _run_report(run: EvaluatedRun, sign: str, choices: _Choices) -> RunReport:
    level = _level(run)
    tasks = tuple(
        gather(
            run,
            task,
            examples=choices.examples,
            budget=choices.budget,
            level=level,
            audit=choices.corpus_audits.get(task.task),
        )
        for task in run.record.tasks
    )
    faults = [f"{task.record.task}: {fault}" for task in tasks for fault in task.faults]
    card = make_card(
        run.record,
        audits=choices.audits.get(run.id),
        faults=faults,
        contamination={task.record.task: _told(task.contamination) for task in tasks if task.contamination},
    )
    return RunReport(letter=sign, run=run.record, tasks=tasks, card=card)


def _level(run: EvaluatedRun) -> float:
    """Of the run's own intervals."""
    told = run.record.options.get("level")
    return float(told) if isinstance(told, (int, float)) and 0 < told < 1 else 0.95


def _told(found: Contamination) -> str:
    """An audit of a corpus in one line of a card."""
    counts = ", ".join(f"{row.items} {row.kind.value}" for row in found.rows if row.items)
    unknown = f", {found.unknown} not looked for" if found.unknown else ""
    audit = found.audit
    return f"documents {audit.documents}, {audit.n}-grams of {audit.unit}: {counts or 'no item'}{unknown}"


def _compared(runs: Sequence[EvaluatedRun]) -> tuple[Comparison | None, str | None]:
    """The comparison of several runs, or why they have none."""
    if len(runs) < 2:  # noqa: PLR2004 - a comparison
        return None, None
    try:
        return compare(*runs), None
    except UsageError as error:
        return None, str(error)


def _plain_run(each: RunReport) -> dict[str, Any]:
    run = each.run
    return {
        "letter": each.letter,
        "run": run.id,
        "model": f"{run.model.provider}/{run.model.name}",
        "state": run.state.value,
        "created": run.created,
        "updated": run.updated,
        "protocol": run.options.get("protocol_digest"),
        "valid": not each.faults,
        "tasks": [_plain_task(task) for task in each.tasks],
        "card": each.card.plain(),
    }


def _plain_task(task: TaskReport) -> dict[str, Any]:
    return {
        "task": task.record.task,
        "protocol": task.record.protocol,
        "planned": task.record.planned,
        "graded": task.graded,
        "score": task.score,
        "estimates": task.estimates,
        "slices": task.slices,
        "noise_floor": noise_floor_of(task.record),
        "statuses": dict(task.statuses),
        "counted": task.counted,
        "lengths": task.lengths,
        "reliability": task.reliability,
        "risk_coverage": task.risk,
        "positions": task.positions,
        "reasons": task.reasons,
        "rules": task.rules,
        "executions": task.executions,
        "contamination": "not checked" if task.contamination is None else task.contamination.plain(),
        "groups": task.groups,
        "examples": task.examples,
        "examples_cut": task.examples_cut,
        "faults": task.faults,
        "notes": task.notes,
    }
