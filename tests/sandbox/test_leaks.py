"""What executions leave behind: nothing, however they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox

LIMITS = Limits(cpu_seconds=0.3, wall_seconds=20, memory_bytes=256 << 20)
ENDS = [
    "def f(): return 1\n",
    "def f(): return 0\n",
    "import os\ndef f():\n    open('x', 'w').close()\n    return 1\n",
    "import os\ndef f():\n    os.fork()\n    return 1\n",
    "import os\ndef f(): os._exit(3)\n",
    "import sys\ndef f():\n    print('x' * 10000)\n    return 1\n",
    "import ctypes\ndef f(): ctypes.string_at(1)\n",
    "import socket\ndef f():\n    socket.socketpair()\n    return 1\n",
]


LONG = [
    Program(
        code=f"import time\ndef f():\n    while time.process_time() < 1: pass\n    return {number}\n",
        tests=f"assert f() == {number}\n", entry_points=("f",), limits=Limits(cpu_seconds=5),
    )
    for number in range(2)
]  # fmt: skip
"""One for each of two workers: a quick worker would do short ones alone, before the other has started."""


def programs(count: int) -> list[Program]:
    return [
        Program(
            code=f"{ENDS[number % len(ENDS)]}# {number}\n", tests="assert f() == 1\n", entry_points=("f",),
            limits=LIMITS,
        )
        for number in range(count)
    ]  # fmt: skip


def descendants(pid: int) -> set[int]:
    """By the parents that all processes name: `/proc/PID/children` knows the main thread's alone."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                stat = (entry / "stat").read_text(encoding="ascii", errors="replace")
                children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found: set[int] = set()
    wanted = [pid]
    while wanted:
        below = children.get(wanted.pop(), [])
        found.update(below)
        wanted.extend(below)
    return found


def state() -> tuple[list[str], int, set[str]]:
    """This process's descriptors, how many mounts there are, and the temporary files."""
    descriptors = sorted(path.name for path in Path("/proc/self/fd").iterdir())
    mounts = len(Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines())
    return descriptors, mounts, {path.name for path in Path(tempfile.gettempdir()).iterdir()}


def test_a_closed_sandbox_leaves_no_process_descriptor_mount_or_file() -> None:
    with Sandbox(workers=2) as warm:  # what the libraries of this process open once
        list(warm.execute(programs(4)))
    descriptors, mounts, files = state()
    below = descendants(os.getpid())
    with Sandbox(workers=2) as sandbox:
        ended = list(sandbox.execute([*LONG, *programs(64)]))
        during = descendants(os.getpid())
    assert len(ended) == 66
    assert len(during - below) >= 8  # stub, supervisor, judge and zygote of each worker
    after, mounts_after, files_after = state()
    assert descendants(os.getpid()) <= below
    assert (after, mounts_after) == (descriptors, mounts)
    assert {name for name in files_after - files if "sandbox" in name} == set()


def test_workers_do_not_grow(sandbox: Sandbox) -> None:
    def sizes() -> list[tuple[int, int]]:
        found = []
        for pid in sorted(descendants(os.getpid())):
            try:
                lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
            except OSError:
                continue
            resident = next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
            if any(line.startswith("Uid:") and line.split()[1] != "0" for line in lines):
                found.append((pid, resident))
        return found

    list(sandbox.execute(programs(200)))
    before = dict(sizes())
    list(sandbox.execute(programs(400)))
    grown = {pid: size - before[pid] for pid, size in sizes() if pid in before}
    assert grown
    assert max(grown.values()) < 4096, grown  # kilobytes


def test_a_harness_that_is_killed_takes_its_workers_along() -> None:
    script = (
        "import sys, time\n"
        "from probatum.core.records import Limits, Program\n"
        "from probatum.sandbox import Sandbox\n"
        "loop = Program(code='def f():\\n    while True: pass\\n', tests='f()', entry_points=('f',),\n"
        "    limits=Limits(cpu_seconds=100, wall_seconds=200))\n"
        "sandbox = Sandbox(workers=1)\n"
        "print('ready', flush=True)\n"
        "list(sandbox.execute([loop]))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline().strip() == "ready"
        deadline = time.monotonic() + 60
        while len(below := descendants(harness.pid)) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(below) >= 5
        harness.send_signal(signal.SIGKILL)
        harness.wait()
    deadline = time.monotonic() + 60
    while alive(below) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(below) == set()


def alive(pids: set[int]) -> set[int]:
    found = set()
    for pid in pids:
        try:
            status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        if status.rpartition(")")[2].split()[0] != "Z":
            found.add(pid)
    return found


def test_a_worker_that_is_killed_is_replaced_and_the_program_counts_once() -> None:
    with Sandbox(workers=1) as sandbox:
        executions = sandbox.execute(programs(30))
        first = next(executions)
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):  # a candidate that has ended meanwhile
                if b"sys.stdin.buffer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
        ended = [first, *executions]
    assert len(ended) == len({one.program for one in ended}) == 30
    assert "sandbox_error" not in {one.status for one in ended}


def test_honest_programs_do_not_time_out_when_many_share_a_processor() -> None:
    """Work that takes half of its limit, at eight workers: by the wall clock most would be called late."""
    began = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number * number % 7
    turns = int(1_000_000 * 0.4 / (time.process_time() - began))
    honest = "def f(n):\n    s = 0\n    for i in range(n):\n        s += i * i % 7\n    return s\n"
    limits = Limits(cpu_seconds=1.5, wall_seconds=200)
    jobs = [
        Program(code=f"{honest}# {n}\n", tests=f"assert f({turns}) > 0\n", entry_points=("f",), limits=limits)
        for n in range(16)
    ]
    with Sandbox(workers=8) as sandbox:
        assert [one.status for one in sandbox.execute(jobs)] == ["passed"] * 16


def test_the_rung_that_isolates_nothing_still_cleans_up_behind_programs() -> None:
    code = (
        "import os, time\n"
        "def f():\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(1000)\n"
        "        os._exit(0)\n"
        "    os.makedirs('x/y')\n"
        "    return len(os.listdir('.'))\n"
    )
    before = {path.name for path in Path(tempfile.gettempdir()).glob("probatum-unsafe-*")}
    program = Program(code=code, tests="assert f() == 1", entry_points=("f",), limits=LIMITS)
    below = descendants(os.getpid())
    with Sandbox(workers=1, isolation="unsafe-subprocess") as sandbox:
        assert sandbox.isolation == "unsafe-subprocess"
        for _ in range(3):
            (ended,) = sandbox.execute([program])
            assert (ended.status, ended.isolation) == ("passed", "unsafe-subprocess"), ended
        workers = descendants(os.getpid()) - below
        assert len(workers) <= 5  # stub or supervisor, judge, zygote, and the candidate that waits
    assert {path.name for path in Path(tempfile.gettempdir()).glob("probatum-unsafe-*")} <= before
    assert not alive(workers)


TRACES = {
    "a mode": "os.chmod('.', 0o1777)",
    "an attribute": "os.setxattr('.', 'user.left', b'x')",
    "a time that was set back": "open('x', 'w').close(); os.unlink('x'); os.utime('.', ns=(1, 1))",
    "a hidden file": "os.mkdir('.left'); os.chmod('.left', 0)",
    "a file without a name that a mount would show": "os.symlink('/w', 'self'); os.link('self', 'again')",
    "a watched directory": "import ctypes; ctypes.CDLL(None).inotify_add_watch(0, b'.', 0xfff)",
}
LOOKS = """
import os
def f():
    found = os.stat('.')
    names = os.listdir('.')
    try:
        attributes = os.listxattr('.')
    except OSError:  # not allowed at all
        attributes = []
    return [oct(found.st_mode), names, attributes, found.st_mtime_ns > 10]
"""


@pytest.mark.parametrize("name", TRACES)
def test_a_program_finds_nothing_of_the_one_before_in_its_directory(name: str, sandbox: Sandbox) -> None:
    leaves = f"import os\ndef f():\n    try:\n        {TRACES[name]}\n    except OSError:\n        pass\n    return 1\n"
    made = [
        Program(code=leaves, tests="assert f() == 1\n", entry_points=("f",), limits=LIMITS),
        Program(
            code=f"{LOOKS}# {name}\n", tests="assert f() == ['0o40700', [], [], True], f()\n",
            entry_points=("f",), limits=LIMITS,
        ),
    ]  # fmt: skip
    left, looked = [one for program in made for one in sandbox.execute([program])]
    assert left.status == "passed", left
    assert looked.status == "passed", looked
