"""Keeps BLAS to one thread around small products.

OpenBLAS wakes every core for matrices of a hundred rows; on a busy machine waiting for them costs 10 to 50
times the product itself (docs/statistics.md). Only the copy of OpenBLAS that numpy's wheels bring is
known; with another BLAS nothing is changed.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

__all__ = ["one_blas_thread"]

_Control = tuple[Callable[[], int], Callable[[int], object]]


@functools.cache
def _control() -> _Control | None:
    """How to read and set the number of threads of numpy's own OpenBLAS, where it has one."""
    home = Path(np.__file__).parent
    folders = (home.parent / "numpy.libs", home / ".dylibs", home / ".libs")
    libraries = [path for folder in folders if folder.is_dir() for path in folder.glob("*openblas*")]
    for library in libraries:
        try:
            loaded = ctypes.CDLL(str(library))  # the copy that numpy has already loaded
        except OSError:
            continue
        for prefix in ("scipy_openblas", "openblas"):
            for suffix in ("64_", ""):
                read = getattr(loaded, f"{prefix}_get_num_threads{suffix}", None)
                write = getattr(loaded, f"{prefix}_set_num_threads{suffix}", None)
                if read is not None and write is not None:
                    return read, write
    return None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, numpy's matrix products and solvers use one thread; also usable as a decorator."""
    control = _control()
    if control is None:
        yield
        return
    read, write = control
    before = read()
    write(1)
    try:
        yield
    finally:
        write(before)
