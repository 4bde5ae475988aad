"""From responses to an answer, or to the status that says why there is none.

Every scorer begins here, so that a refusal, a cut text or an ambiguous answer has one status in
every benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from probatum.core.records import Finish, Item, Outcome, Response
from probatum.core.status import Status
from probatum.extraction import Ambiguous, Extraction, Extractor, Missing

__all__ = ["STATUS_OF", "invalid_item", "judged", "read", "unanswered", "unscorable"]

STATUS_OF: Final[Mapping[Finish, Status]] = {
    Finish.REFUSAL: Status.REFUSED,
    Finish.FILTERED: Status.FILTERED,
    Finish.CONTEXT_OVERFLOW: Status.CONTEXT_OVERFLOW,
    Finish.TIMEOUT: Status.TIMEOUT,
    Finish.MODEL_ERROR: Status.MODEL_ERROR,
    Finish.INFRA_ERROR: Status.INFRA_ERROR,
}
"""Ways to finish that leave nothing to grade. `stop` and `length` do: the text is read."""

ROUNDING: Final = 1e-2
"""Nats by which a log-probability may lie above 0: half precision rounds by as much."""


def unanswered(item: Item, sample: int, responses: Sequence[Response]) -> Outcome | None:
    """The outcome of a sample with nothing to grade; `None` where there is a text to read."""
    if not responses:
        return Outcome(
            item_id=item.id, sample=sample, status=Status.INFRA_ERROR, reason="no response was recorded"
        )
    for response in responses:
        status = STATUS_OF.get(response.finish)
        if status is not None:
            reason = response.reason or f"the model's answer ended with {response.finish.value}"
            return Outcome(item_id=item.id, sample=sample, status=status, reason=reason)
    return None


def unscorable(item: Item, sample: int, responses: Sequence[Response], wanted: int) -> Outcome | None:
    """The outcome of a sample whose likelihoods cannot be compared; `None` where all can.

    An impossible continuation (minus infinity) can be compared; NaN, and a probability above 1 by more than
    rounding, are no likelihoods. Nor is one of no token: its sum, 0, would be certainty, and win.

    Args:
        item: what was asked.
        sample: its number.
        responses: those of the sample.
        wanted: how many of them must be there, each with log-probabilities.
    """
    nothing = unanswered(item, sample, responses)
    if nothing is not None:
        return nothing
    held = [response.logprobs for response in responses if response.logprobs is not None]
    if not len(held) == len(responses) == wanted:
        reason = f"{len(held)} of {len(responses)} responses hold log-probabilities, and {wanted} are needed"
        return Outcome(item_id=item.id, sample=sample, status=Status.INFRA_ERROR, reason=reason)
    if not all(held):
        place = next(place for place, values in enumerate(held) if not values)
        reason = f"nothing was scored of continuation {place + 1} of {wanted}"
        if said := responses[place].reason:
            reason += f" ({said})"
        return Outcome(item_id=item.id, sample=sample, status=Status.MODEL_ERROR, reason=reason)
    for value in (value for values in held for value in values):
        if not value <= ROUNDING:
            reason = f"the model gave {value!r} as a log-probability: it is none"
            return Outcome(item_id=item.id, sample=sample, status=Status.MODEL_ERROR, reason=reason)
    return None


def read(
    item: Item, sample: int, responses: Sequence[Response], extractor: Extractor
) -> Extraction | Outcome:
    """The answer in the last response, or the outcome where there is none.

    A text that ran out of tokens counts only what the model had finished saying: an answer that was
    merely searched for may be a draft, and one that the text breaks off in may go on. Both are
    `truncated`, as are reasoning and boxes that were never closed.
    """
    nothing = unanswered(item, sample, responses)
    if nothing is not None:
        return nothing
    response = responses[-1]
    found = extractor.extract(response.text, item)
    cut = response.finish is Finish.LENGTH
    if isinstance(found, Extraction):
        if not cut or (found.complete and not found.loose):
            return found
        why = "only a search found an answer" if found.loose else "it breaks off in the answer"
        return _missing(item, sample, Status.TRUNCATED, f"the text ran out of tokens and {why}", found)
    if cut or (isinstance(found, Missing) and found.truncated):
        reason = found.reason if isinstance(found, Missing) and found.truncated else "ran out of tokens"
        return _missing(item, sample, Status.TRUNCATED, f"{reason}: no final answer")
    first = found.candidates[0] if isinstance(found, Ambiguous) else None
    return Outcome(
        item_id=item.id,
        sample=sample,
        status=Status.NO_ANSWER,
        rule=first.rule if first is not None else None,
        reason=found.reason,
    )


def _missing(
    item: Item, sample: int, status: Status, reason: str, found: Extraction | None = None
) -> Outcome:
    return Outcome(
        item_id=item.id,
        sample=sample,
        status=status,
        rule=found.rule if found is not None else None,
        reason=reason,
    )


def judged(
    item: Item,
    sample: int,
    found: Extraction,
    scores: Mapping[str, float],
    reason: str | None = None,
) -> Outcome:
    """The outcome of an answer that was compared."""
    return Outcome(
        item_id=item.id,
        sample=sample,
        status=Status.SCORED,
        scores=scores,
        answer=found.answer,
        rule=found.rule,
        span=found.span,
        reason=reason,
    )


def invalid_item(item: Item, sample: int, reason: str) -> Outcome:
    """The outcome of an item that cannot be graded, whatever the answer."""
    return Outcome(item_id=item.id, sample=sample, status=Status.INVALID_ITEM, reason=reason)
