"""The same question twice: spelt otherwise, with its options in another order, or slightly reworded."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from probatum.contamination.questions import question_text
from probatum.contamination.tokens import Unit, tokenise, window_count
from probatum.core.errors import UsageError

__all__ = ["NearDuplicate", "near_duplicates", "same_question"]

_OPTIONS: Final = ("options", "choices")


def same_question(
    one: Mapping[str, object], other: Mapping[str, object], *, question: str | None = None
) -> bool:
    """Whether two rows ask the same: by id, or by question and set of options.

    Case, width, punctuation, blanks and the order of options do not count. Where only one of the rows has
    options, the question decides. Rows with the same id are the same item whatever else they hold.

    >>> same_question({"q": "Capital of Peru?", "options": ["Quito", "Lima"]},
    ...               {"q": "Capital of Peru ?", "options": ["Lima", "Quito"]})
    True
    >>> same_question({"q": "2+2?"}, {"q": "2-2?"})
    False

    Raises:
        UsageError: a row without a question that can be told.
    """
    if one.get("id") is not None and one.get("id") == other.get("id"):
        return True
    first, second = (_signs(_question(row, question)) for row in (one, other))
    if first != second:
        return False
    sets = [options for row in (one, other) if (options := _options(row)) is not None]
    return len(sets) < 2 or sets[0] == sets[1]  # noqa: PLR2004 - both have options


def _question(row: Mapping[str, object], name: str | None) -> str:
    found = question_text(row, name)
    if found is None:
        raise UsageError(
            f"the question of a row with {', '.join(map(repr, row))} cannot be told; name its field"
        )
    return found


_OPERATORS: Final[Mapping[str, str]] = {
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "*": "times",
    "×": "times",
    "/": "over",
    "÷": "over",
    "<": "less",
    ">": "greater",
    "=": "equals",
    "^": "power",
    "%": "percent",
}
_OPERATOR = re.compile(r"[+−*×÷<>=^%]|(?<=\d)\s?[-/]|[-/](?=\s?\d)")
"""Signs that make another question; hyphens and slashes beside digits only (well-known, and/or)."""


def _signs(text: str) -> tuple[str, ...]:
    """Words, and the signs of arithmetic."""
    folded = unicodedata.normalize("NFKC", text)
    spaced = _OPERATOR.sub(lambda match: f" {_OPERATORS[match[0].strip()]} ", folded)
    return tuple(tokenise(spaced, "auto"))


def _options(row: Mapping[str, object]) -> Counter[tuple[str, ...]] | None:
    for name in _OPTIONS:
        value = row.get(name)
        texts = list(value.values()) if isinstance(value, Mapping) else value
        if isinstance(texts, (list, tuple)):
            return Counter(_signs(str(text)) for text in texts)
    return None


@dataclass(frozen=True, kw_only=True)
class NearDuplicate:
    """Two texts that share most of their shingles."""

    first: int
    """Place in the texts."""
    second: int
    """Place in the pool."""
    similarity: float
    """Jaccard: shingles of both among shingles of either."""


def near_duplicates(
    texts: Sequence[str],
    pool: Sequence[str] | None = None,
    *,
    threshold: float = 0.7,
    size: int = 3,
    unit: Unit = "auto",
) -> list[NearDuplicate]:
    """Pairs of similar texts, of `texts` among themselves or against a pool, the most similar first.

    Texts are sets of shingles of `size` tokens; shorter texts are one shingle. Every pair that shares a
    shingle is compared: nothing is approximated.

    Raises:
        UsageError: a threshold outside 0 … 1 or a size below 1.
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"threshold {threshold!r} cannot be used: give a number above 0, up to 1")
    window_count(0, size)
    left = [_shingles(text, size, unit) for text in texts]
    right = left if pool is None else [_shingles(text, size, unit) for text in pool]
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, shingles in enumerate(right):
        for shingle in shingles:
            holders[shingle].append(place)
    found = []
    for place, shingles in enumerate(left):
        shared = Counter(other for shingle in shingles for other in holders.get(shingle, ()))
        for other, count in shared.items():
            if pool is None and other <= place:
                continue
            similarity = count / (len(shingles) + len(right[other]) - count)
            if similarity >= threshold:
                found.append(NearDuplicate(first=place, second=other, similarity=similarity))
    return sorted(found, key=lambda each: (-each.similarity, each.first, each.second))


def _shingles(text: str, size: int, unit: Unit) -> frozenset[tuple[str, ...]]:
    tokens = tokenise(text, unit)
    grams: Iterable[tuple[str, ...]] = zip(*(tokens[start:] for start in range(size)), strict=False)
    return frozenset(grams) if len(tokens) >= size else frozenset([tuple(tokens)] if tokens else [])
