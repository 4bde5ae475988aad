"""What happened to the texts whose likelihood was asked: cut from the left, or not scored, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from probatum.core.run import Sample
from probatum.core.status import Status

__all__ = ["likelihood_notes"]

LENGTH = 200
"""Characters of a reason that are shown."""


def likelihood_notes(samples: Iterable[Sample]) -> list[str]:
    """A line where prompts were cut, and one where the model failed, with its commonest reason.

    Neither can be seen in the numbers: a cut prompt has lost its first shots and is scored all the same, and
    a model whose weights are damaged looks like a very poor one.
    """
    cut, most = 0, 0
    reasons: Counter[str] = Counter()
    for sample in samples:
        lost = max((one.cut_tokens or 0 for one in sample.responses if one is not None), default=0)
        if lost:
            cut, most = cut + 1, max(most, lost)
        if sample.outcome.status is Status.MODEL_ERROR:
            reasons[sample.outcome.reason or "without a reason"] += 1
    notes = []
    if cut:
        notes.append(
            f"{cut} samples were asked with a prompt that was cut from the left, by up to {most} tokens, "
            "because the context is too small"
        )
    if reasons:
        reason, count = reasons.most_common(1)[0]
        rest = "" if len(reasons) == 1 else f", and {len(reasons) - 1} other reasons"
        notes.append(f"model_error {reasons.total()}: {reason[:LENGTH]} ({count}{rest})")
    return notes
