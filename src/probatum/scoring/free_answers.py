"""Free answers against references: token overlap and inclusion, without what is unsafe about either.

SQuAD's official rules (`squad_exact`, `token_f1`) take "9.4" for "94" and "-5" for "5", leave typographic
quotes in, and let a reference that is punctuation alone stand for "no answer". Those here do not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from probatum.core.errors import UsageError
from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extraction, Extractor, ShortAnswer
from probatum.extraction.characters import WORD
from probatum.extraction.numbers import parse_number, scan_numbers
from probatum.scoring.answers import invalid_item, judged, read
from probatum.scoring.exact import collapse_blanks, fold_case, fold_width

__all__ = ["AnswerIncluded", "AnswerOverlap", "OverlapScores", "answer_overlap", "includes_answer", "qa_text"]

_JOINT = frozenset(".,:/'’")
"""Between two digits they belong to the number."""


def qa_text(text: str) -> str:
    """Lower case, no punctuation of any script, no English articles, single blanks.

    `U.S.A.` is one word. Numbers stay whole, `C++` and `C#` what they are, and an article that is the
    whole text.

    >>> qa_text("“The New York” –"), qa_text("-9.4%"), qa_text("1,000 people.")
    ('new york', '-9.4', '1000 people')
    """
    folded = fold_case(fold_width(text)).replace("\u2212", "-")
    folded = _INITIALS.sub(lambda match: match[0].replace(".", ""), folded)
    kept = "".join(
        sign if not _is_punctuation(sign) or _is_part(folded, place) else " "
        for place, sign in enumerate(folded)
    )
    plain = collapse_blanks(_GROUPED.sub(lambda match: match[0].replace(",", ""), kept))
    return collapse_blanks(_ARTICLE.sub(" ", plain)) or plain


_INITIALS = re.compile(r"(?<![\w.])[^\W\d_](?:\.[^\W\d_])+\.?(?!\w)")
_ARTICLE = re.compile(r"(?<!\S)(?:a|an|the)(?!\S)")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "PS"


def _is_part(text: str, place: int) -> bool:
    """A sign before a digit that begins a number, a separator between two digits; or `++` after a letter."""
    following = text[place + 1 : place + 2]
    before = text[place - 1 : place] if place else ""
    if text[place] in "+#":
        return bool(before) and (before.isalpha() or before == "+") and not following.isalnum()
    if not following.isdecimal():
        return False
    if text[place] == "-":
        return not before.isalnum()
    return before.isdecimal() and text[place] in _JOINT


@dataclass(frozen=True, slots=True)
class OverlapScores:
    """One answer against its references; both in 0 … 1, `exact` never above `f1`."""

    exact: float
    f1: float


def answer_overlap(answer: str, targets: Sequence[str]) -> OverlapScores:
    """Exact match and token F1, each the best over the references.

    The empty reference means that there is no answer, and only an empty answer matches it. Any other
    reference of which nothing is left after `qa_text` is a fault of the data, and is left out.

    Raises:
        UsageError: no reference is usable.

    >>> answer_overlap("The cat sat", ["???", "a cat sat down"])
    OverlapScores(exact=0.0, f1=0.8)
    """
    usable = [qa_text(target) for target in targets if not target.strip() or qa_text(target)]
    if not usable:
        raise UsageError(f"no usable reference among {list(targets)!r}: mend the item")
    value = parse_number(answer)
    if value is not None and value in map(parse_number, targets):
        return OverlapScores(1.0, 1.0)
    said = qa_text(answer)
    return OverlapScores(float(said in usable), max(_f1(said, target) for target in usable))


def _f1(said: str, wanted: str) -> float:
    ours, theirs = Counter(said.split()), Counter(wanted.split())
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def includes_answer(answer: str, targets: Sequence[str]) -> bool:
    """Whether the answer says one of the references, as whole words; a number, by its value.

    A reference that is a number is said only by an answer whose numbers all have its value: "9" does not
    say 9.4, and "9 or 9.4" says neither. What the answer says besides, and whether it says so or denies
    it, is not looked at.

    Raises:
        UsageError: no reference is usable: what normalises to nothing would be part of every answer.

    >>> includes_answer("It is Paris, France.", ["Paris"]), includes_answer("The width is 9", ["9.4"])
    (True, False)
    """
    usable = [target for target in targets if qa_text(target)]
    if not usable:
        raise UsageError(f"no usable reference among {list(targets)!r}: mend the item")
    said = qa_text(answer)
    return bool(said) and any(_says(answer, said, target) for target in usable)


def _says(answer: str, said: str, target: str) -> bool:
    value = parse_number(target)
    if value is not None:
        found = scan_numbers(answer)
        return bool(found) and all(each.exact and each.value == value for each in found)
    return _whole_words(qa_text(target)).search(said) is not None


@lru_cache(maxsize=4096)
def _whole_words(words: str) -> re.Pattern[str]:
    before = rf"(?<!{WORD})" if re.match(WORD, words) else ""
    after = rf"(?!{WORD}|[+#])" if re.match(WORD, words[-1]) else ""
    return re.compile(before + re.escape(words) + after)


@dataclass(frozen=True)
class AnswerOverlap:
    """Scores `exact` and `f1` of `answer_overlap`."""

    extractor: Extractor = field(default_factory=lambda: ShortAnswer(loose=True))
    scores: tuple[str, ...] = field(default=("exact", "f1"), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted answer with every usable target."""
        found = _read(self.extractor, item, sample, responses)
        if isinstance(found, Outcome):
            return found
        scored = answer_overlap(found.answer, item.targets)
        return judged(item, sample, found, {"exact": scored.exact, "f1": scored.f1})


@dataclass(frozen=True)
class AnswerIncluded:
    """Score `included`: 1 where the answer says a target, by `includes_answer`."""

    extractor: Extractor = field(default_factory=lambda: ShortAnswer(loose=True))
    scores: tuple[str, ...] = field(default=("included",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Looks for every usable target in the extracted answer."""
        found = _read(self.extractor, item, sample, responses)
        if isinstance(found, Outcome):
            return found
        said = includes_answer(found.answer, item.targets)
        return judged(item, sample, found, {"included": float(said)})


def _read(
    extractor: Extractor, item: Item, sample: int, responses: Sequence[Response]
) -> Extraction | Outcome:
    if not any(qa_text(target) for target in item.targets):
        return invalid_item(item, sample, f"no usable target among {item.targets!r}")
    return read(item, sample, responses, extractor)
