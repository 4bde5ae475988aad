"""Rows of several files: each file is made again by itself, and its numbers stand under its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .files import Data
from .rows import Difference, Finding, Row

__all__ = ["for_each_file", "with_files"]

Find = Callable[[Row, Data], Finding]


def with_files(row: Row, data: Data) -> Row:
    """The row with its patterns replaced by the files that they match."""
    names = [
        name
        for each in row.inputs
        for name in (list(data.matching(each)) if re.search(r"[*?\[]", each) else [each])
    ]
    return replace(row, inputs=tuple(names))


def for_each_file(find: Find, *parts: str) -> Find:
    """`find` for rows that name more than one file of the family: those whose names hold a part."""

    def found(row: Row, data: Data) -> Finding:
        files = [name for name in row.inputs if any(part in name for part in parts)]
        if len(files) < 2:
            return find(row, data)
        others = tuple(name for name in row.inputs if name not in files)
        findings = {_stem(name): find(_alone(row, name, others), data) for name in files}
        return _merged(findings)

    return found


def _alone(row: Row, name: str, others: tuple[str, ...]) -> Row:
    return replace(row, inputs=(name, *others))


def _stem(name: str) -> str:
    return re.sub(r"\.(jsonl?|csv)(\.gz)?$", "", name.rpartition("/")[2])


def _merged(findings: Mapping[str, Finding]) -> Finding:
    numbers: dict[str, Any] = {}
    differences: list[Difference] = []
    for stem, each in findings.items():
        for name in _names(stem, findings):
            numbers[name] = each.numbers
        differences += [replace(one, item=f"{stem}: {one.item}") for one in each.differences]
    first = next(iter(findings.values()))
    return Finding(
        numbers={**numbers, "files": len(findings), "n": len(findings)},
        material=first.material,
        checks=[(f"{stem}: {n}", a, b) for stem, each in findings.items() for n, a, b in each.checks],
        ours={f"{stem}: {n}": v for stem, each in findings.items() for n, v in each.ours.items()},
        differences=differences,
        explained=next((each.explained for each in findings.values() if each.explained), None),
        notes=[f"{stem}: {note}" for stem, each in findings.items() for note in each.notes],
    )


def _names(stem: str, findings: Mapping[str, Finding]) -> set[str]:
    """The file's name, and each part of it between underscores that no other file's name has."""
    others = {part for each in findings if each != stem for part in each.split("_")}
    return {stem, *(part for part in stem.split("_") if part not in others)}
