"""Loading data: files as text, columns, ids, gold answers, tests."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

from probatum.core.errors import DataError
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.datasets import Fault, load_file, load_items, of_rows
from probatum.datasets.checks import LABELS, settle
from probatum.datasets.files import DataFile
from probatum.datasets.formats import read_rows
from probatum.datasets.rows import Row, Wanted
from probatum.scoring.added_tests import added_tests
from tests.cases.frame import Given, NotMappedError, Said, agree, begins, operation

ANYTHING = Wanted(columns=(), required=frozenset())
PLACES = re.compile(r"\b(line|row)s? (\d+)(?: and (\d+))?")
NAMED = re.compile(r"'([^']+)'")


def refused_as_expected(ours: Said, expected: Any) -> bool:
    """An error, or a lint, that names the lines, columns and values that the right value names."""
    if not isinstance(expected, str) or not begins(expected, ours.word):
        return False
    for kind, *numbers in PLACES.findall(expected):
        if not all(
            re.search(rf"\b(?:{kind}|line|row) {number}\b", ours.detail) for number in numbers if number
        ):
            return False
    named = all(repr(name) in ours.detail or f'"{name}"' in ours.detail for name in NAMED.findall(expected))
    return named and ("column" not in expected.split(":")[0] or "column" in ours.detail)


def rows_agree(ours: Any, expected: Any) -> bool:
    if isinstance(ours, Said):
        return refused_as_expected(ours, expected)
    if isinstance(expected, Mapping):
        return agree({"rows": len(ours), "values": ours}, expected)
    if expected and isinstance(expected[0], Mapping):
        return agree(ours, expected)
    return agree([list(row.values()) for row in ours], expected)


def read(given: Given, suffix: str) -> Any:
    content = given["bytes"].encode("latin-1") if "bytes" in given else given["text"].encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data.{suffix}"
        path.write_bytes(content)
        found = list(read_rows(DataFile(name=path.name, content=path), ANYTHING))
    faults = [each for each in found if isinstance(each, Fault)]
    if faults:
        return Said("error", "; ".join(map(str, faults)))
    return [dict(row.values) for row in found if isinstance(row, Row)]


@operation("load_csv", agrees=rows_agree)
def load_csv(given: Given) -> Any:
    return read(given, "csv")


@operation("load_tsv", agrees=rows_agree)
def load_tsv(given: Given) -> Any:
    return read(given, "tsv")


@operation("load_jsonl", agrees=rows_agree)
def load_jsonl(given: Given) -> Any:
    return read(given, "jsonl")


@operation("load_json", agrees=rows_agree)
def load_json(given: Given) -> Any:
    return read(given, "json")


def checked(call: Callable[[], Any]) -> Said:
    try:
        call()
    except DataError as error:
        return Said("error", str(error))
    return Said("ok")


def row_type(names: Sequence[str]) -> type:
    return make_dataclass("CaseRow", [(name, object) for name in names], frozen=True)


def item_of(row: Any) -> Item:
    """Id, options and gold answer by the names under which rows have them; what a row has not is made up."""

    def first(*names: str) -> Any:
        return next((value for name in names if (value := getattr(row, name, None)) is not None), None)

    identity, options, gold = first("id"), first("options", "choices"), first("answer", "gold", "target")
    choices = tuple(options) if isinstance(options, list | tuple) else ()
    target = LABELS[gold] if choices and isinstance(gold, int) and 0 <= gold < len(LABELS) else gold
    return Item(
        id=str(identity if identity is not None else repr(row)),
        fields={},
        choices=choices,
        targets=("x",) if target is None and not choices else () if target is None else (str(target),),
    )


def validation_agrees(ours: Said, expected: Any) -> bool:
    if expected in ("ok", "valid") or ours.word == "ok":
        return expected in ("ok", "valid") and ours.word == "ok"
    return refused_as_expected(ours, expected)


@operation("validate", unused=("split",), agrees=validation_agrees)
def validate(given: Given) -> Said:
    """Columns as the header of a file, rows as rows in memory; `needs` are the fields of the row type."""
    if "columns" in given:
        kind = row_type(given["needs"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.csv"
            path.write_text(
                ",".join(given["columns"]) + "\n" + ",".join("x" for _ in given["columns"]) + "\n"
            )
            return checked(lambda: load_file(path, kind, item_of))
    rows = given["rows"]
    needs = given["needs"] if "needs" in given else list(rows[0]) if rows else []
    if not rows:  # rows in memory may be none, since a task may have no fixed shots; a file's may not
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.jsonl"
            path.touch()
            return checked(lambda: load_file(path, row_type(needs), item_of))
    return checked(lambda: of_rows(rows, row_type(needs), item_of, strict=True))


@operation("resolve_gold")
def resolve_gold(given: Given) -> Any:
    options, gold = given["options"], given["gold"]
    texts = list(options.values()) if isinstance(options, Mapping) else list(options)
    if isinstance(options, Mapping) and list(options) != list(LABELS[: len(options)]):
        raise NotMappedError(f"labels {list(options)!r}")
    label = LABELS[gold] if isinstance(gold, int) and 0 <= gold < len(texts) else str(gold)
    item, problem = settle(Item(id="q", fields={}, choices=tuple(texts), targets=(label,)))
    if problem is not None:
        return Said("error", problem)
    return {"index": LABELS.index(item.targets[0]), "label": item.targets[0]}


@operation("lint_tests")
def lint_tests(given: Given) -> Said:
    found = added_tests(given["base"], given["plus"]).lint
    return Said("lint", "; ".join(found)) if found else Said("ok")


@operation("load_context")
def load_context(given: Given) -> Any:
    """A folder of text files, each of which is a row."""
    kind = make_dataclass("Text", [("text", str), ("row_file", str)], frozen=True)

    def text_item(row: Any) -> Item:
        return Item(id=row.row_file, fields={"text": row.text}, targets=("x",))

    with tempfile.TemporaryDirectory() as folder:
        for place, file in enumerate(given["files"]):
            text = file if isinstance(file, str) else file["text"]
            (Path(folder) / f"{place}.txt").write_text(text)
        try:
            found = load_items(Source(local=("*.txt",)), kind, text_item, data_directory=Path(folder))
        except DataError as error:
            return Said("error", str(error))
        return {"files": found.count}
