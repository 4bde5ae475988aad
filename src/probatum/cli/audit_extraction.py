"""`probatum audit-extraction`: what a run's score owes to how answers were read."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.console import Console
from rich.markup import escape

from probatum.cli.options import DEFAULT_STORE, json_option, store_option, tasks_again_option
from probatum.cli.output import print_json
from probatum.cli.tables import console, print_table
from probatum.report.card import EXTRACTION_BOUNDS
from probatum.runner.audit import AuditedTask, audit_run
from probatum.runner.resolution import resolve_tasks
from probatum.scoring.audit import Example, ExtractionAudit
from probatum.store import open_store

__all__ = ["command"]

LINE = 160  # characters of a response that an example shows


@click.command(name="audit-extraction")
@click.argument("run")
@tasks_again_option
@store_option
@click.option(
    "--examples", type=click.IntRange(0, 10), default=3, help="Examples of each kind.  [default: 3]"
)
@json_option
def command(run: str, tasks: tuple[str, ...], store: str | None, examples: int, as_json: bool) -> int:
    """Read the answers of RUN again by every other rule: what may the task's own rule have lost?"""
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        record = opened.run(run)
        found = audit_run(
            record, opened, {task.name: task for task in resolve_tasks(tasks)} if tasks else None
        )
    finally:
        opened.close()
    if as_json:
        print_json({"run": record.id, "tasks": [one.plain() for one in found]})
        return 0
    out = console()
    out.print(f"run [bold]{record.id}[/]  state {record.state.value}", highlight=False)
    for one in found:
        _print(out, one, examples)
    return 0


def _print(out: Console, audited: AuditedTask, examples: int) -> None:
    audit = audited.audit
    value = "cannot tell" if audit.value is None else f"{audit.value:.4f}"
    out.print(
        f"\n[bold]{escape(audit.task)}[/]: {escape(audit.score)} {value}, "
        f"{audit.items} items, {audit.samples} samples",
        highlight=False,
    )
    for line in (*_failures(audit), *(f"note: {note}" for note in audited.notes)):
        out.print(f"  {escape(line)}", highlight=False)
    if audit.rules:
        rows = [
            [each.rule, str(each.samples), _share(each.samples, audit.samples), _number(each.value)]
            for each in audit.rules
        ]
        print_table(
            out, ("rule that decided", "samples", "share", "score"), rows, right=("samples", "share", "score")
        )
    if audit.readings:
        _print_readings(out, audit)
    if audit.value is not None:
        rows = [
            [words, _number(audit.bounds[name]), f"{audit.bounds[name] - audit.value:+.4f}"]
            for name, words in EXTRACTION_BOUNDS.items()
            if name in audit.bounds
        ]
        print_table(out, ("the score", "value", "change"), rows, right=("value", "change"))
    for kind in ("failure", "disagreement"):
        for each in [one for one in audit.examples if one.kind == kind][:examples]:
            for line in _example(each):
                out.print(escape(line), highlight=False)


def _failures(audit: ExtractionAudit) -> Iterator[str]:
    parts = [f"{name} {count} ({_share(count, audit.samples)})" for name, count in audit.statuses.items()]
    yield "  ".join(parts) or "no sample"
    yield f"no answer was read in {audit.failures} ({_share(audit.failures, audit.samples)})"
    if audit.left_out is not None:
        yield f"responses were not read again: {audit.left_out}"
    else:
        yield (
            f"marked readings differ from the task's own in {audit.disagreements} "
            f"({_share(audit.disagreements, audit.samples)})"
        )


def _print_readings(out: Console, audit: ExtractionAudit) -> None:
    rows = [
        [
            each.name,
            each.kind,
            *(str(count) for count in (each.same, each.different, each.found, each.lost, each.gained)),
            _number(each.value),
        ]
        for each in audit.readings
    ]
    columns = ("other reading", "kind", "same", "different", "found", "lost", "right now", "score")
    print_table(out, columns, rows, right=columns[2:])


def _example(each: Example) -> Iterator[str]:
    own = (
        f"read as {each.answer!r} ({each.rule})"
        if each.answer is not None
        else f"{each.status}: {each.reason}"
    )
    gold = ", ".join(map(repr, each.targets))
    yield f"{each.kind}: item {each.item_id!r}, sample {each.sample}, gold {gold}"
    yield f"  {own}"
    for name, answer in each.readings.items():
        yield f"  {name}: {answer!r}{' (right)' if name in each.right else ''}"
    yield f"  … {' '.join(each.text.split())[-LINE:]}"


def _share(count: int, whole: int) -> str:
    return f"{100 * count / whole:.1f}%" if whole else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
