"""The pages that nearly every candidate writes are copied by `clone` itself, not by a page fault each.

After a clone, parent and child share all pages until one of them writes; the fault that then copies a page
costs twice what the copy does. Pages that a device may write to cannot be shared in this way, so that the
kernel copies them in `clone` (since Linux 5.9), and leaves the parent's as they are. Buffers that are
registered with io_uring are such pages: registered they are, and no ring is ever used.
"""

# pathlib would cost memory in every candidate:
# ruff: noqa: PTH123

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterable
from typing import Final

from probatum.sandbox.inside import syscalls

PAGE: Final = os.sysconf("SC_PAGE_SIZE")
MOST: Final = 512  # pages that are pinned; they count as memory that the user has locked
_ENTRY: Final = 8  # bytes that `/proc/PID/pagemap` has for a page
_AT_ONCE: Final = 256  # entries read at once
_PRESENT, _OF_A_FILE, _NOBODY_ELSES = 1 << 63, 1 << 61, 1 << 56
_RING_PARAMETERS: Final = 120  # bytes of struct io_uring_params
_REGISTER_BUFFERS: Final = 0
_PIPE: Final = 200  # a descriptor that no candidate closes
_DUMPABLE: Final = 1


def writable(maps: str) -> list[tuple[int, int]]:
    """First page and number of pages of what a process can write to and shares with nobody.

    Args:
        maps: what `/proc/PID/maps` says.
    """
    found = []
    for line in maps.splitlines():
        span, permissions, _ = line.split(maxsplit=2)
        if permissions == "rw-p":
            first, last = (int(part, 16) // PAGE for part in span.split("-"))
            found.append((first, last - first))
    return found


def own_pages(first: int, entries: bytes) -> list[int]:
    """Of the pages from `first` on, those that a process shares with no other.

    Args:
        first: the number of the first page.
        entries: what `/proc/PID/pagemap` says of it and those that follow.
    """
    wanted, care = _PRESENT | _NOBODY_ELSES, _PRESENT | _NOBODY_ELSES | _OF_A_FILE
    found = struct.unpack(f"{len(entries) // _ENTRY}Q", entries)
    return [first + place for place, entry in enumerate(found) if entry & care == wanted]


def written(clone: Callable[[], int], live: Callable[[], None]) -> set[int]:
    """The pages that a clone of this process, or this process meanwhile, has written to after `live`.

    Args:
        clone: as fork; the child is this process's.
        live: what the clone does.

    Raises:
        OSError: the kernel does not tell.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        spans = writable(file.read())
    reader, writer = os.pipe()
    pid = clone()
    if pid == 0:
        try:
            os.dup2(writer, _PIPE)
            live()
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, _DUMPABLE)  # else the file would belong to another user
            table = os.open("/proc/self/pagemap", os.O_RDONLY)
            for first, count in spans:
                for place in range(0, count, _AT_ONCE):
                    size = min(_AT_ONCE, count - place) * _ENTRY
                    os.write(_PIPE, os.pread(table, size, (first + place) * _ENTRY).ljust(size, b"\0"))
        finally:
            os._exit(0)
    os.close(writer)
    raw = b""
    while more := os.read(reader, 1 << 16):
        raw += more
    os.close(reader)
    if pid > 0:
        os.waitpid(pid, 0)
    if len(raw) != _ENTRY * sum(count for _, count in spans):
        raise OSError(syscalls.error_number(), "a clone does not tell of its pages")
    found, place = set(), 0
    for first, count in spans:
        found.update(own_pages(first, raw[place : place + count * _ENTRY]))
        place += count * _ENTRY
    return found


def runs(pages: Iterable[int]) -> list[tuple[int, int]]:
    """First page and length of each unbroken run."""
    found: list[tuple[int, int]] = []
    for page in sorted(pages):
        if found and sum(found[-1]) == page:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((page, 1))
    return found


def part(clone: Callable[[], int], pages: set[int]) -> None:
    """Takes these pages out of large folios: what is pinned of one pins it as a whole.

    A page that is written while a clone shares it is copied, and the copy stands alone.
    """
    reader, writer = os.pipe()
    pid = clone()
    if pid == 0:
        try:
            os.close(writer)
            os.read(reader, 1)
        finally:
            os._exit(0)
    for page in pages:
        ctypes.memmove(page * PAGE, page * PAGE, 1)
    os.close(writer)
    os.close(reader)
    if pid < 0:
        raise OSError(syscalls.error_number(), "no clone")
    os.waitpid(pid, 0)


def pin(pages: set[int], descriptor: int) -> int:
    """Has clones get copies of these pages at once, as long as `descriptor` is open; returns how many.

    Raises:
        OSError: the kernel has no io_uring or does not let us have it, or so much memory cannot be locked.
    """
    if not 0 < len(pages) <= MOST:
        return 0
    raw = b"".join(struct.pack("QQ", first * PAGE, count * PAGE) for first, count in runs(pages))
    vectors = ctypes.create_string_buffer(raw, len(raw))
    parameters = ctypes.create_string_buffer(_RING_PARAMETERS)
    ring = syscalls.call("io_uring_setup", 1, parameters)
    try:
        syscalls.call("io_uring_register", ring, _REGISTER_BUFFERS, vectors, len(raw) // 16)
        os.dup2(ring, descriptor, inheritable=False)
    finally:
        os.close(ring)
    return len(pages)
