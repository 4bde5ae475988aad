"""A benchmark's items against a corpus on disk: files are read row by row, the corpus is never held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from probatum.contamination import ScanReport, Unit, scan
from probatum.core.errors import DataError, UsageError
from probatum.core.protocol import Task
from probatum.datasets import Fault, load_items
from probatum.datasets.files import DataFile
from probatum.datasets.formats import FORMATS, read_rows
from probatum.datasets.rows import Row, Wanted

__all__ = ["audit_corpus", "corpus_texts"]

_ANY = Wanted(columns=(), required=frozenset())


def audit_corpus(
    corpus: Sequence[Path],
    task: Task,
    *,
    n: int = 13,
    unit: Unit = "auto",
    share: float = 0.0,
    question: str | None = None,
    data_directory: Path | None = None,
) -> ScanReport:
    """Which items of a task stand in the files of a corpus; broken items are looked for, too.

    Raises:
        UsageError: no corpus, or an item whose question cannot be told.
        DataError: the task's rows or a file of the corpus cannot be read.
    """
    items = load_items(task.source, task.row, task.to_item, data_directory=data_directory)
    return scan(corpus_texts(corpus), items, n, unit=unit, share=share, question=question)


def corpus_texts(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """(place, text) of every row of the files, and of the files of known formats in folders, in order.

    Raises:
        UsageError: a path that is not there, or a folder without such files.
        DataError: a file that cannot be read, or a row that is broken: skipped text would be called clean.
    """
    for path in paths:
        for file in _files(path):
            for row in read_rows(DataFile(name=str(file), content=file), _ANY):
                if isinstance(row, Fault):
                    raise DataError(f"corpus: {row}")
                yield _named(row)


def _named(row: Row) -> tuple[str, str]:
    texts = [value for value in row.values.values() if isinstance(value, (str, list, Mapping))]
    return str(row.place), "\n".join(_flat(text) for text in texts)


def _flat(value: object) -> str:
    """The texts of a value, whatever they are nested in (the turns of a conversation)."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(_flat(part) for part in value.values())
    return "\n".join(_flat(part) for part in value) if isinstance(value, list) else ""


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"corpus {str(path)!r} does not exist; name files or folders of text")
    known = tuple(FORMATS)
    found = sorted(
        each
        for each in path.rglob("*")
        if each.is_file() and each.name.lower().removesuffix(".gz").rpartition(".")[2] in known
    )
    if not found:
        raise UsageError(f"corpus {str(path)!r} has no file in {', '.join(known)}; name one that has")
    return found
