"""Texts of models, files and users inside Markdown, HTML and terminals: shown, never obeyed."""

from __future__ import annotations

import html
import re
from typing import Final

__all__ = ["escape_html", "escape_markdown", "visible"]

_SHOWN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"  # control, line ends of Unicode, lone surrogates
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # turn the direction of writing
    "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # take no room
)
"""Signs that are not seen: texts that look alike may differ by them. Joiners stay, since words need them."""

_MARKUP: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {sign: f"\\{sign}" for sign in "\\`*_[]|#~$"}
)


def escape_markdown(text: str) -> str:
    r"""Text for a line or a cell: it cannot end either, open markup of Markdown or HTML, or steer a terminal.

    >>> escape_markdown("a|b\nc")
    'a\\|b c'
    """
    flat = " ".join(text.split()).translate(_MARKUP)
    return _SHOWN.sub(lambda found: f"\\{_number(found[0])}", flat)


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
    return _SHOWN.sub(lambda found: _number(found[0]), text)


def _number(sign: str) -> str:
    """As Python writes it."""
    return f"\\u{ord(sign):04x}" if ord(sign) <= 0xFFFF else f"\\U{ord(sign):08x}"  # noqa: PLR2004 - of four digits
