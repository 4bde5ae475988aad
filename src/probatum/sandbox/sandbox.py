"""Programs in, executions out: a pool of warm workers, each a container of its own."""

from __future__ import annotations

import contextlib
import os
import platform
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Self

from probatum.core.errors import SandboxError
from probatum.core.records import Execution, ExecutionStatus, Program
from probatum.sandbox.ladder import choose
from probatum.sandbox.launch import Settings, StartError, Worker, WorkerGoneError, WorkerStuckError
from probatum.sandbox.stream import Gate, Stream

__all__ = ["PROTOCOL", "Sandbox"]

PROTOCOL: Final = 2
"""Rises when the same program may get another verdict than before."""
ATTEMPTS: Final = 3  # how often a program is tried when the sandbox itself fails
AHEAD: Final = 1 << 14  # characters of a program that is sent ahead: it must fit a socket's buffer
_MODES: Final = ("split", "joint")
_TEXT: Final = 4000  # characters kept of a message


class Sandbox:
    """Runs untrusted programs.

    A worker is a small process that is started fresh (never forked from this one), isolated, and used
    for many programs; each program is a process of its own in it, and nothing survives its execution.
    Workers start when there is work for them. May be used from several threads.

    Args:
        workers: programs that run at once; by default one for each processor.
        isolation: a rung of the ladder (`namespaces`, `bubblewrap`, …; `seatbelt` on macOS, which is
            weak); by default the best that a self-test proves here. `unsafe-subprocess` isolates nothing
            and must be asked for by name.

    Raises:
        SandboxError: this machine offers no isolation that could be proven; says how to allow it.
    """

    def __init__(self, workers: int | None = None, *, isolation: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise SandboxError(f"a sandbox cannot have {workers!r} workers: give at least 1")
        self.workers = workers or _processors()
        proven = choose(isolation)
        self._settings = proven.settings
        self.isolation = proven.rung.label
        places = _places(self.workers)
        self._idle: queue.LifoQueue[_Place] = queue.LifoQueue()
        for processor in places[1:]:
            self._idle.put(_Place(processor))
        self._idle.put(_Place(places[0], proven.worker))
        self._busy: set[_Place] = set()
        self._lock = threading.Lock()
        self._gate = Gate()
        self._closed = False

    @property
    def environment(self) -> Mapping[str, object]:
        """What may change a verdict; the digest of it is part of a stored execution's key."""
        return {
            "python": platform.python_version(),
            "implementation": platform.python_implementation(),
            "machine": platform.machine(),
            "isolation": self.isolation,
            "protocol": PROTOCOL,
        }

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        """Runs each program once; executions come in the order in which they end.

        Programs are pulled as workers become free, in threads of the sandbox (one at a time), so that a
        slow source of programs does not hold back executions that are done.

        Raises:
            SandboxError: a program that cannot be run at all (an unknown mode or language), or workers
                that cannot be started any more.
        """
        if self._closed:
            raise SandboxError("the sandbox is closed: make another")
        stream = Stream(programs, self.workers, 2 * self.workers)
        threads = [
            threading.Thread(target=self._drive, args=(stream,), name=f"sandbox-{number}", daemon=True)
            for number in range(self.workers)
        ]
        for thread in threads:
            thread.start()
        ended = False
        try:
            yield from stream.executions()
            ended = True
        finally:
            stream.stop()
            if not ended:
                self._end_busy()

    def close(self) -> None:
        """Ends all workers with all that runs in them."""
        self._closed = True
        self._end_busy()
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().empty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # threads

    def _drive(self, stream: Stream) -> None:
        """What one thread does: takes a place as long as programs are at hand, and gives it back."""
        try:
            while (program := stream.pull()) is not None:
                self._gate.enter()
                try:
                    with self._place() as place:
                        doubtful = self._run(place, stream, program)
                finally:
                    self._gate.leave()
                for one in doubtful:
                    stream.put(self._alone(one))
                stream.rest()
        except BaseException as error:  # noqa: BLE001 - raised again where the stream is iterated
            stream.leave(error)
        else:
            stream.leave()

    def _run(self, place: _Place, stream: Stream, first: Program) -> list[Program]:
        """Runs programs until none is at hand; each is sent while the one before it still runs.

        Returns those that ended by the wall clock. It measures the others too, so that only what ends by
        it when nothing else runs has ended so.
        """
        doubtful = []
        program: Program | None = first
        sent = False
        while program is not None:
            if not sent:
                self._send(place, program)
            following = None if self._gate.wanted else stream.pull_ready()
            sent = following is not None and self._send_ahead(place, following)
            execution = self._received(place, program)
            sent = sent and place.worker is not None
            for _ in range(ATTEMPTS - 1):
                if stream.stopped or execution.status is not ExecutionStatus.SANDBOX_ERROR:
                    break
                if place.worker is not None:  # the worker is sound: the program's tests cannot be used
                    break
                self._send(place, program)
                execution = self._received(place, program)
            if execution.status is ExecutionStatus.TIMEOUT and execution.detail == "wall":
                doubtful.append(program)
            else:
                stream.put(execution)
            program = following
            if stream.stopped:
                break
        if sent:  # an answer would come that nobody takes
            place.empty()
        return doubtful

    def _alone(self, program: Program) -> Execution:
        """Runs a program while no other runs."""
        self._gate.enter_alone()
        try:
            with self._place() as place:
                self._send(place, program)
                return self._received(place, program)
        finally:
            self._gate.leave_alone()

    @contextlib.contextmanager
    def _place(self) -> Iterator[_Place]:
        place = self._idle.get()
        with self._lock:
            self._busy.add(place)
        try:
            yield place
        except BaseException:
            place.empty()
            raise
        finally:
            with self._lock:
                self._busy.discard(place)
            if self._closed:
                place.empty()
            self._idle.put(place)

    def _send(self, place: _Place, program: Program) -> None:
        _check(program)
        with contextlib.suppress(WorkerGoneError):  # seen when its answer does not come
            self._worker(place, program).send(program)

    def _send_ahead(self, place: _Place, program: Program) -> bool:
        _check(program)
        worker = place.worker
        if worker is None or not worker.fits(program) or len(program.code) + len(program.tests) > AHEAD:
            return False
        with contextlib.suppress(WorkerGoneError):
            worker.send(program)
        return True

    def _received(self, place: _Place, program: Program) -> Execution:
        reason = "the worker was gone"
        try:
            if place.worker is not None:
                return _execution(program, place.worker.receive(program), self.isolation)
        except WorkerStuckError as error:  # e.g. one endless operation of the tests on a result
            place.empty()
            return Execution(
                program=program.digest,
                status=ExecutionStatus.TIMEOUT,
                detail="wall",
                message=str(error),
                isolation=self.isolation,
                verdict_trust=_trust(program),
            )
        except WorkerGoneError as error:
            reason = str(error)
        place.empty()
        return Execution(
            program=program.digest,
            status=ExecutionStatus.SANDBOX_ERROR,
            detail="worker",
            message=reason[:_TEXT],
            isolation=self.isolation,
            verdict_trust=_trust(program),
        )

    def _worker(self, place: _Place, program: Program) -> Worker:
        """The worker at this place, started where there is none, or none with room for the program."""
        if place.worker is not None and not place.worker.fits(program):
            place.empty()
        if place.worker is None:
            try:
                place.worker = Worker(replace(self._roomy(program), processor=place.processor))
            except StartError as error:
                raise SandboxError(f"a worker of the sandbox cannot be started: {error}") from None
        return place.worker

    def _roomy(self, program: Program) -> Settings:
        """Settings under which this program fits, as did all before it."""
        with self._lock:
            self._settings = replace(
                self._settings,
                output_bytes=max(self._settings.output_bytes, program.limits.output_bytes),
                file_bytes=max(self._settings.file_bytes, program.limits.file_bytes),
                memory_bytes=max(self._settings.memory_bytes, program.limits.memory_bytes),
                processes=max(self._settings.processes, program.limits.processes),
            )
            return self._settings

    def _end_busy(self) -> None:
        with self._lock:
            busy = [place.worker for place in self._busy]
        for worker in busy:
            if worker is not None:
                worker.interrupt()


@dataclass(eq=False)
class _Place:
    """Where one worker is, or will be."""

    processor: int | None
    worker: Worker | None = None

    def empty(self) -> None:
        """Ends the worker."""
        if self.worker is not None:
            self.worker.close()
            self.worker = None


def _places(workers: int) -> list[int | None]:
    """A processor for each worker, where there are enough."""
    if not hasattr(os, "sched_getaffinity"):
        return [None] * workers
    processors = sorted(os.sched_getaffinity(0))
    return list(processors[:workers]) if workers <= len(processors) else [None] * workers


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _trust(program: Program) -> str:
    return "split" if program.mode == "split" else "in_process"


def _check(program: Program) -> None:
    if program.language != "python":
        raise SandboxError(f"language {program.language!r} cannot be run: only 'python' can, so far")
    if program.mode not in _MODES:
        raise SandboxError(f"mode {program.mode!r} is unknown: use 'split' or 'joint'")


def _execution(program: Program, answer: dict[str, Any], isolation: str) -> Execution:
    verdict = answer["verdict"]
    detail, message = verdict.get("detail"), verdict.get("message")
    return Execution(
        program=program.digest,
        status=ExecutionStatus(verdict["status"]),
        detail=None if detail is None else _printable(detail),
        message=None if message is None else _printable(message),
        cpu_seconds=answer["cpu_seconds"],
        wall_seconds=answer["wall_seconds"],
        peak_rss_bytes=answer["peak_rss_bytes"],
        stdout=_printable(answer["stdout"]),
        stderr=_printable(answer["stderr"]),
        isolation=isolation,
        verdict_trust=_trust(program),
    )


def _printable(text: object) -> str:
    """Text that can be written as UTF-8: lone surrogates become escapes, null characters too."""
    safe = str(text).replace("\0", "\\x00")
    return safe.encode("utf-8", "backslashreplace").decode("utf-8")
