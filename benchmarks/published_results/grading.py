"""Grades stored answers twice: by the published rule, and by ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from probatum.core.protocol import Scorer
from probatum.core.records import Finish, Item, Outcome, Response
from probatum.core.status import Status

from .rows import Difference

__all__ = ["Answer", "Graded", "grade", "held_against", "score_of"]

_SHOWN = 80
"""Characters of an answer that a list of differences shows."""


@dataclass(frozen=True)
class Answer:
    """One stored answer to one item."""

    item: Item
    text: str
    finish: Finish = Finish.STOP

    def response(self) -> Response:
        """As a response of a model."""
        return Response(request="stored", text=self.text, finish=self.finish)


@dataclass
class Graded:
    """What both rules say of the same answers."""

    published: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """By the published rule, 0 … 1."""
        return sum(self.published) / len(self.published)

    @property
    def our_mean(self) -> float:
        """By ours; an answer that cannot be read counts as wrong."""
        return sum(self.ours) / len(self.ours)


def grade(scorer: Scorer, answer: Answer) -> Outcome:
    """One answer's outcome."""
    return scorer.grade(answer.item, 0, [answer.response()])


def score_of(outcome: Outcome, name: str = "correct") -> float:
    """Its score; 0 where there is none."""
    return outcome.scores.get(name, 0.0)


def held_against(answers: Iterable[Answer], published: Scorer, ours: Scorer) -> Graded:
    """Grades by both, and lists the items on which the two disagree."""
    graded = Graded()
    for answer in answers:
        theirs, own = grade(published, answer), grade(ours, answer)
        graded.published.append(score_of(theirs))
        graded.ours.append(score_of(own))
        if score_of(theirs) != score_of(own):
            graded.differences.append(
                Difference(answer.item.id, said(theirs), said(own), reason(theirs, own, answer.item.targets))
            )
    return graded


def said(outcome: Outcome) -> str:
    """The verdict and the answer it was on, short."""
    verdict = "right" if score_of(outcome) else "wrong"
    if outcome.status is not Status.SCORED:
        return outcome.status.value
    return f"{verdict}: {(outcome.answer or '')[:_SHOWN]!r}"


def reason(theirs: Outcome, own: Outcome, targets: Sequence[str]) -> str:
    """Why the two disagree on one item."""
    gold = ", ".join(each[:_SHOWN] for each in targets)
    if own.status is not Status.SCORED:
        return (
            f"ours gives no score ({own.reason}); the published rule takes {theirs.answer!r} ({theirs.rule})"
        )
    if theirs.status is not Status.SCORED:
        return f"the published rule finds no answer ({theirs.reason}); ours does, by {own.rule}"
    if theirs.answer != own.answer:
        return f"other answers are read: {theirs.rule} against {own.rule} (gold {gold!r})"
    return f"the same answer is compared otherwise with gold {gold!r}"
