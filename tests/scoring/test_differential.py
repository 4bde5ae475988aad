"""Tests that hold a function against a reference: what counts as right, and what the tests say."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.scoring import oracle
from probatum.scoring.differential import differential_tests, encoded, published

NAN, INF = math.nan, math.inf

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.tuples(st.integers()), inner, max_size=4)
        | st.sets(st.integers() | st.tuples(st.text()), max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(st.lists(plain, max_size=3), max_size=3))
def test_arguments_are_written_down_and_read_back(inputs: list[list[Any]]) -> None:
    found = oracle.decoded(encoded(inputs))
    assert found == inputs
    assert repr(found) == repr(inputs) or "{" in repr(inputs)  # types too; sets may print in another order


def test_integers_of_any_length_are_written_down() -> None:
    assert oracle.decoded(encoded([[10**5000, -(10**5000)]])) == [[10**5000, -(10**5000)]]


def test_infinities_are_written_down_and_other_things_are_refused() -> None:
    assert oracle.decoded(encoded([[INF, -INF]])) == [[INF, -INF]]
    with pytest.raises(TypeError, match="cannot be an argument of a test"):
        encoded([[object()]])


EQUAL = [
    # found, expected, tolerance, right
    (1, 1, 0, True),
    (1.0, 1, 0, True),
    (True, 1, 0, True),
    ("a", "a", 0, True),
    ([1, 2], (1, 2), 0, False),
    ({1, 2}, {2, 1}, 0, True),
    (1 + 1e-7, 1.0, 0, True),  # floats are compared to 1e-6 and 1e-7 of the value
    (1 + 1e-5, 1.0, 0, False),
    (1e12 + 1e4, 1e12, 0, True),
    (1e12 + 1e6, 1e12, 0, False),
    (1, 1.0000001, 0, False),  # close, and no float
    ([1.0, 2.0000001], [1.0, 2.0], 0, True),
    ((1.0, 2.0000001), [1.0, 2.0], 0, False),
    ([1.0], [1.0, 2.0], 0, False),
    ([1.0, 2.0000001], [1.0, 2], 0, False),  # not floats alone: exact
    ([[2.0000001]], [[2.0]], 0, False),
    ([[2.0000001]], [[2.0]], 1e-6, True),
    ([2.0000001, "a"], [2.0, "a"], 1e-6, True),
    ([2.0000001, "a"], [2.0, "b"], 1e-6, False),
    (10.05, 10.0, 0.1, True),
    (NAN, NAN, 0, True),
    ([NAN, 1.0], [NAN, 1.0], 0, True),
    (NAN, 1.0, 0, False),
    (1.0, NAN, 0, False),
    (INF, INF, 0, True),
    (1e308, INF, 0, False),
    (INF, 1e308, 0, False),
    (-INF, INF, 0.1, False),
    (10**400, 10**400 + 1, 0.1, False),
    (None, None, 0, True),
    (None, 0.0, 0, False),
]


@pytest.mark.parametrize(("found", "expected", "tolerance", "right"), EQUAL)
def test_when_a_result_is_the_expected_one(found: Any, expected: Any, tolerance: float, right: bool) -> None:
    assert oracle.equal(found, expected, tolerance) is right


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_tolerance_is_that_of_numpy(found: float, expected: float) -> None:
    import numpy as np

    with np.errstate(all="ignore"):
        wanted = bool(np.allclose(found, expected, rtol=1e-7, atol=1e-6))
    assert oracle.equal(found, expected, 0) == wanted


SETS = [
    ([1, 2, 2], (2, 1), True),
    ([1], [1, 2], False),
    ([[1]], [[1]], False),
    (None, [], False),
    ("ab", ["b", "a"], True),
]


@pytest.mark.parametrize(("found", "expected", "right"), SETS)
def test_sets_are_compared_in_any_order(found: Any, expected: Any, right: bool) -> None:
    assert oracle.equal_sets(found, expected) is right


SOMETHING = [(object(), object(), True), (None, None, True), (None, 1, False), (1, None, False), (True, 1, True),
             (False, 1, False), (False, None, True), (True, None, False)]  # fmt: skip


@pytest.mark.parametrize(("found", "expected", "right"), SOMETHING)
def test_a_result_where_the_reference_has_one(found: Any, expected: Any, right: bool) -> None:
    assert oracle.both_something(found, expected) is right


ROOTS = [
    (-0.5, True),
    (-0.50001, True),
    (-0.6, False),
    ("x", False),
    (None, False),
    (1e300, False),
    (NAN, False),
]


@pytest.mark.parametrize(("found", "right"), ROOTS)
def test_any_root_is_right(found: Any, right: bool) -> None:
    assert oracle.root(found, [1, 2], 1e-4) is right


def verdict(code: str, reference: str, inputs: dict[str, list[list[Any]]], **more: Any) -> str:
    """Runs the tests here, on code of our own: how they end."""
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    tests = differential_tests("f", more.pop("references", [reference]), inputs, **more)
    try:
        exec(compile(tests, "tests", "exec", dont_inherit=True), {"f": namespace["f"]})
    except Exception as error:  # noqa: BLE001 - the end of the tests, whatever it is
        return f"{type(error).__name__}: {error}"
    return "passed"


DOUBLE = "def f(x):\n    return x * 2\n"


def test_a_function_that_agrees_passes_and_one_that_does_not_is_told_where() -> None:
    inputs = {"base": [[1], [2]], "plus": [[3], ["a"]]}
    assert verdict("def f(x):\n    return x + x\n", DOUBLE, inputs) == "passed"
    told = verdict("def f(x):\n    return x * 2 if x != 3 else 7\n", DOUBLE, inputs)
    assert told == "AssertionError: plus input 1 of 2: (3) gives 7, and 6 is right"


def test_neither_side_sees_what_the_other_does_to_its_arguments() -> None:
    spoils = "def f(x):\n    found = sum(x)\n    x.clear()\n    return found\n"
    inputs = {"base": [[[1, 2]]]}
    assert verdict(spoils, "def f(x):\n    return sum(x)\n", inputs) == "passed"
    assert verdict("def f(x):\n    return sum(x)\n", spoils, inputs) == "passed"
    told = verdict("def f(x):\n    x.clear()\n", spoils, inputs)
    assert told == "AssertionError: base input 1 of 1: ([1, 2]) gives None, and 3 is right"


def test_a_tolerance_does_not_stick_to_the_inputs_after_it() -> None:
    reference = "def f(x):\n    return x\n"
    code = "def f(x):\n    return [[1.0000001]] if x == [[1.0]] else x\n"
    assert verdict(code, reference, {"base": [[1.5], [[[1.0]]]]}).startswith(
        "AssertionError: base input 2 of 2"
    )


def test_a_second_reading_is_right_on_each_input() -> None:
    readings = [DOUBLE, "def f(x):\n    return -x\n"]
    assert (
        verdict(
            "def f(x):\n    return x * 2 if x > 1 else -x\n", "", {"base": [[1], [2]]}, references=readings
        )
        == "passed"
    )
    assert verdict("def f(x):\n    return x\n", "", {"base": [[1]]}, references=readings).startswith(
        "AssertionError"
    )


FAILS = "def f(x):\n    assert x > 0, 'invalid inputs'\n    return x\n"


def test_inputs_that_a_contract_refuses_are_no_inputs() -> None:
    same = "def f(x):\n    return x if x > 0 else 1 / 0\n"
    inputs = {"base": [[-1], [1]]}
    assert verdict(same, FAILS, inputs, contract=True) == "passed"
    told = verdict(same, FAILS, inputs)
    assert (
        told
        == "ReferenceFailedError: the reference fails on base input 1 of 2: AssertionError: invalid inputs"
    )
    assert verdict(same, "def g(): pass", inputs).startswith(
        "ReferenceFailedError: the reference cannot be used: KeyError"
    )


def test_a_function_may_have_the_name_of_one_of_the_oracle() -> None:
    code = "def compare(x):\n    return x\n"
    tests = differential_tests("compare", [code], {"base": [[1]]})
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    calls: list[int] = []

    def counted(x: int) -> int:
        calls.append(x)
        return int(namespace["compare"](x))

    exec(compile(tests, "tests", "exec", dont_inherit=True), {"compare": counted})
    assert calls == [1]


HUMANEVAL_FORM = """
import numpy as np

def is_floats(x): ...

def assertion(out, exp, atol): ...

def check(candidate):
    inputs = [[[1.0, -inf], 'a'], [nan, {(1, 2)}]]
    results = [True, False]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0.0001)
"""
CROSS_FORM = """
def ref_func(n):
    return n

inputs = [[(3, 4)], [set()]]
for i, inp in enumerate(inputs):
    assertion(larg_nnum(*inp), ref_func(*inp), 0)
"""
ROOT_FORM = """
def check(candidate):
    inputs = [[[1, 2]]]
    results = [0.5]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assert _poly(*candidate(*inp), inp) <= 0.0001
"""


def test_published_programs_are_read_and_not_run() -> None:
    found = published(HUMANEVAL_FORM)
    assert found.tolerance == 1e-4
    assert repr(found.inputs) == "([[1.0, -inf], 'a'], [nan, {(1, 2)}])"
    assert published(CROSS_FORM).inputs == ([(3, 4)], [set()])
    assert published(ROOT_FORM).tolerance is None
    assert published(ROOT_FORM).inputs == ([[1, 2]],)
    for text in ("inputs = [[1]]", "f(*x)", "inputs = [print(1)]\nf(*inputs)"):
        with pytest.raises(ValueError, match=r"no list of inputs|malformed node"):
            published(text)
