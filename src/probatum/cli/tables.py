"""Tables on a terminal: what is printed beside every number is what is needed to defend it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from probatum.cli.output import printable
from probatum.core.figures import figure
from probatum.core.records import Estimate
from probatum.core.run import RunState
from probatum.runner import EvaluatedRun, Progress
from probatum.runner.isolation import weakness
from probatum.runner.noise import told_noise
from probatum.runner.result import task_estimates

__all__ = ["console", "print_run", "print_table"]

COLUMNS = ("task", "metric", "n", "value", "interval", "method", "coverage", "bounds", "chance")
GAP = 2  # blanks between columns
WIDE = 132  # columns where no terminal says how many it has: in a file nothing is cut off


class Screen(Console):
    """A console that shows what would steer a terminal, rather than to obey it."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does; names and notes come from files, servers and models."""
        super().print(*(_safe(each) if isinstance(each, str) else each for each in objects), **options)


def _safe(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def console() -> Console:
    """Standard output; wide enough for a table where it is no terminal."""
    found = Screen()
    return found if found.is_terminal else Screen(width=WIDE)


def print_run(run: EvaluatedRun, progress: Progress | None = None) -> None:
    """The result of a run: estimates, statuses and notes of each task."""
    out = console()
    model = run.record.model
    out.print(
        f"run [bold]{run.id}[/]  model {escape(model.provider)}/{escape(model.name)}  "
        f"state {_state(run.record.state)}",
        highlight=False,
    )
    for fault in run.faults:
        out.print(f"[bold red]INVALID[/], do not use these numbers: {escape(fault)}", highlight=False)
    rows = [[task.task, *_cells(estimate)] for task in run.record.tasks for estimate in task_estimates(task)]
    print_table(out, COLUMNS, rows, right=("n", "value", "coverage", "chance"))
    for task in run.record.tasks:
        statuses = run.statuses[task.task]
        out.print(f"{escape(task.task)}: {_counts(statuses, task.planned)}", highlight=False)
        if (noise := run.noise_floors.get(task.task)) is not None:
            for line in told_noise(noise):
                out.print(f"  {escape(line)}", highlight=False, soft_wrap=True)
        for note in _notes(task.summary.get("notes")):
            out.print(f"  note: {escape(note)}", highlight=False, soft_wrap=True)
        for warning in _warnings(task_estimates(task)):
            out.print(f"  note: {escape(warning)}", highlight=False, soft_wrap=True)
    if (weak := weakness(run.record.environment.get("isolation"))) is not None:
        out.print(f"  note: {escape(weak)}", highlight=False, soft_wrap=True)
    for warning in _notes(model.settings.get("warnings")):
        out.print(f"  note: {escape(warning)}", highlight=False)
    if progress is not None:
        again = f", {progress.asked_again} of them asked again" if progress.asked_again else ""
        out.print(
            f"{progress.asked} model calls ({progress.reused} reused{again}), "
            f"{progress.executed} executions ({progress.reused_executions} reused)",
            highlight=False,
        )


def print_table(
    out: Console, columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """A table; on a terminal too narrow for it a paragraph a row, since a number that is cut is another.

    A first cell that repeats the one above it is left empty in the table.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, cells)) + GAP for cells in zip(columns, *rows, strict=True)]
    if not out.is_terminal:
        out.width = max(out.width, sum(widths))
    if sum(widths) > out.width:
        for row in rows:
            named = [f"{name} {cell}" for name, cell in zip(columns, row, strict=True) if cell != "-"]
            out.print(escape(", ".join(named)), highlight=False)
        return
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    above = ""
    for first, *rest in rows:
        table.add_row("" if first == above else escape(first), *map(escape, rest))
        above = first
    out.print(table)


def _cells(estimate: Estimate) -> list[str]:
    interval, method = "-", estimate.method
    if estimate.low is not None and estimate.high is not None:
        interval = f"[{figure(estimate.low)}, {figure(estimate.high)}]"
        method += f" {100 * estimate.level:g}%"
    elif estimate.se is not None:
        interval = f"± {figure(estimate.se)} (s.e.)"
    bounds = "-" if estimate.bounds is None else f"{estimate.bounds[0]:.4f} … {estimate.bounds[1]:.4f}"
    chance = "-" if estimate.chance is None else f"{estimate.chance:.4f}"
    if estimate.p_chance is not None:
        chance += f" (p {estimate.p_chance:.2g})"
    return [
        estimate.name,
        str(estimate.n),
        "cannot tell" if estimate.value is None else figure(estimate.value),
        interval,
        method,
        f"{estimate.coverage:.4f}",
        bounds,
        chance,
    ]


def _counts(statuses: Mapping[str, int], planned: int) -> str:
    total = sum(statuses.values())
    parts = "  ".join(f"{status} {count}" for status, count in statuses.items())
    kept = f"{total} of {planned}" if total < planned else str(total)
    return f"{kept} samples: {parts}" if total else "no sample"


def _state(state: RunState) -> str:
    colour = {RunState.COMPLETE: "green", RunState.INCOMPLETE: "yellow"}.get(state, "red")
    return f"[{colour}]{state.value}[/]"


def _notes(value: object) -> list[str]:
    return [str(note) for note in value] if isinstance(value, (list, tuple)) else []


def _warnings(estimates: Sequence[Estimate]) -> list[str]:
    """Each warning once, with the estimates that it stands at; those of strata are in `--json`."""
    found: dict[str, list[str]] = {}
    for estimate in (one for one in estimates if "/" not in one.name):
        for warning in estimate.warnings:
            found.setdefault(warning, []).append(estimate.name)
    return [f"{', '.join(names)}: {warning}" for warning, names in found.items()]
