"""How an estimate's figures are written, wherever they are shown."""

from __future__ import annotations

from typing import Final

__all__ = ["figure"]

LARGE: Final = 1e6
"""From here on six digits are written: the perplexity per word of a poor model has 18 before the point."""


def figure(value: float) -> str:
    """Four places after the point, or six significant digits of a value of a million or more."""
    return f"{value:.4f}" if abs(value) < LARGE else f"{value:.6g}"
