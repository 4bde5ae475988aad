"""Fixtures that several folders of tests share."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from probatum import benchmarks
from probatum.cli import main
from tests.fakes import install_plugins

ROOT = Path(__file__).parent.parent

Finished = subprocess.CompletedProcess[str]


def pytest_collection_finish() -> None:
    """What all test modules import stays, and is not looked through again by each collection of garbage."""
    gc.collect()
    gc.freeze()


# What lands is judged on the same examples each time; new ones are searched for everywhere else.
settings.register_profile("search", deadline=None)
settings.register_profile("landing", deadline=None, derandomize=True)
settings.load_profile("landing" if "CI" in os.environ else "search")


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Limits that are measured in tests are not kept for the user's runs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


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
def probatum_here(
    work: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Callable[..., Finished]]:
    """As `probatum`, within this process: for tables of many short commands."""
    monkeypatch.chdir(work)
    for name in [name for name in os.environ if name.startswith("PROBATUM_")]:
        monkeypatch.delenv(name)
    monkeypatch.syspath_prepend(environment["PYTHONPATH"].rpartition(os.pathsep)[2])
    forget_plugins()

    def run(*arguments: object, env: dict[str, str] | None = None) -> Finished:
        command = ["probatum", *map(str, arguments)]
        with monkeypatch.context() as here:
            here.setattr(sys, "argv", command)
            for name, value in (env or {}).items():
                here.setenv(name, value)
            capfd.readouterr()
            with pytest.raises(SystemExit) as ended:
                main()
        written = capfd.readouterr()
        return Finished(command, int(ended.value.code or 0), written.out, written.err)

    yield run
    monkeypatch.undo()
    forget_plugins()


def forget_plugins() -> None:
    """Entry points are looked up once a process; tests add some."""
    benchmarks._foreign.cache_clear()


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
