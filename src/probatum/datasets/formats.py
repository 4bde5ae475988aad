"""Rows of one file, whatever its format: a stream of rows and faults, each with its place.

A fault is data here, so that a reader can go on after a broken line; after a fault that hides where
the next row begins, the stream ends.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence

from probatum.datasets.faults import Fault, Place, shown
from probatum.datasets.files import (
    ByteStream,
    DataFile,
    UnreadableError,
    byte_lines,
    decode,
    open_bytes,
    reading,
)
from probatum.datasets.jsontext import JsonStream, NotJsonError, parse_json
from probatum.datasets.rows import Row, Wanted

__all__ = ["FORMATS", "read_rows"]

_SNIFFED_BYTES = 1 << 20
_LONGEST_CELL = 1 << 30
"""Characters; the limit of `csv` is 131,072, which real contexts pass."""


def read_rows(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    """The rows of `file` in order, streamed; faults stand where they are met."""
    reader = FORMATS.get(file.suffix)
    if reader is None:
        known = ", ".join(f".{suffix}" for suffix in FORMATS)
        problem = (
            f"is in no known format; end its name in one of {known}, and in .gz after that if it is gzip"
        )
        yield Fault(Place(file.name), problem)
        return
    found: Row | Fault | None = None
    try:
        for found in reader(file, wanted):
            yield found
    except UnreadableError as error:
        yield Fault(Place(file.name, error.line, error.row), error.problem)
    else:
        if found is None:
            yield Fault(Place(file.name), "has no rows; fetch the file again, or leave it out")


def _json_lines(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    with open_bytes(file) as stream, reading():
        number = 0
        for line, offset, raw in byte_lines(stream):
            if not raw.strip():
                continue
            number += 1
            place = Place(file.name, line, number)
            try:
                value = parse_json(decode(raw, line, offset), nonfinite=wanted.nonfinite)
            except UnreadableError as error:
                yield Fault(place, error.problem)
            except NotJsonError as error:
                column = "" if error.position is None else f" (column {error.position + 1})"
                cut = "" if raw.endswith(b"\n") else "; the file ends in this line, so it may be cut short"
                yield Fault(place, f"{error.problem}{column}{cut}")
            else:
                yield _from_json(value, place, number, wanted)


def _json(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    if _holds_json_lines(file, wanted):
        yield from _json_lines(file, wanted)
        return
    with open_bytes(file) as stream, reading():
        for number, (line, value) in enumerate(JsonStream(stream, nonfinite=wanted.nonfinite).rows(), 1):
            yield _from_json(value, Place(file.name, line, number), number, wanted)


def _holds_json_lines(file: DataFile, wanted: Wanted) -> bool:
    """Whether a `.json` file holds JSON lines, as many on the hub do: an object a line, several lines."""
    with open_bytes(file) as stream, reading():
        head = stream.read(_SNIFFED_BYTES).lstrip()
    first, _, rest = head.partition(b"\n")
    if not (first.startswith(b"{") and rest.lstrip().startswith(b"{")):
        return False
    try:
        parse_json(first.decode("utf-8"), nonfinite=wanted.nonfinite)
    except (NotJsonError, UnicodeDecodeError):
        return False
    return True


def _from_json(value: object, place: Place, number: int, wanted: Wanted) -> Row | Fault:
    if isinstance(value, dict):
        return Row(place, number, value)
    if isinstance(value, list) and wanted.positions:
        return _from_list(value, place, number, wanted.positions)
    return Fault(place, f"a row must be an object, and is {shown(value)}")


def _from_list(
    cells: Sequence[object], place: Place, number: int, names: Sequence[str], *, texts: bool = False
) -> Row | Fault:
    if len(cells) != len(names):
        problem = f"{len(cells)} cells where there are {len(names)} columns: {shown(list(cells))}"
        return Fault(place, f"{problem}; quote a cell that has a separator in it" if texts else problem)
    return Row(place, number, dict(zip(names, cells, strict=True)), texts)


def _csv(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    with open_bytes(file) as stream, reading():
        yield from _table(file.name, _csv_records(stream), wanted)


def _tsv(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    with open_bytes(file) as stream, reading():
        yield from _table(file.name, _tsv_records(stream), wanted)


def _table(name: str, records: Iterator[tuple[int, list[str]]], wanted: Wanted) -> Iterator[Row | Fault]:
    names: Sequence[str] = wanted.positions
    if not names:
        line, names = next(records, (1, []))
        if not wanted.columns:
            names = _told_apart(names)
        twice = next(
            (column for column in names if names.count(column) > 1 and column in wanted.columns), None
        )
        if twice is not None:
            raise UnreadableError(f"has column {shown(twice)} twice in its header; rename one", line=line)
    if problem := wanted.missing(names):
        raise UnreadableError(problem, line=1)
    number = 0
    for line, cells in records:
        if number == 0 and tuple(cells) == wanted.positions:
            continue  # a header after all, and it says the same
        number += 1
        yield _from_list(cells, Place(name, line, number), number, names, texts=True)


def _told_apart(names: Sequence[str]) -> list[str]:
    """The names, with a number behind each that stands there again: where all is read, nothing is lost."""
    given: list[str] = []
    for name in names:
        number, own = 1, name
        while own in given:
            number += 1
            own = f"{name}.{number}"
        given.append(own)
    return given


def _csv_records(stream: ByteStream) -> Iterator[tuple[int, list[str]]]:
    """Line on which each record begins, and its cells (RFC 4180; blank lines are skipped)."""
    lines = (decode(raw, number, offset) for number, offset, raw in byte_lines(stream))
    reader = csv.reader(lines, strict=True)
    while True:
        line = reader.line_num + 1
        usual = csv.field_size_limit(_LONGEST_CELL)  # the module knows one limit for all readers
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise UnreadableError(f"is not CSV: {_explained(error)}", line=line) from None
        finally:
            csv.field_size_limit(usual)
        if cells is None:
            return
        if cells:
            yield line, cells


def _explained(error: csv.Error) -> str:
    text = str(error)
    if "new-line character" in text:
        return "a carriage return stands in a cell without quotes, or lines end in it; end them in \\n"
    if "unexpected end" in text:
        return "a quote that opens here is never closed; close it, or fetch the file again"
    return f"{text}; double a quote that belongs to a quoted cell"


def _tsv_records(stream: ByteStream) -> Iterator[tuple[int, list[str]]]:
    """As IANA defines text/tab-separated-values: no quoting, so that a quote is a character."""
    for number, offset, raw in byte_lines(stream):
        text = decode(raw, number, offset).removesuffix("\n").removesuffix("\r")
        if not text:
            continue
        cells = text.split("\t")
        for cell in cells:
            if len(cell) > 1 and cell[0] == cell[-1] == '"' and '""' in cell[1:-1]:
                raise UnreadableError(
                    f"cell {shown(cell)} looks quoted, and TSV has no quoting; save the table as CSV",
                    line=number,
                )
        yield number, cells


def _text(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    """The whole file is one row with the column `text`; the task's function may make documents of it."""
    del wanted  # there is one column
    with open_bytes(file) as stream, reading():
        text = "".join(decode(raw, number, offset) for number, offset, raw in byte_lines(stream))
        if text:
            yield Row(Place(file.name, 1, 1), 1, {"text": text})


def _parquet(file: DataFile, wanted: Wanted) -> Iterator[Row | Fault]:
    # pyarrow takes 0.13 CPU-seconds to import, and most sets are lines of JSON.
    from probatum.datasets.parquet import parquet_rows  # noqa: PLC0415 - see above

    yield from parquet_rows(file, wanted)


FORMATS: Mapping[str, Callable[[DataFile, Wanted], Iterator[Row | Fault]]] = {
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "json": _json,
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "txt": _text,
}
"""Ending of the name → how it is read."""
