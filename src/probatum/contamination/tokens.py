"""What overlap is counted in: words, characters, or whichever the script calls for."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, get_args

from probatum.core.errors import UsageError

__all__ = ["UNITS", "Unit", "tokenise", "window_count"]

Unit = Literal["auto", "words", "characters"]

UNITS: Final[tuple[str, ...]] = get_args(Unit)
"""`words`: runs of letters and digits. `characters`: single letters and digits. `auto`: words, but single
characters of scripts that set no blanks (Chinese, Japanese, Thai, Lao, Khmer, Burmese)."""

_WORD = re.compile(r"\w+")
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_AUTO = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_CHARACTER = re.compile(r"\w")
_PATTERNS: Final = {"auto": _AUTO, "words": _WORD, "characters": _CHARACTER}


def tokenise(text: str, unit: Unit = "auto") -> list[str]:
    """The tokens of a text after NFKC and case folding; punctuation and blanks are none.

    Raises:
        UsageError: an unknown unit.

    >>> tokenise("What is 2+2?")
    ['what', 'is', '2', '2']
    >>> len(tokenise("北京是中国的首都"))
    8
    """
    if unit not in _PATTERNS:
        raise UsageError(f"unit {unit!r} is unknown: use {', '.join(UNITS)}")
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return _PATTERNS[unit].findall(folded)


def window_count(length: int, size: int) -> int:
    """Windows of `size` in a text of `length`: one where they are equal.

    Raises:
        UsageError: a size below 1.
    """
    if size < 1:
        raise UsageError(f"a window of {size} holds nothing; use 1 or more")
    return max(0, length - size + 1)
