"""The closed set of ways in which a sample can end, and which rates count which.

Every sample ends with exactly one status. Two rates are printed, and both say what they count:

* the *capability rate* counts answers that were compared (`scored`), and nothing else;
* the *end-to-end rate* counts as wrong whatever kept the user from a right answer.

What is our own or the judge's failure is in neither: it widens the bounds instead.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["BOUNDED", "END_TO_END", "FAULTS", "Status"]


class Status(StrEnum):
    """How one sample ended."""

    SCORED = "scored"
    """An answer was compared; the outcome carries the scores."""
    NO_ANSWER = "no_answer"
    """The parser found no answer, or an ambiguous one."""
    TRUNCATED = "truncated"
    """The model ran out of tokens before an answer."""
    REFUSED = "refused"
    """The model declined (or abstained, where the task allows it)."""
    FILTERED = "filtered"
    """The provider's filter withheld the answer."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The prompt does not fit."""
    TIMEOUT = "timeout"
    """The model ran out of time. A program that times out under its tests is `scored`, wrong."""
    MODEL_ERROR = "model_error"
    """A permanent error of the model or of its API."""
    PERMISSION_DENIED = "permission_denied"
    """A tool or a resource that the protocol withholds."""
    JUDGE_UNKNOWN = "judge_unknown"
    """The judge could not decide."""
    JUDGE_ERROR = "judge_error"
    """The judge failed."""
    GRADER_ERROR = "grader_error"
    """The verifier failed."""
    INFRA_ERROR = "infra_error"
    """Our side failed, after retries."""
    INVALID_ITEM = "invalid_item"
    """The item itself is broken (no gold, duplicate options)."""


END_TO_END: Final = frozenset(
    {
        Status.SCORED,
        Status.NO_ANSWER,
        Status.TRUNCATED,
        Status.REFUSED,
        Status.FILTERED,
        Status.CONTEXT_OVERFLOW,
        Status.TIMEOUT,
        Status.MODEL_ERROR,
        Status.PERMISSION_DENIED,
    }
)
"""In the end-to-end rate; all but `scored` count as wrong."""

BOUNDED: Final = frozenset(
    {Status.JUDGE_UNKNOWN, Status.JUDGE_ERROR, Status.GRADER_ERROR, Status.INFRA_ERROR}
)
"""In no rate: the true score is unknown, and the bounds span it."""

FAULTS: Final = frozenset(
    {
        Status.MODEL_ERROR,
        Status.TIMEOUT,
        Status.INFRA_ERROR,
        Status.GRADER_ERROR,
        Status.JUDGE_ERROR,
    }
)
"""Asked again when the run is started again: something failed, rather than answered."""
