"""A watch over one execution, kept from outside it.

Work is limited by CPU seconds, summed over all processes of the execution. A sleeper is limited by the
time that it could have run: elapsed time, less the time it waited for a processor, less the time the judge
took. The wall clock is a backstop only, since on a loaded machine it measures the others.
"""

# pathlib would allocate a path object for every file of /proc that is looked at:
# ruff: noqa: PTH110, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Callable, Container, Iterable
from typing import Final, NamedTuple

from probatum.sandbox.inside import syscalls
from probatum.sandbox.inside.ending import Ending
from probatum.sandbox.inside.syscalls import SIGKILL

IDLE: Final = 2.0  # times the CPU limit: how long a program may do nothing
FIRST_LOOK: Final = 0.05  # seconds before the first look at a running execution
SHARED: Final = 16 << 20  # bytes of every process that are the zygote's
LONGEST: Final = 0.25  # seconds between two looks


class Usage(NamedTuple):
    """What processes have used so far."""

    cpu: float
    """Seconds on a processor, of all."""
    waited: float | None
    """Seconds in the run queue, of the thread that waited longest; `None` where the kernel does not tell."""
    resident: int
    """Bytes in memory, of all, without what each shares with the zygote."""


_PAGE: Final = resource.getpagesize()
_TICKS: Final = os.sysconf("SC_CLK_TCK")
TELLS_WAITING: Final = os.path.exists("/proc/self/schedstat")  # gVisor does not


def _thread(path: str) -> tuple[float, float]:
    """CPU seconds of a thread, and its seconds in the run queue; both 0 where the kernel does not tell."""
    if not TELLS_WAITING:
        return 0.0, 0.0
    with open(path, "rb") as file:
        cpu, waited, _ = file.read().split()
    return int(cpu) / 1e9, int(waited) / 1e9


def everyone() -> list[int]:
    """The ids of all processes that this one can see."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def family(pid: int) -> list[int]:
    """The ids of the children of a process, and of theirs."""
    found: list[int] = []
    wanted = [pid]
    while wanted:
        children = _children(wanted.pop())
        found += children
        wanted += children
    return found


def _children(pid: int) -> list[int]:
    """Of all threads of a process: each has those that it started."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # the process or a thread of it ended while we looked
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def end_family(pid: int, *, spared: Container[int]) -> None:
    """Kills and reaps all children of this process `pid`, and theirs, but those spared."""
    while left := [one for one in family(pid) if one not in spared]:
        for one in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, SIGKILL)
        for one in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(one, 0)


def usage(pids: Iterable[int]) -> Usage:
    """Of these processes together."""
    cpu, waited, resident = 0.0, 0.0, 0
    for pid in pids:
        try:
            one, waits, pages = _process(f"/proc/{pid}")
        except (OSError, ValueError):
            continue  # it ended while we looked
        cpu += one
        waited = max(waited, waits)
        resident += max(0, pages * _PAGE - SHARED)
    return Usage(cpu, waited if TELLS_WAITING else None, resident)


def _process(path: str) -> tuple[float, float, int]:
    """CPU seconds (its dead threads and children included), longest wait, pages in memory."""
    exact, waited = 0.0, 0.0
    for thread in os.listdir(f"{path}/task"):
        one, waits = _thread(f"{path}/task/{thread}/schedstat")
        exact += one
        waited = max(waited, waits)
    with open(f"{path}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    user, system, of_children, system_of_children = (int(field) / _TICKS for field in fields[11:15])
    return max(exact, user + system) + of_children + system_of_children, waited, int(fields[21])


def busy(pid: int) -> float:
    """Seconds that a process of one thread was running or wanted to."""
    try:
        cpu, waited = _thread(f"/proc/{pid}/task/{pid}/schedstat")
    except (OSError, ValueError):
        return 0.0
    return cpu + waited


class Allowed(NamedTuple):
    """What the watch enforces."""

    cpu_seconds: float
    wall_seconds: float
    memory_bytes: int


class Ended(NamedTuple):
    """How the first process of an execution ended; all its others ended with it."""

    status: int
    """As `waitpid` gives it."""
    killed: str | None
    """Why we killed it: `cpu`, `idle`, `wall`, `memory`, `judge`."""
    cpu_seconds: float
    wall_seconds: float
    peak_rss_bytes: int


def watch(
    pid: int,
    allowed: Allowed,
    look: Callable[[], Usage],
    judge: int,
    orders: Callable[[], bool],
    channel: int,
) -> Ended:
    """Waits for process `pid`, and kills it when it has used what it may.

    `orders` is called when `channel` is readable, and says whether the judge wants the process killed.
    """
    began = time.monotonic()
    judge_began: float | None = None  # taken at the first look: what it did before is too little to matter
    ending = Ending(pid)
    poll = syscalls.Poll({ending.descriptor: syscalls.POLLIN, channel: syscalls.POLLIN})
    killed: str | None = None
    next_look = FIRST_LOOK
    idleness = Idleness()
    try:
        while True:
            elapsed = time.monotonic() - began
            ready = poll(int(max(0.0, next_look - elapsed) * 1000) + 1)
            if ending.descriptor in ready and ending.came():
                break
            if channel in ready and orders() and killed is None:
                killed = "judge"
                os.kill(pid, SIGKILL)
                continue
            elapsed = time.monotonic() - began
            if elapsed < next_look:
                continue
            used = look()
            judge_now = busy(judge)
            judge_began = judge_now if judge_began is None else judge_began
            idle = idleness.seconds(used, elapsed) - (judge_now - judge_began)
            killed = killed or _exceeded(used, allowed, elapsed, idle)
            if killed is not None:
                os.kill(pid, SIGKILL)
            next_look = elapsed + min(LONGEST, max(0.02, allowed.cpu_seconds - used.cpu))
        # the first process of a pid namespace is reaped after all others: nothing is left
        _, status, spent = os.wait4(pid, 0)
    finally:
        ending.close()
    return Ended(
        status=status,
        killed=killed,
        cpu_seconds=spent.ru_utime + spent.ru_stime,
        wall_seconds=time.monotonic() - began,
        peak_rss_bytes=spent.ru_maxrss * 1024,
    )


class Idleness:
    """How long a program could have run and did not."""

    def __init__(self) -> None:
        self._last = Usage(0.0, None, 0)
        self._looked = self._idle = 0.0

    def seconds(self, used: Usage, elapsed: float) -> float:
        """Elapsed time less the wait for a processor, or the time between looks in which no CPU was used.

        The first counts what it runs as well, which the CPU limit ends before it is too much.
        """
        if used.waited is not None:
            return elapsed - used.waited
        if used.cpu - self._last.cpu < 1 / _TICKS:
            self._idle += elapsed - self._looked
        self._last, self._looked = used, elapsed
        return self._idle


def _exceeded(used: Usage, allowed: Allowed, elapsed: float, idle: float) -> str | None:
    if used.cpu >= allowed.cpu_seconds:
        return "cpu"
    if used.resident >= allowed.memory_bytes:
        return "memory"
    if idle >= IDLE * allowed.cpu_seconds:
        return "idle"
    if elapsed >= allowed.wall_seconds:
        return "wall"
    return None
