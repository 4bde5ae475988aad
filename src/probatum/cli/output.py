"""What goes to stdout: strict JSON, and nothing beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from probatum.core.errors import UsageError

__all__ = ["print_json", "write_text"]


def print_json(value: Mapping[str, Any]) -> None:
    """One strict JSON object (no NaN); lone surrogates are escaped, so that any terminal can take it."""
    click.echo(json.dumps(value, ensure_ascii=True, allow_nan=False, default=str))


def write_text(path: Path, text: str) -> None:
    """Writes a file whole.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}; choose another file") from None
