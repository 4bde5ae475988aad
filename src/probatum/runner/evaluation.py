"""The top-level verb: tasks, a model and a store to a run."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Literal, TypedDict, Unpack, cast
from typing import Protocol as Interface

from probatum.core.canonical import digest_json
from probatum.core.errors import ConsentError, Interrupted, UsageError
from probatum.core.protocol import SCORED_FORMS, ProgramScorer, Protocol
from probatum.core.records import Item
from probatum.core.run import Run, RunState, TaskRun
from probatum.core.status import Status
from probatum.models import Model, load_model
from probatum.prompting import Plan
from probatum.runner.canaries import Canaries, check_grader
from probatum.runner.cpu_limits import CpuLimits, cpu_limits
from probatum.runner.emptiness import emptiness, generations
from probatum.runner.environment import environment, now
from probatum.runner.gold import GoldCheck
from probatum.runner.isolation import LazySandbox, consent_message
from probatum.runner.likelihood_notes import likelihood_notes
from probatum.runner.noise import NoiseFloor, noise_floor
from probatum.runner.options import Options, check_names
from probatum.runner.pipeline import Pipeline, Work
from probatum.runner.positions import position_table
from probatum.runner.preparation import prepare
from probatum.runner.progress import Progress
from probatum.runner.repeating import choose, plans_of, second_answers, second_task
from probatum.runner.resolution import TaskNames, protocol_for, resolve_tasks
from probatum.runner.result import EvaluatedRun, task_estimates
from probatum.runner.task_changes import changed_file
from probatum.scoring.compat_lm_eval import compat_metrics
from probatum.scoring.rotated import EveryRotation
from probatum.scoring.tally import answered_share, count_statuses
from probatum.store import Store, open_store

__all__ = ["DEFAULT_STORE", "Evaluation", "evaluate", "interruptible", "store_for"]

DEFAULT_STORE = "sqlite:///probatum.db"


class Choices(TypedDict, total=False):
    """Keywords of `evaluate`: the fields of `Options`."""

    settings: Mapping[str, object]
    limit: int | None
    samples: int | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int | None
    shots: int | None
    form: str | None
    rotate: bool
    compat: Literal["lm_eval"] | None
    system: str | None
    seed: int
    level: float
    minimum_answered: float
    repeat_share: float
    allow_code_execution: bool
    workers: int | None
    cpu_seconds: float | None
    deduplicate: bool
    data_directory: Path | None


def evaluate(
    tasks: TaskNames,
    *,
    model: str | Model,
    store: str | Store = DEFAULT_STORE,
    progress: Progress | None = None,
    **choices: Unpack[Choices],
) -> EvaluatedRun:
    """Runs tasks on a model and keeps everything in the store.

    Started again it asks only for what is missing; what it needs of the model and of the sandbox and
    the store has, it takes from there. Ctrl-C finishes what is in flight and raises `Interrupted`.

    Args:
        tasks: names (`"humaneval,gsm8k"`), files (`"my/sums.py"`), `Task` objects, or all of them.
        model: `provider/name`, or a `Model`.
        store: URL of a database, or an open store.
        progress: counters to be read from another thread meanwhile.
        choices: fields of `Options`.

    Raises:
        ProbatumError: see the tree in `probatum.core.errors`; what arrived is kept.
    """
    check_names(choices)
    options = Options(**choices)
    found = resolve_tasks(tasks)
    if any(task.executes_code for task in found) and not options.allow_code_execution:
        raise ConsentError(consent_message([task.name for task in found if task.executes_code]))
    counters = progress or Progress()
    loaded = load_model(model, options.settings) if isinstance(model, str) else model
    try:
        if options.repeat_share and loaded.identity.provider == "replay":
            raise UsageError(
                f"repeat_share {options.repeat_share!r} asks a model twice, and {loaded.identity.name!r} is "
                "a file of answers: leave it out, or run the model itself"
            )
        prepared = [prepare(protocol_for(task, loaded, options), options, loaded) for task in found]
        with (
            store_for(store) as opened,
            LazySandbox(options.workers) as sandbox,
            interruptible(counters) as stop,
        ):
            evaluation = Evaluation(loaded, opened, sandbox, options, counters, stop, canaries=True)
            return evaluation.carry_out(evaluation.record([one.record for one in prepared]), prepared)
    finally:
        if isinstance(model, str):
            loaded.close()


class Asked(Interface):
    """One task to be carried out: freshly prepared, or from the store."""

    @property
    def protocol(self) -> Protocol: ...

    @property
    def record(self) -> TaskRun: ...

    @property
    def golds(self) -> GoldCheck:
        """What became of the gold answers."""
        ...

    @property
    def shots_dropped(self) -> int:
        """Items whose shots did not all fit; known once all are planned."""
        ...

    @property
    def shots_shown(self) -> object:
        """Ids of the shots in order, or how they were chosen; known once all are planned."""
        ...

    def plans(self) -> Iterator[tuple[int, Plan]]:
        """What is asked for each item."""
        ...

    def invalid(self) -> Iterator[tuple[int, Item, str]]:
        """Broken items."""
        ...

    def sound(self) -> Iterator[Item]:
        """The other items."""
        ...


@dataclass(frozen=True)
class Evaluation:
    """A model, a store and a sandbox put to work under options."""

    model: Model
    store: Store
    sandbox: LazySandbox
    options: Options
    progress: Progress = field(default_factory=Progress)
    stop: threading.Event = field(default_factory=threading.Event)
    canaries: bool = False
    """Whether known programs are run before a task's own."""

    def carry_out(self, record: Run, tasks: Sequence[Asked]) -> EvaluatedRun:
        """Asks and grades task after task, summarises each, and writes the run down however it ends."""
        run = self.store.open_run(record)
        asked_elsewhere = {name: run.options[name] for name in ("answers_of",) if name in run.options}
        run = replace(run, tasks=record.tasks, options={**asked_elsewhere, **record.options})
        try:
            for one in tasks:
                run = self._with_task(run, self._run_task(run, one))
        except BaseException as error:
            interrupted = isinstance(error, (Interrupted, KeyboardInterrupt))
            self._close(run, RunState.INTERRUPTED if interrupted else RunState.FAILED)
            raise
        enough = all(
            float(str(task.summary.get("answered", 0))) >= self.options.minimum_answered for task in run.tasks
        )
        return self._close(run, RunState.COMPLETE if enough else RunState.INCOMPLETE)

    def record(self, tasks: Sequence[TaskRun]) -> Run:
        """A run of these tasks, as it is written down before anything is asked."""
        identity = self.model.identity
        digests = [[task.protocol, task.items] for task in tasks]
        moment = now()
        return Run(
            id=digest_json([identity.digest, digests])[:16],
            model=identity,
            tasks=tuple(tasks),
            state=RunState.RUNNING,
            created=moment,
            updated=moment,
            options={
                **self.options.plain(),
                "protocol_digest": digest_json([task.protocol for task in tasks]),
            },
            environment=environment(None),
        )

    def _run_task(self, run: Run, one: Asked) -> TaskRun:
        task = one.protocol.task
        self.progress.begin(task.name, one.record.planned)
        executes = task.executes_code
        known = Canaries()
        if self.canaries and isinstance(one.protocol.scorer, ProgramScorer):
            known = check_grader(task, one.protocol.scorer, one.sound(), self.sandbox)
        limits = cpu_limits(task, one.protocol.scorer, self.sandbox)
        work = Work(
            run=run.id,
            task=task.name,
            scorer=one.protocol.scorer,
            plans=one.plans(),
            invalid=one.invalid(),
            model_digest=run.model.digest,
            environment_digest=self.sandbox.environment_digest if executes else "",
            cpu_limits=limits,
            deduplicate=self.options.deduplicate,
        )
        executor = self.sandbox if executes else None
        asked = Pipeline(work, self.model, self.store, executor, self.progress, self.stop).run()
        done = self._summarise(run, replace(one.record, requests=asked), one, known)
        if self.options.repeat_share:
            noise = self._ask_again(run, done, one, work)
            done = replace(done, summary={**done.summary, "noise_floor": asdict(noise)})
        return done if limits is None else replace(done, summary=_with_limits(done.summary, limits))

    def _ask_again(self, run: Run, done: TaskRun, one: Asked, work: Work) -> NoiseFloor:
        """Asks a share of the samples a second time, and holds the answers against the first ones."""
        samples = partial(self.store.samples, run.id, done.task)
        share, protocol = self.options.repeat_share, one.protocol
        chosen = choose(samples(), share, protocol.seed)
        again = replace(
            work,
            task=second_task(done.task),
            plans=plans_of(samples(), chosen),
            invalid=(),
            model_digest=second_answers(run.model),
        )
        self.progress.begin(again.task, len(chosen.samples))
        before = self.progress.asked
        executor = self.sandbox if protocol.task.executes_code else None
        Pipeline(again, self.model, self.store, executor, self.progress, self.stop).run()
        self.progress.asked_again += self.progress.asked - before
        second = self.store.samples(run.id, again.task, answers=again.model_digest)
        return noise_floor(
            samples(),
            (each for each in second if (each.position, each.outcome.sample) in chosen.samples),
            protocol,
            share=share,
            of=chosen.among,
            reproducible=self.model.capabilities.reproducible,
            estimate=next(iter(task_estimates(done)), None),
            level=self.options.level,
        )

    def _summarise(self, run: Run, record: TaskRun, one: Asked, known: Canaries) -> TaskRun:
        """Estimates from the marks that the store holds, and what must be said beside them."""
        task = one.protocol.task
        changed = changed_file(run, record, self.store)
        empty = emptiness(generations(self.store.samples(run.id, task.name))).note()
        marks = list(self.store.marks(run.id, task.name))
        statuses = count_statuses(marks)
        if sum(statuses.values()) != record.planned:
            raise AssertionError(f"{sum(statuses.values())} outcomes of {record.planned} planned samples")
        places = None
        if one.protocol.rotate or one.protocol.form == "letters":  # continuations show no option a place
            places = position_table(self.store.samples(run.id, task.name))
        leaning = None if places is None else places.note()
        of_texts = []
        if one.protocol.form in SCORED_FORMS:
            of_texts = likelihood_notes(self.store.samples(run.id, task.name))
        estimates = [
            asdict(estimate)
            for metric in (
                *task.metrics,
                *compat_metrics(one.protocol),
                *((EveryRotation(),) if one.protocol.rotate else ()),
            )
            for estimate in metric.estimate(marks, task, self.options.level)
        ]
        return replace(
            record,
            summary={
                "estimates": estimates,
                "statuses": {status.value: count for status, count in statuses.items()},
                "answered": answered_share(statuses),
                "invalid": sorted({mark.item_id for mark in marks if mark.status is Status.INVALID_ITEM}),
                "units": len({mark.item_id for mark in marks}),
                "clusters": len({mark.cluster or mark.item_id for mark in marks}),
                "golds": one.golds.plain(),
                "shots": one.shots_shown,
                "shots_dropped": one.shots_dropped,
                "positions": [] if places is None else places.plain(),
                "notes": [
                    *(note for note in (empty, leaning, changed) if note),
                    *of_texts,
                    *_notes(record, one),
                    *known.notes(),
                ],
            },
        )

    def _with_task(self, run: Run, done: TaskRun) -> Run:
        return replace(run, tasks=tuple(done if task.task == done.task else task for task in run.tasks))

    def _close(self, run: Run, state: RunState) -> EvaluatedRun:
        closed = replace(run, state=state, updated=now(), environment=environment(self.sandbox.proven))
        self.store.close_run(closed)
        done = EvaluatedRun(closed, self.store)
        _ = done.faults  # looked for while the store is open, and before a number is shown
        return done


def _with_limits(summary: Mapping[str, object], limits: CpuLimits) -> dict[str, object]:
    """The summary with the limits of the programs, and a note where the rule could not be followed."""
    told = limits.plain()
    notes = [str(note) for note in cast("list[object]", summary["notes"])]
    if own := told["of_the_task"]:
        notes.append(
            f"{len(own)} of the items have the task's own CPU limit: their reference did not pass here"
        )
    return {**summary, "limits": told, "notes": notes}


def _notes(record: TaskRun, one: Asked) -> list[str]:
    """What a reader of the numbers should know, and could not see in them."""
    notes = []
    used, whole = record.origin.get("items_used"), record.origin.get("items_in_set")
    if used != whole:
        strata = record.origin.get("strata_used"), record.origin.get("strata_in_set")
        parts = "" if strata[0] == strata[1] else f" (of {strata[0]} of its {strata[1]} strata)"
        notes.append(f"the first {used} of {whole} items{parts}: not a random sample of the benchmark")
    if one.shots_dropped:
        notes.append(
            f"{one.shots_dropped} items were asked with fewer than {one.protocol.shots} shots, "
            "because the context is too small"
        )
    if broken := sum(1 for _ in one.invalid()):
        notes.append(f"{broken} items are broken and in no rate")
    return notes + one.golds.notes()


@contextlib.contextmanager
def store_for(store: str | Store) -> Iterator[Store]:
    """The store; one that is opened here is closed again if what follows fails, since nobody else can."""
    if not isinstance(store, str):
        yield store
        return
    opened = open_store(store)
    try:
        yield opened
    except BaseException:
        opened.close()
        raise


@contextlib.contextmanager
def interruptible(progress: Progress) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one interrupts at once.

    Only in the main thread, and only where nobody else handles the signal.
    """
    stop = threading.Event()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield stop
        return

    def first(number: int, frame: FrameType | None) -> None:
        del number, frame  # the handler's signature
        stop.set()
        progress.stopping = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, first)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
