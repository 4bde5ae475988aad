"""What must hold of any report, whatever was measured: checked before a number is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

__all__ = ["NOT_ABOVE", "broken_counts", "broken_scores"]

NOT_ABOVE: Final = (
    ("exact", "f1"),
    ("exact_match", "f1"),
    ("em", "f1"),
    ("squad_exact", "f1"),
    ("exact", "token_f1"),
    ("exact_match", "token_f1"),
    ("prompt_strict", "prompt_loose"),
    ("instruction_strict", "instruction_loose"),
)
"""(lower, upper): the first can never be above the second, because it asks for more."""

_ROUNDING: Final = 1e-9


def broken_scores(
    scores: Mapping[str, float | None],
    bounds: tuple[float, float] | None = (0.0, 1.0),
    not_above: tuple[tuple[str, str], ...] = NOT_ABOVE,
) -> list[str]:
    """One line for each score that is impossible; none is good.

    Args:
        scores: name → value; `None` is no value, and breaks nothing.
        bounds: what every value must lie within; `None` does not look.
        not_above: pairs of names of which the first may not exceed the second.

    >>> broken_scores({"exact": 0.89, "f1": 0.87})
    ['exact 0.89 is above f1 0.87, which cannot be: are the two swapped?']
    """
    known = {name: value for name, value in scores.items() if value is not None}
    found = [
        f"{name} is {value!r}, which is no number"
        for name, value in known.items()
        if not math.isfinite(value)
    ]
    if bounds is not None:
        low, high = bounds
        found += [
            f"{name} {value:g} lies outside {low:g} … {high:g}"
            for name, value in known.items()
            if math.isfinite(value) and not low - _ROUNDING <= value <= high + _ROUNDING
        ]
    found += [
        f"{lower} {known[lower]:g} is above {upper} {known[upper]:g}, which cannot be: are the two swapped?"
        for lower, upper in not_above
        if lower in known and upper in known and known[lower] > known[upper] + _ROUNDING
    ]
    return found


def broken_counts(total: int, parts: Mapping[str, int]) -> list[str]:
    """One line for each way in which parts do not make up their total; none is good.

    >>> broken_counts(50, {"resolved": 30, "unresolved": 12, "empty": 5, "error": 4})
    ['resolved 30 + unresolved 12 + empty 5 + error 4 are 51, not 50']
    """
    found = [f"{name} {count} is below 0" for name, count in parts.items() if count < 0]
    made = sum(parts.values())
    if made != total:
        shown = " + ".join(f"{name} {count}" for name, count in parts.items())
        found.append(f"{shown} are {made}, not {total}")
    return found
