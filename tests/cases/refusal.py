"""Refusals, told from answers that use the same words."""

from __future__ import annotations

from probatum.extraction import Reaction, detect_refusal
from tests.cases.frame import Given, operation


@operation("is_refusal")
def is_refusal(given: Given) -> bool:
    return detect_refusal(given["text"]).reaction in (Reaction.REFUSAL, Reaction.PARTIAL_REFUSAL)
