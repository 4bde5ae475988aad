"""What a running process has used: `proc_pid_rusage` of macOS's libproc, or `/proc` where there is one.

The second is here so that all else of the portable worker is run, and tested, on Linux.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
from pathlib import Path
from typing import Final, NamedTuple, Protocol


class Usage(NamedTuple):
    """Of one process, all its threads together; its children are not in it."""

    cpu: float
    """Seconds on a processor."""
    resident: int
    """Bytes of memory."""


class Meter(Protocol):
    """One way to ask."""

    unit: int
    """Bytes of one `ru_maxrss`."""

    def usage(self, pid: int) -> Usage | None:
        """What a process has used so far; `None` where it has ended."""
        ...


# struct rusage_info_v0 of <sys/resource.h>: 16 bytes of UUID, then user time, system time, two counts of
# wake-ups, page-ins, wired, resident, physical footprint, time of start and of exit
_INFORMATION: Final = struct.Struct("=16x10Q")
_FLAVOUR: Final = 0


def usage_of_information(raw: bytes, timebase: tuple[int, int]) -> Usage:
    """Reads a `rusage_info_v0`.

    Args:
        raw: the structure.
        timebase: numerator and denominator that turn its times into nanoseconds; they are 1 and 1 on Intel,
            125 and 3 on Apple's processors.
    """
    fields = _INFORMATION.unpack_from(raw)
    numerator, denominator = timebase
    return Usage((fields[0] + fields[1]) * numerator / denominator / 1e9, fields[7])


class LibprocMeter:
    """macOS."""

    unit = 1

    def __init__(self, library: ctypes.CDLL) -> None:
        self._ask = library.proc_pid_rusage
        base = (ctypes.c_uint32 * 2)()
        library.mach_timebase_info(base)
        self._timebase = (int(base[0]), int(base[1]))
        self._buffer = ctypes.create_string_buffer(_INFORMATION.size)

    def usage(self, pid: int) -> Usage | None:
        """Memory is the physical footprint, which macOS itself limits programs by."""
        if self._ask(ctypes.c_int(pid), _FLAVOUR, self._buffer) != 0:
            return None
        return usage_of_information(self._buffer.raw, self._timebase)


class ProcMeter:
    """Linux."""

    unit = 1024

    def __init__(self) -> None:
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._page = resource.getpagesize()

    def usage(self, pid: int) -> Usage | None:
        """From `/proc/PID/stat`, in hundredths of a second."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return None
        return Usage((int(fields[11]) + int(fields[12])) / self._ticks, int(fields[21]) * self._page)


def meter() -> Meter:
    """The one that this system has.

    Raises:
        OSError: none.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "proc_pid_rusage"):
        return LibprocMeter(library)
    if Path("/proc/self/stat").exists():
        return ProcMeter()
    raise OSError(errno.ENOSYS, "neither proc_pid_rusage nor /proc tells what a process has used")
