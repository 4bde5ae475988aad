"""Where a candidate's stdout and stderr go: files without a name, used again and again.

Linux has memory of a fixed size for it. A file grows until RLIMIT_FSIZE forbids it; what is read of it is
never more than its size here.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from typing import Final

_PAGE: Final = 4096


class Spool:
    """One stream; the keeper makes it, the judge reads it, a candidate writes."""

    def __init__(self, file: int, size: int) -> None:
        self.file, self._size = file, size

    def take(self) -> bytes:
        """What was written."""
        written = min(os.lseek(self.file, 0, os.SEEK_CUR), self._size)  # a program may move it anywhere
        return os.pread(self.file, written, 0) if written else b""

    def empty(self) -> None:
        """For the next program."""
        fcntl.fcntl(self.file, fcntl.F_SETFL, 0)  # O_APPEND and its like would outlive the program
        os.ftruncate(self.file, 0)
        os.lseek(self.file, 0, os.SEEK_SET)


class Spools:
    """stdout and stderr of one candidate."""

    def __init__(self, files: tuple[int, int], size: int) -> None:
        self.files = files
        size = -(-size // _PAGE) * _PAGE
        self._streams = (Spool(files[0], size), Spool(files[1], size))

    @classmethod
    def make(cls, folder: str, size: int) -> Spools:
        """Two files in a directory where no program can write."""
        made = []
        for _ in range(2):
            file, name = tempfile.mkstemp(dir=folder)
            os.unlink(name)  # noqa: PTH108 - made by mkstemp as text
            made.append(file)
        return cls((made[0], made[1]), size)

    def take(self) -> tuple[bytes, bytes]:
        """What was written to each. The judge may do this: Seatbelt would not let it change them."""
        out, err = self._streams
        return out.take(), err.take()

    def empty(self) -> None:
        """For the next program: the keeper's part, when the judge has taken what the one before wrote."""
        for stream in self._streams:
            stream.empty()
