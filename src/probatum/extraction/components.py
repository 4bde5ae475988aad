"""Extractors as parts of a task: frozen, so that the protocol's digest covers how answers are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from probatum.core.errors import ProtocolError, UsageError
from probatum.core.records import Item
from probatum.extraction.code import find_code
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing
from probatum.extraction.markers import ANSWER_MARKERS
from probatum.extraction.numbers import Decimal
from probatum.extraction.options import Choices, default_labels, find_option
from probatum.extraction.quantity import Reading, find_number
from probatum.extraction.reasoning import visible
from probatum.extraction.short import find_declared, find_short

__all__ = ["DeclaredLine", "FinalNumber", "OptionLetter", "PatternAnswer", "PythonCode", "ShortAnswer"]

EDITION = 2
"""Raised whenever some text gives another answer than before: a digest of fields cannot see that."""


@dataclass(frozen=True, kw_only=True)
class DeclaredLine:
    """The text behind a mark that begins a line, and nothing else."""

    declared: tuple[str, ...] = ANSWER_MARKERS
    """Marks, any of which begins the line."""
    take: Literal["last", "first", "only"] = "last"
    """`first` for base models that go on with questions of their own; `only` refuses different ones."""
    edition: int = EDITION

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The declared line of `text`."""
        return find_declared(text, self.declared, self.take)


@dataclass(frozen=True, kw_only=True)
class OptionLetter:
    """The label of the option that the answer chooses."""

    declared: tuple[str, ...] = ANSWER_MARKERS
    """Marks of the answer line that the task asks for."""
    labels: tuple[str, ...] | None = None
    """`None`: A, B, C, … as many as the item has choices."""
    loose: bool = True
    """Whether to search where no mark, box or phrase names the choice."""
    multiple: bool = False
    """Whether several options may be right; then the answer is their labels by commas."""
    edition: int = EDITION

    def choices(self, item: Item) -> Choices:
        """Labels and texts of the item.

        Raises:
            UsageError: the labels do not fit the item's choices.
        """
        labels = self.labels or default_labels(len(item.choices))
        if item.choices and len(item.choices) > len(labels):
            raise UsageError(
                f"item {item.id!r} has {len(item.choices)} choices and only {len(labels)} labels"
            )
        texts = item.choices or ("",) * len(labels)
        return Choices.of(dict(zip(labels, texts, strict=False)))

    def extract(self, text: str, item: Item) -> Found:
        """The chosen label."""
        try:
            choices = self.choices(item)
        except UsageError as error:
            return Missing(str(error))
        return find_option(text, choices, markers=self.declared, loose=self.loose, multiple=self.multiple)


@dataclass(frozen=True, kw_only=True)
class FinalNumber:
    """The number that the answer gives, in plain decimals."""

    declared: tuple[str, ...] = ANSWER_MARKERS
    """Marks of the answer line that the task asks for."""
    decimal: Decimal = "point"
    percent: Literal["unit", "fraction"] = "unit"
    """Whether 25% is 25 (the question asks for a percentage) or 1/4."""
    chinese_numerals: bool = False
    loose: bool = True
    """Whether the last number of the text counts where no mark, box or phrase names one."""
    edition: int = EDITION

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The number."""
        reading = Reading(self.declared, self.decimal, self.percent, self.chinese_numerals, self.loose)
        return find_number(text, reading)


@dataclass(frozen=True, kw_only=True)
class ShortAnswer:
    """A short answer in words."""

    declared: tuple[str, ...] = ANSWER_MARKERS
    """Marks of the answer line that the task asks for."""
    loose: bool = False
    """Whether the first line of several counts where no mark, box or phrase names the answer."""
    edition: int = EDITION

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The answer's words."""
        return find_short(text, self.declared, loose=self.loose)


@dataclass(frozen=True, kw_only=True)
class PatternAnswer:
    """What a regular expression matches: its first group, or the whole match where it has none.

    For the rules of other harnesses. The expression runs on text that a model wrote: one that
    backtracks without bound can take for ever.
    """

    pattern: str
    take: Literal["last", "first", "only"] = "last"
    flags: int = 0
    """Of `re`, such as `re.IGNORECASE`."""
    edition: int = EDITION

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern, self.flags)
        except re.error as error:
            raise ProtocolError(f"pattern {self.pattern!r} is no regular expression: {error}") from None

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The last match, the first, or the only one."""
        seen = visible(text)
        if seen.truncated:
            return Missing("reasoning was never closed", truncated=True)
        found = [self._read(match, seen.offset) for match in re.finditer(self.pattern, seen.text, self.flags)]
        if not found:
            return Missing("the pattern does not match")
        if self.take == "only" and len({each.answer for each in found}) > 1:
            return Ambiguous(tuple(found))
        return found[0] if self.take == "first" else found[-1]

    def _read(self, match: re.Match[str], offset: int) -> Extraction:
        group = 1 if match.re.groups and match[1] is not None else 0
        start, end = match.span(group)
        complete = end < len(match.string)
        return Extraction(match[group], "pattern", (offset + start, offset + end), complete)


@dataclass(frozen=True, kw_only=True)
class PythonCode:
    """Code out of an answer in prose."""

    entry_point: str | None = "entry_point"
    """Field of the item that names what the tests call; `None` where there is no such name."""
    edition: int = EDITION

    def extract(self, text: str, item: Item) -> Found:
        """The code."""
        name = item.fields.get(self.entry_point) if self.entry_point is not None else None
        return find_code(text, name if isinstance(name, str) else None)
