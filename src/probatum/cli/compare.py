"""`probatum compare`: is B better than A?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import click
from rich.cells import cell_len

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line, printable
from probatum.core.comparability import Comparability
from probatum.core.moments import to_the_second
from probatum.core.records import Estimate
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import (
    Bridge,
    Comparison,
    Contrast,
    PairComparison,
    Ranking,
    Slicing,
    compare,
    find_run,
    find_runs,
    items_said,
)
from probatum.store import open_store

__all__ = ["command", "print_comparison"]

MARK = "[NOT COMPARABLE] "
"""Begins every line of numbers that were asked for although the runs are not comparable."""
STRATA_SHOWN = SLICES_SHOWN = 12
"""So many are all shown; of more, those that differ."""
WIDEST = 48
"""Characters of a cell; `--json` has all of them."""

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
@click.option(
    "--by",
    multiple=True,
    help="Compare in slices, too: a field of the items, stratum, options, prompt_length, answer_length, "
    "gold_length, length(FIELD); repeatable.",
)
@click.option(
    "--bridge",
    nargs=2,
    metavar="RUN RUN",
    help="Join two protocols: runs of one model, asked as A was and as B was.",
)
@store_option
@json_option
def command(
    runs: tuple[str, ...],
    tasks: tuple[str, ...],
    score: str | None,
    answered: bool,
    level: float,
    anyway: bool,
    by: tuple[str, ...],
    bridge: tuple[str, str] | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Compare RUNS with the first of them: ids, beginnings of ids, `latest`, or names of models.

    Exit status: 0 compared; 1 an error to mend; 3 something cannot be compared.
    """
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        ends = None if bridge is None else [EvaluatedRun(find_run(opened, one), opened) for one in bridge]
        found = compare(
            *(EvaluatedRun(run, opened) for run in find_runs(opened, runs, tasks)),
            task=tasks or None,
            score=score,
            answered=answered,
            level=level,
            anyway=anyway,
            by=by,
            bridge=None if ends is None else (ends[0], ends[1]),
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
        _say(marked)(f"{run.letter}  {run.run}  {run.model}  {to_the_second(run.updated)}")
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
    say(f"  {pair.comparability.value}; {items_said(pair.paired)} paired")
    for difference in pair.differences:
        sign = "!" if difference.kind is Comparability.REFUSED else "-"
        say(f"  {sign} {difference}")
    for note in pair.notes:
        say(f"  note: {note}")
    contrast = pair.contrast
    if contrast is None:
        if pair.paired:
            say("  --anyway compares them all the same, and marks every line; --bridge joins two protocols")
        return
    if pair.bridge is None:
        _print_contrast(pair, contrast, say)
    else:
        _print_bridged(pair, contrast, pair.bridge, say)


def _print_contrast(pair: PairComparison, contrast: Contrast, say: Say) -> None:
    estimate = contrast.estimate
    means = f"{pair.a} {contrast.mean_a:.4f}, {pair.b} {contrast.mean_b:.4f}"
    say(f"  {pair.score}: {means} [{estimate.denominator}]")
    say(f"  {pair.b} - {pair.a}: {_interval(estimate)}")
    say(
        f"  {_p(contrast)} ({contrast.test}); {pair.b} higher on {items_said(contrast.wins)}, "
        f"lower on {contrast.losses}, the same on {contrast.ties}"
    )
    if pair.detectable is not None:
        say(f"  this design shows a difference of {pair.detectable:.4f} with a power of 80%")
    if estimate.bounds is not None and pair.missing:
        say(f"  whatever is missing: {estimate.bounds[0]:+.4f} … {estimate.bounds[1]:+.4f}")
    for warning in estimate.warnings:
        say(f"  note: {warning}")
    if pair.slicings:
        for slicing in pair.slicings:
            _print_slicing(pair, slicing, say)
    else:
        _print_strata(pair, say)


def _print_bridged(pair: PairComparison, contrast: Contrast, bridge: Bridge, say: Say) -> None:
    estimate = contrast.estimate
    means = f"{pair.a} {contrast.mean_a:.4f}, {pair.b} {contrast.mean_b:.4f}"
    say(f"  {pair.score}: {means} [{estimate.denominator}], under two protocols")
    say(f"  {pair.b} - {pair.a} as the scores are: {_interval(bridge.raw)}")
    say(f"  bridge of {bridge.model}: C {bridge.c}, asked as {pair.a}; D {bridge.d}, asked as {pair.b}")
    say(f"  D - C, what the protocols differ by: {_interval(bridge.effect)}, {bridge.items} items")
    say(f"  {pair.b} - {pair.a}, less that: {_interval(estimate)}")
    say(f"  {_p(contrast)} ({contrast.test})")
    if pair.detectable is not None:
        say(f"  this design shows a difference of {pair.detectable:.4f} with a power of 80%")
    say(f"  it supposes {bridge.assumption}")
    for note in (*bridge.notes, *estimate.warnings):
        say(f"  note: {note}")


def _print_slicing(pair: PairComparison, slicing: Slicing, say: Say) -> None:
    """Slices by one field; of many, those that differ."""
    alpha = 1 - (pair.contrast.estimate.level if pair.contrast else 1)
    say("")
    say(f"  by {slicing.by} ({slicing.what}):")
    tested = [(each, each.contrast) for each in slicing.slices if each.contrast is not None]
    shown = [
        (each, found)
        for each, found in tested
        if len(tested) <= SLICES_SHOWN or (found.p_adjusted is not None and found.p_adjusted <= alpha)
    ]
    rows = [_contrast_row(each.name, found) for each, found in shown]
    columns = (slicing.by, "items", pair.a, pair.b, f"{pair.b} - {pair.a}", "interval", "p (Holm)")
    if rows:
        for line in _aligned([columns, *rows]):
            say(f"    {line}")
    if len(shown) < len(tested):
        say(f"    {len(shown)} of {len(tested)} slices differ, p corrected by Holm; --json has all")
    small = [f"{each.name} ({each.items})" for each in slicing.slices if each.contrast is None]
    if small:
        listed = ", ".join(small[:SLICES_SHOWN]) + (
            f" and {len(small) - SLICES_SHOWN} more" * (len(small) > SLICES_SHOWN)
        )
        say(f"    too small to show anything (fewer than {slicing.smallest} independent items): {listed}")
    if slicing.unlabelled:
        say(f"    {slicing.unlabelled} paired items have no {slicing.by}")
    if slicing.p_vary is not None:
        words = (
            "the difference varies between slices"
            if slicing.p_vary <= alpha
            else ("no slice is shown to differ from the others")
        )
        say(f"    {words}: p {slicing.p_vary:.3g} (permutation)")
    for note in slicing.notes:
        say(f"    note: {note}")


def _contrast_row(name: str, found: Contrast) -> tuple[str, ...]:
    return (
        name,
        str(found.estimate.n),
        f"{found.mean_a:.4f}",
        f"{found.mean_b:.4f}",
        f"{found.estimate.value:+.4f}",
        _limits(found.estimate),
        "-" if found.p_adjusted is None else f"{found.p_adjusted:.3g}",
    )


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
    rows = [_contrast_row(each.name, each) for each in shown]
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


def _cut(cell: str) -> str:
    """A name of a stratum may be a whole text: it would push the numbers off the screen."""
    return cell if len(cell) <= WIDEST else f"{cell[: WIDEST - 1]}…"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    rows = [[_cut(printable(cell)) for cell in cells] for cells in rows]
    widths = [max(map(cell_len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()
