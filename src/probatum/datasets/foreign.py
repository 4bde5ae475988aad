"""What cannot pass through JSON and UTF-8 unchanged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from probatum.datasets.faults import shown

__all__ = ["first_foreign"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class _Allowed(NamedTuple):
    """What is not foreign."""

    plain: bool
    """Only the types of JSON."""
    nonfinite: bool


def first_foreign(
    value: object, path: str = "", *, plain: bool = True, nonfinite: bool = False
) -> tuple[str, str] | None:
    """Path and description of the first part of `value` that is not plain JSON data; `None` if all is.

    A lone surrogate (U+D800…U+DFFF by an escape of JSON) counts as foreign: it is no character, UTF-8
    has no form for it, and so no model could be asked. With `plain=False` other types than those of
    JSON pass: a row of Parquet has dates and decimals, and the task turns them into text. With
    `nonfinite=True` so do NaN and the infinities.
    """
    try:
        return _first_foreign(value, path, _Allowed(plain, nonfinite))
    except RecursionError:
        return path, "it is nested too deeply"


def _first_foreign(value: object, path: str, allowed: _Allowed) -> tuple[str, str] | None:
    if isinstance(value, str):
        return _lone_surrogate(value, path)
    if value is None or isinstance(value, (bool, int)):
        return None
    if isinstance(value, float):
        return (
            None
            if allowed.nonfinite or math.isfinite(value)
            else (path, f"{value!r} is not a number that JSON has")
        )
    if isinstance(value, Mapping):
        return _first_of_mapping(value, path, allowed)
    if isinstance(value, (list, tuple)):
        return _first_of(((f"{path}[{index}]", part) for index, part in enumerate(value)), allowed)
    return (path, f"{shown(value)} ({type(value).__name__}) is not JSON data") if allowed.plain else None


def _first_of(parts: Iterable[tuple[str, object]], allowed: _Allowed) -> tuple[str, str] | None:
    for path, part in parts:
        if found := _first_foreign(part, path, allowed):
            return found
    return None


def _first_of_mapping(value: Mapping[object, object], path: str, allowed: _Allowed) -> tuple[str, str] | None:
    for key in value:
        if allowed.plain and not isinstance(key, str):
            return path, f"key {shown(key)} is not a string"
        if found := _first_foreign(key, path, allowed):
            return found
    return _first_of(((f"{path}.{key}", part) for key, part in value.items()), allowed)


def _lone_surrogate(text: str, path: str) -> tuple[str, str] | None:
    # `isascii` is a flag of the string: it spares the search for most of them.
    if text.isascii() or (lone := _LONE_SURROGATE.search(text)) is None:
        return None
    return path, f"lone surrogate {lone[0]!r} at character {lone.start() + 1} is not text in {shown(text)}"
