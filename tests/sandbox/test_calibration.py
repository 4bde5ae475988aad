"""CPU limits from reference solutions."""

from __future__ import annotations

from pathlib import Path

import pytest

from probatum.core.errors import SandboxError
from probatum.core.records import Execution, ExecutionStatus, Limits, Program
from probatum.sandbox import Sandbox, calibrated_cpu_seconds, reference_limits

LIMITS = Limits(cpu_seconds=5, wall_seconds=60)


@pytest.mark.parametrize(("cpu", "limit"), [(0.0, 0.5), (0.004, 0.5), (0.05, 0.5), (0.051, 1.0), (2.0, 20.0)])
def test_the_limit_is_ten_times_the_reference_and_at_least_half_a_second(cpu: float, limit: float) -> None:
    reference = Execution(program="x", status=ExecutionStatus.PASSED, cpu_seconds=cpu)
    assert calibrated_cpu_seconds(reference) == limit


def test_a_reference_that_fails_gives_no_limit() -> None:
    reference = Execution(program="x", status=ExecutionStatus.EXCEPTION, detail="KeyError", cpu_seconds=1.0)
    with pytest.raises(SandboxError, match="'exception'"):
        calibrated_cpu_seconds(reference)


def reference(code: str) -> Program:
    return Program(code=code, tests="assert f() == 1", entry_points=("f",), limits=LIMITS)


def test_what_was_measured_is_not_measured_again(sandbox: Sandbox, tmp_path: Path) -> None:
    cache = tmp_path / "deep" / "cache.json"
    first, second = reference("def f(): return 1"), reference("def f(): return 2 - 1")
    limits = reference_limits(sandbox, [first, second], cache)
    assert limits == {first.digest: 0.5, second.digest: 0.5}

    class Refusing:
        environment = sandbox.environment

        @staticmethod
        def execute(programs: object) -> list[Execution]:
            assert list(programs) == []  # type: ignore[call-overload]
            return []

    assert reference_limits(Refusing(), [second, first], cache) == limits  # type: ignore[arg-type]
    cache.write_text("broken")
    assert reference_limits(sandbox, [first], cache) == {first.digest: 0.5}


def test_work_raises_the_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    busy = "import time\ndef f():\n    end = time.process_time() + 0.3\n    while time.process_time() < end: pass\n"
    program = reference(f"{busy}    return 1\n")
    assert reference_limits(sandbox, [program], tmp_path / "c.json")[program.digest] >= 3.0
