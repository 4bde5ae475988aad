"""Sets of real numbers as intervals: union, intersection, difference, and what inequalities describe."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key

from probatum.scoring.math.forms import Atom, Form, TooLarge
from probatum.scoring.math.numeric import real_value
from probatum.scoring.math.values import Interval, Order, Region, Value

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Unordered",
    "compare",
    "inequalities",
    "intersect",
    "point",
    "subtract",
    "unite",
]


class Unordered(Exception):  # noqa: N818 - not an error: the set is kept as it is written
    """Two ends whose order cannot be told: symbols, or numbers that cannot be told apart."""


EVERYTHING = Region((Interval(None, None, low_closed=False, high_closed=False),))
NOTHING = Region(())


def point(form: Form) -> Region:
    """The set of one number."""
    return Region((Interval(form, form, low_closed=True, high_closed=True),))


def compare(one: Form, two: Form) -> int:
    """−1, 0 or 1 by size.

    Raises:
        Unordered: it cannot be told.
    """
    difference = one - two
    value = difference.constant
    if value is not None:
        return (value > 0) - (value < 0)
    if difference.is_zero():
        return 0
    number = real_value(difference)
    if number is None or abs(number) < Decimal(10) ** -40:
        raise Unordered
    return 1 if number > 0 else -1


Edge = tuple[Form | None, int]
"""A place on the line, and −1 just before it, 0 on it, 1 just behind it; `None` is infinity."""


def _low(part: Interval) -> Edge:
    return (part.low, 0 if part.low_closed else 1) if part.low is not None else (None, -1)


def _high(part: Interval) -> Edge:
    return (part.high, 0 if part.high_closed else -1) if part.high is not None else (None, 1)


def _edges(one: Edge, two: Edge) -> int:
    if one[0] is None or two[0] is None:
        left = one[1] if one[0] is None else 0
        right = two[1] if two[0] is None else 0
        return (left > right) - (left < right)
    by_place = compare(one[0], two[0])
    return by_place or (one[1] > two[1]) - (one[1] < two[1])


def _interval(low: Edge, high: Edge) -> Interval | None:
    if _edges(low, high) > 0:
        return None
    return Interval(
        low[0],
        high[0],
        low_closed=low[0] is not None and low[1] == 0,
        high_closed=high[0] is not None and high[1] == 0,
    )


def _touches(high: Edge, low: Edge) -> bool:
    """Whether nothing lies between the end of one part and the beginning of the next."""
    if high[0] is None or low[0] is None:
        return True
    by_place = compare(high[0], low[0])
    return by_place > 0 or (by_place == 0 and low[1] - high[1] <= 1)


def unite(regions: Sequence[Region]) -> Region:
    """Points that are in any of them.

    Raises:
        Unordered: see `compare`.
    """
    parts = [part for region in regions for part in region.parts]
    parts.sort(key=cmp_to_key(lambda one, two: _edges(_low(one), _low(two))))
    merged: list[Interval] = []
    for part in parts:
        if merged and _touches(_high(merged[-1]), _low(part)):
            last = merged.pop()
            high = _high(last) if _edges(_high(last), _high(part)) >= 0 else _high(part)
            whole = _interval(_low(last), high)
            merged += [whole] if whole is not None else []
        else:
            merged.append(part)
    return Region(tuple(merged), _variable(regions))


def _variable(regions: Sequence[Region]) -> str | None:
    return next((region.variable for region in regions if region.variable), None)


def intersect(one: Region, two: Region) -> Region:
    """Points that are in both.

    Raises:
        Unordered: see `compare`.
    """
    parts = []
    for first in one.parts:
        for second in two.parts:
            low = _low(first) if _edges(_low(first), _low(second)) >= 0 else _low(second)
            high = _high(first) if _edges(_high(first), _high(second)) <= 0 else _high(second)
            both = _interval(low, high)
            parts += [both] if both is not None else []
    return Region(tuple(parts), _variable((one, two)))


def subtract(one: Region, two: Region) -> Region:
    """Points of the first that are not in the second.

    Raises:
        Unordered: see `compare`.
    """
    result = one
    for part in two.parts:
        outside = []
        if part.low is not None:
            outside.append(Interval(None, part.low, low_closed=False, high_closed=not part.low_closed))
        if part.high is not None:
            outside.append(Interval(part.high, None, low_closed=not part.high_closed, high_closed=False))
        result = intersect(result, Region(tuple(outside)))
    return Region(result.parts, one.variable)


_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


def inequalities(forms: Sequence[Form], relations: Sequence[str]) -> Value:
    """What a chain of inequalities describes: a region of one unknown, or an order of expressions."""
    unknown = _unknown(forms)
    if unknown is not None:
        try:
            return _solved(forms, relations, unknown)
        except (Unordered, TooLarge):
            pass
    return Order(frozenset(_pair(forms[i], forms[i + 1], sign) for i, sign in enumerate(relations)))


def _pair(left: Form, right: Form, sign: str) -> tuple[Form, str]:
    difference = (left - right).numerator() if not (left - right).variables else left - right
    if sign in {">", ">="}:
        difference, sign = -difference, _OPPOSITE[sign]
    if not difference.terms:
        return difference, sign
    first = min(difference.terms, key=lambda monomial: [(atom.key, str(power)) for atom, power in monomial])
    size = difference.terms[first]
    if sign == "!=":
        return difference.scaled(1 / size), sign
    return difference.scaled(1 / abs(size)), sign


def _unknown(forms: Sequence[Form]) -> tuple[Atom, ...] | None:
    """The one name that the chain bounds: an atom in which it is linear."""
    atoms = {atom for form in forms for atom in form.atoms() if atom.kind in {"variable", "function"}}
    free = {atom for atom in atoms if atom.kind == "variable" or Form.atom(atom).variables or _opaque(atom)}
    return tuple(free) if len(free) == 1 else None


_KNOWN = frozenset({"sin", "cos", "ln", "arctan", "arcsin", "arccos", "abs", "floor", "ceil"})


def _opaque(atom: Atom) -> bool:
    return atom.kind == "function" and atom.name not in _KNOWN


def _solved(forms: Sequence[Form], relations: Sequence[str], unknown: tuple[Atom, ...]) -> Region:
    (atom,) = unknown
    region = EVERYTHING
    for i, sign in enumerate(relations):
        slope, rest = _linear(forms[i] - forms[i + 1], atom)
        if slope is None:
            if rest.constant is None or sign == "!=":
                raise Unordered
            value = rest.constant
            if not {"<": value < 0, ">": value > 0, "<=": value <= 0, ">=": value >= 0}[sign]:
                return Region(())
            continue
        region = intersect(
            region, _half_line((-rest).scaled(1 / slope), sign if slope > 0 else _OPPOSITE[sign])
        )
    if atom.name == "abs" and atom.kind == "function":
        return _without_bars(region, atom.arguments[0])
    return Region(region.parts, atom.name if atom.kind == "variable" else Form.atom(atom).key)


def _half_line(bound: Form, sign: str) -> Region:
    if bound.variables:
        raise Unordered
    closed = sign in {"<=", ">="}
    if sign == "!=":
        return subtract(EVERYTHING, point(bound))
    if sign in {"<", "<="}:
        return Region((Interval(None, bound, low_closed=False, high_closed=closed),))
    return Region((Interval(bound, None, low_closed=closed, high_closed=False),))


def _linear(form: Form, atom: Atom) -> tuple[Fraction | None, Form]:
    """Slope and constant of a form that is linear in an atom; slope `None` where it does not occur."""
    slope, rest = None, {}
    for monomial, value in form.terms.items():
        if monomial == ((atom, 1),):
            slope = value
        elif any(
            each == atom or atom in Form({((each, 1),): Fraction(1)}).every_atom() for each, _ in monomial
        ):
            raise Unordered
        else:
            rest[monomial] = value
    return slope, Form(rest)


def _without_bars(region: Region, inside: Form) -> Region:
    """From where |u| lies to where u lies, for u = ax + b."""
    free = [atom for atom in inside.atoms() if atom.kind == "variable"]
    if len(set(free)) != 1:
        raise Unordered
    slope, rest = _linear(inside, free[0])
    if slope is None or rest.variables:
        raise Unordered
    positive = intersect(region, Region((Interval(Form({}), None, low_closed=True, high_closed=False),)))
    both = unite([positive, _mapped(positive, Fraction(-1), Form({}))])
    return Region(_mapped(both, 1 / slope, (-rest).scaled(1 / slope)).parts, free[0].name)


def _mapped(region: Region, slope: Fraction, shift: Form) -> Region:
    """The image under x ↦ slope · x + shift."""
    parts = []
    for part in region.parts:
        low = part.low.scaled(slope) + shift if part.low is not None else None
        high = part.high.scaled(slope) + shift if part.high is not None else None
        if slope < 0:
            parts.append(Interval(high, low, low_closed=part.high_closed, high_closed=part.low_closed))
        else:
            parts.append(Interval(low, high, low_closed=part.low_closed, high_closed=part.high_closed))
    return Region(tuple(reversed(parts)) if slope < 0 else tuple(parts))
