"""Workers inside gVisor: the bundle, what stands in for what its kernel lacks, and a real one if there is one."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox, gvisor, isolation_report
from probatum.sandbox.gvisor import Bundle
from probatum.sandbox.inside import watch
from probatum.sandbox.inside.watch import Idleness, Usage


def test_a_bundle_is_read_only_has_no_network_and_gives_no_program_a_capability() -> None:
    found = gvisor.configuration(["/usr/lib/b", "/usr/lib/a"], ["python", "-c", "x"], {"LANG": "C"})
    assert found["root"]["readonly"] is True
    assert {"type": "network"} in found["linux"]["namespaces"]
    binds = [mount for mount in found["mounts"] if mount["type"] == "bind"]
    assert [mount["source"] for mount in binds] == ["/usr/lib/a", "/usr/lib/b"]
    assert all("ro" in mount["options"] and mount["source"] == mount["destination"] for mount in binds)
    assert found["process"]["user"]["uid"] != 0  # limits of processes do not hold for root
    assert found["process"]["args"] == ["python", "-c", "x"]
    assert "ambient" not in found["process"]["capabilities"]
    assert "seccomp" not in found["linux"]  # the worker loads its own


def test_a_bundle_on_the_disk_has_a_place_for_all_that_is_shown(tmp_path: Path) -> None:
    library, program = tmp_path / "lib", tmp_path / "python"
    library.mkdir()
    program.touch()
    bundle = Bundle.write([str(library), str(program)], {"/lib": "usr/lib"}, ["python"], {})
    try:
        root = bundle.folder / "root"
        assert (root / str(library).lstrip("/")).is_dir()
        assert (root / str(program).lstrip("/")).is_file()
        assert (root / "lib").readlink() == Path("usr/lib")
        assert (root / "w").is_dir()
        assert stat.S_IMODE(bundle.folder.stat().st_mode) == 0o700
        assert json.loads((bundle.folder / "config.json").read_text())["process"]["args"] == ["python"]
        words = bundle.command()
        assert "--network=none" in words
        assert f"--bundle={bundle.folder}" in words
    finally:
        bundle.remove()
    assert not bundle.folder.exists()


def test_the_first_command_of_a_worker_reads_a_program_from_its_connection() -> None:
    program = b"print('ran', 1 + 1)"
    whole = len(program).to_bytes(4, "little") + program + b"more for the worker"
    done = subprocess.run(
        [sys.executable, "-c", gvisor.COMMAND], input=whole, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"ran 2"


def test_without_a_count_of_waiting_only_time_without_work_is_idle() -> None:
    found = Idleness()
    looks = [(0.1, 0.1), (0.2, 0.1), (0.2, 1.1), (0.2, 2.1), (1.2, 12.1), (1.2, 13.0)]
    told = [found.seconds(Usage(cpu, None, 0), elapsed) for cpu, elapsed in looks]
    # ten seconds in which one second of work was done were spent waiting for a processor
    assert told == pytest.approx([0.0, 0.0, 1.0, 2.0, 2.0, 2.9])
    assert Idleness().seconds(Usage(1.0, 3.0, 0), 10.0) == 7.0


ENDS = """
import os, select, sys
os.pidfd_open = lambda pid: (_ for _ in ()).throw(OSError(38, "no such call"))
from probatum.sandbox.inside.ending import Ending
quick = os.fork()
if quick == 0:
    os._exit(0)
os.waitid(os.P_PID, quick, os.WEXITED | os.WNOWAIT)
late = os.fork()
if late == 0:
    import time
    time.sleep(0.3)
    os._exit(0)
one, other = Ending(quick), Ending(late)
assert one.descriptor == other.descriptor
assert select.select([one.descriptor], [], [], 30)[0]
assert (one.came(), other.came()) == (True, False)
assert select.select([other.descriptor], [], [], 30)[0]
assert other.came()
print(os.waitpid(quick, 0)[1], os.waitpid(late, 0)[1])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers run on Linux")
def test_the_end_of_a_child_is_seen_without_pidfd_before_and_after_one_looks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDS], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout == "0 0\n", done.stderr


def test_this_kernel_tells_how_long_a_process_waited() -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("this kernel does not count it")
    assert watch.TELLS_WAITING
    assert watch.usage([os.getpid()]).waited is not None
    assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL  # nothing above has changed this process


PROGRAMS = {
    "def f(): return 1\n": "passed",
    "def f(): return 2\n": "assertion_failed",
    "def f():\n    while True: pass\n": "timeout",
    "import time\ndef f(): time.sleep(100)\n": "timeout",
    "import os\ndef f():\n    os.fork() or os._exit(0)\n    open('x', 'w').close()\n    return 1\n": "passed",
    "import os\ndef f(): return 1 + len(os.listdir('.')) + len(os.listdir('/dev/shm'))\n": "passed",
    "def f():\n    print('x' * 5000)\n    return 1\n": "passed",
    "def f(): return len(bytearray(1 << 30)) and 1\n": "memory_limit",
    "import os\ndef f(): os._exit(3)\n": "exit_called",
}


@pytest.mark.slow
def test_a_real_gvisor_holds_programs() -> None:
    (rung,) = isolation_report(["gvisor"]).rungs
    if not rung.available:
        pytest.skip(f"gVisor cannot be used here: {rung.reason}")
    assert rung.proven, rung
    limits = Limits(cpu_seconds=1.0, memory_bytes=256 << 20)
    made = {
        Program(code=code, tests="assert f() == 1\n", entry_points=("f",), limits=limits): status
        for code, status in PROGRAMS.items()
    }
    with Sandbox(1, isolation="gvisor") as sandbox:
        ended = {one.program: one for one in sandbox.execute(made)}
    assert {program.code: ended[program.digest].status.value for program in made} == PROGRAMS
    assert all(one.isolation == "gvisor" for one in ended.values())
    assert max(len(one.stdout) for one in ended.values()) == 5001
