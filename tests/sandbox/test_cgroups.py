"""Control groups, where this machine lets us make them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox, cgroups


def folders() -> list[Path]:
    return [path for one in cgroups._hierarchies() for path in one.folder.glob(f"probatum-{os.getpid()}-*")]


@pytest.fixture(autouse=True)
def needs_groups() -> None:
    if not cgroups.controllers():
        pytest.skip("no control groups can be made here")


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
