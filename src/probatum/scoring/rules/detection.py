"""The language of a response, in our edition: langdetect, seeded, on small letters, and the script.

What langdetect alone gets wrong: it leaves words in capitals out, so that a text in capitals is judged by
what remains; it answers `zh-cn` where a data set asks for `zh`; it takes Latin words out of a text in
another script before it looks, so that a text half in English passes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from probatum.scoring.rules.backends import detect_languages
from probatum.scoring.rules.records import Finding
from probatum.scoring.rules.words import count_words

__all__ = ["DETECTABLE", "is_in", "share_of_script"]

_CODES: Final = (
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no "
    "pa pl pt ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh"
)
DETECTABLE: Final = frozenset(_CODES.split())
"""ISO 639-1 codes that langdetect 1.0.9 tells apart (Chinese as `zh-cn` and `zh-tw`)."""

_SCRIPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "ar": ("ARABIC",),
    "fa": ("ARABIC",),
    "ur": ("ARABIC",),
    "he": ("HEBREW",),
    "hi": ("DEVANAGARI",),
    "mr": ("DEVANAGARI",),
    "ne": ("DEVANAGARI",),
    "bn": ("BENGALI",),
    "pa": ("GURMUKHI",),
    "gu": ("GUJARATI",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "kn": ("KANNADA",),
    "ml": ("MALAYALAM",),
    "th": ("THAI",),
    "ko": ("HANGUL",),
    "ja": ("HIRAGANA", "KATAKANA", "CJK"),
    "zh": ("CJK",),
    "ru": ("CYRILLIC",),
    "uk": ("CYRILLIC",),
    "bg": ("CYRILLIC",),
    "mk": ("CYRILLIC",),
    "el": ("GREEK",),
}
ENOUGH_WORDS: Final = 10
LEAST_SHARE: Final = 0.8
"""Of the letters that must be of the language's script; the rest may be names and terms in another."""


def is_in(text: str, language: str, *, unless_short: bool = False) -> Finding:
    """Whether a text is in a language: langdetect gives it a probability of 0.1 at least.

    Where the language cannot be told, it is not; with `unless_short`, a text of fewer than 10 words passes
    on its script alone, since a few words or names are of no one language.
    """
    wanted = language.lower().partition("-")[0]
    share = share_of_script(text, wanted)
    if share < LEAST_SHARE:
        script = _SCRIPTS.get(wanted, _LATIN)[0].lower()
        reason = f"{share:.0%} of the letters are {script}; needed {LEAST_SHARE:.0%}"
        return Finding(followed=False, reason=reason)
    if unless_short and (length := count_words(text)) < ENOUGH_WORDS:
        return Finding(followed=True, reason=f"{length} words are too few to tell the language")
    found = detect_languages(text.lower())
    if not found:
        return Finding(followed=False, reason="the language cannot be told")
    followed = any(code.partition("-")[0] == wanted for code, _ in found)
    reason = f"language {found[0][0]!r} ({found[0][1]:.0%})"
    return Finding(followed, reason if followed else f"{reason}; asked {language!r}")


_LATIN: Final = ("LATIN",)


def share_of_script(text: str, language: str) -> float:
    """Share of a text's letters that are of the script of a language; 0 where there is no letter."""
    scripts = _SCRIPTS.get(language.lower().partition("-")[0], _LATIN)
    letters = [sign for sign in text[:SEEN] if sign.isalpha()]
    if not letters:
        return 0.0
    return sum(unicodedata.name(sign, "").startswith(scripts) for sign in letters) / len(letters)


SEEN: Final = 10_000  # characters, as many as langdetect looks at
