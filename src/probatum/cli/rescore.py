"""`probatum rescore`: grade a run again, without a model."""

from __future__ import annotations

import os
import sys

import click

from probatum.cli.options import DEFAULT_STORE, json_option, quiet_option, store_option, tasks_again_option
from probatum.cli.output import print_json
from probatum.cli.progress import shown_progress
from probatum.cli.tables import print_run
from probatum.runner import rescore
from probatum.store import open_store

__all__ = ["command"]


@click.command(name="rescore")
@click.argument("run")
@tasks_again_option
@store_option
@click.option("--allow-code-execution", is_flag=True, help="Run code that the model wrote, in the sandbox.")
@click.option("--workers", type=int, help="Programs run at the same time.  [default: cores]")
@click.option("--level", type=float, help="Confidence level of the intervals.  [default: the run's]")
@json_option
@quiet_option
def command(
    run: str,
    tasks: tuple[str, ...],
    store: str | None,
    allow_code_execution: bool,
    workers: int | None,
    level: float | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Grade the kept answers of RUN with the scorers of today; the model is not asked."""
    allowed = allow_code_execution or os.environ.get("PROBATUM_ALLOW_CODE_EXECUTION") == "1"
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        with shown_progress(enabled=not quiet and not as_json and sys.stderr.isatty()) as progress:
            found = rescore(
                run,
                store=opened,
                tasks=tasks or None,
                allow_code_execution=allowed,
                workers=workers,
                level=level,
                progress=progress,
            )
    finally:
        opened.close()
    if as_json:
        print_json({**found.plain(), "cost": progress.plain()})
    else:
        print_run(found, progress)
    return 0 if found.complete and found.valid else 3
