"""Which isolation this machine offers, proven by running hostile programs rather than by looking.

The ladder of Linux, best first: `namespaces` (needs no other program), `bubblewrap` (the same worker, started
by `bwrap`), `gvisor`, `podman`, `docker`. That of macOS has one rung, `seatbelt`, which is weak: what it does
not hold is told. Below both stands `unsafe-subprocess`, which isolates nothing and is never chosen unless it
is asked for by name.
"""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from probatum.core.errors import SandboxError
from probatum.core.records import Limits
from probatum.sandbox import seatbelt, weak
from probatum.sandbox.engines import ENGINES
from probatum.sandbox.launch import GVISOR, UNSAFE, Settings, StartError, Worker, WorkerGoneError
from probatum.sandbox.seatbelt import SEATBELT
from probatum.sandbox.selftest import Check, failures, self_test

__all__ = ["WEAK", "IsolationReport", "Rung", "choose", "isolation_report"]

PLATFORM: str = sys.platform
LINUX: Final = "linux"
MACOS: Final = "darwin"
WEAK: Final = "(weak)"
"""At the end of the label of a rung that leaves things open."""
RUNGS: Final = ("namespaces", "bubblewrap", GVISOR, *ENGINES)
"""Of Linux, best first."""
PROGRAMS: Final = {
    "bubblewrap": "bwrap",
    GVISOR: "runsc",
    SEATBELT: seatbelt.PROGRAM,
    **{engine: engine for engine in ENGINES},
}
"""What a rung needs on the PATH."""


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One rung of the ladder on this machine."""

    name: str
    available: bool
    """Whether a worker started."""
    proven: bool
    """Whether every check of the self-test held."""
    reason: str = ""
    """Why it is not available or not proven."""
    remedy: str = ""
    """How to allow it."""
    checks: tuple[Check, ...] = ()
    weak: bool = False
    """Whether it leaves things open even where all that it must hold is proven."""
    not_held: tuple[str, ...] = ()
    """What it leaves open: checks that did not hold, and what no check can show."""

    @property
    def label(self) -> str:
        """What records carry: its name, and that it is weak."""
        return f"{self.name} {WEAK}" if self.weak else self.name


@dataclass(frozen=True, kw_only=True)
class IsolationReport:
    """What this machine offers, for `probatum doctor`."""

    level: str | None
    """Label of the best rung that was proven; `None`: programs cannot be run here."""
    rungs: tuple[Rung, ...]


@dataclass(frozen=True, kw_only=True)
class Proven:
    """A worker whose isolation was proven, and how to make more."""

    settings: Settings
    worker: Worker
    rung: Rung


def _settings(rung: str) -> Settings:
    limits = Limits()
    return Settings(
        isolation=rung,
        output_bytes=limits.output_bytes,
        file_bytes=limits.file_bytes,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        portable=rung == SEATBELT or not _is_linux(),
    )


def _is_linux() -> bool:
    return PLATFORM.startswith(LINUX)


def _rungs() -> tuple[str, ...]:
    """The ladder of this system; of one that has none, that of Linux, to say so."""
    return (SEATBELT,) if PLATFORM == MACOS else RUNGS


def _absent(name: str) -> tuple[str, str] | None:
    """Why a rung cannot be tried here, and the remedy; `None`: it can."""
    if name == SEATBELT and PLATFORM != MACOS:
        return "not macOS", ""
    if name != SEATBELT and not _is_linux():
        return "not Linux", _elsewhere()
    needed = PROGRAMS.get(name)
    if needed is not None and shutil.which(needed) is None:
        return f"no program {needed!r}", f"install {name}" if _is_linux() else _elsewhere()
    return None


def _climb(name: str) -> Proven | Rung:
    """Starts a worker on one rung and tests it."""
    if (absent := _absent(name)) is not None:
        reason, remedy = absent
        return Rung(name=name, available=False, proven=False, reason=reason, remedy=remedy)
    settings = _settings(name)
    try:
        worker = Worker(settings)
    except (StartError, WorkerGoneError, OSError) as error:
        return Rung(name=name, available=False, proven=False, reason=str(error), remedy=_remedy(error))
    try:
        checks = weak.self_test(worker) if name == SEATBELT else self_test(worker)
    except BaseException as error:
        worker.close()
        if isinstance(error, WorkerGoneError):
            return Rung(name=name, available=True, proven=False, reason=f"self-test: {error}")
        raise
    if failed := failures(checks):
        worker.close()
        reason = f"the self-test failed: {', '.join(check.name for check in failed)}"
        remedy = "" if _is_linux() else _elsewhere()
        return Rung(name=name, available=True, proven=False, reason=reason, remedy=remedy, checks=checks)
    rung = Rung(name=name, available=True, proven=True, checks=checks)
    if name == SEATBELT:
        told = tuple(check.name for check in checks if not check.held)
        rung = replace(rung, weak=True, not_held=(*told, *seatbelt.NOT_ENFORCED))
    return Proven(settings=settings, worker=worker, rung=rung)


def _unsafe() -> Proven:
    """A worker that holds nothing: for code that is trusted, and machines that are thrown away."""
    settings = _settings(UNSAFE)
    try:
        worker = Worker(settings)
    except StartError as error:
        raise SandboxError(f"a worker cannot be started: {error}") from None
    return Proven(settings=settings, worker=worker, rung=Rung(name=UNSAFE, available=True, proven=False))


def choose(isolation: str | None) -> Proven:
    """A worker on the best rung that can be proven, or on the one that was asked for.

    Raises:
        SandboxError: none; says why and what to do.
    """
    if isolation == UNSAFE:
        return _unsafe()
    if isolation is not None and isolation not in {*RUNGS, SEATBELT}:
        names = ", ".join((*_rungs(), UNSAFE))
        raise SandboxError(f"isolation {isolation!r} is unknown: use one of {names}")
    tried: list[Rung] = []
    for name in _rungs() if isolation is None else (isolation,):
        found = _climb(name)
        if isinstance(found, Proven):
            return found
        tried.append(found)
    reasons = "; ".join(f"{rung.name}: {rung.reason}" for rung in tried)
    remedies = " Or: ".join(dict.fromkeys(rung.remedy for rung in tried if rung.remedy))
    raise SandboxError(f"no isolation for untrusted code on this machine ({reasons}). {remedies}")


def isolation_report(rungs: Sequence[str] | None = None, *, until_proven: bool = False) -> IsolationReport:
    """Tries every rung of this system's ladder, or only those down to the first that is proven.

    Starts processes; each rung takes about a second.
    """
    found: list[Rung] = []
    for name in _rungs() if rungs is None else rungs:
        one = _climb(name)
        if isinstance(one, Proven):
            one.worker.close()
            found.append(one.rung)
            if until_proven:
                break
        else:
            found.append(one)
    level = next((rung.label for rung in found if rung.proven), None)
    return IsolationReport(level=level, rungs=tuple(found))


_SWITCHES: Final = (
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "1"),
)


def _remedy(error: BaseException) -> str:
    """How to allow what the kernel refused."""
    if not _is_linux():
        return _elsewhere()
    number = getattr(error, "errno", None)
    if number not in {errno.EPERM, errno.EACCES, errno.ENOSPC, errno.ENOSYS, errno.EINVAL}:
        return ""
    steps = []
    for path, wanted in _SWITCHES:
        value = _read(path)
        if value is not None and value != wanted:
            steps.append(f"sysctl -w {path.removeprefix('/proc/sys/').replace('/', '.')}={wanted}")
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        steps.append("sysctl -w user.max_user_namespaces=10000")
    if steps:
        return f"allow user namespaces (as root): {' && '.join(steps)}"
    return (
        "allow user namespaces; inside a container start it with --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
    )


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return None


def _elsewhere() -> str:
    if PLATFORM == "win32":
        return "run probatum inside WSL 2 (wsl --install), which is Linux"
    if PLATFORM == MACOS:
        return (
            "run probatum in a Linux container (docker run --security-opt seccomp=unconfined --security-opt "
            "systempaths=unconfined …) or a Linux virtual machine: what macOS itself has (seatbelt) is weak"
        )
    return "run probatum on Linux: a virtual machine or a container does"
