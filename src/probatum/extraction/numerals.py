"""Numerals in words: Chinese (三百二十一, 负七, 百分之二十, 三分之二, 三点五) and English (twenty-one)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

__all__ = ["leading_words", "parse_numeral", "scan_numerals"]

_DIGIT = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7,
    "八": 8, "九": 9, "壹": 1, "贰": 2, "貳": 2, "叁": 3, "參": 3, "肆": 4, "伍": 5, "陆": 6, "陸": 6,
    "柒": 7, "捌": 8, "玖": 9,
}  # fmt: skip
_UNIT = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_MYRIAD = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}

_SIGN = "".join({**_DIGIT, **_UNIT, **_MYRIAD})
_NUMERAL = re.compile(
    rf"[负負]?[{_SIGN}](?:[{_SIGN}点點]|分之|又){{0,60}}|[负負]?百分之[{_SIGN}点點]{{1,60}}"
)


def scan_numerals(text: str) -> Iterator[tuple[Fraction, int, int]]:
    """All numerals of `text`: value, start, end. What is no well-formed numeral is passed over."""
    for match in _NUMERAL.finditer(text):
        if match.start() and text[match.start() - 1].isdecimal():
            continue  # 3万 is read with its digits
        value = parse_numeral(match[0])
        if value is not None:
            yield value, match.start(), match.end()


def parse_numeral(text: str) -> Fraction | None:
    """The value of a numeral and nothing else; 百分之二十 is 20, its percent a unit.

    >>> parse_numeral("三百二十一"), parse_numeral("三分之二"), parse_numeral("一三")
    (Fraction(321, 1), Fraction(2, 3), Fraction(13, 1))
    """
    if text[:1] in {"负", "負"}:
        value = parse_numeral(text[1:])
        return None if value is None else -value
    if text.startswith("百分之"):
        return _decimal(text[3:])
    whole, _, rest = text.rpartition("又")
    if "分之" in rest:
        under, _, top = rest.partition("分之")
        below, above = _integer(under), _integer(top)
        added = _integer(whole) if whole else 0
        if not below or above is None or added is None:
            return None
        return added + Fraction(above, below)
    return None if whole else _decimal(rest)


def _decimal(text: str) -> Fraction | None:
    whole, point, digits = text.replace("點", "点").partition("点")
    value = _integer(whole)
    if value is None:
        return None
    if not point:
        return Fraction(value)
    scale = 1
    if digits and digits[-1] in _MYRIAD:  # 三点五万
        scale, digits = _MYRIAD[digits[-1]], digits[:-1]
    if not digits or any(each not in _DIGIT for each in digits):
        return None
    return scale * (value + Fraction(int("".join(str(_DIGIT[each]) for each in digits)), 10 ** len(digits)))


def _integer(text: str) -> int | None:
    if not text:
        return None
    if all(each in _DIGIT for each in text):  # digit by digit: 二〇二四
        return int("".join(str(_DIGIT[each]) for each in text))
    total = section = 0
    digit: int | None = None
    unit = 10**4  # of the last unit in the section; 三百五 is 350
    for each in text:
        if each in _DIGIT:
            if digit:
                return None
            digit = _DIGIT[each]
            unit = 10 if digit == 0 else unit
        elif each in _UNIT:
            section += (1 if digit is None else digit) * _UNIT[each]
            digit, unit = None, _UNIT[each]
        elif each not in _MYRIAD:
            return None
        else:
            total = (
                (total + section + (digit or 0)) * _MYRIAD[each]
                if _MYRIAD[each] > 10**4
                else (total + (section + (digit or 0)) * _MYRIAD[each])
            )
            section, digit, unit = 0, None, _MYRIAD[each]
    return total + section + (digit or 0) * _left_out(unit)


def _left_out(unit: int) -> int:
    """The unit that the last digit leaves out: 三百五 is 350, 三十五 is 35."""
    return unit // 10 if unit in {100, 1000} else 1


_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
_TEENS = ("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TIES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: value for value, word in enumerate(_UNITS + _TEENS)}
_TENS = {word: 10 * value for value, word in enumerate(_TIES, 2)}
_POWERS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_WORD = "|".join([*_SMALL, *_TENS, "hundred", *_POWERS])
_WORDS = re.compile(
    rf"(?P<sign>(?:minus|negative)\s+)?(?P<words>(?:an?\s+(?=hundred|thousand|million|billion|trillion))?"
    rf"\b(?:{_WORD})\b(?:(?:[ -]|\s+and\s+)(?:{_WORD})\b){{0,14}})",
    re.IGNORECASE,
)


def leading_words(text: str) -> tuple[int, int] | None:
    """The number that English words at the beginning of `text` spell, and where they end.

    >>> leading_words("twenty-one apples"), leading_words("minus a hundred"), leading_words("two three")
    ((21, 10), (-100, 15), None)
    """
    match = _WORDS.match(text)
    if match is None:
        return None
    spoken = re.split(r"[\s-]+", match["words"].lower())
    value = _spelled([word for word in spoken if word not in ("a", "an", "and")])
    if value is None:
        return None
    return -value if match["sign"] else value, match.end()


def _spelled(words: list[str]) -> int | None:
    """The value of number words; `None` where they are several numbers side by side."""
    total = group = 0
    room, hundreds, power = 1000, True, 10**15  # what may follow: a smaller value, a hundred, a smaller power
    for word in words:
        if word in _POWERS:
            if _POWERS[word] >= power:
                return None
            power = _POWERS[word]
            total, group, room, hundreds = total + (group or 1) * power, 0, 1000, True
        elif word == "hundred":
            if not hundreds:
                return None
            group, room, hundreds = (group or 1) * 100, 100, False
        else:
            value = _SMALL.get(word) or _TENS.get(word, 0)
            if value >= room or (value == 0 and len(words) > 1):
                return None
            group, room = group + value, 10 if word in _TENS else 1
    return total + group
