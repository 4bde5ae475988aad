"""`probatum export`: a run as a file that others can read and check, or sent to a tracker."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line, printable, write_text
from probatum.core.errors import UsageError
from probatum.report.bundle import write_bundle, write_samples
from probatum.report.sending import PROJECT, TRACKERS, hub_text, send
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import find_run
from probatum.store import open_store

__all__ = ["command"]


@click.command(name="export")
@click.argument("run")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="FILE.zip: a bundle; FILE.jsonl, .jsonl.gz or .parquet: the samples; with --to hf .md or .yaml.",
)
@click.option("--to", type=click.Choice([*TRACKERS, "hf"]), help="A tracker, or metadata of a model card.")
@click.option("--project", help=f"Project of W&B, experiment of MLflow.  [default: {PROJECT}]")
@click.option(
    "--bundle/--no-bundle", default=True, help="Send the bundle to the tracker, too.  [default: yes]"
)
@click.option("--redact", is_flag=True, help="Write SHA-256 digests in place of texts.")
@store_option
@json_option
def command(
    run: str,
    output: Path | None,
    to: str | None,
    project: str | None,
    bundle: bool,
    redact: bool,
    store: str | None,
    as_json: bool,
) -> int:
    """Write RUN (its id, the beginning of it, `latest`, or the name of its model) to a file, or send it.

    Exit status 3: written, and the run breaks an invariant: its numbers must not be used.
    """
    tracked = to in TRACKERS
    if output is None and not tracked:
        raise UsageError("no file is named: give -o FILE.zip, .jsonl, .jsonl.gz, .parquet, or --to a tracker")
    if output is not None and tracked:
        raise UsageError(f"--to {to} sends the run, and -o {str(output)!r} writes it: give one of the two")
    if project is not None and not tracked:
        raise UsageError(f"--project {project!r} is of a tracker: give --to {' or '.join(TRACKERS)}, too")
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        found = EvaluatedRun(find_run(opened, run), opened)
        for fault in found.faults:
            click.echo(printable(f"probatum: INVALID: run {found.id}: {' '.join(fault.split())}"), err=True)
        if to is not None and tracked:
            sent = send(found, to, project=project or PROJECT, bundle=bundle, redact=redact)
            told, line = asdict(sent), f"{to}: run {sent.id} of {sent.project!r}, {sent.metrics} metrics"
        elif output is not None:
            told, line = _written(found, output, for_hub=to == "hf", redact=redact)
        if as_json:
            print_json(told)
        else:
            print_line(line)
        return 0 if found.valid else 3
    finally:
        opened.close()


def _written(run: EvaluatedRun, output: Path, *, for_hub: bool, redact: bool) -> tuple[dict[str, Any], str]:
    """What `--json` prints of a written file, and the line for people."""
    if for_hub:
        write_text(output, hub_text(run, output, redact=redact))
        return {"file": str(output), "run": run.id}, f"{output}: results of run {run.id} for a model card"
    if output.suffix != ".zip":
        count = write_samples(output, run.each_sample(), redact=redact)
        told = {"file": str(output), "run": run.id, "samples": count, "redacted": redact}
        return told, f"{output}: {count} samples of run {run.id}"
    bundle = write_bundle(output, run, redact=redact)
    told = {
        **{name: getattr(bundle, name) for name in ("file", "run", "digest", "files")},
        "redacted": redact,
    }
    return told, f"{output}: run {bundle.run}, {len(bundle.files)} files, sha256:{bundle.digest}"
