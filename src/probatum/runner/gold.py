"""Gold answers go through the task's own parser and scorer before anything is asked.

An item whose gold answer does not equal itself there cannot be answered rightly by any model: it is
`invalid_item`, named, and never asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from probatum.core.protocol import SCORED_FORMS, ProgramScorer, Protocol, Scorer
from probatum.core.raised import described
from probatum.core.records import Item, Outcome, Response
from probatum.core.status import Status
from probatum.runner.pipeline import Pending, guarded

__all__ = ["GoldCheck", "GoldChecker"]

SHOWN: Final = 5
"""Items that a note names; the record names all."""
WIDTH: Final = 60
"""Characters of an answer that a reason shows."""
REASON: Final = 400
"""Characters of a reason."""
_FAILED: Final = frozenset(
    {Status.GRADER_ERROR, Status.JUDGE_ERROR, Status.JUDGE_UNKNOWN, Status.INFRA_ERROR}
)
RIGHT: Final = 1 - 1e-9
"""A gold answer's least score: 1, but for rounding."""


@dataclass(frozen=True)
class GoldCheck:
    """What became of the gold answers of one task."""

    checked: int = 0
    unequal: Mapping[str, str] = field(default_factory=dict)
    """Items whose gold answer does not equal itself: id → what the task's scorer makes of it."""
    undecided: Mapping[str, str] = field(default_factory=dict)
    """Items that are in the count although their gold answer was not confirmed: it cannot be written, the
    scorer fails on it, or the task counts what its gold fails. id → why."""
    left_out: str | None = None
    """Why none was checked."""

    def plain(self) -> dict[str, object]:
        """As JSON data."""
        return {
            "checked": self.checked,
            "unequal": dict(self.unequal),
            "undecided": dict(self.undecided),
            "left_out": self.left_out,
        }

    def notes(self) -> list[str]:
        """What a reader of the numbers should know; nothing where all gold answers equal themselves."""
        notes = []
        if self.unequal:
            notes.append(
                f"{_some(self.unequal)} a gold answer that does not equal itself by the task's own "
                f"extraction and scoring (invalid_item): {_named(self.unequal)}"
            )
        if self.undecided:
            notes.append(
                f"in the count although the gold answer was not confirmed: {len(self.undecided)} "
                f"{'item' if len(self.undecided) == 1 else 'items'}, "
                f"{_named(self.undecided)}"
            )
        return notes


def _some(items: Mapping[str, str]) -> str:
    return "1 item has" if len(items) == 1 else f"{len(items)} items have"


def _named(items: Mapping[str, str]) -> str:
    shown = "; ".join(f"{name!r} ({reason})" for name, reason in list(items.items())[:SHOWN])
    return shown + (f"; and {len(items) - SHOWN} more" if len(items) > SHOWN else "")


class GoldChecker:
    """Grades the gold answers of a protocol's task, one after the other."""

    def __init__(self, protocol: Protocol) -> None:
        self._task, scorer = protocol.task, protocol.scorer
        self._scorer = None if isinstance(scorer, ProgramScorer) else scorer
        self._left_out = None
        if self._scorer is None:
            self._left_out = "programs are graded by running them: `probatum validate` runs the references"
        elif protocol.form in SCORED_FORMS:
            self._scorer = None
            self._left_out = "likelihoods are compared, and no answer is read"
        self._checked = 0
        self._unequal: dict[str, str] = {}
        self._undecided: dict[str, str] = {}

    def check(self, item: Item) -> str | None:
        """Why the item is invalid; `None` where its gold answer equals itself, or cannot be checked."""
        if self._scorer is None:
            return None
        try:
            text = self._task.gold(item)
            written = bool(text.strip())
        except Exception as error:  # noqa: BLE001 - the boundary of tasks, ours and others'
            self._undecided[item.id] = f"it cannot be written: {_told(error)}"
            return None
        if written:
            return self._graded(self._scorer, item, text)
        self._undecided[item.id] = "it cannot be written: the task gives none"
        return None

    def _graded(self, scorer: Scorer, item: Item, text: str) -> str | None:
        response = Response(request="", text=text)
        one = Pending(position=0, item=item, sample=0, requests=(), responses=[response])
        outcome = guarded(one, partial(scorer.grade, item, 0, one.given), scorer.scores)
        if outcome.status in _FAILED:
            self._undecided[item.id] = f"the scorer fails on it: {outcome.reason}"
            return None
        self._checked += 1
        if self._right(outcome):
            return None
        reason = _reason(text, outcome)
        if self._task.gold_fails == "counted" and outcome.status is not Status.INVALID_ITEM:
            self._undecided[item.id] = reason
            return None
        self._unequal[item.id] = reason
        return reason

    def _right(self, outcome: Outcome) -> bool:
        key = self._task.scorer.scores[0]
        return outcome.status is Status.SCORED and outcome.scores.get(key, 0.0) >= RIGHT

    @property
    def found(self) -> GoldCheck:
        """What was found so far."""
        return GoldCheck(self._checked, dict(self._unequal), dict(self._undecided), self._left_out)


def _told(error: Exception) -> str:
    return described(error)[:200]


def _reason(text: str, outcome: Outcome) -> str:
    """One line: the end of the gold answer, where answers stand, and what was made of it."""
    if outcome.status is Status.INVALID_ITEM:
        return outcome.reason or "the scorer calls the item invalid"
    shown = _end(text)
    if outcome.status is Status.SCORED:
        said = f"; {outcome.reason}" if outcome.reason else ""
        read = f"is read as {_end(outcome.answer or '')!r} ({outcome.rule})"
        return f"the gold answer {shown!r} {read} and scores less than 1{said}"[:REASON]
    reason = outcome.reason or "no reason is given"
    return f"the gold answer {shown!r} is {outcome.status.value}: {reason}"[:REASON]


def _end(text: str) -> str:
    """The last characters of a text, as many as a line can spare."""
    shown = " ".join(text.split())
    return f"…{shown[1 - WIDTH :]}" if len(shown) > WIDTH else shown
