"""Parquet: every kind of column arrives as a Python value that a row type can name."""

from __future__ import annotations

import datetime as dt
import io
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probatum.core.errors import DataError
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.datasets import load_file, load_rows
from tests.datasets.rows import Question, question


def written(directory: Path, table: pa.Table, **options: Any) -> Path:
    path = directory / "rows.parquet"
    pq.write_table(table, path, **options)
    return path


def rows_of(directory: Path, table: pa.Table, row: type, **options: Any) -> tuple[Any, ...]:
    written(directory, table, **options)
    return load_rows(Source(local=("rows.parquet",)), row, data_directory=directory)


@dataclass(frozen=True)
class Answers:
    text: list[str]
    answer_start: list[int]


@dataclass(frozen=True)
class Everything:
    big: int
    unsigned: int
    money: Decimal
    when: dt.datetime
    nanoseconds: dt.datetime
    day: dt.date
    took: dt.timedelta
    kind: str
    answers: Answers
    nested: list[list[int]]
    scores: dict[str, float]
    raw: bytes
    flag: bool | None
    nothing: str | None
    large: str


def everything() -> pa.Table:
    utc = pa.timestamp("us", tz="Europe/Berlin")
    moment = dt.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=dt.UTC)
    return pa.table(
        {
            "big": pa.array([2**63 - 1, -(2**63)], pa.int64()),
            "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
            "money": pa.array([Decimal("1.10"), Decimal("-99999.99")], pa.decimal128(7, 2)),
            "when": pa.array([moment, moment], utc),
            "nanoseconds": pa.array([1_000, 2_000], pa.timestamp("ns")),
            "day": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
            "took": pa.array([dt.timedelta(seconds=1)] * 2, pa.duration("ns")),
            "kind": pa.array(["a\u2028b", "NA"]).dictionary_encode(),
            "answers": [{"text": ["x", "\r"], "answer_start": [3, 4]}, {"text": [], "answer_start": []}],
            "nested": [[[1], [], [2, 3]], []],
            "scores": pa.array([[("a", 0.5)], []], pa.map_(pa.string(), pa.float64())),
            "raw": [b"\xff", b""],
            "flag": [None, True],
            "nothing": pa.array([None, None], pa.null()),
            "large": pa.array(["", "x"], pa.large_string()),
        }
    )


def test_every_kind_of_column_arrives_whole(tmp_path: Path) -> None:
    first, second = rows_of(tmp_path, everything(), Everything)
    moment = dt.datetime(2024, 2, 29, 13, 30, 15, 123456, tzinfo=ZoneInfo("Europe/Berlin"))
    assert first == Everything(
        big=2**63 - 1,
        unsigned=2**64 - 1,
        money=Decimal("1.10"),
        when=moment,
        nanoseconds=dt.datetime(1970, 1, 1, 0, 0, 0, 1),  # noqa: DTZ001 - the column has no zone
        day=dt.date(1, 1, 1),
        took=dt.timedelta(seconds=1),
        kind="a\u2028b",
        answers=Answers(["x", "\r"], [3, 4]),
        nested=[[1], [], [2, 3]],
        scores={"a": 0.5},
        raw=b"\xff",
        flag=None,
        nothing=None,
        large="",
    )
    assert (second.big, second.unsigned, second.kind, second.day.year) == (-(2**63), 0, "NA", 9999)


@dataclass(frozen=True)
class When:
    when: dt.datetime | None


def test_nanoseconds_are_refused_rather_than_rounded(tmp_path: Path) -> None:
    table = pa.table({"when": pa.array([1_001], pa.timestamp("ns"))})
    with pytest.raises(
        DataError, match=r"rows.parquet row 1: column 'when' cannot be read .* would lose data"
    ):
        rows_of(tmp_path, table, When)


def test_a_date_that_python_does_not_have_is_an_error_and_no_crash(tmp_path: Path) -> None:
    table = pa.table({"when": pa.array([2**62], pa.timestamp("us"))})
    with pytest.raises(DataError, match=r"rows.parquet row 1: column 'when' cannot be read"):
        rows_of(tmp_path, table, When)


@dataclass(frozen=True)
class Number:
    x: float


def test_nan_in_a_column_that_is_read_is_refused_with_its_row(tmp_path: Path) -> None:
    table = pa.table({"x": [0.5, float("nan")], "unused": [float("nan")] * 2})
    with pytest.raises(DataError) as raised:
        rows_of(tmp_path, table, Number)
    assert (
        str(raised.value) == "rows.parquet row 2: field 'x': nan is not a number that JSON has; mend the row"
    )


def test_a_missing_column_is_told_once_with_those_that_are_there(tmp_path: Path) -> None:
    table = pa.table({"q": ["x"] * 50, "answer": ["y"] * 50})
    with pytest.raises(DataError) as raised:
        load_file(written(tmp_path, table), Question, question)
    assert str(raised.value) == "rows.parquet: missing column 'a'; the columns are 'q', 'answer'"


def test_a_type_that_does_not_fit_names_row_and_value(tmp_path: Path) -> None:
    table = pa.table({"q": ["x", "y"], "a": pa.array([1, 2])})
    with pytest.raises(DataError, match=r"rows.parquet row 2: field 'a': expected `str`, got `int` 2"):
        load_file(written(tmp_path, table), Question, question)


def test_a_date_that_reaches_an_item_is_refused(tmp_path: Path) -> None:
    table = pa.table({"when": [dt.datetime(2024, 1, 1)]})  # noqa: DTZ001 - the column has no zone

    def to_item(row: When) -> Item:
        return Item(id="1", fields={"when": row.when})

    with pytest.raises(
        DataError, match=r"item.fields.when: datetime.datetime\(2024, 1, 1, 0, 0\) \(datetime\) is not"
    ):
        load_file(written(tmp_path, table), When, to_item)


def test_rows_are_numbered_across_batches_and_row_groups(tmp_path: Path) -> None:
    table = pa.table({"q": [str(n) for n in range(1, 1001)], "a": ["x"] * 999 + [""]})
    dataset = load_file(written(tmp_path, table, row_group_size=70), Question, question)
    assert [item.id for item in dataset] == [f"rows.parquet/{n}" for n in range(1, 1001)]
    assert [item.fields["q"] for item in dataset] == [str(n) for n in range(1, 1001)]
    assert list(dataset.invalid) == ["rows.parquet/1000"]


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    bytes_as_text = pa.array([b"ok", b"caf\xe9"], pa.binary()).cast(pa.string(), safe=False)
    table = pa.table({"q": bytes_as_text, "a": ["1", "2"]})
    with pytest.raises(DataError, match="column 'q' cannot be read"):
        load_file(written(tmp_path, table), Question, question)


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"q": ["x"] * 1000, "a": ["y"] * 1000}), sink)
    for size in (len(sink.getvalue()) - 9, len(sink.getvalue()) // 2, 4, 1):
        (tmp_path / "rows.parquet").write_bytes(sink.getvalue()[:size])
        with pytest.raises(DataError, match=r"rows.parquet: is not sound Parquet \("):
            load_file(tmp_path / "rows.parquet", Question, question)


def test_a_byte_changed_anywhere_is_never_a_traceback(tmp_path: Path) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"q": ["x", "é"], "a": ["y", "z"]}), sink)
    whole = sink.getvalue()
    refused = 0
    for at in range(0, len(whole), 7):
        (tmp_path / "rows.parquet").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            load_file(tmp_path / "rows.parquet", Question, question)
        except DataError:
            refused += 1
    assert refused > 5


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(cells=st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.text("ab ")), min_size=1))
def test_text_comes_back_as_written(tmp_path: Path, cells: list[tuple[str, str]]) -> None:
    table = pa.table({"q": [q for q, _ in cells], "a": [a for _, a in cells]})
    rows = rows_of(tmp_path, table, Question, use_dictionary=len(cells) % 2 == 0)
    assert [(row.q, row.a) for row in rows] == cells
