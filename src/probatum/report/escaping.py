"""Texts of models, files and users inside Markdown, HTML and terminals: shown, never obeyed."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

__all__ = ["escape_html", "escape_markdown", "visible"]

_INVISIBLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Signs that turn the direction of writing: text after them would stand before what it follows."""

_SHOWN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""What `_hidden` says of a sign, all but line ends and tabs, for texts of megabytes."""

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
    return html.escape(visible(text), quote=True)


def visible(text: str) -> str:
    r"""The text with hidden signs shown by number; line ends and tabs stay. It still needs escaping.

    >>> visible("a\x00b\n")
    'a\\u0000b\n'
    """
    return _SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _hidden(sign: str) -> bool:
    return sign in _TURNING or unicodedata.category(sign) in _INVISIBLE
