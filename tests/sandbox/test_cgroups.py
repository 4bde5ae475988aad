"""Control groups, where this machine lets us make them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox, cgroups


def folders() -> list[Path]:
    return [path for one in cgroups._hierarchies() for path in one.folder.glob(f"probatum-{os.getpid()}-*")]


@pytest.fixture
def needs_groups() -> None:
    if not cgroups.controllers():
        pytest.skip("no control groups can be made here")


@pytest.mark.usefixtures("needs_groups")
def test_a_group_has_the_limits_and_is_removed() -> None:
    before = folders()
    group = cgroups.make_group(64 << 20, 10)
    assert group is not None
    made = [folder for folder in folders() if folder not in before]
    assert made
    for folder in made:
        for name in ("memory.limit_in_bytes", "memory.max"):
            if (folder / name).exists():
                assert int((folder / name).read_text()) == (64 << 20) + cgroups.SLACK
        if (folder / "pids.max").exists():
            assert int((folder / "pids.max").read_text()) == 10 + cgroups.SPARE_PROCESSES
    group.remove()
    assert not any(folder.exists() for folder in made)


@pytest.mark.usefixtures("needs_groups")
def test_memory_of_all_processes_together_is_limited() -> None:
    if "memory" not in cgroups.controllers():
        pytest.skip("the memory controller is not ours")
    code = (
        "import os, time\n"
        "def f():\n"
        "    for _ in range(8):\n"
        "        if os.fork() == 0:\n"
        "            kept = [bytearray(b'x' * (1 << 20)) for _ in range(100)]\n"
        "            time.sleep(60)\n"
        "    time.sleep(60)\n"
    )
    limits = Limits(cpu_seconds=20, wall_seconds=60, memory_bytes=256 << 20)
    program = Program(code=code, tests="f()", entry_points=("f",), limits=limits)
    before = folders()
    with Sandbox(workers=1) as sandbox:
        (ended,) = sandbox.execute([program])
        assert len(folders()) > len(before)
    assert ended.status == "memory_limit", ended
    assert folders() == before


def unified() -> Path:
    """Where version 2 is mounted; its controllers may all belong to version 1."""
    for kind, point, _ in cgroups._mounts():
        if kind == "cgroup2":
            return point
    pytest.skip("no control groups of version 2 are mounted")


STEPS_ASIDE = """
import os, subprocess, sys
from pathlib import Path
from probatum.sandbox import cgroups
folder, names = Path(sys.argv[1]), sys.argv[2:]
(folder / "cgroup.procs").write_text(str(os.getpid()))
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
print(sorted(cgroups.enable(folder, [*names, "nothing"])))
below = folder / "made"
below.mkdir()
print((below / "cgroup.controllers").read_text().split())
below.rmdir()
child.communicate(b"\\n")
print(len((folder / "cgroup.procs").read_text().split()))
"""


def test_a_process_in_a_group_of_version_2_steps_aside_so_that_controllers_can_be_switched_on() -> None:
    point = unified()
    names = (point / "cgroup.controllers").read_text().split()[:1]
    folder = point / f"probatum-test-{os.getpid()}"
    try:
        folder.mkdir()
        if names:
            (point / "cgroup.subtree_control").write_text(f"+{names[0]}")
    except OSError as error:
        pytest.skip(f"no group can be made in {point}: {error}")
    if not names:
        folder.rmdir()
        pytest.skip("version 2 has no controller here")
    try:
        done = subprocess.run(
            [sys.executable, "-c", STEPS_ASIDE, str(folder), *names],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.splitlines() == [str(names), str(names), "0"], done.stderr
    finally:
        for left in (*folder.glob("*/"), folder):
            left.rmdir()


def test_nobody_elses_process_is_moved(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    assert not cgroups._step_aside(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cgroup.procs"]


def test_only_controllers_that_are_offered_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu pids")
    (tmp_path / "cgroup.subtree_control").write_text("")
    cgroups.enable(tmp_path, ("memory", "pids"))
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+pids"
