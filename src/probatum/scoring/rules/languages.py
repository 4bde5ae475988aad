"""What differs between the languages that instructions are written in."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["LANGUAGES", "Comparison", "Language"]


@dataclass(frozen=True)
class Comparison:
    """A relation between a count and its bound, as an instruction words it."""

    sign: str
    holds: Callable[[int, int], bool]


BELOW = Comparison("<", operator.lt)
AT_MOST = Comparison("<=", operator.le)
AT_LEAST = Comparison(">=", operator.ge)
ABOVE = Comparison(">", operator.gt)
EXACTLY = Comparison("==", operator.eq)


@dataclass(frozen=True)
class Language:
    """One language of instructions."""

    code: str
    """ISO 639-1, as it stands before an instruction's id and as language detection names it."""
    punkt: str | None
    """Name of its Punkt model; `None` where sentences are found otherwise."""
    relations: Mapping[str, Comparison]
    """Words of the data set → comparison."""
    options: tuple[str, ...]
    """The answers of `detectable_format:constrained_response`."""
    title: tuple[str, str]
    """What stands before and after a title."""
    quotes: tuple[tuple[str, str], ...]
    """Marks that a whole response may be wrapped in, opening and closing."""
    official_quotes: tuple[tuple[str, str], ...]
    """Those that the published checker knows."""


ENGLISH_RELATIONS: Final = {
    "less than": BELOW,
    "at least": AT_LEAST,
    "at most": AT_MOST,
    "more than": ABOVE,
    "exactly": EXACTLY,
}

_PLAIN_QUOTES: Final = (('"', '"'), ("“", "”"), ("„", "“"))

LANGUAGES: Final[Mapping[str, Language]] = {
    "en": Language(
        code="en",
        punkt="english",
        relations=ENGLISH_RELATIONS,
        options=("My answer is yes.", "My answer is no.", "My answer is maybe."),
        title=("<<", ">>"),
        quotes=_PLAIN_QUOTES,
        official_quotes=(('"', '"'),),
    ),
    "es": Language(
        code="es",
        punkt="spanish",
        relations={"al menos": AT_LEAST, "como máximo": AT_MOST},
        options=("Sí.", "No.", "Quizás."),
        title=("<<", ">>"),
        quotes=(*_PLAIN_QUOTES, ("«", "»")),
        official_quotes=(('"', '"'),),
    ),
    "fr": Language(
        code="fr",
        punkt="french",
        relations={"moins de": BELOW, "au moins": AT_LEAST},
        options=("Oui.", "Non.", "Peut-être."),
        title=("##", "##"),
        quotes=(*_PLAIN_QUOTES, ("«", "»")),
        official_quotes=(('"', '"'), ("'", "'"), ("«", "»")),
    ),
    "ja": Language(
        code="ja",
        punkt=None,
        relations={"未満": BELOW, "以上": AT_LEAST},
        options=("はい、そうです。", "いいえ、違います。", "どちらとも言えません。"),
        title=("『", "』"),
        quotes=(("「", "」"),),
        official_quotes=(("「", "」"),),
    ),
}
"""By code. Spanish "como máximo" includes the bound; English "less than" does not."""
