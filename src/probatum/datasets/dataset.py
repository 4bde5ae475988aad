"""Data sets: items that can be read again and again, checked before any model is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from probatum.core.errors import DataError
from probatum.core.protocol import Source, ToItem
from probatum.core.raised import described
from probatum.core.records import Item
from probatum.datasets.checks import malformed, settle
from probatum.datasets.faults import Fault, FaultLog, Place, shown
from probatum.datasets.files import DataFile
from probatum.datasets.formats import read_rows
from probatum.datasets.hub import HubAccess
from probatum.datasets.merging import merged_rows
from probatum.datasets.rows import Row
from probatum.datasets.schema import Schema
from probatum.datasets.sources import Located, locate

__all__ = ["Dataset", "Expected", "load_file", "load_items", "load_rows", "of_items", "of_rows"]

_Placed = tuple[Place, Any]
"""A thing and where it stands; the thing is a `Fault` where it cannot be had."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a source is known to hold; loading anything else is an error."""

    count: int | None = None
    """Number of items."""
    digest: str | None = None
    """Digest of the items (`Dataset.digest`)."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Items in the order of their file. Every iteration reads the file again, one item at a time."""

    count: int
    """Number of items, the invalid ones included."""
    digest: str
    """SHA-256 over the digests of the items (32 bytes each) in order."""
    origin: Mapping[str, object]
    """Where they came from, as plain JSON data: `kind`, `location`, `revision`, `files`."""
    invalid: Mapping[str, str]
    """Item id → what is wrong with the item itself. They are iterated over, too: they stay in the count."""
    placed: Callable[[], Iterator[_Placed]] = field(repr=False, compare=False)
    """Reads the items once more, each with its place."""

    def __iter__(self) -> Iterator[Item]:
        """Streams the items.

        Raises:
            DataError: a file has changed since it was checked.
        """
        for place, item in self.placed():
            if isinstance(item, Fault):
                raise DataError(f"{place}: the file changed while it was in use; start again")
            yield settle(item)[0]

    def __len__(self) -> int:
        return self.count


def load_items(
    source: Source,
    row: type,
    to_item: ToItem,
    *,
    data_directory: Path | None = None,
    hub: HubAccess | None = None,
    expected: Expected | None = None,
    strict: bool = False,
) -> Dataset:
    """The items of a source, from the first of data directory, package and hub that has it.

    Reads everything once, to check it and to digest it; keeps no rows.

    Args:
        source: where the rows may be.
        row: frozen dataclass that every row must fit; fields that it does not name are ignored.
        to_item: from an instance of `row` to an item, or to several (the questions of a passage).
        data_directory: looked in first; `None` takes `PROBATUM_DATA`.
        hub: how to reach the hub; `None` reads the environment.
        expected: count and digest that the items must have.
        strict: invalid items are errors, too.

    Raises:
        DataError: there are no rows, or not as expected.
        BrokenRowsError: rows that cannot be parsed or do not fit, an id twice, an item that is none.
    """
    located = locate(source, data_directory, hub)
    dataset = _checked(located.origin(), _items_of(located, row, to_item, source), strict=strict)
    if dataset.count == 0:
        where = f"{dataset.origin['kind']} {dataset.origin['location']}"
        raise DataError(f"{where}: not one of its rows belongs to the set; fetch the whole set again")
    if expected is not None:
        _compare(dataset, expected)
    return dataset


def load_file(
    path: Path,
    row: type,
    to_item: ToItem,
    *,
    columns: tuple[str, ...] = (),
    nonfinite: bool = False,
    strict: bool = False,
) -> Dataset:
    """The items of a file of the user's own, in place of a source. No row is left out of it.

    Args:
        path: JSON lines, JSON, CSV, TSV or Parquet; all but the last may end in `.gz`.
        row: frozen dataclass that every row must fit.
        to_item: from an instance of `row` to an item, or to several (the questions of a passage).
        columns: names of the columns where the file has no header.
        nonfinite: whether JSON may have `NaN` and `Infinity` in it.
        strict: invalid items are errors, too.

    Raises:
        DataError: as `load_items`.
    """
    try:
        problem = None if path.is_file() else "is not a file" if path.exists() else "does not exist"
    except OSError as error:  # no permission, a name too long
        problem = f"cannot be read ({error.strerror or error})"
    if problem is not None:
        raise DataError(f"data file {str(path)!r} {problem}; name a file of rows")
    file = DataFile(name=path.name, content=path)
    located = Located(kind="file", location=str(path.absolute()), revision=None, files=(file,))
    source = Source(columns=columns, nonfinite=nonfinite)
    return _checked(located.origin(), _items_of(located, row, to_item, source), strict=strict)


def load_rows(
    source: Source, row: type, *, data_directory: Path | None = None, hub: HubAccess | None = None
) -> tuple[Any, ...]:
    """All rows of a source as instances of `row`: for few-shot pools, which are small.

    Raises:
        DataError: as `load_items`.
    """
    located = locate(source, data_directory, hub)
    log = FaultLog()
    rows = []
    for _, found in _rows_of(located.files, Schema.of(row, nonfinite=source.nonfinite), source):
        if isinstance(found, Fault):
            log.add(found)
        else:
            rows.append(found)
    log.finish()
    return tuple(rows)


def of_items(items: Iterable[Item], *, name: str = "memory", strict: bool = False) -> Dataset:
    """A data set of items that are in memory already, checked in the same way.

    Raises:
        BrokenRowsError: an id twice, or an item that is none.
    """
    kept = tuple(items)

    def placed() -> Iterator[_Placed]:
        return ((Place(name, row=number), item) for number, item in enumerate(kept, 1))

    return _checked(_in_memory(name), placed, strict=strict)


def of_rows(
    rows: Sequence[Mapping[str, object]],
    row: type,
    to_item: ToItem,
    *,
    name: str = "memory",
    strict: bool = False,
) -> Dataset:
    """A data set of rows that are in memory already (`Task.fixed_shots`), checked in the same way.

    Raises:
        BrokenRowsError: as `load_items`.
    """
    schema = Schema.of(row)

    def placed() -> Iterator[_Placed]:
        for number, values in enumerate(rows, 1):
            place = Place(name, row=number)
            converted = schema.convert(Row(place, number, values))
            yield from _items(place, converted, to_item)

    return _checked(_in_memory(name), placed, strict=strict)


def _in_memory(name: str) -> Mapping[str, object]:
    return {"kind": "memory", "location": name, "revision": None, "files": []}


def _rows_of(files: Sequence[DataFile], schema: Schema, source: Source) -> Iterator[_Placed]:
    """Rows that the source selects, and faults."""
    wanted = schema.wanted(source.columns)
    if source.merge is not None:
        streams = [merged_rows(files, wanted, source.merge)]
    else:
        streams = [read_rows(file, wanted) for file in files]
    for found in chain.from_iterable(streams):
        row = found if isinstance(found, Fault) else schema.convert(found)
        if isinstance(row, Fault) or source.select is None or source.select(row):
            yield found.place, row


def _items_of(
    located: Located, row_type: type, to_item: ToItem, source: Source
) -> Callable[[], Iterator[_Placed]]:
    """A function that reads the files anew and notices when they are not those of the first reading."""
    schema = Schema.of(row_type, nonfinite=source.nonfinite)
    first = [file.signature() for file in located.files]

    def unchanged() -> None:
        for file, before in zip(located.files, first, strict=True):
            if file.signature() != before:
                raise DataError(f"{file.name} changed while it was in use; start again")

    def placed() -> Iterator[_Placed]:
        unchanged()
        for place, row in _rows_of(located.files, schema, source):
            yield from _items(place, row, to_item)
        unchanged()

    return placed


def _items(place: Place, row: Any, to_item: ToItem) -> Iterator[_Placed]:
    """The item of a row, or its items; the fault where there is none."""
    if isinstance(row, Fault):
        yield place, row
        return
    try:
        made = to_item(row)
    except Exception as error:  # noqa: BLE001 - a task's function may raise anything; it becomes a fault
        problem = f"to_item failed: {described(error)}; the row is {shown(row)}"
        yield place, Fault(place, problem)
        return
    if isinstance(made, tuple):
        yield from ((place, item) for item in made)
    else:
        yield place, made


def _checked(
    origin: Mapping[str, object], placed: Callable[[], Iterator[_Placed]], *, strict: bool
) -> Dataset:
    """Reads all items once: count, digest, invalid ones.

    Raises:
        BrokenRowsError: faults.
        DataError: not one item can be used.
    """
    log = FaultLog()
    seen: set[str] = set()
    invalid: dict[str, str] = {}
    digest = hashlib.sha256()
    example: Fault | None = None
    for place, item in placed():
        fault = item if isinstance(item, Fault) else _unusable(place, item)
        if fault is None and item.id in seen:
            # Where the first one stands is not kept for all, and looked up again for this one.
            first = next(
                where for where, other in placed() if isinstance(other, Item) and other.id == item.id
            )
            fault = Fault(place, f"id {shown(item.id)} stands at {first}, too; make ids unique")
        if fault is not None:
            log.add(fault)
            continue
        seen.add(item.id)
        settled, reason = settle(item)
        digest.update(bytes.fromhex(settled.digest))
        if reason is not None:
            invalid[item.id] = reason
            example = example or Fault(place, f"item {shown(item.id)}: {reason}")
            if strict:
                log.add(Fault(place, f"item {shown(item.id)}: {reason}; mend the item, or leave it out"))
    log.finish()
    if example is not None and len(invalid) == len(seen):
        raise DataError(f"not one of {len(seen)} items can be scored: {example}; mend the rows")
    return Dataset(
        count=len(seen),
        digest=digest.hexdigest(),
        origin=origin,
        invalid=MappingProxyType(invalid),
        placed=placed,
    )


def _unusable(place: Place, item: object) -> Fault | None:
    problem = malformed(item)
    return None if problem is None else Fault(place, problem)


def _compare(dataset: Dataset, expected: Expected) -> None:
    where = f"{dataset.origin['kind']} {dataset.origin['location']}"
    if expected.count is not None and dataset.count != expected.count:
        raise DataError(
            f"{where}: {dataset.count} items where {expected.count} are expected; fetch the set again"
        )
    if expected.digest is not None and dataset.digest != expected.digest:
        raise DataError(
            f"{where}: the items have digest {dataset.digest} and not {expected.digest}: "
            "this is another edition of the set; fetch the expected one"
        )
