r"""Words: the tokenizer of every rule that counts them in our edition.

A word is a run of `\w` (letters, digits, underscore) together with the combining marks within it. An
apostrophe and a hyphen part words, as in IFEval: "don't" and "well-known" are two each. Scripts without
blanks between words (Chinese, Japanese, Thai) have one word a run, and should be counted in characters.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from probatum.scoring.rules.records import InstructionError

__all__ = [
    "capital_words",
    "count_words",
    "first_letters",
    "ngram_overlap",
    "occurrences",
    "word_at",
    "word_span",
    "words",
]

_ASCII_WORD: Final = re.compile(r"\w+")
_JOINERS: Final = "\u200c\u200d"  # within words of Persian and of Indian scripts


_ALIKE: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-"})


@lru_cache(maxsize=1)
def _marks() -> str:
    r"""Every combining mark, for a character class: `\w` has none of them, and would split at each."""
    plane = range(0x300, min(sys.maxunicode, 0x1FFFF))
    return "".join(chr(code) for code in plane if unicodedata.category(chr(code)) in {"Mn", "Mc"})


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    inner = re.escape(_marks()) + _JOINERS
    return re.compile(rf"\w[\w{inner}]*")


@lru_cache(maxsize=1)
def _compound() -> re.Pattern[str]:
    inner = re.escape(_marks()) + _JOINERS
    return re.compile(rf"\w[\w{inner}]*(?:[-'’.&]\w[\w{inner}]*)*")


def words(text: str) -> list[str]:
    r"""The words of a text: runs of `\w` with the combining marks within them.

    >>> words("Cats run."), words("well-known don't"), len(words("हिन्दी भाषा"))
    (['Cats', 'run'], ['well', 'known', 'don', 't'], 2)
    """
    return (_ASCII_WORD if text.isascii() else _word()).findall(text)


def count_words(text: str, tokenizer: str | None = None) -> int:
    r"""How many words there are; `tokenizer` is a regular expression to take the place of `words`.

    Raises:
        InstructionError: `tokenizer` is no regular expression.
    """
    if tokenizer is None:
        return len(words(text))
    try:
        return sum(1 for _ in re.finditer(tokenizer, text))
    except re.error as error:
        raise InstructionError(f"tokenizer {tokenizer!r} is no regular expression: {error}") from None


def capital_words(text: str) -> list[str]:
    """Words without a lower-case letter; apostrophes, hyphens, dots and & within them do not part them.

    A possessive 's does not count as a letter of the word.

    >>> capital_words("I'M from the U.S. and like AT&T, WELL-KNOWN for NASA's R2D2.")
    ["I'M", 'U.S', 'AT&T', 'WELL-KNOWN', 'NASA', 'R2D2']
    """
    found = (word.removesuffix("'s").removesuffix("’s") for word in _compound().findall(text))
    return [word for word in found if word.isupper()]


def occurrences(phrase: str, text: str) -> int:
    r"""How often a word or phrase occurs as whole words, in any case; blanks in it match any white space.

    Typographic apostrophes and hyphens are the plain ones.

    >>> occurrences("art", "Start each part with art."), occurrences("C++", "I like c++.")
    (1, 1)
    """
    body = r"\s+".join(re.escape(part) for part in phrase.translate(_ALIKE).split())
    return sum(1 for _ in re.finditer(rf"(?<!\w){body}(?!\w)", text.translate(_ALIKE), re.IGNORECASE))


def first_letters(sentences: Sequence[str]) -> list[str]:
    """The first letter or digit of each sentence; quotation marks and other signs before it are passed by.

    >>> first_letters(['"Apples fell."', "Bees came."])
    ['A', 'B']
    """
    found = (next((sign for sign in sentence if sign.isalnum()), None) for sentence in sentences)
    return [sign for sign in found if sign is not None]


def ngram_overlap(response: str, reference: str, n: int = 3) -> float | None:
    """Share of the word n-grams of the response that the reference has, case aside; `None` if there are none.

    Each different n-gram counts once.

    >>> ngram_overlap("the cat sat on", "the cat sat up")
    0.5
    """
    ours, theirs = _ngrams(response, n), _ngrams(reference, n)
    return len(ours & theirs) / len(ours) if ours else None


def _ngrams(text: str, n: int) -> set[tuple[str, ...]]:
    if n < 1:
        raise InstructionError(f"n-grams of {n!r} words: n must be at least 1")
    found = [word.casefold() for word in words(text)]
    return {tuple(found[place : place + n]) for place in range(len(found) - n + 1)}


def word_at(text: str, place: int) -> str | None:
    """The word at a place, from 1 on, or from -1 back; signs are no words, and apostrophes do not part them.

    `None` where there are fewer words.

    >>> word_at("alpha, beta target gamma.", 3), word_at("So it ends with whisper!", -1)
    ('target', 'whisper')
    """
    if not place:
        raise InstructionError("words are counted from 1, or from -1 back: there is no word 0")
    found = _compound().findall(text)
    inside = place <= len(found) if place > 0 else -place <= len(found)
    return found[place - 1 if place > 0 else place] if inside else None


def word_span(text: str, start: int, end: int) -> str | None:
    """Words `start` to `end` (both included, from 0, parted by white space); `None` where there are fewer.

    >>> word_span("a1 b2 c3 d4 e5 f6", 2, 4)
    'c3 d4 e5'
    """
    found = text.split()
    return " ".join(found[start : end + 1]) if 0 <= start <= end < len(found) else None
