"""`probatum grade`: answers that were made elsewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from probatum.cli.options import DEFAULT_STORE, data_option, json_option, quiet_option, store_option
from probatum.cli.output import print_json
from probatum.cli.progress import shown_progress
from probatum.cli.samples import sample_file
from probatum.cli.tables import print_run
from probatum.core.errors import UsageError
from probatum.runner import Options, grade
from probatum.runner.resolution import resolve_tasks

__all__ = ["command"]


@click.command(name="grade")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--task",
    required=True,
    help="The benchmark of the answers, or a file of your own; several that ask the same by commas.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Items of your own, in place of the benchmark's."
)
@data_option
@click.option("--workers", type=int, help="Programs run at the same time.  [default: cores]")
@click.option("--cpu-seconds", type=float, help="CPU time of a program.  [default: 10 × its reference's]")
@click.option("--level", type=float, default=0.95, help="Confidence level of the intervals.  [default: 0.95]")
@click.option(
    "--stop",
    multiple=True,
    help=r"Cut completions at this string, where whoever made them did not; \n is a newline; repeatable.",
)
@click.option(
    "--samples-out", type=click.Path(path_type=Path), help="One JSON line a sample, in the file's order."
)
@click.option("--deduplicate/--no-deduplicate", default=True, help="Execute equal programs once.")
@click.option(
    "--allow-code-execution", is_flag=True, help="Implied: this command does nothing else with code."
)
@store_option
@json_option
@quiet_option
def command(
    file: Path,
    task: str,
    data: Path | None,
    data_directory: Path | None,
    workers: int | None,
    cpu_seconds: float | None,
    level: float,
    stop: tuple[str, ...],
    samples_out: Path | None,
    deduplicate: bool,
    allow_code_execution: bool,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Grade the answers in FILE: JSON lines or a folder of HumanEval or EvalPlus, bigcode's JSON, or our own.

    Code in FILE is executed, in the sandbox. Items that FILE does not answer stay in the count, as missing.
    """
    del allow_code_execution
    if "" in stop:
        raise UsageError("--stop is empty, which every text begins with; give a string, or leave it out")
    options = Options(
        level=level,
        workers=workers,
        cpu_seconds=cpu_seconds,
        data_directory=data_directory,
        allow_code_execution=True,
        deduplicate=deduplicate,
    )
    found = resolve_tasks(task)
    with sample_file(samples_out) as write_samples:
        with shown_progress(enabled=not quiet and not as_json and sys.stderr.isatty()) as progress:
            run, held = grade(
                file,
                found,
                store=store or DEFAULT_STORE,
                data=data,
                stop=[unescaped(one) for one in stop],
                options=options,
                progress=progress,
            )
        try:
            write_samples(run, held.order)
        finally:
            run.store.close()
    if as_json:
        print_json({**run.plain(), "cost": progress.plain()})
    else:
        print_run(run, progress)
    return 0 if run.complete and run.valid else 3


def unescaped(text: str) -> str:
    """A string as a shell hands it over, with newline, tab and backslash written as Python writes them."""
    return re.sub(r"\\([nt\\])", lambda match: {"n": "\n", "t": "\t"}.get(match[1], "\\"), text)
