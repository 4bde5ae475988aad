"""`probatum results`: what a store holds."""

from __future__ import annotations

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json
from probatum.cli.tables import console, print_run, print_table
from probatum.core.run import Run
from probatum.runner import EvaluatedRun
from probatum.runner.result import task_estimates
from probatum.store import open_store

__all__ = ["command"]


@click.command(name="results")
@click.argument("run", required=False)
@store_option
@json_option
def command(run: str | None, store: str | None, as_json: bool) -> int:
    """List the runs of a store, or show RUN (the beginning of its id, or `latest`)."""
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        if run is not None:
            found = EvaluatedRun(opened.run(run), opened)
            if as_json:
                print_json(found.plain())
            else:
                print_run(found)
            return 0
        runs = opened.runs()
        if as_json:
            print_json({"runs": [EvaluatedRun(one, opened).plain() for one in runs]})
        else:
            _print_runs(runs)
        return 0
    finally:
        opened.close()


def _print_runs(runs: list[Run]) -> None:
    if not runs:
        console().print("no run is in this store yet; `probatum run mini --model …` makes one")
        return
    rows = []
    for run in runs:
        for task in run.tasks:
            first = [run.id, run.updated, run.state.value, f"{run.model.provider}/{run.model.name}"]
            estimate = next(iter(task_estimates(task)), None)
            cells = ["-", "-", "-"]
            if estimate is not None and estimate.value is not None:
                interval = "-"
                if estimate.low is not None and estimate.high is not None:
                    interval = f"[{estimate.low:.4f}, {estimate.high:.4f}]"
                cells = [str(estimate.n), f"{estimate.name} {estimate.value:.4f}", interval]
            rows.append([*first, task.task, *cells])
    columns = ("run", "updated", "state", "model", "task", "n", "value", "interval")
    print_table(console(), columns, rows, right=("n",))
