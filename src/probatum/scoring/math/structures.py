"""Intervals, sets, equations and lists from their parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from probatum.scoring.math.arithmetic import form_of
from probatum.scoring.math.forms import IMAGINARY, E, Form, variable
from probatum.scoring.math.lexer import Unreadable
from probatum.scoring.math.regions import EVERYTHING, Unordered, intersect, point, unite
from probatum.scoring.math.values import (
    PAIR,
    Collection,
    Equation,
    Interval,
    Ratio,
    Region,
    Scalar,
    Text,
    Value,
)

__all__ = ["INFINITY", "as_region", "equation", "grouped", "infinite", "interval", "joined", "member"]

INFINITY: Final = variable("∞")
"""A symbol; intervals take it as their missing end."""


def infinite(value: Value) -> bool:
    """Whether a value is the sign of infinity, with a sign or without."""
    return isinstance(value, Scalar) and value.form in {INFINITY, -INFINITY}


def interval(items: list[Value], *, low_closed: bool, high_closed: bool) -> Region:
    """From its two ends.

    Raises:
        Unreadable: there are not two, or they stand the wrong way round.
    """
    if len(items) != PAIR:
        raise Unreadable("an interval of other than two ends")
    low, high = form_of(items[0]), form_of(items[1])
    if low == INFINITY or high == -INFINITY:
        raise Unreadable("an interval that begins at infinity")
    start = None if low == -INFINITY else low
    end = None if high == INFINITY else high
    return Region(
        (
            Interval(
                start,
                end,
                low_closed=low_closed and start is not None,
                high_closed=high_closed and end is not None,
            ),
        )
    )


def as_region(value: Value) -> Region:
    """The set of reals that a value is, where it may be read so.

    Raises:
        Unreadable: it is none.
    """
    if isinstance(value, Region):
        return value
    if isinstance(value, Collection) and value.kind in {"tuple", "bracket"} and len(value.items) == PAIR:
        closed = value.kind == "bracket"
        return interval(list(value.items), low_closed=closed, high_closed=closed)
    if isinstance(value, Collection) and value.kind in {"set", "list"}:
        try:
            return unite([point(form_of(item)) for item in value.items])
        except Unordered:
            raise Unreadable("a set of symbols in a set of numbers") from None
    raise Unreadable("no set of numbers")


def _name_of(value: Value) -> str:
    if not isinstance(value, Scalar):
        raise Unreadable("no name")
    return next(iter(value.form.variables)) if len(value.form.variables) == 1 else value.form.key


def member(one: Value, two: Value) -> Value:
    """X ∈ A."""
    if isinstance(two, Collection) and two.kind == "set":
        return two
    return replace(as_region(two), variable=_name_of(one))


def equation(values: list[Value]) -> Value:
    """What a chain of equations says; a true one between numbers is its number."""
    left, right = values[0], values[-1]
    if len(values) > PAIR:
        left = next((value for value in values[:-1] if _is_name(value)), left)
    if len(values) == PAIR and not _is_name(left) and _is_name(right) and _constant(left):  # 5 = x
        left, right = right, left
    if _same_constants(left, right):  # 5 + 5 = 10
        return right
    return Equation(left, right, named=_is_name(left))


def _constant(value: Value) -> bool:
    return isinstance(value, Scalar) and not value.form.variables


def _same_constants(one: Value, two: Value) -> bool:
    if not isinstance(one, Scalar) or not isinstance(two, Scalar):
        return False
    return one.form.constant is not None and one.form == two.form


def _is_name(value: Value) -> bool:
    """Whether the left side of an equation only says what the right side is."""
    if isinstance(value, Collection):
        return value.kind == "tuple" and all(_is_name(item) for item in value.items)
    if isinstance(value, Ratio):
        return all(part.constant is None for part in value.parts)
    return isinstance(value, Text) or (isinstance(value, Scalar) and _names(value.form))


def _names(form: Form) -> bool:
    """One variable or function, or points named by capital letters: AB, |AB|, NO/BO."""
    only = form.single
    if only is None or only[1] != 1 or not only[0]:
        return False
    if form in {E, IMAGINARY}:
        return True
    atoms = [atom for atom, _ in only[0]]
    if len(atoms) == 1 and only[0][0][1] == 1:
        return atoms[0].kind in {"variable", "function"}
    names = [
        "".join(atom.arguments[0].variables) if atom.name == "abs" and atom.arguments else atom.name
        for atom in atoms
    ]
    return all(name[:1].isupper() for name in names)


def grouped(items: list[Value]) -> Value:
    """P = 5, q = 2 between semicolons: one solution."""
    return Collection("tuple", tuple(items)) if len(items) > 1 else items[0]


def joined(items: list[Value], joins: list[str]) -> Value | None:
    """Conditions on one unknown with `or` and `and` between them are one set."""
    kinds = set(joins)
    if len(kinds) != 1 or not kinds <= {"or", "and"} or not any(isinstance(item, Region) for item in items):
        return None
    regions = [_condition(item) for item in items]
    if len({region.variable for region in regions if region is not None}) != 1:
        return None
    try:
        if kinds == {"or"}:
            return (
                unite([region for region in regions if region is not None]) if None not in regions else None
            )
        result = EVERYTHING
        for region in regions:
            if region is None:
                return None
            result = intersect(result, region)
    except Unordered:
        return None
    return result


def _condition(value: Value) -> Region | None:
    """A set of numbers that one unknown lies in: x = 1 is a condition, too."""
    if isinstance(value, Region):
        return value
    if isinstance(value, Equation) and isinstance(value.left, Scalar) and isinstance(value.right, Scalar):
        name = value.left.form
        if value.named and not value.right.form.variables and name == variable("".join(name.variables)):
            return replace(point(value.right.form), variable="".join(name.variables))
    return None
