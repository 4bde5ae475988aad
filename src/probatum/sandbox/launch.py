"""Starts one worker, a fresh process that never had the harness in its memory, and talks to it."""

from __future__ import annotations

import contextlib
import json
import secrets
import select
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from probatum.core.errors import SandboxError
from probatum.core.records import Program
from probatum.sandbox.inside.frames import GoneError, ProtocolViolationError, Wire

HERE: Final = Path(__file__).resolve().parent
BOOTSTRAP: Final = """
import sys, types
for name, path in (("probatum", {package!r}), ("probatum.sandbox", {sandbox!r})):
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module
from probatum.sandbox.inside import worker
import json
worker.main(json.loads(sys.argv[1]))
"""
"""Finds our modules without running the packages above them, which may import anything."""

START_SECONDS: Final = 60.0  # a worker that has not said that it is ready by then is given up
GRACE_SECONDS: Final = 30.0  # beyond an execution's own wall limit; then the worker itself is stuck
MAX_ANSWER: Final = 1 << 26  # bytes

ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    # large blocks in huge pages where the kernel offers them: filling memory costs a fifth of the CPU time
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

PRELOAD: Final = (
    "typing", "math", "re", "collections", "itertools", "functools", "heapq", "bisect", "string", "copy",
    "operator",
)  # fmt: skip
"""Imported once for all programs: an import of one of these then costs nothing. Few: every module adds to
what is copied for each program (measured in docs/decisions)."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a worker is made."""

    isolation: str
    output_bytes: int
    file_bytes: int
    preload: tuple[str, ...] = PRELOAD
    processor: int | None = None
    """The one processor that the worker runs on: its processes take turns, and waking one on another
    processor costs more than it gains. `None`: any."""
    paths: tuple[str, ...] = ()
    """Further directories to show, read-only."""


class WorkerGoneError(Exception):
    """The worker ended or does not answer: it must be replaced."""


class StartError(SandboxError):
    """A worker could not be started; `errno` is the kernel's reason where it refused."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


def _command(settings: Settings, descriptor: int) -> list[str]:
    values = {**asdict(settings), "fd": descriptor}
    bootstrap = BOOTSTRAP.format(package=str(HERE.parent), sandbox=str(HERE))
    python = getattr(sys, "_base_executable", None) or sys.executable
    # -s -S -P and our own environment are what -I is, except that the hash seed can be set
    return [python, "-s", "-S", "-P", "-c", bootstrap, json.dumps(values)]


class Worker:
    """One worker process tree.

    Raises:
        StartError: it cannot be started; says why.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and source
                _command(settings, theirs.fileno()),
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=dict(ENVIRONMENT),
                cwd="/",
            )
        self._wire = Wire(ours, limit=1 << 28)
        self._answers = Wire(ours, limit=MAX_ANSWER)
        self._awaited: deque[str] = deque()
        try:
            self._await_start()
        except BaseException:
            self.close()
            raise

    def _await_start(self) -> None:
        answer = self._receive(START_SECONDS)
        if answer.get("ready") is not True:
            raise StartError(str(answer.get("failed", "no reason given")), answer.get("errno"))

    def _receive(self, seconds: float) -> dict[str, Any]:
        self._wire.connection.settimeout(seconds)
        try:
            answer = self._answers.receive()
        except (GoneError, ProtocolViolationError):
            raise WorkerGoneError(self._last_words()) from None
        if not isinstance(answer, dict) or "crashed" in answer:
            raise WorkerGoneError(f"the worker crashed: {answer!r}"[:4000])
        return answer

    def _last_words(self) -> str:
        """The end of what the worker wrote to stderr before it had none."""
        self._process.kill()
        self._process.wait()
        errors = self._process.stderr
        if errors is None or not select.select([errors], [], [], 0)[0]:
            return "the worker is gone"
        text = errors.read(1 << 16).decode("utf-8", "replace").strip()
        return text.splitlines()[-1][:300] if text else "the worker is gone"

    def fits(self, program: Program) -> bool:
        """Whether the worker has room for the program's output and files."""
        limits = program.limits
        return (
            limits.output_bytes <= self.settings.output_bytes
            and limits.file_bytes <= self.settings.file_bytes
        )

    def send(self, program: Program) -> None:
        """Hands a program over.

        Raises:
            WorkerGoneError: nobody is there.
        """
        self._wire.connection.settimeout(GRACE_SECONDS)
        nonce = secrets.token_hex(16)
        self._awaited.append(nonce)
        try:
            self._wire.send(
                {
                    "code": program.code,
                    "tests": program.tests,
                    "mode": program.mode,
                    "entry_points": list(program.entry_points),
                    "nonce": nonce,
                    "limits": asdict(program.limits),
                }
            )
        except GoneError:
            raise WorkerGoneError(self._last_words()) from None

    def receive(self, program: Program) -> dict[str, Any]:
        """How the program ended.

        Raises:
            WorkerGoneError: the worker ended, or did not answer in time.
        """
        answer = self._receive(program.limits.wall_seconds + GRACE_SECONDS)
        if answer.get("nonce") != self._awaited.popleft():
            raise WorkerGoneError("the worker answered out of turn")
        return answer

    def interrupt(self) -> None:
        """Ends the worker from another thread; whoever waits for it sees it gone."""
        with contextlib.suppress(OSError):
            self._wire.connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the worker with all that runs in it."""
        self._wire.close()
        deadline = time.monotonic() + 5
        while self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        with contextlib.suppress(OSError):
            self._answers.close()
