"""CPU limits from the reference solutions, measured on this machine by the same executor."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
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
    sandbox: _Sandbox, references: Iterable[Program], cache: Path | None = None
) -> dict[str, float]:
    """Digest of each reference program → CPU seconds that other solutions of its problem may use.

    What was measured before in the same environment is read from `cache`, a JSON file of this machine
    (default: `reference-cpu.json` in the user's cache directory), so that the limits of a problem stay
    the same from run to run.

    Raises:
        SandboxError: a reference solution did not pass.
    """
    path = cache or _default_cache()
    environment = digest_json(dict(sandbox.environment))
    known = _read(path)
    wanted = {program.digest: program for program in references}
    missing = {digest: one for digest, one in wanted.items() if f"{environment}:{digest}" not in known}
    for execution in sandbox.execute(missing.values()):
        known[f"{environment}:{execution.program}"] = calibrated_cpu_seconds(execution)
    if missing:
        _write(path, known)
    return {digest: known[f"{environment}:{digest}"] for digest in wanted}


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
