"""From the writing of an answer to its typed value, with the other ways in which it may be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from probatum.extraction.numerals import leading_words
from probatum.scoring.math.forms import Form, TooLarge, counted
from probatum.scoring.math.lexer import Unreadable, clean, tokens_of
from probatum.scoring.math.parser import Parser
from probatum.scoring.math.regions import EVERYTHING, NOTHING
from probatum.scoring.math.units import read_unit
from probatum.scoring.math.values import Scalar, Text, Value

__all__ = ["Answer", "read_answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One writing and what it means."""

    writing: str
    """Cleaned; empty where there is nothing."""
    letters: str
    """The writing without markup, blanks, brackets and case: what words are compared by."""
    plain: str
    """The writing without blanks and sizes of brackets: what is not understood is compared by."""
    readings: tuple[Value, ...]
    """The first one is the usual one. A `Text` that is not understood where nothing parses."""
    problem: str = ""
    """Why the whole did not parse; empty where it did."""
    undefined: bool = False
    """A division by zero: equal to nothing, itself included."""
    family: bool = False
    """Holds for every integer that it names (`2kπ, k ∈ ℤ`): other writings may be the same family."""


_COMMA: Final = re.compile(r"(?<![\d.,])(\d+),(?!0+(?!\d))(\d{2,})(?![\d.,])")
"""A decimal comma; with one digit behind it, or nothing but zeros, it is a list: `-5,0`."""
_YEAR, _MONTH, _DAY = r"(?:1[5-9]|20)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_DATE: Final = re.compile(
    rf"{_YEAR}-{_MONTH}-{_DAY}|{_YEAR}/{_MONTH}/{_DAY}|{_DAY}/{_DAY}/{_YEAR}|{_YEAR}年.{{0,12}}|{_MONTH}月{_DAY}[日号]?"
)
"""A date is no difference and no quotient."""
_CONGRUENCE: Final = re.compile(
    r"(?:(?P<name>[a-zA-Z])\s{0,4}\\equiv(?:\{\})?\s{0,4})?(?P<rest>-?\d{1,40})\s{0,4}"
    r"(?:\\pmod\s{0,4}\{?|\(?\s{0,4}(?:\\(?:text|mathrm|operatorname)\{\s{0,4}mod\s{0,4}\}|\\[bm]?mod|mod)(?:\\?\s){0,4}\{?)\s{0,4}"
    r"(?P<modulus>\d{1,40})\s{0,4}[})]*"
)
"""`x \\equiv 5 \\pmod 7`: a class of integers, whatever member is named."""
_MARKUP: Final = re.compile(
    r"\\(?:text|textbf|textit|textrm|mbox|mathrm|mathbf|mathit|operatorname|boxed|left|right|quad|qquad|displaystyle)"
    r"(?![a-zA-Z])|\\[,;:! ]|[{}()\[\]\s~$*]|(?<!\d)[.,]|[.,](?!\d)|(?<![\w)}\]])['\"]|['\"](?=\w)"
)
_WORDS: Final = re.compile(r"[^\W\d_](?:[^\W_]|[\s,.'’\"()-])*")
_EVERYTHING: Final = frozenset(
    (
        "allrealnumbers",
        "allreals",
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
        return Answer("", "", "", ())
    letters, plain = _letters(writing), _SIZES.sub("", writing)
    known = _known(letters, writing)
    if known is not None:
        return Answer(writing, letters, plain, (known,))
    family = _FAMILY.search(writing)
    body = writing[: family.start()] if family is not None else writing
    value, problem, undefined = _parsed(body)
    if value is None and (value := _measured(body)) is not None:
        return Answer(writing, letters, plain, (value,))
    if value is None:
        words = _WORDS.fullmatch(_MARKED.sub(r"\1", writing)) is not None
        return Answer(writing, letters, plain, (Text(letters, understood=words),), problem, undefined)
    readings = (value, *_other_readings(body))
    return Answer(writing, letters, plain, readings, family=family is not None)


def _known(letters: str, writing: str) -> Value | None:
    """Words that name a set or a number, congruences, and dates."""
    if letters in _EVERYTHING:
        return EVERYTHING
    if letters in _NOTHING:
        return NOTHING
    if (congruence := _CONGRUENCE.fullmatch(writing)) is not None:
        modulus = int(congruence["modulus"])
        rest = int(congruence["rest"]) % modulus if modulus else int(congruence["rest"])
        return Text(f"{congruence['name'] or ''}≡{rest} mod {modulus}")
    if writing[:1].isalpha() or writing[:1] == "\\":
        words = _MARKED.sub(r"\1", writing).strip()
        spelled = leading_words(words)
        if spelled is not None and spelled[1] == len(words):
            return Scalar(Form.of(spelled[0]))
    return Text(letters) if _DATE.fullmatch(writing) else None


def _other_readings(writing: str) -> Iterator[Value]:
    """With a comma as the decimal sign, or between numbers; with a letter as a unit (5 m)."""
    if "," in writing and not _BRACKETS.search(writing) and len(_COMMA.findall(writing)) == 1:
        other = _COMMA.sub(r"\1.\2", writing, count=1)
        second = _parsed(other)[0] if "," not in other else None
        if second is not None:
            yield second
    if _GROUPS.fullmatch(writing):  # 101,102,103: a number, or three of them
        second = _parsed(writing.replace(",", ", "))[0]
        if second is not None:
            yield second
    measured = _measured(writing)
    if measured is not None:
        yield measured


def _measured(writing: str) -> Value | None:
    """A number with a letter as its unit: `5 m`, `5 m/s`."""
    letter = _LETTER_UNIT.fullmatch(writing)
    if letter is None or ("/" in letter["unit"] and read_unit(letter["unit"]) is None):
        return None
    number = _parsed(letter["number"])[0]
    return replace(number, unit=letter["unit"]) if isinstance(number, Scalar) else None


_GROUPS: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_SIZES: Final = re.compile(r"\s|\\(?:left|right|displaystyle|[bB]igg?[lrm]?)(?![a-zA-Z])|\\[,;:! ]")
_FAMILY: Final = re.compile(
    r"\s*[,(]?\s*(?:\\(?:quad|text\{\s*(?:where|for)\s*\}))?\s*[knmlt]\s*\\in\s*"
    r"(?:\\mathbb\s?\{?[ZN]\}?|\\mathbf\s?\{?[ZN]\}?|\\mathrm\s?\{?[ZN]\}?|[ZN])(?:\^?\{?[*+]\}?)?\s*\)?$"
)
_LETTER_UNIT: Final = re.compile(
    r"(?P<number>-?[\d.,]+(?:\s*(?:\\times|\\cdot)\s*10\^\{?-?\d+\}?\s"
    r"|(?<=[.,]\d)|(?<=[.,]\d\d)|(?<=[.,]\d\d\d)|\s))\s?"
    r"(?P<unit>[mgshLlNJWVAK](?:\^\{?[23]\}?)?(?:\s?/\s?[a-zA-Z]{1,4}(?:\^\{?[23]\}?)?)?)"
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
    except RecursionError:  # called from a stack that is nearly full
        return None, "nested too deeply", False
