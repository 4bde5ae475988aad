"""Programs in, executions out: a pool of warm workers, each a container of its own."""

from __future__ import annotations

import os
import platform
import queue
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

from probatum.core.errors import SandboxError
from probatum.core.records import Execution, ExecutionStatus, Program
from probatum.sandbox.ladder import choose
from probatum.sandbox.launch import Settings, StartError, Worker, WorkerGoneError
from probatum.sandbox.stream import Gate, Stream

__all__ = ["PROTOCOL", "Sandbox"]

PROTOCOL: Final = 1
"""Rises when the same program may get another verdict than before."""
ATTEMPTS: Final = 3  # how often a program is tried when the sandbox itself fails
_MODES: Final = ("split", "joint")
_TEXT: Final = 4000  # characters kept of a message


class Sandbox:
    """Runs untrusted programs.

    A worker is a small process that is started fresh (never forked from this one), isolated, and used
    for many programs; each program is a process of its own in it, and nothing survives its execution.
    Workers start when there is work for them. May be used from several threads.

    Args:
        workers: programs that run at once; by default one for each processor.
        isolation: a rung of the ladder (`namespaces`, `bubblewrap`); by default the best that a
            self-test proves here. `unsafe-subprocess` isolates nothing and must be asked for by name.

    Raises:
        SandboxError: this machine offers no isolation that could be proven; says how to allow it.
    """

    def __init__(self, workers: int | None = None, *, isolation: str | None = None) -> None:
        if workers is not None and workers < 1:
            raise SandboxError(f"a sandbox cannot have {workers!r} workers: give at least 1")
        self.workers = workers or _processors()
        proven = choose(isolation)
        self._settings = proven.settings
        self.isolation = self._settings.isolation
        self._idle: queue.LifoQueue[Worker | None] = queue.LifoQueue()
        for _ in range(self.workers - 1):
            self._idle.put(None)
        self._idle.put(proven.worker)
        self._busy: set[Worker] = set()
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
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return
            if worker is not None:
                worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # threads

    def _drive(self, stream: Stream) -> None:
        try:
            while (program := stream.pull()) is not None:
                stream.put(self._run(program))
        except BaseException as error:  # noqa: BLE001 - raised again where the stream is iterated
            stream.leave(error)
        else:
            stream.leave()

    def _run(self, program: Program) -> Execution:
        _check(program)
        self._gate.enter()
        try:
            execution = self._tried(program)
        finally:
            self._gate.leave()
        if execution.status is ExecutionStatus.TIMEOUT and execution.detail == "wall":
            # a wall clock measures the others too: only what ends so when nothing else runs has ended so
            self._gate.enter_alone()
            try:
                execution = self._tried(program)
            finally:
                self._gate.leave_alone()
        return execution

    def _tried(self, program: Program) -> Execution:
        execution = self._once(program)
        for _ in range(ATTEMPTS - 1):
            if execution.status is not ExecutionStatus.SANDBOX_ERROR or execution.detail == "tests":
                break
            execution = self._once(program)
        return execution

    def _once(self, program: Program) -> Execution:
        worker = self._take(program)
        try:
            worker.send(program, secrets.token_hex(16))
            execution = _execution(program, worker.receive(program), self.isolation)
        except WorkerGoneError as error:
            self._give_back(worker, dead=True)
            return Execution(
                program=program.digest,
                status=ExecutionStatus.SANDBOX_ERROR,
                detail="worker",
                message=str(error)[:_TEXT],
                isolation=self.isolation,
                verdict_trust=_trust(program),
            )
        except BaseException:
            self._give_back(worker, dead=True)
            raise
        self._give_back(worker, dead=False)
        return execution

    def _take(self, program: Program) -> Worker:
        worker = self._idle.get()
        try:
            if worker is not None and not worker.fits(program):
                worker.close()
                worker = None
            if worker is None:
                worker = Worker(self._roomy(program))
        except BaseException as error:
            self._idle.put(None)
            if isinstance(error, StartError | WorkerGoneError):
                raise SandboxError(f"a worker of the sandbox cannot be started: {error}") from None
            raise
        with self._lock:
            self._busy.add(worker)
        return worker

    def _roomy(self, program: Program) -> Settings:
        """Settings under which this program fits, as did all before it."""
        with self._lock:
            self._settings = replace(
                self._settings,
                output_bytes=max(self._settings.output_bytes, program.limits.output_bytes),
                file_bytes=max(self._settings.file_bytes, program.limits.file_bytes),
            )
            return self._settings

    def _give_back(self, worker: Worker, *, dead: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
        if dead or self._closed:
            worker.close()
            self._idle.put(None)
        else:
            self._idle.put(worker)

    def _end_busy(self) -> None:
        with self._lock:
            busy = list(self._busy)
        for worker in busy:
            worker.interrupt()


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
