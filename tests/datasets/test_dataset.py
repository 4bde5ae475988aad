"""Data sets are streams that can be read again, with a digest of what they hold."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import islice
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import DataError
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.datasets import Expected, load_file, load_items, load_rows, of_items, of_rows
from tests.datasets.rows import Choice, Question, choice, pairs, question, questions

LINES = b'{"q": "x", "a": "1"}\n{"q": "y", "a": "2"}\n'


def test_every_pass_gives_the_same_items(tmp_path: Path) -> None:
    dataset = questions(tmp_path, LINES)
    assert list(dataset) == list(dataset)
    together = list(zip(dataset, dataset, strict=True))
    assert [first for first, _ in together] == [second for _, second in together] == list(dataset)


def test_a_pass_that_is_left_early_leaves_no_file_open(tmp_path: Path) -> None:
    dataset = questions(tmp_path, LINES)
    assert len(list(islice(dataset, 1))) == 1  # an open file would be a ResourceWarning, and so an error
    assert len(list(dataset)) == 2


def test_a_pass_may_be_made_in_another_thread(tmp_path: Path) -> None:
    dataset = questions(tmp_path, LINES)
    seen: list[Item] = []
    thread = Thread(target=lambda: seen.extend(dataset))
    thread.start()
    thread.join()
    assert seen == list(dataset)


def test_the_digest_is_that_of_the_items_in_order(tmp_path: Path) -> None:
    dataset = questions(tmp_path, LINES)
    joined = b"".join(bytes.fromhex(item.digest) for item in dataset)
    assert dataset.digest == hashlib.sha256(joined).hexdigest()


def test_the_digest_is_that_of_the_items_and_not_of_the_file(tmp_path: Path) -> None:
    lines = questions(tmp_path, LINES)
    items = list(lines)
    assert of_items(items).digest == lines.digest
    assert of_items(reversed(items)).digest != lines.digest
    assert of_items(items[:1]).digest != lines.digest


def test_the_digest_is_that_of_the_labels_that_the_scorer_sees() -> None:
    by_text = Item(id="1", fields={}, choices=("x", "y"), targets=("y",))
    by_label = Item(id="1", fields={}, choices=("x", "y"), targets=("B",))
    assert of_items([by_text]).digest == of_items([by_label]).digest
    assert list(of_items([by_text])) == [by_label]


text = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(text.filter(str.strip), text), unique_by=lambda pair: pair[0]))
def test_equal_items_have_equal_digests_and_others_have_not(pairs: list[tuple[str, str]]) -> None:
    items = [Item(id=name, fields={"text": text}) for name, text in pairs]
    first = of_items(items)
    assert first.digest == of_items(iter(items)).digest
    more = of_items([*items, Item(id="".join(name for name, _ in pairs) + "+", fields={})])
    assert more.digest != first.digest


def test_a_file_that_changes_between_two_passes_is_noticed(tmp_path: Path) -> None:
    dataset = questions(tmp_path, LINES)
    (tmp_path / "rows.jsonl").write_bytes(LINES.replace(b"y", b"zz"))
    with pytest.raises(DataError, match=r"rows.jsonl changed while it was in use"):
        list(dataset)
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(DataError, match=r"rows.jsonl changed while it was in use"):
        list(dataset)


def test_a_file_that_changes_during_a_pass_is_noticed(tmp_path: Path) -> None:
    dataset = questions(tmp_path, LINES)
    stream = iter(dataset)
    next(stream)
    (tmp_path / "rows.jsonl").write_bytes(LINES * 2)
    with pytest.raises(DataError, match=r"rows.jsonl changed while it was in use"):
        list(stream)


def test_what_is_expected_is_held_against_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(LINES)
    source = Source(local=("rows.jsonl",))

    def load(expected: Expected) -> str:
        return load_items(source, Question, question, data_directory=tmp_path, expected=expected).digest

    digest = load(Expected())
    assert load(Expected(count=2, digest=digest)) == digest
    with pytest.raises(DataError, match="2 items where 3 are expected; fetch the set again"):
        load(Expected(count=3))
    with pytest.raises(DataError, match=f"digest {digest} and not {'0' * 64}: this is another edition"):
        load(Expected(digest="0" * 64))


def test_rows_of_a_pool_are_what_the_task_declares(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(LINES)
    (tmp_path / "b.csv").write_bytes(b"q,a\nz,3\n")
    rows = load_rows(Source(local=("a.jsonl", "b.csv")), Question, data_directory=tmp_path)
    assert rows == (
        Question("x", "1", "a.jsonl", 1),
        Question("y", "2", "a.jsonl", 2),
        Question("z", "3", "b.csv", 1),
    )
    (tmp_path / "b.csv").write_bytes(b"q\nz\n")
    with pytest.raises(DataError, match=r"b.csv line 1: missing column 'a'; the columns are 'q'"):
        load_rows(Source(local=("a.jsonl", "b.csv")), Question, data_directory=tmp_path)


def test_columns_of_the_source_name_the_cells(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x,1\n")
    source = Source(local=("a.csv",), columns=("q", "a"))
    assert pairs(load_items(source, Question, question, data_directory=tmp_path)) == [("x", "1")]


def test_rows_in_memory_are_checked_in_the_same_way() -> None:
    rows = [
        {"id": "1", "q": "x", "options": ["a", "b"], "gold": "b"},
        {"id": "2", "q": "y", "options": ["a", "a"], "gold": "A"},
    ]
    dataset = of_rows(rows, Choice, choice, name="the shots of a task")
    assert [item.targets for item in dataset] == [("B",), ("A",)]
    assert dataset.invalid == {"2": "options A and B are the same: 'a'"}
    assert dataset.origin == {
        "kind": "memory",
        "location": "the shots of a task",
        "revision": None,
        "files": [],
    }
    with pytest.raises(DataError, match="the shots of a task row 2: field 'gold': missing"):
        of_rows([rows[0], {"id": "2", "q": "y", "options": []}], Choice, choice, name="the shots of a task")


def test_no_items_in_memory_are_a_set_of_none() -> None:
    assert (of_items([]).count, list(of_items([]))) == (0, [])


def test_a_data_set_is_frozen() -> None:
    dataset = of_items([Item(id="1", fields={})])
    with pytest.raises(FrozenInstanceError):
        dataset.count = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        dataset.invalid["1"] = "x"  # type: ignore[index]


MEMORY = """
import sys, tracemalloc
from pathlib import Path
from probatum.datasets import load_file
from tests.datasets.rows import Question, question
load_file(Path(sys.argv[1]), Question, question)  # what is imported and cached once
tracemalloc.start()
dataset = load_file(Path(sys.argv[2]), Question, question)
after_load, peak_of_load = tracemalloc.get_traced_memory()
tracemalloc.reset_peak()
assert sum(1 for _ in dataset) == dataset.count
print(dataset.count, after_load, peak_of_load, tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.csv", "rows.parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, name: str) -> None:
    count, cell = 3000, "x" * 5000  # 15 MB
    small = tmp_path / f"small.{name.rpartition('.')[2]}"
    write_rows(small, 3, cell)
    write_rows(tmp_path / name, count, cell)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(small), str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=True,
    )
    found, after_load, peak_of_load, peak_of_pass = map(int, done.stdout.split())
    assert found == count
    assert after_load < 100_000
    assert peak_of_load < 5_000_000  # ids, and one batch of Parquet
    assert peak_of_pass < 5_000_000


def write_rows(path: Path, count: int, cell: str) -> None:
    rows = [{"q": f"{number} {cell}", "a": "1"} for number in range(count)]
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=300)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif path.suffix == ".csv":
        path.write_text("q,a\n" + "".join(f"{row['q']},{row['a']}\n" for row in rows), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_name_of_a_file_with_strange_characters_is_told_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nb\u2028.jsonl"
    path.write_bytes(b"{\n")
    with pytest.raises(DataError) as raised:
        load_file(path, Question, question)
    assert str(raised.value).startswith("a\\nb\\u2028.jsonl line 1: not JSON")
