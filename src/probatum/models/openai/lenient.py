"""JSON as servers write it, which is not always JSON."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["loads"]


def loads(body: bytes, charset: str | None) -> Any:
    """Any JSON that can be read: lone surrogates and NaN, a byte order mark, UTF-16, a declared charset.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return json.loads(body)
    except UnicodeDecodeError:
        if charset is None or charset.lower().replace("_", "-") in {"utf-8", "utf8"}:
            raise
        try:
            return json.loads(body.decode(charset))
        except LookupError as error:
            raise ValueError(f"unknown charset {charset!r}") from error
    except RecursionError:
        raise ValueError("nested too deeply") from None
