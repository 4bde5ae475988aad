"""JSON objects inside a reply: whole ones with their places, and whether the last one was cut off.

A reply may be the object, hold it in a fence, or talk around it. What models get wrong, and what can be read
in one way only, is let pass: a comma too many, line ends in strings, and, where a reply holds no JSON at all,
a flat object in the quotes of Python. A name twice in one object and `NaN` make it no object, since two
readers could read them differently.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["JsonObjects", "find_objects"]

_MOST: Final = 200
"""Objects looked at: a reply with more of them is none."""

_TAIL: Final = " \t\r\n`~*_.。\"'”’)"
"""What may stand behind an object that ends its reply: the fence and marks of the sentence around it."""


@dataclass(frozen=True, slots=True)
class JsonObjects:
    """The objects of a reply, in order."""

    found: tuple[tuple[Mapping[str, Any], tuple[int, int]], ...] = ()
    """Each with its span in the text."""
    cut: bool = False
    """The reply ends inside an object: what is missing is no value."""
    last_ends: bool = False
    """Whether nothing but the fence stands behind the last whole object."""


class _RefusedError(ValueError):
    """Well-formed, and read in two ways by two readers."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RefusedError("a name stands twice in one object")
    return found


def _no_constant(literal: str) -> Any:
    raise _RefusedError(f"{literal} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, strict=False)
"""Line ends inside strings are let pass: models write them, and there is one way to read them."""


def find_objects(text: str) -> JsonObjects:
    """The JSON objects of `text`; those inside another one are parts of it. Linear in its length.

    >>> find_objects('draft {"v": 0}, final {"v": 1}').found[-1]
    ({'v': 1}, (22, 30))
    >>> find_objects('I weigh this: {"score": ').cut
    True
    """
    found: list[tuple[Mapping[str, Any], tuple[int, int]]] = []
    read = _without_last_commas(text)
    at = read.find("{")
    cut = False
    for _ in range(_MOST):
        if at < 0:
            break
        try:
            value, end = _DECODER.raw_decode(read, at)
        except json.JSONDecodeError as error:
            cut = _cut(read, at, error)
            if cut:
                break
            at = read.find("{", max(at + 1, error.pos))  # what stands inside a broken object is no reply
        except (_RefusedError, RecursionError, ValueError):
            # No place is told; a broken object's own parts are not offered as the reply.
            break
        else:
            found.append((value, (at, end)))
            at = read.find("{", end)
    if not found and not cut:
        found = _in_python_quotes(text)
    ends = bool(found) and not cut and not text[found[-1][1][1] :].strip(_TAIL)
    return JsonObjects(tuple(found), cut, ends)


_LAST_COMMA: Final = re.compile(r"(?<=[\w\"'\]}]),(?=\s{0,20}[}\]])")


def _without_last_commas(text: str) -> str:
    """Commas before a closing bracket as blanks: positions stay. In a string nobody reads them as more."""
    return _LAST_COMMA.sub(" ", text) if "{" in text else text


_FLAT: Final = re.compile(r"\{\s{0,20}'[^{}]{1,2000}\}")


def _in_python_quotes(text: str) -> list[tuple[Mapping[str, Any], tuple[int, int]]]:
    found: list[tuple[Mapping[str, Any], tuple[int, int]]] = []
    for match in _FLAT.finditer(text):
        try:
            value = ast.literal_eval(match[0])
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
        names = re.findall(r"'([^'\n]{1,80})'\s{0,4}:", match[0])
        if (
            isinstance(value, dict)
            and all(isinstance(name, str) for name in value)
            and len(names) == len(value)
        ):
            found.append((value, match.span()))
        if len(found) >= _MOST:
            break
    return found


def _cut(text: str, start: int, error: json.JSONDecodeError) -> bool:
    """Whether the object goes on where the text ends, rather than being broken or none at all."""
    if error.msg.startswith("Unterminated string"):
        return True
    return error.pos > start + 1 and not text[error.pos :].strip(" \t\r\n`")
