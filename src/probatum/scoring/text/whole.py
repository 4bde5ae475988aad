"""The whole answer as the prediction: for summaries, translations and spans that stand alone."""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.records import Item
from probatum.extraction.components import EDITION
from probatum.extraction.evidence import Extraction, Found, Missing
from probatum.extraction.reasoning import visible

__all__ = ["WholeText"]


@dataclass(frozen=True, kw_only=True)
class WholeText:
    """What the model said, without its reasoning and without white space at the ends.

    An empty text is an answer: it shares nothing with any reference, and SQuAD 2.0 reads it as
    "no answer".
    """

    first_line: bool = False
    """Whether a text ends at its first line break, for models that go on with questions of their own."""
    edition: int = EDITION

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The text."""
        seen = visible(text)
        if seen.truncated:
            return Missing("reasoning was never closed", truncated=True)
        start, end = len(seen.text) - len(seen.text.lstrip()), len(seen.text.rstrip())
        if self.first_line:
            line_end = seen.text.find("\n", start, end)
            end = line_end if line_end >= 0 else end
        end = max(start, end)
        span = (seen.offset + start, seen.offset + end)
        return Extraction(seen.text[start:end].rstrip(), "whole:text", span, end < len(seen.text))
