"""A row as its file has it, and which columns of it are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probatum.datasets.faults import Place, listed

__all__ = ["Row", "Wanted"]


@dataclass(frozen=True, slots=True)
class Row:
    """One row as the file has it."""

    place: Place
    number: int
    """Which row of its file it is, from 1; header and blank lines do not count."""
    values: Mapping[str, object]
    texts: bool = False
    """Every value is a string because the format has nothing else (CSV, TSV)."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which columns are read."""

    columns: tuple[str, ...]
    """Columns that a row may have; others are not looked at."""
    required: frozenset[str]
    positions: tuple[str, ...] = ()
    """Names for rows that come as lists: CSV without a header, JSON arrays."""
    nonfinite: bool = False
    """Whether JSON may have `NaN` and `Infinity` in it."""

    def missing(self, present: Sequence[str]) -> str | None:
        """What to say where a table lacks a column that every row needs."""
        lacking = sorted(self.required.difference(present))
        if not lacking:
            return None
        return f"missing column {listed(lacking)}; the columns are {listed(present)}{_separated(present)}"


def _separated(present: Sequence[str]) -> str:
    """A hint where the one column's name has another separator in it, as spreadsheets write them."""
    if len(present) != 1:
        return ""
    found = next((sign for sign in (";", "\t", "|", ",") if sign in present[0]), None)
    return "" if found is None else f"; separate the cells by commas (.csv) or tabs (.tsv), not by {found!r}"
