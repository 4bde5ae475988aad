"""What `--limit` and lists of tasks may look like, and what each form means."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from probatum.core.errors import UsageError

__all__ = ["LIMIT_WORDS", "MOST_ITEMS", "items_within", "parse_limit", "task_names"]

MOST_ITEMS: Final = 2**53
"""Beyond it a float no longer counts."""

_NUMBER = re.compile(r"\+?(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%?)")
LIMIT_WORDS: Final = "a whole number, 1 or more, or a share of the items, below 1 or in per cent (0.1, 10%)"


def parse_limit(given: str | float) -> float | None:
    """A limit as a count (an `int`), as a share (above 0 and below 1), or none (`100%`).

    1 and 1.0 are one item: a share is below 1 or has a percent sign, so that no value has two meanings.

    Raises:
        UsageError: 0 or below, more than 100 %, a fraction above 1, or no number.

    >>> [parse_limit(text) for text in ("0.5", "1", "1.0", "50%", "100%")]
    [0.5, 1, 1, 0.5, None]
    """
    shown = given.strip() if isinstance(given, str) else given
    match = _NUMBER.fullmatch(shown) if isinstance(shown, str) else None
    if isinstance(given, bool) or (isinstance(given, str) and match is None):
        raise UsageError(f"limit {given!r} cannot be used: give {LIMIT_WORDS}")
    number = float(match["number"] if match is not None else shown)
    if match is not None and match["percent"]:
        if not 0 < number <= 100:  # noqa: PLR2004 - per cent
            raise UsageError(f"limit {shown} cannot be used: a percentage is above 0 and at most 100")
        return None if number == 100 else number / 100  # noqa: PLR2004 - per cent
    if 0 < number < 1:
        return number
    if not 1 <= number <= MOST_ITEMS or not number.is_integer():
        raise UsageError(f"limit {shown} cannot be used: give {LIMIT_WORDS}")
    return int(number)


def items_within(limit: float | None, count: int) -> int | None:
    """How many of `count` items a limit lets through; a share is rounded up, so that it is never none."""
    if limit is None or isinstance(limit, int):
        return limit
    return math.ceil(limit * count - 1e-9)


def task_names(given: str | Sequence[str]) -> list[str]:
    """Names of tasks in one list: by commas, as several values, or both.

    >>> task_names(["a,b", " c "])
    ['a', 'b', 'c']
    """
    values = [given] if isinstance(given, str) else list(given)
    return [name.strip() for value in values for name in value.split(",") if name.strip()]
