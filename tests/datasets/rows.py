"""Row types, files and real data for the tests."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from probatum.core.records import Item
from probatum.datasets import Dataset, load_file

DATA = Path(os.environ.get("PROBATUM_DATA") or Path(__file__).parents[3] / "shared" / "data")


@dataclass(frozen=True)
class Question:
    """A row with a question and its answer; the id is its place."""

    q: str
    a: str
    row_file: str
    row_number: int


def question(row: Question) -> Item:
    return Item(id=f"{row.row_file}/{row.row_number}", fields={"q": row.q}, targets=(row.a,))


@dataclass(frozen=True)
class Choice:
    id: str
    q: str
    options: tuple[str, ...]
    gold: str


def choice(row: Choice) -> Item:
    return Item(id=row.id, fields={"q": row.q}, choices=row.options, targets=(row.gold,))


def questions(directory: Path, content: bytes, name: str = "rows.jsonl") -> Dataset:
    """The questions of a file with that content."""
    path = directory / name
    path.write_bytes(content)
    return load_file(path, Question, question)


def pairs(dataset: Iterable[Item]) -> list[tuple[object, str]]:
    """Question and answer of each item."""
    return [(item.fields["q"], item.targets[0]) for item in dataset]


def real_data(path: str) -> Path:
    """The data directory, if it has that path; else the test is skipped."""
    if not (DATA / path).exists():
        pytest.skip(f"needs {path} in the data directory (PROBATUM_DATA)")
    return DATA
