"""Reads the data folder: JSON, JSON lines and CSV, gzipped or not."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["Data"]


@dataclass(frozen=True)
class Data:
    """The data folder."""

    root: Path

    def path(self, name: str) -> Path:
        """The file of that name, with or without `.gz`.

        Raises:
            FileNotFoundError: there is none.
        """
        for candidate in (name, f"{name}.gz", name.removesuffix(".gz")):
            if (self.root / candidate).is_file():
                return self.root / candidate
        raise FileNotFoundError(f"no {name} in {self.root}")

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return any((self.root / each).is_file() for each in (name, f"{name}.gz"))

    def text(self, name: str) -> str:
        """The whole text of a file."""
        return _text(self.path(name))

    def json(self, name: str) -> Any:
        """One JSON value."""
        return json.loads(self.text(name))

    def lines(self, name: str) -> list[Any]:
        """One JSON value a line."""
        return list(_lines(self.path(name)))

    def table(self, name: str) -> list[dict[str, str]]:
        """Rows of a CSV with a header."""
        return list(csv.DictReader(io.StringIO(self.text(name), newline="")))

    def matching(self, pattern: str) -> Iterator[str]:
        """Names of the files that a glob pattern matches, sorted."""
        for path in sorted(self.root.glob(pattern)):
            if path.is_file():
                yield path.relative_to(self.root).as_posix()


def _text(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")


@lru_cache(maxsize=4)
def _lines(path: Path) -> tuple[Any, ...]:
    return tuple(json.loads(line) for line in _text(path).split("\n") if line.strip())
