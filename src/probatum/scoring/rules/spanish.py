"""Spanish words and sentences in the manner of the published checker, which asks spaCy.

That checker takes spaCy's model `es_core_news_sm`, whose sentences come from a parser that is not to be had
here. What stands here agrees with every published verdict at hand (137 instructions), and may differ from
spaCy elsewhere.
"""

from __future__ import annotations

import unicodedata

from probatum.scoring.rules.backends import punkt_sentences

__all__ = ["spanish_sentences", "spanish_words"]


def spanish_words(text: str) -> list[str]:
    """Blank-separated tokens without the punctuation at their ends; hyphens part nothing."""
    return [word for token in text.split() if (word := _trimmed(token))]


def _trimmed(token: str) -> str:
    start, end = 0, len(token)
    while start < end and unicodedata.category(token[start]).startswith("P"):
        start += 1
    while end > start and unicodedata.category(token[end - 1]).startswith("P"):
        end -= 1
    return token[start:end]


def spanish_sentences(text: str) -> list[str]:
    """Sentences by Punkt with the Spanish model that hold a letter: the number of a list item is none."""
    return [each for each in punkt_sentences(text, "spanish") if any(map(str.isalpha, each))]
