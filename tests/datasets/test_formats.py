"""What each format may hold, and what is refused with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probatum.core.errors import DataError
from probatum.datasets import BrokenRowsError
from probatum.datasets.files import DataFile, UnreadableError
from probatum.datasets.formats import read_rows
from probatum.datasets.jsontext import JsonStream, NotJsonError, parse_json
from probatum.datasets.rows import Row, Wanted
from tests.datasets.rows import pairs, questions

in_one_directory = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
BOM = b"\xef\xbb\xbf"

SAFE = {
    "plain lines": ("r.jsonl", b'{"q": "x", "a": "1"}\n', [("x", "1")]),
    "no newline at the end": ("r.jsonl", b'{"q": "x", "a": "1"}', [("x", "1")]),
    "lines end in CRLF": (
        "r.jsonl",
        b'{"q": "x", "a": "1"}\r\n{"q": "y", "a": "2"}\r\n',
        [("x", "1"), ("y", "2")],
    ),
    "blank lines": (
        "r.jsonl",
        b'\n{"q": "x", "a": "1"}\n  \n\r\n{"q": "y", "a": "2"}\n\n',
        [("x", "1"), ("y", "2")],
    ),
    "byte-order mark in lines": ("r.jsonl", BOM + b'{"q": "x", "a": "1"}\n', [("x", "1")]),
    "byte-order mark in JSON": ("r.json", BOM + b'[{"q": "x", "a": "1"}]', [("x", "1")]),
    "byte-order mark in CSV": ("r.csv", BOM + b"q,a\nx,1\n", [("x", "1")]),
    "byte-order mark in gzip": ("r.csv.gz", gzip.compress(BOM + b"q,a\nx,1\n"), [("x", "1")]),
    "U+2028, U+2029, U+0085, form feed and more in a string": (
        "r.jsonl",
        '{"q": "a\u2028b\u2029c\u0085d\x7f\u001ce", "a": "1"}\n'.replace("\u001c", "\\u001c").encode(),
        [("a\u2028b\u2029c\u0085d\x7f\x1ce", "1")],
    ),
    "U+2028 and U+0085 in CSV": ("r.csv", "q,a\na\u2028b\u0085c\x0b\x0cd,1\n".encode(), [("a\u2028b\u0085c\x0b\x0cd", "1")]),
    "U+2028 in TSV": ("r.tsv", "q\ta\na\u2028b\t1\n".encode(), [("a\u2028b", "1")]),
    "escaped carriage return": ("r.jsonl", b'{"q": "a\\rb", "a": "1"}\n', [("a\rb", "1")]),
    "carriage return in a quoted cell": ("r.csv", b'q,a\n"a\rb",1\n', [("a\rb", "1")]),
    "newlines in quoted cells": ("r.csv", b'q,a\r\n"a\nb\r\nc","1"\r\n', [("a\nb\r\nc", "1")]),
    "NUL": ("r.jsonl", b'{"q": "a\\u0000b", "a": "1"}\n', [("a\0b", "1")]),
    "NUL in CSV": ("r.csv", b"q,a\nxxxxa\0b,1\n", [("xxxxa\0b", "1")]),
    "NA and its kin stay text": (
        "r.csv",
        b"q,a\nNA,null\nNone,nan\nNaN,NULL\ntrue,1e5\n,x\n",
        [("NA", "null"), ("None", "nan"), ("NaN", "NULL"), ("true", "1e5"), ("", "x")],
    ),
    "zeros and spaces stay": ("r.csv", b"q,a\n 007 , 1.50\n", [(" 007 ", " 1.50")]),
    "quotes in CSV": ("r.csv", b'q,a\n"say ""hi"", now",5" disk\n', [('say "hi", now', '5" disk')]),
    "quotes in TSV are characters": ("r.tsv", b'q\ta\n"hi" he said\t"x"\n', [('"hi" he said', '"x"')]),
    "a cell beyond the usual limit of csv": ("r.csv", b"q,a\n" + b"x" * 200_000 + b",1\n", [("x" * 200_000, "1")]),
    "columns that are not asked for": ("r.csv", b",q,note,a,\n0,x,NA,1,2\n", [("x", "1")]),
    "ndjson": ("r.ndjson", b'{"q": "x", "a": "1"}\n', [("x", "1")]),
    "an upper-case ending": ("R.JSONL.GZ", gzip.compress(b'{"q": "x", "a": "1"}\n'), [("x", "1")]),
    "two gzip members": (
        "r.jsonl.gz",
        gzip.compress(b'{"q": "x", "a": "1"}\n') + gzip.compress(b'{"q": "y", "a": "2"}\n'),
        [("x", "1"), ("y", "2")],
    ),
    "JSON lines named .json": (
        "r.json",
        b'{"q": "x", "a": "1"}\n{"q": "y", "a": "2"}\n',
        [("x", "1"), ("y", "2")],
    ),
    "an object with one list": (
        "r.json",
        b'{"canary": "do not\\n train", "n": 12, "data": [{"q": "x", "a": "1"}], "more": {"list": [1]}}',
        [("x", "1")],
    ),
    "an object with lists of key words": (
        "r.json",
        b'{"keywords": ["a", "b"], "examples": [{"q": "x", "a": "1"}], "metrics": [1], "none": []}',
        [("x", "1")],
    ),
    "emoji by two escapes": ("r.jsonl", b'{"q": "\\ud83d\\ude00", "a": "1"}\n', [("😀", "1")]),
}  # fmt: skip


@pytest.mark.parametrize("case", SAFE)
def test_it_is_read_as_it_stands(tmp_path: Path, case: str) -> None:
    name, content, expected = SAFE[case]
    assert pairs(questions(tmp_path, content, name)) == expected


GOOD = b'{"q": "x", "a": "1"}\n'
REFUSED = {
    "slip in a line": ("r.jsonl", GOOD * 2 + b'{"q":}\n', "r.jsonl line 3: not JSON: Expecting value near '{\"q\":}\\n' (column 6)"),
    "line after blank lines": ("r.jsonl", GOOD + b"\n\n{]\n", "r.jsonl line 4 (row 2): not JSON"),
    "last line cut short": ("r.jsonl", GOOD + b'{"q": "y", "a', "line 2: not JSON: Unterminated string starting at near '{\"q\": \"y\", \"a' (column 12); the file ends in this line, so it may be cut short"),
    "two values in a line": ("r.jsonl", GOOD.strip() + GOOD, "line 1: text after the value"),
    "NaN": ("r.jsonl", GOOD + b'{"q": "x", "a": NaN}\n', "line 2: NaN is not JSON"),
    "NaN in a column that is not read": ("r.jsonl", b'{"q": "x", "a": "1", "z": NaN}\n', "line 1: NaN is not JSON"),
    "Infinity": ("r.jsonl", b'{"q": "x", "a": -Infinity}\n', "line 1: -Infinity is not JSON"),
    "a number beyond a double": ("r.jsonl", b'{"q": "x", "a": 1e999}\n', "line 1: number '1e999' is beyond the range of a double"),
    "an integer of 5,000 digits": ("r.jsonl", b'{"q": "x", "a": ' + b"1" * 5000 + b"}\n", "line 1: an integer has too many digits"),
    "a name twice": ("r.jsonl", b'{"q": "x", "a": "1", "a": "2"}\n', "line 1: name 'a' stands twice in one object"),
    "a name twice below": ("r.jsonl", b'{"q": "x", "a": "1", "z": [{"b": 1, "b": 2}]}\n', "line 1: name 'b' stands twice"),
    "deep nesting": ("r.jsonl", b'{"q": ' + b"[" * 100_000 + b"\n", "line 1: nested too deeply"),
    "a lone surrogate": ("r.jsonl", b'{"q": "ab\\ud800", "a": "1"}\n', "line 1: field 'q': lone surrogate '\\ud800' at character 3 is not text"),
    "a lone surrogate below": ("r.jsonl", b'{"q": "a", "a": "\\ude00x"}\n', "line 1: field 'a': lone surrogate '\\ude00' at character 1"),
    "a raw control character": ("r.jsonl", b'{"q": "a\tb", "a": "1"}\n', "line 1: not JSON: Invalid control character"),
    "a row that is a list": ("r.jsonl", b'["x", "1"]\n', "line 1: a row must be an object, and is ['x', '1']"),
    "a row that is a text": ("r.jsonl", b'"x"\n', "line 1: a row must be an object, and is 'x'"),
    "a byte of Latin-1": ("r.jsonl", GOOD + b'{"q": "caf\xe9", "a": "1"}\n', "line 2: byte 0xe9 at offset 31 is not UTF-8"),
    "a byte of Latin-1 in CSV": ("r.csv", b"q,a\nx,1\ncaf\xe9,1\n", "line 3: byte 0xe9 at offset 11 is not UTF-8"),
    "a byte of Latin-1 in JSON": ("r.json", b'[\n{"q": "caf\xe9", "a": "1"}]', "r.json line 2: byte 0xe9 at offset 12 is not UTF-8"),
    "a byte of Latin-1 after a mark": ("r.jsonl", BOM + b'{"q": "\xe9"}\n', "line 1: byte 0xe9 at offset 10 is not UTF-8"),
    "a character cut at the end": ("r.json", b'[{"q": "x", "a": "1"}, {"q": "caf\xc3', "byte 0xc3 at offset 33 is not UTF-8 (unexpected end of data)"),
    "UTF-16 by its mark": ("r.jsonl", GOOD.decode().encode("utf-16"), "r.jsonl: is UTF-16, not UTF-8; convert it"),
    "UTF-16 by its NULs": ("r.csv", "q,a\n".encode("utf-16-le"), "is UTF-16 or UTF-32 by its NUL bytes"),
    "UTF-32 by its mark": ("r.jsonl", GOOD.decode().encode("utf-32"), "r.jsonl: is UTF-32, not UTF-8"),
    "an empty file": ("r.jsonl", b"", "r.jsonl: has no rows"),
    "an empty CSV": ("r.csv", b"", "r.csv line 1: missing column 'a', 'q'; the columns are none"),
    "only a header": ("r.csv", b"q,a\n", "r.csv: has no rows"),
    "an empty JSON": ("r.json", b" \n", "r.json line 2: holds no rows: it is empty"),
    "an empty array": ("r.json", b"[]", "r.json: has no rows"),
    "an empty gzip": ("r.jsonl.gz", gzip.compress(b""), "r.jsonl.gz: has no rows"),
    "gzip cut short": ("r.jsonl.gz", gzip.compress(GOOD * 99)[:-9], "r.jsonl.gz: is cut short: the gzip stream has no end"),
    "gzip with a wrong sum": ("r.jsonl.gz", gzip.compress(GOOD)[:-8] + b"\0" * 8, "r.jsonl.gz: is not sound gzip (CRC check failed"),
    "not gzip at all": ("r.jsonl.gz", GOOD, "r.jsonl.gz: is not sound gzip (Not a gzipped file"),
    "gzip under another name": ("r.jsonl", gzip.compress(GOOD), "r.jsonl: is compressed by gzip, and its name does not say so"),
    "Zstandard": ("r.jsonl", b"\x28\xb5\x2f\xfd....", "r.jsonl: is compressed by Zstandard; decompress it: zstd -d"),
    "Zstandard by name": ("r.jsonl.zst", b"\x28\xb5\x2f\xfd....", "r.jsonl.zst: is in no known format"),
    "a zip archive": ("r.csv", b"PK\x03\x04....", "r.csv: is a zip archive; unpack it first"),
    "a web page": ("r.jsonl", b"<!doctype html>\n", "r.jsonl: is a web page, not rows"),
    "a pointer of Git LFS": ("r.jsonl", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "r.jsonl: is a pointer of Git LFS"),
    "Parquet under another name": ("r.csv", b"PAR1....", "r.csv: is Parquet, and its name does not say so"),
    "Parquet in gzip": ("r.parquet.gz", gzip.compress(b"PAR1"), "r.parquet.gz: is Parquet, which is compressed inside"),
    "Parquet cut short": ("r.parquet", b"PAR1....", "r.parquet: is not sound Parquet"),
    "an empty Parquet": ("r.parquet", b"", "r.parquet: is not sound Parquet"),
    "an unknown format": ("r.xlsx", b"x", "r.xlsx: is in no known format; end its name in one of .jsonl, .ndjson, .json, .csv, .tsv, .parquet"),
    "no ending": ("rows", b"x", "rows: is in no known format"),
    "a quote never closed": ("r.csv", b'q,a\nx,1\n"y,2\nz,3\n', "r.csv line 3: is not CSV: a quote that opens here is never closed"),
    "text after a quote": ("r.csv", b'q,a\n"y"z,2\n', "r.csv line 2: is not CSV: ',' expected after '\"'"),
    "lines end in CR alone": ("r.csv", b"q,a\rx,1\r", "r.csv line 1: is not CSV: a carriage return stands in a cell without quotes"),
    "too many cells": ("r.csv", b"q,a\nx,1\ny,2,3\n", "r.csv line 3 (row 2): 3 cells where there are 2 columns: ['y', '2', '3']"),
    "too few cells": ("r.csv", b"q,a\n\nx\n", "r.csv line 3 (row 1): 1 cells where there are 2 columns"),
    "a line after quoted newlines": ("r.csv", b'q,a\n"a\nb\nc",1\nx\n', "r.csv line 5 (row 2): 1 cells"),
    "a column twice": ("r.csv", b"q,a,a\nx,1,2\n", "r.csv line 1: has column 'a' twice in its header"),
    "another separator": (
        "r.csv",
        b"q;a\nx;1\n",
        (
            "r.csv line 1: missing column 'a', 'q'; the columns are 'q;a'; separate the cells by commas (.csv) "
            "or tabs (.tsv), not by ';'"
        ),
    ),
    "a missing column": ("r.csv", b"q,b\nx,1\n", "r.csv line 1: missing column 'a'; the columns are 'q', 'b'"),
    "a quoted cell in TSV": ("r.tsv", b'q\ta\n"say ""hi"""\t1\n', "r.tsv line 2: cell '\"say \"\"hi\"\"\"' looks quoted, and TSV has no quoting"),
    "JSON that goes on": ("r.json", b'[{"q": "x", "a": "1"}]\n[]', "r.json line 2: goes on after its end"),
    "JSON cut short": ("r.json", b'[\n{"q": "x", "a": "1"}\n', "r.json line 3: not JSON: ',' expected, and the file ends: it is cut short"),
    "a comma too many": ("r.json", b'[{"q": "x", "a": "1"},\n]', "r.json line 2: not JSON: a comma before the closing bracket"),
    "a comma too many in an object": ("r.json", b'{"data": [{"q": "x", "a": "1"}],\n}', "r.json line 2: not JSON: a comma before the closing brace"),
    "two lists": ("r.json", b'{"train": [{}], "test": [[]]}', "r.json line 1: has several lists of rows ('train', 'test'); keep one of them"),
    "no list": ("r.json", b'{"q": "x", "a": "1"}', "is an object without a list of rows; its names: 'q', 'a'"),
    "many names": ("r.json", json.dumps(dict.fromkeys(map(str, range(10, 60)), 0)).encode(), "its names: '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21' and 38 more"),
    "an object with an empty list": ("r.json", b'{"data": []}', "r.json line 1: is an object without a list of rows; its names: 'data'"),
    "a name twice at the top": ("r.json", b'{"n": 1, "n": 2, "data": []}', "r.json line 1: name 'n' stands twice"),
    "a text": ("r.json", b'"x"', "r.json line 1: is neither an array nor an object"),
    "NaN in JSON": ("r.json", b'[{"q": "x", "a": "1"},\n {"q": NaN}]', "r.json line 2: NaN is not JSON"),
    "a slip in JSON": ("r.json", b'[{"q": "x", "a": "1"},\n {"q": "x",\n "a" 1}]', "r.json line 3: not JSON: Expecting ':' delimiter near"),
    "a type in JSON": ("r.json", b'[{"q": "x", "a": "1"},\n\n {"q": "x", "a": 2}]', "r.json line 3 (row 2): field 'a': expected `str`, got `int` 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_its_place_and_one_line(tmp_path: Path, case: str) -> None:
    name, content, expected = REFUSED[case]
    with pytest.raises(DataError) as raised:
        questions(tmp_path, content, name)
    message = str(raised.value)
    assert expected in message
    assert message.isprintable()


def test_reading_goes_on_after_a_broken_line_and_stops_after_ten(tmp_path: Path) -> None:
    broken = b'{"q": 1, "a": "1"}\n' + GOOD + b"{\n" + GOOD + b'{"q": "\xff", "a": "1"}\n' + GOOD + b"7\n"
    with pytest.raises(BrokenRowsError, match=r"^4 faults: ") as raised:
        questions(tmp_path, broken)
    assert [fault.place.line for fault in raised.value.faults] == [1, 3, 5, 7]
    with pytest.raises(BrokenRowsError, match=r"^the first 10 faults: ") as raised:
        questions(tmp_path, b"{\n" * 1000)
    assert [fault.place.line for fault in raised.value.faults] == list(range(1, 11))


def read(tmp_path: Path, name: str, content: bytes, wanted: Wanted) -> list[object]:
    path = tmp_path / name
    path.write_bytes(content)
    rows = list(read_rows(DataFile(name=name, content=path), wanted))
    assert all(isinstance(row, Row) for row in rows), rows
    return [dict(row.values) for row in rows if isinstance(row, Row)]


ANY = Wanted(columns=(), required=frozenset())


def test_numbers_keep_all_their_digits(tmp_path: Path) -> None:
    digits = "9" * 4000
    content = f'{{"a": 9007199254740993, "b": {digits}, "c": 0.1, "d": -0.0, "e": 1e308, "f": 5e-324}}\n'
    (row,) = read(tmp_path, "r.jsonl", content.encode(), ANY)
    assert row == {"a": 9007199254740993, "b": int(digits), "c": 0.1, "d": -0.0, "e": 1e308, "f": 5e-324}


text = st.text(st.characters(codec="utf-8"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(text, json_values, max_size=4)


@in_one_directory
@given(rows=st.lists(objects, min_size=1), ascii_only=st.booleans(), ending=st.sampled_from(["\n", "\r\n"]))
def test_json_lines_come_back_as_written(
    tmp_path: Path, rows: list[object], ascii_only: bool, ending: str
) -> None:
    content = "".join(json.dumps(row, ensure_ascii=ascii_only) + ending for row in rows)
    assert read(tmp_path, "r.jsonl", content.encode(), ANY) == rows


@in_one_directory
@given(
    rows=st.lists(st.lists(text, min_size=2, max_size=2).filter(any), min_size=1),
    ending=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_csv_comes_back_as_written(tmp_path: Path, rows: list[list[str]], ending: str, quoting: int) -> None:
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator=ending, quoting=quoting)
    if quoting == csv.QUOTE_MINIMAL and ending == "\n":  # the writer forgets to quote "\r" then
        rows = [[cell.replace("\r", " ") for cell in row] for row in rows]
    writer.writerows([["q", "a"], *rows])
    wanted = Wanted(columns=("q", "a"), required=frozenset("qa"))
    found = read(tmp_path, "r.csv", sink.getvalue().encode(), wanted)
    assert found == [{"q": q, "a": a} for q, a in rows]


def stream_rows(content: bytes, chunk_bytes: int) -> list[object]:
    stream = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
    return [value for _, value in JsonStream(stream, chunk_bytes).rows()]


@given(
    rows=st.lists(json_values),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
    chunk_bytes=st.integers(1, 40),
)
def test_an_array_is_the_same_whatever_the_pieces_it_is_read_in(
    rows: list[object], indent: int | None, ascii_only: bool, chunk_bytes: int
) -> None:
    content = json.dumps(rows, indent=indent, ensure_ascii=ascii_only).encode()
    assert stream_rows(content, chunk_bytes) == rows
    of_rows = [row for row in rows if isinstance(row, dict)]
    wrapped = json.dumps(
        {"a": 1, "b": "[", "rows": of_rows, "z": {"y": rows}, "x": [1]}, indent=indent
    ).encode()
    if of_rows:
        assert stream_rows(wrapped, chunk_bytes) == of_rows


@given(
    rows=st.lists(json_values, max_size=4),
    cut=st.integers(0, 200),
    removed=st.integers(0, 3),
    put=st.text('[]{},:"\\ \n1e.-u', max_size=3),
    chunk_bytes=st.integers(1, 40),
)
@settings(max_examples=400)
def test_a_damaged_array_is_accepted_only_if_the_whole_text_is_json(
    rows: list[object], cut: int, removed: int, put: str, chunk_bytes: int
) -> None:
    whole = json.dumps(rows)
    content = whole[:cut] + put + whole[cut + removed :]
    try:
        expected: object = parse_json(content.strip())
    except NotJsonError:
        expected = None
    if isinstance(expected, list):
        assert stream_rows(content.encode(), chunk_bytes) == expected
    elif not isinstance(expected, dict):
        with pytest.raises(UnreadableError):
            stream_rows(content.encode(), chunk_bytes)


def test_lines_of_a_pretty_array_are_right_for_every_chunk_size() -> None:
    content = json.dumps(
        [{"a": n, "b": ["é", "\n"]} for n in range(50)], indent=1, ensure_ascii=False
    ).encode()
    expected = [number for number, line in enumerate(content.split(b"\n"), 1) if line == b" {"]
    for chunk_bytes in (1, 7, 64, 1 << 16):
        stream = io.BufferedReader(io.BytesIO(content))  # type: ignore[arg-type]
        assert [line for line, _ in JsonStream(stream, chunk_bytes).rows()] == expected


def test_rows_that_are_lists_take_the_names_of_the_source(tmp_path: Path) -> None:
    wanted = Wanted(columns=("q", "a"), required=frozenset("qa"), positions=("q", "a"))
    rows = [{"q": "x", "a": "1"}, {"q": "y", "a": "2"}]
    assert read(tmp_path, "r.csv", b"x,1\ny,2\n", wanted) == rows
    assert read(tmp_path, "with_header.csv", b"q,a\nx,1\ny,2\n", wanted) == rows
    assert read(tmp_path, "r.tsv", b"x\t1\ny\t2\n", wanted) == rows
    assert read(tmp_path, "r.json", b'[["x", "1"], ["y", "2"]]', wanted) == rows
    assert read(tmp_path, "r.jsonl", b'["x", "1"]\n{"q": "y", "a": "2"}\n', wanted) == rows


def test_the_limit_of_the_csv_module_is_left_as_it_was(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    read(tmp_path, "r.csv", b"q,a\n" + b"x" * (before + 1) + b",1\n", ANY)
    assert csv.field_size_limit() == before
