"""Where two outputs of a program differ first. Standard library only: see `stdio.PassesExamples`.

This source runs in two places: here, and as part of the tests that the sandbox's judge runs. It holds no
class, and the rules are a plain mapping, the fields of `stdio.OutputRules`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Difference", "first_difference", "said"]

Difference = tuple[int, int, str, str, str]
"""Line and word in the expected output (from 1; 0 where there is none), what is expected there, what is
written instead, and why they differ."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = {"inf": "inf", "infinity": "inf", "nan": "nan"}
_SHOWN = 60  # characters of a word or a line that a difference shows
_DIGITS = 4000  # digits of a decimal fraction that is computed with; longer ones are compared as text
_EXPONENT = 5000  # the same for the exponent
_EXPONENT_DIGITS = 9  # of it that are read, leading zeros too: enough to see that it is large
_PAIRED = 400  # words or lines in any order that are matched within a tolerance


def first_difference(actual: str, expected: str, rules: Mapping[str, Any]) -> Difference | None:
    """The first place where the outputs differ under the rules; `None` where they are equal."""
    if rules["layout"] == "exact":
        return None if actual == expected else _exact_difference(actual, expected)
    ours, theirs = _lines(actual), _lines(expected)
    if rules["layout"] == "stream":
        return _of_streams(ours, theirs, rules)
    if rules["order"] == "any":
        units = [[_units(line, rules) for line in lines] for lines in (ours, theirs)]
        return _in_any_order(units[0], units[1], rules)
    return _of_lines(ours, theirs, rules)


def said(difference: Difference) -> str:
    """One line that tells the difference."""
    line, word, expected, actual, reason = difference
    place = f"line {line}" + (f", word {word}" if word else "") if line else "in any order"
    return f"{place}: {reason} (expected {expected!r}, got {actual!r})"


def _lines(text: str) -> list[str]:
    """Lines without blanks at their ends, and without empty lines at the end of the text."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _of_streams(ours: Sequence[str], theirs: Sequence[str], rules: Mapping[str, Any]) -> Difference | None:
    words = [word for line in ours for word in line.split()]
    wanted = [
        (number, place, word)
        for number, line in enumerate(theirs, 1)
        for place, word in enumerate(line.split(), 1)
    ]
    if rules["order"] == "any":
        return _in_any_order([(word,) for word in words], [(word,) for _, _, word in wanted], rules)
    return _in_order(words, wanted, rules)


def _of_lines(ours: Sequence[str], theirs: Sequence[str], rules: Mapping[str, Any]) -> Difference | None:
    for number, line in enumerate(theirs, 1):
        if number > len(ours):
            return (number, 0, line[:_SHOWN], "", "the output ends before this line")
        found = _line_difference(number, ours[number - 1], line, rules)
        if found is not None:
            return found
    if len(ours) > len(theirs):
        return (len(theirs) + 1, 0, "", ours[len(theirs)][:_SHOWN], "the output goes on after the last line")
    return None


def _exact_difference(actual: str, expected: str) -> Difference:
    ours, theirs = actual.split("\n"), expected.split("\n")
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False), 1):
        if one != other:
            return (number, 0, other[:_SHOWN], one[:_SHOWN], "the lines differ")
    number = min(len(ours), len(theirs)) + 1
    one, other = "\n".join(ours[number - 1 :]), "\n".join(theirs[number - 1 :])
    return (number, 0, other[:_SHOWN], one[:_SHOWN], "one output ends here")


def _units(line: str, rules: Mapping[str, Any]) -> tuple[str, ...]:
    """What a line is compared by: its words, or itself."""
    return tuple(line.split()) if rules["layout"] == "words" else (line,)


def _line_difference(number: int, actual: str, expected: str, rules: Mapping[str, Any]) -> Difference | None:
    if rules["layout"] == "lines":
        same = _same(actual, expected, rules)
        return None if same else (number, 0, expected[:_SHOWN], actual[:_SHOWN], "the lines differ")
    wanted = [(number, place, word) for place, word in enumerate(expected.split(), 1)]
    return _in_order(actual.split(), wanted, rules, number)


def _in_order(
    words: Sequence[str], wanted: Sequence[tuple[int, int, str]], rules: Mapping[str, Any], line: int = 0
) -> Difference | None:
    for place, (number, column, word) in enumerate(wanted):
        if place >= len(words):
            return (number, column, word[:_SHOWN], "", "the output ends before this word")
        if not _same(words[place], word, rules):
            return (number, column, word[:_SHOWN], words[place][:_SHOWN], _why(words[place], word, rules))
    if len(words) > len(wanted):
        number = line or (wanted[-1][0] if wanted else 1)
        place = wanted[-1][1] + 1 if wanted else 1
        return (number, place, "", words[len(wanted)][:_SHOWN], "the output goes on after the last word")
    return None


def _why(actual: str, expected: str, rules: Mapping[str, Any]) -> str:
    if rules["numbers"] == "text":
        return "the words differ"
    if _number(expected) is None:
        return "the words differ"
    if _number(actual) is None:
        return "a number is expected"
    return "the values differ" if _is_exact(expected, rules) else "the values differ by more than is allowed"


def _same(actual: str, expected: str, rules: Mapping[str, Any]) -> bool:
    if actual == expected:
        return not (rules["numbers"] == "value" and _number(expected) == "nan" and not rules["nan_equal"])
    if rules["case"] == "folded" and actual.casefold() == expected.casefold():
        return True
    if rules["case"] == "yes_no" and expected.casefold() in ("yes", "no"):
        return actual.casefold() == expected.casefold()
    return bool(rules["numbers"] == "value" and _same_number(actual, expected, rules))


def _is_exact(expected: str, rules: Mapping[str, Any]) -> bool:
    return bool(rules["integers"] == "exact" and _INTEGER.fullmatch(expected))


def _same_number(actual: str, expected: str, rules: Mapping[str, Any]) -> bool:
    """Whether two words are the same number within the tolerance; integers of any size are exact."""
    ours, theirs = _number(actual), _number(expected)
    if ours is None or theirs is None:
        return False
    if isinstance(ours, str) or isinstance(theirs, str):
        return ours == theirs and (theirs != "nan" or bool(rules["nan_equal"]))
    if _is_exact(expected, rules):
        return ours == theirs
    room = max(Fraction(rules["absolute"]), Fraction(rules["relative"]) * abs(theirs))
    return abs(ours - theirs) <= room


def _number(word: str) -> Fraction | str | None:
    """The value of a word; `inf`, `-inf` and `nan` as text, and so are numbers of very many digits."""
    bare = word.lstrip("+-")
    special = _SPECIAL.get(bare.casefold())
    if special is not None and len(word) - len(bare) <= 1:
        return "-inf" if special == "inf" and word[0] == "-" else special
    if not _DECIMAL.fullmatch(word):
        return None
    mantissa, _, exponent = word.casefold().partition("e")
    if len(mantissa) > _DIGITS:
        return _long(mantissa) if not exponent and "." not in mantissa else word
    if abs(int(exponent[:_EXPONENT_DIGITS] or 0)) > _EXPONENT:
        return word
    return Fraction(word)


def _long(digits: str) -> Fraction | str:
    """An integer of very many digits, in one form."""
    bare = digits.lstrip("+-").lstrip("0")
    if len(bare) <= _DIGITS:
        return Fraction(("-" if digits[0] == "-" else "") + (bare or "0"))
    return ("-" if digits[0] == "-" else "") + bare


def _in_any_order(
    ours: Sequence[tuple[str, ...]], theirs: Sequence[tuple[str, ...]], rules: Mapping[str, Any]
) -> Difference | None:
    """Lines or words whose order does not matter; how often each occurs does, where that is declared."""
    if not rules["multiplicity"]:
        ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    elif len(ours) != len(theirs):
        reason = f"{len(theirs)} are expected, and {len(ours)} are written"
        one = next(iter(Counter(ours) - Counter(theirs)), ())
        other = next(iter(Counter(theirs) - Counter(ours)), ())
        return (0, 0, " ".join(other)[:_SHOWN], " ".join(one)[:_SHOWN], reason)
    given, wanted = Counter(map(_key(rules), ours)), Counter(map(_key(rules), theirs))
    more, fewer = list((given - wanted).elements()), list((wanted - given).elements())
    if rules["numbers"] == "value" and (more or fewer):
        more, fewer = _unpaired(more, fewer, rules)
    if not more and not fewer:
        return None
    one, other = more[0] if more else (), fewer[0] if fewer else ()
    return (0, 0, " ".join(other)[:_SHOWN], " ".join(one)[:_SHOWN], "the outputs differ")


def _key(rules: Mapping[str, Any]) -> Any:
    """What is equal as it stands has equal keys."""

    def folded(word: str) -> str:
        low = word.casefold()
        return (
            low if rules["case"] == "folded" or (rules["case"] == "yes_no" and low in ("yes", "no")) else word
        )

    return lambda unit: tuple(map(folded, unit))


def _unpaired(
    more: list[tuple[str, ...]], fewer: list[tuple[str, ...]], rules: Mapping[str, Any]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """What a matching within the tolerance leaves over (Kuhn's algorithm)."""
    if max(len(more), len(fewer)) > _PAIRED:
        return more, fewer
    near = [
        [
            place
            for place, unit in enumerate(more)
            if len(unit) == len(wanted)
            and all(_same(one, other, rules) for one, other in zip(unit, wanted, strict=True))
        ]
        for wanted in fewer
    ]
    if not rules["multiplicity"]:
        reached = {place for places in near for place in places}
        left = [unit for place, unit in enumerate(more) if place not in reached]
        return left, [wanted for wanted, places in zip(fewer, near, strict=True) if not places]
    taken: dict[int, int] = {}

    def place_for(wanted: int, seen: set[int]) -> bool:
        for place in near[wanted]:
            if place not in seen:
                seen.add(place)
                if place not in taken or place_for(taken[place], seen):
                    taken[place] = wanted
                    return True
        return False

    alone = [fewer[wanted] for wanted in range(len(fewer)) if not place_for(wanted, set())]
    return [unit for place, unit in enumerate(more) if place not in taken], alone
