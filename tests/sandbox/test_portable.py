"""The worker of portable calls, run for real on Linux: what macOS gets, but for Seatbelt and libproc.

Two sandboxes run all of it: the rung that isolates nothing, and `seatbelt` with a `sandbox-exec` that holds
programs by Landlock. The machine is told to be a Mac for that.
"""

from __future__ import annotations

import _socket
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.core.records import Execution, Limits, Program
from probatum.sandbox import Sandbox, launch, weak
from probatum.sandbox.inside.portable import meter
from probatum.sandbox.inside.portable.channel import Channel
from probatum.sandbox.inside.portable.folder import MOST_FILES, Folder
from probatum.sandbox.inside.portable.group import Group
from probatum.sandbox.inside.portable.keeper import BUSY, WINDOW, Idleness
from probatum.sandbox.inside.portable.spool import Spools
from tests.sandbox.doubles import HOLDS_WHAT_LINUX_CAN, ROOT, be_a_mac, needs_landlock, needs_linux
from tests.sandbox.problems import humaneval
from tests.sandbox.test_hostile import HONEST, attacks, expected
from tests.sandbox.test_hostile import run as run_attack
from tests.sandbox.test_leaks import alive, descendants
from tests.sandbox.test_sandbox import STATUSES, TESTS

pytestmark = needs_linux
LIMITS = Limits(cpu_seconds=0.5, wall_seconds=30, memory_bytes=256 << 20)


@contextlib.contextmanager
def opened(rung: str, workers: int = 1) -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        be_a_mac(patch, Path(folder), HOLDS_WHAT_LINUX_CAN)
        patch.setattr(weak, "PROBES", weak.PROBES[:2])  # all are tried elsewhere
        with Sandbox(workers, isolation=rung) as sandbox:
            yield sandbox


RUNGS = ["unsafe-subprocess", pytest.param("seatbelt", marks=needs_landlock)]


@pytest.fixture(scope="module", params=RUNGS)
def portable(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with opened(request.param) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def unsafe() -> Iterator[Sandbox]:
    with opened("unsafe-subprocess") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def held() -> Iterator[Sandbox]:
    with opened("seatbelt") as sandbox:
        yield sandbox


def run(
    sandbox: Sandbox, code: str, tests: str = TESTS, mode: str = "split", limits: Limits = LIMITS
) -> Execution:
    program = Program(code=code, tests=tests, entry_points=("f",), mode=mode, limits=limits)
    (execution,) = sandbox.execute([program])
    return execution


@pytest.mark.parametrize("mode", ["split", "joint"])
@pytest.mark.parametrize(("status", "detail", "code"), STATUSES)
def test_an_execution_ends_as_it_does_on_linux(
    portable: Sandbox, mode: str, status: str, detail: str | None, code: str
) -> None:
    execution = run(portable, code, mode=mode)
    assert (execution.status, execution.detail) == (status, detail), execution
    assert execution.isolation == portable.isolation
    assert execution.cpu_seconds is not None
    assert 0 < execution.cpu_seconds < 5
    assert execution.peak_rss_bytes is not None
    assert 1 << 20 < execution.peak_rss_bytes < 1 << 30


def test_canonical_solutions_pass_their_official_tests(portable: Sandbox) -> None:
    programs = humaneval()[::8]
    ended = list(portable.execute(programs))
    assert [one for one in ended if one.status != "passed"] == []
    assert len(ended) == len(programs) > 20


@pytest.mark.slow
def test_all_canonical_solutions_pass_their_official_tests(portable: Sandbox) -> None:
    for mode in ("split", "joint"):
        programs = humaneval(mode)
        names = {program.digest: program.entry_points[0] for program in programs}
        assert [names[one.program] for one in portable.execute(programs) if one.status != "passed"] == []


PROGRAM = "import sys\nprint('read', input())\nprint(sys.argv[1:], file=sys.stderr)\nsys.exit(4)\n"
OF_PROGRAM = (
    "ended = run_program('a line', ['--x'])\n"
    "assert (ended.stdout, ended.stderr, ended.exit_code) == ('read a line\\n', \"['--x']\\n\", 4), ended\n"
)


def test_whole_programs_read_and_write(portable: Sandbox) -> None:
    program = Program(code=PROGRAM, tests=OF_PROGRAM * 3, limits=LIMITS)
    (ended,) = portable.execute([program])
    assert ended.status == "passed", ended


def test_input_needs_no_file_without_a_name(unsafe: Sandbox) -> None:
    lacks = "import os\ndel os.O_TMPFILE\nfrom probatum.sandbox.inside.candidate import nameless_file\n"
    writes = "file = nameless_file()\nos.write(file, b'x')\nprint(os.listdir('.'), os.pread(file, 9, 0))\n"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", lacks + writes], cwd=folder, capture_output=True, text=True, check=False
        )
    assert done.stdout == "[] b'x'\n", done.stderr


@pytest.mark.parametrize("name", ["out", "err"])
def test_what_was_printed_is_that_programs_own(portable: Sandbox, name: str) -> None:
    for turn in range(4):
        code = f"import sys\ndef f(a, b):\n    print('turn {turn}', file=sys.std{name})\n    return 3\n"
        execution = run(portable, code)
        assert (execution.stdout + execution.stderr, execution.status) == (f"turn {turn}\n", "passed")


HOLDS = """
import os
SHELL = ("PWD", "LC_CTYPE", "__CF_USER_TEXT_ENCODING")  # set by a double's shell, by Python and by macOS
def f(a, b):
    found = []
    for descriptor in range(512):
        try:
            os.fstat(descriptor)
            found.append(descriptor)
        except OSError:
            pass
    print(found, sorted(name for name in os.environ if name not in SHELL))
    print(os.getcwd() == os.environ["HOME"] == os.environ["TMPDIR"])
    return 3
"""


def test_a_program_has_its_connection_and_nothing_of_the_surroundings(
    portable: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_CANARY", "x")
    names = sorted({*launch.ENVIRONMENT, "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS"})
    assert run(portable, HOLDS).stdout == f"[0, 1, 2, 3] {names}\nTrue\n"


def test_limits_rise_and_fall_from_program_to_program(unsafe: Sandbox) -> None:
    code = "def f(a, b):\n    return len(bytearray(150 << 20)) and 3\n"
    large, small = Limits(memory_bytes=400 << 20), Limits(memory_bytes=100 << 20)
    found = [run(unsafe, code, limits=limits).status for limits in (small, large, small, large)]
    assert found == ["memory_limit", "passed", "memory_limit", "passed"]


REFUSES = (
    "import resource; real = resource.setrlimit; "
    "resource.setrlimit = lambda kind, pair: kind == resource.RLIMIT_AS or real(kind, pair); "
)


def test_memory_is_limited_by_looking_where_the_kernel_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(settings: launch.Settings, work: str) -> dict[str, object]:
        found = asked(settings, work)
        *interpreter, command = found["commands"]["candidate"]
        found["commands"]["candidate"] = [*interpreter, REFUSES + command]
        return found

    asked = launch._kept
    monkeypatch.setattr(launch, "_kept", kept)
    grows = "def f(a, b):\n    kept = []\n    while True: kept.append(bytearray(b'x') * (4 << 20))\n"
    limits = Limits(cpu_seconds=20, wall_seconds=60, memory_bytes=256 << 20)
    with opened("unsafe-subprocess") as sandbox:
        execution = run(sandbox, grows, limits=limits)
        assert (execution.status, execution.detail) == ("memory_limit", None), execution
        assert execution.peak_rss_bytes is not None
        assert execution.peak_rss_bytes > 200 << 20
        assert run(sandbox, "def f(a, b): return 3\n").status == "passed"


def await_end(pids: set[int]) -> None:
    deadline = time.monotonic() + 60
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(pids) == set()


FORKS = """
import os, time
def f(a, b):
    for _ in range(5):
        if (pid := os.fork()) != 0:
            print(pid)
        else:
            while True:
                try:
                    open("left", "w").close()
                except OSError:
                    pass
    while not os.path.exists("left"): time.sleep(0.01)
    return 3
"""


def test_processes_that_a_program_started_end_with_their_group(unsafe: Sandbox) -> None:
    execution = run(unsafe, FORKS)
    assert execution.status == "passed"
    pids = set(map(int, execution.stdout.split()))
    assert len(pids) == 5
    looks = (
        "import os, time\ndef f(a, b):\n    time.sleep(0.2)\n    return 3 if os.listdir('.') == [] else 0\n"
    )
    assert run(unsafe, looks).status == "passed"
    await_end(pids)


FILLS = """
import os, time
def f(a, b):
    for number in range(MANY):
        with open(str(number), "wb") as file:
            file.write(bytes(SIZE))
    time.sleep(1000)
"""


@pytest.mark.parametrize(("many", "size"), [(40, 1 << 20), (MOST_FILES + 10, 0)])
def test_a_program_that_fills_its_directory_is_ended(unsafe: Sandbox, many: int, size: int) -> None:
    code = FILLS.replace("MANY", str(many)).replace("SIZE", str(size))
    execution = run(unsafe, code, limits=Limits(cpu_seconds=30, wall_seconds=120, file_bytes=16 << 20))
    assert (execution.status, execution.detail) == ("killed_by_signal", "9"), execution


def test_a_loaded_judge_is_not_the_programs_idleness(unsafe: Sandbox) -> None:
    tests = "import time\nbegan = time.process_time()\nf()\nwhile time.process_time() - began < 1.2: pass\nassert f() == 3\n"
    execution = run(unsafe, "def f(): return 3\n", tests, limits=Limits(cpu_seconds=0.5))
    assert execution.status == "passed", execution


# hostile programs

NEEDS_LINUX = {
    "asks_for_forbidden_calls": "names system calls of Linux, which Landlock does not forbid",
    "56_unshare_mount": "makes namespaces, which Landlock does not forbid",
    "burns_time_in_dead_children": "may start no process here",
    "stops_itself": "may start no process here",
    "26_disk_fill": "is ended for what it fills, rather than refused the file that is too much",
    "27_inode_fill": "is ended for what it fills, rather than refused the file that is too much",
    "moves_the_position_of_stdout": "cannot move the position of a file so far",
    "takes_all_descriptors_and_paths": "its thousands of files take their time on a disk",
    "hoards_memory_outside_its_heap": "starts no process, and so ends itself",
}
"""Attacks whose end is another than on Linux. They are held all the same."""


@pytest.mark.slow
@pytest.mark.hostile
@needs_landlock
@pytest.mark.parametrize("path", attacks(), ids=lambda path: path.stem)
def test_a_hostile_program_is_held(path: Path, held: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "27_inode_fill":
        pytest.skip("a disk may take half a minute to remove what it made; another fills the directory")
    monkeypatch.setenv("SECRET_CANARY", "x")
    source = path.read_bytes().decode("utf-8", "surrogateescape")
    execution = run_attack(held, source)
    if path.stem in NEEDS_LINUX:
        assert execution.status != "sandbox_error", execution
    else:
        assert execution.status in expected(source), execution
    assert not Path("/dev/shm/evil_canary").exists()
    (after,) = held.execute([HONEST])
    assert after.status == "passed", after


# what is left


def test_a_closed_sandbox_leaves_no_process_and_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def state() -> tuple[list[str], list[str]]:
        descriptors = sorted(path.name for path in Path("/proc/self/fd").iterdir())
        return descriptors, [path.name for path in tmp_path.iterdir()]

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with opened("unsafe-subprocess") as warm:
        run(warm, "def f(a, b): return 3\n")
    before, below = state(), descendants(os.getpid())
    hides = "import os\ndef f(a, b):\n    os.makedirs('x/y')\n    os.chmod('x', 0)\n    return 3\n"
    with opened("unsafe-subprocess", 2) as sandbox:
        programs = [
            Program(code=f"{hides}# {number}\n", tests=TESTS, entry_points=("f",), limits=LIMITS)
            for number in range(6)
        ]
        assert [one.status for one in sandbox.execute(programs)] == ["passed"] * 6
        workers = descendants(os.getpid()) - below
    assert len(workers) >= 3  # keeper, judge, and a candidate that waits
    assert not alive(workers)
    assert state() == before


HARNESS = """
from tests.sandbox.test_portable import opened, TESTS
from probatum.core.records import Limits, Program
program = Program(code=CODE, tests=TESTS, entry_points=("f",), limits=Limits(cpu_seconds=100, wall_seconds=200))
with opened("unsafe-subprocess") as sandbox:
    print("ready", flush=True)
    list(sandbox.execute([program]))
"""
ENDLESS = {
    "a loop": "def f(a, b):\n    while True: pass\n",
    "a sleeper": "import time\ndef f(a, b): time.sleep(1000)\n",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_harness_that_is_killed_takes_its_workers_along(name: str, tmp_path: Path) -> None:
    script = HARNESS.replace("CODE", repr(ENDLESS[name]))
    command = [sys.executable, "-c", script]
    places = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=places) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline().strip() == "ready"
        deadline = time.monotonic() + 60
        while len(below := descendants(harness.pid)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(below) >= 4  # keeper, judge, a candidate that runs and one that waits
        harness.send_signal(signal.SIGKILL)
        harness.wait()
    await_end(below)
    assert list(tmp_path.glob("probatum-*")) == []


def parent(pid: int) -> int:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    return 0


def test_a_worker_whose_keeper_is_killed_is_replaced() -> None:
    below = descendants(os.getpid())
    with opened("unsafe-subprocess") as sandbox:
        programs = [
            Program(
                code=f"def f(a, b): return 3 or {number}\n", tests=TESTS, entry_points=("f",), limits=LIMITS
            )
            for number in range(8)
        ]
        executions = sandbox.execute(programs)
        ended = [next(executions)]
        worker = descendants(os.getpid()) - below
        keepers = [pid for pid in worker if parent(pid) == os.getpid()]
        for pid in keepers:
            os.kill(pid, signal.SIGKILL)
        ended += executions
    assert len(keepers) == 1
    await_end(worker)
    assert {one.status for one in ended} == {"passed"}
    assert len({one.program for one in ended}) == 8


# its parts


def test_a_keeper_a_judge_and_a_candidate_load_no_module_of_linux() -> None:
    shows = (
        "\nimport sys\nprint(sorted(name.rpartition('.')[2] for name in sys.modules if '.inside.' in name))\n"
    )
    linux = {
        "container",
        "ending",
        "keeper",
        "limits",
        "output",
        "pages",
        "seccomp",
        "syscalls",
        "watch",
        "worker",
        "zygote",
    }
    for role, ours in (
        ("keeper", {"keeper", "channel", "folder"}),
        ("judge", {"execution", "limits"}),
        ("candidate", set()),
    ):
        text = f"{launch._modules()}from probatum.sandbox.inside.portable import {role}{shows}"
        done = subprocess.run(
            [sys.executable, "-s", "-S", "-P", "-c", text], capture_output=True, text=True, check=True
        )
        loaded = set(eval(done.stdout))
        assert ours <= loaded
        assert loaded & linux <= {"keeper", "limits"}, role  # the keeper here; limits are numbers for a judge


@pytest.mark.slow
def test_what_runs_on_macos_calls_nothing_that_macos_lacks(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    root = Path(__file__).resolve().parents[2]
    inside = root / "src/probatum/sandbox/inside"
    names = ["candidate.py", "execution.py", "frames.py", "judge.py", *map(str, inside.glob("portable/*.py"))]
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--platform", "darwin", "--config-file", str(root / "pyproject.toml"),
            "--cache-dir", str(tmp_path), "--follow-imports", "silent", *(str(inside / name) for name in names),
            *(str(root / f"src/probatum/sandbox/{name}.py") for name in ("launch", "sandbox", "seatbelt", "ladder", "weak")),
        ],
        capture_output=True, text=True, check=False, cwd=root,
    )  # fmt: skip
    faults = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(faults) <= 1, done.stdout
    assert all("O_TMPFILE" in line for line in faults), done.stdout  # asked for where it may be missing


def test_descriptors_and_messages_cross_in_order_and_the_giver_keeps_its_copy_until_they_came() -> None:
    one, other = (Channel(side) for side in _socket.socketpair())
    for turn in range(20):
        reader, writer = os.pipe()
        one.send(b"before" * turn)
        one.give(b"w%d" % turn, writer)
        one.send(b"")
        assert other.recv() == b"before" * turn
        os.fstat(writer)  # still ours
        message, ((level, kind, right),), _, _ = other.recvmsg(1 << 16, socket.CMSG_SPACE(4))
        assert (message, level, kind) == (b"w%d" % turn, socket.SOL_SOCKET, socket.SCM_RIGHTS)
        os.write(came := int.from_bytes(right, sys.byteorder), b"x")
        os.close(came)
        assert other.recv() == b""
        assert one.read() is None
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(writer)
        assert os.read(reader, 9) == b"x"
        assert os.read(reader, 9) == b""  # nobody has the other end
        os.close(reader)
    other.send(b"the end")
    other.close()
    assert one.recv() == b"the end"
    assert one.recv() == b""
    one.close()


def test_a_message_that_breaks_off_is_no_message() -> None:
    ours, theirs = _socket.socketpair()
    theirs.sendall((9).to_bytes(4, "little") + b"half")
    theirs.close()
    channel = Channel(ours)
    with pytest.raises(ConnectionResetError):
        channel.recv()
    channel.close()


def test_a_folder_is_new_whatever_was_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    base = tmp_path / "base"
    base.mkdir()
    folder = Folder(str(base))
    folder.renew()
    work = base / "w"
    with contextlib.chdir(work):
        for _ in range(200):  # deeper than any path may be long
            Path("deep" * 10).mkdir()
            os.chdir("deep" * 10)
            Path("file").touch()
    (work / "link").symlink_to(outside)
    (work / "closed").mkdir()
    (work / "closed" / "in").mkdir()
    (work / "closed" / "in").chmod(0)
    (work / "closed").chmod(0)
    work.chmod(0)
    folder.renew()
    assert list(work.iterdir()) == []
    assert oct(work.stat().st_mode)[-3:] == "700"
    work.rmdir()
    work.symlink_to(outside)  # instead of the directory
    folder.renew()
    assert not work.is_symlink()
    assert (outside / "kept").exists()
    assert [path.name for path in base.iterdir()] == ["w"]


def test_a_folder_is_filled_by_bytes_and_by_files(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    folder.renew()
    inner = tmp_path / "w" / "a" / "b"
    inner.mkdir(parents=True)
    assert not folder.filled(1 << 20)
    (inner / "file").write_bytes(bytes(2 << 20))
    assert folder.filled(1 << 20)
    assert not folder.filled(4 << 20)
    for number in range(MOST_FILES):
        (inner / str(number)).symlink_to("x")
    assert folder.filled(1 << 30)


def test_a_spool_gives_what_stands_before_the_position_and_no_more_than_it_may(tmp_path: Path) -> None:
    spools = Spools.make(str(tmp_path), 5000)
    out, err = spools.files
    assert list(tmp_path.iterdir()) == []
    os.write(out, b"x" * 20000)
    os.write(err, b"few")
    assert [len(text) for text in spools.take()] == [8192, 3]  # whole pages
    spools.empty()
    assert spools.take() == (b"", b"")
    os.lseek(out, 100, os.SEEK_SET)
    os.write(out, b"!")
    spools.empty()
    os.write(out, b"next")
    assert spools.take() == (b"next", b"")
    for file in spools.files:
        os.close(file)


def test_a_group_ends_with_all_its_processes(tmp_path: Path) -> None:
    text = b"import os, time\nopen('%s/' + str(os.fork()), 'w').close()\ntime.sleep(1000)\n" % bytes(tmp_path)
    environment = {"PATH": os.environ["PATH"]}
    group = Group([sys.executable, "-c", launch.COMMAND], text, (), None, environment)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    pids = {group.pid, *(int(path.name) for path in tmp_path.iterdir())} - {0}
    assert len(pids) == 2
    assert group.ended() is None
    group.end()
    group.end()
    await_end(pids)


def test_only_windows_without_work_are_idle() -> None:
    idle = Idleness()
    looks = [(0.0, 0.1), (0.1, WINDOW + 0.05), (0.1 + BUSY / 2, 2 * WINDOW + 0.1), (9.0, 10.0), (9.0, 11.0)]
    told = [idle.seconds(cpu, elapsed) for cpu, elapsed in looks]
    # in the second window next to nothing was done; nine seconds of work in the next are no idleness
    assert told == pytest.approx([0.0, 0.0, WINDOW + 0.05, WINDOW + 0.05, WINDOW + 1.05])


def test_usage_is_read_as_macos_writes_it() -> None:
    raw = bytes(range(16)) + struct.pack("=10Q", 24_000_000, 12_000_000, 1, 2, 3, 4, 5 << 20, 6 << 20, 7, 8)
    assert meter.usage_of_information(raw, (1, 1)) == (0.036, 6 << 20)
    assert meter.usage_of_information(raw, (125, 3)) == (1.5, 6 << 20)


class Library:
    """libproc and the clock of an Apple processor, as far as they are used."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def mach_timebase_info(self, base: object) -> int:
        base[:] = [125, 3]  # type: ignore[index]
        return 0

    def proc_pid_rusage(self, pid: object, flavour: int, buffer: object) -> int:
        if pid.value != 42 or flavour != 0:  # type: ignore[attr-defined]
            return -1
        buffer.raw = self._raw  # type: ignore[attr-defined]
        return 0


def test_libproc_is_asked_for_one_process() -> None:
    raw = bytes(16) + struct.pack("=10Q", 24_000_000, 0, 0, 0, 0, 0, 0, 9 << 20, 0, 0)
    asked = meter.LibprocMeter(Library(raw))  # type: ignore[arg-type]
    assert asked.usage(42) == (1.0, 9 << 20)
    assert asked.usage(43) is None
    assert asked.unit == 1


def test_this_system_tells_what_a_process_has_used() -> None:
    here = meter.meter()
    began = here.usage(os.getpid())
    assert began is not None
    while time.process_time() < began.cpu + 0.1:
        pass
    later = here.usage(os.getpid())
    assert later is not None
    assert later.cpu >= began.cpu + 0.05
    assert later.resident > 1 << 20
    assert here.usage(2**22 + 1) is None
