"""Holds what was found against what was published, number by number and to the published digits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .rows import Finding, Rate, Row

__all__ = ["Comparison", "compare"]

_EXACT_DIGITS = 10
"""A number with so many decimals was printed whole, rather than rounded."""
_RELATIVE = 1e-9


@dataclass
class Comparison:
    """Numbers of one row."""

    equal: list[str] = field(default_factory=list)
    unequal: list[str] = field(default_factory=list)
    """Name, theirs and ours, in words."""
    not_computed: list[str] = field(default_factory=list)
    """Numbers of the row that nothing was found for."""


def compare(row: Row, finding: Finding) -> Comparison:
    """Every number of the row's value, of its prose, and of the files beside the raw ones."""
    done = Comparison()
    ours = {_key(path): value for path, value in _leaves(finding.numbers)}
    for path, theirs in _leaves(row.value):
        name = "/".join(path) or "value"
        if isinstance(theirs, str):
            _prose(done, name, theirs, ours.get(_key(path)), finding)
        elif isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
            found = ours.get(_key(path))
            if isinstance(found, (int, float)):
                _note(done, name, theirs, found, finding.tolerance)
            elif (other := _by_value(theirs, ours)) is not None:
                done.equal.append(f"{name}, which is {other} here")
            else:
                done.not_computed.append(f"{name} = {theirs}")
    for name, theirs, found in finding.checks:
        _note(done, name, theirs, found, finding.tolerance)
    return done


def _by_value(theirs: float, ours: Mapping[str, Any]) -> str | None:
    """The name under which the same number stands here: names differ, ten decimals do not meet by chance."""
    if isinstance(theirs, int) or _digits(theirs) < _EXACT_DIGITS:
        return None
    for name, found in ours.items():
        if isinstance(found, float) and _equal(theirs, found, None):
            return name
    return None


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _leaves(each, (*path, str(name)) if name else path)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for place, each in enumerate(value):
            yield from _leaves(each, (*path, str(place)))
    else:
        yield path, value


def _key(path: tuple[str, ...]) -> str:
    return "/".join(re.sub(r"[\s_]+", "_", part.strip().lower()) for part in path)


def _note(done: Comparison, name: str, theirs: float, found: float, tolerance: float | None) -> None:
    if _equal(theirs, found, tolerance):
        done.equal.append(name)
    else:
        done.unequal.append(f"{name}: published {theirs}, found {_shown(found)}")


def _equal(theirs: float, found: float, tolerance: float | None) -> bool:
    if isinstance(theirs, int) and isinstance(found, int):
        return theirs == found
    room = _room(theirs) if tolerance is None else max(_room(theirs), tolerance)
    scales = (1.0, 100.0) if isinstance(found, Rate) else (1.0,)
    return any(abs(theirs - found * scale) <= room for scale in scales)


def _room(theirs: float) -> float:
    """Half a unit of the last published digit; next to nothing where the number was printed whole."""
    digits = _digits(theirs)
    exact = _RELATIVE * max(1.0, abs(theirs))
    return exact if digits >= _EXACT_DIGITS else 0.5 * 10.0**-digits * (1 + 1e-6) + exact


def _digits(number: float) -> int:
    """Decimals that it was printed with."""
    text = repr(float(number))
    return _EXACT_DIGITS if "e" in text else len(text.partition(".")[2])


def _prose(done: Comparison, name: str, theirs: str, ours: Any, finding: Finding) -> None:
    """Prose is read for the numbers that the family knows how to find in it."""
    if isinstance(ours, str):
        if ours == theirs:
            done.equal.append(name)
        else:
            done.unequal.append(f"{name}: published {theirs!r}, found {ours!r}")
        return
    for each in finding.prose:
        match = re.search(each.pattern, theirs)
        if match is not None:
            _note(done, f"{name} ({each.pattern})", _number(match[1]), each.number, finding.tolerance)


def _number(text: str) -> float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _shown(value: float) -> str:
    return (
        str(value)
        if isinstance(value, int)
        else f"{float(value):.10g}"
        if math.isfinite(value)
        else "undefined"
    )
