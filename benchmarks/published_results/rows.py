"""What is published, what is found, and how the two are told apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .files import Data

__all__ = ["Difference", "Family", "Finding", "NoMaterial", "Prose", "Rate", "Row", "holds", "read_rows"]


@dataclass(frozen=True)
class Row:
    """One published result: an id, the files that it comes from, its rule in words, its value."""

    id: str
    inputs: tuple[str, ...]
    rule: str
    value: Any
    published_by: str = ""


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of published results."""
    return [
        Row(
            str(each["id"]),
            tuple(each.get("inputs", ())),
            str(each.get("rule", "")),
            each["value"],
            str(each.get("published_by", "")),
        )
        for each in json.loads(path.read_text("utf-8"))
    ]


class Rate(float):
    """A share; published as a fraction or in percent, which its size tells."""


@dataclass(frozen=True)
class Prose:
    """A number that stands in the row's prose: the first group of the pattern is the published one."""

    pattern: str
    number: float


@dataclass(frozen=True)
class Difference:
    """One item that two rules judge differently, and why."""

    item: str
    published: str
    ours: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was made again."""

    numbers: Mapping[str, Any] = field(default_factory=dict)
    """By the published rule, under the names that rows use; nested like the row's value. "" is the value
    itself where that is a number."""
    material: str
    """From what: raw outputs, extracted answers, stored verdicts, execution."""
    checks: Sequence[tuple[str, float, float]] = ()
    """Further published numbers, from files beside the raw ones: name, theirs, ours."""
    prose: Sequence[Prose] = ()
    ours: Mapping[str, float] = field(default_factory=dict)
    """By our own rule, beside."""
    differences: Sequence[Difference] = ()
    """Items on which the published rule and ours disagree."""
    explained: str | None = None
    """Why the published number cannot be had, where the reason concerns items: then that is no failure."""
    notes: Sequence[str] = ()
    tolerance: float | None = None
    """Where the stored material is rounded: how far that can move a number."""


class NoMaterial(Exception):  # noqa: N818 - a fact about the data folder, not an error
    """The data folder does not hold what the number was made from."""


def holds(*parts: str) -> Callable[[Row], bool]:
    """Whether a file of the row has one of these parts in its name."""
    return lambda row: any(part in each for each in row.inputs for part in parts)


@dataclass(frozen=True)
class Family:
    """Results of one kind: which rows belong to it, and how to make them again."""

    name: str
    fits: Callable[[Row], bool]
    find: Callable[[Row, Data], Finding]
