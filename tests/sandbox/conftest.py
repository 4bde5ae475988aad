"""One sandbox for all tests, and the programs that attack it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.core.errors import SandboxError
from probatum.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    try:
        made = Sandbox(workers=1)
    except SandboxError as error:
        if "allow user namespaces" not in str(error) and "not Linux" not in str(error):
            raise  # the sandbox is broken, rather than forbidden
        pytest.skip(f"no isolation on this machine: {error}")
    with made:
        yield made


def shared() -> Path | None:
    """The folder of data shared with the project, where there is one."""
    named = os.environ.get("PROBATUM_SHARED")
    path = Path(named) if named else Path(__file__).resolve().parents[3] / "shared"
    return path if path.is_dir() else None
