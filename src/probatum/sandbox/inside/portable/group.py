"""A process that leads a process group of its own: started, measured, and killed with its group."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Final

SWEEP_SECONDS: Final = (
    0.2  # a group that is killed is given so long to be gone; zombies that nobody reaps stay
)


class Group:
    """One of them.

    Args:
        command: starts an interpreter that reads its program from stdin.
        program: what it reads.
        given: descriptors that it inherits, at the same numbers.
        outputs: its stdout and stderr; `None`: those of this process.
        environment: its environment.
    """

    def __init__(
        self,
        command: Sequence[str],
        program: bytes,
        given: Sequence[int],
        outputs: tuple[int, int] | None,
        environment: Mapping[str, str],
    ) -> None:
        out, err = (None, None) if outputs is None else outputs
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and source
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            pass_fds=given,
            start_new_session=True,
            env=dict(environment),
            cwd="/",
        )
        self.pid = self._process.pid
        if self._process.stdin is not None:
            with contextlib.suppress(OSError), self._process.stdin as stdin:
                stdin.write(program)

    def ended(self) -> tuple[int, float, int] | None:
        """Status, CPU seconds and `ru_maxrss` of the leader, once, when it has ended."""
        pid, status, spent = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return status, spent.ru_utime + spent.ru_stime, spent.ru_maxrss

    def kill(self) -> None:
        """Kills all of the group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left, or they are dead
            os.killpg(self.pid, signal.SIGKILL)

    def sweep(self) -> None:
        """Kills what is left of the group when its leader has ended, and waits until it is gone."""
        deadline = time.monotonic() + SWEEP_SECONDS
        with contextlib.suppress(ProcessLookupError, PermissionError):
            while time.monotonic() < deadline:
                os.killpg(self.pid, signal.SIGKILL)
                time.sleep(0.001)

    def end(self) -> None:
        """Kills all of it, and reaps the leader."""
        if self._process.returncode is None:
            self.kill()
            with contextlib.suppress(ChildProcessError):
                _, status, _ = os.wait4(self.pid, 0)
                self._process.returncode = os.waitstatus_to_exitcode(status)
        self.sweep()


class Bell:
    """Rings when a child ends: something to poll for, where there is no pidfd."""

    def __init__(self) -> None:
        self.descriptor, writer = os.pipe()
        for one in (self.descriptor, writer):
            os.set_blocking(one, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # else the signal is ignored, and writes nothing
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def silence(self) -> None:
        """Until the next child ends."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.descriptor, 512):
                pass


def readable(descriptors: Sequence[int], seconds: float) -> set[int]:
    """Those that can be read, or whose other side is gone; none when the time has passed."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(seconds * 1000)}


def is_gone(descriptor: int) -> bool:
    """Whether the other side of a socket is closed, whatever can still be read."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return any(events & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, events in poll.poll(0))
