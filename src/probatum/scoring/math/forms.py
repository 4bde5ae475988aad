"""The canonical form of an expression: a sum of products of atoms with rational coefficients.

Exponents are rational, so that roots need no nodes of their own: a root of a positive rational is a
product of primes with exponents between 0 and 1, and such products are linearly independent over the
rationals (Besicovitch, "On the linear independence of fractional powers of integers", 1940). So two
sums of real radicals are equal exactly if their forms are, and the same holds for polynomials and
rational functions in independent atoms. Powers of variables follow the rules for positive values, but
the root of a square is an absolute value.

Nothing here can run long: each operation draws on a count of steps, and an integer that would get too
large stays a power. The count does not depend on the machine, and so neither does any verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from math import gcd, isqrt, lcm

__all__ = [
    "IMAGINARY",
    "ONE",
    "PI",
    "ZERO",
    "Atom",
    "E",
    "Form",
    "Monomial",
    "TooLarge",
    "counted",
    "function",
    "integer_root",
    "rational_factors",
    "spend",
    "substitute",
    "variable",
]

_STEPS = 40_000
"""Products of two terms that one comparison may take."""
_BITS = 12_000
"""Size in bits up to which an integer is written out."""
_TERMS = 800
"""Terms that a sum may have."""
_WIDEST_POWER = 32
"""Integer power up to which a sum is multiplied out."""


class TooLarge(Exception):  # noqa: N818 - not an error: the comparison is undecided
    """The count of steps is used up, or a number would be larger than is written out."""


_left: ContextVar[list[int]] = ContextVar("_left")


@contextmanager
def counted(steps: int = _STEPS) -> Iterator[None]:
    """Everything inside may take so many steps together, and no more than an outer count has left."""
    outer = _left.get(None)
    inner = [steps if outer is None else min(steps, outer[0])]
    before = inner[0]
    token = _left.set(inner)
    try:
        yield
    finally:
        _left.reset(token)
        if outer is not None:
            outer[0] -= before - max(inner[0], 0)


def spend(steps: int) -> None:
    """Draws on the count.

    Raises:
        TooLarge: it is used up.
    """
    left = _left.get(None)
    if left is None:
        if steps > _STEPS:
            raise TooLarge(f"more than {_STEPS} steps")
        return
    left[0] -= steps
    if left[0] < 0:
        raise TooLarge("the count of steps is used up")


Exponent = int | Fraction


class Atom:
    """What is not taken apart further: a prime, a variable, a constant, a function's value, a sum."""

    __slots__ = ("arguments", "key", "kind", "name")

    def __init__(self, kind: str, name: str, arguments: tuple[Form, ...] = (), key: str = "") -> None:
        self.kind = kind
        """`prime`, `unit` (the imaginary one), `constant`, `variable`, `function`, `sum`, `power`."""
        self.name = name
        self.arguments = arguments
        self.key = key or f"{kind[:2]}:{name}" + (
            f"({','.join(each.key for each in arguments)})" if arguments else ""
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: Atom) -> bool:
        return self.key < other.key

    def __repr__(self) -> str:
        return self.key


Monomial = tuple[tuple[Atom, Exponent], ...]
Terms = dict[Monomial, Fraction]


class Form:
    """A sum of monomials. Immutable by agreement."""

    __slots__ = ("_key", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._key = ""

    @staticmethod
    def of(value: Fraction | int) -> Form:
        """A rational number."""
        return Form({(): Fraction(value)}) if value else ZERO

    @staticmethod
    def atom(atom: Atom, exponent: Exponent = 1) -> Form:
        """One atom, to a power that it may have as it stands."""
        return Form({((atom, exponent),): _UNIT})

    @property
    def key(self) -> str:
        """Equal for equal forms, whatever order they were built in."""
        if not self._key:
            parts = sorted(
                f"{_shown(coefficient)}*{'*'.join(f'{atom.key}^{power}' for atom, power in monomial)}"
                for monomial, coefficient in self.terms.items()
            )
            if sum(map(len, parts)) > _LONGEST_KEY:
                raise TooLarge("an expression is nested too deeply")
            self._key = "+".join(parts) or "0"
        return self._key

    @property
    def constant(self) -> Fraction | None:
        """The value, where it is rational."""
        if not self.terms:
            return Fraction(0)
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    @property
    def integer(self) -> int | None:
        """The value, where it is an integer."""
        value = self.constant
        return value.numerator if value is not None and value.denominator == 1 else None

    @property
    def single(self) -> tuple[Monomial, Fraction] | None:
        """The only term, where there is one."""
        return next(iter(self.terms.items())) if len(self.terms) == 1 else None

    def atoms(self) -> Iterator[Atom]:
        """Every atom of every term, arguments not entered."""
        for monomial in self.terms:
            for atom, _ in monomial:
                yield atom

    def every_atom(self) -> set[Atom]:
        """Every atom, those inside arguments included."""
        found: set[Atom] = set()
        waiting = [self]
        while waiting:
            for atom in waiting.pop().atoms():
                if atom not in found:
                    found.add(atom)
                    waiting += atom.arguments
        return found

    @property
    def variables(self) -> frozenset[str]:
        """Names of the variables in it."""
        return frozenset(atom.name for atom in self.every_atom() if atom.kind == "variable")

    def __add__(self, other: Form) -> Form:
        if not self.terms:
            return other
        if not other.terms:
            return self
        spend(1)
        terms = dict(self.terms)
        _accumulate(terms, other.terms)
        return Form(terms)

    def __neg__(self) -> Form:
        return Form({monomial: -coefficient for monomial, coefficient in self.terms.items()})

    def __sub__(self, other: Form) -> Form:
        return self + -other

    def __mul__(self, other: Form) -> Form:
        left, right = self.terms, other.terms
        spend(len(left) * len(right))
        terms: Terms = {}
        for one, factor in left.items():
            for two, times in right.items():
                value = _sized(factor * times)
                if not one or not two:
                    _accumulate(terms, {one or two: value})
                    continue
                joined, special = _join(one, two)
                _accumulate(terms, _normal(joined, value) if special else {joined: value})
        return Form(terms)

    def __truediv__(self, other: Form) -> Form:
        return self * other.to(-1)

    def scaled(self, factor: Fraction) -> Form:
        """Times a rational."""
        if not factor:
            return ZERO
        if factor == 1:
            return self
        return Form({monomial: _sized(value * factor) for monomial, value in self.terms.items()})

    def to(self, exponent: Exponent) -> Form:
        """To a rational power.

        Raises:
            TooLarge: see `spend`.
            ZeroDivisionError: zero to a negative power.
        """
        exponent = _plain(exponent)
        if exponent == 1:
            return self
        if not exponent:
            return ONE
        if not self.terms:
            if exponent < 0:
                raise ZeroDivisionError
            return ZERO
        only = self.single
        if only is not None:
            return _power_of_term(only[0], only[1], exponent)
        if isinstance(exponent, int) and 0 < exponent <= _WIDEST_POWER:
            return _multiplied(self, exponent)
        return _power_of_sum(self, exponent)

    def raised(self, exponent: Form) -> Form:
        """To a power that may itself be any expression."""
        value = exponent.constant
        if value is not None:
            return self.to(value)
        if not self.terms:
            return _function_form("power", self, exponent)
        result = ONE
        for monomial, coefficient in exponent.terms.items():
            factor = self.to(coefficient) if not monomial else _raised(self, monomial, coefficient)
            result *= factor
        return result

    def is_zero(self) -> bool:
        """Whether the form is zero after denominators are cleared; `False` proves nothing by itself."""
        form = self
        for _ in range(8):
            if not form.terms:
                return True
            lowest: dict[Atom, Exponent] = {}
            for monomial in form.terms:
                for atom, exponent in monomial:
                    if atom.kind in _CLEARED and exponent < 0:
                        lowest[atom] = min(exponent, lowest.get(atom, 0))
            if not lowest:
                return False
            factor = tuple(sorted((atom, -exponent) for atom, exponent in lowest.items()))
            form = _times_monomial(form, factor)
        return False

    def numerator(self) -> Form:
        """The form times every denominator in it, variables included."""
        form = self
        for _ in range(8):
            lowest: dict[Atom, Exponent] = {}
            for monomial in form.terms:
                for atom, exponent in monomial:
                    if atom.kind != "prime" and exponent < 0:
                        lowest[atom] = min(exponent, lowest.get(atom, 0))
            if not lowest:
                break
            factor = tuple(sorted((atom, -exponent) for atom, exponent in lowest.items()))
            form = _times_monomial(form, factor)
        return form

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Form({self.key})"


_UNIT = Fraction(1)
_LONGEST_KEY = 20_000
"""Characters: keys hold the keys of what is inside them."""
ZERO = Form({})
ONE = Form({(): _UNIT})
_IMAGINARY = Atom("unit", "i")
_MINUS = Atom("constant", "-1")
"""Minus one as the base of a power that is not rational."""
PI = Form.atom(Atom("constant", "pi"))
E = Form.atom(Atom("constant", "e"))
IMAGINARY = Form.atom(_IMAGINARY)
_CLEARED = frozenset({"sum", "function", "unit"})
"""Kinds of atoms between which relations hold, so that they may not stay in denominators."""


def variable(name: str) -> Form:
    """A variable."""
    return Form.atom(Atom("variable", name))


def function(name: str, *arguments: Form) -> Form:
    """The value of a function that is not taken apart."""
    return _function_form(name, *arguments)


def _function_form(name: str, *arguments: Form) -> Form:
    return Form.atom(Atom("function", name, arguments))


def _shown(value: Fraction) -> str:
    """As a key: Python writes no integers of many digits in decimal."""
    if value.numerator.bit_length() + value.denominator.bit_length() > _BITS:
        return f"{value.numerator:x}/{value.denominator:x}"
    return str(value)


def _plain(exponent: Exponent) -> Exponent:
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return exponent.numerator
    return exponent


def _sized(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > 2 * _BITS or value.denominator.bit_length() > 2 * _BITS:
        raise TooLarge(f"an integer of more than {2 * _BITS} bits")
    return value


def _accumulate(terms: Terms, more: Terms) -> None:
    for monomial, value in more.items():
        total = terms.get(monomial)
        if total is None:
            terms[monomial] = value
        elif total + value:
            terms[monomial] = _sized(total + value)
        else:
            del terms[monomial]
    if len(terms) > _TERMS:
        raise TooLarge(f"a sum of more than {_TERMS} terms")


def _join(one: Monomial, two: Monomial) -> tuple[Monomial, bool]:
    """The product of two monomials, and whether an atom that both have may simplify."""
    powers = dict(one)
    special = False
    for atom, exponent in two:
        before = powers.get(atom)
        if before is None:
            powers[atom] = exponent
        else:
            special = special or atom.kind in _SIMPLER
            total = _plain(before + exponent)
            if total:
                powers[atom] = total
            else:
                del powers[atom]
    return tuple(sorted(powers.items(), key=_by_key)), special


def _by_key(pair: tuple[Atom, Exponent]) -> str:
    return pair[0].key


def _times_monomial(form: Form, factor: Monomial) -> Form:
    spend(len(form.terms))
    terms: Terms = {}
    for monomial, value in form.terms.items():
        _accumulate(terms, _normal(_join(monomial, factor)[0], value))
    return Form(terms)


def _normal(monomial: Monomial, value: Fraction) -> Terms:
    """The terms of a product whose powers may simplify: √2·√2, i², sin², √(x+1)²."""
    kept: list[tuple[Atom, Exponent]] = []
    expand: list[Form] = []
    for atom, exponent in monomial:
        simplify = _SIMPLER.get(atom.kind)
        if simplify is None:
            kept.append((atom, exponent))
            continue
        factor, forms, rest = simplify(atom, exponent)
        value *= factor
        expand += forms
        if rest:
            kept.append((atom, _plain(rest)))
    if not value:
        return {}
    form = Form({tuple(kept): _sized(value)})
    for each in expand:
        form *= each
    return form.terms


Simpler = tuple[int | Fraction, list[Form], Exponent]
"""A rational factor, forms to multiply with, and the exponent that is left."""


def _prime_power(atom: Atom, exponent: Exponent) -> Simpler:
    whole, rest = divmod(Fraction(exponent), 1)
    if abs(whole) * int(atom.name).bit_length() > _BITS:
        return 1, [], exponent
    return Fraction(int(atom.name)) ** int(whole), [], rest


def _unit_power(_: Atom, exponent: Exponent) -> Simpler:
    if not isinstance(exponent, int):
        return 1, [], exponent
    return (-1 if exponent & 2 else 1), [], exponent % 2


def _sum_power(atom: Atom, exponent: Exponent) -> Simpler:
    if not 1 <= exponent <= _WIDEST_POWER:
        return 1, [], exponent
    whole, rest = divmod(Fraction(exponent), 1)
    return 1, [_multiplied(atom.arguments[0], int(whole))], rest


def _function_power(atom: Atom, exponent: Exponent) -> Simpler:
    if not isinstance(exponent, int) or not 1 < exponent <= _WIDEST_POWER:
        return 1, [], exponent
    half, rest = divmod(exponent, 2)
    if atom.name == "sin":
        cosine = Form.atom(Atom("function", "cos", atom.arguments))
        return 1, [_multiplied(ONE - cosine * cosine, half)], rest
    if atom.name == "abs":
        return 1, [_multiplied(atom.arguments[0], 2 * half)], rest
    return 1, [], exponent


_SIMPLER: dict[str, Callable[[Atom, Exponent], Simpler]] = {
    "prime": _prime_power,
    "unit": _unit_power,
    "sum": _sum_power,
    "function": _function_power,
}


def _multiplied(form: Form, exponent: int) -> Form:
    """A form to a small positive integer power, by squaring."""
    result: Form | None = None
    while exponent:
        if exponent & 1:
            result = form if result is None else result * form
        exponent >>= 1
        if exponent:
            form *= form
    return result if result is not None else ONE


def _raised(form: Form, monomial: Monomial, coefficient: Fraction) -> Form:
    """To a power that is a rational times a product of atoms."""
    exponent = Form({monomial: _UNIT})
    if form.constant == 1:
        return ONE
    only = form.single
    if only is None:
        content, primitive = _primitive(form)
        base = Atom("sum", "", (primitive,))
        return _raised(content, monomial, coefficient) * _power(base, exponent, coefficient)
    result = ONE
    for prime, times in rational_factors(abs(only[1])):
        result *= _power(prime, exponent, coefficient * times)
    if only[1] < 0:
        result *= _power(_MINUS, exponent, coefficient)
    for atom, power in only[0]:
        result *= _power(atom, exponent, coefficient * power)
    return result


def _power(base: Atom, exponent: Form, times: Exponent) -> Form:
    """`base ^ (times · exponent)`, where `exponent` is one monomial with coefficient 1."""
    if base.kind == "power":
        return base.arguments[0].raised((base.arguments[1] * exponent).scaled(Fraction(times)))
    inside = Form.atom(base)
    return Form.atom(Atom("power", "", (inside, exponent)), _plain(times))


def _power_of_term(monomial: Monomial, value: Fraction, exponent: Exponent) -> Form:
    if isinstance(exponent, int):
        powers: Terms = {tuple((atom, _plain(times * exponent)) for atom, times in monomial): _UNIT}
        if any(atom.kind in _SIMPLER for atom, _ in monomial):
            (only,) = powers
            powers = _normal(only, _UNIT)
        size = max(value.numerator.bit_length(), value.denominator.bit_length())
        if abs(value) == 1 or abs(exponent) == 1 or size * abs(exponent) <= _BITS:
            return Form(powers).scaled(value**exponent)
        huge = Form(
            {tuple(sorted((p, _plain(n * exponent)) for p, n in rational_factors(abs(value)))): _UNIT}
        )
        return Form(powers) * (-huge if value < 0 and exponent % 2 else huge)
    result = _root_of_rational(value, exponent)
    for atom, times in monomial:
        result *= _root_of_atom(atom, times, exponent)
    return result


def _root_of_rational(value: Fraction, exponent: Fraction) -> Form:
    """A rational to a power that is no integer: principal value, but the real root for odd roots."""
    sign = ONE
    if value < 0:
        if exponent.denominator % 2:
            sign = Form.of(-1 if exponent.numerator % 2 else 1)
        elif exponent.denominator == 2:  # noqa: PLR2004 - a square root
            sign = IMAGINARY.to(exponent.numerator)
        else:
            sign = Form.atom(_MINUS, exponent)
    result: Terms = {(): _UNIT}
    for prime, times in rational_factors(abs(value)):
        result = (Form(result) * Form(_normal(((prime, _plain(exponent * times)),), _UNIT))).terms
    return sign * Form(result)


def _root_of_atom(atom: Atom, times: Exponent, exponent: Fraction) -> Form:
    total = _plain(times * exponent)
    even = isinstance(times, int) and times % 2 == 0 and exponent.denominator % 2 == 0
    square = isinstance(total, int) and total % 2 == 0
    if even and not square and atom.kind in {"variable", "function", "sum"} and atom.name != "abs":
        base = atom.arguments[0] if atom.kind == "sum" else Form.atom(atom)
        return Form.atom(Atom("function", "abs", (_signed(base)[1],)), total)
    if atom.kind == "unit":
        return Form.atom(atom, total) if not isinstance(total, int) else IMAGINARY.to(total)
    return Form(_normal(((atom, total),), _UNIT))


def _power_of_sum(form: Form, exponent: Exponent) -> Form:
    content, primitive = _primitive(form)
    if isinstance(exponent, int):
        sign, primitive = _signed(primitive)
        content = -content if sign < 0 else content
    atom = Atom("sum", "", (primitive,))
    if exponent >= 1 and not isinstance(exponent, int):
        return content.to(exponent) * Form(_normal(((atom, exponent),), _UNIT))
    return content.to(exponent) * Form.atom(atom, exponent)


def _signed(form: Form) -> tuple[int, Form]:
    """The form or its negative, whichever has a positive first coefficient."""
    first = min(form.terms, key=lambda monomial: [(atom.key, str(power)) for atom, power in monomial])
    return (-1, -form) if form.terms[first] < 0 else (1, form)


def _primitive(form: Form) -> tuple[Form, Form]:
    """A sum as content times a sum of coprime integer coefficients without a common factor."""
    values = list(form.terms.values())
    top = gcd(*(value.numerator for value in values))
    under = lcm(*(value.denominator for value in values))
    content = Fraction(top, under)
    common = dict(next(iter(form.terms)))
    for monomial in form.terms:
        powers = dict(monomial)
        common = {atom: min(power, powers[atom]) for atom, power in common.items() if atom in powers}
        if not common:
            break
    common = {atom: power for atom, power in common.items() if atom.kind == "variable"}
    if not common:
        return Form.of(content), form.scaled(1 / content)
    factor = tuple(sorted(common.items(), key=_by_key))
    inverse = tuple((atom, -power) for atom, power in factor)
    rest = Form({_join(monomial, inverse)[0]: value / content for monomial, value in form.terms.items()})
    return Form({factor: content}), rest


@lru_cache(maxsize=4096)
def _factors(number: int) -> tuple[tuple[int, int], ...]:
    """Prime factors with multiplicities; a cofactor without small factors counts as a prime."""
    found = []
    for prime in _SMALL_PRIMES:
        if prime * prime > number:
            break
        times = 0
        while number % prime == 0:
            number //= prime
            times += 1
        if times:
            found.append((prime, times))
    if number > 1:
        for index in (2, 3, 5, 7):
            root = integer_root(number, index)
            if root**index == number:
                return (*found, *((prime, index * times) for prime, times in _factors(root)))
        found.append((number, 1))
    return tuple(found)


def integer_root(number: int, index: int) -> int:
    """The largest integer whose power is not above `number`."""
    if index == 2:  # noqa: PLR2004 - a square root
        return isqrt(number)
    guess = 1 << -(-number.bit_length() // index)
    while True:
        better = ((index - 1) * guess + number // guess ** (index - 1)) // index
        if better >= guess:
            return guess
        guess = better


def _sieve(below: int) -> tuple[int, ...]:
    return tuple(n for n in range(2, below) if all(n % d for d in range(2, isqrt(n) + 1)))


_SMALL_PRIMES = _sieve(1000)


def rational_factors(value: Fraction) -> Iterable[tuple[Atom, int]]:
    """A positive rational as primes with integer exponents."""
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        if number.bit_length() > _BITS:
            raise TooLarge(f"a root of an integer of more than {_BITS} bits")
        for prime, times in _factors(number):
            yield Atom("prime", str(prime)), sign * times


def substitute(form: Form, name: str, value: Form, functions: Mapping[str, Callable[..., Form]]) -> Form:
    """The form with a variable replaced; `functions` evaluates those whose arguments change.

    Raises:
        TooLarge: see `spend`.
        ZeroDivisionError: the value makes a denominator zero.
    """
    if name not in form.variables:
        return form
    result = ZERO
    for monomial, coefficient in form.terms.items():
        term = Form.of(coefficient)
        for atom, exponent in monomial:
            term *= _substituted(atom, name, value, functions).to(exponent)
        result += term
    return result


def _substituted(atom: Atom, name: str, value: Form, functions: Mapping[str, Callable[..., Form]]) -> Form:
    if atom.kind == "variable":
        return value if atom.name == name else Form.atom(atom)
    if not atom.arguments:
        return Form.atom(atom)
    arguments = [substitute(each, name, value, functions) for each in atom.arguments]
    if atom.kind == "sum":
        return arguments[0]
    if atom.kind == "power":
        return arguments[0].raised(arguments[1])
    known = functions.get(atom.name)
    return known(*arguments) if known is not None else function(atom.name, *arguments)
