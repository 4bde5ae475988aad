"""From the writing of an answer to its typed value, with the other ways in which it may be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from probatum.scoring.math.forms import TooLarge, counted
from probatum.scoring.math.lexer import Unreadable, clean, tokens_of
from probatum.scoring.math.parser import Parser
from probatum.scoring.math.regions import EVERYTHING, NOTHING
from probatum.scoring.math.values import Scalar, Text, Value

__all__ = ["Answer", "read_answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One writing and what it means."""

    writing: str
    """Cleaned; empty where there is nothing."""
    letters: str
    """The writing without markup, blanks, brackets and case: what words are compared by."""
    readings: tuple[Value, ...]
    """The first one is the usual one. A `Text` that is not understood where nothing parses."""
    problem: str = ""
    """Why the whole did not parse; empty where it did."""
    undefined: bool = False
    """A division by zero: equal to nothing, itself included."""


_COMMA: Final = re.compile(r"(?<![\d.,])(\d+),(?!0+(?!\d))(\d{2,})(?![\d.,])")
"""A decimal comma; with one digit behind it, or nothing but zeros, it is a list: `-5,0`."""
_DATE: Final = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{4}|\d{4}/\d{1,2}/\d{1,2}|\d{4}年.*|\d{1,2}月\d{1,2}日?"
)
"""A date is no difference and no quotient."""
_MARKUP: Final = re.compile(
    r"\\(?:text|textbf|textit|textrm|mbox|mathrm|mathbf|mathit|operatorname|boxed|left|right|quad|qquad|displaystyle)"
    r"(?![a-zA-Z])|\\[,;:! ]|[{}()\[\]\s~$*.,'\"]"
)
_WORDS: Final = re.compile(r"[^\W\d_](?:[^\W_]|[\s,.'’\"()-])*")
_EVERYTHING: Final = frozenset(
    (
        "allrealnumbers",
        "allreals",
        "allrealx",
        "everyrealnumber",
        "anyrealnumber",
        "realnumbers",
        "全体实数",
        "一切实数",
        "任意实数",
    )
)
_NOTHING: Final = frozenset(
    (
        "nosolution",
        "nosolutions",
        "norealsolution",
        "norealsolutions",
        "emptyset",
        "theemptyset",
        "无解",
        "空集",
        "无实数解",
    )
)
_SAME_WORDS: Final[Mapping[str, str]] = {
    "dne": "doesnotexist",
    "不存在": "doesnotexist",
    "none": "nosolution",
}


@lru_cache(maxsize=4096)
def read_answer(text: str) -> Answer:
    r"""What a bare answer means. Never raises.

    >>> read_answer(r"\frac{1}{2}").readings[0].form.constant
    Fraction(1, 2)
    """
    writing = clean(text)
    if not writing:
        return Answer("", "", ())
    letters = _letters(writing)
    if letters in _EVERYTHING:
        return Answer(writing, letters, (EVERYTHING,))
    if _DATE.fullmatch(writing):
        return Answer(writing, letters, (Text(letters),))
    if letters in _NOTHING:
        return Answer(writing, letters, (NOTHING,))
    value, problem, undefined = _parsed(writing)
    if value is None:
        plain = _MARKED.sub(r"\1", writing)
        words = _WORDS.fullmatch(plain) is not None
        return Answer(writing, letters, (Text(letters, understood=words),), problem, undefined)
    readings = [value]
    if "," in writing and not _BRACKETS.search(writing) and len(_COMMA.findall(writing)) == 1:
        other = _COMMA.sub(r"\1.\2", writing, count=1)
        second = _parsed(other)[0] if "," not in other else None
        readings += [second] if second is not None else []
    letter = _LETTER_UNIT.fullmatch(writing)
    if letter is not None:  # 5 m: five metres, or five times m
        second = _parsed(letter["number"])[0]
        readings += [replace(second, unit=letter["unit"])] if isinstance(second, Scalar) else []
    return Answer(writing, letters, tuple(readings))


_LETTER_UNIT: Final = re.compile(
    r"(?P<number>-?[\d.,]+(?:(?<=[.,]\d)|(?<=[.,]\d\d)|(?<=[.,]\d\d\d)|\s))\s?(?P<unit>[mgshLlNJWVAK](?:\^\{?[23]\}?)?)"
)
_BRACKETS: Final = re.compile(r"[(\[{]")
_MARKED: Final = re.compile(r"\\(?:text|textbf|textit|textrm|mbox|mathrm|mathbf|operatorname)\s?\{([^{}]*)\}")


def _letters(writing: str) -> str:
    plain = _MARKUP.sub("", writing).casefold()
    return _SAME_WORDS.get(plain, plain)


def _parsed(writing: str) -> tuple[Value | None, str, bool]:
    """The value, why there is none, and whether it divides by zero."""
    try:
        with counted():
            return Parser(tokens_of(writing)).whole(), "", False
    except ZeroDivisionError:
        return None, "a division by zero", True
    except (Unreadable, TooLarge) as reason:
        return None, str(reason), False
