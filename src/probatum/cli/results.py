"""`probatum results`: what a store holds."""

from __future__ import annotations

from collections.abc import Sequence

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json
from probatum.cli.tables import console, print_run, print_table
from probatum.core.errors import UsageError
from probatum.core.figures import figure
from probatum.core.moments import to_the_second
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import Leaderboard, Ranked, find_run, leaderboards
from probatum.runner.result import task_estimates
from probatum.store import open_store

__all__ = ["command"]


@click.command(name="results")
@click.argument("run", required=False)
@click.option("--ranked", is_flag=True, help="Rank the models of each task, ties as groups.")
@click.option("--task", "tasks", multiple=True, help="Rank this task alone; repeatable.")
@store_option
@json_option
def command(run: str | None, ranked: bool, tasks: tuple[str, ...], store: str | None, as_json: bool) -> int:
    """List the runs of a store, show RUN (an id, its beginning, `latest`, or a model), or rank all models.

    Exit status 3: a run breaks an invariant, and its numbers must not be used; it is marked INVALID.
    """
    if tasks and not ranked:
        raise UsageError(f"--task {tasks[0]!r} says what to rank; add --ranked")
    if ranked and run is not None:
        raise UsageError(f"--ranked ranks all runs of the store, and {run!r} is one; leave either out")
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        if ranked:
            return _print_boards([EvaluatedRun(one, opened) for one in opened.runs()], tasks, as_json=as_json)
        if run is not None:
            found = EvaluatedRun(find_run(opened, run), opened)
            if as_json:
                print_json(found.plain())
            else:
                print_run(found)
            return 0 if found.valid else 3
        runs = [EvaluatedRun(one, opened) for one in opened.runs()]
        if as_json:
            print_json({"runs": [one.plain() for one in runs]})
        else:
            _print_runs(runs)
        return 0 if all(one.valid for one in runs) else 3
    finally:
        opened.close()


def _print_boards(runs: Sequence[EvaluatedRun], tasks: Sequence[str], *, as_json: bool) -> int:
    found = leaderboards([run for run in runs if run.valid], tasks=tasks)
    invalid = {run.id: list(run.faults) for run in runs if not run.valid}
    status = 3 if invalid else 0
    if as_json:
        print_json({"leaderboards": [each.plain() for each in found], "invalid": invalid})
        return status
    out = console()
    for name, faults in invalid.items():
        out.print(f"left out: run {name} is INVALID: {'; '.join(faults)}", markup=False, highlight=False)
    for board in found:
        out.print(_headline(board), markup=False, highlight=False)
        models = dict(board.models)
        ranking = board.ranking
        rows = [[run, model, "-", _alone(runs, run, board.task)] for run, model in board.models]
        if ranking is not None:
            rows = [[row.run, models[row.run], _ranks(row), f"{row.mean:.4f}"] for row in ranking.rows]
        print_table(out, ("run", "model", "rank", "value" if ranking is None else ranking.score), rows)
        if ranking is not None:
            groups = "; ".join(", ".join(models[run] for run in group) for group in ranking.groups)
            out.print(f"not told apart: {groups}", markup=False, highlight=False)
        out.print()
    if not found:
        out.print("no run of such a task is in this store", markup=False)
    return status


def _alone(runs: Sequence[EvaluatedRun], run: str, task: str) -> str:
    """The first estimate of a run that is ranked with no other."""
    record = next(one.record for one in runs if one.id == run)
    estimates = next((task_estimates(one) for one in record.tasks if one.task == task), ())
    first = next((one for one in estimates if one.value is not None), None)
    return "-" if first is None or first.value is None else f"{first.name} {figure(first.value)}"


def _headline(board: Leaderboard) -> str:
    parts = [f"{board.task}, protocol {board.protocol[:12]}"]
    if board.ranking is not None:
        level = f"{100 * board.ranking.level:g}%"
        parts.append(f"{board.ranking.n} items that all have; ranks with {level} confidence, all at once")
    if board.apart is not None:
        parts.append(f"apart: {board.apart}")
    if board.older:
        parts.append(f"{board.older} older runs left out")
    return "; ".join(parts)


def _ranks(row: Ranked) -> str:
    return str(row.low) if row.low == row.high else f"{row.low} … {row.high}"


def _print_runs(runs: Sequence[EvaluatedRun]) -> None:
    if not runs:
        console().print("no run is in this store yet; `probatum run mini --model …` makes one")
        return
    rows = []
    for each in runs:
        run = each.record
        state = run.state.value if each.valid else "INVALID"
        for task in run.tasks:
            first = [run.id, to_the_second(run.updated), state, f"{run.model.provider}/{run.model.name}"]
            estimate = next(iter(task_estimates(task)), None)
            cells = ["-", "-", "-"]
            if estimate is not None and estimate.value is not None:
                interval = "-"
                if estimate.low is not None and estimate.high is not None:
                    interval = f"[{figure(estimate.low)}, {figure(estimate.high)}]"
                cells = [str(estimate.n), f"{estimate.name} {figure(estimate.value)}", interval]
            rows.append([*first, task.task, *cells])
    columns = ("run", "updated", "state", "model", "task", "n", "value", "interval")
    print_table(console(), columns, rows, right=("n",))
