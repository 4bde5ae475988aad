"""A proof that a sum of nested real roots is zero: a bound below which no such number but zero lies.

The bound is that of Burnikel, Funke, Mehlhorn, Schirra and Schmitt, "A separation bound for real algebraic
expressions" (ESA 2001; Algorithmica 55, 2009), for integers under +, −, ·, / and k-th roots: with u and l
computed along the expression and D the product of the indices of its roots, a value is 0 or at least
(u^(D−1) · l)^(−1) in size.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, lcm, log2
from typing import Final

from probatum.scoring.math.forms import Atom, Exponent, Form
from probatum.scoring.math.numeric import magnitude

__all__ = ["proves_zero", "separation_digits"]

_MOST_DIGITS: Final = 2_000
_HIGHEST_DEGREE: Final = 4_096
_GUARD: Final = 20
"""Digits beyond the bound, for what rounding takes."""

Bounds = tuple[float, float]
"""Binary logarithms of u and l."""


class _NotAlgebraic(Exception):  # noqa: N818 - not an error: there is no bound of this kind
    """A part is no nested root of rationals."""


def _of_rational(value: Fraction) -> Bounds:
    return log2(abs(value.numerator) or 1), log2(value.denominator)


def _of_power(base: Bounds, exponent: Exponent) -> Bounds:
    u, l = base  # noqa: E741 - their names in the paper
    index = exponent.denominator
    if index > 1:
        u, l = ((u + (index - 1) * l) / index, l) if u >= l else (u, ((index - 1) * u + l) / index)  # noqa: E741 - as above
    times = abs(exponent.numerator)
    u, l = u * times, l * times  # noqa: E741 - as above
    return (l, u) if exponent < 0 else (u, l)


def _of_atom(atom: Atom) -> Bounds:
    if atom.kind == "prime":
        return log2(int(atom.name)), 0.0
    if atom.kind == "sum":
        return _of_form(atom.arguments[0])
    raise _NotAlgebraic


def _of_form(form: Form) -> Bounds:
    total: Bounds | None = None
    for monomial, coefficient in form.terms.items():
        u, l = _of_rational(coefficient)  # noqa: E741 - as above
        for atom, exponent in monomial:
            more = _of_power(_of_atom(atom), exponent)
            u, l = u + more[0], l + more[1]  # noqa: E741 - as above
        total = (u, l) if total is None else (max(total[0] + l, total[1] + u) + 1, total[1] + l)
    return total if total is not None else (0.0, 0.0)


def _degree(form: Form) -> int:
    """The product of the indices of all roots, equal roots once."""
    indices: dict[Atom, int] = {}
    waiting = [form]
    while waiting:
        for monomial in waiting.pop().terms:
            for atom, exponent in monomial:
                if atom not in indices:
                    waiting += atom.arguments
                indices[atom] = lcm(indices.get(atom, 1), exponent.denominator)
    degree = 1
    for index in indices.values():
        degree *= index
    return degree


def separation_digits(form: Form) -> int | None:
    """Decimal places that tell the form from zero; `None` where it is no nested root, or has too many."""
    try:
        u, l = _of_form(form)  # noqa: E741 - as above
    except _NotAlgebraic:
        return None
    degree = _degree(form)
    if degree > _HIGHEST_DEGREE:
        return None
    digits = ceil(((degree - 1) * u + l) * 0.30103) + 2  # log10(2), and one for each rounding
    return digits if digits <= _MOST_DIGITS else None


def proves_zero(form: Form) -> bool:
    """Whether the form is so small that it must be zero; `False` proves nothing."""
    places = separation_digits(form)
    if places is None:
        return False
    found = magnitude(form, places + _GUARD)
    if found is None:
        return False
    value, size = found
    return value + size.scaleb(10 - places - _GUARD) < Decimal(1).scaleb(-places)
