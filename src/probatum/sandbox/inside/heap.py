"""Small objects of a candidate lie together: the holes that start-up left in the heap are filled.

Python takes memory for each of its 32 sizes from pools of 16 KiB, and from pools with holes first. A
candidate would write to the head of such a pool and to the pages of its holes, all of which must be copied
for it; in a fresh pool head and objects share a page.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from probatum.sandbox.inside import syscalls

SPARE: Final = 4  # objects beyond those that fill all holes: they open a fresh pool
_LARGEST: Final = 512  # bytes of an object that a pool holds
_BYTES_HEAD: Final = b"".__sizeof__()  # of a `bytes` object without any
_COLUMNS: Final = 5  # of the allocator's table: number, size, pools, objects, holes
_STDERR: Final = 2
LARGE: Final = (
    *(round((128 << 10) * 0.8**step) for step in range(1, 22)),
    *range(1040, _LARGEST, -16),
)
"""Sizes of larger objects, from large to small; of the smallest the library keeps a few of each."""


def holes(statistics: str) -> dict[int, int]:
    """Free places in pools that are in use, by size in bytes; empty where the text is of another kind.

    Args:
        statistics: what `sys._debugmallocstats` writes.
    """
    found = {}
    for line in statistics.splitlines():
        words = line.split()
        if len(words) == _COLUMNS and all(word.isdigit() for word in words):
            found[int(words[1])] = int(words[4])
        elif found:
            break
    return found


def _statistics() -> str:
    """The allocator's table, which the interpreter writes to stderr and nowhere else."""
    file, stderr = os.memfd_create("statistics"), os.dup(_STDERR)
    try:
        os.dup2(file, _STDERR)
        sys._debugmallocstats()  # noqa: SLF001 - CPython's only way to tell
        return os.pread(file, 1 << 16, 0).decode("ascii", "replace")
    finally:
        os.dup2(stderr, _STDERR)
        os.close(stderr)
        os.close(file)


def _of_size(size: int) -> object:
    """A new object that takes so many bytes, and holds no other."""
    if size <= object().__sizeof__():
        return object()
    if size < _BYTES_HEAD:
        return complex(size, 1.0)
    return bytes(size - _BYTES_HEAD)


def fill_holes() -> list[object]:
    """Objects in all holes: as long as they are kept, new ones come to lie in fresh pools.

    Larger objects come to lie at the end of the C library's heap, for good.
    """
    heap = syscalls.Heap()
    heap.trim()
    heap.fill_holes(LARGE)
    return [
        _of_size(size)
        for size, count in holes(_statistics()).items()
        if size <= _LARGEST
        for _ in range(count + SPARE)
    ]
