"""Has candidates started, watches the one that runs, and tells the judge how it ended.

One candidate always waits, cloned ahead while the one before it runs; it gets a program only when the one
before is dead and its traces are gone.
"""

# pathlib would cost memory here and nothing is gained by it:
# ruff: noqa: PTH116, PTH208

from __future__ import annotations

import _socket
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from probatum.sandbox.inside import limits, watch
from probatum.sandbox.inside.syscalls import SIGKILL
from probatum.sandbox.inside.watch import Allowed, Ended, Usage

MAX_MESSAGE: Final = 1 << 16


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


class Starter(Protocol):
    """Starts candidates: `zygote.Asked` or `zygote.Within`."""

    def start(self, turn: int, connection: _socket.socket) -> int:
        """The process id of a new candidate, or `-errno`."""
        ...


class Channels(NamedTuple):
    """To the others of the worker."""

    judge: _socket.socket
    """SEQPACKET: its orders, and what became of them."""
    supervisor: _socket.socket
    """SEQPACKET: asked for another work directory."""
    zygote: Starter


class Keeper:
    """One worker's watch over its candidates.

    Args:
        channels: to the others of the worker.
        judge_pid: for the time that the judge takes, which is not the candidate's.
        settings: the worker's.
        spared: processes that are no candidates.
    """

    def __init__(
        self, channels: Channels, judge_pid: int, settings: dict[str, Any], spared: frozenset[int]
    ) -> None:
        self._judge, self._supervisor, self._zygote = channels.judge, channels.supervisor, channels.zygote
        self._judge_pid = judge_pid
        self._killed_for_memory = Counter(settings["group_events"])
        self._work: str = settings["work"]
        self._contained: bool = settings["isolation"] != "unsafe-subprocess"
        self._spared = spared
        self._turn = 1
        self._limits: limits.Values = {}
        self._untouched = self._state()

    def serve(self) -> None:
        """Answers the judge's orders until it is gone.

        They are to watch the waiting candidate, which now gets a program, or to have one wait that has
        other limits.
        """
        waiting = self._started()
        while message := self._judge.recv(MAX_MESSAGE):
            if message == b"kill":  # came too late: its target is dead
                continue
            if message.startswith(b"limits "):
                self._limits = json.loads(message.removeprefix(b"limits "))
                waiting = self._replaced(waiting)
                continue
            cpu, wall, memory = message.split()
            running, waiting = waiting, self._next()
            ended = watch.watch(
                running,
                Allowed(float(cpu), float(wall), int(memory)),
                self._look(running, waiting),
                self._judge_pid,
                self._killed,
                self._judge.fileno(),
            )
            if not self._contained:  # no pid namespace has ended all others with the first
                watch.end_family(os.getpid(), spared=self._spared | {waiting})
            if waiting == 0 or os.waitpid(waiting, os.WNOHANG)[0]:
                waiting = self._started()
            self._clean()
            self._judge.send(self._report(ended))

    def _next(self) -> int:
        """The process that will wait while another runs; 0 where none can be had before."""
        self._turn ^= 1
        try:
            return self._started()
        except OSError:
            return 0

    def _replaced(self, waiting: int) -> int:
        """Another process in the place of the one that waits: nobody can give back what it was denied."""
        os.kill(waiting, SIGKILL)
        os.waitpid(waiting, 0)
        return self._started()

    def _report(self, ended: Ended) -> bytes:
        """How an execution ended, as words."""
        out_of_memory = os.WIFSIGNALED(ended.status) and self._killed_for_memory.rose()
        killed = "memory" if out_of_memory and ended.killed is None else ended.killed or "no"
        return (
            f"{ended.status} {killed} {ended.cpu_seconds!r} {ended.wall_seconds!r} {ended.peak_rss_bytes}"
        ).encode()

    def _look(self, running: int, waiting: int) -> Callable[[], Usage]:
        """How the watch sees what the execution has used so far."""
        if not self._contained:
            return lambda: watch.usage([running, *watch.family(running)])
        skip = self._spared | {waiting}
        return lambda: watch.usage(pid for pid in watch.everyone() if pid not in skip)

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

    def _started(self) -> int:
        """Has the zygote clone a candidate that waits, and hands its connection to the judge.

        Only when it is restricted: the judge may send it a program as soon as it can.

        Raises:
            OSError: no process could be had.
        """
        ours, theirs = _socket.socketpair()
        try:
            pid = self._zygote.start(self._turn, theirs)
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid))
            try:
                limits.restrict(pid, self._limits, contained=self._contained)
            except OSError:  # it is dead already
                os.waitpid(pid, 0)
                raise
            right = ours.fileno().to_bytes(4, sys.byteorder)
            self._judge.sendmsg([b"w%d" % self._turn], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, right)])
        finally:
            ours.close()
            theirs.close()
        return pid
