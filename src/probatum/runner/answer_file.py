"""Files of answers that were made elsewhere, in the forms in which harnesses write them.

* JSON lines with `task_id` (or `item_id`) and `solution`, `completion`, `text` or `response`: human-eval,
  EvalPlus, and what `--samples-out` writes; also as one JSON array of such objects;
* a JSON list of lists of whole programs, one list an item in the order of the benchmark: bigcode;
* EvalPlus' `eval_results.json`, and its folders of programs (`HumanEval_0/0.py`).

Any file may be compressed with gzip.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from probatum.core.errors import DataError
from probatum.core.records import ANSWERS, Finish

__all__ = ["Answer", "AnswerFile", "Kind", "read_answers"]

Kind = Literal["completion", "program", "text"]

KINDS: Final[Mapping[str, Kind]] = {
    "solution": "program",
    "completion": "completion",
    "text": "text",
    "response": "text",
}
"""Field of a row → what it holds: a whole program, what follows the prompt, an answer as a model gave it.
Where a row has several, the first of these counts, as in EvalPlus."""

OWN_KINDS: Final[Mapping[str, Kind]] = {"program": "program", "completion": "completion"}
"""Rule of an outcome of ours → what its text is; by any other rule it was searched for code."""


class Answer(NamedTuple):
    """One answer, or why there is none."""

    text: str | None
    finish: Finish = Finish.STOP
    reason: str | None = None


@dataclass(frozen=True)
class AnswerFile:
    """The answers of a file."""

    path: Path
    digest: str
    """SHA-256 of the file's bytes; of a folder, of names and contents of its programs."""
    kind: Kind
    answers: Mapping[str, Sequence[Answer]]
    """Name of the item, as the file has it → answers, in the order of the file."""
    order: Sequence[tuple[str, int]]
    """Name and sample of each answer, in the order of the file."""
    by_place: bool = False
    """Whether names are places in the benchmark, from 0."""


class _Row(NamedTuple):
    """One answer of a file, where it stands, and what it is an answer to."""

    where: str
    name: str
    kind: Kind | None
    """`None` where the row does not tell."""
    answer: Answer
    sample: int | None = None
    """As the row says it."""


def read_answers(path: Path) -> AnswerFile:
    """Reads a file or a folder of answers.

    Raises:
        DataError: it cannot be read, or a row is no answer; names file, line and field.
    """
    try:
        if path.is_dir():
            return _folder(path)
        content = path.read_bytes()
        text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8-sig")
    except OSError as error:
        raise DataError(
            f"{str(path)!r} cannot be read: {error.strerror or error}; name a file of answers"
        ) from None
    except (EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} is damaged or not UTF-8: {error}; write it again") from None
    digest = hashlib.sha256(content).hexdigest()
    whole = _whole(path, text)
    if isinstance(whole, list) and not any(isinstance(row, dict) for row in whole):
        return _list_of_lists(path, digest, whole)
    rows: Iterable[_Row]
    if isinstance(whole, list):
        rows = (_row(f"{str(path)!r}, entry {place}", row) for place, row in enumerate(whole))
    elif isinstance(whole, dict):
        rows = _results(str(path), whole["eval"])
    else:
        rows = _json_lines(str(path), text)
    return _collected(path, digest, rows)


def _whole(path: Path, text: str) -> Any:
    """The file as one JSON value, where it is one of those forms; else `None`."""
    start = text.lstrip()[:1]
    lines = ".jsonl" in path.suffixes or ".ndjson" in path.suffixes
    if start != "[" and (start != "{" or lines):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if start == "{":
            return None
        raise DataError(f"{str(path)!r}: no valid JSON: {error}; write it again") from None
    return value if isinstance(value, list) or "eval" in value else None


def _json_lines(path: str, text: str) -> Iterator[_Row]:
    for number, line in enumerate(text.split("\n"), 1):  # `splitlines` would cut at U+2028
        if not line.strip():
            continue
        where = f"{path!r}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: no valid JSON: {error}; write one object a line") from None
        yield _row(where, row)


def _row(where: str, row: Any) -> _Row:
    if not isinstance(row, dict):
        raise DataError(f"{where}: {type(row).__name__} where an object is expected; write one object a row")
    name = row.get("task_id", row.get("item_id"))
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise DataError(f"{where}: neither 'task_id' nor 'item_id' names an item; add one")
    if "item_id" in row and "status" in row:
        return _own(where, str(name), row)
    field = next((field for field in KINDS if field in row), None)
    if field is None:
        raise DataError(f"{where}: no text in any of {', '.join(map(repr, KINDS))}; add one")
    if not isinstance(row[field], str):
        raise DataError(
            f"{where}: {field!r} is {json.dumps(row[field])[:40]}, not a text; leave the row out if there is "
            "no answer, so that it counts as missing"
        )
    return _Row(where, str(name), KINDS[field], Answer(row[field]))


def _own(where: str, name: str, row: Mapping[str, Any]) -> _Row:
    """A line of `--samples-out`."""
    text, sample = row.get("text"), row.get("sample")
    try:
        finish = Finish(row["finish"]) if row.get("finish") is not None else Finish.INFRA_ERROR
    except ValueError:
        raise DataError(
            f"{where}: 'finish' is {row['finish']!r}, which is none; write the file again"
        ) from None
    if not isinstance(sample, int) or (finish in ANSWERS and not isinstance(text, str)):
        raise DataError(f"{where}: no text, or no number of its sample; write the file again")
    rule = row.get("rule")
    kind = None if rule is None else OWN_KINDS.get(str(rule), "text")
    reason = None if finish in ANSWERS else str(row.get("reason") or "it was not answered")
    return _Row(where, name, kind, Answer(text if finish in ANSWERS else None, finish, reason), sample)


def _results(path: str, results: Any) -> Iterator[_Row]:
    """Rows of EvalPlus' results: task → one object for each sample."""
    if not isinstance(results, dict) or not all(isinstance(rows, list) for rows in results.values()):
        raise DataError(f"{path!r}: 'eval' does not map tasks to lists of results; give a file of EvalPlus")
    for name, rows in results.items():
        for place, row in enumerate(rows):
            yield _row(f"{path!r}, 'eval', {name!r}, entry {place}", {"task_id": name, **row})


def _list_of_lists(path: Path, digest: str, rows: Sequence[Any]) -> AnswerFile:
    for place, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(one, str) for one in row):
            raise DataError(
                f"{str(path)!r}: entry {place} is no list of texts; give a list of lists of programs"
            )
    answers = {str(place): [Answer(text) for text in row] for place, row in enumerate(rows)}
    order = [(name, sample) for name, given in answers.items() for sample in range(len(given))]
    if not order:
        raise DataError(f"{str(path)!r} holds no answer; give a file of answers")
    return AnswerFile(path, digest, "program", answers, order, by_place=True)


def _folder(path: Path) -> AnswerFile:
    """EvalPlus' folder: one folder a task (`HumanEval_0`), in it one file a sample (`0.py`)."""
    found: list[_Row] = []
    digest = hashlib.sha256()
    for folder in sorted(each for each in path.iterdir() if each.is_dir()):
        files = [each for each in folder.glob("*.py") if each.stem.isdecimal()]
        for file in sorted(files, key=lambda each: int(each.stem)):
            content = file.read_bytes()
            digest.update(f"{folder.name}/{file.name}\0{len(content)}\0".encode() + content)
            text = content.decode("utf-8")
            found.append(_Row(str(file), folder.name, "program", Answer(text), int(file.stem)))
    return _collected(path, digest.hexdigest(), found)


def _collected(path: Path, digest: str, rows: Iterable[_Row]) -> AnswerFile:
    """Answers by item; samples are numbered in the order of the file."""
    answers: dict[str, list[Answer]] = {}
    order: list[tuple[str, int]] = []
    kinds: dict[Kind, str] = {}
    said: dict[tuple[str, int], str] = {}
    for row in rows:
        if row.kind is not None:
            kinds.setdefault(row.kind, row.where)
        if row.sample is not None:
            first = said.setdefault((row.name, row.sample), row.where)
            if first != row.where:
                raise DataError(
                    f"{row.where}: sample {row.sample} of {row.name!r} stands at {first}, too; keep one"
                )
        of_item = answers.setdefault(row.name, [])
        order.append((row.name, len(of_item)))
        of_item.append(row.answer)
    if not order:
        raise DataError(f"{str(path)!r} holds no answer; give a file of answers")
    if len(kinds) > 1:
        told = " and ".join(f"a {kind} at {where}" for kind, where in list(kinds.items())[:2])
        raise DataError(f"{str(path)!r} mixes what its rows hold: {told}; use one field in all rows")
    return AnswerFile(path, digest, next(iter(kinds), "text"), answers, order)
