"""Rows that lie in parts in several files, joined by the column that names them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from probatum.core.protocol import Merge
from probatum.datasets.faults import Fault, shown
from probatum.datasets.files import DataFile
from probatum.datasets.formats import read_rows
from probatum.datasets.rows import Row, Wanted

__all__ = ["merged_rows"]


def merged_rows(files: Sequence[DataFile], wanted: Wanted, merge: Merge) -> Iterator[Row | Fault]:
    """Rows of the first file, each with the columns that later files add under its name.

    The first file streams; later ones are held in memory. A row of the first file that no later file
    names stays as it is; a later row without a row in the first file is a fault, and so is a second
    row of one name in one file.
    """
    later: list[dict[str, Row]] = []
    for file in files[1:]:
        parts: dict[str, Row] = {}
        for found in read_rows(file, wanted):
            named = found if isinstance(found, Fault) else _named(found, merge)
            if isinstance(found, Fault) or isinstance(named, Fault):
                yield named if isinstance(named, Fault) else found
            elif (first := parts.setdefault(named, found)) is not found:
                yield Fault(found.place, f"{shown(named)} stands at {first.place}, too", merge.column)
        later.append(parts)
    for found in read_rows(files[0], wanted):
        named = found if isinstance(found, Fault) else _named(found, merge)
        if isinstance(found, Fault) or isinstance(named, Fault):
            yield named if isinstance(named, Fault) else found
            continue
        values = dict(found.values)
        for parts in later:
            if (part := parts.pop(named, None)) is not None:
                values = {**part.values, **values}
        yield replace(found, values=values)
    for name, row in (pair for parts in later for pair in parts.items()):
        yield Fault(row.place, f"{shown(name)} has no row in {files[0].name}; take it out", merge.column)


def _named(row: Row, merge: Merge) -> str | Fault:
    """What names the row."""
    if merge.column not in row.values:
        return Fault(row.place, "missing, and rows are joined by it", merge.column)
    value = row.values[merge.column]
    try:
        return str(value) if merge.name is None else merge.name(value)
    except Exception as error:  # noqa: BLE001 - a task's function may raise anything; it becomes a fault
        return Fault(row.place, f"{shown(value)} names no row: {type(error).__name__}: {error}", merge.column)
