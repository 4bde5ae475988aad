"""`probatum gate`: a check of continuous integration, with an interval instead of a threshold on a point."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, Final

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line, write_text
from probatum.core.errors import ProbatumError, UsageError
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import Gate, GateVerdict, find_runs, gate
from probatum.store import open_store

__all__ = ["command", "junit"]

STATUS: Final = {GateVerdict.PASS: 0, GateVerdict.FAIL: 1, GateVerdict.CANNOT_TELL: 3}


class GateUsageError(UsageError):
    """The gate was not asked properly: 1 says that a run failed it, and so this is 2."""

    exit_status = 2


class GateCommand(click.Command):
    """A command whose errors end with 2."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """As click does."""
        try:
            return super().make_context(*arguments, **extra)
        except click.ClickException as error:
            raise GateUsageError(error.format_message()) from None

    def invoke(self, ctx: click.Context) -> Any:
        """As click does."""
        try:
            return super().invoke(ctx)
        except ProbatumError as error:
            raise GateUsageError(str(error)) from None


@click.command(name="gate", cls=GateCommand)
@click.argument("run")
@click.option("--baseline", required=True, help="The run that RUN is held against.")
@click.option("--max-drop", type=float, required=True, help="The loss that would matter, such as 0.01.")
@click.option("--task", "tasks", multiple=True, help="This task alone; repeatable.  [default: all common]")
@click.option("--score", help="Which score.  [default: that of the task's first metric]")
@click.option("--level", type=float, default=0.95, help="Confidence of the claim.  [default: 0.95]")
@click.option("--anyway", is_flag=True, help="Also for runs that are not comparable.")
@click.option(
    "--junit", "junit_file", type=click.Path(path_type=Path), help="Write JUnit XML to this file, too."
)
@store_option
@json_option
def command(
    run: str,
    baseline: str,
    max_drop: float,
    tasks: tuple[str, ...],
    score: str | None,
    level: float,
    anyway: bool,
    junit_file: Path | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Let RUN through if it is shown to be no worse than the baseline by --max-drop or more.

    Exit status: 0 pass; 1 fail: a larger drop is shown; 2 an error to mend; 3 neither is shown.
    """
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        first, second = find_runs(opened, (run, baseline), tasks)
        found = gate(
            EvaluatedRun(first, opened),
            EvaluatedRun(second, opened),
            max_drop,
            task=tasks or None,
            score=score,
            level=level,
            anyway=anyway,
        )
    finally:
        opened.close()
    if junit_file is not None:
        write_text(junit_file, junit(found))
    if as_json:
        print_json(found.plain())
    else:
        _print(found)
    return STATUS[found.verdict]


def _print(found: Gate) -> None:
    print_line(f"{found.verdict.value}: run {found.run} (B) against baseline {found.baseline} (A)")
    for task in found.tasks:
        print_line(f"  {task.task}: {task.verdict.value}, {task.reason}")
        if task.difference is not None and task.low is not None and task.high is not None:
            limits = f"above {task.low:+.4f} and below {task.high:+.4f}"
            sure = f"each with {100 * found.level:g}% confidence"
            print_line(f"    run - baseline {task.difference:+.4f}; {limits}, {sure}")
        for note in task.pair.notes:
            print_line(f"    note: {note}")


def junit(found: Gate) -> str:
    """The gate as JUnit XML: a test case a task; `failure` is fail, `error` is cannot tell."""
    verdicts = [task.verdict for task in found.tasks]
    suite = ET.Element(
        "testsuite",
        name="probatum gate",
        tests=str(len(verdicts)),
        failures=str(verdicts.count(GateVerdict.FAIL)),
        errors=str(verdicts.count(GateVerdict.CANNOT_TELL)),
        skipped="0",
    )
    for task in found.tasks:
        case = ET.SubElement(
            suite, "testcase", classname=f"{found.run} against {found.baseline}", name=_plain(task.task)
        )
        if task.verdict is not GateVerdict.PASS:
            kind = "failure" if task.verdict is GateVerdict.FAIL else "error"
            told = ET.SubElement(case, kind, type=task.verdict.value, message=_plain(task.reason))
            notes = ("A is the baseline, B the run", *task.pair.notes) if task.pair.notes else ()
            told.text = _plain("\n".join(notes)) or None
        out = ET.SubElement(case, "system-out")
        out.text = f"difference {task.difference} low {task.low} high {task.high} max_drop {found.max_drop}"
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _plain(text: str) -> str:
    """Without what XML 1.0 cannot hold."""
    return "".join(sign if sign.isprintable() or sign == "\n" else f"\\u{ord(sign):04x}" for sign in text)
