"""Plan → answer → grade for one task, as a stream: the only concurrency outside `models/` and `sandbox/`.

Three threads. The *answering* thread iterates `model.answer(requests)`; the requests come from a
generator that plans items only as the model asks for more. The *executing* thread iterates
`sandbox.execute(programs)`. The caller's thread takes responses and executions from one inbox, keeps
them, grades, and keeps outcomes. Memory is bounded: the model holds what it has room for, and planning
waits while more than `BACKLOG` samples stand ungraded. Grading never waits for the model, so the wait
ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final
from typing import Protocol as Interface

from probatum.core.errors import Interrupted, ModelError, ProbatumError, SandboxError
from probatum.core.protocol import ProgramScorer, Scorer
from probatum.core.raised import described
from probatum.core.records import (
    Execution,
    ExecutionStatus,
    Finish,
    Item,
    Outcome,
    Program,
    Request,
    Response,
)
from probatum.core.status import Status
from probatum.models.seam import Model
from probatum.prompting import Plan
from probatum.runner.cpu_limits import CpuLimits
from probatum.runner.progress import Progress
from probatum.store.seam import Store

__all__ = ["Executor", "Pending", "Pipeline", "Work", "guarded"]

BACKLOG: Final = 512  # samples answered and not yet graded, beyond which planning waits
WINDOW: Final = 32  # items planned, and looked up in the store, at once
FLUSH: Final = 64  # outcomes written at once
PATIENCE: Final = (
    30.0  # seconds that a failed run waits for its threads, before the model is closed under them
)


class Executor(Interface):
    """The sandbox as the runner needs it."""

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        """Runs each program once, in any order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Work:
    """One task of a run, ready to be asked."""

    run: str
    task: str
    scorer: Scorer | ProgramScorer
    plans: Iterable[tuple[int, Plan]]
    """Position of each item, and what is asked for it; planned as it is iterated."""
    invalid: Iterable[tuple[int, Item, str]] = ()
    """Broken items: position, item, reason. They are not asked, and are listed."""
    model_digest: str
    environment_digest: str = ""
    """Of the sandbox: part of an execution's key."""
    cpu_limits: CpuLimits | None = None
    """Limits of the items' programs, where they follow from reference solutions."""
    deduplicate: bool = True
    """Whether equal programs are executed once, and those that ran before not at all."""


@dataclass(eq=False)
class Pending:
    """A sample that waits for its responses, then for its execution."""

    position: int
    item: Item
    sample: int
    requests: tuple[Request, ...]
    responses: list[Response | None]
    program: Program | None = None

    @property
    def answered(self) -> bool:
        """Whether every request has its response."""
        return all(response is not None for response in self.responses)

    @property
    def given(self) -> list[Response]:
        """The responses that have come."""
        return [response for response in self.responses if response is not None]


@dataclass(frozen=True)
class Ended:
    """A thread came to its end, by itself or with an error."""

    thread: str
    error: BaseException | None = None


@dataclass
class Pipeline:
    """One task from plans to outcomes.

    `run()` returns the digest of what was asked, and raises what stopped it, after everything that
    arrived was kept and graded.
    """

    work: Work
    model: Model
    store: Store
    executor: Executor | None
    progress: Progress
    stop: threading.Event
    inbox: queue.SimpleQueue[Pending | Response | Execution | Ended] = field(
        default_factory=queue.SimpleQueue
    )
    to_execute: queue.SimpleQueue[Program | None] = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        self._lock = threading.Condition()
        self._waiting: dict[str, list[tuple[Pending, int]]] = {}  # request key → who waits for it
        self._executing: dict[str, list[Pending]] = {}  # program digest → who waits for it
        self._asked: dict[str, Request] = {}
        self._ungraded = 0
        self._outcomes: list[tuple[int, Item, tuple[Request, ...], Outcome]] = []
        self._digest = hashlib.sha256()
        self._error: BaseException | None = None
        self._running: set[str] = set()
        self._threads: list[threading.Thread] = []

    def run(self) -> str:
        """Asks, grades and keeps everything; the digest covers requests in the order of the items.

        Raises:
            Interrupted: `stop` was set; what was in flight is kept.
            ModelError: the model cannot be used, or answers what it was not asked.
            SandboxError: programs cannot be executed.
            StoreError: the store cannot be read or written.
        """
        for position, item, reason in self.work.invalid:
            outcome = Outcome(item_id=item.id, sample=0, status=Status.INVALID_ITEM, reason=reason)
            self._record(position, item, (), outcome)
        self._start("answering", self._answer)
        if self.executor is not None:
            self._start("executing", self._execute)
        try:
            while self._running:
                self._handle(self._take())
            self._flush()
        finally:  # however it ends, the threads beside this one come to an end
            self._halt()
        if self._error is not None:
            raise self._error
        if self.stop.is_set() and not 0 < self.progress.planned <= self.progress.done:
            raise Interrupted(
                f"interrupted: {self.progress.done} of {self.progress.planned} samples of "
                f"{self.work.task} are kept; the same command goes on from there"
            )
        return self._digest.hexdigest()

    def _halt(self) -> None:
        """Ends the threads: none may go on using a model or a sandbox that the caller closes.

        Whoever pressed Ctrl-C twice does not want to wait for them.
        """
        if self._running:
            self.stop.set()
        with self._lock:
            self._lock.notify_all()
        self.to_execute.put(None)
        at_once = isinstance(sys.exc_info()[1], KeyboardInterrupt)
        for thread in self._threads:
            thread.join(0.0 if at_once else PATIENCE)

    # ── the two threads beside the caller's ─────────────────────────────────────────────────────

    def _start(self, name: str, target: Callable[[], None]) -> None:
        def body() -> None:
            try:
                target()
            except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
                self.inbox.put(Ended(name, error))
            else:
                self.inbox.put(Ended(name))

        self._running.add(name)
        thread = threading.Thread(target=body, name=f"probatum-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _answer(self) -> None:
        requests = self._missing()
        for response in self.model.answer(requests):
            self.inbox.put(response)
        for _ in requests:  # what the model did not take is planned all the same, and stays in the count
            pass

    def _execute(self) -> None:
        assert self.executor is not None  # noqa: S101 - for the type checker
        for execution in self.executor.execute(iter(self.to_execute.get, None)):
            self.inbox.put(execution)

    def _has_room(self) -> bool:
        """Whether few enough samples wait for grading, taken from the inbox or not."""
        return self._ungraded + self.inbox.qsize() < BACKLOG or self.stop.is_set()

    def _missing(self) -> Iterator[Request]:
        """The requests that the store cannot answer, planned as they are pulled."""
        plans = iter(self.work.plans)
        while not self.stop.is_set() and (window := list(islice(plans, WINDOW))):
            with self._lock:
                self._lock.wait_for(self._has_room)
                fresh = self._register(window)
            for request in fresh:
                if self.stop.is_set():
                    return
                yield request

    def _register(self, window: Sequence[tuple[int, Plan]]) -> list[Request]:
        """Looks a window up in the store; what is there is ready, the rest is returned to be asked.

        Holds the lock, so that a response which arrives meanwhile is either found in the store or
        finds us among those who wait for it: no request is asked twice.
        """
        pending = [
            Pending(position, plan.item, requests[0].sample, requests, [None] * len(requests))
            for position, plan in window
            for requests in plan.samples
        ]
        keys = [request.key for one in pending for request in one.requests]
        known = self.store.responses(self.work.model_digest, keys)
        fresh: list[Request] = []
        for one in pending:
            for part, request in enumerate(one.requests):
                self._digest.update(
                    f"{request.item_id}\x1f{request.key}\x1f{part}\n".encode("utf-8", "surrogatepass")
                )
                if (response := known.get(request.key)) is not None:
                    one.responses[part] = response
                    self.progress.reused += 1
                elif (others := self._waiting.get(request.key)) is not None:
                    others.append((one, part))
                else:
                    self._waiting[request.key] = [(one, part)]
                    self._asked[request.key] = request
                    fresh.append(request)
            if one.answered:
                self._ungraded += 1
                self.inbox.put(one)
        return fresh

    # ── the caller's thread ─────────────────────────────────────────────────────────────────────

    def _take(self) -> list[Pending | Response | Execution | Ended]:
        """What has arrived: waits for the first, takes what else is there."""
        events = [self.inbox.get()]
        with contextlib.suppress(queue.Empty):
            while len(events) < 4 * FLUSH:
                events.append(self.inbox.get_nowait())
        return events

    def _handle(self, events: Sequence[Pending | Response | Execution | Ended]) -> None:
        with self._lock:
            self._lock.notify()  # they have left the inbox
        ready = [event for event in events if isinstance(event, Pending)]
        ready += self._keep_responses([event for event in events if isinstance(event, Response)])
        self._grade(ready)
        self._keep_executions([event for event in events if isinstance(event, Execution)])
        for event in events:
            if isinstance(event, Ended):
                self._ended(event)
        if len(self._outcomes) >= FLUSH or self.inbox.empty():
            self._flush()

    def _keep_responses(self, responses: Sequence[Response]) -> list[Pending]:
        """Keeps responses; returns the samples that have all of theirs now.

        One that nobody waits for shows that the backend mixes answers up: nothing more is asked of it.
        """
        if not responses:
            return []
        ready = []
        with self._lock:
            answered: list[tuple[Request, Response]] = []
            for response in responses:
                if (wrong := _mistyped(response)) is not None:
                    self._fail(ModelError(f"the backend gave a response with {wrong}; it is not kept"))
                    continue
                request = self._asked.pop(response.request, None)
                if request is not None:
                    answered.append((request, response))
                else:
                    self._fail(
                        ModelError(
                            "the backend answered a request that was not asked, or answered twice: "
                            f"{response.request!r}; what it answered before is kept"
                        )
                    )
            stands = self.store.keep_responses(self.work.model_digest, answered)
            for _, response in answered:
                for one, part in self._waiting.pop(response.request):
                    one.responses[part] = stands.get(response.request, response)
                    if one.answered:
                        self._ungraded += 1
                        ready.append(one)
        self.progress.asked += len(answered)
        self.progress.completion_tokens += sum(response.completion_tokens or 0 for _, response in answered)
        return ready

    def _grade(self, ready: Sequence[Pending]) -> None:
        scorer = self.work.scorer
        if not isinstance(scorer, ProgramScorer):
            for one in ready:
                grade = partial(scorer.grade, one.item, one.sample, one.given)
                self._finish(one, guarded(one, grade, scorer.scores))
            return
        to_run: list[Pending] = []
        for one in ready:
            try:
                what = scorer.program(one.item, one.sample, one.given)
            except Exception as error:  # noqa: BLE001 - the boundary of graders, ours and others'
                self._finish(one, _grader_error(one, error))
                continue
            if isinstance(what, Program):
                one.program = what
                to_run.append(one)
            else:
                self._finish(one, _checked(one, what, scorer.scores))
        self._run_programs(to_run)

    def _run_programs(self, ready: Sequence[Pending]) -> None:
        """Looks executions up; sends the rest to the sandbox, equal programs once."""
        if self.work.cpu_limits is not None:
            waiting_for = [(one.item, one.program) for one in ready if one.program is not None]
            for one, limited in zip(ready, self.work.cpu_limits.limited(waiting_for), strict=True):
                one.program = limited
        programs = [one.program for one in ready if one.program is not None]
        digests = [program.digest for program in programs]
        reuse = self.work.deduplicate and bool(digests)
        known = self.store.executions(self.work.environment_digest, digests) if reuse else {}
        for one, program in zip(ready, programs, strict=True):
            if (execution := known.get(program.digest)) is not None:
                self.progress.reused_executions += 1
                self._verdict(one, execution)
                continue
            waiting = self._executing.setdefault(program.digest, [])
            waiting.append(one)
            if len(waiting) == 1 or not self.work.deduplicate:
                self.to_execute.put(program)

    def _keep_executions(self, executions: Sequence[Execution]) -> None:
        if not executions:
            return
        waited = [(self._awaiting(execution), execution) for execution in executions]
        kept = [
            (waiting[0].program, execution)
            for waiting, execution in waited
            if waiting and waiting[0].program is not None
        ]
        self.store.keep_executions(self.work.environment_digest, kept)
        self.progress.executed += len(kept)
        for waiting, execution in waited:
            for one in waiting:
                self._verdict(one, execution)

    def _awaiting(self, execution: Execution) -> list[Pending]:
        """Who gets this execution: all who wait for its program, or one where each has its own."""
        waiting = self._executing.get(execution.program, [])
        if self.work.deduplicate or len(waiting) <= 1:
            self._executing.pop(execution.program, None)
            return waiting
        return [waiting.pop()]

    def _verdict(self, one: Pending, execution: Execution) -> None:
        scorer = self.work.scorer
        assert isinstance(scorer, ProgramScorer)  # noqa: S101 - for the type checker
        if execution.status is ExecutionStatus.SANDBOX_ERROR:
            outcome = Outcome(
                item_id=one.item.id,
                sample=one.sample,
                status=Status.INFRA_ERROR,
                reason=f"the sandbox failed: {execution.message or execution.detail or 'unknown'}",
                execution=execution,
            )
        else:
            read = partial(scorer.verdict, one.item, one.sample, one.given, execution)
            outcome = guarded(one, read, scorer.scores)
        self._finish(one, outcome)

    def _finish(self, one: Pending, outcome: Outcome) -> None:
        with self._lock:
            self._ungraded -= 1
            self._lock.notify()
        self._record(one.position, one.item, one.requests, outcome)

    def _record(self, position: int, item: Item, requests: tuple[Request, ...], outcome: Outcome) -> None:
        self._outcomes.append((position, item, requests, outcome))
        self.progress.done += 1
        self.progress.statuses[outcome.status] += 1

    def _flush(self) -> None:
        if self._outcomes:
            self.store.keep_outcomes(self.work.run, self.work.task, self._outcomes)
            self._outcomes = []

    def _fail(self, error: BaseException) -> None:
        """Nothing new is asked; what is in flight is finished, kept and graded, then the error is raised."""
        self.stop.set()
        if self._error is None:
            self._error = error

    def _ended(self, event: Ended) -> None:
        """A thread ended. After an error nothing new is asked; what arrived is still graded."""
        self._running.discard(event.thread)
        if event.error is not None:
            self._fail(_ours(event))
        if event.thread == "answering":
            if event.error is None and not self.stop.is_set():
                self._unanswered()
            self.to_execute.put(None)  # all that arrived is graded or with the sandbox: nothing follows
        elif event.error is None:
            self._unexecuted()
        with self._lock:
            if event.thread == "executing":
                self._ungraded = 0  # no executions will come any more: planning need not wait for them
                self._executing.clear()
            self._lock.notify()

    def _unanswered(self) -> None:
        """The model ended without having answered all it was asked: our failure, not its answer."""
        lost = {id(one): one for key in self._asked for one, _ in self._waiting.pop(key)}
        self._asked.clear()
        for one in lost.values():
            self._lost(one, "the backend gave no response to this request")

    def _unexecuted(self) -> None:
        """The sandbox ended without having executed all it was given."""
        if "answering" in self._running:
            self._fail(SandboxError("the sandbox stopped while programs were still to come; start again"))
            return
        for waiting in self._executing.values():
            for one in waiting:
                self._lost(one, "the sandbox gave no execution of this program")

    def _lost(self, one: Pending, reason: str) -> None:
        outcome = Outcome(item_id=one.item.id, sample=one.sample, status=Status.INFRA_ERROR, reason=reason)
        self._record(one.position, one.item, one.requests, outcome)


def _mistyped(response: Response) -> str | None:
    """The first field that is not of its type: what is kept must be what the record says."""
    for name in ("prompt_tokens", "completion_tokens"):
        value = getattr(response, name)
        if value is not None and type(value) is not int:
            return f"{name} {value!r}, which is no whole number"
    for name in ("request", "text"):
        if not isinstance(getattr(response, name), str):
            return f"{name} {getattr(response, name)!r}, which is no text"
    finish: object = response.finish
    return None if isinstance(finish, Finish) else f"finish {finish!r}, which is no Finish"


def guarded(one: Pending, grade: Callable[[], Outcome], scores: Sequence[str]) -> Outcome:
    """What `grade` returns; a scorer that raises is the scorer's failure, and stays in the count."""
    try:
        return _checked(one, grade(), scores)
    except Exception as error:  # noqa: BLE001 - the boundary of graders, ours and others'
        return _grader_error(one, error)


def _checked(one: Pending, outcome: object, scores: Sequence[str]) -> Outcome:
    """The outcome, if it is this sample's and carries every score as a finite number."""
    if not isinstance(outcome, Outcome):
        return _grader_error(one, f"the scorer gave a {type(outcome).__name__} and no outcome")
    if (outcome.item_id, outcome.sample) != (one.item.id, one.sample):
        return _grader_error(
            one, f"the scorer graded sample {outcome.sample} of item {outcome.item_id!r} instead"
        )
    if outcome.status is Status.SCORED:
        for name in scores:
            value = outcome.scores.get(name)
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                return _grader_error(one, f"the scorer's score {name!r} is {value!r}")
    return outcome


def _grader_error(one: Pending, error: Exception | str) -> Outcome:
    said = error if isinstance(error, str) else described(error)
    return Outcome(
        item_id=one.item.id,
        sample=one.sample,
        status=Status.GRADER_ERROR,
        reason=" ".join(said.split())[:500],
    )


def _ours(event: Ended) -> BaseException:
    """The error as one that the command line can print in a line; what is not ours stays whole."""
    error = event.error
    if error is None or isinstance(error, ProbatumError) or not isinstance(error, Exception):
        return error or AssertionError(event.thread)
    kind = SandboxError if event.thread == "executing" else ModelError
    ours = kind(f"{event.thread} failed: {type(error).__name__}: {error}")
    ours.__cause__ = error
    return ours
