"""Hostile programs that a worker must hold before anything else runs in it: isolation is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from probatum.core.records import Limits, Program
from probatum.sandbox.launch import Worker

__all__ = ["TESTS", "Check", "failures", "self_test"]

_LIMITS: Final = Limits(cpu_seconds=0.3, wall_seconds=20, memory_bytes=256 << 20, processes=8)

_CPU_SECONDS: Final = {"limits processes": 3.0}
"""More where a kernel may need more: gVisor starts a process in some ten milliseconds."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One program of the self-test, and how it ended."""

    name: str
    """The fact that it shows."""
    expected: str
    status: str
    required: bool = True
    """Whether a rung on which it does not hold is refused; else it is told."""

    @property
    def held(self) -> bool:
        """Whether the program ended as it must."""
        return self.status in self.expected.split("|")


# Each answers True when it could do no harm; the tests compare the answer with True.
_PROGRAMS: Final[tuple[tuple[str, str, str], ...]] = (
    ("runs an honest program", "passed", """
def safe():
    return True
"""),
    ("tells a wrong program", "assertion_failed", """
def safe():
    return False
"""),
    ("believes no object that equals everything", "assertion_failed", """
class Equal:
    def __eq__(self, other): return True
    def __bool__(self): return True
def safe():
    return Equal()
"""),
    ("ends an endless loop", "timeout", """
def safe():
    while True: pass
"""),
    ("limits memory", "memory_limit", """
def safe():
    return len(bytearray(4 << 30)) == 0
"""),
    ("limits processes", "passed", """
import os, time
def safe():
    for count in range(200):
        try:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
        except OSError:
            return True
    return False
"""),
    ("has no network", "passed", """
import socket
def safe():
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    return False
"""),
    ("reads no file of the machine", "passed", """
import os
def safe():
    paths = ("/etc/passwd", "/sys/kernel", "/var/log", "/boot", "/old", "/proc/1/root/etc/passwd")
    return not any(os.path.exists(path) for path in paths)
"""),
    ("writes nowhere else", "passed", """
import os
def safe():
    for folder in ("/", "/usr", "/lib", "/dev", "/proc/sys/kernel", os.path.dirname(os.__file__)):
        try:
            with open(folder + "/probe", "w"):
                return False
        except OSError:
            pass
    return True
"""),
    ("sees no other process, and has no capability", "passed", """
import os
def safe():
    status = open("/proc/self/status").read().splitlines()
    capabilities = [int(line.split()[1], 16) for line in status if line.startswith("Cap")]
    return os.getpid() == 1 and not any(capabilities)
"""),
    ("makes no namespace and no mount", "passed", """
import ctypes
def safe():
    libc = ctypes.CDLL(None)
    made = [flag for flag in (0x10000000, 0x20000, 0x40000000) if libc.unshare(flag) == 0]
    return not made and libc.mount(b"none", b"/w", b"tmpfs", 0, None) != 0
"""),
    ("gives a private work directory", "passed", """
import os
def safe():
    seen = os.listdir(".") + os.listdir("/dev/shm")
    open("left", "w").close()
    return seen == []
"""),
    ("leaves no file behind", "passed", """
import os
def safe():
    return os.listdir(".") == []
"""),
)  # fmt: skip
TESTS: Final = "assert safe() == True\n"
"""Of every program of a self-test."""


def self_test(worker: Worker) -> tuple[Check, ...]:
    """Runs every program of the self-test on one worker.

    Raises:
        WorkerGoneError: a program took the worker down.
    """
    checks = []
    for name, expected, code in _PROGRAMS:
        limits = replace(_LIMITS, cpu_seconds=_CPU_SECONDS.get(name, _LIMITS.cpu_seconds))
        program = Program(code=code, tests=TESTS, entry_points=("safe",), limits=limits)
        worker.send(program)
        status = str(worker.receive(program)["verdict"]["status"])
        checks.append(Check(name=name, expected=expected, status=status))
    return tuple(checks)


def failures(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Those that did not hold and must."""
    return tuple(check for check in checks if check.required and not check.held)
