"""Other readings of an answer, to be held against a task's own: what another rule would have read.

Readings of kind `marked` read what the model marks as its answer (a line, a box, a phrase); those of kind
`search` take what stands first or last, as much code in this field does, whether it is marked or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from probatum.core.errors import UsageError
from probatum.core.records import Item
from probatum.extraction.boxes import boxed_in
from probatum.extraction.characters import fold
from probatum.extraction.components import DeclaredLine, FinalNumber, OptionLetter, PatternAnswer, ShortAnswer
from probatum.extraction.evidence import Extraction, Extractor, Found, Missing
from probatum.extraction.markers import ANSWER_MARKERS
from probatum.extraction.numbers import parse_number, scan_numbers, show
from probatum.extraction.reasoning import visible

__all__ = ["Alternative", "alternatives"]

Place = Literal["declared", "box", "first_line", "last_line"]
OptionPlace = Literal["declared", "box", "first_line", "first_label", "last_label"]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One other reading."""

    name: str
    kind: Literal["marked", "search"]
    extractor: Extractor


def alternatives(extractor: Extractor, item: Item) -> tuple[Alternative, ...]:
    """Other readings of an item's answers: options, numbers or words, as the item's gold is.

    Args:
        extractor: the task's own, whose marks, labels and settings the others take over.
        item: decides the kind where the extractor does not: it has options (or letters as gold), gold
            that is a number, or other gold.
    """
    markers = _marks(extractor)
    if (labels := _labels(extractor, item)) is not None:
        found = _options(extractor, labels, markers)
    elif isinstance(extractor, FinalNumber) or _numeric(extractor, item):
        found = _numbers(extractor, markers)
    else:
        found = _words(markers)
    unlike = {each.extractor: each for each in reversed(found) if each.extractor != extractor}
    return tuple(reversed(unlike.values()))


def _marks(extractor: Extractor) -> tuple[str, ...]:
    known = (OptionLetter, FinalNumber, ShortAnswer, DeclaredLine)
    return extractor.declared if isinstance(extractor, known) else ANSWER_MARKERS


def _labels(extractor: Extractor, item: Item) -> tuple[str, ...] | None:
    """The labels of the options; `()` where they are the item's own; `None` where there are no options."""
    if isinstance(extractor, OptionLetter):
        return extractor.labels or ()
    if not isinstance(extractor, (PatternAnswer, DeclaredLine, ShortAnswer)):
        return None
    letters = all(len(target) == 1 and target in _LETTERS for target in item.targets)
    if not item.targets or not letters:
        return None
    if item.choices:
        return ()
    return tuple(_LETTERS[: max(4, *(_LETTERS.index(target) + 1 for target in item.targets))])


def _numeric(extractor: Extractor, item: Item) -> bool:
    if not isinstance(extractor, (PatternAnswer, DeclaredLine, ShortAnswer)) or not item.targets:
        return False
    return all(_is_number(target) for target in item.targets)


@lru_cache(maxsize=65536)
def _is_number(text: str) -> bool:
    return parse_number(text) is not None


def _options(
    extractor: Extractor, labels: tuple[str, ...], markers: tuple[str, ...]
) -> tuple[Alternative, ...]:
    base = extractor if isinstance(extractor, OptionLetter) else OptionLetter(labels=labels or None)
    base = replace(base, declared=markers)
    return (
        Alternative("stages", "marked", replace(base, loose=True)),
        Alternative("stages without search", "marked", replace(base, loose=False)),
        Alternative("general marks", "marked", replace(base, declared=ANSWER_MARKERS, loose=False)),
        Alternative("declared line", "marked", _option_at(base, "declared")),
        Alternative("box", "marked", _option_at(base, "box")),
        Alternative("first line", "search", _option_at(base, "first_line")),
        Alternative("first label", "search", _option_at(base, "first_label")),
        Alternative("last label", "search", _option_at(base, "last_label")),
    )


def _numbers(extractor: Extractor, markers: tuple[str, ...]) -> tuple[Alternative, ...]:
    base = extractor if isinstance(extractor, FinalNumber) else FinalNumber()
    base = replace(base, declared=markers)
    return (
        Alternative("stages", "marked", replace(base, loose=True)),
        Alternative("stages without search", "marked", replace(base, loose=False)),
        Alternative("general marks", "marked", replace(base, declared=ANSWER_MARKERS, loose=False)),
        Alternative("declared line", "marked", At("declared", base)),
        Alternative("box", "marked", At("box", base)),
        Alternative("first number", "search", NumberAt("first", base)),
        Alternative("last number", "search", NumberAt("last", base)),
    )


def _words(markers: tuple[str, ...]) -> tuple[Alternative, ...]:
    base = ShortAnswer(declared=markers)
    return (
        Alternative("stages", "marked", replace(base, loose=True)),
        Alternative("stages without search", "marked", replace(base, loose=False)),
        Alternative("general marks", "marked", ShortAnswer()),
        Alternative("declared line", "marked", DeclaredLine(declared=markers)),
        Alternative("first declared line", "marked", DeclaredLine(declared=markers, take="first")),
        Alternative("box", "marked", At("box", base)),
        Alternative("first line", "search", At("first_line", base)),
        Alternative("last line", "search", At("last_line", base)),
    )


@dataclass(frozen=True)
class At:
    """Reads one place of the text, and nothing else."""

    place: Place
    inner: Extractor

    def extract(self, text: str, item: Item) -> Found:
        """What stands there."""
        return _read_place(text, item, self.place, self.inner)


@dataclass(frozen=True)
class NumberAt:
    """The first or the last number of the text."""

    which: Literal["first", "last"]
    inner: FinalNumber

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """That number."""
        seen = visible(text)
        found = scan_numbers(seen.text, self.inner.decimal, chinese=self.inner.chinese_numerals)
        if not found:
            return Missing("no number")
        number = found[0] if self.which == "first" else found[-1]
        fraction = number.percent and self.inner.percent == "fraction"
        value = number.value / 100 if fraction else number.value
        span = (seen.offset + number.start, seen.offset + number.end)
        return Extraction(show(value), f"{self.which}_number", span)


@dataclass(frozen=True, kw_only=True)
class OptionAt(OptionLetter):
    """The label at one place of the text."""

    place: OptionPlace = "declared"

    def extract(self, text: str, item: Item) -> Found:
        """That label."""
        if self.place == "first_label" or self.place == "last_label":  # noqa: PLR1714 - narrows the type
            return self._label(text, item)
        inner = OptionLetter(declared=self.declared, labels=self.labels, multiple=self.multiple)
        return _read_place(text, item, self.place, inner)

    def _label(self, text: str, item: Item) -> Found:
        seen = visible(text)
        try:
            labels = self.choices(item).labels
        except UsageError as error:
            return Missing(str(error))
        found = _tokens(labels).finditer(fold(seen.text))
        match = next(found, None)
        if match is None:
            return Missing("no label")
        if self.place == "last_label":
            *_, match = (match, *found)
        span = (seen.offset + match.start(), seen.offset + match.end())
        return Extraction(match[0], self.place, span)


def _option_at(base: OptionLetter, place: OptionPlace) -> OptionAt:
    return OptionAt(
        declared=base.declared, labels=base.labels, loose=True, multiple=base.multiple, place=place
    )


@lru_cache(maxsize=256)
def _tokens(labels: tuple[str, ...]) -> re.Pattern[str]:
    spelled = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{spelled})(?![A-Za-z0-9])")


def _read_place(text: str, item: Item, place: Place, inner: Extractor) -> Found:
    """What `inner` reads in one place, its span in the whole text."""
    if place == "declared":
        found = inner.extract(text, item)
        declared = isinstance(found, Extraction) and found.rule.startswith("declared")
        return found if declared or not isinstance(found, Extraction) else Missing("no declared answer line")
    span = _span(text, place)
    if isinstance(span, Missing):
        return span
    found = inner.extract(text[slice(*span)], item)
    if not isinstance(found, Extraction):
        return found
    start, end = found.span
    return Extraction(found.answer, f"{place}:{found.rule}", (span[0] + start, span[0] + end))


def _span(text: str, place: Place) -> tuple[int, int] | Missing:
    seen = visible(text)
    if place == "box":
        box = boxed_in(seen)
        return box.span if isinstance(box, Extraction) else Missing("no box that decides")
    start, end = len(seen.text) - len(seen.text.lstrip()), len(seen.text.rstrip())
    if start >= end:
        return Missing("the answer is empty")
    if place == "first_line":
        stop = seen.text.find("\n", start, end)
        return (seen.offset + start, seen.offset + (stop if stop >= 0 else end))
    begin = seen.text.rfind("\n", start, end) + 1
    return (seen.offset + max(begin, start), seen.offset + end)
