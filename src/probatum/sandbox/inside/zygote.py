"""Starts one candidate per execution, as the first process of a pid namespace of its own.

The zygote is a clean, warm interpreter that never sees tests. One candidate always waits, cloned ahead
while the one before it runs; it gets a program only when the one before is dead and its traces are gone.
"""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH116, PTH208

from __future__ import annotations

import _socket
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from probatum.sandbox.inside import candidate, limits, seccomp, syscalls
from probatum.sandbox.inside.frames import GoneError, Wire
from probatum.sandbox.inside.output import Outputs

MAX_MESSAGE: Final = 1 << 16
WIRE: Final = 3  # the candidate's descriptor of its connection to the judge


class Counter:
    """Reads the count of processes that the kernel killed because their group had no more memory."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._last = self._read()

    def _read(self) -> int:
        if self._descriptor is None:
            return 0
        lines = os.pread(self._descriptor, 4096, 0).decode("ascii").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def rose(self) -> bool:
        """Whether it is higher than when it was last asked."""
        before, self._last = self._last, self._read()
        return self._last > before


class Zygote:
    """One worker's source of candidates.

    Args:
        judge: a SEQPACKET socket; the judge's orders, and what became of them.
        supervisor: a SEQPACKET socket; asked to replace the work directory.
        judge_pid: for the time that the judge takes, which is not the candidate's.
        outputs: two sets; the waiting candidate has the one that the running does not.
        settings: the worker's.
    """

    def __init__(
        self,
        judge: _socket.socket,
        supervisor: _socket.socket,
        judge_pid: int,
        outputs: tuple[Outputs, Outputs],
        settings: dict[str, Any],
    ) -> None:
        self._judge, self._supervisor, self._judge_pid = judge, supervisor, judge_pid
        self._outputs, self._killed_for_memory = outputs, Counter(settings["group_events"])
        self._work: str = settings["work"]
        self._contained: bool = settings["isolation"] != "unsafe-subprocess"
        self._clone = syscalls.Cloner(syscalls.CLONE_NEWPID if self._contained else 0)
        self._skip = frozenset(limits.everyone())
        self._turn = 0
        self._untouched = self._state()

    def serve(self) -> None:
        """Answers the judge's orders until it is gone."""
        candidate.rehearse()
        gc.collect()
        syscalls.trim_memory()
        gc.freeze()
        gc.disable()
        waiting = self._next()
        while True:
            message = self._judge.recv(MAX_MESSAGE)
            if not message:
                return
            if message == b"kill":  # came too late: its target is dead
                continue
            cpu, wall, memory = message.split()
            running = waiting
            waiting = 0
            with contextlib.suppress(OSError):  # no process to be had now: after this one there will be
                waiting = self._next()
            ended = limits.watch(
                running,
                limits.Allowed(float(cpu), float(wall), int(memory)),
                self._look(running, waiting),
                self._judge_pid,
                self._killed,
                self._judge.fileno(),
            )
            if not self._contained:  # no pid namespace has ended all others with the first
                limits.end_family(os.getpid(), spared=waiting)
            if waiting == 0 or os.waitpid(waiting, os.WNOHANG)[0]:
                waiting = self._next(again=waiting != 0)
            self._clean()
            self._judge.send(self._report(ended))

    def _report(self, ended: limits.Ended) -> bytes:
        """How an execution ended, as words: JSON would touch memory that the next clone must copy."""
        out_of_memory = os.WIFSIGNALED(ended.status) and self._killed_for_memory.rose()
        killed = "memory" if out_of_memory and ended.killed is None else ended.killed or "no"
        return (
            f"{ended.status} {killed} {ended.cpu_seconds!r} {ended.wall_seconds!r} {ended.peak_rss_bytes}"
        ).encode()

    def _look(self, running: int, waiting: int) -> Callable[[], limits.Usage]:
        """How the watch sees what the execution has used so far."""
        if not self._contained:
            return lambda: limits.usage([running, *limits.family(running)])
        skip = self._skip | {waiting}
        return lambda: limits.usage(pid for pid in limits.everyone() if pid not in skip)

    def _killed(self) -> bool:
        return self._judge.recv(MAX_MESSAGE) in {b"kill", b""}

    def _clean(self) -> None:
        """Has the work directory replaced where the execution touched it."""
        if self._state() == self._untouched:
            return
        self._supervisor.send(b"replace")
        if self._supervisor.recv(16) != b"done":
            os._exit(1)
        self._untouched = self._state()

    def _state(self) -> tuple[int, int, int]:
        """Of the work directory; the time alone is too coarse to show what happens just after a mount."""
        found = os.stat(self._work)
        try:
            return found.st_ctime_ns, found.st_mode, len(os.listdir(self._work))
        except OSError:  # a program has taken our own right to look
            return found.st_ctime_ns, found.st_mode, -1

    def _next(self, *, again: bool = False) -> int:
        """Clones a candidate that waits, and hands its connection to the judge."""
        if not again:
            self._turn ^= 1
        streams = self._outputs[self._turn].streams
        ours, theirs = _socket.socketpair()
        pid = self._clone()
        if pid == 0:
            try:
                os.dup2(streams[0].file, 1)
                os.dup2(streams[1].file, 2)
                _wait_and_run(theirs, self._work, contained=self._contained)
            finally:
                os._exit(125)
        theirs.close()
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, ours.fileno().to_bytes(4, sys.byteorder))
        self._judge.sendmsg([b"w%d" % self._turn], [rights])
        ours.close()
        return pid


def _wait_and_run(connection: _socket.socket, work: str, *, contained: bool) -> None:
    os.dup2(connection.detach(), WIRE, inheritable=False)
    os.closerange(WIRE + 1, 1 << 20)
    syscalls.drop_capabilities()
    wire = Wire(_socket.socket(fileno=WIRE))
    try:
        order = wire.receive()
    except GoneError:
        return
    os.chdir(work)
    limits.restrict(order["limits"], contained=contained)
    candidate.run(wire, order)


def start(
    judge: _socket.socket,
    supervisor: _socket.socket,
    judge_pid: int,
    outputs: tuple[Outputs, Outputs],
    settings: dict[str, Any],
) -> None:
    """Becomes the zygote, for good."""
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    for entrance in settings["group"]:
        os.write(entrance, b"0")
        os.close(entrance)
    syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    limits.restrict_for_good()
    seccomp.install()
    try:
        Zygote(judge, supervisor, judge_pid, outputs, settings).serve()
    except Exception:  # noqa: BLE001 - told to the judge, who tells the host
        import traceback  # noqa: PLC0415 - it would cost memory in every candidate

        judge.send(b"crashed " + traceback.format_exc()[-4000:].encode("utf-8", "replace"))
