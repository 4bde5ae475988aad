"""What became of the texts whose likelihood was asked: cut from the left, or not scored, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from probatum.core.run import Sample
from probatum.core.status import Status

__all__ = ["likelihood_notes"]

LENGTH = 200
"""Characters of a reason that are shown."""

EXPLAINED = (Status.MODEL_ERROR, Status.CONTEXT_OVERFLOW)
"""Statuses that count as wrong, although no option was preferred to another."""

NUMBER = re.compile(r"\d+")
"""Reasons that differ in their numbers alone are one."""


def likelihood_notes(samples: Iterable[Sample]) -> list[str]:
    """A line where prompts were cut, and one for each status that has a reason: the commonest.

    Neither can be seen in the numbers: a cut prompt has lost its first shots and is scored all the same, and
    a model whose tokenizer is another's looks like a very poor one.
    """
    cut, most = 0, 0
    reasons: dict[Status, Counter[str]] = {status: Counter() for status in EXPLAINED}
    examples: dict[str, str] = {}
    for sample in samples:
        lost = max((one.cut_tokens or 0 for one in sample.responses if one is not None), default=0)
        if lost:
            cut, most = cut + 1, max(most, lost)
        outcome = sample.outcome
        if outcome.status in reasons:
            reason = outcome.reason or "without a reason"
            kind = NUMBER.sub("0", reason)
            examples.setdefault(kind, reason[:LENGTH])
            reasons[outcome.status][kind] += 1
    notes = []
    if cut:
        notes.append(
            f"{cut} samples were asked with a prompt that was cut from the left, by up to {most} tokens, "
            "because the context is too small"
        )
    for status, found in reasons.items():
        for kind, count in found.most_common(1):
            share = "" if count == found.total() else f" ({count} of them; others have other reasons)"
            notes.append(f"{status.value} {found.total()}, such as: {examples[kind]}{share}")
    return notes
