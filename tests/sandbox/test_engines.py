"""Workers in containers of podman or docker: what is asked of the engine, and a real one where there is one."""

from __future__ import annotations

import io
import socket
import stat
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox, engines, isolation_report
from probatum.sandbox.engines import EngineError, Meeting

MEETING = Path("/tmp/probatum-meeting-x")


@pytest.mark.parametrize("engine", engines.ENGINES)
def test_a_container_shows_little_writes_nothing_and_has_no_network(engine: str) -> None:
    words = engines.command(engine, {"/usr/lib/b", "/usr/lib/a"}, MEETING, ["python", "-c", "x"])
    assert words[-3:] == ["python", "-c", "x"]
    text = " ".join(words)
    for part in ("run --rm", "--network none", "--read-only", "--cap-drop ALL", "--pull never"):
        assert part in text
    volumes = [words[place + 1] for place, word in enumerate(words) if word == "--volume"]
    assert volumes == [
        "/usr/lib/a:/usr/lib/a:ro",
        "/usr/lib/b:/usr/lib/b:ro",
        "/tmp/probatum-meeting-x:/probatum:ro",
    ]
    assert "--privileged" not in words
    assert ("unmask=ALL" in words) == (engine == "podman")


def test_the_image_holds_no_file() -> None:
    with tarfile.open(fileobj=io.BytesIO(engines.image())) as archive:
        kinds = {member.name: member.type for member in archive}
    assert set(kinds.values()) <= {tarfile.DIRTYPE, tarfile.SYMTYPE}
    assert {"proc", "tmp", "mnt", "probatum"} <= kinds.keys()


def test_only_who_knows_the_password_of_a_meeting_is_heard_and_nothing_is_left_of_it() -> None:
    meeting = Meeting.open()
    assert (
        stat.S_IMODE(meeting.folder.stat().st_mode) == 0o711
    )  # entered by who knows the name, and not listed
    waiting = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        address = str(meeting.folder / "socket")
        with (
            socket.socket(socket.AF_UNIX) as silent,
            socket.socket(socket.AF_UNIX) as stranger,
            socket.socket(socket.AF_UNIX) as worker,
        ):
            for one, said in ((silent, ""), (stranger, "0" * 64), (worker, meeting.password)):
                one.connect(address)
                one.sendall(said.encode())
            with meeting.accept(waiting, 60) as ours:
                worker.sendall(b"here")
                assert ours.recv(4) == b"here"
        meeting.close()
        assert not meeting.folder.exists()
    finally:
        waiting.kill()
        waiting.wait()


def test_an_engine_that_fails_says_why_at_once() -> None:
    meeting = Meeting.open()
    failing = [sys.executable, "-c", "import sys; sys.exit('first line\\nno such image')"]
    began = time.monotonic()
    with (
        subprocess.Popen(failing, stderr=subprocess.PIPE) as process,
        pytest.raises(EngineError, match="no such image"),
    ):
        meeting.accept(process, 600)
    assert time.monotonic() - began < 120
    meeting.close()


def test_an_engine_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    report = isolation_report(engines.ENGINES)
    assert [(rung.name, rung.available, rung.reason) for rung in report.rungs] == [
        ("podman", False, "no program 'podman'"),
        ("docker", False, "no program 'docker'"),
    ]
    assert report.level is None


PROGRAMS = {
    "def f(): return 1\n": "passed",
    "import os\ndef f(): return os.path.exists('/probatum') + 1\n": "passed",  # the meeting place is out of sight
    "def f():\n    while True: pass\n": "timeout",
    "import os\ndef f(): return os.getppid() + 1\n": "passed",
    "def f(): return len(bytearray(1 << 30)) and 1\n": "memory_limit",
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", engines.ENGINES)
def test_a_real_engine_holds_programs(engine: str) -> None:
    (rung,) = isolation_report([engine]).rungs
    if not rung.available:
        pytest.skip(f"{engine} cannot be used here: {rung.reason}")
    assert rung.proven, rung
    limits = Limits(cpu_seconds=0.5, memory_bytes=256 << 20)
    made = {
        Program(code=code, tests="assert f() == 1\n", entry_points=("f",), limits=limits): status
        for code, status in PROGRAMS.items()
    }
    with Sandbox(1, isolation=engine) as sandbox:
        ended = {one.program: one for one in sandbox.execute(made)}
    assert {ended[program.digest].status.value for program in made} == set(PROGRAMS.values())
    for program, status in made.items():
        assert (ended[program.digest].status, ended[program.digest].isolation) == (status, engine)
    left = subprocess.run(
        [engine, "ps", "--all", "--quiet", "--filter", "name=probatum-meeting"],
        capture_output=True,
        check=False,
    )
    assert left.stdout.strip() == b""
