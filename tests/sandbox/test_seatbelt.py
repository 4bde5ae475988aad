"""Seatbelt as far as it can be tested without a Mac: the profile as text, the rung with doubles of `sandbox-exec`.

That macOS reads these profiles as we do is shown by nothing here; there the self-test decides.
"""

from __future__ import annotations

import os
import string
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.cli.doctor import _rung
from probatum.core.errors import SandboxError
from probatum.core.records import Limits, Program
from probatum.runner.isolation import describe_isolation
from probatum.sandbox import Sandbox, isolation_report, launch, seatbelt, weak
from probatum.sandbox.launch import StartError
from probatum.sandbox.seatbelt import Interpreter, ProfileError
from tests.sandbox.doubles import (
    FAILS,
    HOLDS_NOTHING,
    HOLDS_WHAT_LINUX_CAN,
    be_a_mac,
    needs_landlock,
    needs_linux,
)
from tests.sandbox.seatbelt_language import Text, allowed, conditions, read
from tests.sandbox.test_sandbox import STATUSES, TESTS

WORK = "/private/var/folders/x/T/probatum-1/w"
PYTHON = "/opt/homebrew/bin/python3.11"
LIBRARY = "/opt/homebrew/Cellar/python@3.11/lib/python3.11"
OPENSSL = "/opt/homebrew/opt/openssl@3/lib/libcrypto.3.dylib"
PACKAGE = "/Users/one/venv/lib/python3.11/site-packages/probatum/sandbox/inside"


def made(work: str | None = WORK, **change: tuple[str, ...]) -> list[object]:
    values = {"programs": (PYTHON,), "folders": (LIBRARY,), "files": (OPENSSL,)} | change
    return read(seatbelt.profile(Interpreter(**values), PACKAGE, work))


@pytest.mark.parametrize(
    "path",
    [
        f"{LIBRARY}/re/__init__.py", LIBRARY, OPENSSL, PYTHON, f"{PACKAGE}/judge.py", "/dev/null", "/dev/urandom",
        "/usr/lib/libSystem.B.dylib", "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation",
        "/usr/share/zoneinfo/UTC", f"{WORK}/file", WORK, "/", str(Path(PACKAGE).parent),
    ],
)  # fmt: skip
def test_a_candidate_reads_what_an_interpreter_needs(path: str) -> None:
    assert allowed(made(), "file-read-data", path)


@pytest.mark.parametrize(
    "path",
    [
        "/Users", "/Users/one", "/Users/one/.ssh/id_ed25519", "/private/tmp/x", "/private/etc/passwd", "/Volumes",
        "/private/var/folders/x/T", "/private/var/folders/x/T/probatum-1", "/private/var/folders/x/T/probatum-1/out",
        f"{WORK}2", f"{LIBRARY}2/x.py", "/Users/one/venv/lib/python3.11/site-packages/probatum/sandbox/launch.py",
        "/Library/Keychains/System.keychain",
    ],
)  # fmt: skip
def test_a_candidate_reads_nothing_else(path: str) -> None:
    assert not allowed(made(), "file-read-data", path)


def test_only_metadata_of_the_directories_above_is_read() -> None:
    forms = made()
    for above in ("/Users", "/Users/one", "/private/var/folders", "/opt/homebrew/Cellar/python@3.11/lib"):
        assert allowed(forms, "file-read-metadata", above)
        assert not allowed(forms, "file-read-data", above)
    assert not allowed(forms, "file-read-metadata", "/Users/other")


WRITES = ("file-write-create", "file-write-data", "file-write-unlink", "file-write-mode", "file-write-times")


@pytest.mark.parametrize("operation", WRITES)
def test_a_candidate_writes_below_its_work_directory_and_a_judge_nowhere(operation: str) -> None:
    candidate, judge = made(), made(None)
    assert allowed(candidate, operation, f"{WORK}/a/b")
    assert not allowed(judge, operation, f"{WORK}/a/b")
    for forms in (candidate, judge):
        for path in (
            WORK,
            str(Path(WORK).parent),
            f"{WORK}2/x",
            LIBRARY,
            "/private/tmp/x",
            "/Users/one/x",
            PYTHON,
        ):
            assert not allowed(forms, operation, path), path
    assert {str(one) for one in conditions(judge, operation)} <= {str(["literal", Text("/dev/null")])}


@pytest.mark.parametrize(
    "operation",
    [
        "file-write-flags", "file-write-owner", "file-write-setugid", "file-write-xattr", "file-write-acl",
        "file-link", "file-mount", "process-fork", "network-outbound", "network-inbound", "network-bind",
        "mach-lookup", "mach-register", "mach-priv-task-port", "ipc-posix-shm-write-create", "ipc-posix-sem",
        "ipc-sysv-shm", "iokit-open", "system-socket", "process-exec", "process-exec-interpreter",
        "process-info-pidinfo", "signal", "sysctl-read", "sysctl-write", "job-creation", "file-ioctl",
        "device-microphone", "appleevent-send", "nvram-set", "user-preference-read", "lsopen",
    ],
)  # fmt: skip
@pytest.mark.parametrize("work", [WORK, None])
def test_what_is_not_named_is_denied(operation: str, work: str | None) -> None:
    for value in ("", f"{WORK}/x", "/bin/sh", "others", "same-sandbox", "kern.procargs2", "kern.proc.all"):
        assert not allowed(made(work), operation, value)


def test_a_process_signals_and_asks_about_itself_alone_and_executes_only_the_interpreter() -> None:
    forms = made()
    assert allowed(forms, "signal", "self")
    assert allowed(forms, "process-info-pidinfo", "self")
    assert allowed(forms, "process-exec", PYTHON)
    assert not allowed(forms, "process-exec", OPENSSL)
    assert not allowed(forms, "file-map-executable", f"{WORK}/own.dylib")
    assert allowed(forms, "sysctl-read", "hw.ncpu")


def test_no_rule_allows_everything_or_all_kinds_of_writing() -> None:
    for action, *rest in made():
        if action == "allow":
            assert any(isinstance(one, list) for one in rest), rest
            assert not {"file-write*", "file*", "process*", "mach*", "network*", "default"} & {
                one for one in rest if isinstance(one, str)
            }
    for operation in WRITES:
        for kind, *given_ in conditions(made(), operation):
            assert kind == "require-all" or (kind, given_) == ("literal", ["/dev/null"])


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" \"\\()#;'"), min_size=1))
def test_odd_characters_of_a_path_stay_characters_of_a_path(name: str) -> None:
    folder = f"/Users/{name.replace('/', '')}/lib"
    forms = made(folders=(folder,), files=())
    assert allowed(forms, "file-read-data", os.path.normpath(f"{folder}/x.py"))
    assert not allowed(forms, "file-read-data", "/Users/other/x")
    assert not allowed(forms, "process-fork")
    assert [Text(folder)] in [one[1:] for one in conditions(forms, "file-read-data") if one[0] == "subpath"]


@pytest.mark.parametrize("path", ["/a\nb", "/a\tb", "/a\x1b", "/a\udcff"])
def test_a_path_that_the_language_may_not_hold_is_refused(path: str) -> None:
    with pytest.raises(ProfileError, match="printable"):
        made(folders=(path,))


def test_links_on_the_way_to_a_file_can_be_followed(tmp_path: Path) -> None:
    real = tmp_path / "Cellar" / "python" / "bin"
    real.mkdir(parents=True)
    (real / "python3.11").touch()
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "python").symlink_to("../Cellar/python")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("../opt/python/bin/python3.11")
    asked = str(tmp_path / "bin" / "python3")
    forms = made(programs=(asked,))
    for step in (asked, tmp_path / "opt" / "python", tmp_path / "opt", real / "python3.11", real):
        assert allowed(forms, "file-read-metadata", str(step)), step
    assert allowed(forms, "process-exec", str(real / "python3.11"))


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    assert str(tmp_path / "two") in seatbelt.passed_on_the_way(str(tmp_path / "one"))


def test_a_framework_starts_as_the_program_of_its_bundle(tmp_path: Path) -> None:
    version = tmp_path / "Python.framework" / "Versions" / "3.11"
    bundle = version / "Resources" / "Python.app" / "Contents" / "MacOS" / "Python"
    for file in (version / "bin" / "python3.11", bundle):
        file.parent.mkdir(parents=True)
        file.touch()
    python = str(version / "bin" / "python3.11")
    found = Interpreter.of(python, {"folders": [], "files": [], "program": python})
    assert found.programs == (python, str(bundle))


@needs_linux
def test_an_interpreter_tells_what_it_reads() -> None:
    seen = launch._seen(("re",))
    assert str(Path(os.__file__).parent) in seen["folders"]
    assert Path(seen["program"]).resolve() == Path(sys.executable).resolve()
    assert seen["files"] == []  # of macOS's linker


# the rung


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    be_a_mac(monkeypatch, tmp_path, HOLDS_NOTHING)
    return tmp_path


@needs_linux
def test_a_sandbox_exec_that_holds_nothing_is_refused_for_what_it_does_not_hold(nothing: Path) -> None:
    (rung,) = isolation_report().rungs
    assert (rung.name, rung.available, rung.proven) == ("seatbelt", True, False)
    failed = {check.name for check in rung.checks if check.required and not check.held}
    assert failed == {
        "has no network", "reads no file of the user", "writes nowhere else", "runs no program of the system",
        "reads no environment of another process", "signals no other process", "starts no process",
    }  # fmt: skip
    for name in failed:
        assert name in rung.reason
    profiles = [read(path.read_text()) for path in nothing.glob("profile-*")]
    writing = [
        forms
        for forms in profiles
        if any(one[0] == "require-all" for one in conditions(forms, "file-write-data"))
    ]
    assert len(profiles) - len(writing) == 1  # the judge's
    assert len(writing) > len(weak.PROBES)  # a process for each program, and one that waits


@needs_linux
def test_nothing_is_run_where_the_rung_is_refused(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = next(probe for probe in weak.PROBES if probe.name == "has no network")
    monkeypatch.setattr(weak, "PROBES", (network,))
    with pytest.raises(
        SandboxError, match=r"seatbelt: the self-test failed: has no network.*Linux container"
    ):
        Sandbox()


@needs_linux
def test_a_sandbox_exec_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    be_a_mac(monkeypatch, tmp_path, FAILS)
    (rung,) = isolation_report().rungs
    assert not rung.available
    assert rung.reason == "sandbox-exec: sandbox_apply: Operation not permitted"
    assert "Linux container" in rung.remedy


@needs_linux
@needs_landlock
def test_a_rung_that_holds_what_must_hold_is_weak_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    be_a_mac(monkeypatch, tmp_path, HOLDS_WHAT_LINUX_CAN)
    report = isolation_report()
    (rung,) = report.rungs
    assert rung.proven, rung.reason
    assert (rung.weak, rung.label, report.level) == (True, "seatbelt (weak)", "seatbelt (weak)")
    assert set(seatbelt.NOT_ENFORCED) <= set(rung.not_held)
    words = _rung(rung)
    assert words.startswith("weak, proven: runs an honest program")
    assert f"not held: {rung.not_held[0]}" in words
    line = describe_isolation(report)
    assert line.startswith("seatbelt (weak), proven by ")
    assert rung.not_held[-1] in line
    monkeypatch.setattr(weak, "PROBES", weak.PROBES[:2])  # all were tried
    with Sandbox(1) as sandbox:
        assert (sandbox.isolation, sandbox.environment["isolation"]) == ("seatbelt (weak)", "seatbelt (weak)")
        program = Program(code="def f(): return 1", tests="assert f() == 1", entry_points=("f",))
        (ended,) = sandbox.execute([program])
    assert (ended.status, ended.isolation) == ("passed", "seatbelt (weak)")


@pytest.mark.skipif(sys.platform != "darwin", reason="not a Mac")
def test_the_real_one_holds_what_must_hold() -> None:
    (rung,) = isolation_report().rungs
    assert rung.proven, rung
    assert rung.label == "seatbelt (weak)"
    with Sandbox(1) as sandbox:
        for status, detail, code in STATUSES:
            program = Program(
                code=code, tests=TESTS, entry_points=("f",), limits=Limits(memory_bytes=256 << 20)
            )
            (ended,) = sandbox.execute([program])
            assert (ended.status, ended.detail) == (status, detail), ended


def test_what_must_hold_is_more_than_what_is_told_and_no_two_checks_have_a_name() -> None:
    names = [probe.name for probe in weak.PROBES]
    assert len(set(names)) == len(names)
    assert sum(probe.required for probe in weak.PROBES) >= 12  # as many as elsewhere
    for probe in weak.PROBES:
        compile(probe.code, "<probe>", "exec")


def test_a_mac_has_no_other_rung(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("probatum.sandbox.ladder.PLATFORM", "darwin")
    monkeypatch.setenv("PATH", str(tmp_path))
    report = isolation_report()
    assert [(rung.name, rung.reason) for rung in report.rungs] == [("seatbelt", "no program 'sandbox-exec'")]
    with pytest.raises(SandboxError, match=r"namespaces: not Linux.*Linux container.*weak"):
        Sandbox(isolation="namespaces")
    with pytest.raises(SandboxError, match="unknown: use one of seatbelt, unsafe-subprocess"):
        Sandbox(isolation="none")


def test_windows_is_told_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probatum.sandbox.ladder.PLATFORM", "win32")
    with pytest.raises(SandboxError, match="WSL 2"):
        Sandbox()


@needs_linux
def test_linux_has_no_seatbelt() -> None:
    with pytest.raises(SandboxError, match="seatbelt: not macOS"):
        Sandbox(isolation="seatbelt")


def test_without_sandbox_exec_no_worker_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    limits = Limits()
    settings = launch.Settings(
        isolation="seatbelt", output_bytes=limits.output_bytes, file_bytes=limits.file_bytes,
        memory_bytes=limits.memory_bytes, processes=limits.processes, portable=True,
    )  # fmt: skip
    with pytest.raises(StartError, match="no program 'sandbox-exec'"):
        launch._kept(settings, "/tmp/none")


def test_letters_and_digits_need_no_escape() -> None:
    plain = "/" + string.ascii_letters + string.digits + " @.-_+~"
    assert seatbelt.quoted(plain) == f'"{plain}"'
    assert seatbelt.quoted('/a"b\\c') == '"/a\\"b\\\\c"'
