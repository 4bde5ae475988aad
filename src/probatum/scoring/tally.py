"""From statuses to denominators: which samples a rate counts, and what the others could change.

Two denominators stand behind every printed rate (design §4):

* `end_to_end` counts `scored` samples with their score, and as wrong whatever else the task's policy
  names (no answer, truncated, refused, …);
* `capability` counts `scored` samples alone.

What is in neither is missing, not wrong: the bounds span all missing wrong … all missing right.
Broken items (`invalid_item`) are in no rate and in no bound; they are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Policy
from probatum.core.records import Mark
from probatum.core.status import FAULTS, Status

__all__ = ["CAPABILITY", "Denominator", "Unit", "answered_share", "count_statuses", "end_to_end", "units"]


@dataclass(frozen=True)
class Denominator:
    """Which statuses a rate counts."""

    name: str
    counted: frozenset[Status]


CAPABILITY = Denominator("capability", frozenset({Status.SCORED}))


def end_to_end(policy: Policy) -> Denominator:
    """The denominator that the task's policy declares."""
    return Denominator(policy.name, policy.counted)


@dataclass
class Unit:
    """The samples of one item under one denominator."""

    item_id: str
    cluster: str
    stratum: str | None
    total: float = 0.0
    """Sum of the scores of the counted samples; what is counted without a score adds 0."""
    counted: int = 0
    missing: int = 0
    """Samples in no rate whose true score is unknown."""

    @property
    def mean(self) -> float:
        """Mean score over the counted samples; there must be one."""
        return self.total / self.counted

    @property
    def low(self) -> float:
        """Mean score if every missing sample were wrong."""
        return self.total / (self.counted + self.missing)

    @property
    def high(self) -> float:
        """Mean score if every missing sample were right."""
        return (self.total + self.missing) / (self.counted + self.missing)


def count_statuses(marks: Iterable[Mark]) -> dict[Status, int]:
    """Status → number of samples, in the order of the enum; every status that occurs."""
    counts = Counter(mark.status for mark in marks)
    return {status: counts[status] for status in Status if counts[status]}


def answered_share(statuses: Mapping[Status, int]) -> float:
    """Share of the samples of valid items that ended without a fault of model, machine or judge.

    A run below the limit is incomplete: its faults are asked again when it is started again.
    """
    valid = sum(count for status, count in statuses.items() if status is not Status.INVALID_ITEM)
    faults = sum(count for status, count in statuses.items() if status in FAULTS)
    return 1 - faults / valid if valid else 0.0


def _score(mark: Mark, score: str) -> float:
    if score not in mark.scores:
        given = ", ".join(map(repr, mark.scores)) or "none"
        raise ProtocolError(
            f"the metric asks for the score {score!r}, and the scorer gives {given} (item {mark.item_id!r}); "
            "name one of these in the metric"
        )
    return mark.scores[score]


def units(marks: Sequence[Mark], score: str, denominator: Denominator) -> list[Unit]:
    """One `Unit` an item, in the order of the first mark of each; broken items are left out.

    Raises:
        ProtocolError: a scored mark does not carry `score`: metric and scorer do not fit together.
    """
    found: dict[str, Unit] = {}
    for mark in marks:
        if mark.status is Status.INVALID_ITEM:
            continue
        unit = found.get(mark.item_id)
        if unit is None:
            cluster = mark.item_id if mark.cluster is None else mark.cluster
            unit = found[mark.item_id] = Unit(mark.item_id, cluster, mark.stratum)
        if mark.status in denominator.counted:
            unit.counted += 1
            if mark.status is Status.SCORED:
                unit.total += _score(mark, score)
        else:
            unit.missing += 1
    return list(found.values())
