"""The part of Seatbelt's profile language that our profiles use, read and decided as macOS does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Form = Any  # a symbol as `str`, a string as `Text`, a list of forms


class Text(str):
    """A string of the language, as against a symbol."""

    __slots__ = ()


TOKEN = re.compile(r'\s*(?:(?P<open>\()|(?P<close>\))|"(?P<text>(?:\\.|[^"\\])*)"|(?P<symbol>[^\s()"]+))')


def read(profile: str) -> list[Form]:
    """The profile's forms."""
    stack: list[list[Form]] = [[]]
    place = 0
    while place < len(profile.rstrip()):
        token = TOKEN.match(profile, place)
        assert token is not None, profile[place : place + 40]
        place = token.end()
        if token["open"]:
            stack.append([])
        elif token["close"]:
            done = stack.pop()
            stack[-1].append(done)
        elif token["symbol"]:
            stack[-1].append(token["symbol"])
        else:
            stack[-1].append(Text(re.sub(r"\\(.)", r"\1", token["text"])))
    (forms,) = stack
    return forms


def _fits(operation: str, wanted: str) -> bool:
    return wanted == operation or (wanted.endswith("*") and operation.startswith(wanted[:-1]))


def _holds(condition: Form, value: str) -> bool:
    kind, *given = condition
    if kind == "subpath":
        return value == given[0] or value.startswith(given[0].rstrip("/") + "/")
    if kind in {"literal", "sysctl-name"}:
        return bool(value == given[0])
    if kind == "target":
        return bool(value == given[0])
    if kind == "require-all":
        return all(_holds(one, value) for one in given)
    if kind == "require-not":
        return not _holds(given[0], value)
    raise AssertionError(f"unknown condition {condition!r}")


def allowed(forms: list[Form], operation: str, value: str = "") -> bool:
    """Whether an operation on a path, a name or a target is allowed: the last rule that fits decides."""
    verdict = False
    for action, *rest in forms:
        if action in {"version", "import"}:
            continue
        operations = [one for one in rest if isinstance(one, str)]
        conditions = [one for one in rest if isinstance(one, list)]
        if operations == ["default"] or (
            any(_fits(operation, one) for one in operations)
            and (not conditions or any(_holds(one, value) for one in conditions))
        ):
            verdict = action == "allow"
    return verdict


def conditions(forms: list[Form], operation: str) -> Iterator[Form]:
    """Conditions under which rules allow an operation."""
    for action, *rest in forms:
        if action == "allow" and any(isinstance(one, str) and _fits(operation, one) for one in rest):
            yield from (one for one in rest if isinstance(one, list))
