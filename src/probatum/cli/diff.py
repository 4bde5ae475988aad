"""`probatum diff`: why do two scores differ?"""

from __future__ import annotations

import json

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line
from probatum.core.strictjson import strict_json
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import Explanation, Share, Step, explain, find_runs
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
    """Say why run B scores otherwise than run A: the first thing that differs, and how much each explains."""
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        first, second = (EvaluatedRun(run, opened) for run in find_runs(opened, (a, b), tasks))
        found = explain(first, second, task=tasks or None, score=score, level=level)
    finally:
        opened.close()
    if as_json:
        print_json({"a": first.id, "b": second.id, "tasks": [one.plain() for one in found]})
        return 0
    for name, run in (("A", first), ("B", second)):
        print_line(f"{name}  {run.id}  {run.record.model.provider}/{run.record.model.name}")
    for one in found:
        print_line("")
        _print(one)
    return 0


def _print(found: Explanation) -> None:
    shown = [
        "nothing" if value is None else f"{value:{form}}"
        for value, form in ((found.mean_a, ".4f"), (found.mean_b, ".4f"), (found.difference, "+.4f"))
    ]
    print_line(f"{found.task}, {found.score}: A {shown[0]}, B {shown[1]}, B - A {shown[2]}")
    first = found.first
    print_line(f"  differs first in: {'nothing' if first is None else first.name}")
    for step in found.steps:
        _print_step(step)
    if found.recipe:
        print_line("  fields of recipe and model that differ:")
        for difference in found.recipe:
            print_line(f"    {difference}")
    if found.shares:
        print_line(f"  parts of B - A ({100 * found.level:g}% intervals):")
        for share in found.shares:
            print_line(f"    {_share(share)}")
    for note in found.notes:
        print_line(f"  note: {note}")


def _print_step(step: Step) -> None:
    if step.same:
        print_line(f"    {step.name}: the same ({step.detail})")
        return
    print_line(f"  ! {step.name}: {step.detail}")
    for sign, value in (("A", step.a), ("B", step.b)):
        print_line(f"      {sign}: {_line(value)}")


def _line(value: object) -> str:
    text = json.dumps(strict_json(value), ensure_ascii=False)
    return text if len(text) <= WIDE else f"{text[:WIDE]}…"


def _share(share: Share) -> str:
    limits = "" if share.low is None or share.high is None else f"  [{share.low:+.4f}, {share.high:+.4f}]"
    return f"{share.value:+.4f}{limits}  {share.of} ({share.items} items)"
