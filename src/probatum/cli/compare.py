"""`probatum compare`: is B better than A?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import click
from rich.cells import cell_len

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line
from probatum.core.comparability import Comparability
from probatum.core.records import Estimate
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import Comparison, Contrast, PairComparison, Ranking, compare, find_runs
from probatum.store import open_store

__all__ = ["command", "print_comparison"]

MARK = "[NOT COMPARABLE] "
"""Begins every line of numbers that were asked for although the runs are not comparable."""
STRATA_SHOWN = 12
"""So many strata are all shown; of more, those that differ."""

Say = Callable[[str], None]


@click.command(name="compare")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--task", "tasks", multiple=True, help="Compare this task alone; repeatable.  [default: all common]"
)
@click.option("--score", help="Which score.  [default: that of the task's first metric]")
@click.option("--answered", is_flag=True, help="Count answers alone, not failures as wrong.")
@click.option("--level", type=float, default=0.95, help="Confidence level.  [default: 0.95]")
@click.option("--anyway", is_flag=True, help="Compare what is not comparable; every line says so.")
@store_option
@json_option
def command(
    runs: tuple[str, ...],
    tasks: tuple[str, ...],
    score: str | None,
    answered: bool,
    level: float,
    anyway: bool,
    store: str | None,
    as_json: bool,
) -> int:
    """Compare RUNS with the first of them: ids, beginnings of ids, `latest`, or names of models.

    Exit status: 0 compared; 1 an error to mend; 3 something cannot be compared.
    """
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        found = compare(
            *(EvaluatedRun(run, opened) for run in find_runs(opened, runs, tasks)),
            task=tasks or None,
            score=score,
            answered=answered,
            level=level,
            anyway=anyway,
        )
    finally:
        opened.close()
    if as_json:
        print_json(found.plain())
    else:
        print_comparison(found)
    return 0 if found.decided else 3


def print_comparison(found: Comparison) -> None:
    """The comparison as text: runs, then task by task what differs, the numbers and the verdict."""
    marked = any(pair.anyway for pair in found.pairs)
    for run in found.runs:
        _say(marked)(f"{run.letter}  {run.run}  {run.model}  {run.updated}")
    for pair in found.pairs:
        print_line("")
        _print_pair(pair, _say(pair.anyway))
    for ranking in found.rankings:
        print_line("")
        _print_ranking(ranking, _say(ranking.anyway))
    if len(found.pairs) > 1:
        print_line("")
        _say(marked)(
            f"p-values are corrected for {len(found.pairs)} comparisons (Holm); intervals stand alone"
        )
    for note in found.notes:
        _say(marked)(f"note: {note}")


def _say(marked: bool) -> Say:
    return lambda line: print_line(f"{MARK if marked else ''}{line}")


def _print_pair(pair: PairComparison, say: Say) -> None:
    say(f"{pair.task}, {pair.b} against {pair.a}: {pair.verdict}")
    say(f"  {pair.comparability.value}; {pair.paired} items paired")
    for difference in pair.differences:
        sign = "!" if difference.kind is Comparability.REFUSED else "-"
        say(f"  {sign} {difference}")
    for note in pair.notes:
        say(f"  note: {note}")
    contrast = pair.contrast
    if contrast is None:
        if pair.paired:
            say("  --anyway compares them all the same, and marks every line")
        return
    estimate = contrast.estimate
    means = f"{pair.a} {contrast.mean_a:.4f}, {pair.b} {contrast.mean_b:.4f}"
    say(f"  {pair.score}: {means} [{estimate.denominator}]")
    say(f"  {pair.b} - {pair.a}: {_interval(estimate)}")
    say(
        f"  {_p(contrast)} ({contrast.test}); {pair.b} higher on {contrast.wins} items, "
        f"lower on {contrast.losses}, the same on {contrast.ties}"
    )
    if pair.detectable is not None:
        say(f"  this design shows a difference of {pair.detectable:.4f} with a power of 80%")
    if estimate.bounds is not None and pair.missing:
        say(f"  whatever is missing: {estimate.bounds[0]:+.4f} … {estimate.bounds[1]:+.4f}")
    for warning in estimate.warnings:
        say(f"  note: {warning}")
    _print_strata(pair, say)


def _print_strata(pair: PairComparison, say: Say) -> None:
    alpha = 1 - (pair.contrast.estimate.level if pair.contrast else 1)
    shown = [
        each
        for each in pair.strata
        if len(pair.strata) <= STRATA_SHOWN or (each.p_adjusted is not None and each.p_adjusted <= alpha)
    ]
    if len(shown) < len(pair.strata):
        say(f"  {len(shown)} of {len(pair.strata)} strata differ (p corrected by Holm); --json has all")
    if not shown:
        return
    columns = ("stratum", "items", pair.a, pair.b, f"{pair.b} - {pair.a}", "interval", "p (Holm)")
    rows = [
        (
            each.name,
            str(each.estimate.n),
            f"{each.mean_a:.4f}",
            f"{each.mean_b:.4f}",
            f"{each.estimate.value:+.4f}",
            _limits(each.estimate),
            "-" if each.p_adjusted is None else f"{each.p_adjusted:.3g}",
        )
        for each in shown
    ]
    for line in _aligned([columns, *rows]):
        say(f"  {line}")


def _print_ranking(ranking: Ranking, say: Say) -> None:
    say(
        f"{ranking.task}: ranks on the {ranking.n} items that all have"
        + (f" ({ranking.left_out} others left out)" if ranking.left_out else "")
    )
    rows = [
        (row.run, f"{row.mean:.4f}", str(row.rank) if row.low == row.high else f"{row.low} … {row.high}")
        for row in ranking.rows
    ]
    for line in _aligned([("run", ranking.score, f"rank ({100 * ranking.level:g}%)"), *rows]):
        say(f"  {line}")
    groups = "; ".join(" ".join(group) for group in ranking.groups)
    say(f"  not told apart: {groups} ({ranking.method})")


def _interval(estimate: Estimate) -> str:
    value = "cannot tell" if estimate.value is None else f"{estimate.value:+.4f}"
    return f"{value} {_limits(estimate)} ({estimate.method} {100 * estimate.level:g}%)"


def _limits(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{estimate.low:+.4f}, {estimate.high:+.4f}]"


def _p(contrast: Contrast) -> str:
    if contrast.p_value is None:
        return "p undefined"
    if contrast.p_adjusted is None or contrast.p_adjusted == contrast.p_value:
        return f"p {contrast.p_value:.3g}"
    return f"p {contrast.p_value:.3g}, corrected {contrast.p_adjusted:.3g}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()
