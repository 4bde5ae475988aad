"""The interpreter's own code in huge pages, and few mappings: a clone has less to copy and to throw away.

The kernel maps a file's pages anew in every process that reads them, sixteen at a time, and unmaps them one
by one when it ends: some 900 pages of each candidate, a tenth of what it costs. A huge page of memory that
belongs to no file is passed on as one entry. Node.js offers the same as `--use-largepages`.

A shared library comes in five mappings that differ in what may be done with them; each is copied and thrown
away with every candidate. Two are enough: what is read or run, and what is written.

What the interpreter writes lies in pages of which a candidate writes one in eight. The kernel passes on the
others one by one; those of a large folio (512 pages, side by side in memory) at a third of the cost.
"""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH123

from __future__ import annotations

import contextlib
import ctypes
from typing import Final, NamedTuple

from probatum.sandbox.inside import syscalls

HUGE: Final = 2 << 20
LEAST: Final = 256 << 10  # bytes of data that are worth moving
MOST: Final = 16 << 20  # bytes of code that are moved
_READ_WRITE: Final = 1 | 2
_READ_EXECUTE: Final = 1 | 4
_PRIVATE_ANONYMOUS: Final = 0x22
_MADV_COLLAPSE: Final = 25  # since Linux 6.1
_MREMAP_FIXED: Final = 1 | 2  # with MAYMOVE, which it needs


class Mapping(NamedTuple):
    """A part of a file in memory, as a line of `/proc/PID/maps` tells of it."""

    first: int
    last: int
    permissions: str
    offset: int
    file: str

    def goes_on_in(self, other: Mapping) -> bool:
        """Whether both could be one, were it not for what is allowed there."""
        size = self.last - self.first
        return (self.file, self.last, self.offset + size) == (other.file, other.first, other.offset)


def _of_files(maps: str) -> list[Mapping]:
    """What of files is mapped, and shared with nobody who writes."""
    found = []
    for line in maps.splitlines():
        span, permissions, offset, _, _, *path = line.split(maxsplit=5)
        if path and path[0].startswith("/") and permissions.endswith("p"):
            first, last = (int(part, 16) for part in span.split("-"))
            found.append(Mapping(first, last, permissions, int(offset, 16), path[0]))
    return found


def joinable(maps: str) -> list[tuple[int, int, int]]:
    """First and last address of what may be one mapping of a library, and what must be allowed there.

    What was written once and then made read-only (the table of functions of other libraries) stands before
    what stays writable, and becomes writable again.

    Args:
        maps: what `/proc/PID/maps` says.
    """
    libraries: list[list[Mapping]] = []
    for one in _of_files(maps):
        if libraries and libraries[-1][-1].goes_on_in(one):
            libraries[-1].append(one)
        else:
            libraries.append([one])
    found = []
    for parts in libraries:
        split = next((place for place, one in enumerate(parts) if "w" in one.permissions), len(parts))
        if 0 < split < len(parts) and parts[split - 1].permissions == "r--p":
            split -= 1
        for some, needed, allowed in ((parts[:split], "x", _READ_EXECUTE), (parts[split:], "w", _READ_WRITE)):
            if len(some) > 1 and any(needed in one.permissions for one in some):
                found.append((some[0].first, some[-1].last, allowed))
    return found


def join_mappings() -> None:
    """Makes few mappings of the many that shared libraries come in.

    To be called before the first fork: after one, what was written can no longer become one.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        wanted = joinable(file.read())
    for first, last, allowed in wanted:
        with contextlib.suppress(OSError):  # a security module forbids it
            syscalls.call("mprotect", first, last - first, allowed)


def code_ranges(maps: str) -> list[tuple[int, int]]:
    """First and last address of whole huge pages that hold code and constants of one file, and nothing else.

    Args:
        maps: what `/proc/PID/maps` says.
    """
    runs: list[tuple[int, int, str, bool]] = []
    for line in maps.splitlines():
        span, permissions, _, _, _, *path = line.split(maxsplit=5)
        first, last = (int(part, 16) for part in span.split("-"))
        if not path or not path[0].startswith("/") or "w" in permissions or not permissions.endswith("p"):
            continue
        executable = "x" in permissions
        if runs and runs[-1][1] == first and runs[-1][2] == path[0]:
            runs[-1] = (runs[-1][0], last, path[0], runs[-1][3] or executable)
        else:
            runs.append((first, last, path[0], executable))
    whole = [(-(-first // HUGE) * HUGE, last // HUGE * HUGE) for first, last, _, code in runs if code]
    return [(first, last) for first, last in whole if last > first]


def use_huge_pages() -> int:
    """Moves the interpreter's code; returns how many bytes.

    For a process of one thread on x86_64; elsewhere, and where the kernel has no huge page to give, nothing
    is moved. The new mapping takes the place of the old in one system call, with the same bytes.
    """
    if syscalls.MACHINE != "x86_64":  # others must be told that new memory holds instructions
        return 0
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        ranges = code_ranges(file.read())
    moved = 0
    for first, last in ranges:
        if moved + last - first <= MOST:
            try:
                moved += _moved(first, last - first)
            except OSError:
                break
    return moved


def data_ranges(maps: str) -> list[tuple[int, int]]:
    """First and last address of what a process writes to and shares with nobody, from `LEAST` bytes on.

    Args:
        maps: what `/proc/PID/maps` says.
    """
    found: list[tuple[int, int]] = []
    for line in maps.splitlines():
        span, permissions, _, _, _, *path = line.split(maxsplit=5)
        first, last = (int(part, 16) for part in span.split("-"))
        if permissions != "rw-p" or path[:1] == ["[stack]"]:
            continue
        if found and found[-1][1] == first:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return [(first, last) for first, last in found if last - first >= LEAST]


def large_folios(size: int) -> int:
    """The address of new memory in large folios.

    Raises:
        OSError: the kernel has none to give.
    """
    whole = -(-size // HUGE) * HUGE
    raw = syscalls.call("mmap", 0, whole + HUGE, _READ_WRITE, _PRIVATE_ANONYMOUS, -1, 0)
    new = -(-raw // HUGE) * HUGE
    try:
        ctypes.memset(new, 0, whole)
        syscalls.call("madvise", new, whole, _MADV_COLLAPSE)
    except OSError:
        syscalls.call("munmap", raw, whole + HUGE)
        raise
    for start, end in ((raw, new), (new + size, raw + whole + HUGE)):
        if end > start:
            syscalls.call("munmap", start, end - start)
    return new


def move_data() -> int:
    """Moves what the interpreter writes into large folios; returns how many bytes.

    It stays at its addresses. The interpreter writes to it with every step, so that it is copied and mapped
    without one in between: the C library's own functions, chained, do both. Only for a process of one thread.
    """
    if syscalls.MACHINE != "x86_64" or not syscalls.has_contexts():
        return 0
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        ranges = data_ranges(file.read())
    steps: list[tuple[str, tuple[int, ...]]] = []
    total = 0
    for first, last in ranges:
        size = last - first
        if total + size > MOST:
            break
        try:
            new = large_folios(size)
        except OSError:  # older than Linux 6.1, or no memory in one piece
            break
        steps += [("memcpy", (new, first, size)), ("mremap", (new, size, size, _MREMAP_FIXED, first))]
        total += size
    syscalls.chain(steps)
    return total


def _moved(first: int, size: int) -> int:
    raw = syscalls.call("mmap", 0, size + HUGE, _READ_WRITE, _PRIVATE_ANONYMOUS, -1, 0)
    new = -(-raw // HUGE) * HUGE
    try:
        ctypes.memmove(new, first, size)
        syscalls.call("madvise", new, size, _MADV_COLLAPSE)
        syscalls.call("mprotect", new, size, _READ_EXECUTE)
        syscalls.call("mremap", new, size, size, _MREMAP_FIXED, first)
    except OSError:
        syscalls.call("munmap", raw, size + HUGE)
        raise
    for start, end in ((raw, new), (new + size, raw + size + HUGE)):
        if end > start:
            syscalls.call("munmap", start, end - start)
    return size
