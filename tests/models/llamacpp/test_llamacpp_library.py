"""The wheel's C interface: known, or refused by name; and nothing of it leaks into the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from probatum.core.errors import ModelError, UsageError
from probatum.models.llamacpp import library
from probatum.models.llamacpp.library import Library, load_library


def test_without_the_wheel_the_command_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UsageError, match=r"need the package 'xllamacpp' .*pip install 'probatum\[local\]'"):
        load_library.__wrapped__()


@pytest.fixture
def path():
    package = pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
    return package.xllamacpp.__file__


@pytest.mark.local_model
@pytest.mark.parametrize(
    ("table", "field", "value", "evidence"),
    [
        ("CONTEXT_DEFAULTS", "n_seq_max", 64, "n_seq_max is 1, not 64"),
        ("CONTEXT_DEFAULTS", "swa_full", False, "swa_full is True, not False"),
        ("MODEL_DEFAULTS", "main_gpu", 7, "main_gpu is 0, not 7"),
        ("FUNCTIONS", "llama_of_tomorrow", (None, ()), "no function 'llama_of_tomorrow'"),
    ],
)
def test_a_version_with_another_layout_is_refused_by_name(monkeypatch, path, table, field, value, evidence):
    monkeypatch.setattr(library, table, {**getattr(library, table), field: value})
    with pytest.raises(ModelError, match=evidence) as raised:
        Library(path, "2099.1")
    assert "xllamacpp 2099.1" in str(raised.value)
    assert f"pip install '{library.KNOWN}'" in str(raised.value)


@pytest.mark.local_model
def test_the_installed_version_is_known_and_opened_once(path):
    assert load_library() is load_library()


@pytest.mark.local_model
@pytest.mark.parametrize(("given", "left"), [({}, "None"), ({"GOMP_SPINCOUNT": "7"}, "7")])
def test_how_threads_wait_is_not_inherited_by_other_processes(path, given, left):
    code = (
        "import os\nfrom probatum.models.llamacpp.library import load_library\nload_library()\n"
        "print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=60, check=True
    )
    assert (ended.stdout.strip(), ended.stderr) == (left, "")


@pytest.mark.local_model
def test_errors_of_the_log_are_told_once_and_on_one_line(path):
    log = Library.__new__(Library)
    log.verbose = False
    log._errors, log._level = library.deque(maxlen=8), 0
    for level, text in [
        (2, b"info\n"),
        (4, b"bad\n  file"),
        (5, b" here\n"),
        (2, b"more"),
        (5, b"dots"),
        (4, b"end"),
    ]:
        log._log(level, text, None)
    assert log.last_error() == "bad file here; end"
    assert log.last_error() == "it gives no reason"
