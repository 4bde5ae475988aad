"""`probatum card`: the evaluation card of a run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from probatum.cli.options import DEFAULT_STORE, store_option
from probatum.cli.output import print_json, write_text
from probatum.core.errors import UsageError
from probatum.report import make_card
from probatum.runner import EvaluatedRun
from probatum.runner.audit import audit_run
from probatum.runner.comparing import find_run
from probatum.store import open_store

__all__ = ["command"]


@click.command(name="card")
@click.argument("run")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="FILE.md or FILE.json; else stdout.")
@click.option("--decision", help="What this evaluation is to decide, in your words.")
@click.option(
    "--extraction-audit/--no-extraction-audit",
    "audited",
    default=True,
    help="Read all answers again by other rules.  [default: yes; 0.7 ms a sample]",
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="JSON rather than Markdown.")
def command(
    run: str, output: Path | None, decision: str | None, audited: bool, store: str | None, as_json: bool
) -> int:
    """Write the evaluation card of RUN (an id, the beginning of it, `latest`, or a model).

    Exit status 3: the run breaks an invariant, and its numbers must not be used; the card says which.
    """
    if output is not None and not as_json and output.suffix.lower() not in (".md", ".json"):
        raise UsageError(f"{str(output)!r} does not say what to write: name it .md or .json, or give --json")
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        record = find_run(opened, run)
        audits = {one.audit.task: one.audit for one in audit_run(record, opened)} if audited else None
        faults = EvaluatedRun(record, opened).faults
        card = make_card(record, decision=decision, audits=audits, faults=faults)
    finally:
        opened.close()
    if output is None and as_json:
        print_json(card.plain())
    elif output is None:
        click.echo(card.markdown())
    elif as_json or output.suffix.lower() == ".json":
        write_text(output, json.dumps(card.plain(), indent=2, allow_nan=False, default=str) + "\n")
    else:
        write_text(output, card.markdown())
    return 3 if faults else 0
