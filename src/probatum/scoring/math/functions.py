"""Functions of forms: what can be simplified is, so that equal expressions meet in one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import comb, factorial, gcd, lcm, prod
from typing import Final

from probatum.scoring.math.forms import IMAGINARY, ONE, PI, ZERO, Atom, Form, function, rational_factors
from probatum.scoring.math.forms import E as EULER
from probatum.scoring.math.numeric import real_value

__all__ = [
    "FUNCTIONS",
    "absolute",
    "binomial",
    "double_factorial",
    "factorial_of",
    "logarithm",
    "power",
    "root",
]

_LARGEST_FACTORIAL = 2_200
"""Its factorial has 21,000 bits."""
_MOST_ANGLES = 4
"""Angles of a sum that is taken apart: the terms double with each."""
_LARGEST_MULTIPLE = 12
"""Multiple of an angle up to which sine and cosine are expanded."""


def root(form: Form, index: Form) -> Form:
    """The root of that index.

    Raises:
        ZeroDivisionError: the index is zero.
    """
    value = index.constant
    if value is not None:
        return form.to(1 / value)
    return form.raised(index.to(-1))


def absolute(form: Form) -> Form:
    """The absolute value, or the length of a complex number."""
    value = form.constant
    if value is not None:
        return Form.of(abs(value))
    if not form.variables:
        number = real_value(form)
        if number is not None and abs(number) > Decimal(10) ** -40:
            return -form if number < 0 else form
        return _length(form)
    only = form.single
    if only is None:
        first = min(form.terms, key=lambda monomial: [(atom.key, str(power)) for atom, power in monomial])
        return function("abs", -form if form.terms[first] < 0 else form)
    result = Form.of(abs(only[1]))
    for atom, exponent in only[0]:
        even = isinstance(exponent, int) and exponent % 2 == 0
        if even or atom.kind in {"prime", "constant"} or (atom.kind == "function" and atom.name == "abs"):
            result *= Form.atom(atom).to(exponent)
        elif atom.kind != "unit":
            base = atom.arguments[0] if atom.kind == "sum" else Form.atom(atom)
            result *= function("abs", base).to(exponent)
    return result


def _length(form: Form) -> Form:
    real: dict[bool, Form] = {False: ZERO, True: ZERO}
    for monomial, value in form.terms.items():
        units = [atom for atom, _ in monomial if atom.kind == "unit"]
        rest = tuple(pair for pair in monomial if pair[0].kind != "unit")
        real[bool(units)] += Form({rest: value})
    return (real[False] * real[False] + real[True] * real[True]).to(Fraction(1, 2))


def logarithm(form: Form) -> Form:
    """The natural logarithm; of a product, the sum of the factors' (they are taken to be positive)."""
    only = form.single
    if only is None or only[1] < 0:
        return function("ln", form)
    result = ZERO
    for atom, exponent in rational_factors(only[1]):
        result += function("ln", Form.atom(atom)).scaled(Fraction(exponent))
    for atom, power in only[0]:
        result += _logarithm_of_atom(atom).scaled(Fraction(power))
    return result


def _logarithm_of_atom(atom: Atom) -> Form:
    if atom.kind == "constant" and atom.name == "e":
        return ONE
    if atom.kind == "power":
        base, exponent = atom.arguments
        return logarithm(base) * exponent
    return function("ln", atom.arguments[0] if atom.kind == "sum" else Form.atom(atom))


def factorial_of(form: Form) -> Form:
    """`n!`, written out for small integers."""
    value = form.integer
    if value is not None:
        return Form.of(factorial(value)) if 0 <= value <= _LARGEST_FACTORIAL else function("factorial", form)
    shift = form.terms.get((), Fraction(0))
    if not form.variables or shift.denominator != 1 or abs(shift) > _LARGEST_MULTIPLE:
        return function("factorial", form)
    base = form - Form.of(shift)
    result = function("factorial", base)  # (n + 2)! = (n + 2)(n + 1) n!
    for step in range(1, shift.numerator + 1):
        result *= base + Form.of(step)
    for step in range(shift.numerator + 1, 1):
        result *= (base + Form.of(step)).to(-1)
    return result


def double_factorial(form: Form) -> Form:
    """`n!!` = n (n − 2) (n − 4) …, written out for small integers."""
    value = form.integer
    if value is None or not 0 <= value <= _LARGEST_FACTORIAL:
        return function("doublefactorial", form)
    return Form.of(prod(range(value, 0, -2)))


def binomial(top: Form, under: Form) -> Form:
    """The binomial coefficient, written out for small integers."""
    n, k = top.integer, under.integer
    if n is not None and k is not None and n >= 0 and k >= 0:
        return Form.of(comb(n, k)) if n <= _LARGEST_FACTORIAL else function("binomial", top, under)
    if k is not None and 0 <= k <= _LARGEST_MULTIPLE:
        result = Form.of(Fraction(1, factorial(k)))
        for step in range(k):
            result *= top - Form.of(step)
        return result
    return function("binomial", top, under)


def _half(number: int) -> Form:
    return Form.of(number).to(Fraction(1, 2)).scaled(Fraction(1, 2))


_QUARTER: Final = {
    0: lambda: ZERO,
    1: lambda: (Form.of(6).to(Fraction(1, 2)) - Form.of(2).to(Fraction(1, 2))).scaled(Fraction(1, 4)),
    2: lambda: Form.of(Fraction(1, 2)),
    3: lambda: _half(2),
    4: lambda: _half(3),
    5: lambda: (Form.of(6).to(Fraction(1, 2)) + Form.of(2).to(Fraction(1, 2))).scaled(Fraction(1, 4)),
    6: lambda: ONE,
}
"""Sines of multiples of π/12 up to π/2."""


def _sine_of_turn(turn: Fraction) -> Form | None:
    """sin(turn · π) as radicals, where it has small ones."""
    turn %= 2
    sign = 1
    if turn >= 1:
        turn, sign = turn - 1, -1
    if turn > Fraction(1, 2):
        turn = 1 - turn
    steps = turn * 12
    if steps.denominator == 1:
        value = _QUARTER[steps.numerator]()
    elif turn in _TENTHS:
        value = (Form.of(5).to(Fraction(1, 2)) + Form.of(_TENTHS[turn])).scaled(Fraction(1, 4))
    else:
        value = function("sin", PI.scaled(turn))
    return -value if sign < 0 else value


_TENTHS: Final = {Fraction(1, 10): -1, Fraction(3, 10): 1}


def _sine_and_cosine(angle: Form) -> tuple[Form, Form]:
    """Both of an angle, taken apart by the addition theorem."""
    sine, cosine = ZERO, ONE
    for monomial, value in sorted(angle.terms.items(), key=lambda term: str(term[0])):
        one, two = _of_term(Form({monomial: Fraction(1)}), value)
        sine, cosine = sine * two + cosine * one, cosine * two - sine * one
    return sine, cosine


def _of_term(unit: Form, value: Fraction) -> tuple[Form, Form]:
    if unit == PI:
        sine, cosine = _sine_of_turn(value), _sine_of_turn(value + Fraction(1, 2))
        if sine is not None and cosine is not None:
            return sine, cosine
    multiple = abs(value.numerator)
    base = unit.scaled(Fraction(1, value.denominator))
    if multiple > _LARGEST_MULTIPLE:
        base, multiple = base.scaled(Fraction(multiple)), 1
    one, two = function("sin", base), function("cos", base)
    sine, cosine = ZERO, ONE
    for _ in range(multiple):
        sine, cosine = sine * two + cosine * one, cosine * two - sine * one
    return (-sine if value < 0 else sine), cosine


def _sine(angle: Form) -> Form:
    return _sine_and_cosine(angle)[0] if _takes_apart(angle) else function("sin", angle)


def _cosine(angle: Form) -> Form:
    return _sine_and_cosine(angle)[1] if _takes_apart(angle) else function("cos", angle)


def _takes_apart(angle: Form) -> bool:
    only = angle.single
    if only is not None and Form({only[0]: Fraction(1)}) == PI:
        return True
    total = sum(abs(value.numerator) for value in angle.terms.values() if value.numerator)
    return len(angle.terms) <= _MOST_ANGLES and total <= 2 * _LARGEST_MULTIPLE


def _arc(name: str) -> Callable[[Form], Form]:
    def of(value: Form) -> Form:
        for turn, known in _KNOWN_ARCS[name]:
            if (value - known).is_zero():
                return PI.scaled(turn)
        return function(name, value)

    return of


Values = list[tuple[Fraction, Form]]
"""Parts of π, and the value of a function there."""


def _both_signs(values: Values) -> Values:
    return values + [(-turn, -value) for turn, value in values if turn]


_SINES = _both_signs([(Fraction(steps, 12), _QUARTER[steps]()) for steps in (0, 2, 3, 4, 6)])
_KNOWN_ARCS: Final = {
    "arcsin": _SINES,
    "arccos": [(Fraction(1, 2) - turn, value) for turn, value in _SINES],
    "arctan": _both_signs(
        [
            (Fraction(0), ZERO),
            (Fraction(1, 4), ONE),
            (Fraction(1, 3), Form.of(3).to(Fraction(1, 2))),
            (Fraction(1, 6), Form.of(3).to(Fraction(-1, 2))),
        ]
    ),
}


def power(base: Form, exponent: Form) -> Form:
    """`base` to any power; e to a multiple of iπ is worked out."""
    if base == EULER and exponent.constant is None:
        angle = -(IMAGINARY * exponent)
        only = angle.single
        if only is not None and Form({only[0]: Fraction(1)}) == PI:
            return _cosine(angle) + IMAGINARY * _sine(angle)
    return base.raised(exponent)


def _exponential(form: Form) -> Form:
    return power(EULER, form)


def _hyperbolic(sign: int) -> Callable[[Form], Form]:
    def of(form: Form) -> Form:
        other = _exponential(-form)
        return (_exponential(form) + (other if sign > 0 else -other)).scaled(Fraction(1, 2))

    return of


def _rounded(name: str, step: int) -> Callable[[Form], Form]:
    def of(form: Form) -> Form:
        value = form.constant
        if value is not None:
            return Form.of(
                value.numerator // value.denominator if step < 0 else -(-value.numerator // value.denominator)
            )
        number = real_value(form)
        if number is None or abs(number) > Decimal(10) ** 30:
            return function(name, form)
        near = number.to_integral_value()
        if abs(number - near) < Decimal(10) ** -15:
            return function(name, form)
        down = int(number // 1) - (1 if number < 0 else 0)
        return Form.of(down if step < 0 else down + 1)

    return of


def _integers(work: Callable[..., int], name: str) -> Callable[..., Form]:
    def of(*forms: Form) -> Form:
        values = [form.integer for form in forms]
        if any(value is None for value in values):
            return function(name, *sorted(forms, key=lambda form: form.key))
        return Form.of(work(*(value for value in values if value is not None)))

    return of


def _extreme(name: str, sign: int) -> Callable[..., Form]:
    def of(*forms: Form) -> Form:
        values = [form.constant for form in forms]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return function(name, *sorted(forms, key=lambda form: form.key))
        return Form.of(max(known) if sign > 0 else min(known))

    return of


FUNCTIONS: Final[Mapping[str, Callable[..., Form]]] = {
    "sin": _sine,
    "cos": _cosine,
    "tan": lambda x: _sine(x) / _cosine(x),
    "cot": lambda x: _cosine(x) / _sine(x),
    "sec": lambda x: ONE / _cosine(x),
    "csc": lambda x: ONE / _sine(x),
    "arcsin": _arc("arcsin"),
    "arccos": _arc("arccos"),
    "arctan": _arc("arctan"),
    "sinh": _hyperbolic(-1),
    "cosh": _hyperbolic(1),
    "tanh": lambda x: _hyperbolic(-1)(x) / _hyperbolic(1)(x),
    "exp": _exponential,
    "ln": logarithm,
    "lg": lambda x: logarithm(x) / logarithm(Form.of(10)),
    "log": lambda x: logarithm(x) / logarithm(Form.of(10)),
    "abs": absolute,
    "floor": _rounded("floor", -1),
    "ceil": _rounded("ceil", 1),
    "gcd": _integers(gcd, "gcd"),
    "lcm": _integers(lcm, "lcm"),
    "max": _extreme("max", 1),
    "min": _extreme("min", -1),
}
"""By name; each takes and returns forms."""
