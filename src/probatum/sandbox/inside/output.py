"""Where a candidate's stdout and stderr go: memory of a fixed size, used again and again.

No reader is needed, so no pipe can block or flood; a write past the end fails.
"""

from __future__ import annotations

import errno
import os
from typing import Final

from probatum.sandbox.inside import syscalls

_PUNCH: Final = 0x03  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE


class Output:
    """One stream. Made before the zygote and the judge part, so that both have it."""

    def __init__(self, name: str, size: int) -> None:
        self.size = size
        self.file = os.memfd_create(name, os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(self.file, size)
        syscalls.seal(self.file)

    def take(self) -> bytes:
        """What was written, which leaves the memory empty."""
        syscalls.clear_flags(self.file)  # O_APPEND and its like would outlive the program that set them
        written = min(os.lseek(self.file, 0, os.SEEK_CUR), self.size)  # a program may move it anywhere
        text = os.pread(self.file, written, 0) if written else b""
        if written or self._touched():
            self._empty()
            os.lseek(self.file, 0, os.SEEK_SET)
        return text

    def _touched(self) -> bool:
        """Whether bytes stand there though the position is at the start: a program moved it back."""
        try:
            os.lseek(self.file, 0, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return False
            if error.errno != errno.EINVAL:  # gVisor cannot tell
                raise
        return True

    def _empty(self) -> None:
        try:
            syscalls.call("fallocate", self.file, _PUNCH, 0, self.size)
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            os.pwrite(self.file, bytes(self.size), 0)


class Outputs:
    """stdout and stderr of one candidate."""

    def __init__(self, size: int) -> None:
        size = -(-size // 4096) * 4096  # whole pages, so that a full file shows in its position
        self.size = size
        self.streams = (Output("stdout", size), Output("stderr", size))

    def take(self) -> tuple[bytes, bytes]:
        """What was written to each."""
        out, err = self.streams
        return out.take(), err.take()
