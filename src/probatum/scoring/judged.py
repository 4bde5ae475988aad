"""From a judge's reply to the outcome of what it judged; a judge that fails is no verdict on the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from probatum.core.errors import UsageError
from probatum.core.records import ANSWERS, Finish, Outcome, Response
from probatum.core.status import Status
from probatum.extraction.evidence import Extraction, Found

__all__ = ["GRADES", "ClaimSupport", "claim_support", "grade_values", "judged_outcome"]

GRADES: Final[Mapping[str, float]] = {"C": 1.0, "P": 0.5, "I": 0.0}
"""Grades that model-graded question answering uses: correct, partly correct, incorrect."""


def judged_outcome(
    item_id: str, sample: int, response: Response | None, found: Found | None, scores: Mapping[str, float]
) -> Outcome:
    """The outcome of an answer from a judge's response and what was read in it.

    Args:
        item_id: the item that was answered.
        sample: the answer that was judged.
        response: the judge's; `None` where none came.
        found: what a reader made of its text; `None` where there was nothing to read.
        scores: the scores that the verdict is worth.

    Returns:
        `scored` with those scores; `judge_error` where the judge could not be reached, declined, was cut off
        or gave no verdict that can be read. A `judge_error` is asked again when the run is started again,
        and the answer itself is kept. It is never a wrong answer.
    """
    if response is None or response.finish not in ANSWERS:
        reason = "no response" if response is None else response.reason or response.finish.value
        return _failed(item_id, sample, f"the judge did not answer: {reason}")
    if response.finish in (Finish.REFUSAL, Finish.FILTERED):
        return _failed(item_id, sample, f"the judge declined ({response.finish.value})")
    if not isinstance(found, Extraction):
        return _failed(
            item_id, sample, f"no verdict: {found.reason if found is not None else 'nothing to read'}"
        )
    if response.finish is Finish.LENGTH and not found.complete:
        return _failed(item_id, sample, "no verdict: the reply ran out of tokens inside it")
    return Outcome(
        item_id=item_id,
        sample=sample,
        status=Status.SCORED,
        scores=scores,
        answer=found.answer,
        rule=found.rule,
    )


def _failed(item_id: str, sample: int, reason: str) -> Outcome:
    return Outcome(item_id=item_id, sample=sample, status=Status.JUDGE_ERROR, reason=reason)


def grade_values(labels: Sequence[str], values: Mapping[str, float] = GRADES) -> list[float]:
    """The value of each grade.

    Raises:
        UsageError: a label that the task does not map; it is not 0.
    """
    unknown = [label for label in labels if label not in values]
    if unknown:
        known = ", ".join(map(repr, values))
        raise UsageError(f"grade {unknown[0]!r} has no value (there are {known}); map it in the task")
    return [values[label] for label in labels]


@dataclass(frozen=True, kw_only=True)
class ClaimSupport:
    """How many of an answer's claims a judge found supported."""

    supported: int
    unsupported: int
    asked: int

    @property
    def rate(self) -> float:
        """Supported claims among those that were asked."""
        return self.supported / self.asked


def claim_support(asked: int, verdicts: Sequence[int | bool]) -> ClaimSupport:
    """The judge's verdicts on the claims of one answer (1 supported, 0 not), one for each claim asked.

    Raises:
        UsageError: no claim, another number of verdicts than claims, or a verdict that is neither 0 nor 1:
            the denominator is what was asked, not what came back.
    """
    if asked < 1:
        raise UsageError(f"{asked} claims were asked; an answer without a claim has no rate")
    if len(verdicts) != asked:
        raise UsageError(
            f"{len(verdicts)} verdicts for {asked} claims; ask the judge again, or count it as judge_error"
        )
    odd = [verdict for verdict in verdicts if verdict not in (0, 1)]
    if odd:
        raise UsageError(f"verdict {odd[0]!r} is neither 0 nor 1; ask the judge again")
    supported = sum(map(int, verdicts))
    return ClaimSupport(supported=supported, unsupported=asked - supported, asked=asked)
