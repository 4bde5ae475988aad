"""Stand-ins for macOS's `sandbox-exec`, put on the PATH of a machine that is told to be a Mac."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from probatum.sandbox import ladder
from tests.sandbox import landlocked

ROOT = Path(__file__).resolve().parents[2]
HOLDS_NOTHING = """#!/bin/sh
printf '%s' "$2" > "{folder}/profile-$$"
shift 2
exec "$@"
"""
HOLDS_WHAT_LINUX_CAN = """#!/bin/sh
exec {python} -S -c 'import sys; sys.path.insert(0, "{root}"); from tests.sandbox.landlocked import main; main()' "$@"
"""
FAILS = """#!/bin/sh
echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2
exit 71
"""


def be_a_mac(patch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """The ladder sees macOS, and this script as its `sandbox-exec`."""
    place = folder / "sandbox-exec"
    place.write_text(script.format(folder=folder, root=ROOT, python=sys.executable), encoding="utf-8")
    place.chmod(0o755)
    patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    patch.setattr(ladder, "PLATFORM", "darwin")


needs_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="here the real one is to be tried"
)
needs_landlock = pytest.mark.skipif(
    landlocked.version() < landlocked.LANDLOCK,
    reason="this kernel has no Landlock (or is not that of x86_64) to hold a process to a profile",
)
