"""Characters: width folding, what belongs to a word, decoration around an answer.

Everything here keeps positions: a folded text has the length of the text, so that spans of the one
are spans of the other.
"""

from __future__ import annotations

import re

__all__ = ["CLOSERS", "LINE", "OPENERS", "WORD", "fold", "fold_width", "sentence_end", "trim"]

_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""Full-width forms of ASCII (U+FF01–FF5E) and the ideographic space; nothing else, so that ② and ²
stay what they are."""

_ZEROS = (0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0,
          0xF20, 0x1040, 0x17E0, 0x1810)  # fmt: skip
"""Where the decimal digits of other scripts begin: Arabic, Persian, N'Ko, Devanagari, Bengali, …"""

_DIGITS = {zero + digit: 0x30 + digit for zero in _ZEROS for digit in range(10)}

_ALIKE = (
    _WIDTH
    | _DIGITS
    | {
        0x066B: ".",  # Arabic decimal separator and thousands separator
        0x066C: ",",
        0x2212: "-",  # minus sign
        0x202F: "\u00a0",  # blanks that group digits
        0x2009: "\u00a0",
        0x200B: " ",  # zero-width space
        0xFEFF: " ",
        0x2028: "\n",
        0x2029: "\n",
        0x0085: "\n",
        0x0B: " ",
        0x0C: " ",
        0x0D: "\n",
    }
)

WORD = r"[^\W\u0e00-\u0eff\u1100-\u11ff\u3005-\u318f\u31f0-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]"
"""A character that belongs to a word in scripts that set blanks between words. Chinese, Japanese,
Korean and Thai letters stand beside a Latin label without a blank (选B项, 정답은 B입니다)."""

LINE = re.compile(r"[^\n]+")
"""Lines that are not empty."""

OPENERS = " \t\u00a0*_~`$\"'“‘«‹「『【《〈({[<>#\\:：=-–—→•·"
CLOSERS = " \t\u00a0*_~`$\"'”’»›」』】》〉)}]<>\\.,;:!?。，、；！？"


def fold_width(text: str) -> str:
    """Full-width ASCII as ASCII; other compatibility characters stay.

    >>> fold_width("（Ｂ）　②")
    '(B) ②'
    """
    return text if text.isascii() else text.translate(_WIDTH)


def fold(text: str) -> str:
    """For searching: widths, digits, special blanks, line ends and the minus sign, each by one character."""
    if text.isascii() and "\r" not in text and "\x0b" not in text and "\x0c" not in text:
        return text
    return text.translate(_ALIKE)


_END = re.compile(r"\n|[。！？?।۔](?!\w)|!(?!\w|\s?[=+×*/^])|\.(?=\s|$|[\"'”’)\]*_])|;\s|；")


def sentence_end(text: str, start: int, limit: int) -> int:
    """Where the sentence that holds `start` ends, at most at `limit`."""
    match = _END.search(text, start, limit)
    return match.start() if match else min(limit, len(text))


def trim(text: str, start: int, end: int, openers: str = OPENERS, closers: str = CLOSERS) -> tuple[int, int]:
    """The part of `text[start:end]` without the decoration around it."""
    while start < end and text[start] in openers:
        start += 1
    while end > start and text[end - 1] in closers:
        end -= 1
    return start, end
