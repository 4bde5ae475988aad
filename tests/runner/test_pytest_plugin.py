"""The fixture `evaluation`: tests of pytest that assert by intervals."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from probatum.core.status import Status
from probatum.store import open_store
from tests.runner.stored import stored_run

ROOT = Path(__file__).resolve().parents[2]

TESTS = """
import pytest

def test_evaluates_and_keeps(evaluation):
    run = evaluation("mini", model="constant/A")
    assert evaluation.at_least(run, 0.05).n == 60
    assert evaluation.load("constant/A").id == run.id

def test_shown_to_be_below(evaluation):
    evaluation.at_least(evaluation.load("good"), 0.999)

def test_cannot_tell(evaluation):
    evaluation.at_least(evaluation.load("good"), 0.9)

def test_cannot_tell_and_skips(evaluation):
    evaluation.at_least(evaluation.load("good"), 0.9, undecided="skip")

def test_what_is_missing_is_not_passed(evaluation):
    evaluation.at_least(evaluation.load("lost"), 0.8)

def test_no_worse(evaluation):
    assert evaluation.no_worse(evaluation.load("good"), evaluation.load("base"), 0.2).verdict == "pass"

def test_worse(evaluation):
    evaluation.no_worse(evaluation.load("bad"), evaluation.load("base"), 0.2)

def test_worse_or_not(evaluation):
    evaluation.no_worse(evaluation.load("good"), evaluation.load("base"), 0.04, undecided="skip")

def test_names_that_are_not_there(evaluation):
    with pytest.raises(Exception, match="has no estimate 'beauty'; it has 'correct'"):
        evaluation.at_least(evaluation.load("good"), 0.5, metric="beauty")
"""


@pytest.fixture
def filled(tmp_path):
    """URL of a store with runs of 100 items, named as their models."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with open_store(url) as store:
        for name, rate in {"base": 95, "good": 90, "bad": 40}.items():
            stored_run(store, name, {f"i{n}": float(n < rate) for n in range(100)})
        stored_run(store, "lost", {f"i{n}": 1.0 if n < 70 else Status.INFRA_ERROR for n in range(100)})
    return url


def inner(directory: Path, tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest as a process of its own, with the plugin, on one file of tests."""
    (directory / "test_inner.py").write_text(tests, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "probatum.pytest", "-p", "no:cacheprovider", *arguments]
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PROBATUM_", "PYTEST_"))
    }
    return subprocess.run(
        command, cwd=directory, env=kept, capture_output=True, text=True, check=False, timeout=120
    )


def test_claims_are_shown_refuted_or_undecided(tmp_path, filled):
    done = inner(tmp_path, TESTS, f"--probatum-store={filled}", "--junitxml=out.xml", "-rs")
    assert done.returncode == 1, done.stderr
    suite = ET.parse(tmp_path / "out.xml").getroot().find("testsuite")
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["9", "4", "0", "2"]
    for words in (
        "shown to be below 0.999: correct 0.9000 ",
        "cannot tell whether it is at least 0.9: correct 0.9000 ",
        "cannot tell whether it is at least 0.8: correct 1.0000 ",
        "sums: fail, the drop is more than 0.2",
        "the drop is too near 0.04 for 100 items to tell whether it is more",
    ):
        assert words in done.stdout
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    (told,) = cases["test_worse"].iter("property")
    assert told.get("name") == "probatum sums run - baseline"
    assert told.get("value").endswith("max_drop 0.2")


def test_the_store_may_stand_in_the_configuration_or_be_temporary(tmp_path, filled):
    tests = "def test_it(evaluation):\n    assert evaluation.load('good').complete\n"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nprobatum_store = {filled}\n")
    assert inner(tmp_path, tests).returncode == 0
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = inner(tmp_path, tests)
    assert done.returncode == 1
    assert "no run 'good'" in done.stdout


def test_pytest_finds_the_plugin_by_an_entry_point_of_the_name_of_its_module():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (entry,) = project["entry-points"]["pytest11"].items()
    assert entry == ("probatum.pytest", "probatum.pytest")
    assert hasattr(importlib.import_module(entry[1]), "pytest_addoption")


def test_loading_the_plugin_loads_nothing_heavy():
    code = "import sys, probatum.pytest; print([m for m in ('numpy', 'scipy', 'sqlalchemy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
