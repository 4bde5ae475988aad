"""The end of a child process, as something to poll for: a pidfd, or SIGCHLD where there is none (gVisor)."""

from __future__ import annotations

import contextlib
import os
import signal
from functools import cache


@cache
def _bell() -> tuple[int, int]:
    """A pipe: its reading end is readable after the end of any child."""
    reader, writer = os.pipe()
    for descriptor in (reader, writer):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # else the signal is ignored, and writes nothing
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader, writer


def forget() -> None:
    """In a clone: children of its own are nobody's here."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


class Ending:
    """Of one child that was not waited for."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        try:
            self.descriptor = os.pidfd_open(pid)
            self._exact = True
        except OSError:
            self.descriptor, writer = _bell()
            self._exact = False
            if self._ended():  # perhaps before there was a bell
                os.write(writer, b"\0")

    def came(self) -> bool:
        """Whether the child has ended, asked when the descriptor is readable."""
        if not self._exact:
            with contextlib.suppress(OSError):
                while os.read(self.descriptor, 512):
                    pass
        return self._ended()

    def _ended(self) -> bool:
        return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def close(self) -> None:
        """Frees what belongs to this child alone."""
        if self._exact:
            os.close(self.descriptor)
