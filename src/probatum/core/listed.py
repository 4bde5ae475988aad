"""Lists of whole numbers as people give them: text with commas, a list, or one number."""

from __future__ import annotations

from collections.abc import Sequence

from probatum.core.errors import UsageError

__all__ = ["whole_numbers"]


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
