"""Numbers as people write them: signs, grouping, currency, percent, fractions, powers of ten.

Values are exact (`fractions.Fraction`); nothing passes through a float. A number too long to be one
(more than 400 digits, a power of ten beyond ±400) is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from probatum.extraction.characters import WORD, fold
from probatum.extraction.numerals import scan_numerals

__all__ = ["Decimal", "Number", "is_compound", "parse_number", "scan_numbers", "show"]

Decimal = Literal["point", "comma"]
"""Which sign separates the fraction: `1.5` or `1,5`. The other one groups thousands."""

_DIGITS = 400
"""Longer digit strings and larger powers of ten are not read as numbers."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text."""

    value: Fraction
    start: int
    """With its sign and its currency."""
    end: int
    """With its percent sign or scale word."""
    percent: bool = False
    exact: bool = True
    """False where a factor follows that is no number (`5\\pi`, `2x`): the value is not the whole."""


_SCALE = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "万": 10**4,
    "萬": 10**4,
    "亿": 10**8,
    "億": 10**8,
    "万亿": 10**12,
    "百": 100,
    "千": 1000,
    "十万": 10**5,
    "百万": 10**6,
    "千万": 10**7,
    "十亿": 10**9,
    "百亿": 10**10,
    "千亿": 10**11,
}
_NO_SCALE = r"(?<=千)(?:[克米瓦卡赫帕伏焦升安牛]|字节|比特)|(?<=百)[分帕]"
"""Behind 千 and 百, which are a part of the unit: 5千克 is five kilograms."""
_LETTERS = {"k": 1000, "m": 10**6, "b": 10**9, "bn": 10**9}
"""Behind an amount of money: $2M."""
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8), "⅐": (1, 7), "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")

_CURRENCY = re.compile(
    r"(?:\\?[$€£¥￥￡￦₹₩₽₱₫₪฿₺]|US\\?\$|\b(?:USD|EUR|GBP|RMB|CNY|INR|JPY|Rs\.?))[ \u00a0]?\Z"
)
_SIGNS = "-−–—+"
_SPOKEN_SIGN = re.compile(
    r"(?:^|[^0-9)\]\s])\s{0,3}(?P<sign>\b(?:minus|negative)\s|[负負]|零下)\Z", re.IGNORECASE
)
_SUBTRACTS = re.compile(rf"(?:(?:{WORD}|[)\]}}%°.])|[0-9)\]}}%°][ \u00a0])\Z")
"""What stands before a minus that subtracts (`x-7`, `3-7`, `20 -5`)."""


_BEGINS = rf"(?:(?<!{WORD})|(?<=USD)|(?<=EUR)|(?<=GBP)|(?<=RMB)|(?<=CNY)|(?<=INR)|(?<=JPY)|(?<=Rs))"


@lru_cache(maxsize=1)
def _core() -> re.Pattern[str]:
    group = r"[.,_'’]|\{[,.]\}|\\[,!;:]|,\\!|\u00a0(?=[0-9]{3}(?![0-9]))"
    return re.compile(
        rf"""\\[dtc]?frac\s{{0,2}}(?:\{{\s{{0,4}}(?P<top>[-−]?[0-9]{{1,400}})\s{{0,4}}\}}
               \s{{0,2}}\{{\s{{0,4}}(?P<under>[0-9]{{1,400}})\s{{0,4}}\}}
             |(?P<top1>[0-9])\s{{0,2}}(?P<under1>[0-9])(?![0-9]))
        |{_BEGINS}(?<![0-9]\.)(?P<run>(?:(?<![.0-9])\.(?=[0-9]))?[0-9](?:[0-9]|(?:{group})(?=[0-9]))*)
        |(?P<vulgar>[{"".join(_VULGAR)}])""",
        re.VERBOSE,
    )


@lru_cache(maxsize=1)
def _behind() -> re.Pattern[str]:
    """What may follow a digit string and belong to the number."""
    return re.compile(
        rf"""(?P<exp>[eE][-+−]?[0-9]{{1,6}}(?!{WORD}))?
        (?:[ ]?(?P<vulgar>[{"".join(_VULGAR)}])
          |[ ](?P<top>[0-9]{{1,9}})/(?P<under>[0-9]{{1,9}})(?![0-9/.])
          |\s?\\[dtc]?frac\s?(?:\{{(?P<top2>[0-9]{{1,9}})\}}\s?\{{(?P<under2>[0-9]{{1,9}})\}}
             |(?P<top3>[0-9])\s?(?P<under3>[0-9])(?![0-9]))
          |(?:/|[ ]/[ ])(?P<divisor>[0-9]{{1,400}})(?!\.[0-9])
          |(?P<power>\s?(?:[×x*·]|\\times|\\cdot)\s?10\s?(?:(?:\^|\*\*)\s?\{{?(?P<ten>[-−+]?[0-9]{{1,6}})\}}?
             |(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,6}})))
          |(?P<own>\^|\*\*)\{{?(?P<exponent>[-−]?[0-9]{{1,4}})\}}?
        )?
        (?:[ \u00a0]?(?P<percent>\\?%|percent\b|per\ cent\b|個百分點|个百分点)
          |[ \u00a0]?(?P<scale>{"|".join(sorted(_SCALE, key=len, reverse=True))})(?!{WORD}|{_NO_SCALE})
          |(?P<letter>bn|[kmb])(?!{WORD})
        )?""",
        re.VERBOSE | re.IGNORECASE,
    )


_FACTOR = re.compile(
    r"\s?(?:\\(?:pi|sqrt|cdot|times|left|log|ln|sin|cos|tan|e\b|infty)|[π√∞]|[xyzn]\b(?!-)|i\b)"
    r"|_\{?[0-9]|\s?\^(?!\{?(?:\\circ|∘|°))|!(?![\s\"'”’*_!?]|$)"
)
"""A factor that is no number, right behind one; degrees are a unit, and a sentence may end with `!`."""
_FACTOR_BEFORE = re.compile(
    r"(?:√\s?\(?|(?:±|\\pm|\+/?-)\s?|\\(?:sqrt|[dtc]?frac|binom|log|ln|exp|sin|cos|tan)\s?(?:\[[^\]]{0,5}\])?"
    r"[{(]?\s?|\b(?:sqrt|cbrt|log|ln|exp|sin|cos|tan)(?:\s?\(|\s)|\}\{"
    r"|[A-Za-zπθ)}\]]\s?(?:[/·×]|\\(?:cdot|times|div))\s?|[A-Za-zπθ)}\]](?:\*| \* ))\Z"
)
"""An operation that a number is a part of: `√2`, `\\frac{\\pi}{2}`, `x/2`, `±5`."""
_INDEX = re.compile(r"[_^][{(]?[-−]?\Z")
"""Before an exponent or an index, which is no number of the text (`m^2`, `x_{1}`)."""


def scan_numbers(text: str, decimal: Decimal = "point", *, chinese: bool = False) -> list[Number]:
    """All numbers of `text`, in order. Linear in its length.

    Args:
        text: any text; widths and minus signs are folded here.
        decimal: which sign separates the fraction.
        chinese: whether Chinese numerals (`三百二十一`, `3万`) are numbers too.
    """
    folded = fold(text)
    found: list[Number] = []
    at = 0
    for match in _core().finditer(folded):
        if match.start() < at:
            continue  # read already, as a divisor or an exponent
        if match.start() and _INDEX.search(folded, max(0, match.start() - 3), match.start()):
            continue
        if (other := _NO_NUMBER.match(folded, match.start())) is not None:
            at = other.end()
            continue
        found += _read(folded, match, decimal)
        at = max(at, found[-1].end) if found else at
    if not chinese:
        return found
    return sorted([*found, *(Number(*each) for each in scan_numerals(folded))], key=lambda each: each.start)


_NO_NUMBER = re.compile(
    r"(?:[0-9]{1,4}(?:(?:/[0-9]{1,4}){2}|(?:(?::| : )[0-9]{1,4})+)|[0-9]{4}(?:-[0-9]{1,2}){2}"
    r"|[0-9]{1,2}[hH][0-9]{2}"
    r"|[0-9]{1,2}['’′][0-9]{1,2}(?:[\"”″]|'')?)(?![0-9])|0[xXbBoO][0-9A-Fa-f]+(?![^\W_])"
    r"|[0-9]{1,2}[点點][0-9]{1,2}分|[0-9]{2,4}年[0-9]{1,2}月(?:[0-9]{1,2}[日号號])?"
)
"""Dates, times, ratios, feet with inches, digits of another base."""


def _read(folded: str, match: re.Match[str], decimal: Decimal) -> Iterator[Number]:
    """The number or numbers of one match; a list such as `3,5` is one match and two numbers."""
    run = match["run"]
    if run is None:
        value = _plain_fraction(match)
        if value is not None:
            yield _finish(folded, value, match.start(), match.end())
        return
    pieces = _pieces(run, decimal)
    for place, (digits, begin, end) in enumerate(pieces):
        if len(digits) > _DIGITS:
            continue
        start = match.start() + begin
        if place == len(pieces) - 1:
            yield from _finish_run(folded, digits, start, match.end())
        else:
            yield _finish(folded, Fraction(digits), start, match.start() + end)


def _plain_fraction(match: re.Match[str]) -> Fraction | None:
    if match["vulgar"]:
        return Fraction(*_VULGAR[match["vulgar"]])
    top, under = match["top"] or match["top1"], match["under"] or match["under1"]
    return Fraction(int(top.replace("−", "-")), int(under)) if int(under) else None


_SEPARATOR = re.compile(r"\{([,.])\}|\\[,!;:]|,\\!|[_'’\u00a0]")
_LATIN = {
    "point": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"),
    "comma": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
}
_SINGLE = {"point": re.compile(r"\d*\.\d+|\d+"), "comma": re.compile(r"\d*,\d+|\d+")}


def _pieces(run: str, decimal: Decimal) -> list[tuple[str, int, int]]:
    """A digit string with separators as plain decimals: text that `Fraction` reads, start, end."""
    if run.isdecimal():
        return [(run, 0, len(run))]
    group, point = (",", ".") if decimal == "point" else (".", ",")
    plain = run
    if _SEPARATOR.search(run):
        plain = _SEPARATOR.sub(lambda each: each[1] or group, run)
    if _SINGLE[decimal].fullmatch(plain) or _LATIN[decimal].fullmatch(plain):
        return [(plain.replace(group, "").replace(point, "."), 0, len(run))]
    other = "comma" if decimal == "point" else "point"
    grouped = plain.count(point) > 1 or (point in plain and group in plain)
    if grouped and _LATIN[other].fullmatch(plain):  # 1.234.567,8: only one reading
        return [(plain.replace(point, "").replace(group, "."), 0, len(run))]
    if plain.count(point) > 1 or len(plain) != len(run):  # a version, a date
        return []
    return _listed(plain, group, point)


_CENTS = re.compile(r"(\d+),(0\d)")


def _listed(plain: str, group: str, point: str) -> list[tuple[str, int, int]]:
    """`3,5` is two numbers where the comma does not separate a fraction; in `5,00` it must."""
    if (money := _CENTS.fullmatch(plain)) is not None:
        return [(f"{money[1]}.{money[2]}", 0, len(plain))]
    pieces, at = [], 0
    for part in plain.split(group):
        if part:
            pieces.append((part.replace(point, "."), at, at + len(part)))
        at += len(part) + 1
    return pieces


def _finish_run(folded: str, digits: str, start: int, end: int) -> Iterator[Number]:
    """A digit string with what follows it: exponent, fraction, power of ten, percent, scale."""
    following = _behind().match(folded, end)
    value = Fraction(int(digits)) if digits.isdecimal() else Fraction(digits)
    if following is None or following.end() == end:
        yield _finish(folded, value, start, end)
        return
    changed = _changed(value, following)
    if changed is None:
        return
    percent = following["percent"] is not None
    if following["scale"]:
        changed *= _SCALE[following["scale"].lower()]
    if following["letter"]:
        yield _lettered(folded, changed, start, following)
    else:
        yield _finish(folded, changed, start, following.end(), percent)


def _lettered(folded: str, value: Fraction, start: int, following: re.Match[str]) -> Number:
    """`$2M` is two million. Without a currency nobody can say what `5k` and `3M` are; `5 m` is a unit."""
    letter = following["letter"]
    plain = _finish(folded, value, start, following.start("letter"))
    if _CURRENCY.search(folded, max(0, start - 5), start):
        return _finish(folded, value * _LETTERS[letter.lower()], start, following.end())
    return replace(plain, exact=False) if letter in ("k", "K", "M", "bn") else plain


def _changed(value: Fraction, following: re.Match[str]) -> Fraction | None:
    """`value` with its exponent, fraction or power; `None` where there is no such number."""
    power = following["exp"][1:] if following["exp"] else following["ten"]
    if following["raised"]:
        power = following["raised"].translate(_SUPERSCRIPT)
    if power:
        shift = int(power.replace("−", "-"))
        return value * Fraction(10) ** shift if abs(shift) <= _DIGITS else None
    if following["vulgar"]:
        return value + Fraction(*_VULGAR[following["vulgar"]])
    top = following["top"] or following["top2"] or following["top3"]
    under = following["under"] or following["under2"] or following["under3"]
    if top:
        return value + Fraction(int(top), int(under)) if int(under) else None
    if following["divisor"]:
        return value / int(following["divisor"]) if int(following["divisor"]) else None
    if following["exponent"]:
        exponent = int(following["exponent"].replace("−", "-"))
        size = max(len(str(value.numerator)), len(str(value.denominator)))
        return value**exponent if value and size * abs(exponent) <= _DIGITS else None
    return value


def _finish(folded: str, value: Fraction, start: int, end: int, percent: bool = False) -> Number:
    """Adds currency and sign before the number, and looks for a factor behind it."""
    begin = start
    if (money := _CURRENCY.search(folded, max(0, start - 5), start)) is not None:
        begin = money.start()
    at = begin - 1
    if at >= 0 and folded[at] in " \u00a0" and at and folded[at - 1] in "-−":
        before = folded[max(0, at - 4) : at - 1].rstrip(" ")[-1:]  # `= - 5`, but `- 5` opens a list
        at = at - 1 if before and before in "=(:≈" else at
    if at >= 0 and folded[at] in _SIGNS and not _SUBTRACTS.search(folded, max(0, at - 2), at):
        value = -value if folded[at] != "+" else value
        begin = at
        if folded[at] == "-" and (money := _CURRENCY.search(folded, max(0, at - 5), at)) is not None:
            begin = money.start()
    elif (spoken := _SPOKEN_SIGN.search(folded, max(0, begin - 24), begin)) is not None:
        value, begin = -value, spoken.start("sign")
    whole = _FACTOR.match(folded, end) is None
    if whole and begin:
        whole = _FACTOR_BEFORE.search(folded, max(0, begin - 12), begin) is None
    return Number(value, begin, end, percent, whole)


_UNITS = (
    r"days?|hours?|hrs?|h|minutes?|mins?|min|seconds?|secs?|sec|s", r"years?|months?|weeks?|days?",
    r"miles?|mi|yards?|yd|feet|foot|ft|inch(?:es)?|in",
    r"km|kilomet(?:er|re)s?|m|met(?:er|re)s?|cm|centimet(?:er|re)s?|mm",
    r"tons?|t|kg|kilograms?|g|grams?|mg", r"lbs?|pounds?|stones?|ounces?|oz",
    r"dollars?|cents?|pounds?|pence|p|euros?|quarters?|dimes?|nickels?|pennies|rupees?|paise",
    r"gallons?|quarts?|pints?|cups?|lit(?:er|re)s?|l|ml", r"degrees?|°|minutes?|['’′]|seconds?|[\"”″]",
    r"天|小时|時間|小時|时|分钟|分鐘|分|秒", r"元|块|角|毛|分", r"千米|公里|米|分米|厘米|毫米",
    r"吨|千克|公斤|克", r"年|个月|月|周|天|日",
)  # fmt: skip


@lru_cache(maxsize=1)
def _compounds() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A unit between two numbers, and one behind the second."""
    between = re.compile(rf"\s?(?:{'|'.join(_UNITS)})\.?(?:,|\sand|,\sand|und|et|y|零|又)?\s?", re.IGNORECASE)
    return between, re.compile(rf"\s?(?:{'|'.join(_UNITS)})(?!{WORD})", re.IGNORECASE)


def is_compound(between: str, after: str) -> bool:
    """Whether two numbers are one quantity in two units (`3 hours and 20 minutes`).

    Args:
        between: the text between them.
        after: the text behind the second one.
    """
    if len(between) > _COMPOUND_GAP:
        return False
    joint, tail = _compounds()
    return joint.fullmatch(between) is not None and tail.match(after) is not None


_COMPOUND_GAP = 24


def parse_number(text: str, decimal: Decimal = "point", *, chinese: bool = False) -> Fraction | None:
    """The value of a text that is one number and nothing else; a percent sign is a unit.

    >>> parse_number("-$1,234.50")
    Fraction(-2469, 2)
    >>> parse_number("12 apples") is None
    True
    """
    found = scan_numbers(text, decimal, chinese=chinese)
    if len(found) != 1 or not found[0].exact:
        return None
    number = found[0]
    around = text[: number.start] + text[number.end :]
    return number.value if not around.strip(" \t\n$\\.。*`\u00a0()") else None


def show(value: Fraction) -> str:
    """An integer, a decimal where it ends, else a fraction in lowest terms.

    >>> show(Fraction(5, 4)), show(Fraction(-1, 3)), show(Fraction("1e20"))
    ('1.25', '-1/3', '100000000000000000000')
    """
    if value.denominator == 1:
        return str(value.numerator)
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
