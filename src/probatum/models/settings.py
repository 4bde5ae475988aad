"""Settings of a provider: strings from `-M key=value` or typed values from TOML, checked once.

A provider declares a frozen dataclass; its field names are the settings, its annotations (with
`msgspec.Meta` for ranges) say which values are good, its defaults are what a run records.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from datetime import date
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from probatum.core.errors import UsageError

__all__ = ["nearest", "read_settings"]

Settings = TypeVar("Settings")


def nearest(name: str, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"` for the known name most like `name`, or an empty string."""
    matches = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.5)
    return f"; did you mean {matches[0]!r}?" if matches else ""


def read_settings(provider: str, given: Mapping[str, object], kind: type[Settings]) -> Settings:
    """The settings that the user gave, as an instance of the frozen dataclass `kind`.

    Args:
        provider: named in errors.
        given: setting → value; a string is read as the type that the field declares.
        kind: the provider's dataclass.

    Raises:
        UsageError: an unknown setting, a value that does not fit, or a required setting not given.
    """
    # A bound "any dataclass" for the type variable cannot be written; `fields` refuses what is none.
    declared = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    hints = get_type_hints(kind, include_extras=True)
    known = ", ".join(sorted(declared)) or "none"
    values: dict[str, Any] = {}
    for key, value in given.items():
        if key not in declared:
            raise UsageError(
                f"provider {provider!r} has no setting {key!r}{nearest(key, declared)} (settings: {known})"
            )
        try:
            values[key] = msgspec.convert(value, hints[key], strict=False)
        except msgspec.ValidationError as error:
            problem = str(error).replace("`", "").removeprefix("Expected ")
            if choices := _choices(hints[key]):
                problem = f"one of {', '.join(choices)}"
            elif hints[key] is bool:
                problem = "true or false"
            elif date in get_args(hints[key]):
                problem = "a day, such as 2025-01-31"
            raise UsageError(
                f"setting {key}={value!r} of provider {provider!r} cannot be used: expected {problem}"
            ) from None
    for field in declared.values():
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name not in values:
            raise UsageError(
                f"provider {provider!r} needs the setting {field.name!r}: give -M {field.name}=VALUE"
            )
    return kind(**values)


def _choices(hint: object) -> list[str]:
    """What a value may be, where the annotation lists it."""
    if get_origin(hint) is Literal:
        return [str(one) for one in get_args(hint)]
    return [choice for part in get_args(hint) for choice in _choices(part)]
