"""`probatum verify`: is a bundle what was written?"""

from __future__ import annotations

from pathlib import Path

import click

from probatum.cli.options import json_option
from probatum.cli.output import print_json, print_line
from probatum.report.verification import verify_bundle

__all__ = ["command"]


@click.command(name="verify")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--digest", help="The bundle's digest, as `export` printed it and as you have it from elsewhere."
)
@json_option
def command(file: Path, digest: str | None, as_json: bool) -> int:
    """Check the bundle FILE, offline: name each file that was changed, lost or added.

    Exit status: 0 whole; 1 something was changed, or FILE cannot be read.
    """
    found = verify_bundle(file, digest)
    if as_json:
        print_json(found.plain())
    elif found.whole:
        texts = "digests in place of texts" if found.redacted else "texts whole"
        about = f"run {found.run}, {found.model}, {found.files} files, {texts}"
        print_line(f"{file}: whole; {about}, sha256:{found.digest}")
    else:
        for problem in found.problems:
            print_line(f"{file}: {problem}")
    return 0 if found.whole else 1
