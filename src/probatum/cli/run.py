"""`probatum run`: tasks on a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from probatum.cli.configuration import RunFile, read_run_file
from probatum.cli.options import DEFAULT_STORE, data_option, quiet_option, settings_option, store_option
from probatum.cli.output import print_json
from probatum.cli.progress import shown_progress
from probatum.cli.samples import sample_file
from probatum.cli.tables import print_run
from probatum.core.errors import UsageError
from probatum.core.protocol import FORMS
from probatum.runner import evaluate
from probatum.runner.limits import MOST_ITEMS, parse_limit

__all__ = ["command"]

CONSENT = "PROBATUM_ALLOW_CODE_EXECUTION"


class LimitType(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """A count of items, a share below 1, or a percentage."""

    name = "N|SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The limit; all of the items are more than any set has."""
        try:
            limit = parse_limit(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)
        return MOST_ITEMS if limit is None else limit


@click.command(name="run")
@click.argument("tasks", nargs=-1)
@click.option("--tasks", "-t", "more_tasks", multiple=True, help="Tasks again, for scripts; repeatable.")
@click.option("--model", "-m", help="provider/name, such as llamacpp/gemma-3-270m or openai/NAME.")
@settings_option
@click.option("--limit", type=LimitType(), help="Only the first N items of each task, or a share (0.1, 10%).")
@click.option("--samples", type=int, help="Answers an item (with --temperature above 0).")
@click.option("--temperature", type=float, help="0 is greedy.")
@click.option("--top-p", type=float, help="Only the likeliest tokens that make up this share; 1 is all.")
@click.option("--top-k", type=int, help="Only so many of the likeliest tokens; 0 is all.")
@click.option("--max-tokens", type=int, help="Longest answer, in tokens.")
@click.option("--shots", type=int, help="Few-shot examples shown.")
@click.option("--form", type=click.Choice(FORMS), help="How to ask; the task's own order where several can.")
@click.option("--rotate", is_flag=True, help="Ask each question in every cyclic order of its options.")
@click.option("--compat", type=click.Choice(["lm_eval"]), help="Score likelihoods by its rules.")
@click.option("--system", help="System prompt (chat only).")
@click.option("--seed", type=int, help="Seed that all others are derived from.  [default: 0]")
@click.option("--level", type=float, help="Confidence level of the intervals.  [default: 0.95]")
@click.option("--minimum-answered", type=float, help="Below it the run is incomplete.  [default: 0.99]")
@click.option(
    "--repeat-share", type=float, help="Share of the samples to ask twice: the noise floor.  [default: 0]"
)
@click.option("--allow-code-execution", is_flag=True, help="Run code that the model writes, in the sandbox.")
@click.option("--workers", type=int, help="Programs run at the same time.  [default: cores]")
@click.option("--cpu-seconds", type=float, help="CPU time of a program.  [default: 10 × its reference's]")
@data_option
@click.option(
    "--config", type=click.Path(path_type=Path), help="A TOML file; what is given here comes first."
)
@click.option("--samples-out", type=click.Path(path_type=Path), help="One JSON line a sample.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else.")
@quiet_option
def command(
    tasks: tuple[str, ...], model: str | None, config: Path | None, as_json: bool, quiet: bool, **given: Any
) -> int:
    """Run TASKS (by commas or blanks) on a model, and keep everything.

    A task is a name that `probatum tasks` lists, or a file of your own: path/to/task.py,
    path/to/task.py:NAME or path/to/task.toml.

    The same command started again asks only for what is missing.
    """
    file = read_run_file(config) if config is not None else RunFile()
    named = [one for one in (*tasks, *given.pop("more_tasks")) if one.strip(", ")]
    named = named or list(file.tasks)
    model = model or file.model
    if not named:
        raise UsageError("no task is named; `probatum tasks` lists what there is")
    if not model:
        raise UsageError("no model is named; give --model provider/name, such as llamacpp/gemma-3-270m")
    samples_out = given.pop("samples_out")
    store = given.pop("store") or file.store or DEFAULT_STORE
    choices = {**file.choices(), **_choices(given)}
    choices["settings"] = {**file.settings, **given["settings"]}
    if os.environ.get(CONSENT) == "1":
        choices["allow_code_execution"] = True
    return _evaluate(named, model, store, choices, samples_out=samples_out, as_json=as_json, quiet=quiet)


def _choices(given: dict[str, Any]) -> dict[str, Any]:
    """What was said on the command line; what was not is left to the file, then to the task."""
    choices = {name: value for name, value in given.items() if value is not None and name != "settings"}
    if not choices.pop("allow_code_execution", False):
        choices.pop("allow_code_execution", None)
    else:
        choices["allow_code_execution"] = True
    if not choices.get("rotate"):
        choices.pop("rotate", None)
    return choices


def _evaluate(
    tasks: Sequence[str],
    model: str,
    store: str,
    choices: dict[str, Any],
    *,
    samples_out: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    with sample_file(samples_out) as write_samples:
        with shown_progress(enabled=not quiet and not as_json and sys.stderr.isatty()) as progress:
            run = evaluate(tasks, model=model, store=store, progress=progress, **choices)
        try:
            write_samples(run)
        finally:
            run.store.close()
    if as_json:
        print_json({**run.plain(), "cost": progress.plain()})
    else:
        print_run(run, progress)
    return 0 if run.complete and run.valid else 3
