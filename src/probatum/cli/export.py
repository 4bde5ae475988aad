"""`probatum export`: a run as a file that others can read and check."""

from __future__ import annotations

from pathlib import Path

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json, print_line
from probatum.report.bundle import write_bundle, write_samples
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
    required=True,
    help="FILE.zip: a bundle; FILE.jsonl, .jsonl.gz or .parquet: the samples alone.",
)
@click.option("--redact", is_flag=True, help="Write SHA-256 digests in place of texts.")
@store_option
@json_option
def command(run: str, output: Path, redact: bool, store: str | None, as_json: bool) -> int:
    """Write RUN (its id, the beginning of it, `latest`, or the name of its model) to a file.

    Exit status 3: written, and the run breaks an invariant: its numbers must not be used.
    """
    opened = open_store(store or DEFAULT_STORE, create=False)
    try:
        found = EvaluatedRun(find_run(opened, run), opened)
        for fault in found.faults:
            click.echo(f"probatum: INVALID: run {found.id}: {' '.join(fault.split())}", err=True)
        status = 0 if found.valid else 3
        if output.suffix != ".zip":
            count = write_samples(output, found.each_sample(), redact=redact)
            if as_json:
                print_json({"file": str(output), "run": found.id, "samples": count, "redacted": redact})
            else:
                print_line(f"{output}: {count} samples of run {found.id}")
            return status
        bundle = write_bundle(output, found, redact=redact)
    finally:
        opened.close()
    if as_json:
        print_json(
            {
                **{name: getattr(bundle, name) for name in ("file", "run", "digest", "files")},
                "redacted": redact,
            }
        )
    else:
        print_line(f"{output}: run {bundle.run}, {len(bundle.files)} files, sha256:{bundle.digest}")
    return status
