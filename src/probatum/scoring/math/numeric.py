"""The value of a form at a point, to many digits.

Values decide in one direction only: forms that differ at a point are different. Forms that agree to a
hundred digits at every point are said to agree, which is less than a proof, and is named so.

Decimal arithmetic of the standard library; nothing here depends on the machine. A value too large to
be written, or a function at a place where it has no value, raises `NoValue`.
"""

from __future__ import annotations

import decimal
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, gcd, lcm
from typing import Final

from probatum.scoring.math.forms import Atom, Exponent, Form, TooLarge, spend

__all__ = ["Comparison", "NoValue", "agree", "magnitude", "real_value"]

DIGITS: Final = 100
"""Digits at which agreement is asked for."""
_FEWER: Final = 60
_POINTS: Final = 8
"""Points at which expressions with variables are compared: variables are between 1 and 3 at the first
three, between −1 and 1 at three more, and between 0 and 1/2 at the last."""
_POSITIVE: Final = 3
_SMALL: Final = 6
_INTEGERS: Final = frozenset(["factorial", "binomial", "sum", "prod", "gcd", "lcm"])
"""Functions of integers: then, and where −1 is raised to a power, all variables are integers from 3 to 13."""
_EXTREMES: Final = frozenset({"max", "min"})
_UNKNOWN: Final = frozenset({"overline", "doublefactorial"})
"""Functions that have relations between their values, but are not computed here."""
_STEPS_OF_FUNCTION: Final = 40
_STEPS_OF_POWER: Final = 20
"""What a value costs of the count: a series, or a logarithm and an exponential of 120 digits."""
_LARGEST_EXPONENT: Final = 10**9
_LONGEST_PRODUCT: Final = 10_000
"""Exponent of a complex number above which logarithms are taken."""
_LARGEST_FACTORIAL: Final = 500
_LONGEST_SUM: Final = 40
"""Terms of a sum or a product that is worked out at a point."""


class NoValue(Exception):  # noqa: N818 - not an error: other ways must decide
    """The expression has no value here that can be computed."""


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number of two decimals."""

    real: Decimal
    imaginary: Decimal = Decimal(0)

    def plus(self, other: Complex) -> Complex:
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def times(self, other: Complex) -> Complex:
        if not self.imaginary and not other.imaginary:
            return Complex(self.real * other.real)
        return Complex(
            self.real * other.real - self.imaginary * other.imaginary,
            self.real * other.imaginary + self.imaginary * other.real,
        )

    def size(self) -> Decimal:
        if not self.imaginary:
            return abs(self.real)
        return (self.real * self.real + self.imaginary * self.imaginary).sqrt()


_ONE: Final = Complex(Decimal(1))


@lru_cache(maxsize=8)
def _pi(digits: int) -> Decimal:
    with localcontext(Context(prec=digits + 10)):
        return +(16 * _arctan_series(Decimal(1) / 5) - 4 * _arctan_series(Decimal(1) / 239))


def _arctan_series(x: Decimal) -> Decimal:
    total = term = x
    square, k = -x * x, 1
    while True:
        term *= square
        k += 2
        following = total + term / k
        if following == total:
            return total
        total = following


def _arctan(x: Decimal) -> Decimal:
    for _ in range(4):
        x /= 1 + (1 + x * x).sqrt()
    return 16 * _arctan_series(x) if x else x


def _precision() -> int:
    return decimal.getcontext().prec


def _sine(x: Decimal) -> Decimal:
    if abs(x) > Decimal(10) ** 12:
        raise NoValue("an angle too large to be reduced")
    with localcontext() as context:
        context.prec += 16
        x %= 2 * _pi(context.prec)
        total = term = x
        k = 1
        while True:
            term *= -x * x / ((k + 1) * (k + 2))
            k += 2
            following = total + term
            if following == total or not term:
                break
            total = following
    return +total


def _argument(z: Complex) -> Decimal:
    """The angle of a complex number, above −π and at most π."""
    pi = _pi(_precision())
    if not z.imaginary:
        return pi if z.real < 0 else Decimal(0)
    if not z.real:
        return pi / 2 if z.imaginary > 0 else -pi / 2
    angle = _arctan(z.imaginary / z.real)
    if z.real < 0:
        angle += pi if z.imaginary > 0 else -pi
    return angle


def _logarithm(z: Complex) -> Complex:
    if not z.real and not z.imaginary:
        raise NoValue("the logarithm of zero")
    return Complex(z.size().ln(), _argument(z) if z.imaginary or z.real < 0 else Decimal(0))


def _exponential(z: Complex) -> Complex:
    size = z.real.exp()
    if not z.imaginary:
        return Complex(size)
    quarter = _pi(_precision()) / 2
    return Complex(size * _sine(z.imaginary + quarter), size * _sine(z.imaginary))


def _integer_power(z: Complex, exponent: int) -> Complex:
    if not z.imaginary:
        if not z.real and exponent < 0:
            raise NoValue("a division by zero")
        return Complex(z.real**exponent)
    if abs(exponent) > _LONGEST_PRODUCT:
        return _exponential(_logarithm(z).times(Complex(Decimal(exponent))))
    result, base = _ONE, z
    for digit in f"{abs(exponent):b}":
        result = result.times(result)
        if digit == "1":
            result = result.times(base)
    if exponent < 0:
        square = result.real * result.real + result.imaginary * result.imaginary
        result = Complex(result.real / square, -result.imaginary / square)
    return result


def _power(z: Complex, exponent: Complex) -> Complex:
    whole = not exponent.imaginary and exponent.real == exponent.real.to_integral_value()
    if whole and abs(exponent.real) < _LARGEST_EXPONENT:
        return _integer_power(z, int(exponent.real))
    if not z.real and not z.imaginary:
        if exponent.real > 0:
            return z
        raise NoValue("zero to a power that is not positive")
    if not z.imaginary and z.real > 0 and not exponent.imaginary:
        return Complex(z.real**exponent.real)
    return _exponential(exponent.times(_logarithm(z)))


def _rational_power(z: Complex, exponent: Exponent) -> Complex:
    if isinstance(exponent, int):
        return _integer_power(z, exponent)
    under = exponent.denominator
    if under == 2 and not z.imaginary and z.real >= 0:  # noqa: PLR2004 - a square root
        return _integer_power(Complex(z.real.sqrt()), exponent.numerator)
    spend(_STEPS_OF_POWER)
    share = Decimal(exponent.numerator) / under
    if not z.imaginary and z.real < 0 and under % 2:  # the real root, as the forms take it
        sign = -1 if exponent.numerator % 2 else 1
        return Complex(sign * (-z.real) ** share)
    return _power(z, Complex(share))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _real(function: Callable[[Decimal], Decimal]) -> Callable[[Complex], Complex]:
    def of(z: Complex) -> Complex:
        if z.imaginary:
            raise NoValue("a function of a complex number")
        return Complex(function(z.real))

    return of


def _arcsine(x: Decimal) -> Decimal:
    if abs(x) > 1:
        raise NoValue("an arc sine beyond 1")
    if abs(x) == 1:
        return x * _pi(_precision()) / 2
    return _arctan(x / (1 - x * x).sqrt())


def _whole(rounding: str) -> Callable[[Decimal], Decimal]:
    def of(x: Decimal) -> Decimal:
        if abs(x - x.to_integral_value()) < Decimal(10) ** -30 and x != x.to_integral_value():
            raise NoValue("too near to an integer to be rounded")
        if abs(x) > Decimal(10) ** 30:
            raise NoValue("too large to be rounded")
        return x.to_integral_value(rounding)

    return of


_FUNCTIONS: Final[Mapping[str, Callable[[Complex], Complex]]] = {
    "sin": _real(_sine),
    "cos": _real(lambda x: _sine(x + _pi(_precision()) / 2)),
    "ln": _logarithm,
    "abs": lambda z: Complex(z.size()),
    "arctan": _real(_arctan),
    "arcsin": _real(_arcsine),
    "arccos": _real(lambda x: _pi(_precision()) / 2 - _arcsine(x)),
    "floor": _real(_whole(decimal.ROUND_FLOOR)),
    "ceil": _real(_whole(decimal.ROUND_CEILING)),
}


_CONSTANTS: Final[Mapping[str, Callable[[], Complex]]] = {
    "e": lambda: Complex(Decimal(1).exp()),
    "pi": lambda: Complex(_pi(_precision())),
    "-1": lambda: Complex(Decimal(-1)),
    "i": lambda: Complex(Decimal(0), Decimal(1)),
}


def _some_value(seed: str) -> Decimal:
    """Between 1 and 3, from a name: the same for the same name at the same point."""
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
    return 1 + Decimal(int.from_bytes(digest[:12], "big")) / Decimal(1 << 95)


def _rounded(z: Complex) -> str:
    with localcontext(Context(prec=30)):
        return f"{(+z.real).normalize()},{(+z.imaginary).normalize()}"


class _Point:
    """Values of one point, each atom worked out once."""

    def __init__(self, number: int, *, integers: bool) -> None:
        self.number = number
        self.integers = integers
        self.signed = not integers and _POSITIVE <= number < _SMALL
        """Whether variables may be negative here; then only real values count."""
        self.known: dict[Atom, Complex] = {}
        self.bound: dict[str, int] = {}
        """Values of the indices of sums."""

    def variable(self, name: str) -> Decimal:
        if name in self.bound:
            return Decimal(self.bound[name])
        some = _some_value(f"{self.number}:{name}")
        if self.integers:
            return 3 + ((some - 1) * 5).to_integral_value(decimal.ROUND_FLOOR)
        if self.signed:
            return some - 2
        return some if self.number < _SMALL else (some - 1) / 4

    def form(self, form: Form) -> Complex:
        return self.sum_and_size(form)[0]

    def sum_and_size(self, form: Form) -> tuple[Complex, Decimal]:
        """The value, and the sum of the sizes of its terms: how much can have cancelled."""
        total, size = Complex(Decimal(0)), Decimal(0)
        spend(4 * len(form.terms))
        for monomial, coefficient in form.terms.items():
            value = Complex(_decimal(coefficient))
            for atom, exponent in monomial:
                base = self.atom(atom)
                if self.signed and base.real < 0 and exponent.denominator % 2 == 0:
                    raise NoValue("an even root of a negative number")
                value = value.times(_rational_power(base, exponent))
            total = total.plus(value)
            size += value.size()
        return total, size

    def atom(self, atom: Atom) -> Complex:
        value = self.known.get(atom)
        if value is None:
            spend(_STEPS_OF_FUNCTION if atom.kind in {"function", "power"} else 1)
            value = self.known[atom] = self._function(atom) if atom.kind == "function" else self._plain(atom)
        return value

    def _plain(self, atom: Atom) -> Complex:
        if atom.kind == "variable":
            return Complex(self.variable(atom.name))
        if atom.kind == "sum":
            return self.form(atom.arguments[0])
        if atom.kind == "power":
            base, exponent = atom.arguments
            value = self.form(base)
            if self.signed and value.real < 0 and base.variables:
                raise NoValue("a power of a negative number")
            return _power(value, self.form(exponent))
        return Complex(Decimal(atom.name)) if atom.kind == "prime" else _CONSTANTS[atom.name]()

    def _function(self, atom: Atom) -> Complex:
        if atom.name in _UNKNOWN:
            raise NoValue(f"{atom.name} is not computed")
        if atom.name in {"sum", "prod"}:
            return self.series(atom)
        arguments = [self.form(each) for each in atom.arguments]
        known = _FUNCTIONS.get(atom.name) if len(arguments) == 1 else None
        if known is not None:
            if self.signed and atom.name == "ln" and arguments[0].real < 0:
                raise NoValue("the logarithm of a negative number")
            return known(arguments[0])
        if atom.name in _INTEGERS or atom.name in _EXTREMES:
            return Complex(_of_integers(atom.name, arguments))
        # Any other function: some value that depends on nothing but the values of its arguments.
        seed = f"{self.number}:{atom.name}:{';'.join(_rounded(each) for each in arguments)}"
        return Complex(_some_value(seed))

    def series(self, atom: Atom) -> Complex:
        """A sum or a product whose ends are integers at this point."""
        low, high = (_integer(self.form(each)) for each in atom.arguments[:2])
        body, (index,) = atom.arguments[2], atom.arguments[3].variables
        if high - low > _LONGEST_SUM:
            raise NoValue("a long sum")
        total = _ONE if atom.name == "prod" else Complex(Decimal(0))
        kept = self.known
        for number in range(low, high + 1):
            self.known = {}
            self.bound[index] = number
            value = self.form(body)
            total = total.times(value) if atom.name == "prod" else total.plus(value)
        self.known = kept
        self.bound.pop(index, None)
        return total


def _integer(z: Complex) -> int:
    if z.imaginary or z.real != z.real.to_integral_value() or abs(z.real) > 10**4:
        raise NoValue("no small integer")
    return int(z.real)


def _of_integers(name: str, arguments: list[Complex]) -> Decimal:
    if name in _EXTREMES:
        if any(each.imaginary for each in arguments):
            raise NoValue("the larger of complex numbers")
        return (max if name == "max" else min)(each.real for each in arguments)
    numbers = [_integer(each) for each in arguments]
    if name in {"gcd", "lcm"}:
        return Decimal((gcd if name == "gcd" else lcm)(*numbers))
    if min(numbers) < 0 or max(numbers) > _LARGEST_FACTORIAL:
        raise NoValue("a factorial that is not written out")
    return Decimal(factorial(numbers[0]) if name == "factorial" else comb(*numbers))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What values say about a difference: `zero` is `None` where they say nothing."""

    zero: bool | None
    reason: str


def _residue(form: Form, point: int, digits: int, *, integers: bool) -> tuple[Complex, Decimal]:
    context = Context(prec=digits, Emax=10**9, Emin=-(10**9))
    context.traps[decimal.Underflow] = False
    with localcontext(context):
        try:
            return _Point(point, integers=integers).sum_and_size(form)
        except decimal.DecimalException as error:
            raise NoValue(f"no value ({type(error).__name__})") from None


def agree(difference: Form) -> Comparison:
    """Whether a difference vanishes wherever it is looked at.

    It differs where its value is stable between two precisions; it agrees where it shrinks with the
    precision to nothing. Both are asked for at several points, if there are variables.
    """
    atoms = difference.every_atom()
    free = any(each.kind in {"variable", "function"} for each in atoms)
    integers = any(
        each.name in _INTEGERS if each.kind == "function" else each.kind == "constant" and each.name == "-1"
        for each in atoms
    )
    seen = 0
    for point in range(_POINTS if free else 1):
        try:
            rough, _ = _residue(difference, point, _FEWER, integers=integers)
            value, size = _residue(difference, point, DIGITS + 20, integers=integers)
        except (NoValue, TooLarge):
            continue
        with localcontext(Context(prec=_FEWER)):
            if value.size() <= size.scaleb(-DIGITS):
                seen += 1
                continue
            drift = Complex(value.real - rough.real, value.imaginary - rough.imaginary).size()
            if drift <= value.size().scaleb(-8) and value.size() > size.scaleb(8 - _FEWER):
                return Comparison(False, f"the values differ by {value.size():.2e}")
    if seen >= (3 if free else 1):
        return Comparison(True, f"agree to {DIGITS} digits at {seen} point{'s' if seen > 1 else ''}")
    return Comparison(None, "no value could be computed")


def magnitude(form: Form, digits: int) -> tuple[Decimal, Decimal] | None:
    """The size of a constant's value, and of its largest terms together, computed to so many digits."""
    try:
        spend(digits)
        value, size = _residue(form, 0, digits, integers=False)
    except (NoValue, TooLarge):
        return None
    if value.imaginary:
        return None
    return abs(value.real), size + 1


def real_value(form: Form, digits: int = 50) -> Decimal | None:
    """The value of a constant, if it is real and can be computed; `None` otherwise."""
    if form.variables:
        return None
    constant = form.constant
    if constant is not None:
        with localcontext(Context(prec=digits, Emax=10**9, Emin=-(10**9))):
            return _decimal(constant)
    if any(each.kind == "function" and each.name not in _FUNCTIONS for each in form.every_atom()):
        return None
    try:
        value, size = _residue(form, 0, digits + 10, integers=False)
    except (NoValue, TooLarge):
        return None
    if abs(value.imaginary) > size.scaleb(-digits):
        return None
    return value.real
