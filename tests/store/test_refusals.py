"""What cannot be a store is refused in one line that says what to do, and is left as it was."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

from probatum.core.errors import ProbatumError, StoreError, UsageError
from probatum.store import open_store
from tests.store import rows
from tests.store.postgres import empty_schema

ROOT = Path(__file__).parents[2]


def refusal(url: str, kind: type[ProbatumError] = StoreError) -> str:
    with pytest.raises(kind) as caught:
        open_store(url)
    message = str(caught.value)
    assert "\n" not in message
    assert type(caught.value) is kind
    return message


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "names no store"),
        ("a\0b", "names no store"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite://host/file.db", "names no file"),
        ("sqlite:file.db", "is not the URL of a store"),
        ("postgresql://user:secret@host:port/database", "is not the URL of a store"),
        ("mysql://host/database", "'mysql' is no database that a store can be in"),
        ("https://host/file.db", "'https' is no database"),
        ("sqlite:///file.db?mode=ro", "takes no setting 'mode', only 'timeout'"),
        ("sqlite:///file.db?timeout=soon", "timeout must be a number of seconds, not 'soon'"),
        ("sqlite:///file.db?timeout=-1", "timeout must be a number of seconds, not '-1'"),
        ("sqlite:///file.db?timeout=nan", "timeout must be a number of seconds, not 'nan'"),
    ],
)
def test_a_bad_url_is_a_usage_error(url, reason):
    message = refusal(url, UsageError)
    assert reason in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "form", ["{}", "store.db", "sqlite:///store.db", "sqlite:///{}", "sqlite:///{}?timeout=2"]
)
def test_paths_and_urls_name_the_same_file(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    with open_store(form.format(tmp_path / "store.db")) as store:
        store.open_run(rows.run_of())
    with open_store(str(tmp_path / "store.db")) as store:
        assert store.run("latest").id == "abc123"


def test_names_with_spaces_and_signs_are_names(tmp_path):
    path = tmp_path / "résultats ?100% #1.db"
    with open_store(str(path)) as store:
        store.open_run(rows.run_of())
    assert path.exists()
    path.chmod(0o444)
    with open_store(str(path)) as store:
        assert len(store.runs()) == 1


def test_a_missing_directory_is_named(tmp_path):
    message = refusal(str(tmp_path / "no" / "store.db"))
    assert message == f"'{tmp_path}/no/store.db': the directory '{tmp_path}/no' does not exist; make it first"


def test_a_directory_is_no_store(tmp_path):
    assert "is a directory" in refusal(str(tmp_path))


@pytest.mark.parametrize("content", [b"item,answer\n1,2\n" * 100, b"\x93NUMPY" * 1000, b"short"])
def test_another_file_is_refused_and_left_as_it_was(tmp_path, content):
    path = tmp_path / "answers.csv"
    path.write_bytes(content)
    assert refusal(str(path)).startswith(f"store '{path}' is not a SQLite database: give")
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_of_something_else_is_refused_and_left_as_it_was(tmp_path):
    path = tmp_path / "bookmarks.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    content = path.read_bytes()
    assert "is a database of something else (table 'bookmarks')" in refusal(str(path))
    assert path.read_bytes() == content


def test_a_schema_of_something_else_in_postgresql_is_refused(postgres):
    with empty_schema(postgres) as url:
        with create_engine(url, poolclass=NullPool).begin() as connection:
            connection.execute(text("CREATE TABLE runs (distance REAL)"))
        assert "holds a table 'runs' of something else" in refusal(url)


def test_a_server_that_is_not_there_is_one_line_without_the_password():
    pytest.importorskip("psycopg")
    message = refusal("postgresql://user:secret@127.0.0.1:1/database")
    assert message.startswith("store 'postgresql+psycopg://user:***@127.0.0.1:1/database' failed: ")
    assert "secret" not in message


def test_a_damaged_store_is_one_line(tmp_path):
    path = tmp_path / "store.db"
    with open_store(str(path)) as store:
        store.keep_outcomes("run", "t", [rows.graded(n) for n in range(300)])
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (path.stat().st_size - 8192))
    with pytest.raises(StoreError, match=r"^store '.*' is damaged: [^\n]*$"), open_store(str(path)) as store:
        list(store.marks("run", "t"))


def test_a_store_that_stays_locked_says_so_and_works_afterwards(tmp_path):
    path = tmp_path / "store.db"
    with open_store(f"sqlite:///{path}?timeout=0.05") as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"stayed locked by another process for 0.05 s: wait for it"):
            store.keep_outcomes("run", "t", [rows.graded(1)])
        assert store.statuses("run", "t") == {}
        other.execute("ROLLBACK")
        other.close()
        store.keep_outcomes("run", "t", [rows.graded(1)])
        assert store.statuses("run", "t") == {"scored": 1}


def test_whoever_only_reads_makes_no_store(url):
    before = list(Path(make_url(url).database).parent.iterdir()) if url.startswith("sqlite") else []
    with pytest.raises(StoreError, match=r"no store .*yet: `probatum run` makes one"):
        open_store(url, create=False)
    if url.startswith("sqlite"):
        assert list(Path(make_url(url).database).parent.iterdir()) == before
    with open_store(url) as store:
        store.open_run(rows.run_of())
    with open_store(url, create=False) as store:
        assert len(store.runs()) == 1


def test_an_empty_file_is_no_store_to_whoever_only_reads(tmp_path):
    (tmp_path / "store.db").touch()
    with pytest.raises(StoreError, match="holds no store yet"):
        open_store(str(tmp_path / "store.db"), create=False)


# Permissions, as somebody who is not root


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that everybody can enter, which pytest's own is not."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


PROLOGUE = """
import os, sys, tempfile
from probatum.core.errors import ProbatumError
from probatum.store import open_store
from tests.store import rows
path = sys.argv[1]
with tempfile.TemporaryDirectory() as first:  # an unprivileged user may be unable to import
    with open_store(first + "/store.db") as store:
        store.keep_outcomes("run", "t", [rows.graded(1)])
        list(store.marks("run", "t"))
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
"""
EPILOGUE = """
except ProbatumError as error:
    print(type(error).__name__, error)
"""


def as_nobody(code: str, path: Path) -> str:
    """What that code prints in a process without root's rights; it has `path` and `rows`."""
    body = "".join(f"    {line}\n" for line in code.strip().splitlines())
    done = subprocess.run(
        [sys.executable, "-c", PROLOGUE + body + EPILOGUE, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def filled(path: Path) -> None:
    with open_store(str(path)) as store:
        store.open_run(rows.run_of("run"))
        store.keep_outcomes("run", "t", [rows.graded(1)])


READ_AND_WRITE = """
with open_store(path) as store:
    print(store.run("latest").id, store.statuses("run", "t"), len(list(store.samples("run", "t"))))
    store.keep_outcomes("run", "t", [rows.graded(2)])
"""
IS_READ = "run {'scored': 1} 1\n"


@pytest.mark.parametrize(("file", "directory"), [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555)])
def test_a_read_only_store_is_read_and_not_written(place, file, directory):
    path = place / "store.db"
    filled(path)
    path.chmod(file)
    place.chmod(directory)
    said = as_nobody(READ_AND_WRITE, path)
    assert said.startswith(
        IS_READ + f"StoreError store '{path}' is read-only: copy it to where you may write"
    )
    assert said.count("\n") == 1
    with open_store(str(path)) as store:
        assert store.statuses("run", "t") == {"scored": 1}


def test_a_file_that_may_not_be_read_is_one_line(place):
    path = place / "store.db"
    filled(path)
    path.chmod(0o000)
    assert as_nobody("open_store(path)", path) == (
        f"StoreError '{path}' cannot be read: ask its owner for permission"
    )


def test_a_directory_that_may_not_be_written_is_one_line(place):
    place.chmod(0o555)
    assert as_nobody("open_store(path)", place / "store.db") == (
        f"StoreError '{place}/store.db' cannot be made: no permission to write in '{place}'; "
        "give a store elsewhere"
    )


def test_an_empty_file_that_may_not_be_written_is_no_store(place):
    path = place / "store.db"
    path.touch(0o444)
    said = as_nobody("open_store(path)", path)
    assert said == f"StoreError '{path}' is no store yet, and cannot be written; give another store"
