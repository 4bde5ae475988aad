"""What goes to stdout: strict JSON, and nothing beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from probatum.core.errors import UsageError
from probatum.core.strictjson import strict_text

__all__ = ["print_json", "print_line", "printable", "write_text"]


def print_json(value: Mapping[str, Any]) -> None:
    """One strict JSON object: NaN is `null`, and `nulls` says where; surrogates are escaped."""
    click.echo(strict_text(value))


def print_line(text: str) -> None:
    """One line for people: signs that steer a terminal or turn the direction of writing by their numbers."""
    click.echo(printable(text))


def printable(text: str) -> str:
    """The text with what would steer a terminal by its numbers."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def write_text(path: Path, text: str) -> None:
    """Writes a file whole.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}; choose another file") from None
