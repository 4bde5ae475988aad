"""Units after a number: which are the same, and by what factor they differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final

__all__ = ["Unit", "changes_number", "is_unit_word", "read_unit", "take_scale"]

Unit = tuple[Fraction, tuple[tuple[str, int], ...]]
"""A factor, and base dimensions with exponents."""

_TABLE: Final[Mapping[str, str]] = {
    # dimension and factor: names
    "length 1/1000": "mm millimeter millimetre 毫米",
    "length 1/100": "cm centimeter centimetre 厘米 公分",
    "length 1/10": "dm decimeter decimetre 分米",
    "length 1": "m meter metre 米",
    "length 1000": "km kilometer kilometre 千米 公里",
    "length 127/5000": "in inch inches",
    "length 381/1250": "ft foot feet",
    "length 1143/1250": "yd yard",
    "length 201168/125": "mi mile",
    "length 1/1000000": "μm µm um micrometer micron",
    "length 1/1000000000": "nm nanometer",
    "mass 1/1000": "mg milligram 毫克",
    "mass 1": "g gram 克",
    "mass 1000": "kg kilogram kilo 千克 公斤",
    "mass 1000000": "ton tonne 吨",
    "mass 45359237/100000": "lb lbs pound",
    "mass 45359237/1600000": "oz ounce",
    "time 1": "s sec second 秒",
    "time 1/1000": "ms millisecond 毫秒",
    "time 60": "min minute 分钟",
    "time 3600": "h hr hour 小时",
    "time 86400": "day 天 日",
    "time 604800": "week 周 星期",
    "month 1": "month 个月 月",
    "month 12": "year yr 年 岁",
    "length^3 1/1000": "l L liter litre 升",
    "length^3 1/1000000": "ml mL milliliter millilitre 毫升",
    "volume 1": "gallon gal",
    "volume 1/4": "quart",
    "volume 1/8": "pint",
    "volume 1/16": "cup",
    "money:dollar 1": "dollar $ usd USD US$ 美元",
    "money:dollar 1/100": "cent ¢",
    "money:euro 1": "euro € eur EUR",
    "money:yuan 1": "yuan ¥ rmb RMB cny CNY 元 块",
    "money:yuan 1/10": "jiao 角",
    "money:sterling 1": "£ gbp GBP",
    "money:rupee 1": "rupee ₹",
    "angle 1": "degree deg ° 度",
    "angle 1/60": "arcminute",
    "radian 1": "radian rad 弧度",
    "percent 1": "percent percentage pct % 百分之",
    "temperature 1": "°C celsius",
    "fahrenheit 1": "°F fahrenheit",
    "kelvin 1": "K kelvin",
    "force 1": "N newton 牛顿 牛",
    "energy 1": "J joule 焦耳 焦",
    "energy 1000": "kJ kilojoule",
    "power 1": "W watt 瓦",
    "power 1000": "kW kilowatt 千瓦",
    "voltage 1": "V volt 伏",
    "current 1": "A ampere amp 安",
    "frequency 1": "Hz hertz 赫兹",
    "pressure 1": "Pa pascal 帕",
    "amount 1": "mol mole 摩尔",
    "resistance 1": "ohm Ω 欧姆",
    "count 1": "unit",
}
_SHORTHAND: Final = {
    "mph": "mile/hour",
    "kph": "km/hour",
    "kmh": "km/hour",
    "rpm": "revolution/minute",
    "sqft": "ft^2",
    "sqm": "m^2",
    "平方米": "m^2",
    "平方厘米": "cm^2",
    "平方分米": "dm^2",
    "平方千米": "km^2",
    "立方米": "m^3",
    "立方厘米": "cm^3",
    "立方分米": "dm^3",
}


def _names() -> dict[str, tuple[Fraction, str, int]]:
    found = {}
    for entry, names in _TABLE.items():
        dimension, factor = entry.split(" ")
        dimension, _, power = dimension.partition("^")
        for name in names.split():
            found[name] = (Fraction(factor), dimension, int(power or 1))
    return found


_NAMES: Final = _names()
_SINGLE: Final = frozenset(name for name in _NAMES if len(name) == 1 and name.isascii() and name.isalpha())

_PIECE: Final = re.compile(
    r"\s*(?P<per>/|\bper\b|每)|\s*(?P<power>\^\s*\{?\s*(?P<digits>-?\d)\s*\}?|²|³|\bsquared\b|\bcubed\b)"
    r"|\s*(?P<times>[·*.\-])|\s*(?P<square>\bsquare\b|\bsq\b\.?)|\s*(?P<cubic>\bcubic\b|\bcu\b\.?)"
    r"|\s*(?P<name>°\s?[CF]\b|US\$|[^\W\d_]+|[°%$€£¥¢₹])"
)


def _lookup(name: str) -> tuple[Fraction, str, int] | None:
    plain = name.replace(" ", "")
    for each in (plain, plain.lower() if len(plain) > 1 else plain):
        if each in _NAMES:
            return _NAMES[each]
        if len(each) > _SHORT and each.endswith("s") and each[:-1] in _NAMES:
            return _NAMES[each[:-1]]
    return None


def is_unit_word(word: str) -> bool:
    """Whether a word by itself is the name of a unit; single letters are left out.

    >>> is_unit_word("cm"), is_unit_word("miles"), is_unit_word("m"), is_unit_word("apples")
    (True, True, False, False)
    """
    return word not in _SINGLE and (word.lower() in _SHORTHAND or _lookup(word) is not None)


@lru_cache(maxsize=1024)
def read_unit(text: str) -> Unit | None:
    """The unit that a text names, or `None` where it names none that is known.

    >>> read_unit("km per hour") == read_unit("km/h"), read_unit("apples") is None
    (True, True)
    """
    text = _SHORTHAND.get(text.strip().lower(), text.strip())
    factor, dimensions, side, times = Fraction(1), dict[str, int](), 1, 1
    last: tuple[Fraction, str, int] | None = None
    at = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return None
        at = piece.end()
        if piece["per"]:
            side, last = -1, None
        elif piece["square"] or piece["cubic"]:
            times = 2 if piece["square"] else 3
        elif piece["power"]:
            if last is None:
                return None
            power = _POWERS.get(piece["power"].strip()) or int(piece["digits"] or 0)
            factor *= last[0] ** (side * (power - 1))
            dimensions[last[1]] += side * last[2] * (power - 1)
        elif piece["name"]:
            last = _lookup(piece["name"])
            if last is None:
                return None
            factor *= last[0] ** (side * times)
            dimensions[last[1]] = dimensions.get(last[1], 0) + side * times * last[2]
            times = 1
    kept = tuple(sorted((name, power) for name, power in dimensions.items() if power and name != "count"))
    return (factor, kept) if last is not None else None


_SHORT: Final = 3
"""Letters of an abbreviation, which has no plural."""
_POWERS: Final = {"²": 2, "³": 3, "squared": 2, "cubed": 3}

_SCALES: Final = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "百": 100,
    "千": 1000,
    "万": 10**4,
    "亿": 10**8,
}
_CHANGES: Final = re.compile(
    r"\b(?:or|and|more|less|fewer|greater|most|least|not|never|than|over|under|about|approximately|nearly|almost"
    r"|between|to|from|except|wrong|incorrect|squared|cubed|factorial|half|plus|minus|times|divided|remainder"
    r"|if|unless|false|positive|negative|mod)\b|以上|以下|左右|多于|少于|大约|约|不|或|以内|至少|至多|余"
)


def take_scale(text: str) -> tuple[Fraction, str]:
    """The factor that words after a number begin with, and the unit behind it.

    >>> take_scale("million dollars"), take_scale("km")
    ((Fraction(1000000, 1), 'dollars'), (Fraction(1, 1), 'km'))
    """
    factor = Fraction(1)
    for _ in range(3):
        for word, times in _SCALES.items():
            whole = (
                word if not word.isascii() else next((w for w in (f"{word}s", word) if _begins(text, w)), "")
            )
            if whole and text.startswith(whole) and not text.startswith(("千克", "千米", "千瓦")):
                factor, text = factor * times, text[len(whole) :].strip()
                break
        else:
            break
    return factor, text


def _begins(text: str, word: str) -> bool:
    return text.startswith(word) and not text[len(word) : len(word) + 1].isalpha()


def changes_number(text: str) -> bool:
    """Whether words after a number are no unit, but change what it says: 5 or more, 3 remainder.

    >>> changes_number("or more"), changes_number("miles per hour")
    (True, False)
    """
    return read_unit(text) is None and _CHANGES.search(text.casefold()) is not None
