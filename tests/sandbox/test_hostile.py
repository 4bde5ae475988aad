"""Every hostile program ends with an acceptable status, does no harm, and leaves the worker working."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.core.records import Execution, Limits, Program
from probatum.sandbox import Sandbox
from tests.sandbox.conftest import shared

pytestmark = pytest.mark.hostile

TESTS = """
def check(candidate):
    assert candidate(1, 2) == 3
    assert candidate(0, 0) == 0
    assert candidate(-1, 5) == 4
    assert candidate(10, 20) == 30
    assert candidate(7, 7) == 14
check(add)
"""
LIMITS = Limits(cpu_seconds=1.0, wall_seconds=20, memory_bytes=512 << 20)
HONEST = Program(code="def add(a, b):\n    return a + b\n", tests=TESTS, entry_points=("add",), limits=LIMITS)
LISTENER = 18999  # the port that a hostile program tries


def attacks() -> list[Path]:
    """Our own, and those that the project's shared folder holds."""
    found = sorted((Path(__file__).parent / "attacks").glob("*.program"))
    folder = shared()
    return found if folder is None else found + sorted((folder / "hostile").glob("*.py"))


def run(sandbox: Sandbox, code: str, mode: str = "split") -> Execution:
    (execution,) = sandbox.execute(
        [Program(code=code, tests=TESTS, entry_points=("add",), mode=mode, limits=LIMITS)]
    )
    return execution


@pytest.fixture(scope="module")
def visits() -> Iterator[list[object]]:
    """Who connected to listeners on this machine: nobody may."""
    found: list[object] = []
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", LISTENER))
    except OSError:  # another run of these tests listens there, and sees visitors
        listener.close()
        yield found
        return
    listener.listen()

    def accept() -> None:
        while True:
            try:
                connection, address = listener.accept()
            except OSError:
                return
            found.append(address)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    yield found
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def expected(source: str) -> set[str]:
    first = source.partition("\n")[0]
    return set(first.removeprefix("# expect:").strip().split("|"))


def test_there_are_hostile_programs() -> None:
    assert attacks()


def test_the_hostile_programs_of_the_project_are_at_hand() -> None:
    if shared() is None:
        pytest.skip("no shared folder beside the repository, and PROBATUM_SHARED is not set")
    assert sum(path.parent.name == "hostile" for path in attacks()) == 50


@pytest.mark.parametrize("path", attacks(), ids=lambda path: path.stem)
def test_a_hostile_program_is_held(
    path: Path, sandbox: Sandbox, visits: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_CANARY", "x")
    visits.clear()
    source = path.read_bytes().decode("utf-8", "surrogateescape")
    execution = run(sandbox, source)
    assert execution.status in expected(source), execution
    assert len(execution.message or "") <= 4000
    for text in (execution.message or "", execution.stdout, execution.stderr):
        text.encode("utf-8")
    assert visits == []
    assert not Path("/dev/shm/evil_canary").exists()
    (after,) = sandbox.execute([HONEST])
    assert after.status == "passed", after


@pytest.mark.slow
@pytest.mark.parametrize("path", attacks(), ids=lambda path: path.stem)
def test_joint_mode_may_believe_a_hostile_program_and_still_holds_it(
    path: Path, sandbox: Sandbox, visits: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_CANARY", "x")
    visits.clear()
    source = path.read_bytes().decode("utf-8", "surrogateescape")
    execution = run(sandbox, source, "joint")
    assert execution.verdict_trust == "in_process"
    assert execution.status != "sandbox_error", execution
    assert visits == []
    assert not Path("/dev/shm/evil_canary").exists()
    (after,) = sandbox.execute([HONEST])
    assert after.status == "passed", after
