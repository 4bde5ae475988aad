"""What a source may declare beside its files: which rows belong, files to be joined, numbers that are not JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from probatum.core.errors import DataError
from probatum.core.protocol import Merge, Source
from probatum.core.records import Item
from probatum.datasets import BrokenRowsError, load_file, load_items, load_rows, of_items


@dataclass(frozen=True)
class Part:
    id: str
    split: str = "test"
    values: tuple[Any, ...] = ()
    more: str = ""


def to_item(row: Part) -> Item:
    return Item(id=row.id, fields={"values": repr(row.values), "more": row.more})


def is_test(row: Part) -> bool:
    return row.split == "test"


def slashed(name: str) -> str:
    return name.replace("_", "/")


def is_unknown(row: Part) -> bool:
    return row.split == "nowhere"


def write(path: Path, *rows: object) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_rows_of_another_split_are_no_items(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", {"id": "a"}, {"id": "b", "split": "train"}, {"id": "c"})
    source = Source(local=("r.jsonl",), select=is_test)
    dataset = load_items(source, Part, to_item, data_directory=tmp_path)
    assert [item.id for item in dataset] == ["a", "c"]
    assert dataset.count == 2
    assert [row.id for row in load_rows(source, Part, data_directory=tmp_path)] == ["a", "c"]


def test_a_row_that_does_not_fit_is_a_fault_whatever_its_split(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", {"id": "a"}, {"id": 3, "split": "train"})
    with pytest.raises(BrokenRowsError, match=r"r\.jsonl line 2"):
        load_items(Source(local=("r.jsonl",), select=is_test), Part, to_item, data_directory=tmp_path)


def test_a_source_of_which_no_row_belongs_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "r.jsonl", {"id": "a"})
    with pytest.raises(DataError, match="not one of its rows belongs"):
        load_items(Source(local=("r.jsonl",), select=is_unknown), Part, to_item, data_directory=tmp_path)


def merged(directory: Path) -> list[Item]:
    source = Source(local=("one.jsonl", "two.jsonl"), merge=Merge(column="id", name=slashed))
    return list(load_items(source, Part, to_item, data_directory=directory))


def test_later_files_add_columns_to_the_rows_of_the_first(tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", {"id": "T/1", "more": "own"}, {"id": "T/2"}, {"id": "T/3"})
    write(
        tmp_path / "two.jsonl", {"id": "T_3", "values": [3]}, {"id": "T_1", "more": "not this", "values": [1]}
    )
    assert [(item.id, item.fields["values"], item.fields["more"]) for item in merged(tmp_path)] == [
        ("T/1", "(1,)", "own"),
        ("T/2", "()", ""),
        ("T/3", "(3,)", ""),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "T_9"}, r"two\.jsonl line 1.*'T/9' has no row in one\.jsonl"),
        ({"values": []}, r"two\.jsonl line 1.*missing, and rows are joined by it"),
        ({"id": 7}, r"two\.jsonl line 1.*7 names no row: AttributeError"),
    ],
)
def test_a_part_that_joins_nothing_is_a_fault(tmp_path: Path, row: object, message: str) -> None:
    write(tmp_path / "one.jsonl", {"id": "T/1"})
    write(tmp_path / "two.jsonl", row)
    with pytest.raises(BrokenRowsError, match=message):
        merged(tmp_path)


def test_two_parts_of_one_name_are_a_fault(tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", {"id": "T/1"})
    write(tmp_path / "two.jsonl", {"id": "T_1"}, {"id": "T/1"})
    with pytest.raises(BrokenRowsError, match=r"two\.jsonl line 2.*'T/1' stands at two\.jsonl line 1, too"):
        merged(tmp_path)


@pytest.mark.parametrize("name", ["r.jsonl", "r.json"])
def test_numbers_that_are_not_json_are_read_where_the_source_says_so(tmp_path: Path, name: str) -> None:
    text = '{"id": "a", "values": [-Infinity, NaN, Infinity, 1.5]}'
    (tmp_path / name).write_text(text if name.endswith("l") else f"[{text}]")
    with pytest.raises(BrokenRowsError, match="-Infinity is not JSON"):
        load_items(Source(local=(name,)), Part, to_item, data_directory=tmp_path)
    (item,) = load_items(Source(local=(name,), nonfinite=True), Part, to_item, data_directory=tmp_path)
    assert item.fields["values"] == "(-inf, nan, inf, 1.5)"
    (item,) = load_file(tmp_path / name, Part, to_item, nonfinite=True)
    assert item.fields["values"] == "(-inf, nan, inf, 1.5)"


def test_an_item_itself_stays_plain_json(tmp_path: Path) -> None:
    def raw(row: Part) -> Item:
        return Item(id=row.id, fields={"values": row.values})

    (tmp_path / "r.jsonl").write_text('{"id": "a", "values": [NaN]}')
    with pytest.raises(BrokenRowsError, match="nan is not a number that JSON has"):
        load_items(Source(local=("r.jsonl",), nonfinite=True), Part, raw, data_directory=tmp_path)


def test_an_item_that_its_task_declares_invalid_is_listed_with_the_reason() -> None:
    good, bad = Item(id="a", fields={}), Item(id="b", fields={}, invalid="its reference fails its tests")
    dataset = of_items([good, bad])
    assert dict(dataset.invalid) == {"b": "its reference fails its tests"}
    assert dataset.count == 2
    assert bad.digest != Item(id="b", fields={}).digest
