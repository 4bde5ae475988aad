"""Exact match: the answer equals a target, after normalisations that the task names."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor, ShortAnswer
from probatum.extraction.characters import fold_width
from probatum.scoring.answers import invalid_item, judged, read

__all__ = [
    "ExactMatch",
    "Normaliser",
    "collapse_blanks",
    "exact_match",
    "fold_case",
    "fold_width",
    "loose_text",
    "squad_text",
    "strip_articles",
    "strip_punctuation",
    "strip_quotes_and_stops",
    "verbatim",
]

Normaliser = Callable[[str], str]
"""A function at the top of a module, so that the protocol's digest covers its source."""


def fold_case(text: str) -> str:
    """Case-insensitive form, after NFC: "Straße" and "STRASSE" are equal."""
    return unicodedata.normalize("NFC", text).casefold()


def collapse_blanks(text: str) -> str:
    """Runs of white space as one blank, none at the ends."""
    return " ".join(text.split())


_ENDS = " \t\n\r\"'“”‘’`.,;:!?。，、；：！？"


def strip_quotes_and_stops(text: str) -> str:
    """Quotation marks, full stops, commas and colons off both ends."""
    return text.strip(_ENDS)


def strip_punctuation(text: str) -> str:
    """Every Unicode punctuation character removed, wherever it stands."""
    return "".join(each for each in text if not unicodedata.category(each).startswith("P"))


_NO_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


def strip_articles(text: str) -> str:
    """English articles removed, as SQuAD's official script does (Rajpurkar et al., 2016)."""
    return _ARTICLES.sub(" ", text)


def loose_text(text: str) -> str:
    """Differences in width, blanks, case, outer quotes and a final stop do not count."""
    return fold_case(strip_quotes_and_stops(collapse_blanks(fold_width(text))))


def squad_text(text: str) -> str:
    """As SQuAD's official script: lower case, no ASCII punctuation, no English articles, single blanks.

    Punctuation of other scripts and typographic quotes stay, as they do in the official script.
    """
    return collapse_blanks(strip_articles(text.lower().translate(_NO_ASCII_PUNCTUATION)))


def verbatim(text: str) -> str:
    """Nothing but white space at the ends is put aside."""
    return text.strip()


def exact_match(answer: str, targets: Sequence[str], normaliser: Normaliser = loose_text) -> bool | None:
    """Whether the answer equals a target; `None` where no target can be compared with.

    A target that normalises to nothing is left out; an empty answer equals nothing.

    >>> exact_match("“Paris.”", ["paris"]), exact_match("", ["Paris"]), exact_match("x", ["???"])
    (True, False, None)
    """
    usable = {each for target in targets if (each := normaliser(target))}
    if not usable:
        return None
    return normaliser(answer) in usable


@dataclass(frozen=True)
class ExactMatch:
    """Score `correct`: 1 where the answer equals a target after normalisation, else 0."""

    extractor: Extractor = field(default_factory=ShortAnswer)
    normaliser: Normaliser = loose_text
    """Applied to answer and targets: a function at the top of a module, never a lambda."""
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted answer with every target."""
        if exact_match("", item.targets, self.normaliser) is None:
            return invalid_item(item, sample, f"no usable target among {item.targets!r}")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        equal = bool(exact_match(found.answer, item.targets, self.normaliser))
        return judged(item, sample, found, {"correct": float(equal)})
