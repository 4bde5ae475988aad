"""Texts of models, files and users inside Markdown, HTML and terminals: shown, never obeyed."""

from __future__ import annotations

import html
import unicodedata
from typing import Final

__all__ = ["escape_html", "escape_markdown"]

_INVISIBLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Signs that turn the direction of writing: text after them would stand before what it follows."""

_MARKUP: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {sign: f"\\{sign}" for sign in "\\`*_[]|#~$"}
)


def escape_markdown(text: str) -> str:
    r"""Text for a line or a cell: it cannot end either, open markup of Markdown or HTML, or steer a terminal.

    >>> escape_markdown("a|b\nc")
    'a\\|b c'
    """
    flat = " ".join(text.split()).translate(_MARKUP)
    return "".join(f"\\\\u{ord(sign):04x}" if _hidden(sign) else sign for sign in flat)


def escape_html(text: str) -> str:
    """Text for an element or a quoted attribute; line ends and tabs stay, hidden signs are shown by number.

    >>> escape_html('<script>"x" & y</script>')
    '&lt;script&gt;&quot;x&quot; &amp; y&lt;/script&gt;'
    """
    shown = "".join(f"\\u{ord(sign):04x}" if _hidden(sign) and sign not in "\n\t" else sign for sign in text)
    return html.escape(shown, quote=True)


def _hidden(sign: str) -> bool:
    return sign in _TURNING or unicodedata.category(sign) in _INVISIBLE
