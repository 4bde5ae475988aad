"""Control groups, where this process may make them: one for the candidates of each worker.

They make limits of memory and of processes hold for all processes of an execution together, files in the
work directory included. Without them the zygote looks at the sum of resident memory a few times a second,
and every process has its own limit of address space.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["Group", "controllers", "make_group"]

PREFIX: Final = "probatum-"
SLACK: Final = 96 << 20  # bytes beyond the program's own limit: the zygote, the candidate that waits
SPARE_PROCESSES: Final = 16
_REMOVE_SECONDS: Final = 5.0
_numbers = itertools.count()


@dataclass(frozen=True)
class _Hierarchy:
    """Where groups are made, and which files set their limits."""

    folder: Path
    memory: str | None
    """File of the memory limit, where this hierarchy has one."""
    swap: str | None
    pids: str | None
    events: str | None
    """File that counts the processes killed for memory."""


def _mounts() -> Iterator[tuple[str, Path, str]]:
    """Kind, mount point and options of mounted hierarchies."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split()[:3]
        if kind in {"cgroup", "cgroup2"}:
            yield kind, Path(before.split()[4]), options


def _own_paths() -> dict[str, str]:
    """Controller → path of this process's group; the empty name is version 2."""
    found = {}
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            found[name] = path
    return found


def _version_1(point: Path, options: str, own: dict[str, str]) -> _Hierarchy | None:
    names = set(options.split(","))
    for name in ("memory", "pids"):
        if name in names and name in own:
            return _Hierarchy(
                folder=point / own[name].lstrip("/"),
                memory="memory.limit_in_bytes" if "memory" in names else None,
                swap="memory.memsw.limit_in_bytes" if "memory" in names else None,
                pids="pids.max" if "pids" in names else None,
                events="memory.oom_control" if "memory" in names else None,
            )
    return None


def _version_2(point: Path, own: dict[str, str]) -> _Hierarchy | None:
    folder = point / own.get("", "/").lstrip("/")
    enabled = enable(folder, ("memory", "pids"))
    if not {"memory", "pids"} & enabled:
        return None
    memory = "memory" in enabled
    return _Hierarchy(
        folder=folder,
        memory="memory.max" if memory else None,
        swap="memory.swap.max" if memory else None,
        pids="pids.max" if "pids" in enabled else None,
        events="memory.events" if memory else None,
    )


def enable(folder: Path, names: Sequence[str]) -> set[str]:
    """Switches controllers on for the groups below one of version 2; returns all that are on.

    The kernel refuses it while processes stand in the group itself: if they are this process and its
    descendants alone, as in a scope that systemd has delegated, they move into a group below.

    Raises:
        OSError: it is no such group, or cannot be read.
    """
    control = folder / "cgroup.subtree_control"
    offered = (folder / "cgroup.controllers").read_text(encoding="ascii").split()
    switches = " ".join(f"+{name}" for name in names if name in offered)
    if switches:
        try:
            control.write_text(switches, encoding="ascii")
        except OSError as error:
            if error.errno == errno.EBUSY and _step_aside(folder):
                with contextlib.suppress(OSError):  # somebody came in meanwhile
                    control.write_text(switches, encoding="ascii")
    return set(control.read_text(encoding="ascii").split())


def _step_aside(folder: Path) -> bool:
    """Moves this process and its descendants out of the way; refuses where others stand there, too."""
    there = [int(line) for line in (folder / "cgroup.procs").read_text(encoding="ascii").split()]
    if not all(map(_is_ours, there)):
        return False
    leaf = folder / f"{PREFIX}{os.getpid()}-self"
    try:
        leaf.mkdir(exist_ok=True)
        for pid in there:
            (leaf / "cgroup.procs").write_text(str(pid), encoding="ascii")
    except OSError:
        return False
    return True


def _is_ours(pid: int) -> bool:
    """Whether a process is this one or descends from it."""
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:  # it has ended
            return True
        pid = int(stat.rpartition(")")[2].split()[1])
    return False


@cache
def _hierarchies() -> tuple[_Hierarchy, ...]:
    """Those in which this process can make groups; what dead processes left there is removed."""
    found = []
    with contextlib.suppress(OSError, ValueError):
        own = _own_paths()
        for kind, point, options in _mounts():
            with contextlib.suppress(OSError):
                one = _version_1(point, options, own) if kind == "cgroup" else _version_2(point, own)
                if one is not None and _usable(one.folder):
                    found.append(one)
    return tuple(found)


def _usable(folder: Path) -> bool:
    probe = folder / f"{PREFIX}{os.getpid()}-probe"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    for left in folder.glob(f"{PREFIX}[0-9]*-*"):
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if not Path(f"/proc/{pid}").exists():
            with contextlib.suppress(OSError):
                left.rmdir()
    return True


def controllers() -> tuple[str, ...]:
    """What groups can limit here: `memory`, `pids`, both or nothing."""
    found = set()
    for one in _hierarchies():
        found |= {"memory"} if one.memory else set()
        found |= {"pids"} if one.pids else set()
    return tuple(sorted(found))


class Group:
    """A group in each hierarchy, for one worker's zygote and the candidates that it starts."""

    def __init__(self, folders: list[Path], entrances: list[int], events: int | None) -> None:
        self._folders = folders
        self.entrances = entrances
        """Descriptors; whoever writes `0` to them enters."""
        self.events = events
        """Descriptor of the count of processes killed for memory."""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All that a worker must inherit."""
        return (*self.entrances, *(() if self.events is None else (self.events,)))

    def close_descriptors(self) -> None:
        """When the worker has them."""
        for descriptor in self.descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.entrances, self.events = [], None

    def remove(self) -> None:
        """When the worker is dead."""
        self.close_descriptors()
        deadline = time.monotonic() + _REMOVE_SECONDS
        for folder in self._folders:
            while folder.exists() and time.monotonic() < deadline:
                try:
                    folder.rmdir()
                except OSError:
                    time.sleep(0.005)  # its last process is on its way out


def make_group(memory_bytes: int, processes: int) -> Group | None:
    """A group with room for programs of these limits; `None` where none can be made."""
    folders: list[Path] = []
    entrances: list[int] = []
    events: int | None = None
    for one in _hierarchies():
        folder = one.folder / f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        try:
            folder.mkdir()
            folders.append(folder)
            if one.memory is not None:
                (folder / one.memory).write_text(str(memory_bytes + SLACK), encoding="ascii")
                _limit_swap(folder, one.swap, memory_bytes + SLACK)
            if one.pids is not None:
                (folder / one.pids).write_text(str(processes + SPARE_PROCESSES), encoding="ascii")
            if one.events is not None:
                events = os.open(folder / one.events, os.O_RDONLY | os.O_CLOEXEC)
            entrances.append(os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        except OSError:
            Group(folders, entrances, events).remove()
            return None
    return Group(folders, entrances, events) if folders else None


def _limit_swap(folder: Path, name: str | None, total: int) -> None:
    """No swap beyond the limit: version 1 counts memory and swap together, version 2 swap alone."""
    if name is not None and (folder / name).exists():
        (folder / name).write_text(str(total if name.startswith("memory.memsw") else 0), encoding="ascii")
