"""What is wrong with rows, and where: collected, then told together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probatum.core.errors import DataError

__all__ = ["MOST_FAULTS", "BrokenRowsError", "Fault", "FaultLog", "Place", "listed", "one_line", "shown"]

MOST_FAULTS = 10
"""Faults told at most; reading stops there."""

_SHOWN_CHARACTERS = 80
_LISTED_NAMES = 12


def shown(value: object) -> str:
    """`repr(value)` on one line, cut to a length that people read."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def listed(names: Iterable[object]) -> str:
    """Names side by side, the first of them where there are many."""
    every = list(names)
    some = ", ".join(shown(name) for name in every[:_LISTED_NAMES]) or "none"
    return some if len(every) <= _LISTED_NAMES else f"{some} and {len(every) - _LISTED_NAMES} more"


def one_line(text: str) -> str:
    """`text` with what a terminal would not show as it is (line ends, control characters) escaped."""
    if text.isprintable():
        return text
    shown_as = (sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return "".join(shown_as)


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands. A file of lines has `line`, a table has `row`; both count from 1."""

    file: str
    line: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        if self.line is None:
            return self.file if self.row is None else f"{self.file} row {self.row}"
        beside = "" if self.row is None or self.row == self.line else f" (row {self.row})"
        return f"{self.file} line {self.line}{beside}"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and what to do about it where that can be said."""

    place: Place
    problem: str
    field: str | None = None

    def __str__(self) -> str:
        field = "" if self.field is None else f"field {self.field!r}: "
        # Names of files, messages of libraries and of a task's own exceptions may hold anything.
        return one_line(f"{self.place}: {field}{self.problem}")


class BrokenRowsError(DataError):
    """Rows or items that stop a run before any model is asked; `faults` has them one by one."""

    def __init__(self, faults: Sequence[Fault], *, more: bool = False) -> None:
        self.faults = tuple(faults)
        listed = "; ".join(str(fault) for fault in self.faults)
        count = f"the first {len(self.faults)} faults: " if more else f"{len(self.faults)} faults: "
        super().__init__(listed if len(self.faults) == 1 and not more else count + listed)


class FaultLog:
    """Collects faults; raises when there are `most` of them, or at the end if there are any."""

    def __init__(self, most: int = MOST_FAULTS) -> None:
        self._most = most
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Notes a fault.

        Raises:
            BrokenRowsError: there are now as many as are told at most.
        """
        self._faults.append(fault)
        if len(self._faults) >= self._most:
            raise BrokenRowsError(self._faults, more=True)

    def finish(self) -> None:
        """Ends the reading.

        Raises:
            BrokenRowsError: anything was noted.
        """
        if self._faults:
            raise BrokenRowsError(self._faults)
