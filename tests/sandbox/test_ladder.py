"""What the ladder claims is what a self-test has shown."""

from __future__ import annotations

import shutil

import pytest

from probatum.core.errors import SandboxError
from probatum.core.records import Program
from probatum.sandbox import Sandbox, isolation_report, ladder, selftest
from probatum.sandbox.launch import StartError


def test_every_check_of_the_self_test_holds_where_a_rung_is_proven() -> None:
    report = isolation_report()
    assert [rung.name for rung in report.rungs] == ["namespaces", "bubblewrap", "gvisor", "podman", "docker"]
    for rung in report.rungs:
        assert rung.proven == (
            len(rung.checks) == len(selftest._PROGRAMS) and not selftest.failures(rung.checks)
        )
        assert rung.proven or rung.reason
    assert report.level == next((rung.name for rung in report.rungs if rung.proven), None)


def test_a_report_may_end_at_the_level_that_a_sandbox_would_have(sandbox: Sandbox) -> None:
    report = isolation_report(until_proven=True)
    assert report.level == sandbox.isolation == report.rungs[-1].name
    assert not any(rung.proven for rung in report.rungs[:-1])


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_bubblewrap_holds_the_same_worker() -> None:
    rung = next(rung for rung in isolation_report(["bubblewrap"]).rungs)
    if not rung.proven:
        pytest.skip(f"bubblewrap is not proven here: {rung.reason}")
    with Sandbox(workers=1, isolation="bubblewrap") as sandbox:
        program = Program(code="def f(): return 1", tests="assert f() == 1", entry_points=("f",))
        (ended,) = sandbox.execute([program])
    assert (ended.status, ended.isolation) == ("passed", "bubblewrap")


def test_a_rung_whose_self_test_fails_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ("holds what nothing holds", "passed", "\ndef safe():\n    return False\n")
    monkeypatch.setattr(selftest, "_PROGRAMS", (broken,))
    with pytest.raises(SandboxError, match="holds what nothing holds"):
        Sandbox(workers=1)


def test_a_kernel_that_forbids_namespaces_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_settings: object) -> None:
        raise StartError("[Errno 1] unshare: Operation not permitted", 1)

    monkeypatch.setattr(ladder, "Worker", refuse)
    monkeypatch.setattr(ladder.shutil, "which", lambda _name: None)
    with pytest.raises(SandboxError, match=r"unshare: Operation not permitted.*user namespaces.*bubblewrap"):
        Sandbox()


@pytest.mark.parametrize("name", ["lxc", "none", ""])
def test_an_unknown_rung_is_refused(name: str) -> None:
    with pytest.raises(
        SandboxError,
        match="unknown: use one of namespaces, bubblewrap, gvisor, podman, docker, unsafe-subprocess",
    ):
        Sandbox(isolation=name)


@pytest.mark.parametrize("workers", [0, -1])
def test_a_sandbox_has_a_worker(workers: int) -> None:
    with pytest.raises(SandboxError, match="at least 1"):
        Sandbox(workers)
