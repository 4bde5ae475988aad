"""What is left of a score when the options of each question change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from probatum.core.protocol import Task
from probatum.core.records import Estimate, Mark
from probatum.core.status import BOUNDED, Status
from probatum.prompting.rotation import of_rotation
from probatum.scoring.metrics import Rate

__all__ = ["EveryRotation"]


@dataclass(frozen=True, kw_only=True)
class EveryRotation:
    """The share of items that are right in every order of their options: their worst rotation."""

    score: str = "correct"

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """The end-to-end rate over the items, each with its lowest score; no chance level is known of it."""
        worst: dict[tuple[str, int], Mark] = {}
        for mark in marks:
            own = replace(mark, item_id=of_rotation(mark.item_id))
            key = own.item_id, own.sample
            before = worst.get(key)
            if before is None or self._rank(own) < self._rank(before):
                worst[key] = own
        rate = Rate(score=self.score, name=f"{self.score} (every rotation)", by_stratum=False)
        return rate.estimate(list(worst.values()), replace(task, chance=None), level)[:1]

    def _rank(self, mark: Mark) -> float:
        """An answer by its score; what counts as wrong like 0; what is missing only if nothing is wrong."""
        if mark.status is Status.SCORED:
            return mark.scores[self.score]
        return 0.5 if mark.status in BOUNDED else 0.0
