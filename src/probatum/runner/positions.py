"""Which places of the options a model chooses, against the places where the right ones stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from probatum.core.run import Sample
from probatum.core.status import Status
from probatum.prompting.forms import LABELS

__all__ = ["PositionTable", "position_table"]

NOTED = 0.15
"""Excess of a place's share of the choices over its share of the right ones that is worth a note."""
LEAST = 50
"""Choices below which no note is made: shares of so few are chance."""


@dataclass(frozen=True)
class PositionTable:
    """Label → how often it was chosen, right, and chosen where it was right; samples with one choice."""

    chosen: dict[str, int]
    right: dict[str, int]
    hits: dict[str, int]
    samples: int

    def plain(self) -> list[dict[str, object]]:
        """A row a label: counts, and the share of its right answers that were found."""
        return [
            {
                "label": label,
                "chosen": self.chosen.get(label, 0),
                "right": self.right.get(label, 0),
                "found": self.hits.get(label, 0) / self.right[label] if self.right.get(label) else None,
            }
            for label in LABELS
            if self.chosen.get(label) or self.right.get(label)
        ]

    def note(self) -> str | None:
        """What should be said beside the score; `None` where no place stands out."""
        if self.samples < LEAST:
            return None
        excess = {
            label: (count - self.right.get(label, 0)) / self.samples for label, count in self.chosen.items()
        }
        label = max(excess, key=lambda each: excess[each], default=None)
        if label is None or excess[label] <= NOTED:
            return None
        return (
            f"option {label} was chosen in {self.chosen[label] / self.samples:.0%} of the answers and is "
            f"right in {self.right.get(label, 0) / self.samples:.0%}: the place counts; see --rotate"
        )


def position_table(samples: Iterable[Sample]) -> PositionTable | None:
    """Counts over the samples in which one option was chosen and one is right; `None` where there is none."""
    chosen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    total = 0
    for sample in samples:
        labels = LABELS[: len(sample.item.choices)]
        answer = sample.outcome.answer
        if sample.outcome.status is not Status.SCORED or answer not in labels:
            continue
        targets = [target for target in sample.item.targets if target in labels]
        if len(targets) != 1:
            continue
        total += 1
        chosen[answer] += 1
        right[targets[0]] += 1
        hits[answer] += answer == targets[0]
    return PositionTable(dict(chosen), dict(right), dict(hits), total) if total else None
