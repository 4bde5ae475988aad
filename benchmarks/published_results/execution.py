"""Runs stored programs in the sandbox, where that was allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_allowed = False


def allow(execute: bool) -> None:
    global _allowed
    _allowed = execute


def is_allowed() -> bool:
    return _allowed


def programs_again(name: str, stored: Sequence[Mapping[str, Any]]) -> float | None:
    return None


def same_mathematics(a: str, b: str) -> bool:
    from probatum.scoring import numbers_equal

    return a == b or bool(numbers_equal(a, b))
