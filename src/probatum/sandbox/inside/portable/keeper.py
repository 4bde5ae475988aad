"""Starts judge and candidates, watches the one that runs, and tells the judge how it ended.

Work is limited by CPU seconds. What sleeps is limited by the time in which nothing was done: windows of a
quarter of a second in which program and judge together had next to no CPU, since no portable call tells how
long a process waited for a processor. On a machine so loaded that a busy program gets less, it is called
idle; and one that works a little in every window is not, until the wall clock ends it.
"""

from __future__ import annotations

import _socket
import contextlib
import json
import os
import signal
import time
import traceback
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, NoReturn

from probatum.sandbox.inside.portable.channel import Channel
from probatum.sandbox.inside.portable.folder import Folder
from probatum.sandbox.inside.portable.group import Bell, Group, is_gone, readable
from probatum.sandbox.inside.portable.meter import Meter, Usage, meter
from probatum.sandbox.inside.portable.spool import Spools

IDLE: Final = 2.0  # times the CPU limit: how long a program may do nothing
WINDOW: Final = 0.25  # seconds of one window
BUSY: Final = 0.009  # CPU seconds in a window, of program and judge: one step of a clock of hundredths
FILES: Final = 0.05  # seconds between two looks at the work directory, more where one takes long
LOOK: Final = 0.02  # seconds between two looks: memory can grow by a hundred megabytes meanwhile
START_SECONDS: Final = 60.0  # a candidate that is not ready by then is given up


class NoCandidateError(Exception):
    """A candidate's process did not come up; says what it said."""


class Allowed(NamedTuple):
    """What the watch enforces."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int


class Ended(NamedTuple):
    """How an execution ended."""

    status: int
    """As `waitpid` gives it."""
    killed: str
    """Why we killed it: `cpu`, `idle`, `wall`, `memory`, `files`, `judge`; `no`."""
    cpu_seconds: float
    wall_seconds: float
    peak_rss_bytes: int

    def words(self) -> bytes:
        """As the judge reads it."""
        status, killed, cpu, wall, peak = self
        return f"{status} {killed} {cpu!r} {wall!r} {peak}".encode()


class Idleness:
    """How long nothing was done."""

    def __init__(self) -> None:
        self._since = self._cpu = self._idle = 0.0

    def seconds(self, cpu: float, elapsed: float) -> float:
        """The windows without work, together."""
        if elapsed - self._since >= WINDOW:
            if cpu - self._cpu < BUSY:
                self._idle += elapsed - self._since
            self._since, self._cpu = elapsed, cpu
        return self._idle


class Candidate:
    """A process that waits for a program, or runs it."""

    def __init__(self, group: Group, ready: int, wire: int, turn: int) -> None:
        self.group, self.turn, self.wire = group, turn, wire
        self._ready = ready
        self.spent = 0.0
        """CPU seconds that it used before there was a program."""

    def await_ready(self) -> None:
        """Waits until it has limited itself.

        Raises:
            NoCandidateError: it did not.
        """
        said = b""
        deadline = time.monotonic() + START_SECONDS
        while readable([self._ready], max(0.0, deadline - time.monotonic())):
            more = os.read(self._ready, 64)
            if not more:
                break
            said += more
        os.close(self._ready)
        try:
            self.spent = float(said)
        except ValueError:
            raise NoCandidateError(f"a process of the sandbox did not start: it said {said!r}") from None


class Keeper:
    """One worker's keeper.

    Args:
        settings: the worker's; `commands` and `program` say how judge and candidate are started.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._folder = Folder(settings["work"])
        self._meter: Meter = meter()
        self._bell = Bell()
        self._host: int = settings["fd"]
        self._parent = os.getppid()
        size = settings["output_bytes"]
        self._spools = (Spools.make(settings["work"], size), Spools.make(settings["work"], size))
        self._environment = {
            **settings["environment"],
            "HOME": self._folder.work,
            "TMPDIR": self._folder.work,
        }
        self._limits: Mapping[str, int] = {}
        self._turn = 1
        self._alive: list[Group] = []
        self._judge = self._started_judge()

    # others

    def _program(self, role: str, values: dict[str, Any]) -> bytes:
        call = f"from probatum.sandbox.inside.portable import {role}\n{role}.main({values!r})\n"
        text: str = self._settings["program"] + call
        return text.encode("utf-8", "surrogateescape")

    def _started_judge(self) -> Channel:
        ours, theirs = _socket.socketpair()
        spools = [one.files for one in self._spools]
        values = {
            "host": self._host,
            "keeper": theirs.fileno(),
            "spools": spools,
            "output_bytes": self._settings["output_bytes"],
            "preload": self._settings["preload"],
        }
        given = [self._host, theirs.fileno(), *(file for pair in spools for file in pair)]
        command = self._settings["commands"]["judge"]
        self._judge_group = Group(command, self._program("judge", values), given, None, self._environment)
        theirs.close()
        return Channel(ours)

    def _started(self) -> Candidate:
        """A candidate that will wait; its outputs are those that the running one does not have."""
        self._turn ^= 1
        ours, theirs = _socket.socketpair()
        ready, said = os.pipe()
        values = {
            "wire": theirs.fileno(),
            "ready": said,
            "limits": dict(self._limits),
            "preload": self._settings["preload"],
            "work": self._folder.work,
        }
        program = self._program("candidate", values)
        self._spools[self._turn].empty()  # whoever had it has ended, and was read before this order came
        files = self._spools[self._turn].files
        command = self._settings["commands"]["candidate"]
        try:
            group = Group(command, program, [theirs.fileno(), said], files, self._environment)
        finally:
            theirs.close()
            os.close(said)
        self._alive.append(group)
        return Candidate(group, ready, ours.detach(), self._turn)

    def _offer(self, waiting: Candidate) -> None:
        """Hands the connection of a candidate that is ready to the judge.

        Raises:
            NoCandidateError: it did not come up; says what it wrote.
        """
        try:
            waiting.await_ready()
        except NoCandidateError as error:
            self._drop(waiting)
            text = b"".join(self._spools[waiting.turn].take()).decode("utf-8", "replace").strip()
            raise NoCandidateError(text.splitlines()[-1][:500] if text else str(error)) from None
        self._judge.give(b"w%d" % waiting.turn, waiting.wire)

    def _drop(self, candidate: Candidate) -> None:
        candidate.group.end()
        self._alive.remove(candidate.group)

    # the conversation

    def serve(self) -> None:
        """Answers the judge's orders until it is gone.

        They are to watch the candidate that waits, which now gets a program, or to have one wait that has
        other limits.

        Raises:
            NoCandidateError: no candidate can be had.
            OSError: the judge is gone, or something of a program stays in the work directory.
        """
        self._folder.renew()
        waiting = self._started()
        self._offer(waiting)
        while message := self._judge.recv():
            if message == b"kill":  # came too late: its target is dead
                continue
            if message.startswith(b"limits "):
                self._limits = self._possible(json.loads(message.removeprefix(b"limits ")))
                self._drop(waiting)
                waiting = self._started()
                self._offer(waiting)
                continue
            cpu, wall, memory = message.split()
            running, waiting = waiting, self._started()
            ended = self._watch(running, Allowed(float(cpu), float(wall), int(memory)))
            self._drop(running)
            try:
                self._folder.renew()
                self._offer(waiting)
            finally:  # what ended has ended, whether or not another can follow
                self._judge.send(ended.words())

    def _possible(self, limits: dict[str, int]) -> dict[str, int]:
        """Outputs are files here: a program may write as much to them as it may print."""
        return {**limits, "RLIMIT_FSIZE": max(limits["RLIMIT_FSIZE"], self._settings["output_bytes"])}

    def _watch(self, running: Candidate, allowed: Allowed) -> Ended:
        began = time.monotonic()
        next_look_at_files = began + FILES
        judge_began = self._cpu_of_judge()
        idleness = Idleness()
        killed = "no"
        while True:
            ready = readable([self._judge.fileno(), self._bell.descriptor], LOOK)
            if self._bell.descriptor in ready:
                self._bell.silence()
            if (end := running.group.ended()) is not None:
                break
            if self._judge.fileno() in ready and killed == "no":
                killed = self._order()
            now = time.monotonic()
            used = self._meter.usage(running.group.pid) or Usage(running.spent, 0)
            used = used._replace(cpu=used.cpu - running.spent)
            if killed == "no":
                work = used.cpu + self._cpu_of_judge() - judge_began
                killed = _exceeded(used, allowed, now - began, idleness.seconds(work, now - began))
            if killed == "no" and now >= next_look_at_files:
                killed = "files" if self._folder.filled(self._limits["RLIMIT_FSIZE"]) else "no"
                after = time.monotonic()
                next_look_at_files = after + max(FILES, 10 * (after - now))
            if killed != "no":
                running.group.kill()
            if is_gone(self._host) or os.getppid() != self._parent:
                self.end()
        status, cpu, peak = end
        elapsed = time.monotonic() - began
        return Ended(status, killed, max(0.0, cpu - running.spent), elapsed, peak * self._meter.unit)

    def _order(self) -> str:
        """What the judge wants of the one that runs."""
        message = self._judge.read()
        if message == b"":
            self.end()
        return "judge" if message == b"kill" else "no"

    def _cpu_of_judge(self) -> float:
        used = self._meter.usage(self._judge_group.pid)
        return 0.0 if used is None else used.cpu

    def end(self) -> NoReturn:
        """Ends the worker with all that runs in it."""
        for group in (*self._alive, self._judge_group):
            group.end()
        with contextlib.suppress(OSError):
            self._folder.remove()
        os._exit(0)

    def crash(self, text: bytes) -> NoReturn:
        """Tells the judge, who tells the host, and ends when they have."""
        with contextlib.suppress(OSError):
            self._judge.send(b"crashed " + text)
            while self._judge.recv():  # until it has closed
                pass
        self.end()


def _exceeded(used: Usage, allowed: Allowed, elapsed: float, idle: float) -> str:
    if used.cpu >= allowed.cpu_seconds:
        return "cpu"
    if used.resident >= allowed.memory_bytes:
        return "memory"
    if idle >= IDLE * allowed.cpu_seconds:
        return "idle"
    if elapsed >= allowed.wall_seconds:
        return "wall"
    return "no"


def main(settings: dict[str, Any]) -> None:
    """Keeps until the host is gone."""
    signal.signal(signal.SIGINT, lambda *_: None)  # meant for the host; not inherited, unlike SIG_IGN
    keeper = Keeper(settings)
    try:
        keeper.serve()
    except NoCandidateError as error:
        keeper.crash(str(error).encode("utf-8", "replace"))
    except Exception:  # noqa: BLE001 - told to the judge, who tells the host
        keeper.crash(traceback.format_exc()[-4000:].encode("utf-8", "replace"))
    keeper.end()
