"""A `sandbox-exec` for Linux: holds a process to what a Seatbelt profile says, so far as Linux can.

Files by Landlock (reading, writing, executing), signals by its scopes; network, new processes, shared memory and
changes of mode by a seccomp filter; no capability. Usage: `sandbox-exec -p PROFILE COMMAND…`, as macOS's.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

from tests.sandbox.seatbelt_language import allowed, conditions, read

LANDLOCK = 6  # version of Landlock that can keep signals in
READS, LISTS, EXECUTES, ALL = 1 << 2, 1 << 3, 1 << 0, (1 << 15) - 1
WRITES = ALL & ~(READS | LISTS | EXECUTES)
OF_FILES = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14)  # execute, write, read, truncate
SCOPES = 3  # abstract sockets and signals
LOADERS = ("/lib64", "/lib", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")  # Linux's, as dyld is macOS's
CLONE_THREAD = 0x10000
NUMBERS = {"socket": 41, "fork": 57, "vfork": 58, "clone": 56, "clone3": 435}  # of x86_64
SYSTEM_V = {"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240}
MODES = {"chmod": 90, "fchmodat": 268, "fchmodat2": 452}
"""Landlock keeps nobody from a change of mode, so that here none is allowed."""

libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """Of this kernel's Landlock; 0 or less: none."""
    if os.uname().machine != "x86_64" or not sys.platform.startswith("linux"):
        return 0
    return int(libc.syscall(444, None, 0, 1))


def _must(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


class Files:
    """Rules of Landlock; what has none is denied."""

    def __init__(self) -> None:
        attributes = struct.pack("=QQQ", ALL, 0, SCOPES)
        self._rules = _must(libc.syscall(444, attributes, len(attributes), 0), "landlock_create_ruleset")

    def allow(self, path: str, access: int) -> None:
        """For a path and all below it, where it exists."""
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        rule = struct.pack("=Qi", access if Path(path).is_dir() else access & OF_FILES, place)
        _must(libc.syscall(445, self._rules, 1, rule, 0), f"landlock_add_rule {path}")
        os.close(place)

    def enforce(self) -> None:
        """For good."""
        _must(libc.prctl(38, 1, 0, 0, 0), "no_new_privs")
        _must(libc.syscall(446, self._rules, 0), "landlock_restrict_self")
        os.close(self._rules)


def _hold_files(forms: list[object]) -> None:
    rules = Files()
    for path in LOADERS:
        rules.allow(path, READS | LISTS | EXECUTES)
    for kind, path in (
        one for one in conditions(forms, "file-read-data") if one[0] in {"literal", "subpath"}
    ):
        if kind == "subpath" or not Path(path).is_dir():
            rules.allow(path, READS | LISTS)
        elif path not in {"/", "/etc", "/tmp", "/var"}:  # a literal directory: its names, not what is below
            rules.allow(path, LISTS)
    for _, path in conditions(forms, "process-exec"):
        rules.allow(path, READS | EXECUTES)
    for condition in conditions(forms, "file-write-data"):
        if (
            condition[0] == "require-all"
        ):  # below the work directory, and not itself: Landlock has no such rule
            rules.allow(str(condition[1][1]), WRITES)
        else:
            rules.allow(str(condition[1]), WRITES)
    rules.enforce()


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _hold_calls(forms: list[object]) -> None:
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
    refuse, unknown, fine = 0x50000 | 1, 0x50000 | 38, 0x7FFF0000
    steps = [_step(load, 0)]
    if not allowed(forms, "network-outbound"):
        steps += [_step(equal, NUMBERS["socket"], 0, 1), _step(answer, refuse)]
    if not allowed(forms, "process-fork"):
        for name, verdict in (("fork", refuse), ("vfork", refuse), ("clone3", unknown)):
            steps += [_step(equal, NUMBERS[name], 0, 1), _step(answer, verdict)]
        steps += [
            _step(equal, NUMBERS["clone"], 0, 4),
            _step(load, 16),
            _step(any_bit, CLONE_THREAD, 1, 0),
            _step(answer, refuse),
            _step(answer, fine),
        ]
    for name in MODES | ({} if allowed(forms, "ipc-sysv-shm") else SYSTEM_V):
        steps += [_step(equal, (MODES | SYSTEM_V)[name], 0, 1), _step(answer, refuse)]
    steps.append(_step(answer, fine))
    raw = b"".join(steps)
    kept = ctypes.create_string_buffer(raw, len(raw))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(raw) // 8, ctypes.addressof(kept)), 16)
    _must(libc.prctl(22, 2, ctypes.c_void_p(ctypes.addressof(head)), 0, 0), "seccomp")


def main() -> None:
    """Becomes the command."""
    assert sys.argv[1] == "-p"
    forms = read(sys.argv[2])
    command = sys.argv[3:]
    for capability in range(64):  # a test may run as root
        libc.prctl(24, capability, 0, 0, 0)
    _hold_files(forms)
    _must(libc.syscall(126, struct.pack("Ii", 0x20080522, 0), bytes(24)), "capset")
    _hold_calls(forms)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
