"""Starts one worker, a fresh process that never had the harness in its memory, and talks to it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from probatum.core.errors import SandboxError
from probatum.core.records import Program
from probatum.sandbox import engines, gvisor, seatbelt
from probatum.sandbox.cgroups import make_group
from probatum.sandbox.gvisor import Bundle
from probatum.sandbox.inside.frames import GoneError, ProtocolViolationError, Wire
from probatum.sandbox.seatbelt import SEATBELT

HERE: Final = Path(__file__).resolve().parent
COMMAND: Final = "import sys; exec(sys.stdin.buffer.read())"
"""All that the worker's command line shows: programs can read it."""
BOOTSTRAP: Final = """
import sys, types
for name, path in (("probatum", {package!r}), ("probatum.sandbox", {sandbox!r})):
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module
import probatum.sandbox.inside
for name in ("frames", "candidate"):
    full = "probatum.sandbox.inside." + name
    spec = sys.meta_path[-1].find_spec(full, [{sandbox!r} + "/inside"])
    module = types.ModuleType(full)
    module.__builtins__ = dict(vars(sys.modules["builtins"]))
    sys.modules[full] = module
    setattr(sys.modules["probatum.sandbox.inside"], name, module)
    spec.loader.exec_module(module)
"""
"""Finds our modules without running the packages above them, which may import anything. What shares its
memory with a program has built-in functions of its own: a program that replaces `len` gets its answer out."""

GVISOR: Final = "gvisor"
UNSAFE: Final = "unsafe-subprocess"
"""The rung that isolates nothing."""
LINKS: Final = ("/lib", "/lib64", "/lib32")
WORK: Final = "w"  # within the directory of a portable worker: `inside.portable.folder.NAME`
START_SECONDS: Final = 60.0  # a worker that has not said that it is ready by then is given up
GRACE_SECONDS: Final = 30.0  # beyond an execution's own wall limit; then the worker itself is stuck
MAX_ANSWER: Final = 1 << 26  # bytes

ENVIRONMENT: Final = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    # functions of libraries are found at the start, and not once more in every candidate
    "LD_BIND_NOW": "1",
    # large blocks in huge pages where the kernel offers them: filling memory costs a fifth of the CPU time
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "PYTHONINTMAXSTRDIGITS": "0",  # programs print long integers
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
    memory_bytes: int
    processes: int
    preload: tuple[str, ...] = PRELOAD
    processor: int | None = None
    """The one processor that the worker runs on: its processes take turns, and waking one on another
    processor costs more than it gains. `None`: any."""
    paths: tuple[str, ...] = ()
    """Further directories to show, read-only."""
    portable: bool = False
    """Whether the worker is the one of calls that every POSIX system has (`inside.portable`)."""


class WorkerGoneError(Exception):
    """The worker ended or does not answer: it must be replaced."""


class WorkerStuckError(WorkerGoneError):
    """The worker did not answer in time, though its own watch has limits: the tests may be stuck."""


class StartError(SandboxError):
    """A worker could not be started; `errno` is the kernel's reason where it refused."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message)
        self.errno = errno


def _modules() -> str:
    return BOOTSTRAP.format(package=str(HERE.parent), sandbox=str(HERE))


def _bootstrap(module: str, call: str) -> bytes:
    """A program that calls a function of one of the modules that run inside."""
    package, _, name = f"probatum.sandbox.inside.{module}".rpartition(".")
    text = f"{_modules()}from {package} import {name}\n{name}.{call}\n"
    return text.encode("utf-8", "surrogateescape")


def _python() -> str:
    return getattr(sys, "_base_executable", None) or sys.executable


def _interpreter() -> list[str]:
    # -s -S -P and our own environment are what -I is, except that the hash seed can be set
    return [_python(), "-s", "-S", "-P", "-c", COMMAND]


def _asked(module: str, call: str) -> Any:
    """What a function of one of the modules that run inside prints as JSON, where nothing holds it."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and source
        _interpreter(),
        input=_bootstrap(module, call),
        env=dict(ENVIRONMENT),
        cwd="/",
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise StartError(f"{_python()} does not start: {done.stderr.decode('utf-8', 'replace')[-300:]!r}")
    return json.loads(done.stdout)


@cache
def _interpreter_paths(preload: tuple[str, ...]) -> tuple[str, ...]:
    """What the interpreter needs to see, asked of one."""
    return tuple(_asked("worker", f"show_paths({preload!r})"))


@cache
def _seen(preload: tuple[str, ...]) -> Any:
    """What the interpreter reads on macOS, asked of one."""
    return _asked("portable.seen", f"main({list(preload)!r})")


def _kept(settings: Settings, work: str) -> dict[str, Any]:
    """What the keeper of a portable worker starts the others with."""
    commands = {"judge": _interpreter(), "candidate": _interpreter()}
    if settings.isolation == SEATBELT:
        try:
            interpreter = seatbelt.Interpreter.of(_python(), _seen(settings.preload))
            inside = str(HERE / "inside")
            commands = seatbelt.commands(interpreter, inside, f"{work}/{WORK}", _interpreter())
        except seatbelt.ProfileError as error:
            raise StartError(str(error)) from None
    environment = {**ENVIRONMENT, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return {"commands": commands, "program": _modules(), "environment": environment}


def _own_folder(settings: Settings) -> str | None:
    """A directory of the disk for a worker that has no file system of its own."""
    if settings.portable:  # the real path, which Seatbelt compares with
        return os.path.realpath(tempfile.mkdtemp(prefix=f"probatum-{settings.isolation}-"))
    return tempfile.mkdtemp(prefix="probatum-unsafe-") if settings.isolation == UNSAFE else None


def _shown(settings: Settings) -> set[str]:
    """What a worker must see that does not build its own room."""
    python = _python()
    loader = {path for path in ("/usr/lib64", "/lib64") if Path(path).is_dir()}
    ours = {str(HERE), python, os.path.realpath(python)}
    return {*ours, *loader, *_interpreter_paths(settings.preload), *settings.paths}


def _bubblewrap(settings: Settings) -> list[str]:
    """`bwrap` with the room that `container.enter` makes by itself."""
    found = shutil.which("bwrap")
    if found is None:
        raise StartError("no program 'bwrap' on the PATH", None)
    arguments = [
        found, "--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-pid", "--unshare-net",
        "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox",
        "--die-with-parent", "--new-session", "--cap-add", "ALL",
    ]  # fmt: skip
    for link in [link for link in LINKS if Path(link).is_symlink()]:
        arguments += ["--symlink", str(Path(link).readlink()), link]
    shown = _shown(settings)
    for path in sorted(shown):
        if not _below_a_link(path):
            arguments += ["--ro-bind", path, path]
    for device in ("null", "zero", "random", "urandom"):
        arguments += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for link in ("/dev/shm", "/tmp"):  # noqa: S108 - links into the private work directory
        if not any(path.startswith(link + "/") for path in shown):
            arguments += ["--symlink", "/w", link]
    arguments += ["--dir", "/w", "--proc", "/proc", "--remount-ro", "/"]
    return [*arguments, *_interpreter()]


def _command(settings: Settings, meeting: engines.Meeting | None) -> list[str]:
    if meeting is not None:
        try:
            engines.prepare(settings.isolation)
        except engines.EngineError as error:
            raise StartError(str(error)) from None
        environment = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        inside = ["/usr/bin/env", "-i", *environment, *_interpreter()]
        shown = {path for path in _shown(settings) if not _below_a_link(path)} | {"/usr/bin/env"}
        return engines.command(settings.isolation, shown, meeting.folder, inside)
    return _bubblewrap(settings) if settings.isolation == "bubblewrap" else _interpreter()


def _bundle(settings: Settings) -> Bundle:
    links = {link: str(Path(link).readlink()) for link in LINKS if Path(link).is_symlink()}
    shown = {path for path in _shown(settings) if not _below_a_link(path)}
    return Bundle.write(shown, links, [*_interpreter()[:-1], gvisor.COMMAND], ENVIRONMENT)


def _below_a_link(path: str) -> bool:
    """Whether a path is reached through /lib or its kin, which lead into /usr."""
    links = [link for link in LINKS if Path(link).is_symlink()]
    return any(path == link or path.startswith(link + "/") for link in links)


class Worker:
    """One worker process tree.

    Raises:
        StartError: it cannot be started; says why.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._awaited: deque[str] = deque()
        self._work = _own_folder(settings)
        self._meeting = engines.Meeting.open() if settings.isolation in engines.ENGINES else None
        self._bundle = _bundle(settings) if settings.isolation == GVISOR else None
        plain = self._meeting is None and self._bundle is None
        grouped = plain and not settings.portable
        self._group = make_group(settings.memory_bytes, settings.processes) if grouped else None
        inherited = () if self._group is None else self._group.descriptors
        with contextlib.ExitStack() as undo:
            undo.callback(self._remove_group)
            command = self._bundle.command() if self._bundle else _command(settings, self._meeting)
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and source
                    command,
                    pass_fds=(theirs.fileno(), *inherited) if plain else (),
                    stdin=theirs.fileno() if self._bundle else subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=dict(ENVIRONMENT) if plain else None,
                    cwd="/",
                )
                values: dict[str, Any] = {**asdict(settings), "fd": 0 if self._bundle else theirs.fileno()}
            values["address"] = self._meeting and self._meeting.address
            values["password"] = self._meeting and self._meeting.password
            values["work"] = self._work or "/w"
            values["group"] = [] if self._group is None else self._group.entrances
            values["group_events"] = None if self._group is None else self._group.events
            self._connect(ours)
            undo.pop_all()
        if self._group is not None:
            self._group.close_descriptors()
        try:
            self._say(self._first_words(values))
            if self._meeting is not None:
                self._connect(self._met(self._meeting))
            self._await_start()
        except BaseException:
            self.close()
            raise

    def _first_words(self, values: dict[str, Any]) -> bytes:
        if self.settings.portable and self._work is not None:
            return _bootstrap("portable.keeper", f"main({values | _kept(self.settings, self._work)!r})")
        return _bootstrap("worker", f"main({values!r})")

    def _connect(self, connection: socket.socket) -> None:
        self._wire = Wire(connection, limit=1 << 28)
        self._answers = Wire(connection, limit=MAX_ANSWER)

    def _met(self, meeting: engines.Meeting) -> socket.socket:
        """The connection of a worker that inherited none."""
        self._wire.close()
        try:
            return meeting.accept(self._process, START_SECONDS)
        except engines.EngineError as error:
            raise StartError(str(error)) from None
        finally:
            meeting.close()

    def _say(self, bootstrap: bytes) -> None:
        stdin = self._process.stdin
        if stdin is None:
            with contextlib.suppress(OSError):
                self._wire.connection.sendall(len(bootstrap).to_bytes(4, "little") + bootstrap)
        else:
            with contextlib.suppress(OSError), stdin:
                stdin.write(bootstrap)

    def _await_start(self) -> None:
        try:
            answer = self._receive(START_SECONDS)
        except WorkerGoneError as error:
            raise StartError(str(error)) from None
        if answer.get("ready") is not True:
            raise StartError(str(answer.get("failed", "no reason given")), answer.get("errno"))

    def _receive(self, seconds: float) -> dict[str, Any]:
        self._wire.connection.settimeout(seconds)
        began = time.monotonic()
        try:
            answer = self._answers.receive()
        except (GoneError, ProtocolViolationError):
            if time.monotonic() - began >= seconds:
                raise WorkerStuckError(f"no answer within {seconds:.0f} seconds") from None
            raise WorkerGoneError(self._last_words()) from None
        if not isinstance(answer, dict) or "crashed" in answer:
            raise WorkerGoneError(f"the worker crashed: {answer!r}"[:4000])
        return answer

    def _last_words(self) -> str:
        """The end of what the worker wrote to stderr before it had none."""
        self._process.kill()
        self._process.wait()
        errors = self._process.stderr
        if errors is None or errors.closed or not select.select([errors], [], [], 0)[0]:
            return "the worker is gone"
        text = errors.read1(1 << 16).decode("utf-8", "replace").strip()  # type: ignore[attr-defined]
        return text.splitlines()[-1][:300] if text else "the worker is gone"

    def fits(self, program: Program) -> bool:
        """Whether the worker has room for the program's output, files, memory and processes."""
        ours, limits = self.settings, program.limits
        return (
            limits.output_bytes <= ours.output_bytes
            and limits.file_bytes <= ours.file_bytes
            and limits.memory_bytes <= ours.memory_bytes
            and limits.processes <= ours.processes
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
                    "limits": vars(program.limits),
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
        try:
            self._process.wait(5)  # it ends by itself when nobody is connected
        except subprocess.TimeoutExpired:
            if self._meeting is not None:  # the engine's own process is not the container
                engines.end(self.settings.isolation, self._meeting.folder)
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._remove_group()

    def _remove_group(self) -> None:
        if self._group is not None:
            self._group.remove()
        if self._meeting is not None:
            self._meeting.close()
        if self._bundle is not None:
            self._bundle.remove()
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)
