"""Fixtures that several folders of tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes import install_plugins

ROOT = Path(__file__).parent.parent

Finished = subprocess.CompletedProcess[str]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Environment of a process that finds the fakes as plug-ins, and nothing of the user's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PROBATUM_")}
    plugins = install_plugins(tmp_path / "plugins")
    return {**kept, "PYTHONPATH": f"{ROOT}{os.pathsep}{plugins}", "COLUMNS": "200"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty directory that commands run in."""
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


@pytest.fixture
def probatum(work: Path, environment: dict[str, str]) -> Callable[..., Finished]:
    """Runs the real command in `work`; `env` adds to its environment, `input` is its stdin."""

    def run(*arguments: object, env: dict[str, str] | None = None, **options: object) -> Finished:
        return subprocess.run(
            [sys.executable, "-c", "from probatum.cli import main; main()", *map(str, arguments)],
            cwd=work,
            env={**environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,
        )

    return run
