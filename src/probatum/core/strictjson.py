"""Any value as strict JSON (RFC 8259): what JSON has no word for is `null`, with the reason beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any, Final

from probatum.core.moments import utc_text

__all__ = ["REASONS", "strict_json", "strict_text"]

REASONS: Final = "nulls"
"""Name under which an object tells why some of its values are `null`: path → what stood there."""


def strict_json(value: object) -> Any:
    """`value` as plain JSON data: objects, lists, strings, finite numbers, booleans and `null`.

    NaN and infinities become `null`; then the outermost object has a field `nulls` that names each of them by
    its path. Numbers of numpy are numbers, records are objects, sets are sorted lists, paths and members of
    enumerations are texts, moments are in UTC.

    Raises:
        TypeError: a value that has no such form; it is not written as its `repr`.

    >>> strict_json({"a": float("nan"), "b": [1, float("inf")]})
    {'a': None, 'b': [1, None], 'nulls': {'a': 'nan', 'b[1]': 'inf'}}
    """
    reasons: dict[str, str] = {}
    plain = _plain(value, "", reasons)
    if reasons and isinstance(plain, dict):
        plain[REASONS if REASONS not in plain else f"{REASONS} of this object"] = reasons
    return plain


def strict_text(value: object, *, indent: int | None = None) -> str:
    """`strict_json` as ASCII text: lone surrogates are escaped, so that any file and terminal can take it."""
    return json.dumps(strict_json(value), ensure_ascii=True, allow_nan=False, indent=indent)


def _plain(value: object, path: str, reasons: dict[str, str]) -> Any:  # noqa: C901, PLR0911, PLR0912 - one line a type
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, path, reasons)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        reasons[path or "value"] = repr(float(value))
        return None
    if isinstance(value, Mapping):
        return {
            str(_key(key)): _plain(part, f"{path}.{key}" if path else str(key), reasons)
            for key, part in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        return _plain({field.name: getattr(value, field.name) for field in fields(value)}, path, reasons)
    if isinstance(value, (list, tuple)):
        return [_plain(part, f"{path}[{place}]", reasons) for place, part in enumerate(value)]
    if isinstance(value, AbstractSet):
        parts = [_plain(part, f"{path}[]", reasons) for part in value]
        return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, (date, PurePath)):
        return str(value)
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # numpy, which the core does not import
        return _plain(value.tolist(), path, reasons)
    raise TypeError(f"{value!r} at {path or 'the top'} ({type(value).__name__}) cannot be written as JSON")


def _key(key: object) -> object:
    """A name of an object; numbers and members of enumerations are written as texts."""
    if isinstance(key, Enum):
        return key.value
    if isinstance(key, (str, int, float)) or hasattr(key, "dtype"):
        return key
    raise TypeError(f"{key!r} ({type(key).__name__}) cannot be a name in a JSON object")
