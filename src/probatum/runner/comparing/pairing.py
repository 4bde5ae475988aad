"""The scores of two runs, paired by item id: what is common, what is not, and what is missing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from probatum.core.errors import UsageError
from probatum.core.protocol import Policy
from probatum.core.records import Mark
from probatum.core.run import TaskRun
from probatum.core.status import Status
from probatum.runner.invariants import mark_faults, task_faults
from probatum.runner.result import EvaluatedRun
from probatum.scoring.tally import CAPABILITY, Denominator, Unit, end_to_end, units

__all__ = ["Floats", "Paired", "Scores", "load_scores", "pair"]

Floats = npt.NDArray[np.float64]

BITS: Final = "bits per byte"
"""Of a text: its loss over its bytes. Over a corpus each text weighs as many bytes as it has."""
LOWER_IS_BETTER: Final = frozenset({"nll", BITS})
"""Scores that are losses: what has none is missing, and never a loss of 0."""


@dataclass(frozen=True)
class Scores:
    """One task of one run: a unit an item."""

    run: EvaluatedRun
    record: TaskRun
    score: str
    denominator: Denominator
    units: Mapping[str, Unit]
    graded: int
    """Samples that have an outcome, broken items included."""
    weights: Mapping[str, float] | None = None
    """Item → weight in the mean; `None` where all weigh the same."""
    faults: tuple[str, ...] = ()
    """Invariants that the task breaks in this run: its numbers must not be used."""

    @property
    def mean(self) -> float | None:
        """Over the counted items; `None` where there is none."""
        counted = [unit for unit in self.units.values() if unit.counted]
        if not counted:
            return None
        weights = None if self.weights is None else [self.weights[unit.item_id] for unit in counted]
        return float(np.average([unit.mean for unit in counted], weights=weights))

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the score is better."""
        return self.score not in LOWER_IS_BETTER


@dataclass(frozen=True)
class Paired:
    """Items that both runs have, with their mean scores: arrays of shape (items,)."""

    ids: tuple[str, ...]
    """Common items of which both have a counted sample."""
    a: Floats
    b: Floats
    clusters: tuple[str, ...]
    strata: tuple[str | None, ...]
    all_clusters: tuple[str, ...]
    """Of every common item, those with missing samples included."""
    worst: Floats
    """b - a of every common item if what is missing were as bad for b as it could be."""
    best: Floats
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    changed: tuple[str, ...]
    """Ids that both have, with other contents: not compared."""
    missing: Mapping[str, int]
    """Whose samples are missing → common items."""
    rates: bool
    """Whether all scores lie from 0 to 1, and more is better: then what is missing has bounds."""
    weights: Floats | None = None
    """Of the paired items, where they do not weigh the same."""

    @property
    def common(self) -> int:
        """Items of one id and one content."""
        return len(self.all_clusters)


def load_scores(run: EvaluatedRun, task: str, score: str | None, *, answered: bool) -> Scores:
    """The scores of one task of a run.

    Args:
        run: with its store.
        task: name of the task; the run has it.
        score: which score; `None`: that of the task's first metric, or bits per byte of one that measures
            the likelihood of texts.
        answered: whether only answers that were compared count, rather than what the task's policy counts.

    Raises:
        UsageError: the task has no such score, or none that is a mean over items.
    """
    record = next(one for one in run.record.tasks if one.task == task)
    marks = list(run.store.marks(run.id, task))
    faults = (*task_faults(record), *mark_faults(record, marks))
    known = list(dict.fromkeys(name for mark in marks for name in mark.scores))
    chosen = score or next(_metric_scores(record), None)
    if chosen in (None, BITS) and {"nll", "bytes"} <= set(known):
        return replace(_of_texts(run, record, marks), faults=faults)
    if chosen is None or (known and chosen not in known):
        listed = ", ".join(known) or "none"
        what = "has no score that is a mean over items" if chosen is None else f"has no score {chosen!r}"
        raise UsageError(f"task {task!r} of run {run.id} {what}; name one with --score: {listed}")
    denominator = CAPABILITY if answered or chosen in LOWER_IS_BETTER else _policy(record)
    found = {unit.item_id: unit for unit in units(marks, chosen, denominator)}
    return Scores(run, record, chosen, denominator, found, len(marks), faults=faults)


def _of_texts(run: EvaluatedRun, record: TaskRun, marks: Sequence[Mark]) -> Scores:
    """Bits per byte of each text, which weighs its bytes: the mean is that of the corpus."""
    sizes: dict[str, float] = {}
    rated = []
    for mark in marks:
        scores = dict(mark.scores)
        if scores.get("bytes"):
            scores[BITS] = scores["nll"] / math.log(2) / scores["bytes"]
            sizes.setdefault(mark.item_id, scores["bytes"])
        elif mark.status is Status.SCORED:
            continue  # a text without a byte has no bits a byte
        rated.append(replace(mark, scores=scores))
    found = {unit.item_id: unit for unit in units(rated, BITS, CAPABILITY)}
    return Scores(run, record, BITS, CAPABILITY, found, len(marks), sizes)


def pair(first: Scores, second: Scores) -> Paired:
    """Pairs two runs by item id, in the order of the first."""
    one, other = first.units, second.units
    common = [name for name in one if name in other]
    changed: list[str] = []
    if common and first.record.items != second.record.items:
        left, right = _contents(first), _contents(second)
        changed = [name for name in common if left[name] != right[name]]
        common = [name for name in common if left[name] == right[name]]
    both = [name for name in common if one[name].counted and other[name].counted]
    return Paired(
        ids=tuple(both),
        a=np.array([one[name].mean for name in both], dtype=np.float64),
        b=np.array([other[name].mean for name in both], dtype=np.float64),
        clusters=tuple(one[name].cluster for name in both),
        strata=tuple(one[name].stratum for name in both),
        all_clusters=tuple(one[name].cluster for name in common),
        worst=np.array([other[name].low - one[name].high for name in common], dtype=np.float64),
        best=np.array([other[name].high - one[name].low for name in common], dtype=np.float64),
        only_a=tuple(name for name in one if name not in other),
        only_b=tuple(name for name in other if name not in one),
        changed=tuple(changed),
        missing=_missing([(one[name].missing, other[name].missing) for name in common]),
        rates=first.higher_is_better
        and all(0 <= units_of[name].mean <= 1 for units_of in (one, other) for name in both),
        weights=None if first.weights is None else np.array([first.weights[name] for name in both]),
    )


def _missing(counts: Sequence[tuple[int, int]]) -> dict[str, int]:
    found = {
        "samples of A are missing": sum(1 for left, right in counts if left and not right),
        "samples of B are missing": sum(1 for left, right in counts if right and not left),
        "samples of both are missing": sum(1 for left, right in counts if left and right),
    }
    return {reason: count for reason, count in found.items() if count}


def _contents(scores: Scores) -> dict[str, str]:
    """Item id → digest of the item."""
    return scores.run.store.item_digests(scores.run.id, scores.record.task)


def _task_fields(record: TaskRun) -> Mapping[str, Any]:
    protocol: Any = record.recipe.get("protocol")
    return dict(protocol["fields"]["task"]["fields"]) if isinstance(protocol, Mapping) else {}


def _metric_scores(record: TaskRun) -> Iterator[str]:
    """The scores that the task's metrics are means of, in their order."""
    for metric in _task_fields(record).get("metrics", ()):
        score = metric["fields"].get("score")
        if isinstance(score, str):
            yield score


def _policy(record: TaskRun) -> Denominator:
    """The denominator that the recipe of then declares; of a recipe that is not known, the usual one."""
    fields = _task_fields(record)
    if "policy" not in fields:
        return end_to_end(Policy())
    policy = fields["policy"]["fields"]
    names = {str(json.loads(one)).rpartition(".")[2] for one in policy["counted"]["set"]}
    return Denominator(policy["name"], frozenset(status for status in Status if status.name in names))
