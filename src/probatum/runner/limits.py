"""What `--limit`, task lists and lists of k may look like, and what each form means."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from probatum.core.errors import UsageError

__all__ = ["items_within", "parse_limit", "task_names", "whole_numbers"]

_NUMBER = re.compile(r"\+?(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%?)")
_WORDS = "a whole number, 1 or more, or a share of the items, below 1 or in per cent (0.1, 10%)"


def parse_limit(given: str | float) -> float | None:
    """A limit as a count (an `int`), as a share (above 0 and below 1), or none (`100%`).

    1 and 1.0 are one item: a share is below 1 or has a percent sign, so that no value has two meanings.

    Raises:
        UsageError: 0 or below, more than 100 %, a fraction above 1, or no number.

    >>> [parse_limit(text) for text in ("0.5", "1", "1.0", "50%", "100%")]
    [0.5, 1, 1, 0.5, None]
    """
    match = _NUMBER.fullmatch(str(given).strip()) if not isinstance(given, bool) else None
    if match is None:
        raise UsageError(f"limit {given!r} cannot be used: give {_WORDS}")
    shown = str(given).strip()
    number = float(match["number"])
    if match["percent"]:
        if not 0 < number <= 100:  # noqa: PLR2004 - per cent
            raise UsageError(f"limit {shown} cannot be used: a percentage is above 0 and at most 100")
        return None if number == 100 else number / 100  # noqa: PLR2004 - per cent
    if 0 < number < 1:
        return number
    if number < 1 or not number.is_integer():
        raise UsageError(f"limit {shown} cannot be used: give {_WORDS}")
    return int(match["number"].partition(".")[0])


def items_within(limit: float | None, count: int) -> int | None:
    """How many of `count` items a limit lets through; a share is rounded up, so that it is never none."""
    if limit is None or isinstance(limit, int):
        return limit
    return math.ceil(limit * count - 1e-9)


def task_names(given: str | Sequence[str]) -> list[str]:
    """Names of tasks in one list: by commas, as several values, or both; each once, in their order.

    >>> task_names(["a,b", " c ", "a"])
    ['a', 'b', 'c']
    """
    values = [given] if isinstance(given, str) else list(given)
    names = [name.strip() for value in values for name in value.split(",")]
    return [name for name in dict.fromkeys(names) if name]


def whole_numbers(given: str | int | Sequence[int | str], name: str = "k") -> list[int]:
    """A list of whole numbers, as text with commas or as a list already.

    Raises:
        UsageError: none at all, or one that is no whole number above 0.

    >>> whole_numbers("1,5,10"), whole_numbers([1, 5, 10]), whole_numbers(3)
    ([1, 5, 10], [1, 5, 10], [3])
    """
    values = (
        given.split(",") if isinstance(given, str) else [given] if isinstance(given, int) else list(given)
    )
    found = []
    for value in values:
        text = str(value).strip()
        if isinstance(value, bool) or not text.isascii() or not text.isdecimal() or int(text) < 1:
            raise UsageError(f"{name} {value!r} cannot be used: give whole numbers above 0, such as 1,5,10")
        found.append(int(text))
    if not found:
        raise UsageError(f"{name} is empty: give whole numbers above 0, such as 1,5,10")
    return list(dict.fromkeys(found))
