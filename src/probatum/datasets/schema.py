"""From the values of a row to an instance of the task's row type, checked by msgspec.

A field is read from the column of its name, or from the one that its metadata names:
`best: str = field(metadata={"column": "Best Answer"})`. Two names are filled in by the loader where the
row type has them, because some sets say what a row is only by where it stands: `row_file` (name of the
file) and `row_number` (from 1, in that file).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import msgspec

from probatum.core.errors import DataError
from probatum.datasets.faults import Fault, listed, shown
from probatum.datasets.foreign import first_foreign
from probatum.datasets.rows import Row, Wanted

__all__ = ["Schema"]

_PLACE_FIELDS = ("row_file", "row_number")
_AT = re.compile(r"(?P<problem>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]")
_NOTHING = object()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What a row type asks of a row."""

    row: type
    columns: Mapping[str, str]
    """Field → column."""
    required: frozenset[str]
    """Fields without a default."""
    attributes: Mapping[str, str]
    """Field → attribute of an instance; they differ in a Struct that renames."""
    placed: frozenset[str]
    """Those of `row_file` and `row_number` that the type has."""
    nonfinite: bool = False
    """Whether NaN and the infinities are values."""

    @classmethod
    def of(cls, row: type, *, nonfinite: bool = False) -> Schema:
        """The schema of a dataclass (or a msgspec Struct).

        Raises:
            DataError: `row` is not such a type.
        """
        try:
            described: Any = msgspec.inspect.type_info(row)
            fields = {field.encode_name: field.required for field in described.fields}
        except (AttributeError, TypeError, NameError) as error:
            why = f" ({error})" if dataclasses.is_dataclass(row) else ", which is no dataclass,"
            raise DataError(
                f"row type {getattr(row, '__qualname__', row)!r}{why} cannot be read into; "
                "make it a frozen dataclass of plain types"
            ) from error
        renamed = {}
        if dataclasses.is_dataclass(row):
            renamed = {
                field.name: str(field.metadata["column"])
                for field in dataclasses.fields(row)
                if "column" in field.metadata
            }
        placed = frozenset(fields).intersection(_PLACE_FIELDS)
        return cls(
            row=row,
            columns={name: renamed.get(name, name) for name in fields if name not in placed},
            attributes={field.encode_name: field.name for field in described.fields},
            required=frozenset(name for name, needed in fields.items() if needed and name not in placed),
            placed=placed,
            nonfinite=nonfinite,
        )

    def wanted(self, positions: tuple[str, ...] = ()) -> Wanted:
        """The columns that this type reads; `positions` names those of a table without a header."""
        return Wanted(
            columns=(*self.columns.values(), *sorted(self.placed)),
            required=frozenset(self.columns[name] for name in self.required),
            positions=positions,
            nonfinite=self.nonfinite,
        )

    def convert(self, row: Row) -> Any:
        """An instance of the row type, or the `Fault` that keeps the row from being one."""
        values = row.values
        chosen = {name: values[column] for name, column in self.columns.items() if column in values}
        for name in self.placed:
            if name in values:
                return Fault(
                    row.place, "the loader fills this in, and the file has it, too; rename one", name
                )
            chosen[name] = row.place.file if name == "row_file" else row.number
        if found := first_foreign(chosen, plain=False, nonfinite=self.nonfinite):
            path, problem = found
            return Fault(row.place, f"{problem}; mend the row", self._column(path.removeprefix(".")))
        try:
            # A CSV cannot say that "3" is a number; where a field is text, "3", "NA" and "null" stay text.
            converted: Any = msgspec.convert(chosen, self.row, strict=not row.texts)
        except msgspec.ValidationError as error:
            return self._fault(row, chosen, str(error))
        except Exception as error:  # noqa: BLE001 - the __post_init__ of a row type may raise anything
            problem = f"{self.row.__name__} cannot be made of it: {type(error).__name__}: {error}"
            return Fault(row.place, f"{problem}; the row is {shown(dict(chosen))}")
        if row.texts and (infinite := self._infinite(converted)):
            return Fault(
                row.place, f"{shown(chosen[infinite])} is not a finite number", self.columns[infinite]
            )
        return converted

    def _infinite(self, converted: Any) -> str | None:
        """The field in which the text "nan" or "inf" became a number, as `float` reads them."""
        values = ((name, getattr(converted, self.attributes[name])) for name in self.columns)
        return next(
            (name for name, value in values if isinstance(value, float) and not isfinite(value)), None
        )

    def _fault(self, row: Row, chosen: Mapping[str, object], message: str) -> Fault:
        matched = _AT.fullmatch(message)
        problem, path = (matched["problem"], matched["path"] or "") if matched else (message, "")
        if missing := _MISSING.fullmatch(problem):
            field = self._column(f"{path}.{missing['name']}".removeprefix("."))
            holder = row.values if not path else _value_at(chosen, path)
            present = listed(holder) if isinstance(holder, Mapping) else "none"
            return Fault(row.place, f"missing; the row's fields are {present}", field)
        value = _value_at(chosen, path)
        what = "" if value is _NOTHING else f" {shown(value)}"
        return Fault(
            row.place, f"{problem[:1].lower()}{problem[1:]}{what}", self._column(path.removeprefix("."))
        )

    def _column(self, path: str) -> str:
        """`path` as the file has it: its first step by the name of the column."""
        name = next((name for name in self.columns if re.match(rf"{re.escape(name)}(?![^.\[])", path)), None)
        return path if name is None else self.columns[name] + path[len(name) :]


def _value_at(values: object, path: str) -> object:
    """The value at a path such as `.answers[0].text`; `_NOTHING` where it leads nowhere."""
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return _NOTHING
        try:
            values = values[step["name"]] if step["name"] else values[int(step["index"])]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return _NOTHING
        at = step.end()
    return values
