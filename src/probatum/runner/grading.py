"""Grading answers that were made elsewhere: no model is asked.

Reads what other harnesses write: JSON lines with `task_id` (or `item_id`) and `completion`, `solution`,
`text` or `response` (HumanEval, EvalPlus, our own `--samples-out`), and a JSON list of lists of whole
programs, one list an item in the order of the benchmark (bigcode).
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from probatum.core.canonical import canonical
from probatum.core.errors import DataError
from probatum.core.protocol import Form, Protocol, Task
from probatum.core.records import Finish, Identity, Item, Prompted, Request, Response
from probatum.core.run import TaskRun
from probatum.datasets import Dataset, load_file, load_items
from probatum.models import Capabilities
from probatum.prompting import Plan
from probatum.runner.evaluation import Evaluation, interruptible, store_for
from probatum.runner.isolation import LazySandbox
from probatum.runner.options import Options
from probatum.runner.progress import Progress
from probatum.runner.result import EvaluatedRun
from probatum.scoring import PassesTests
from probatum.store import Store

__all__ = ["ELSEWHERE", "Completions", "Kind", "grade", "read_completions", "reading"]

ELSEWHERE: Final = "unknown: the answers were made elsewhere"
"""What a file of answers does not say about how they were asked for."""

Kind = Literal["completion", "program", "text"]

KINDS: Final[Mapping[str, Kind]] = {
    "completion": "completion",
    "solution": "program",
    "text": "text",
    "response": "text",
}
"""Field of a row → what it holds: what follows the prompt, a whole program, an answer as a model gave it."""


@dataclass(frozen=True)
class Completions:
    """The answers of a file."""

    path: Path
    digest: str
    """SHA-256 of the file's bytes."""
    kind: Kind
    texts: Mapping[str, Sequence[str]]
    """Item id (or its place, for a list of lists) → answers, in the order of the file."""
    order: Sequence[tuple[str, int]]
    """Item id and sample of each answer, in the order of the file."""
    by_place: bool = False
    """Whether `texts` is keyed by the item's place in the benchmark."""


def read_completions(path: Path) -> Completions:
    """Reads a file of answers.

    Raises:
        DataError: it cannot be read, or a row is no answer; names file, line and field.
    """
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror or error}; name a file") from None
    except (EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} is damaged or not UTF-8: {error}; write it again") from None
    digest = hashlib.sha256(content).hexdigest()
    if text.lstrip().startswith("["):
        return _list_of_lists(path, digest, text)
    return _json_lines(path, digest, text)


def _json_lines(path: Path, digest: str, text: str) -> Completions:
    texts: dict[str, list[str]] = {}
    order: list[tuple[str, int]] = []
    kinds: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):  # `splitlines` would cut at U+2028
        if not line.strip():
            continue
        where = f"{str(path)!r}, line {number}"
        row = _object(where, line)
        name = row.get("task_id", row.get("item_id"))
        if not isinstance(name, (str, int)):
            raise DataError(f"{where}: neither 'task_id' nor 'item_id' names an item; add one")
        held = [key for key in KINDS if isinstance(row.get(key), str)]
        if not held:
            raise DataError(f"{where}: no text in any of {', '.join(map(repr, KINDS))}; add one")
        kinds.add(held[0])
        of_item = texts.setdefault(str(name), [])
        order.append((str(name), len(of_item)))
        of_item.append(row[held[0]])
    if not order:
        raise DataError(f"{str(path)!r} holds no answer; give a file of answers")
    if len({KINDS[key] for key in kinds}) > 1:
        raise DataError(f"{str(path)!r} mixes {', '.join(sorted(kinds))}; use one field in all rows")
    return Completions(path, digest, KINDS[kinds.pop()], texts, order)


def _object(where: str, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"{where}: no valid JSON: {error}") from None
    if not isinstance(row, dict):
        raise DataError(f"{where}: {type(row).__name__} where an object is expected")
    return row


def _list_of_lists(path: Path, digest: str, text: str) -> Completions:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise DataError(f"{str(path)!r}: no valid JSON: {error}") from None
    texts: dict[str, list[str]] = {}
    order: list[tuple[str, int]] = []
    for place, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(one, str) for one in row):
            raise DataError(
                f"{str(path)!r}: entry {place} is no list of texts; give a list of lists of programs"
            )
        texts[str(place)] = row
        order += [(str(place), sample) for sample in range(len(row))]
    return Completions(path, digest, "program", texts, order, by_place=True)


@dataclass(frozen=True)
class FileModel:
    """The answers of a file, as a model that gives them."""

    completions: Completions
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(completion=True, chat=True))

    @property
    def identity(self) -> Identity:
        """The file, by its digest: another content is another model."""
        held = self.completions
        return Identity(provider="file", name=held.path.name, revision=held.digest)

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Each request's answer; an item without one is missing, not wrong."""
        for request in requests:
            key = str(request.prompt)
            texts = self.completions.texts.get(key, ())
            if request.sample < len(texts):
                yield Response(request=request.key, text=texts[request.sample])
            else:
                yield Response(
                    request=request.key,
                    finish=Finish.INFRA_ERROR,
                    reason=f"{self.completions.path.name} holds no answer to this item",
                )

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Cannot tell."""
        del prompt
        return None

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class FileTask:
    """A task whose answers lie in a file, ready to be graded."""

    protocol: Protocol
    record: TaskRun
    dataset: Dataset
    completions: Completions
    shots_dropped: int = 0
    shots_shown: object = ELSEWHERE

    def plans(self) -> Iterator[tuple[int, Plan]]:
        """One sample for each answer; an item without any stays in the count with one missing sample.

        The prompt that was asked elsewhere is not known: a request names its item.
        """
        for position, item in enumerate(self.dataset):
            if item.id in self.dataset.invalid:
                continue
            key = str(position) if self.completions.by_place else item.id
            count = max(1, len(self.completions.texts.get(key, ())))
            requests = [(Request(item_id=item.id, sample=sample, prompt=key),) for sample in range(count)]
            yield position, Plan(item, tuple(requests))

    def invalid(self) -> Iterator[tuple[int, Item, str]]:
        """Broken items."""
        for position, item in enumerate(self.dataset):
            if (reason := self.dataset.invalid.get(item.id)) is not None:
                yield position, item, reason


def grade(
    path: Path,
    task: Task,
    *,
    store: str | Store,
    data: Path | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> tuple[EvaluatedRun, Completions]:
    """Grades the answers of a file.

    Asking for it is the consent to execute: it does nothing else with code.

    Raises:
        DataError: the file or the items cannot be used, or it answers items that are not there.
    """
    chosen = options or Options()
    held = read_completions(path)
    if data is not None:
        dataset = load_file(data, task.row, task.to_item)
    else:
        dataset = load_items(task.source, task.row, task.to_item, data_directory=chosen.data_directory)
    _check_known(held, dataset, task)
    counters = progress or Progress()
    ready = _file_task(held, dataset, reading(task, held.kind), chosen)
    with (
        store_for(store) as opened,
        LazySandbox(chosen.workers) as sandbox,
        interruptible(counters) as stop,
    ):
        evaluation = Evaluation(FileModel(held), opened, sandbox, chosen, counters, stop)
        return evaluation.carry_out(evaluation.record([ready.record]), [ready]), held


def _check_known(held: Completions, dataset: Dataset, task: Task) -> None:
    known = {str(place) if held.by_place else item.id for place, item in enumerate(dataset)}
    if unknown := [name for name in held.texts if name not in known]:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise DataError(
            f"{str(held.path)!r} answers item {unknown[0]!r}{more}, which task {task.name!r} has not; "
            "name the right --task, or its items with --data"
        )


def reading(task: Task, kind: Kind) -> Task:
    """The task with its scorer set to what the file holds."""
    scorer = task.scorer
    if not isinstance(scorer, PassesTests):
        return task
    given: Literal["completion", "program", "answer"] = "answer" if kind == "text" else kind
    return replace(task, scorer=replace(scorer, given=given))


def _file_task(held: Completions, dataset: Dataset, task: Task, options: Options) -> FileTask:
    form: Form = "completion" if task.completion is not None else "chat"
    samples = max(len(texts) for texts in held.texts.values())
    protocol = Protocol(
        task=task, form=form, shots=0, samples=max(1, samples), sampling=task.sampling, seed=options.seed
    )
    planned = 0
    for position, item in enumerate(dataset):
        key = str(position) if held.by_place else item.id
        planned += 1 if item.id in dataset.invalid else max(1, len(held.texts.get(key, ())))
    record = TaskRun(
        task=task.name,
        protocol=protocol.digest,
        recipe={"protocol": canonical(protocol)},
        items=dataset.digest,
        planned=planned,
        origin={
            **dataset.origin,
            "items_in_set": dataset.count,
            "items_used": dataset.count,
            "answers": {"file": str(held.path), "sha256": held.digest, "kind": held.kind},
        },
    )
    return FileTask(protocol, record, dataset, held)
