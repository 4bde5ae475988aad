"""Whole programs, which read stdin and write stdout: the tests start them and compare what they wrote."""

from __future__ import annotations

import pytest

from probatum.core.records import Execution, Limits, Program
from probatum.sandbox import Sandbox

LIMITS = Limits(cpu_seconds=1.0, wall_seconds=30, memory_bytes=256 << 20)
ADD = "a, b = map(int, input().split())\nprint(a + b)\n"
TESTS = "assert run_program('1 2\\n').stdout == '3\\n'\nassert run_program('5 6').stdout.split() == ['11']\n"


def run(sandbox: Sandbox, code: str, tests: str = TESTS) -> Execution:
    (execution,) = sandbox.execute([Program(code=code, tests=tests, limits=LIMITS)])
    return execution


CASES = {
    "a right program": (ADD, TESTS, "passed"),
    "a wrong program": ("print(int(input().split()[0]))", TESTS, "assertion_failed"),
    "an error": ("int('x')", TESTS, "exception"),
    "no program": ("print(", TESTS, "syntax_error"),
    "an endless program": ("while True: pass", TESTS, "timeout"),
    "a program that ends by exit": (f"import sys\n{ADD}sys.exit(0)\n", TESTS, "passed"),
    "an exit code": (
        "import sys\nsys.exit(4)",
        "assert run_program().exit_code == 4",
        "passed",
    ),
    "a crash": ("import ctypes\nctypes.string_at(1)", TESTS, "killed_by_signal"),
    "a main guard": (f"if __name__ == '__main__':\n    {ADD.splitlines()[0]}\n    print(a + b)\n", TESTS, "passed"),
    "stdin as bytes and as lines": (
        "import sys\nfirst = sys.stdin.buffer.readline()\nprint(first, sys.stdin.read())\n",
        "assert run_program('a\\nb').stdout == \"b'a\\\\n' b\\n\"",
        "passed",
    ),
    "file descriptor 0": (
        "import os\nprint(os.read(0, 9).decode(), open(0).read())\n",
        "assert run_program('abc').stdout == 'abc \\n'",
        "passed",
    ),
    "arguments and stderr": (
        "import sys\nprint(sys.argv[1:], file=sys.stderr)\n",
        "assert run_program(arguments=['x', 'y']).stderr == \"['x', 'y']\\n\"",
        "passed",
    ),
    "a large input": (
        "import sys\nprint(len(sys.stdin.read()))\n",
        "assert run_program('x' * 3_000_000).stdout == '3000000\\n'",
        "passed",
    ),
    "a flood": ("while True: print('x' * 1000)", TESTS, "exception"),
    "a flood that goes on": (
        "import os\nfor _ in range(3000):\n    try: os.write(1, b'x' * 1000)\n    except OSError: pass\n",
        TESTS,
        "output_limit",
    ),
    "no run at all": (ADD, "assert True", "no_calls"),
    "recursion and threads": (
        ("import sys, threading\nsys.setrecursionlimit(10**5)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
        "threading.stack_size(64 << 20)\n"
        "t = threading.Thread(target=lambda: print(f(9000)))\nt.start()\nt.join()\n"),
        "assert run_program().stdout == '9000\\n'",
        "passed",
    ),
    "state does not last from run to run": (
        "import os\nprint(os.path.exists('x'))\nopen('x', 'w').close()\n",
        "assert [run_program().stdout for _ in range(3)] == ['False\\n'] * 3",
        "passed",
    ),
    "more output in all than one run may write": (
        "print('x' * 700_000)\n",
        "assert [len(run_program().stdout) for _ in range(3)] == [700_001] * 3",
        "passed",
    ),
    "an integer of more digits than the interpreter prints by itself": (
        "print(10**5000 + int('7' * 5000))\n",
        "assert run_program().stdout == '1' + '7' * 5000 + '\\n'",
        "passed",
    ),
    "a frame on the connection": (
        "import os\nos.write(3, b'\\x02\\0\\0\\0{}')\n",
        "assert run_program().exit_code == 0",
        "protocol_violation",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_whole_program_ends_with_its_status(sandbox: Sandbox, name: str) -> None:
    code, tests, status = CASES[name]
    execution = run(sandbox, code, tests)
    assert execution.status == status, execution
    assert execution.verdict_trust == "split"
