"""A log of JSON lines that a killed process may have left torn: whole records are kept, the rest is told.

For logs of other tools. What we keep ourselves is in the store, which a kill does not tear.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["BrokenLine", "Recovered", "recover_lines"]

_SPACE: Final = " \t\r"


@dataclass(frozen=True, kw_only=True)
class BrokenLine:
    """What stands on a line and is no record."""

    line: int
    """From 1."""
    text: str
    fields: Mapping[str, Any]
    """Fields that the fragment holds whole, from its beginning: enough to say what must be done again."""
    last: bool
    """Whether it ends the log without a line end: it was being written."""


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """The whole records of a log, and what is no record."""

    records: tuple[tuple[int, Mapping[str, Any]], ...]
    """Each with its line."""
    broken: tuple[BrokenLine, ...]
    text: str
    """The log again, one whole record a line, so that more can be appended."""

    def by(self, field: str) -> tuple[dict[Hashable, Mapping[str, Any]], list[Hashable]]:
        """Records by a field, the first of equal ones; and the values that different records share."""
        found: dict[Hashable, Mapping[str, Any]] = {}
        twice: dict[Hashable, None] = {}
        for _, record in self.records:
            if field not in record:
                continue
            first = found.setdefault(record[field], record)
            if first != record:
                twice[record[field]] = None
        return found, list(twice)

    def again(self, field: str) -> list[Any]:
        """Values of a field in broken lines of which no whole record is left: to be done again."""
        whole, _ = self.by(field)
        lost = [line.fields[field] for line in self.broken if field in line.fields]
        return [value for value in dict.fromkeys(lost) if value not in whole]


def recover_lines(text: str) -> Recovered:
    r"""Reads a log of JSON objects, one a line; objects that share a line are parted.

    Lines end at `\n` alone, since U+2028 and its like may stand in a string.

    >>> found = recover_lines('{"id": 1}{"id": 2}\n{"id": 3, "answ')
    >>> [record["id"] for _, record in found.records], found.again("id")
    ([1, 2], [3])
    >>> found.text
    '{"id": 1}\n{"id": 2}\n'
    """
    records: list[tuple[int, Mapping[str, Any]]] = []
    broken: list[BrokenLine] = []
    kept: list[str] = []
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, 1):
        at = 0
        while at < len(line):
            at = _behind_space(line, at)
            if at == len(line):
                break
            try:
                value, end = _DECODER.raw_decode(line, at)
            except (ValueError, RecursionError):
                value, end = None, len(line)
            if isinstance(value, dict):
                records.append((number, value))
                kept.append(line[at:end] + "\n")
            else:
                rest = line[at:]
                end = len(line)
                last = number == len(lines)
                broken.append(BrokenLine(line=number, text=rest, fields=_whole_fields(rest), last=last))
            at = end
    return Recovered(records=tuple(records), broken=tuple(broken), text="".join(kept))


def _no_constant(literal: str) -> Any:
    raise ValueError(f"{literal} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


def _behind_space(line: str, at: int) -> int:
    while at < len(line) and line[at] in _SPACE:
        at += 1
    return at


def _whole_fields(fragment: str) -> dict[str, Any]:
    """Fields at the beginning of a torn object whose values are followed by a comma."""
    found: dict[str, Any] = {}
    at = _behind_space(fragment, 0)
    if fragment[at : at + 1] != "{":
        return found
    while True:
        try:
            name, at = _DECODER.raw_decode(fragment, _behind_space(fragment, at + 1))
            at = _behind_space(fragment, at)
            if not isinstance(name, str) or fragment[at : at + 1] != ":":
                return found
            value, at = _DECODER.raw_decode(fragment, _behind_space(fragment, at + 1))
        except (ValueError, RecursionError):
            return found
        at = _behind_space(fragment, at)
        if fragment[at : at + 1] != ",":  # a number may go on
            return found
        found[name] = value
