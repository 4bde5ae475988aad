"""The work directory of each program: a new one, and nothing left of the one before."""

# listed by descriptor, as pathlib cannot:
# ruff: noqa: PTH208

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from typing import Final

NAME: Final = "w"
MOST_FILES: Final = 4096
_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Folder:
    """A directory that holds the work directory and nothing else; no program can write to it.

    It is reached by a descriptor alone: whatever a program puts in the place of a directory, a symbolic link
    among others, nothing outside is touched.
    """

    def __init__(self, path: str) -> None:
        self.work = f"{path}/{NAME}"
        self._path = path
        self._base = os.open(path, _FLAGS)
        self._numbers = itertools.count()

    def renew(self) -> None:
        """Throws the work directory away, with all that is in it, and makes an empty one.

        Raises:
            OSError: something stays.
        """
        self.empty()
        os.mkdir(NAME, 0o700, dir_fd=self._base)

    def empty(self) -> None:
        """Throws the work directory away.

        Raises:
            OSError: something stays.
        """
        while names := os.listdir(self._base):
            for name in names:
                if not _removed(name, self._base):
                    self._flatten(name)

    def remove(self) -> None:
        """Throws all of it away: a host that was killed does not.

        Raises:
            OSError: something stays.
        """
        self.empty()
        os.rmdir(self._path)  # noqa: PTH106 - as all here

    def _flatten(self, name: str) -> None:
        """Removes a directory; those in it come to stand beside it: none is then too deep to be reached."""
        inner = _opened(name, self._base)
        try:
            for one in os.listdir(inner):
                if not _removed(one, inner):
                    os.close(_opened(one, inner))  # whoever moves a directory must be able to write to it
                    os.rename(one, f"{next(self._numbers)}", src_dir_fd=inner, dst_dir_fd=self._base)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=self._base)

    def filled(self, most_bytes: int) -> bool:
        """Whether the work directory holds more than it may: more bytes, or more than `MOST_FILES` files."""
        bytes_left, files_left = most_bytes, MOST_FILES
        waiting = [self.work]
        while waiting:
            with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    bytes_left -= found.st_blocks * 512
                    files_left -= 1
                    if bytes_left < 0 or files_left < 0:
                        return True
                    if stat.S_ISDIR(found.st_mode):
                        waiting.append(entry.path)
        return False


def _removed(name: str, parent: int) -> bool:
    """Removes a file or an empty directory; whether it is gone."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=parent)
            return True
        with contextlib.suppress(OSError):
            os.rmdir(name, dir_fd=parent)
            return True
        return False
    return True


def _opened(name: str, parent: int) -> int:
    """A directory, also one that its owner may not enter."""
    try:
        descriptor = os.open(name, _FLAGS, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=parent)
        return os.open(name, _FLAGS, dir_fd=parent)
    os.fchmod(descriptor, 0o700)
    return descriptor
