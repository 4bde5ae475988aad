"""What the processes of a worker rely on: names in bytecode, code in huge pages, limits set from outside."""

from __future__ import annotations

import builtins
import dis
import json
import os
import resource
import subprocess
from pathlib import Path
from types import CodeType

import pytest

from probatum.core.records import Limits, Program
from probatum.sandbox import Sandbox
from probatum.sandbox.inside import pages
from probatum.sandbox.inside.judge import Tests as CompiledTests
from probatum.sandbox.inside.keeper import Channels, Keeper
from probatum.sandbox.inside.limits import values

MANY_NAMES = "\n".join(f"v{number} = a{number}" for number in range(400))  # arguments beyond one byte
SOURCES = {
    "a call": "assert add(1, 2) == 3",
    "attributes are no names": "x = thing.attribute.other",
    "a name that is bound": "helper = 1\nassert helper == add(0, 1)",
    "functions within functions": "def check(f):\n    def g():\n        return f(helper(other))\n    return g()\ncheck(add)",
    "global statements": "def f():\n    global made\n    made = 1\n    return made, free\nf()",
    "classes": "class T(Base):\n    x = name_in_class\n    def m(self): return name_in_method\n",
    "comprehensions": "y = [outer(i) for i in items if check(i)]",
    "many names": MANY_NAMES,
    "deletion, loops and handlers": "for i in things:\n    try: do(i)\n    except Fault as e: raise Other from e\ndel i",
    "f-strings and lambdas": "k = lambda q: f'{q}{free_in_lambda!r}'\n",
    "assertions with a message": "assert a(b'\\x00' * 300), message\n",
}


def names_by_dis(code: CodeType) -> tuple[set[str], set[str]]:
    """Global names read and bound, as the standard library's disassembler tells."""
    read, bound = set(), set()
    stack = [(code, True)]
    while stack:
        one, outermost = stack.pop()
        for step in dis.get_instructions(one):
            if step.opname == "LOAD_GLOBAL" or (step.opname == "LOAD_NAME" and outermost):
                read.add(step.argval)
            elif step.opname == "STORE_GLOBAL" or (step.opname == "STORE_NAME" and outermost):
                bound.add(step.argval)
        stack += [(constant, False) for constant in one.co_consts if isinstance(constant, CodeType)]
    return read, bound


@pytest.mark.parametrize("name", SOURCES)
def test_the_free_names_of_tests_are_those_that_the_disassembler_sees(name: str) -> None:
    source = SOURCES[name]
    read, bound = names_by_dis(compile(source, "<tests>", "exec"))

    assert CompiledTests(source).free == sorted(read - bound - set(vars(builtins)))
    assert CompiledTests(source).free


MAPS = """\
400000-41f000 r--p 00000000 fe:00 1 /usr/bin/python3.11
41f000-6c0000 r-xp 0001f000 fe:00 1 /usr/bin/python3.11
6c0000-900000 r--p 002c0000 fe:00 1 /usr/bin/python3.11
900000-a00000 rw-p 00500000 fe:00 1 /usr/bin/python3.11
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
7f0000400000-7f0000800000 r--p 00000000 fe:00 2 /usr/lib/locale/archive file
7f0000800000-7f0000810000 r-xp 00000000 fe:00 3 /usr/lib/small.so
7f0000810000-7f0000c00000 r-xs 00000000 fe:00 4 /shared.so
7f0001000000-7f0001200000 r-xp 00000000 00:00 0 [vdso]
"""


def test_only_whole_huge_pages_of_code_of_one_file_are_moved() -> None:
    assert pages.code_ranges(MAPS) == [(0x400000, 0x800000)]
    assert pages.code_ranges("") == []


def f(code: str, limits: Limits) -> Program:
    return Program(code=code, tests="assert f() == 1\n", entry_points=("f",), limits=limits)


ALLOCATES = "def f():\n    return len(bytearray(300 << 20)) and 1\n"
WRITES = "def f():\n    with open('x', 'wb') as file:\n        file.write(bytes(3 << 20))\n    return 1\n"


def test_limits_rise_and_fall_from_program_to_program(sandbox: Sandbox) -> None:
    small, large = Limits(memory_bytes=200 << 20, file_bytes=1 << 20), Limits(memory_bytes=600 << 20)
    expected = []
    programs = []
    for turn in range(3):
        for limits, allocated, written in ((small, "memory_limit", "exception"), (large, "passed", "passed")):
            programs += [f(f"{ALLOCATES}# {turn}\n", limits), f(f"{WRITES}# {turn}\n", limits)]
            expected += [allocated, written]
    ended = {one.program: one.status for one in sandbox.execute(programs)}
    assert [ended[program.digest] for program in programs] == expected


SOME_LIMITS = {"cpu_seconds": 5.0, "file_bytes": 1 << 20, "processes": 500, "memory_bytes": 1 << 30}


class Sleepers:
    """Starts processes that only wait."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *_: object) -> int:
        self.started.append(subprocess.Popen(["sleep", "100"]))
        return self.started[-1].pid


class ToldJudge:
    """Gives its orders, and notes the memory of the newest process whenever it is told of one."""

    def __init__(self, orders: list[bytes], sleepers: Sleepers) -> None:
        self._orders, self._sleepers = iter(orders), sleepers
        self.memory: list[int] = []

    def recv(self, *_: object) -> bytes:
        return next(self._orders, b"")

    def sendmsg(self, *_: object) -> None:
        self.memory.append(resource.prlimit(self._sleepers.started[-1].pid, resource.RLIMIT_AS)[0])


def test_who_gets_a_program_is_restricted_before_the_judge_knows_of_it(tmp_path: Path) -> None:
    wanted = [values({**SOME_LIMITS, "memory_bytes": size << 20}) for size in (200, 600, 200)]
    sleepers = Sleepers()
    judge = ToldJudge([b"limits " + json.dumps(one).encode() for one in wanted], sleepers)
    settings = {"group_events": None, "work": str(tmp_path), "isolation": "namespaces"}
    channels = Channels(judge, judge, sleepers)  # type: ignore[arg-type]
    try:
        Keeper(channels, os.getpid(), settings, frozenset()).serve()
    finally:
        for one in sleepers.started:
            one.kill()
            one.wait()
    assert judge.memory[1:] == [size << 20 for size in (200, 600, 200)]


RAISES_ITS_LIMITS = """
import resource
def f():
    raised = 0
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC,
                 resource.RLIMIT_NOFILE, resource.RLIMIT_CORE):
        soft, hard = resource.getrlimit(kind)
        assert hard != resource.RLIM_INFINITY
        for value in ((hard + 1, hard + 1), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
            try:
                resource.setrlimit(kind, value)
                raised += 1
            except (ValueError, OSError):
                pass
    return 1 + raised
"""


def test_a_program_cannot_raise_its_limits(sandbox: Sandbox) -> None:
    (ended,) = sandbox.execute([f(RAISES_ITS_LIMITS, Limits())])
    assert ended.status == "passed", ended
