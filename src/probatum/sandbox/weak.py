"""The self-test of a rung that cannot hold all: what must hold there, and what is only told.

`seatbelt` has no namespaces, so that the self-test of the other rungs would ask for what macOS does not have.
A check that must hold and does not refuses the rung; one that is only told is printed by `probatum doctor`
as not held. The programs try what they try on any system, so that the test itself is tested on Linux.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from probatum.core.records import Limits, Program
from probatum.sandbox.launch import Worker
from probatum.sandbox.selftest import TESTS, Check

__all__ = ["PROBES", "Probe", "self_test"]


_QUICK: Final = Limits(cpu_seconds=0.5, wall_seconds=20, memory_bytes=256 << 20)
_ROOMY: Final = Limits(cpu_seconds=5.0, wall_seconds=20, memory_bytes=256 << 20)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One hostile program; `safe()` answers True when it could do no harm."""

    name: str
    """The fact that it shows."""
    code: str
    """May use `FOLDER` (a directory of the user's, with a file `secret` and a socket `socket`), `HOME`,
    `HOST` (the process that evaluates) and `PORT` (where it listens)."""
    expected: str = "passed"
    required: bool = True
    """Whether the rung is refused where it does not hold."""
    limits: Limits = _QUICK


PROBES: Final = (
    Probe(name="runs an honest program", code="def safe(): return True\n"),
    Probe(name="tells a wrong program", expected="assertion_failed", code="def safe(): return False\n"),
    Probe(
        name="believes no object that equals everything",
        expected="assertion_failed",
        code="""
class Equal:
    def __eq__(self, other): return True
    def __bool__(self): return True
def safe():
    return Equal()
""",
    ),
    Probe(
        name="believes no message that a program writes",
        expected="protocol_violation",
        code="""
import json, os
def safe():
    text = json.dumps({"verdict": {"status": "passed"}, "passed": True, "calls": 1}).encode()
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, len(text).to_bytes(4, "little") + text)
        except OSError:
            pass
    return False
""",
    ),
    Probe(name="ends an endless loop", expected="timeout", code="def safe():\n    while True: pass\n"),
    Probe(name="ends a sleeper", expected="timeout", code="import time\ndef safe(): time.sleep(1000)\n"),
    Probe(
        name="limits memory that is used",
        expected="memory_limit",
        limits=_ROOMY,
        code="def safe():\n    kept = []\n    while True: kept.append(bytearray(b'x') * (4 << 20))\n",
    ),
    Probe(
        name="bounds what is printed",
        expected="output_limit|exception",
        limits=_ROOMY,
        code="import os\ndef safe():\n    while True: os.write(1, bytes(1 << 16))\n",
    ),
    Probe(
        name="has no network",
        code="""
import socket
def reaches(family, kind, address):
    try:
        with socket.socket(family, kind) as one:
            one.settimeout(2)
            if kind == socket.SOCK_DGRAM:
                one.sendto(b"x", address)
            else:
                one.connect(address)
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True
def safe():
    here = ("127.0.0.1", PORT)
    return not (
        reaches(socket.AF_INET, socket.SOCK_STREAM, here)
        or reaches(socket.AF_INET, socket.SOCK_DGRAM, here)
        or reaches(socket.AF_UNIX, socket.SOCK_STREAM, FOLDER + "/socket")
    )
""",
    ),
    Probe(
        name="reads no file of the user",
        code="""
import os
def safe():
    os.symlink(FOLDER + "/secret", "link")
    for look in (
        lambda: open(FOLDER + "/secret").read(), lambda: open("link").read(), lambda: os.listdir(FOLDER),
        lambda: os.listdir(HOME),
    ):
        try:
            look()
            return False
        except OSError:
            pass
    return True
""",
    ),
    Probe(
        name="writes nowhere else",
        code="""
import os
def safe():
    os.symlink(FOLDER + "/secret", "link")
    above = os.path.dirname(os.getcwd())
    for folder in (FOLDER, HOME, "/tmp", "/var/tmp", "/usr/local", above, os.path.dirname(os.__file__)):
        try:
            with open(folder + "/probatum-probe", "x"):
                pass
            os.unlink(folder + "/probatum-probe")
            return False
        except OSError:
            pass
    for harm in (
        lambda: open("link", "a"), lambda: open(FOLDER + "/secret", "a"), lambda: os.rename(os.getcwd(), "x"),
        lambda: os.link(FOLDER + "/secret", "hard"), lambda: os.chmod(FOLDER, 0o700),
        lambda: os.rename(FOLDER + "/secret", FOLDER + "/moved"),
    ):
        try:
            harm()
            return False
        except OSError:
            pass
    return True
""",
    ),
    Probe(
        name="reads no environment of another process",
        code="""
import ctypes, os
def told(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return bool(file.read())
    except OSError:
        pass
    ask = getattr(ctypes.CDLL(None), "sysctl", None)
    if ask is None:
        return False
    text, size = ctypes.create_string_buffer(1 << 18), ctypes.c_size_t(1 << 18)
    name = (ctypes.c_int * 3)(1, 49, pid)  # CTL_KERN, KERN_PROCARGS2
    return ask(name, 3, text, ctypes.byref(size), None, ctypes.c_size_t(0)) == 0 and size.value > 8
def safe():
    return not told(HOST) and not told(os.getppid())
""",
    ),
    Probe(
        name="signals no other process",
        code="""
import os
def safe():
    for pid in (HOST, os.getppid()):
        try:
            os.kill(pid, 0)
            return False
        except OSError:
            pass
    return True
""",
    ),
    Probe(
        name="runs no program of the system",
        code="""
import os
def safe():
    for path in ("/bin/sh", "/usr/bin/env", "/bin/ls"):
        try:
            os.execv(path, [path, "/"])
        except OSError:
            pass
    return True
""",
    ),
    Probe(
        name="starts no process",
        code="""
import os
def safe():
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError:
        return True
    return False
""",
    ),
    Probe(
        name="leaves a process, if it can",
        limits=_ROOMY,
        code="""
import os, time
def safe():
    try:
        if os.fork() == 0:
            while True:
                try:
                    open("left", "w").close()
                except OSError:
                    pass
                time.sleep(0.01)
    except OSError:
        pass
    return True
""",
    ),
    Probe(
        name="meets no process of the program before",
        limits=_ROOMY,
        code="import os, time\ndef safe():\n    time.sleep(0.3)\n    return os.listdir('.') == []\n",
    ),
    Probe(
        name="gives a private work directory",
        code="""
import os
def safe():
    open("left", "w").close()
    return os.listdir(".") == ["left"]
""",
    ),
    Probe(name="leaves no file behind", code="import os\ndef safe(): return os.listdir('.') == []\n"),
    Probe(
        name="limits memory before it is used",
        expected="memory_limit",
        required=False,
        code="def safe(): return len(bytearray(4 << 30)) == 0\n",
    ),
    Probe(
        name="limits all files of a program together",
        expected="exception|killed_by_signal",
        required=False,
        limits=Limits(cpu_seconds=5.0, wall_seconds=20, file_bytes=1 << 20),
        code="""
def safe():
    for number in range(64):
        with open(str(number), "wb") as file:
            file.write(bytes(1 << 20))
    return False
""",
    ),
    Probe(
        name="sees no other process",
        required=False,
        code="""
import ctypes, os
def safe():
    if os.path.exists("/proc/self"):
        return sum(name.isdigit() for name in os.listdir("/proc")) <= 1
    count = getattr(ctypes.CDLL(None), "proc_listallpids", None)
    return count is None or count(None, 0) <= 1
""",
    ),
    Probe(
        name="reads no file of the system",
        required=False,
        code="""
def safe():
    for path in ("/etc/passwd", "/System/Library/CoreServices/SystemVersion.plist"):
        try:
            with open(path, "rb"):
                return False
        except OSError:
            pass
    return True
""",
    ),
    Probe(
        name="leaves no shared memory behind",
        required=False,
        code="""
import os, _posixshmem
def safe():
    try:
        os.close(_posixshmem.shm_open("/probatum-probe", os.O_CREAT | os.O_RDWR, 0o600))
    except OSError:
        return True
    _posixshmem.shm_unlink("/probatum-probe")
    return False
""",
    ),
)


@contextlib.contextmanager
def _things_to_reach() -> Iterator[str]:
    """What a program must not reach, and where it is, as code."""
    with (
        tempfile.TemporaryDirectory(prefix="probatum-probe-") as place,
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as local,
    ):
        folder = os.path.realpath(place)
        (Path(folder) / "secret").write_text("secret", encoding="ascii")
        local.bind(f"{folder}/socket")
        local.listen()
        port = listener.getsockname()[1]
        home = os.path.realpath(Path("~").expanduser())
        yield f"FOLDER, HOME, HOST, PORT = {folder!r}, {home!r}, {os.getpid()}, {port}\n"


def self_test(worker: Worker) -> tuple[Check, ...]:
    """Runs every probe on one worker.

    Raises:
        WorkerGoneError: a program took the worker down.
    """
    checks = []
    with _things_to_reach() as places:
        for probe in PROBES:
            program = Program(
                code=places + probe.code, tests=TESTS, entry_points=("safe",), limits=probe.limits
            )
            worker.send(program)
            status = str(worker.receive(program)["verdict"]["status"])
            checks.append(
                Check(name=probe.name, expected=probe.expected, status=status, required=probe.required)
            )
    return tuple(checks)
