"""Compares a function with a reference on many inputs. Runs in the judge: its source is part of the tests.

`scoring.differential` writes the tests. The reference is the benchmark's own, and trusted as its tests
are; the function that is judged is only called here, and runs elsewhere. Standard library only.
"""

from __future__ import annotations

import json
import math
import reprlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

LONG = 0.05  # CPU seconds of a reference after which its result is kept
FEW = 4  # items of a tuple that is kept
KEPT = 256  # results that are kept

RELATIVE = 1e-7  # of the expected value, added to the absolute tolerance
FLOATS = 1e-6  # absolute tolerance where floats are expected and the problem declares none


class ReferenceFailedError(Exception):
    """The reference raised: the benchmark's fault, or this machine's, and never the candidate's."""

    fault_of_tests = True


def decoded(text: str) -> Any:
    """The values that `differential.encoded` wrote."""
    return json.loads(text, object_hook=_untagged)


def _untagged(tagged: dict[str, Any]) -> Any:
    ((tag, body),) = tagged.items()
    if tag == "tuple":
        return tuple(body)
    if tag == "set":
        return set(body)
    if tag == "complex":
        return complex(*body)
    if tag == "int":
        return int(body, 16)
    return {key: value for key, value in body}  # noqa: C416 - pairs are lists, and keys may be tuples


def floats(value: Any) -> bool:
    """Whether a value is a float, or a list or a tuple of floats and nothing else."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(each, float) for each in value)
    return isinstance(value, float)


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether two values of one type agree up to a tolerance, item by item; NaN agrees with NaN."""
    if isinstance(expected, (list, tuple)):
        return (
            type(found) is type(expected)
            and len(found) == len(expected)
            and all(close(one, other, tolerance) for one, other in zip(found, expected, strict=True))
        )
    if not isinstance(expected, (int, float)) or not isinstance(found, (int, float)):
        return bool(found == expected)
    if found == expected or (found != found and expected != expected):  # noqa: PLR0124 - NaN
        return True
    try:
        return abs(found - expected) <= tolerance + RELATIVE * abs(expected) and math.isfinite(expected)
    except OverflowError:  # an integer beyond the range of a double
        return False


def equal(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether a result is the expected one: equal as Python has it, or of its type and close to it.

    `tolerance` is that of the problem. Where it is 0 and floats are expected, it is 1e-6 for this input,
    whatever was expected before.
    """
    if found == expected:
        return True
    if type(found) is not type(expected):
        return False
    allowed = tolerance or (FLOATS if floats(expected) else 0.0)
    return allowed != 0 and close(found, expected, allowed)


def equal_sets(found: Any, expected: Any) -> bool:
    """Whether both hold the same things, in any order and number."""
    try:
        return set(found) == set(expected)
    except TypeError:
        return False


def both_something(found: Any, expected: Any) -> bool:
    """Whether there is a result where the reference has one; `True` and `False` say so, too."""
    return bool(found is True if isinstance(found, bool) else found is not None) == (expected is not None)


def root(found: Any, coefficients: Sequence[float], tolerance: float) -> bool:
    """Whether `found` is a root of the polynomial (HumanEval/32): any root is right."""
    try:
        value = sum(coefficient * math.pow(found, power) for power, coefficient in enumerate(coefficients))
    except (TypeError, ValueError, OverflowError):
        return False
    return abs(value) <= tolerance


def agrees(rule: str, found: Any, expected: Any, tolerance: float, arguments: Sequence[Any]) -> bool:
    """Whether a result is right by the problem's rule."""
    if rule == "set":
        return equal_sets(found, expected)
    if rule == "something":
        return both_something(found, expected)
    if rule == "root":
        return root(found, arguments[0], tolerance)
    return equal(found, expected, tolerance)


def loaded(source: str, name: str) -> Callable[..., Any]:
    """The function of that name that `source` defines.

    Raises:
        ReferenceFailedError: there is none.
    """
    namespace: dict[str, Any] = {"__name__": "reference"}
    try:
        exec(compile(source, "<reference>", "exec", dont_inherit=True), namespace)  # noqa: S102 - the benchmark's
        found: Callable[..., Any] = namespace[name]
    except Exception as error:  # noqa: BLE001 - see `answered`
        raise ReferenceFailedError(f"the reference cannot be used: {type(error).__name__}: {error}") from None
    return found


def answered(reference: Callable[..., Any], arguments: Sequence[Any], which: str) -> Any:
    """What the reference returns.

    Raises:
        ReferenceFailedError: it raised.
    """
    try:
        return reference(*arguments)
    except Exception as error:  # noqa: BLE001 - the benchmark's own code may raise anything
        problem = f"{type(error).__name__}: {error}"
        raise ReferenceFailedError(f"the reference fails on {which}: {problem}") from None


def compare(
    candidate: Callable[..., Any],
    name: str,
    sources: Sequence[str],
    inputs: dict[str, str],
    rule: str,
    tolerance: float,
    contract: bool,
) -> None:
    """Asserts that a function agrees with one of the references on all inputs.

    Each side gets its own copy of the arguments, so that what one does to them the other does not see.

    Args:
        candidate: the function that is judged.
        name: of the function, in the references.
        sources: of the references; the first is the benchmark's, others are further readings of the problem.
        inputs: name of a set of inputs → lists of arguments, encoded.
        rule: `equal`, `set`, `something` or `root`.
        tolerance: absolute, as the problem declares it.
        contract: whether inputs that the reference refuses (it raises) are no inputs of the problem.

    Raises:
        AssertionError: they disagree; says on which input.
        ReferenceFailedError: the reference raised, and it has no contract.
    """
    first, *others = [loaded(source, name) for source in sources]
    for kind, text in inputs.items():
        ours, theirs = decoded(text), decoded(text)
        for number, (known, given) in enumerate(zip(ours, theirs, strict=True), 1):
            which = f"{kind} input {number} of {len(ours)}"
            try:
                expected = remembered(first, known, (sources[0], text, number), which)
            except ReferenceFailedError:
                if contract:
                    continue
                raise
            found = candidate(*given)
            right = agrees(rule, found, expected, tolerance, known)
            for other in others:
                right = right or agrees(
                    rule, found, answered(other, again(text, number), which), tolerance, known
                )
            if not right:
                shown = ", ".join(map(reprlib.repr, again(text, number)))
                wanted = "another" if rule == "root" else reprlib.repr(expected)
                raise AssertionError(f"{which}: ({shown}) gives {reprlib.repr(found)}, and {wanted} is right")


def remembered(
    reference: Callable[..., Any], arguments: Sequence[Any], key: tuple[str, str, int], which: str
) -> Any:
    """As `answered`; what took long and is small is kept in the judge for the next program of the problem.

    Raises:
        ReferenceFailedError: it raised.
    """
    kept: dict[tuple[str, str, int], Any] = vars(sys).setdefault("__expected__", {})
    if key in kept:
        return kept[key]
    began = time.process_time()
    expected = answered(reference, arguments, which)
    parts = expected if isinstance(expected, tuple) and len(expected) <= FEW else (expected,)
    if time.process_time() - began >= LONG and all(isinstance(part, (int, float)) for part in parts):
        if len(kept) >= KEPT:
            kept.clear()
        kept[key] = expected
    return expected


def again(text: str, number: int) -> list[Any]:
    """The arguments of that number, whatever was done to them since."""
    found: list[Any] = decoded(text)[number - 1]
    return found
