"""Grading again from the store: no model is needed, and nothing is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import msgspec

from probatum.core.canonical import canonical, digest_json
from probatum.core.errors import ConsentError, UsageError
from probatum.core.protocol import FORMS, Protocol, Task
from probatum.core.records import Finish, Identity, Item, Prompted, Request, Response, Sampling
from probatum.core.run import Run, RunState, Sample, TaskRun
from probatum.core.status import Status
from probatum.models import Capabilities
from probatum.prompting import Plan
from probatum.runner.cpu_limits import with_cpu_seconds
from probatum.runner.environment import now
from probatum.runner.evaluation import Evaluation, interruptible, store_for
from probatum.runner.gold import GoldCheck, GoldChecker
from probatum.runner.grading import Kind, reading
from probatum.runner.isolation import LazySandbox, consent_message
from probatum.runner.noise import noise_floor_of
from probatum.runner.options import Options
from probatum.runner.progress import Progress
from probatum.runner.resolution import TaskNames, resolve_tasks, stored_task
from probatum.runner.result import EvaluatedRun
from probatum.runner.task_changes import file_origin
from probatum.store import Store

__all__ = ["StoredModel", "rescore", "stored_protocol"]


@dataclass(frozen=True)
class StoredModel:
    """A model that answered once and is not there any more.

    What it answered is in the store, and is found there before it is asked; what it failed at fails
    again in the same way.
    """

    identity: Identity
    failures: dict[str, Response] = field(default_factory=dict)
    """Request key → how it failed."""
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(completion=True, chat=True))

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """The failures of then."""
        for request in requests:
            unknown = Response(
                request=request.key, finish=Finish.INFRA_ERROR, reason="no answer is in the store"
            )
            yield self.failures.get(request.key, unknown)

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Cannot tell."""
        del prompt
        return None

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class StoredTask:
    """One task of a stored run, ready to be graded again."""

    protocol: Protocol
    record: TaskRun
    samples: Iterable[Sample]
    model: StoredModel
    golds: GoldCheck
    """By today's recipe. Items that were asked then stay in the count, whatever is found now."""

    @property
    def shots_dropped(self) -> int:
        """As it was counted then."""
        return int(str(self.record.summary.get("shots_dropped", 0)))

    @property
    def shots_shown(self) -> object:
        """As it was written down then."""
        return self.record.summary.get("shots", [])

    def plans(self) -> Iterator[tuple[int, Plan]]:
        """The requests that were asked then."""
        for position, samples in groupby(self.samples, key=lambda sample: sample.position):
            whole = [sample for sample in samples if sample.requests]
            for sample in whole:
                self._remember(sample)
            if whole:
                yield position, Plan(whole[0].item, tuple(sample.requests for sample in whole))

    def invalid(self) -> Iterator[tuple[int, Item, str]]:
        """Items that were broken then."""
        for sample in self.samples:
            if sample.outcome.status is Status.INVALID_ITEM:
                yield sample.position, sample.item, sample.outcome.reason or "broken"

    def sound(self) -> Iterator[Item]:
        """The other items."""
        samples = (one for one in self.samples if one.outcome.status is not Status.INVALID_ITEM)
        return (item for item, _ in groupby(samples, key=lambda sample: sample.item))

    def _remember(self, sample: Sample) -> None:
        outcome = sample.outcome
        for request, response in zip(sample.requests, sample.responses, strict=True):
            if response is None:
                known = outcome.status.value in {finish.value for finish in Finish}
                self.model.failures[request.key] = Response(
                    request=request.key,
                    finish=Finish(outcome.status.value) if known else Finish.INFRA_ERROR,
                    reason=outcome.reason,
                )


@dataclass(frozen=True)
class StoredSamples:
    """The samples of a stored task, streamed anew at each iteration."""

    store: Store
    run: str
    task: str

    def __iter__(self) -> Iterator[Sample]:
        return self.store.samples(self.run, self.task)


def rescore(
    run: str,
    *,
    store: str | Store,
    tasks: TaskNames | None = None,
    allow_code_execution: bool = False,
    workers: int | None = None,
    level: float | None = None,
    progress: Progress | None = None,
) -> EvaluatedRun:
    """Grades the kept answers of a run with the scorers of today.

    A task is found by its name, one of your own by its file, where that lay. `tasks` are taken in their
    place: a file that has moved, or the `Task` that was given as an object.

    Where the recipe is unchanged the run is written again under its id; else a new run is written,
    and says from which one its answers come.

    Raises:
        UsageError: no such run; a task that changed in what it *asks* since, so that today's recipe
            was never put to the model.
        ConsentError: programs that are not in the store would have to run.
    """
    counters = progress or Progress()
    with store_for(store) as opened, LazySandbox(workers) as sandbox, interruptible(counters) as stop:
        old = opened.run(run)
        claimed = any(noise.reproducible for noise in map(noise_floor_of, old.tasks) if noise is not None)
        model = StoredModel(
            old.model, capabilities=Capabilities(completion=True, chat=True, reproducible=claimed)
        )
        own = _given(tasks, old)
        stored = [_stored_task(opened, old, one, model, own) for one in old.tasks]
        executing = [one.record.task for one in stored if one.protocol.task.executes_code]
        if executing and not allow_code_execution:
            raise ConsentError(consent_message(executing))
        chosen = level if level is not None else _number(old.options, "level", Options().level)
        options = Options(
            level=chosen,
            minimum_answered=_number(old.options, "minimum_answered", Options().minimum_answered),
            repeat_share=_number(old.options, "repeat_share", Options().repeat_share),
            workers=workers,
            allow_code_execution=allow_code_execution,
        )
        evaluation = Evaluation(model, opened, sandbox, options, counters, stop)
        return evaluation.carry_out(_new_run(old, [one.record for one in stored], options), stored)


def _number(options: Mapping[str, object], name: str, default: float) -> float:
    """An option of then; of a run that did not write it down, the default."""
    return msgspec.convert(options.get(name, default), float)


def _given(tasks: TaskNames | None, run: Run) -> dict[str, Task]:
    """The tasks that are given, by name; each must be one of the run's."""
    own = {} if tasks is None else {task.name: task for task in resolve_tasks(tasks)}
    names = [record.task for record in run.tasks]
    if strange := next((name for name in own if name not in names), None):
        raise UsageError(f"task {strange!r} is none of run {run.id}; it has {', '.join(names)}")
    return own


def _stored_task(
    store: Store, run: Run, record: TaskRun, model: StoredModel, own: Mapping[str, Task]
) -> StoredTask:
    graded = sum(store.statuses(run.id, record.task).values())
    if graded != record.planned:
        raise UsageError(
            f"run {run.id} is {run.state.value}: {graded} of {record.planned} samples of {record.task!r} are "
            "graded; start the same run again to finish it first"
        )
    fields = _fields(record.recipe.get("protocol"))
    protocol = _protocol(record, fields, stored_task(record, own))
    task = _fields(fields.get("task"))
    today = _fields(_fields(canonical(protocol)).get("task"))
    changed = [name for name in (protocol.form, "to_item") if task.get(name) != today.get(name)]
    if changed:
        raise UsageError(
            f"task {record.task!r} asks something else today than in run {run.id} ({', '.join(changed)} "
            "changed): its answers cannot be graded as today's; run the task again"
        )
    samples = StoredSamples(store, run.id, record.task)
    return StoredTask(
        protocol,
        replace(
            record,
            protocol=protocol.digest,
            recipe={"protocol": canonical(protocol)},
            origin={**record.origin, **file_origin(protocol.task)},
        ),
        samples,
        model,
        _golds(protocol, record, samples),
    )


def _golds(protocol: Protocol, record: TaskRun, samples: Iterable[Sample]) -> GoldCheck:
    """The gold answers of the items that were asked, and what was found of the others before."""
    checker = GoldChecker(protocol)
    for _, same in groupby(samples, key=lambda sample: sample.position):
        first = next(same)
        if first.outcome.status is not Status.INVALID_ITEM:
            checker.check(first.item)
    found, before = checker.found, record.summary.get("golds")
    listed = before.get("unequal", {}) if isinstance(before, Mapping) else {}
    unequal = msgspec.convert(listed, dict[str, str])
    return replace(
        found,
        checked=found.checked + len(unequal),
        unequal=unequal,
        undecided={**found.undecided, **found.unequal},
    )


def stored_protocol(record: TaskRun, task: Task | None = None) -> Protocol:
    """The recipe of a stored task, with the task of today: the one given, or that of its file or its name.

    Raises:
        UsageError: there is no task of that name.
    """
    return _protocol(record, _fields(record.recipe.get("protocol")), task or stored_task(record))


def _protocol(record: TaskRun, fields: Mapping[str, Any], task: Task) -> Protocol:
    """The recipe of then, with the task of today; a file's answers are read as what the file holds."""
    answers = record.origin.get("answers")
    if isinstance(answers, Mapping):
        stop = msgspec.convert(answers.get("stop", ()), tuple[str, ...])
        task = reading(task, msgspec.convert(answers["kind"], Kind), stop)
    task = with_cpu_seconds(task, _chosen_cpu_seconds(task, fields))
    form = next(form for form in FORMS if form == fields["form"])
    return Protocol(
        task=task,
        form=form,
        shots=fields["shots"],
        samples=fields["samples"],
        sampling=msgspec.convert(_fields(fields["sampling"]), Sampling),
        system=fields["system"],
        seed=fields["seed"],
        rotate=fields.get("rotate", False),
        compat=fields.get("compat"),
    )


def _chosen_cpu_seconds(task: Task, fields: Mapping[str, Any]) -> float | None:
    """The CPU limit that was chosen by hand then; `None` where it follows from the reference solutions."""
    scorer = _fields(_fields(fields.get("task")).get("scorer"))
    if not getattr(task.scorer, "calibrated", False) or scorer.get("calibrated") is not False:
        return None
    return msgspec.convert(_fields(scorer["limits"])["cpu_seconds"], float)


def _fields(component: Any) -> dict[str, Any]:
    """The fields of a component's canonical form."""
    return dict(component["fields"]) if component else {}


def _new_run(old: Run, tasks: list[TaskRun], chosen: Options) -> Run:
    digests = [[task.protocol, task.items] for task in tasks]
    found = digest_json([old.model.digest, digests])[:16]
    options = {
        **old.options,
        "level": chosen.level,
        "allow_code_execution": chosen.allow_code_execution,
        "protocol_digest": digest_json([task.protocol for task in tasks]),
    }
    moment = now()
    run = replace(old, tasks=tuple(tasks), state=RunState.RUNNING, options=options, updated=moment)
    if found == old.id:
        return run
    return replace(run, id=found, created=moment, options={**options, "answers_of": old.id})
