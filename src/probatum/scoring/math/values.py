"""The types of answers: what is compared depends on what an answer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from probatum.scoring.math.forms import Form

__all__ = [
    "PAIR",
    "Base",
    "Clock",
    "Collection",
    "Equation",
    "Interval",
    "Matrix",
    "Order",
    "Ratio",
    "Region",
    "Scalar",
    "Text",
    "Value",
]


PAIR: Final = 2
"""Elements of a pair: two ends of an interval, two parts of a quotient."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or an expression, perhaps with a unit."""

    form: Form
    unit: str = ""
    """As written; empty where there is none."""
    decimal: bool = False
    """Written with a decimal point, so that it may be a rounded value."""


@dataclass(frozen=True, slots=True)
class Base:
    """Digits in a named base: 52_8."""

    digits: str
    base: int
    negative: bool = False

    @property
    def number(self) -> int | None:
        """The number, or `None` where a digit does not belong to the base."""
        try:
            return int(self.digits, self.base) * (-1 if self.negative else 1)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Collection:
    """Values by commas: in parentheses, brackets or braces, or with nothing around them."""

    kind: Literal["tuple", "bracket", "set", "list"]
    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval; `None` is infinity on that side."""

    low: Form | None
    high: Form | None
    low_closed: bool
    high_closed: bool


@dataclass(frozen=True, slots=True)
class Region:
    """A set of real numbers: intervals in ascending order, apart from each other."""

    parts: tuple[Interval, ...]
    variable: str | None = None
    """What lies in it, where the answer says so."""


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right`; a chain a = b = c is `a = c`."""

    left: Value
    right: Value
    named: bool
    """The left side is a name (x, f(x), AB, |AB|), so that the right side is what is asked for."""


@dataclass(frozen=True, slots=True)
class Order:
    """Inequalities that do not bound one unknown: each pair says that the first form is below zero."""

    pairs: frozenset[tuple[Form, str]]
    """(form, `<` or `<=`), or (form, `!=`)."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of equal length."""

    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """a : b, or a : b : c."""

    parts: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, or a ratio that looks like one."""

    parts: tuple[int, ...]
    half: str = ""
    """`a` before noon, `p` after, empty where it is not said."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words, or a writing that is not understood."""

    words: str
    """Without differences in case and blanks."""
    understood: bool = True
    """Whether it is words; otherwise it holds mathematics that could not be read."""


Value = Scalar | Base | Collection | Interval | Region | Equation | Order | Matrix | Ratio | Clock | Text
