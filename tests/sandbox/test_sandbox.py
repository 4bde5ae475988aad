"""The sandbox as the runner sees it: statuses, streams, and nothing left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from probatum.core.errors import SandboxError
from probatum.core.records import Execution, Limits, Program
from probatum.sandbox import Sandbox
from tests.sandbox.problems import humaneval

LIMITS = Limits(cpu_seconds=1.0, wall_seconds=30, memory_bytes=256 << 20)
TESTS = "assert f(1, 2) == 3\n"


def run(sandbox: Sandbox, code: str, tests: str = TESTS, mode: str = "split") -> Execution:
    (execution,) = sandbox.execute(
        [Program(code=code, tests=tests, entry_points=("f",), mode=mode, limits=LIMITS)]
    )
    return execution


STATUSES = [
    ("passed", None, "def f(a, b):\n    return a + b\n"),
    ("assertion_failed", "AssertionError", "def f(a, b):\n    return a - b\n"),
    ("assertion_failed", "AssertionError", "def f(a, b):\n    assert a > b\n"),
    ("exception", "ZeroDivisionError", "def f(a, b):\n    return a / 0\n"),
    ("exception", "Odd", "class Odd(ValueError): pass\ndef f(a, b):\n    raise Odd('x')\n"),
    ("exception", "NameError", "def g(a, b):\n    return a + b\n"),
    ("exception", "RecursionError", "def f(a, b):\n    return f(a, b)\n"),
    ("syntax_error", "SyntaxError", "def f(a, b:\n"),
    ("syntax_error", "IndentationError", "def f(a, b):\nreturn 1\n"),
    ("timeout", "cpu", "def f(a, b):\n    while True: pass\n"),
    ("timeout", "idle", "import time\ndef f(a, b):\n    time.sleep(1000)\n"),
    ("timeout", "cpu", "while True: pass\n"),
    ("memory_limit", "MemoryError", "def f(a, b):\n    return len(bytearray(1 << 40))\n"),
    ("output_limit", None, "import os\ndef f(a, b):\n    os.write(1, b'x' * (2 << 20))\n    return 3\n"),
    ("exit_called", "0", "import sys\ndef f(a, b):\n    sys.exit()\n"),
    ("exit_called", "7", "import sys\ndef f(a, b):\n    sys.exit(7)\n"),
    ("exit_called", "3", "import os\ndef f(a, b):\n    os._exit(3)\n"),
    ("killed_by_signal", "11", "import ctypes\ndef f(a, b):\n    ctypes.string_at(1)\n"),
]


@pytest.mark.parametrize("mode", ["split", "joint"])
@pytest.mark.parametrize(("status", "detail", "code"), STATUSES)
def test_an_execution_ends_with_its_status(
    sandbox: Sandbox, mode: str, status: str, detail: str | None, code: str
) -> None:
    execution = run(sandbox, code, mode=mode)
    assert (execution.status, execution.detail) == (status, detail), execution
    assert execution.verdict_trust == ("split" if mode == "split" else "in_process")
    assert execution.isolation == sandbox.isolation
    assert execution.cpu_seconds is not None
    assert execution.cpu_seconds > 0
    assert execution.peak_rss_bytes is not None
    assert execution.peak_rss_bytes > 1 << 20


def test_tests_that_call_nothing_do_not_pass(sandbox: Sandbox) -> None:
    assert run(sandbox, "def f(a, b): return 3\n", "assert True\n").status == "no_calls"


@pytest.mark.parametrize("mode", ["split", "joint"])
def test_what_a_program_printed_is_kept(sandbox: Sandbox, mode: str) -> None:
    code = (
        "import sys\ndef f(a, b):\n    print('caf\\u00e9')\n    print('no', file=sys.stderr)\n    return 0\n"
    )
    execution = run(sandbox, code, mode=mode)
    assert (execution.stdout, execution.stderr) == ("caf\u00e9\n", "no\n")
    assert execution.status == "assertion_failed"


@pytest.mark.parametrize("mode", ["split", "joint"])
def test_all_canonical_solutions_of_humaneval_pass_the_official_tests(sandbox: Sandbox, mode: str) -> None:
    programs = humaneval(mode)
    names = {program.digest: program.entry_points[0] for program in programs}
    ended = list(sandbox.execute(programs))
    assert [names[one.program] for one in ended if one.status != "passed"] == []
    assert len(ended) == 164


def test_each_program_is_run_once_and_named_by_its_digest() -> None:
    programs = [
        Program(
            code=f"def f(a, b): return a + b + {n % 2}\n", tests=TESTS, entry_points=("f",), limits=LIMITS
        )
        for n in range(40)
    ]
    with Sandbox(workers=3) as sandbox:
        ended = list(sandbox.execute(programs))
    assert Counter(one.program for one in ended) == Counter(program.digest for program in programs)
    assert Counter(one.status for one in ended) == {"passed": 20, "assertion_failed": 20}


def test_programs_are_pulled_as_there_is_room(sandbox: Sandbox) -> None:
    pulled = []

    def endless() -> Iterator[Program]:
        for number in range(10**9):
            pulled.append(number)
            yield Program(
                code=f"def f(a, b): return 3 or {number}\n", tests=TESTS, entry_points=("f",), limits=LIMITS
            )

    executions = sandbox.execute(endless())
    for _ in range(5):
        assert next(executions).status == "passed"
    executions.close()
    assert len(pulled) <= 5 + 3 * sandbox.workers + 1
    assert run(sandbox, "def f(a, b): return 3\n").status == "passed"


def test_a_source_that_waits_does_not_hold_back_executions(sandbox: Sandbox) -> None:
    seen = threading.Event()

    def waiting() -> Iterator[Program]:
        yield Program(code="def f(a, b): return 3\n", tests=TESTS, entry_points=("f",), limits=LIMITS)
        assert seen.wait(60)

    executions = sandbox.execute(waiting())
    assert next(executions).status == "passed"
    seen.set()
    assert list(executions) == []


def test_an_error_of_the_source_reaches_who_iterates(sandbox: Sandbox) -> None:
    def broken() -> Iterator[Program]:
        yield Program(code="def f(a, b): return 3\n", tests=TESTS, entry_points=("f",), limits=LIMITS)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(sandbox.execute(broken()))


@pytest.mark.parametrize(
    ("change", "message"), [({"mode": "both"}, "mode 'both'"), ({"language": "cobol"}, "language 'cobol'")]
)
def test_a_program_that_cannot_be_run_at_all_is_refused(
    sandbox: Sandbox, change: dict[str, str], message: str
) -> None:
    program = Program(code="", tests="", **change)  # type: ignore[arg-type]
    with pytest.raises(SandboxError, match=message):
        list(sandbox.execute([program]))


def test_importing_the_sandbox_starts_nothing_and_loads_no_third_party_package() -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nimport probatum.sandbox, threading\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(loaded - set(sys.stdlib_module_names)), threading.active_count())\n"
    )
    shown = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "['probatum'] 1"
