"""`probatum tasks`: the benchmarks."""

from __future__ import annotations

from typing import Any

import click
from rich.markup import escape

from probatum.benchmarks import find_task, task_names
from probatum.cli.options import json_option
from probatum.cli.output import print_json
from probatum.cli.tables import console, print_table
from probatum.core.canonical import canonical, digest
from probatum.core.protocol import Task
from probatum.runner.resolution import resolve_tasks

__all__ = ["command"]


@click.command(name="tasks")
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> int:
    """List the benchmarks, or describe TASK: a benchmark, or those of a file of your own."""
    if task is not None:
        found = resolve_tasks(task)
        if as_json:
            described = [{**_plain(one), "recipe": canonical(one)} for one in found]
            print_json(described[0] if len(described) == 1 else {"tasks": described})
        else:
            for place, one in enumerate(found):
                click.echo("\n" * bool(place), nl=False)
                _print_task(one)
        return 0
    found_tasks = [find_task(name) for name in task_names()]
    if as_json:
        print_json({"tasks": [_plain(one) for one in found_tasks]})
        return 0
    rows = []
    for one in found_tasks:
        plain = _plain(one)
        chance = "-" if one.chance is None else f"{one.chance:.4f}"
        executes = "executes" if one.executes_code else "-"
        rows.append([one.name, str(one.version), ", ".join(plain["forms"]), executes, chance, one.summary])
    print_table(
        console(), ("task", "version", "forms", "code", "chance", "summary"), rows, right=("version",)
    )
    return 0


def _plain(task: Task) -> dict[str, Any]:
    return {
        "task": task.name,
        "version": task.version,
        "digest": digest(task),
        "summary": task.summary,
        "forms": list(task.forms),
        "executes_code": task.executes_code,
        "shots": task.shots,
        "samples": task.samples,
        "chance": task.chance,
        "unit": task.unit,
        "population": task.population,
        "languages": list(task.languages),
        "licence": task.licence,
        "citation": task.citation,
        "source": {
            "local": list(task.source.local),
            "package": task.source.package,
            "hub": None
            if task.source.hub is None
            else f"{task.source.hub.repository}@{task.source.hub.revision}",
        },
        **({} if task.file is None else {"file": task.file.plain()}),
    }


def _print_task(task: Task) -> None:
    out = console()
    for name, value in _plain(task).items():
        shown = value
        if isinstance(value, dict):
            shown = "; ".join(f"{key}: {part}" for key, part in value.items() if part)
        elif isinstance(value, list):
            shown = ", ".join(map(str, value))
        out.print(f"[bold]{name}[/]: {escape('-' if shown in (None, '') else str(shown))}", highlight=False)
