"""`probatum report`: runs as one page of HTML, Markdown, JSON or PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from probatum.cli.options import DEFAULT_STORE, store_option
from probatum.cli.output import printable, write_text
from probatum.core.errors import UsageError
from probatum.core.strictjson import strict_text
from probatum.report.page import Report, make_report
from probatum.report.page.contamination import read_audit
from probatum.report.page.messages import LANGUAGES
from probatum.report.page.printing import find_browser, print_pdf
from probatum.report.page.report import EXAMPLES
from probatum.runner import EvaluatedRun
from probatum.runner.audit import audit_run
from probatum.runner.comparing import find_run
from probatum.store import open_store

__all__ = ["command"]

FORMATS: Final = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".pdf": "pdf"}
"""Ending of a file's name → what is written."""


@click.command(name="report")
@click.argument("runs", nargs=-1, required=True)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File to write; else stdout.")
@click.option(
    "--format",
    "written_as",
    type=click.Choice(["html", "md", "json", "pdf"]),
    help="What to write.  [default: by the name of the file; html on stdout]",
)
@click.option("--language", type=click.Choice(LANGUAGES), default="en", help="Of the report.  [default: en]")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=EXAMPLES,
    help=f"Most examples of each kind: right, wrong, every other status.  [default: {EXAMPLES}]",
)
@click.option(
    "--extraction-audit/--no-extraction-audit",
    "audited",
    default=False,
    help="Read all answers again by other rules, for the card.  [default: no; 0.7 ms a sample]",
)
@click.option(
    "--contamination",
    "corpus_audit",
    type=click.Path(path_type=Path),
    help="What `probatum audit CORPUS --task T --json` wrote: scores by what the corpus holds.",
)
@store_option
def command(
    runs: tuple[str, ...],
    output: Path | None,
    written_as: str | None,
    language: str,
    examples: int,
    audited: bool,
    corpus_audit: Path | None,
    store: str | None,
) -> int:
    """Write the report of RUNS (ids or beginnings of them, `latest`, or names of models).

    Two runs or more are compared with the first. Exit status 3: a run breaks an invariant, and its numbers
    must not be used; the report says which.
    """
    kind = written_as or _kind(output)
    if kind == "pdf":
        if output is None:
            raise UsageError("a PDF is written to a file: give -o report.pdf")
        find_browser()  # before anything is read
    corpus_audits = None if corpus_audit is None else read_audit(corpus_audit)
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        found = [EvaluatedRun(find_run(opened, name), opened) for name in runs]
        audits = None
        if audited:
            audits = {
                run.id: {one.audit.task: one.audit for one in audit_run(run.record, opened)} for run in found
            }
        report = make_report(
            *found, language=language, examples=examples, audits=audits, corpus_audits=corpus_audits
        )
    finally:
        opened.close()
    _write(report, kind, output)
    if report.valid:
        return 0
    broken = [f"run {run.run.id}: {fault}" for run in report.runs for fault in run.faults]
    line = "; ".join(" ".join(fault.split()) for fault in broken)
    click.echo(printable(f"probatum: INVALID: {line}"), err=True)
    return 3


def _kind(output: Path | None) -> str:
    if output is None:
        return "html"
    if output.suffix.lower() not in FORMATS:
        raise UsageError(
            f"{str(output)!r} does not say what to write: end it with {', '.join(FORMATS)}, or give --format"
        )
    return FORMATS[output.suffix.lower()]


def _write(report: Report, kind: str, output: Path | None) -> None:
    if kind == "pdf" and output is not None:
        print_pdf(report.html(printed=True), output)
        return
    text = _text(report, kind)
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_text(output, text)


def _text(report: Report, kind: str) -> str:
    if kind == "json":
        return strict_text(report.plain(), indent=2) + "\n"
    return report.markdown() if kind == "md" else report.html()
