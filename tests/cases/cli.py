"""The command line: labels, limits, lists, and what happens where nothing is named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from probatum.cli.run import command as run_command
from probatum.core.listed import whole_numbers
from probatum.core.names import label_of_path
from probatum.runner.limits import parse_limit, task_names
from probatum.runner.resolution import resolve_tasks
from tests.cases.frame import Given, Said, agree, begins, operation, refusal


@operation("label_from_path")
def label_from_path(given: Given) -> list[Any]:
    return [refusal(lambda path=path: label_of_path(path)) for path in given["paths"]]


def limit_words(limit: float | None) -> str:
    """A limit as right values write it: "50%", "1 item", "7 items"."""
    if limit is None:
        return "100%"
    if isinstance(limit, float):
        return f"{100 * limit:g}%"
    return f"{limit} item" if limit == 1 else f"{limit} items"


@operation("parse_limit")
def limits(given: Given) -> Any:
    def one(value: Any) -> Any:
        found = refusal(lambda: limit_words(parse_limit(value)))
        return "error" if isinstance(found, Said) else found

    return [one(value) for value in given["values"]] if "values" in given else one(given["value"])


def tasks_agree(ours: Any, expected: Any) -> bool:
    """The names; where the right value is an error, that the names are refused, with a near one offered."""
    if not isinstance(expected, str):
        return agree(ours, expected)
    told = ours if isinstance(ours, Said) else refusal(lambda: resolve_tasks(ours))
    near = re.findall(r"'(\w+)'", expected)
    return isinstance(told, Said) and begins(expected, "error") and all(name in told.detail for name in near)


@operation("parse_tasks", agrees=tasks_agree)
def parse_tasks(given: Given) -> Any:
    """The arguments through the command's own parser; names are looked up where the case lists what there is."""
    try:
        context = run_command.make_context("run", list(given["argv"]))
    except click.ClickException as error:
        return Said("error", error.format_message())
    with context:
        return task_names([*context.params["tasks"], *context.params["more_tasks"]])


@operation("parse_ks")
def parse_ks(given: Given) -> Any:
    return [refusal(lambda value=value: whole_numbers(value)) for value in given["values"]]


def told_without_a_call(ours: dict[str, Any], expected: Any) -> bool:
    """One line on stderr, no model call, and an exit status that says so.

    The right value asks for status 2, by policy; ours is 1 for whatever the user can mend (docs/design.md §5).
    """
    wanted = re.search(r"exit code (\d+)", str(expected))
    failing = wanted is None or (ours["status"] != 0) is (wanted[1] != "0")
    calls = "no model call" not in str(expected) or not ours["store"]
    return failing and calls and ("usage" not in str(expected) or bool(ours["stderr"].strip()))


VERBS = {"eval": "run", "evaluate": "run", "ls": "tasks"}
"""A neutral verb → ours."""


@operation("cli", agrees=told_without_a_call)
def cli(given: Given) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "probatum", *(VERBS.get(word, word) for word in given["argv"])],
            cwd=folder, capture_output=True, text=True, check=False, timeout=120,
            env={**os.environ, "PROBATUM_STORE": ""},
        )  # fmt: skip
        store = any(Path(folder).iterdir())
    return {"status": done.returncode, "stderr": done.stderr, "stdout": done.stdout, "store": store}
