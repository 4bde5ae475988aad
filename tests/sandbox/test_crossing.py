"""How values cross between a program and the tests in split mode: the table of docs/sandbox.md."""

from __future__ import annotations

import _socket
import math
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.records import Execution, Limits, Program
from probatum.sandbox import Sandbox
from probatum.sandbox.inside import frames
from probatum.sandbox.inside.frames import Opaque, Peer, ProtocolViolationError, Wire

LIMITS = Limits(cpu_seconds=2.0, wall_seconds=60, memory_bytes=512 << 20)


def crossed(value: Any) -> Any:
    """`value` after a journey over a real socket."""
    ours, theirs = (Wire(end) for end in _socket.socketpair())
    ours.send(frames.encode(value, Peer()))
    found = frames.decode(theirs.receive(), Peer())
    ours.close()
    theirs.close()
    return found


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary(max_size=20)
    | st.complex_numbers(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.timedeltas()
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9))
    | st.builds(bytearray, st.binary(max_size=9))
)
hashable = scalars.filter(lambda value: not isinstance(value, bytearray))
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.sets(hashable, max_size=4)
        | st.frozensets(hashable, max_size=4)
        | st.builds(deque, st.lists(inner, max_size=3))
    ),
    max_leaves=20,
)


@given(values)
def test_plain_data_come_over_as_they_are(value: object) -> None:
    found = crossed(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        Counter("abca"), OrderedDict([("b", 1), ("a", 2)]), deque([1, 2]), 10**400, -(10**30), -0.0, math.inf,
        [1 << 70] * 9, list(range(100)), "\ud800\0", datetime(2024, 1, 2, 3, tzinfo=UTC), date(2024, 1, 2),
        time(1, 2), timedelta(1, 2, 3), Decimal("1.50"), Fraction(1, 3), Ellipsis, NotImplemented, int,
        ValueError, {(1, 2): {3: {4}}},
    ],
    ids=repr,
)  # fmt: skip
def test_values_of_the_standard_types_come_over(value: object) -> None:
    found = crossed(value)
    assert found == value
    assert type(found) is type(value)
    assert repr(found) == repr(value)


def test_not_a_number_comes_over_and_equals_nothing() -> None:
    found = crossed([math.nan, 1.0])
    assert math.isnan(found[0])
    assert found != [math.nan, 1.0]


def test_a_default_dict_keeps_its_items_and_loses_its_factory() -> None:
    found = crossed(defaultdict(list, {"a": [1]}))
    assert found == {"a": [1]}
    assert found.default_factory is None


class Shout(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Everything:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def test_subclasses_cross_as_the_plain_type() -> None:
    found = crossed([Shout("a"), True])
    assert type(found[0]) is str
    assert found != ["b", True]


def test_an_object_that_equals_everything_equals_nothing() -> None:
    found = crossed(Everything())
    assert isinstance(found, Opaque)
    assert found != 1
    assert not (found == 1)  # noqa: SIM201 - both operators count
    assert found != crossed(Everything())
    assert bool(found) is True


def test_nesting_beyond_the_limit_is_opaque_rather_than_an_error() -> None:
    deep: list[Any] = []
    for _ in range(500):
        deep = [deep]
    found = crossed(deep)
    for _ in range(frames.MAX_DEPTH):
        found = found[0]
    assert "deeply nested" in repr(found[0])


BROKEN = [
    {"x": 1}, {"i": 5}, {"i": "zz"}, {"t": 3}, {"d": [1]}, {"d": [[[], 1]]}, {"s": [[]]}, {"c": ["a"]}, {}, {"a": "x"},
    {"D": "x"}, {"Q": "1/0"}, {"n": ["os", "system"]}, {"n": ["builtins", "eval"]}, {"n": 3},
    {"h": 0}, {"g": 0}, {"h": True}, {"o": 3}, {"L": ["x"]}, {"i": "0x" + "f" * (1 << 21)}, {"t": [], "s": []},
]  # fmt: skip


@pytest.mark.parametrize("data", BROKEN, ids=lambda data: repr(data)[:40])
def test_frames_that_no_encoder_makes_are_violations(data: object) -> None:
    with pytest.raises(ProtocolViolationError):
        frames.decode(data, Peer())


# through a real sandbox


def run(sandbox: Sandbox, code: str, tests: str, *names: str) -> Execution:
    (execution,) = sandbox.execute(
        [Program(code=code, tests=tests, entry_points=names or ("f",), limits=LIMITS)]
    )
    return execution


PASSING = {
    "a list that was sorted in place": (
        "def f(a):\n    a.sort()\n",
        "x = [3, 1, 2]\ny = x\nassert f(x) is None\nassert x == [1, 2, 3] and y is x",
    ),
    "a nested list that was changed": (
        "def f(a):\n    a[0].append(9)\n    a.append({1})\n",
        "inner = [1]\nx = [inner]\nf(x)\nassert x == [[1, 9], {1}]\nassert x[0] is inner and inner == [1, 9]",
    ),
    "a dict and a set that were changed": (
        "def f(d, s):\n    d['a'] = 2\n    del d['b']\n    s.clear()\n",
        "d, s = {'b': 1}, {1}\nf(d, s)\nassert d == {'a': 2} and s == set()",
    ),
    "an argument that was only read": (
        "def f(a):\n    return sum(a)\n",
        "x = [1, 2]\nassert f(x) == 3 and x == [1, 2]",
    ),
    "keyword arguments": (
        "def f(a, *, b=1, **rest):\n    return a, b, rest\n",
        "assert f(1, b=2, c=3) == (1, 2, {'c': 3})",
    ),
    "a function of the tests as argument": (
        "def f(g, xs):\n    return [g(x) for x in xs]\n",
        "k = 10\nassert f(lambda x: x * k, [1, 2]) == [10, 20]",
    ),
    "a built-in function as argument": (
        "def f(g, xs):\n    return g(xs)\n",
        "import math\nassert f(len, [1, 2]) == 2\nassert f(math.sqrt, 4.0) == 2.0\nassert f(int, '3') == 3",
    ),
    "an exception of a function of the tests": (
        "def f(g):\n    try:\n        g()\n    except KeyError as e:\n        return str(e)\n",
        "def g():\n    raise KeyError('gone')\nassert 'gone' in f(g)",
    ),
    "a function that is returned": (
        "def f(n):\n    def add(x):\n        return x + n\n    return add\n",
        "g = f(3)\nassert callable(g)\nassert g(4) == 7 and f(1)(1) == 2",
    ),
    "a function of the tests that calls back": (
        "def f(g, n):\n    return 0 if n == 0 else g(n)\n",
        "assert f(lambda n: f(None, 0) + n, 5) == 5",
    ),
    "a generator": (
        "def f(n):\n    for i in range(n):\n        yield i\n",
        "assert list(f(200)) == list(range(200))\ng = f(3)\nassert next(g) == 0 and next(g) == 1",
    ),
    "an endless generator": (
        "import itertools\ndef f():\n    return itertools.count()\n",
        "import itertools\nassert list(itertools.islice(f(), 100)) == list(range(100))",
    ),
    "map, zip and reversed": (
        "def f(xs):\n    return map(str, xs)\n",
        "assert list(f([1, 2])) == ['1', '2']",
    ),
    "views of a dict": (
        "def f(d):\n    return d.keys()\n",
        "assert f({'a': 1}) == {'a'}\nassert sorted(f({'b': 1, 'a': 2})) == ['a', 'b']",
    ),
    "an exception that the tests expect": (
        "class Bad(ValueError):\n    pass\ndef f(x):\n    raise Bad('no')\n",
        "try:\n    f(1)\n    assert False\nexcept ValueError as e:\n    assert str(e) == 'no'",
    ),
    "a value rather than a function": ("f = [1, 2]\n", "assert f == [1, 2]\nassert g() == 1"),
    "a name that the tests take without listing it": (
        "import math\ndef helper(x):\n    return x + 1\ndef f(x):\n    return helper(x)\n",
        "assert f(1) == helper(1)\nassert math.floor(1.5) == 1",
    ),
    "a match of a regular expression": (
        "import re\ndef f(s):\n    return re.match('a', s)\n",
        "assert f('a')\nassert not f('b')",
    ),
    "state between calls": (
        "n = 0\ndef f():\n    global n\n    n += 1\n    return n\n",
        "assert [f(), f()] == [1, 2]",
    ),
    "bytes and big integers": (
        "def f(b):\n    return int.from_bytes(b, 'big') ** 40\n",
        "assert f(b'\\xff' * 20) == (256 ** 20 - 1) ** 40",
    ),
    "a low recursion limit": (
        "import sys\nsys.setrecursionlimit(60)\ndef f():\n    return [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n",
        "assert f() == [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]",
    ),
    "a pool of processes": (
        (
            "import multiprocessing\ndef square(x):\n    return x * x\n"
            "def f(xs):\n    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
            "        return sum(pool.map(square, xs))\n"
        ),
        "assert f([1, 2, 3]) == 14",
    ),
    "threads": (
        (
            "from concurrent.futures import ThreadPoolExecutor\n"
            "def f(xs):\n    with ThreadPoolExecutor(4) as pool:\n        return list(pool.map(abs, xs))\n"
        ),
        "assert f([-1, 2]) == [1, 2]",
    ),
    "files in the work directory": (
        (
            "import tempfile\ndef f(s):\n    with tempfile.TemporaryFile('w+') as t:\n"
            "        t.write(s)\n        t.seek(0)\n        return t.read()\n"
        ),
        "assert f('abc') == 'abc'",
    ),
    "asyncio": (
        (
            "import asyncio\nasync def g(x):\n    await asyncio.sleep(0)\n    return x\n"
            "def f(x):\n    return asyncio.run(g(x))\n"
        ),
        "assert f(3) == 3",
    ),
    "dataclasses and enums inside the program": (
        (
            "import dataclasses, enum\n@dataclasses.dataclass\nclass P:\n    x: int\n"
            "class C(enum.IntEnum):\n    A = 1\ndef f():\n    return P(C.A).x\n"
        ),
        "assert f() == 1",
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_it_crosses(sandbox: Sandbox, name: str) -> None:
    code, tests = PASSING[name]
    names = ("f", "g") if "g()" in tests and "def g" not in tests else ("f",)
    if names == ("f", "g"):
        code += "def g():\n    return 1\n"
    execution = run(sandbox, code, tests, *names)
    assert execution.status == "passed", execution


FAILING = {
    "an instance of a class of the program": (
        "class P:\n    def __eq__(self, o): return True\ndef f():\n    return P()\n",
        "assert f() == 1",
        "assertion_failed",
    ),
    "a wrong change of an argument": (
        "def f(a):\n    a.reverse()\n",
        "x = [1, 2]\nf(x)\nassert x == [1, 2]",
        "assertion_failed",
    ),
    "an attribute of an instance": (
        "class P:\n    x = 1\ndef f():\n    return P()\n",
        "assert f().x == 1",
        "exception",
    ),
    "a generator that is compared with a list": (
        "def f():\n    yield 1\n",
        "assert f() == [1]",
        "assertion_failed",
    ),
    "a string that is too large": ("def f():\n    return 'x' * (64 << 20)\n", "assert f()", "memory_limit"),
    "an exception among the items of a generator": (
        "def f():\n    yield 1\n    raise KeyError('x')\n",
        "assert list(f()) == [1]",
        "exception",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_it_does_not_cross(sandbox: Sandbox, name: str) -> None:
    code, tests, status = FAILING[name]
    assert run(sandbox, code, tests).status == status


def test_tests_that_cannot_be_compiled_are_our_failure_and_not_the_programs(sandbox: Sandbox) -> None:
    execution = run(sandbox, "def f(): return 1\n", "assert f( == 1")
    assert (execution.status, execution.detail) == ("sandbox_error", "tests")
