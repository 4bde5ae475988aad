"""Whether two answers are the same mathematics: yes, no, or undecided, with the rule that decided."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from probatum.core.errors import ProtocolError
from probatum.scoring.math.forms import PI, Form, Monomial, TooLarge, counted, spend, substitute, variable
from probatum.scoring.math.functions import FUNCTIONS
from probatum.scoring.math.lexer import Unreadable
from probatum.scoring.math.numeric import agree, real_value
from probatum.scoring.math.reading import Answer, read_answer
from probatum.scoring.math.regions import Unordered, unite
from probatum.scoring.math.separation import proves_zero
from probatum.scoring.math.structures import as_region
from probatum.scoring.math.units import read_unit
from probatum.scoring.math.values import (
    PAIR,
    Base,
    Clock,
    Collection,
    Equation,
    Interval,
    Matrix,
    Order,
    Ratio,
    Region,
    Scalar,
    Text,
    Value,
)

__all__ = ["Conventions", "Equivalence", "compare_answers", "math_equal"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The verdict on two answers."""

    verdict: bool | None
    """`None` is undecided, which never counts as equal."""
    rule: str
    """What decided: `same writing`, `exact`, `form`, `value`, `agreement`, `text`, `type`, …"""
    reason: str
    """One line."""


_MOST_DECIMALS: Final = 50
"""Places up to which rounding is decided."""


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """What a task takes for granted about the writing of answers."""

    percent: Literal["either", "unit", "fraction"] = "either"
    """Whether 25% is 25 (the question asks for a percentage), 1/4, or either of them."""
    units: Literal["optional", "required"] = "optional"
    """Whether a unit that only one answer names may be left out."""
    ordered: bool = False
    """Whether the order of a bare list (`1, 2, 3`) counts; that of a tuple always does."""
    decimals: int | None = None
    """Where one of two numbers is written as a decimal, they are equal up to half of the last of so many
    places. `None`: they are compared exactly."""

    def __post_init__(self) -> None:
        if self.decimals is not None and not 0 <= self.decimals <= _MOST_DECIMALS:
            raise ProtocolError(f"decimals {self.decimals!r}: give a number of places from 0 to 50")
        for name, value, known in (
            ("percent", self.percent, ("either", "unit", "fraction")),
            ("units", self.units, ("optional", "required")),
        ):
            if value not in known:
                raise ProtocolError(f"{name} {value!r}: give one of {', '.join(known)}")


USUAL: Final = Conventions()


def math_equal(a: str, b: str, conventions: Conventions = USUAL) -> bool | None:
    r"""Whether two bare answers are the same mathematics; `None` where it cannot be decided.

    The order of the arguments does not matter. LaTeX, plain text and Unicode signs are read alike; see
    docs/mathematics.md for what is read, and `compare_answers` for the reason of a verdict.

    >>> math_equal(r"\frac{\sqrt{2}}{2}", r"1/\sqrt2"), math_equal("(1, 2)", "(2, 1)")
    (True, False)
    """
    return compare_answers(a, b, conventions).verdict


def compare_answers(a: str, b: str, conventions: Conventions = USUAL) -> Equivalence:
    """The verdict with the rule that decided and the reason. Never raises on account of the answers."""
    one, two = read_answer(a), read_answer(b)
    if not one.writing or not two.writing:
        return Equivalence(None, "empty", "an answer is empty")
    if one.undefined or two.undefined:
        return Equivalence(None, "undefined", "an answer divides by zero")
    if one.writing == two.writing:
        return Equivalence(True, "same writing", "the same writing")
    if one.writing > two.writing:  # one order for both, whatever is done below
        one, two = two, one
    found = _within_count(one, two, conventions)
    if found.verdict is False and one.family and two.family:
        return _unknown("family", "two families over the integers may be the same in other writings")
    return found


def _within_count(one: Answer, two: Answer, conventions: Conventions) -> Equivalence:
    try:
        with counted():
            return _any_reading(one, two, conventions)
    except TooLarge as limit:
        return _unknown("limit", str(limit))
    except ZeroDivisionError:
        return _unknown("undefined", "a division by zero")
    except RecursionError:  # called from a stack that is nearly full
        return _unknown("limit", "nested too deeply")


def _any_reading(one: Answer, two: Answer, conventions: Conventions) -> Equivalence:
    if not _understood(one) or not _understood(two):
        if one.plain == two.plain:
            return Equivalence(True, "text", "the same writing but for blanks")
        problem = one.problem or two.problem or "an answer has no reading"
        return Equivalence(None, "not read", problem)
    comparison = _Comparison(conventions, one.letters, two.letters)
    first: Equivalence | None = None
    for left in one.readings:
        for right in two.readings:
            found = comparison.values(left, right)
            if found.verdict:
                return found
            first = first or found
    return first if first is not None else Equivalence(None, "not read", "an answer has no reading")


def _understood(answer: Answer) -> bool:
    return all(not isinstance(value, Text) or value.understood for value in answer.readings)


_STEPS_OF_FORM: Final = 15_000
"""Steps that clearing denominators may take before values are looked at instead."""
_BITS_OF_DIGITS: Final = 10_000
"""Size up to which an integer is written in decimal digits."""
_YES = Equivalence(True, "exact", "equal")


def _no(rule: str, reason: str) -> Equivalence:
    return Equivalence(False, rule, reason)


def _unknown(rule: str, reason: str) -> Equivalence:
    return Equivalence(None, rule, reason)


_INDEPENDENT: Final = frozenset({"variable", "prime", "unit"})
_TRUE_PRIMES: Final = 10**6
"""Factors below are primes: all small ones were divided out."""


def _independent(form: Form) -> bool:
    """Whether a form that is not empty is not zero: no relation can hold between its atoms."""
    constants = set()
    for monomial in form.terms:
        for atom, exponent in monomial:
            if atom.kind == "constant" and atom.name in {"e", "pi"}:
                constants.add(atom.name)
            elif (
                atom.kind not in _INDEPENDENT
                or (atom.kind == "unit" and not isinstance(exponent, int))
                or (atom.kind == "prime" and (int(atom.name) > _TRUE_PRIMES or not 0 < exponent < 1))
            ):
                return False
    return len(constants) < PAIR  # nobody has proved e and π independent


def same_form(one: Form, two: Form) -> Equivalence:
    """Whether two expressions are equal."""
    difference = one - two
    if not difference.terms:
        return _YES
    if difference.constant is not None:
        return _no("exact", "the numbers differ")
    try:
        with counted(_STEPS_OF_FORM):
            zero = difference.is_zero()
    except TooLarge:
        zero = False
    if zero:
        return Equivalence(True, "form", "equal as expressions")
    if _independent(difference):
        return _no("form", "the expressions differ")
    return _by_value(difference)


def _by_value(difference: Form) -> Equivalence:
    """What the values of a difference say about it."""
    found = agree(difference)
    if found.zero is None:
        return _unknown("value", found.reason)
    if not found.zero:
        return Equivalence(False, "value", found.reason)
    if proves_zero(difference):
        return Equivalence(True, "separation", "the difference is smaller than any such root but zero")
    return Equivalence(True, "agreement", found.reason)


def _all(verdicts: list[Equivalence]) -> Equivalence:
    """Equal where all are; unequal where one is; else undecided."""
    undecided = None
    weakest = _YES
    for each in verdicts:
        if each.verdict is False:
            return each
        if each.verdict is None:
            undecided = undecided or each
        elif each.rule != "exact":
            weakest = each
    return undecided or weakest


class _Comparison:
    """Compares typed values under the conventions of a task."""

    def __init__(self, conventions: Conventions, one: str, two: str) -> None:
        self.conventions = conventions
        self.one, self.two = one, two
        """Letters of the two writings, for words."""

    def values(self, one: Value, two: Value) -> Equivalence:
        """The verdict on two values of any types."""
        if isinstance(one, Text) or isinstance(two, Text):
            return self.texts(one, two)
        if isinstance(one, Equation) or isinstance(two, Equation):
            return self.equations(one, two)
        for first, second in ((one, two), (two, one)):
            for kinds, compare in _PAIRS:
                if isinstance(first, kinds[0]) and isinstance(second, kinds[1]):
                    return compare(self, first, second)
        single = _unwrapped(one), _unwrapped(two)
        if single != (one, two):
            return self.values(*single)
        return _no("type", f"{_kind(one)} and {_kind(two)}")

    # -- words

    def texts(self, one: Value, two: Value) -> Equivalence:
        if self.one == self.two or (
            isinstance(one, Text) and isinstance(two, Text) and one.words == two.words
        ):
            return Equivalence(True, "text", "the same words")
        if isinstance(one, Text) and isinstance(two, Text):
            return _no("text", "the words differ")
        text, other = (one, two) if isinstance(one, Text) else (two, one)
        if isinstance(other, Equation) and other.named:
            return self.values(text, other.right)
        return _no("type", f"words and {_kind(other)}")

    # -- numbers and expressions

    def scalars(self, one: Scalar, two: Scalar) -> Equivalence:
        if one.unit or two.unit:
            return self.quantities(one, two)
        return self.forms(one.form, two.form, rounded=one.decimal or two.decimal)

    def forms(self, one: Form, two: Form, *, rounded: bool = False) -> Equivalence:
        found = same_form(one, two)
        places = self.conventions.decimals
        if found.verdict is False and rounded and places is not None:
            difference = real_value(one - two)
            if difference is not None and abs(difference) <= Decimal(5).scaleb(-places - 1):
                return Equivalence(True, "rounded", f"equal to {places} decimals")
        return found

    def quantities(self, one: Scalar, two: Scalar) -> Equivalence:
        rounded = one.decimal or two.decimal
        if not one.unit or not two.unit:
            bare, measured = (two, one) if one.unit else (one, two)
            return self.left_out(bare, measured, rounded=rounded)
        first, second = read_unit(one.unit), read_unit(two.unit)
        if first is not None and second is not None and first[1] and second[1]:
            if first[1] != second[1]:
                return _no("unit", f"{one.unit!r} and {two.unit!r} are different units")
            return self.forms(one.form.scaled(first[0]), two.form.scaled(second[0]), rounded=rounded)
        found = self.forms(one.form, two.form, rounded=rounded)
        units = [unit for unit in (first, second) if unit is not None]
        loose = not all(unit[1] for unit in units) or _same_noun(one.unit, two.unit, known=len(units))
        if not found.verdict or loose:
            return found
        return _unknown("unit", f"whether {one.unit!r} is {two.unit!r} is not known")

    def left_out(self, bare: Scalar, measured: Scalar, *, rounded: bool) -> Equivalence:
        unit = read_unit(measured.unit)
        percent = unit is not None and unit[1] == (("percent", 1),)
        if percent and self.conventions.percent == "fraction":
            return self.forms(bare.form, measured.form.scaled(Fraction(1, 100)), rounded=rounded)
        if self.conventions.units == "required" and not percent:
            return _no("unit", f"the unit {measured.unit!r} is missing")
        found = self.forms(bare.form, measured.form, rounded=rounded)
        if found.verdict is not False or unit is None:
            return found
        if percent and self.conventions.percent == "either":
            return self.forms(bare.form, measured.form.scaled(Fraction(1, 100)), rounded=rounded)
        if unit[1] == (("angle", 1),):
            return self.forms(bare.form, (measured.form * PI).scaled(unit[0] / 180), rounded=rounded)
        return found

    def bases(self, one: Base, two: Base) -> Equivalence:
        if one.base == two.base:
            same = (one.digits, one.negative) == (two.digits, two.negative)
            return _YES if same else _no("exact", "the digits differ")
        if one.number is not None and one.number == two.number:
            return _unknown("base", f"the same number in base {one.base} and in base {two.base}")
        return _no("base", "the numbers differ")

    def base_left_out(self, one: Base, two: Scalar) -> Equivalence:
        value, sign = two.form.integer, "-" if one.negative else ""
        if value is not None and value.bit_length() < _BITS_OF_DIGITS and str(value) == sign + one.digits:
            return Equivalence(True, "base", f"the same digits; the base {one.base} is left out")
        return _no("base", "the digits differ")

    # -- ratios and times

    def ratios(self, one: Ratio, two: Ratio) -> Equivalence:
        if len(one.parts) != len(two.parts):
            return _no("ratio", "ratios of different length")
        pivot, other = one.parts[0], two.parts[0]
        return _all([same_form(pivot * y, other * x) for x, y in zip(one.parts, two.parts, strict=True)])

    def ratio_and_scalar(self, one: Ratio, two: Scalar) -> Equivalence:
        if len(one.parts) != PAIR:
            return _no("type", "a ratio of several numbers and a number")
        return same_form(one.parts[0], one.parts[1] * two.form)

    def clocks(self, one: Clock, two: Clock) -> Equivalence:
        halves = {one.half, two.half} - {""}
        if len(halves) == 1 and _of_24_hours(one) == _of_24_hours(two):
            return _YES
        if one.parts == two.parts:
            return _YES if len(halves) < PAIR else _no("time", "before noon and after noon")
        if halves or len(one.parts) != len(two.parts) or 0 in {*one.parts, *two.parts}:
            return _no("time", "the times differ")
        if self.ratios(_as_ratio(one), _as_ratio(two)).verdict:
            return _unknown("time", "equal as ratios, but different as times of day")
        return _no("time", "the times differ")

    def clock_and_ratio(self, one: Clock, two: Ratio) -> Equivalence:
        return self.ratios(_as_ratio(one), two) if not one.half else _no("type", "a time and a ratio")

    # -- collections

    def collections(self, one: Collection, two: Collection) -> Equivalence:
        kinds = {one.kind, two.kind}
        if kinds <= {"tuple", "bracket"}:
            return self.tuples(one, two)
        if kinds == {"set"}:
            return self.in_any_order(self.distinct(one.items), self.distinct(two.items))
        if kinds == {"list"}:
            return self.lists(one, two)
        if "list" not in kinds:
            return _no("type", "a set and a tuple")
        listed, other = (one, two) if one.kind == "list" else (two, one)
        items = _without_names(listed.items)
        return (self.in_any_order if other.kind == "set" else self.in_order)(items, other.items)

    def tuples(self, one: Collection, two: Collection) -> Equivalence:
        if (
            one.kind != two.kind and len(one.items) == len(two.items) == PAIR
        ):  # (1, 2) and [1, 2] are intervals
            if not _ends(one) or not _ends(two):
                return _no("type", "parentheses and brackets")
            return self.regions(as_region(one), as_region(two))
        return self.in_order(one.items, two.items)

    def lists(self, one: Collection, two: Collection) -> Equivalence:
        left: Sequence[Value] = _name_dropped(one.items)
        right: Sequence[Value] = _name_dropped(two.items)
        names = _names(left), _names(right)
        if bool(names[0]) != bool(names[1]):
            different = set(names[0] or names[1])
            distinct = len(different) > 1 and not _numbered(different)
            left, right = _without_names(left), _without_names(right)
            return self.in_order(left, right) if distinct else self.in_any_order(left, right)
        if self.conventions.ordered and not names[0]:
            return self.in_order(left, right)
        if all(isinstance(item, Collection) for item in (*left, *right)):
            left, right = self.distinct(left), self.distinct(right)  # a point named twice is one point
        return self.in_any_order(left, right)

    def in_order(self, one: Sequence[Value], two: Sequence[Value]) -> Equivalence:
        if len(one) != len(two):
            return _no("size", f"{min(len(one), len(two))} and {max(len(one), len(two))} elements")
        return _all([self.parts(x, y) for x, y in zip(one, two, strict=True)])

    def in_any_order(self, one: Sequence[Value], two: Sequence[Value]) -> Equivalence:
        if len(one) != len(two):
            return _no("size", f"{min(len(one), len(two))} and {max(len(one), len(two))} elements")
        one, waiting = _without_equals(one, two)
        found: list[Equivalence] = []
        undecided: Equivalence | None = None
        for item in one:
            for place, other in enumerate(waiting):
                each = self.parts(item, other)
                if each.verdict:
                    found.append(each)
                    del waiting[place]
                    break
                undecided = undecided or (each if each.verdict is None else None)
            else:
                return undecided or _no("elements", "an element has no counterpart")
        return _all(found)

    def distinct(self, items: Sequence[Value]) -> list[Value]:
        kept: list[Value] = []
        for item in dict.fromkeys(items):
            if not any(self.parts(item, other).verdict for other in kept):
                kept.append(item)
        return kept

    def parts(self, one: Value, two: Value) -> Equivalence:
        """Elements: words in them are compared by themselves."""
        spend(1)
        inside = _Comparison(self.conventions, _words(one), _words(two))
        return inside.values(one, two)

    # -- sets of numbers

    def regions(self, one: Region, two: Region) -> Equivalence:
        if one.variable and two.variable and one.variable != two.variable:
            return _no("name", f"{one.variable!r} and {two.variable!r} are different names")
        if len(one.parts) != len(two.parts):
            return _no("set", "sets of different parts")
        return _all([self.intervals(x, y) for x, y in zip(one.parts, two.parts, strict=True)])

    def intervals(self, one: Interval, two: Interval) -> Equivalence:
        if (one.low_closed, one.high_closed) != (two.low_closed, two.high_closed):
            return _no("set", "an end belongs to one set only")
        verdicts = []
        for first, second in ((one.low, two.low), (one.high, two.high)):
            if (first is None) != (second is None):
                return _no("set", "one set has no end where the other has one")
            if first is not None and second is not None:
                verdicts.append(self.forms(first, second, rounded=True))
        return _all(verdicts)

    def region_and_collection(self, one: Region, two: Collection) -> Equivalence:
        try:
            if two.kind == "list" and not any(isinstance(item, Scalar) for item in two.items):
                return self.regions(one, unite([as_region(item) for item in two.items]))
            return self.regions(one, as_region(two))
        except (Unreadable, Unordered):
            return _no("type", f"a set of numbers and {_kind(two)}")

    def orders(self, one: Order, two: Order) -> Equivalence:
        if one.pairs == two.pairs:
            return Equivalence(True, "form", "the same inequalities")
        if all(_independent(form) for form, _ in one.pairs | two.pairs):
            return _no("form", "the inequalities differ")
        return _unknown("form", "whether the inequalities are the same is not known")

    # -- matrices

    def matrices(self, one: Matrix, two: Matrix) -> Equivalence:
        if len(one.rows) != len(two.rows) or len(one.rows[0]) != len(two.rows[0]):
            return _no("size", "matrices of different shape")
        return self.in_order([x for row in one.rows for x in row], [x for row in two.rows for x in row])

    def matrix_and_collection(self, one: Matrix, two: Collection) -> Equivalence:
        if two.kind == "set":
            return _no("type", "a matrix and a set")
        if len(one.rows) == 1 or len(one.rows[0]) == 1:
            return self.in_order([x for row in one.rows for x in row], two.items)
        rows = [item.items for item in two.items if isinstance(item, Collection)]
        if len(rows) != len(two.items) or len({len(row) for row in rows}) != 1:
            return _no("type", "a matrix and a list")
        return self.matrices(one, Matrix(tuple(rows)))

    # -- equations

    def equation_and_value(self, one: Value, two: Value) -> Equivalence:
        """`x = 5` and 5: the name says nothing else."""
        if not isinstance(one, Equation) or not one.named:
            return _no("type", f"an equation and {_kind(two)}")
        return self.parts(one.right, two)

    def equations(self, one: Value, two: Value) -> Equivalence:
        if not isinstance(one, Equation):
            return self.equation_and_value(two, one)
        if not isinstance(two, Equation):
            return self.equation_and_value(one, two)
        shapes = _zero_sides(one), _zero_sides(two)
        if shapes[0] is not None and shapes[1] is not None:
            found = _proportional(shapes[0], shapes[1])
            if found.verdict or not (one.named and two.named):
                return found
        if not (one.named and two.named):
            return _no("type", "equations of different kinds")
        return self.named(one, two)

    def named(self, one: Equation, two: Equation) -> Equivalence:
        """Equations that say what a name stands for."""
        if self.parts(one.left, two.left).verdict:
            return self.parts(one.right, two.right)
        renamed = _renamed(one, two)
        if renamed is not None:
            return self.parts(renamed, two.right)
        if _is_graph(one.left, two.left) or _is_graph(two.left, one.left):
            return self.parts(one.right, two.right)
        return _no("name", "the equations name different things")


def _without_equals(one: Sequence[Value], two: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """Both without the elements that are the same in both, as often as they are."""
    counts = Counter(map(_shape, two))
    left = []
    for item in one:
        shape = _shape(item)
        if counts[shape]:
            counts[shape] -= 1
        else:
            left.append(item)
    right = []
    for item in reversed(two):
        shape = _shape(item)
        if counts[shape]:
            counts[shape] -= 1
            right.append(item)
    return left, right[::-1]


def _shape(value: Value) -> Value | Form:
    """Equal shapes are equal values."""
    return value.form if isinstance(value, Scalar) and not value.unit else value


def _ends(value: Collection) -> bool:
    return all(isinstance(item, Scalar) and not item.unit for item in value.items)


def _of_24_hours(clock: Clock) -> tuple[int, ...]:
    """The time with its hour from 0 to 23."""
    hour, *rest = clock.parts
    if clock.half and 1 <= hour <= _NOON:
        hour = hour % _NOON + (_NOON if clock.half == "p" else 0)
    return (hour, *rest)


_NOON: Final = 12


def _as_ratio(clock: Clock) -> Ratio:
    return Ratio(tuple(Form.of(part) for part in clock.parts))


def _unwrapped(value: Value) -> Value:
    """The element of a set or a matrix of one element."""
    if isinstance(value, Collection) and value.kind != "tuple" and len(value.items) == 1:
        return value.items[0]
    if isinstance(value, Matrix) and len(value.rows) == 1 and len(value.rows[0]) == 1:
        return value.rows[0][0]
    return value


def _words(value: Value) -> str:
    if isinstance(value, Text):
        return value.words.replace(" ", "")
    if isinstance(value, Scalar):
        only = value.form.single
        if only is not None and only[1] == 1 and not value.unit:
            names = [
                atom.name
                for atom, power in only[0]
                if atom.kind in {"variable", "constant", "unit"} and power == 1
            ]
            if len(names) == len(only[0]) == 1:
                return names[0].casefold()
    return f"{id(value)}"


def _kind(value: Value) -> str:
    if isinstance(value, Collection):
        return {"tuple": "a tuple", "bracket": "a tuple", "set": "a set", "list": "a list"}[value.kind]
    return _KINDS.get(type(value), "another type")


_KINDS: Final[dict[type, str]] = {
    Scalar: "a number",
    Base: "a number in another base",
    Region: "a set of numbers",
    Equation: "an equation",
    Order: "inequalities",
    Matrix: "a matrix",
    Ratio: "a ratio",
    Clock: "a time",
    Text: "words",
}


def _same_noun(one: str, two: str, *, known: int) -> bool:
    """Apples and red apples, piece and pieces; beside a known unit, only more words about it."""
    left, right = (
        {word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.casefold())} for text in (one, two)
    )
    if known and _COMPOUND.search(f"{one} {two}".casefold()):
        return False
    return bool(left) and bool(right) and (left <= right or right <= left)


_COMPOUND: Final = re.compile(r"[/^*·²³]|\bper\b|\bsquare|\bcubic\b|平方|立方|每")


def _names(items: Sequence[Value]) -> list[str]:
    """What the equations of a list name, where every item is one."""
    if not all(isinstance(item, Equation) and item.named for item in items):
        return []
    return [
        item.left.form.key if isinstance(item.left, Scalar) else repr(item.left)
        for item in items
        if isinstance(item, Equation)
    ]


def _numbered(names: set[str]) -> bool:
    """Roots x_1, x_2, …: the numbers say nothing about which is which."""
    found = [_INDEXED.fullmatch(name) for name in names]
    letters = {match["letter"] for match in found if match is not None}
    numbers = sorted(int(match["number"]) for match in found if match is not None)
    return None not in found and len(letters) == 1 and numbers == list(range(1, len(names) + 1))


_INDEXED: Final = re.compile(r"1\*va:(?P<letter>\w+)_(?P<number>\d{1,4})\^1")


def _name_dropped(items: Sequence[Value]) -> tuple[Value, ...]:
    """X = 1, 2, 3: the name belongs to the whole list."""
    first = items[0] if items else None
    if (
        isinstance(first, Equation)
        and first.named
        and not any(isinstance(item, Equation) for item in items[1:])
    ):
        return (first.right, *items[1:])
    return tuple(items)


def _without_names(items: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(item.right if isinstance(item, Equation) and item.named else item for item in items)


def _zero_sides(equation: Equation) -> Form | None:
    """Left − right without denominators; `None` where a side is no expression."""
    if not isinstance(equation.left, Scalar) or not isinstance(equation.right, Scalar):
        return None
    return (equation.left.form - equation.right.form).numerator()


def _by_variables(form: Form) -> dict[Monomial, Form]:
    """Coefficients, themselves constants, of the products of what is not constant."""
    found: dict[Monomial, Form] = {}
    for monomial, value in form.terms.items():
        free = tuple(pair for pair in monomial if pair[0].kind in {"variable", "function", "sum", "power"})
        rest = tuple(pair for pair in monomial if pair not in free)
        found[free] = found.get(free, Form({})) + Form({rest: value})
    return found


def _proportional(one: Form, two: Form) -> Equivalence:
    """Whether two equations `form = 0` are a constant multiple of each other."""
    if not one.terms or not two.terms:
        return _YES if one.terms == two.terms else _no("form", "one equation always holds")
    left, right = _by_variables(one), _by_variables(two)
    if left.keys() != right.keys():
        if _independent(one) and _independent(two):
            return _no("form", "the equations differ")
        return _unknown("form", "whether the equations are the same is not known")
    pivot = min(left, key=str)
    return _all([same_form(left[each] * right[pivot], right[each] * left[pivot]) for each in left])


def _is_graph(one: Value, two: Value) -> bool:
    """Y = 2x + 1 is f(x) = 2x + 1."""
    if not isinstance(one, Scalar) or not isinstance(two, Scalar) or one.form != variable("y"):
        return False
    atom = next(iter(two.form.atoms()), None)
    return atom is not None and atom.kind == "function" and atom.arguments == (variable("x"),)


def _renamed(one: Equation, two: Equation) -> Value | None:
    """The right side of f(n) = … with n as the other equation calls it."""
    sides = one.left, two.left
    if not all(isinstance(side, Scalar) for side in sides) or not isinstance(one.right, Scalar):
        return None
    atoms = [next(iter(side.form.atoms()), None) for side in sides if isinstance(side, Scalar)]
    first, second = atoms
    if first is None or second is None or first.kind != "function" or first.name != second.name:
        return None
    if len(first.arguments) != 1 or len(second.arguments) != 1:
        return None
    names = [next(iter(atom.arguments[0].variables), "") for atom in (first, second)]
    if any(atom.arguments[0] != variable(name) for atom, name in zip((first, second), names, strict=True)):
        return None
    return Scalar(substitute(one.right.form, names[0], variable(names[1]), FUNCTIONS))


_Compare = Callable[..., Equivalence]
_PAIRS: Final[tuple[tuple[tuple[type, type], _Compare], ...]] = (
    ((Scalar, Scalar), _Comparison.scalars),
    ((Collection, Collection), _Comparison.collections),
    ((Region, Region), _Comparison.regions),
    ((Region, Collection), _Comparison.region_and_collection),
    ((Matrix, Matrix), _Comparison.matrices),
    ((Matrix, Collection), _Comparison.matrix_and_collection),
    ((Ratio, Ratio), _Comparison.ratios),
    ((Ratio, Scalar), _Comparison.ratio_and_scalar),
    ((Base, Base), _Comparison.bases),
    ((Base, Scalar), _Comparison.base_left_out),
    ((Clock, Clock), _Comparison.clocks),
    ((Clock, Ratio), _Comparison.clock_and_ratio),
    ((Order, Order), _Comparison.orders),
)
