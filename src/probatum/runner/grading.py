"""Grading answers that were made elsewhere: no model is asked. `runner.answer_file` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from probatum.core.canonical import canonical
from probatum.core.errors import DataError, UsageError
from probatum.core.protocol import Form, Protocol, Task
from probatum.core.records import Finish, Identity, Item, Prompted, Request, Response
from probatum.core.run import TaskRun
from probatum.datasets import Dataset, load_file, load_items
from probatum.models import Capabilities
from probatum.prompting import Plan
from probatum.runner.answer_file import Answer, AnswerFile, Kind, read_answers
from probatum.runner.cpu_limits import with_cpu_seconds
from probatum.runner.evaluation import Evaluation, interruptible, store_for
from probatum.runner.gold import GoldCheck, GoldChecker
from probatum.runner.isolation import LazySandbox
from probatum.runner.options import Options
from probatum.runner.progress import Progress
from probatum.runner.result import EvaluatedRun
from probatum.runner.task_changes import file_origin
from probatum.scoring import PassesExamples, PassesTests
from probatum.store import Store

__all__ = ["ELSEWHERE", "Completions", "Kind", "grade", "reading"]

ELSEWHERE: Final = "unknown: the answers were made elsewhere"
"""What a file of answers does not say about how they were asked for."""


@dataclass(frozen=True)
class Completions:
    """The answers of a file, by the items of a benchmark."""

    file: AnswerFile
    answers: Mapping[str, Sequence[Answer]]
    """Item id → answers, in the order of the file."""
    order: Sequence[tuple[str, int]]
    """Item id and sample of each answer, in the order of the file."""


@dataclass(frozen=True)
class FileModel:
    """The answers of a file, as a model that gives them."""

    completions: Completions
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(completion=True, chat=True))

    @property
    def identity(self) -> Identity:
        """The file, by its digest: another content is another model."""
        file = self.completions.file
        return Identity(provider="file", name=file.path.name, revision=file.digest)

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Each request's answer; an item without one is missing, not wrong."""
        for request in requests:
            answers = self.completions.answers.get(request.item_id, ())
            if request.sample < len(answers):
                text, finish, reason = answers[request.sample]
                yield Response(request=request.key, text=text or "", finish=finish, reason=reason)
            else:
                yield Response(
                    request=request.key,
                    finish=Finish.INFRA_ERROR,
                    reason=f"{self.completions.file.path.name} holds no answer to this item",
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
    golds: GoldCheck
    shots_dropped: int = 0
    shots_shown: object = ELSEWHERE

    def plans(self) -> Iterator[tuple[int, Plan]]:
        """One sample for each answer; an item without any stays in the count with one missing sample.

        The prompt that was asked elsewhere is not known: a request names its item.
        """
        for position, item in enumerate(self.dataset):
            if item.id in self.dataset.invalid:
                continue
            count = max(1, len(self.completions.answers.get(item.id, ())))
            requests = [(Request(item_id=item.id, sample=sample, prompt=item.id),) for sample in range(count)]
            yield position, Plan(item, tuple(requests))

    def invalid(self) -> Iterator[tuple[int, Item, str]]:
        """Broken items."""
        for position, item in enumerate(self.dataset):
            if (reason := self.dataset.invalid.get(item.id)) is not None:
                yield position, item, reason

    def sound(self) -> Iterator[Item]:
        """The other items."""
        return (item for item in self.dataset if item.id not in self.dataset.invalid)


def grade(
    path: Path,
    task: Task | Sequence[Task],
    *,
    store: str | Store,
    data: Path | None = None,
    stop: Sequence[str] = (),
    options: Options | None = None,
    progress: Progress | None = None,
) -> tuple[EvaluatedRun, Completions]:
    """Grades the answers of a file.

    Asking for it is the consent to execute: it does nothing else with code.

    Args:
        path: file or folder of answers, see `runner.answer_file`.
        task: the benchmark that they answer; several where the same answers are held against several sets of
            tests (`humaneval` and `humaneval_plus`, as EvalPlus prints "base" and "base + extra").
        store: where everything is kept.
        data: items of the user's own, in place of the benchmark's.
        stop: strings that completions are cut at, where whoever made them did not.
        options: workers, CPU limit, level, deduplication and data directory count.
        progress: counters to be read from another thread meanwhile.

    Raises:
        DataError: the file or the items cannot be used, or it answers items that are not there.
        UsageError: items of one's own for several tasks.
    """
    chosen = options or Options()
    file = read_answers(path)
    tasks = [task] if isinstance(task, Task) else list(task)
    if data is not None and len(tasks) > 1:
        raise UsageError(f"items of your own ({str(data)!r}) are of one task, and {len(tasks)} are named")
    ready = []
    for one in tasks:
        dataset = _items(one, data, chosen)
        held = _by_item(file, [item.id for item in dataset], one)
        recipe = reading(with_cpu_seconds(one, chosen.cpu_seconds), file.kind, stop)
        ready.append(_file_task(held, dataset, recipe, chosen, stop))
    completions = replace(
        ready[0].completions,
        answers={name: given for one in ready for name, given in one.completions.answers.items()},
    )
    counters = progress or Progress()
    with (
        store_for(store) as opened,
        LazySandbox(chosen.workers) as sandbox,
        interruptible(counters) as stopped,
    ):
        evaluation = Evaluation(
            FileModel(completions), opened, sandbox, chosen, counters, stopped, canaries=True
        )
        run = evaluation.carry_out(evaluation.record([one.record for one in ready]), ready)
        return run, completions


def _items(task: Task, data: Path | None, options: Options) -> Dataset:
    """The user's own items, or the benchmark's."""
    if data is not None:
        return load_file(data, task.row, task.to_item, nonfinite=task.source.nonfinite)
    return load_items(task.source, task.row, task.to_item, data_directory=options.data_directory)


def _by_item(file: AnswerFile, ids: Sequence[str], task: Task) -> Completions:
    """The answers by item id.

    Names are ids or, where no id is meant otherwise: the number alone (`11` for `Mbpp/11`), other case,
    and `_` for `/`, as folders of EvalPlus have it.

    Raises:
        DataError: a name is no item's, or two names are one item's.
    """
    places = {str(place): name for place, name in enumerate(ids)}
    exact = places if file.by_place else {name: name for name in ids}
    loose: dict[str, list[str]] = {}
    for name in ids if not file.by_place else ():
        for form in {_folded(name), re.split(r"[/_]", name)[-1]}:
            loose.setdefault(form, []).append(name)
    known: dict[str, str] = {}
    unknown = []
    for name in file.answers:
        near = loose.get(_folded(name), [])
        if name in exact:
            known[name] = exact[name]
        elif len(near) == 1:
            known[name] = near[0]
        else:
            unknown.append(name)
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise DataError(
            f"{str(file.path)!r} answers item {unknown[0]!r}{more}, which task {task.name!r} has not; "
            "name the right --task, or its items with --data"
        )
    names: dict[str, str] = {}
    for name, item in known.items():
        if (other := names.setdefault(item, name)) != name:
            raise DataError(f"{str(file.path)!r} names item {item!r} as {other!r} and {name!r}; use one name")
    return Completions(
        file,
        {known[name]: answers for name, answers in file.answers.items()},
        [(known[name], sample) for name, sample in file.order],
    )


def _folded(name: str) -> str:
    return name.casefold().replace("_", "/")


def reading(task: Task, kind: Kind, stop: Sequence[str] = ()) -> Task:
    """The task with its scorer set to what the file holds, and to where its completions are cut."""
    scorer = task.scorer
    if not isinstance(scorer, (PassesTests, PassesExamples)):
        return task
    given: Literal["completion", "program", "answer"] = "answer" if kind == "text" else kind
    return replace(task, scorer=scorer.reading(given, stop))


def _file_task(
    held: Completions, dataset: Dataset, task: Task, options: Options, stop: Sequence[str]
) -> FileTask:
    form: Form = "chat" if task.completion is None and task.chat is not None else "completion"
    samples = max(len(answers) for answers in held.answers.values())
    protocol = Protocol(
        task=task, form=form, shots=0, samples=max(1, samples), sampling=task.sampling, seed=options.seed
    )
    golds = GoldChecker(protocol)
    invalid = dict(dataset.invalid)
    planned = 0
    for item in dataset:
        broken = invalid.get(item.id) or golds.check(item)
        if broken is not None:
            invalid[item.id] = broken
        planned += 1 if broken is not None else max(1, len(held.answers.get(item.id, ())))
    file = held.file
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
            **file_origin(task),
            "answers": {
                "file": str(file.path),
                "sha256": file.digest,
                "kind": file.kind,
                **({"stop": list(stop)} if stop else {}),
            },
        },
    )
    return FileTask(protocol, record, replace(dataset, invalid=invalid), held, golds.found)
