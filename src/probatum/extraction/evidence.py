"""What reading an answer yields: the answer with its evidence, two answers, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol as Interface

from probatum.core.records import Item

__all__ = ["LOOSE", "Ambiguous", "Extraction", "Extractor", "Found", "Missing", "answer_of"]

LOOSE = "loose:"
"""Rules of this prefix only searched: the model did not mark what they found as its answer."""

_SHOWN = 60
"""Characters of a candidate that a reason shows."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer, the rule that found it, and where it stands."""

    answer: str
    """In its canonical form (the option's label, the number without grouping, the code)."""
    rule: str
    """`stage:detail`, as docs/extraction.md lists them."""
    span: tuple[int, int]
    """Characters of the text given, from (included) and to (excluded)."""
    complete: bool = True
    """Whether the text shows the answer's end; more text could change one that is not complete."""

    @property
    def loose(self) -> bool:
        """Whether a search found it, rather than a mark that the model set."""
        return self.rule.startswith(LOOSE)


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Different candidates at the stage that decides. None of them is the answer."""

    candidates: tuple[Extraction, ...]
    """In the order of the text; their rule is the stage's."""

    @property
    def reason(self) -> str:
        """One line that names the candidates."""
        shown = " and ".join(dict.fromkeys(repr(each.answer[:_SHOWN]) for each in self.candidates[:4]))
        return f"ambiguous: {shown} ({self.candidates[0].rule})"


@dataclass(frozen=True, slots=True)
class Missing:
    """No answer."""

    reason: str
    """One line."""
    truncated: bool = False
    """The text itself shows that it was cut: reasoning or a box that was never closed."""


Found = Extraction | Ambiguous | Missing
"""What every extractor returns."""


class Extractor(Interface):
    """A frozen dataclass that reads one kind of answer; part of a task, so its fields are digested."""

    def extract(self, text: str, item: Item) -> Found:
        """The answer in `text`, which a model wrote. Never raises on its account."""
        ...


def answer_of(found: Found) -> Extraction | None:
    """The extraction, where there is one."""
    return found if isinstance(found, Extraction) else None
