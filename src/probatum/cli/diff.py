"""`probatum diff`: why do two scores differ?"""

from __future__ import annotations

import json
from collections.abc import Mapping

import click
from rich.cells import cell_len

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line, printable
from probatum.core.strictjson import strict_json
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import Explanation, Path, Step, explain, find_runs
from probatum.store import open_store

__all__ = ["command"]

WIDE = 100
"""Characters of a value that a line shows; `--json` has all."""


@click.command(name="diff")
@click.argument("a")
@click.argument("b")
@click.option("--task", "tasks", multiple=True, help="This task alone; repeatable.  [default: all common]")
@click.option("--score", help="Which score.  [default: that of the task's first metric]")
@click.option("--level", type=float, default=0.95, help="Confidence level.  [default: 0.95]")
@store_option
@json_option
def command(
    a: str, b: str, tasks: tuple[str, ...], score: str | None, level: float, store: str | None, as_json: bool
) -> int:
    """Say why run B scores otherwise than run A: the first thing that differs, and how much each explains.

    Exit status: 0 explained; 1 an error to mend; 3 a run breaks an invariant, and has no score to explain.
    """
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        first, second = (EvaluatedRun(run, opened) for run in find_runs(opened, (a, b), tasks))
        found = explain(first, second, task=tasks or None, score=score, level=level)
    finally:
        opened.close()
    status = 3 if any(one.faults for one in found) else 0
    if as_json:
        print_json({"a": first.id, "b": second.id, "tasks": [one.plain() for one in found]})
        return status
    for name, run in (("A", first), ("B", second)):
        print_line(f"{name}  {run.id}  {run.record.model.provider}/{run.record.model.name}")
    for one in found:
        print_line("")
        _print(one)
    return status


def _print(found: Explanation) -> None:
    shown = [
        "nothing" if value is None else f"{value:{form}}"
        for value, form in ((found.mean_a, ".4f"), (found.mean_b, ".4f"), (found.difference, "+.4f"))
    ]
    print_line(f"{found.task}, {found.score}: A {shown[0]}, B {shown[1]}, B - A {shown[2]}")
    for fault in found.faults:
        print_line(f"  ! {fault}")
    first = found.first
    print_line(f"  differs first in: {'nothing' if first is None else first.name}")
    for step in found.steps:
        _print_step(step)
    if found.recipe:
        print_line("  fields of recipe and model that differ:")
        for difference in found.recipe:
            print_line(f"    {difference}")
    if found.path is not None:
        _print_path(found.path, found.level)
    for note in found.notes:
        print_line(f"  note: {note}")


def _print_step(step: Step) -> None:
    if step.same:
        unknown = step.detail.startswith("unknown")
        print_line(
            f"    {step.name}: {step.detail}" if unknown else f"    {step.name}: the same ({step.detail})"
        )
        return
    print_line(f"  ! {step.name}: {step.detail}")
    if isinstance(step.a, Mapping) and isinstance(step.b, Mapping):
        for name in dict.fromkeys([*step.a, *step.b]):
            print_line(f"      {name}: A {_line(step.a.get(name))}, B {_line(step.b.get(name))}")
        return
    for sign, value in (("A", step.a), ("B", step.b)):
        print_line(f"      {sign}: {_line(value)}")
    if step.caret is not None and isinstance(step.a, str):
        print_line(f"         {' ' * _width(step.a[: step.caret])}^")


def _line(value: object) -> str:
    text = json.dumps(strict_json(value), ensure_ascii=False)
    return text if len(text) <= WIDE else f"{text[:WIDE]}…"


def _width(text: str) -> int:
    """Columns that the beginning of an excerpt takes, the quotation mark in front of it included."""
    return cell_len(printable(json.dumps(text, ensure_ascii=False)[:-1]))


def _print_path(path: Path, level: float) -> None:
    """From A's score to B's: what each change adds, and the score after it."""
    start, *steps = path.stages
    print_line(f"  parts of B - A, one change at a time ({100 * level:g}% intervals):")
    print_line(f"    {start.score:.4f}  A")
    for stage in steps:
        many = "item" if stage.items == 1 else "items"
        limits = "" if stage.low is None or stage.high is None else f" [{stage.low:+.4f}, {stage.high:+.4f}]"
        print_line(f"    {stage.score:.4f}  {stage.change:+.4f}{limits}  {stage.name} ({stage.items} {many})")
    end = steps[-1].score if steps else start.score
    print_line(f"    {end:.4f}  B; the changes add up, with a rest of {path.rest:.1g}")
    for note in path.notes:
        print_line(f"    note: {note}")
