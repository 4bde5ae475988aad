"""`probatum validate`: a benchmark's own answers through the path that a model's answers take."""

from __future__ import annotations

from pathlib import Path

import click

from probatum.cli.options import data_option, json_option
from probatum.cli.output import print_json
from probatum.core.errors import UsageError
from probatum.runner import Validation, validate
from probatum.runner.resolution import resolve_tasks

__all__ = ["command"]

SHOWN = 20  # faults and findings printed of each task; --json has all


@click.command(name="validate")
@click.argument("tasks", nargs=-1)
@data_option
@click.option("--workers", type=int, help="Programs run at the same time.  [default: cores]")
@json_option
def command(tasks: tuple[str, ...], data_directory: Path | None, workers: int | None, as_json: bool) -> int:
    """Check that gold answers score 1 and known-bad ones 0, and lint the items. No model is asked.

    TASKS are names, or files of your own: path/to/task.py, path/to/task.py:NAME, path/to/task.toml.

    Programs that run here are the benchmark's own reference solutions, in the sandbox.
    """
    if not tasks:
        raise UsageError("no task is named; `probatum tasks` lists what there is")
    found = [validate(task, data_directory=data_directory, workers=workers) for task in resolve_tasks(tasks)]
    if as_json:
        print_json({"tasks": [one.plain() for one in found], "passed": all(one.passed for one in found)})
    else:
        for one in found:
            _print(one)
    return 0 if all(one.passed for one in found) else 1


def _print(found: Validation) -> None:
    verdict = "sound" if found.passed else "NOT sound"
    scored = found.items - len(found.known_broken)
    if not found.compared:
        click.echo(f"{found.task}: {verdict}. {scored} texts; no answers to compare")
        return
    click.echo(
        f"{found.task}: {verdict}. {found.gold_right}/{scored} gold answers score 1, "
        f"{found.wrong_right}/{scored} known-bad answers score 0"
        + (f" (executed under {found.isolation})" if found.isolation else "")
    )
    for name, reason in list(found.invalid.items())[:SHOWN]:
        known = "known to be broken, and in no rate" if name in found.known_broken else "broken item"
        click.echo(f"  {known}: {name!r}: {reason}")
    for fault in found.faults[:SHOWN]:
        click.echo(
            f"  {fault.answer} answer of {fault.item_id!r}: {fault.status} ({fault.reason or 'no reason'})"
        )
    for finding in found.findings[:SHOWN]:
        click.echo(f"  {finding.kind} {finding.item_id!r}: {finding.detail}")
    hidden = sum(max(0, len(part) - SHOWN) for part in (found.invalid, found.faults, found.findings))
    if hidden:
        click.echo(f"  … and {hidden} more; --json lists all")
