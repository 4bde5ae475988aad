"""n-gram overlap of a benchmark's items with a corpus that is read once, text by text.

The index is of the items, so that memory does not grow with the corpus. Equality is of the n-grams
themselves: there are no hash collisions to explain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from probatum.contamination.questions import golds_of, question_of
from probatum.contamination.tokens import Unit, tokenise, window_count
from probatum.core.errors import UsageError
from probatum.core.records import Item

__all__ = ["ItemOverlap", "Overlap", "ScanReport", "scan"]

_Gram = tuple[str, ...]

NEAR: Final = 50
"""Tokens behind the question within which its answer must stand."""


class Overlap(StrEnum):
    """What the corpus holds of an item."""

    CLEAN = "clean"
    """No n-gram of the question."""
    INPUT = "input"
    """n-grams of the question."""
    INPUT_AND_LABEL = "input_and_label"
    """The question, and its answer close behind it."""
    NOT_CHECKABLE = "not_checkable"
    """The question has fewer tokens than an n-gram: "clean" would say nothing. See `exact`."""


@dataclass(frozen=True, kw_only=True)
class ItemOverlap:
    """One item against the whole corpus."""

    item_id: str
    overlap: Overlap
    grams: int
    """n-grams of the question that were looked for."""
    share: float = 0.0
    """Of those, the share that the best document holds."""
    document: str | None = None
    """That document."""
    excerpt: str | None = None
    """The first n-gram that it holds."""
    exact: bool | None = None
    """For questions that are too short: whether a document holds the whole of it."""


@dataclass(frozen=True, kw_only=True)
class ScanReport:
    """Every item, and what was read to say so."""

    n: int
    unit: str
    share: float
    documents: int
    tokens: int
    boilerplate: int
    """Different n-grams that were ignored because many items share them."""
    items: tuple[ItemOverlap, ...]

    @property
    def counts(self) -> Mapping[Overlap, int]:
        """Items of each kind; they add up to all items."""
        found = Counter(each.overlap for each in self.items)
        return {kind: found[kind] for kind in Overlap}

    def ids(self, *kinds: Overlap) -> list[str]:
        """Ids of the items of these kinds, in their order."""
        return [each.item_id for each in self.items if each.overlap in kinds]


def scan(
    corpus: Iterable[str | tuple[str, str]],
    items: Iterable[Item],
    n: int = 13,
    *,
    unit: Unit = "auto",
    template: Sequence[str] = (),
    share: float = 0.0,
    boilerplate: int | None = 10,
    question: str | None = None,
) -> ScanReport:
    """Which items of a benchmark stand in a corpus.

    Args:
        corpus: texts, or (name, text); read once, in order.
        items: the benchmark's.
        n: tokens of an n-gram (13 in Brown et al. 2020, arXiv:2005.14165, appendix C).
        unit: see `UNITS`.
        template: texts that prompts share; taken out of questions before they are cut into n-grams.
        share: least share of an item's n-grams that one document must hold; 0 is any.
        boilerplate: n-grams that so many different items share are ignored (instructions); `None` keeps them.
        question: name of the field that holds the question; `None` finds it.

    Raises:
        UsageError: no corpus, no items, an item whose question cannot be found, or an n below 1.
    """
    if n < 1:
        raise UsageError(f"n {n} cannot be used: give 1 or more tokens")
    if not 0 <= share <= 1:
        raise UsageError(f"share {share!r} cannot be used: give a number from 0 to 1")
    targets = [_Target.of(item, n, unit, template, question) for item in items]
    if not targets:
        raise UsageError("there are no items to look for; name a task that has some")
    ignored = _common([target.grams for target in targets], boilerplate)
    index = _Index(targets, ignored, n)
    documents = tokens = 0
    for name, text in _named(corpus):
        documents += 1
        tokens += index.read(name, tokenise(text, unit))
    if not documents or not tokens:
        raise UsageError(
            f"no corpus was read ({documents} documents, {tokens} tokens): nothing can be called clean; "
            "name files that hold text"
        )
    found = tuple(target.verdict(share) for target in targets)
    return ScanReport(
        n=n, unit=unit, share=share, documents=documents, tokens=tokens, boilerplate=len(ignored), items=found
    )


def _named(corpus: Iterable[str | tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(corpus, 1):
        yield (f"document {number}", text) if isinstance(text, str) else text


def _grams_of(tokens: Sequence[str], n: int) -> Iterator[_Gram]:
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def _without(tokens: list[str], part: Sequence[str]) -> list[list[str]]:
    """What is left of `tokens` before, between and behind every occurrence of `part`."""
    pieces, at, size = [], 0, len(part)
    for place in range(window_count(len(tokens), max(1, size))):
        if size and place >= at and tokens[place : place + size] == list(part):
            pieces.append(tokens[at:place])
            at = place + size
    return [*pieces, tokens[at:]]


def _common(every: Sequence[Sequence[_Gram]], most: int | None) -> frozenset[_Gram]:
    if most is None:
        return frozenset()
    counts = Counter(gram for grams in every for gram in set(grams))
    return frozenset(gram for gram, count in counts.items() if count >= most)


@dataclass
class _Target:
    """One item that is looked for, and what was found so far."""

    item: Item
    grams: tuple[_Gram, ...]
    whole: _Gram
    """The question, where it is too short for an n-gram."""
    golds: tuple[_Gram, ...]
    wanted: frozenset[_Gram] = frozenset()
    best: int = 0
    document: str | None = None
    excerpt: str | None = None
    with_label: str | None = None
    """Document in which the answer stands behind the question."""
    label_count: int = 0
    exact: bool = field(default=False)

    @classmethod
    def of(cls, item: Item, n: int, unit: Unit, template: Sequence[str], question: str | None) -> _Target:
        pieces = [tokenise(question_of(item, question), unit)]
        for text in template:
            part = tokenise(text, unit)
            pieces = [rest for piece in pieces for rest in _without(piece, part)]
        grams = tuple(gram for piece in pieces for gram in _grams_of(piece, n))
        whole = () if grams else max((tuple(piece) for piece in pieces), key=len)
        golds = tuple(tuple(tokenise(gold, unit)) for gold in golds_of(item))
        return cls(item, grams, whole, tuple(gold for gold in golds if gold))

    def take(self, name: str, found: set[_Gram], answered: bool) -> None:
        """Notes what one document holds."""
        if len(found) > self.best:
            self.best, self.document = len(found), name
            self.excerpt = " ".join(next(gram for gram in self.grams if gram in found))
        if answered and len(found) > self.label_count:
            self.with_label, self.label_count = name, len(found)

    def verdict(self, share: float) -> ItemOverlap:
        wanted = len(self.wanted)
        if not wanted:
            return ItemOverlap(
                item_id=self.item.id,
                overlap=Overlap.NOT_CHECKABLE,
                grams=0,
                document=self.document,
                exact=self.exact if self.whole else None,
            )
        held = max(share * wanted, 1)
        kind = Overlap.INPUT if self.best >= held else Overlap.CLEAN
        if self.label_count >= held:
            kind = Overlap.INPUT_AND_LABEL
        return ItemOverlap(
            item_id=self.item.id,
            overlap=kind,
            grams=wanted,
            share=self.best / wanted,
            document=self.with_label if kind is Overlap.INPUT_AND_LABEL else self.document,
            excerpt=self.excerpt,
        )


class _Index:
    """n-gram → items that have it."""

    def __init__(self, targets: Sequence[_Target], ignored: frozenset[_Gram], n: int) -> None:
        self._n = n
        self._holders: dict[_Gram, list[_Target]] = {}
        self._short: dict[int, dict[_Gram, list[_Target]]] = {}
        for target in targets:
            target.wanted = frozenset(target.grams) - ignored
            for gram in target.wanted:
                self._holders.setdefault(gram, []).append(target)
            if target.whole:
                self._short.setdefault(len(target.whole), {}).setdefault(target.whole, []).append(target)

    def read(self, name: str, tokens: list[str]) -> int:
        """Looks through one document; the number of its tokens."""
        found: dict[int, set[_Gram]] = {}
        ends: dict[int, int] = {}
        targets: dict[int, _Target] = {}
        for place, gram in enumerate(_grams_of(tokens, self._n)):
            for target in self._holders.get(gram, ()):
                key = id(target)
                targets[key] = target
                found.setdefault(key, set()).add(gram)
                ends[key] = place + self._n
        for key, target in targets.items():
            behind = tokens[ends[key] : ends[key] + NEAR]
            target.take(name, found[key], any(_stands(gold, behind) for gold in target.golds))
        for size, wholes in self._short.items():
            for gram in _grams_of(tokens, size):
                for target in wholes.get(gram, ()):
                    target.exact, target.document = True, target.document or name
        return len(tokens)


def _stands(part: _Gram, tokens: Sequence[str]) -> bool:
    return any(gram == part for gram in _grams_of(tokens, len(part)))
