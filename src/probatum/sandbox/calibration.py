"""CPU limits from the reference solutions, measured on this machine by the same executor."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from typing import Protocol as Interface

from probatum.core.canonical import digest_json
from probatum.core.errors import SandboxError
from probatum.core.records import Execution, ExecutionStatus, Program

__all__ = ["calibrated_cpu_seconds", "reference_limits"]

LEAST: Final = 0.5  # seconds: below it the interpreter's own start counts for too much
FACTOR: Final = 10.0  # times the reference solution
STEP: Final = 0.5  # seconds; limits are rounded up to it, so that small differences change no program


class _Sandbox(Interface):
    """What is needed of a sandbox."""

    @property
    def environment(self) -> Mapping[str, object]: ...

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]: ...


def calibrated_cpu_seconds(reference: Execution) -> float:
    """max(0.5 s, 10 × CPU time of the reference solution), rounded up to half a second.

    Raises:
        SandboxError: the reference solution did not pass.
    """
    if reference.status is not ExecutionStatus.PASSED or reference.cpu_seconds is None:
        reason = reference.message or reference.detail or "no reason given"
        raise SandboxError(
            f"a reference solution ended with {reference.status.value!r} ({reason}): "
            "mend the item, or give its limit by hand"
        )
    return max(LEAST, math.ceil(FACTOR * reference.cpu_seconds / STEP) * STEP)


def reference_limits(
    sandbox: _Sandbox, references: Iterable[Program], stored: Path | None = None
) -> dict[str, float]:
    """Digest of each reference program → CPU seconds that other solutions of its problem may use.

    Programs that do not pass are left out: they say nothing about how long a solution takes. What was
    measured before by the same executor on the same kind of processor is read from `stored`, a JSON file
    (default: `reference-cpu.json` in the user's cache directory), so that the limits of a problem stay
    the same from run to run.
    """
    path = stored or _default_cache()
    environment = digest_json([dict(sandbox.environment), _processor()])
    known = _read(path)
    wanted = {program.digest: program for program in references}
    missing = {digest: one for digest, one in wanted.items() if f"{environment}:{digest}" not in known}
    measured = {
        f"{environment}:{execution.program}": calibrated_cpu_seconds(execution)
        for execution in (sandbox.execute(missing.values()) if missing else ())
        if execution.status is ExecutionStatus.PASSED and execution.cpu_seconds is not None
    }
    if measured:
        known = {**_read(path), **measured}  # another run may have written meanwhile
        _write(path, known)
    return {
        digest: seconds for digest in wanted if (seconds := known.get(f"{environment}:{digest}")) is not None
    }


@cache
def _processor() -> str:
    """The kind of this machine's processor: a home directory may be shared by machines of several kinds."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(("model name", "CPU part")):
                return line.partition(":")[2].strip()
    return platform.processor()


def _default_cache() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "probatum" / "reference-cpu.json"


def _read(path: Path) -> dict[str, float]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a cache that is missing or broken is made again
    if not isinstance(found, dict):
        return {}
    return {str(key): float(value) for key, value in found.items() if isinstance(value, int | float)}


def _write(path: Path, known: Mapping[str, float]) -> None:
    with contextlib.suppress(OSError):  # without a cache all is measured again
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        beside.write_text(json.dumps(dict(sorted(known.items()))), encoding="utf-8")
        beside.replace(path)
