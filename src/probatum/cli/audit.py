"""`probatum audit`: whether a benchmark's items stand in a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from probatum.cli.options import data_option, json_option
from probatum.cli.output import print_json
from probatum.contamination import Overlap, ScanReport, Unit
from probatum.runner.corpus import audit_corpus
from probatum.runner.resolution import resolve_tasks

__all__ = ["command"]

SHOWN = 20  # items printed of each task; --json has all


@click.command(name="audit")
@click.argument("corpus", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--task",
    "-t",
    "tasks",
    multiple=True,
    required=True,
    help="Task, or file of your own; repeatable, or by commas.",
)
@click.option("-n", type=click.IntRange(min=1), default=13, show_default=True, help="Tokens of an n-gram.")
@click.option(
    "--unit", type=click.Choice(get_args(Unit)), default="auto", show_default=True, help="What a token is."
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Least share of an item's n-grams in one document; 0 is any.",
)
@click.option("--question", help="Field that holds the question.  [default: found]")
@data_option
@json_option
def command(
    corpus: tuple[Path, ...],
    tasks: tuple[str, ...],
    n: int,
    unit: Unit,
    share: float,
    question: str | None,
    data_directory: Path | None,
    as_json: bool,
) -> int:
    """Say which items of a benchmark stand in the files of CORPUS.

    Files of text, JSON lines, JSON, CSV, TSV or Parquet, compressed or not, or folders of them.
    """
    reports = {
        task.name: audit_corpus(
            corpus, task, n=n, unit=unit, share=share, question=question, data_directory=data_directory
        )
        for task in resolve_tasks(tasks)
    }
    if as_json:
        print_json({"tasks": [{"task": name, **_plain(report)} for name, report in reports.items()]})
    else:
        for name, report in reports.items():
            _print(name, report)
    return 0


def _plain(report: ScanReport) -> dict[str, object]:
    return {
        "n": report.n,
        "unit": report.unit,
        "share": report.share,
        "documents": report.documents,
        "tokens": report.tokens,
        "boilerplate": report.boilerplate,
        "counts": {kind.value: count for kind, count in report.counts.items()},
        "items": report.items,
    }


def _print(name: str, report: ScanReport) -> None:
    counts = ", ".join(f"{count} {kind.value}" for kind, count in report.counts.items())
    click.echo(
        f"{name}: {len(report.items)} items against {report.documents} documents ({report.tokens} tokens), "
        f"{report.n}-grams of {report.unit}: {counts}"
    )
    found = [
        one for one in report.items if one.overlap in (Overlap.INPUT, Overlap.INPUT_AND_LABEL) or one.exact
    ]
    for one in found[:SHOWN]:
        kind = "whole question" if one.exact else one.overlap.value
        excerpt = "" if one.excerpt is None else f", e.g. {one.excerpt!r}"
        click.echo(f"  {kind} {one.item_id!r}: {one.document}, {one.share:.0%} of its n-grams{excerpt}")
    if len(found) > SHOWN:
        click.echo(f"  … and {len(found) - SHOWN} more; --json lists all")
