"""Rows of a Parquet file, in batches. The only module that imports pyarrow; imported when first needed.

Values arrive as Python has them: integers and strings whole, decimals as `Decimal`, dates and times
as `datetime` (microseconds; a timestamp with nanoseconds is refused rather than rounded), structs and
maps as dictionaries, lists as lists, dictionary-encoded columns as their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from probatum.datasets.faults import Place, shown
from probatum.datasets.files import DataFile, UnreadableError, reading
from probatum.datasets.rows import Row, Wanted

__all__ = ["parquet_rows"]

_BATCH_ROWS = 256
"""Rows in memory at a time: some sets carry whole articles in a row."""

_DAMAGE = (pa.ArrowException, OSError, ValueError, LookupError, OverflowError)
"""What pyarrow raises on a damaged file, or on a value that Python cannot hold."""


def parquet_rows(file: DataFile, wanted: Wanted) -> Iterator[Row]:
    """The wanted columns of each row.

    Raises:
        UnreadableError: the file is damaged, lacks a column, or has a value that Python cannot hold.
    """
    if file.compressed:
        raise UnreadableError("is Parquet, which is compressed inside; decompress it: gunzip")
    number = 0
    with reading(), file.content.open("rb") as stream:
        try:
            for batch in _batches(stream, wanted):
                for values in _python_values(batch, number):
                    number += 1
                    yield Row(Place(file.name, row=number), number, values)
        except _DAMAGE as error:
            raise UnreadableError(
                f"is not sound Parquet ({_first_line(error)}); fetch the file again"
            ) from error


def _batches(stream: Any, wanted: Wanted) -> Iterator[Any]:
    table = pq.ParquetFile(stream, page_checksum_verification=True)
    names = table.schema_arrow.names
    if problem := wanted.missing(names):
        raise UnreadableError(problem)
    columns = [name for name in names if name in wanted.columns]
    yield from table.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False)


def _python_values(batch: Any, before: int) -> list[dict[str, object]]:
    columns: dict[str, list[object]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            columns[name] = _microseconds(column).to_pylist(maps_as_pydicts="strict")
        except _DAMAGE as error:
            raise UnreadableError(
                f"column {shown(name)} cannot be read from here on: {_first_line(error)}", row=before + 1
            ) from error
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _microseconds(column: Any) -> Any:
    """`column` with its nanoseconds as microseconds; fails where that would round.

    Otherwise the type of the value would depend on whether pandas is installed.
    """
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", tz=kind.tz))
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return column.cast(pa.duration("us"))
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return column.cast(pa.time64("us"))
    return column


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
