"""What a report shows of one task: its samples read once, as a stream."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import numpy as np

from probatum import stats
from probatum.core.records import Estimate, Mark
from probatum.core.run import Sample, TaskRun
from probatum.core.status import Status
from probatum.report.page.contamination import Contamination, CorpusAudit, scores_by_overlap
from probatum.report.page.examples import Chooser, Example, group_of
from probatum.report.page.means import score_interval
from probatum.runner.invariants import kept_task_faults, task_fields, task_policy
from probatum.runner.result import EvaluatedRun, task_estimates
from probatum.scoring.tally import Denominator, end_to_end, units

__all__ = ["Count", "LengthBin", "Lengths", "Risk", "TaskReport", "gather"]

LENGTH_BINS: Final = 10
RISK_POINTS: Final = 200
"""Points of a risk–coverage curve that are drawn."""
LISTED: Final = 30
"""Reasons and rules that are listed, the commonest first."""


@dataclass(frozen=True)
class Count:
    """How often something was."""

    name: str
    samples: int
    value: float | None = None
    """Mean of the task's first score over those that were scored."""


@dataclass(frozen=True)
class LengthBin:
    """Samples whose answers have a length from `low` to `high`."""

    low: int
    high: int
    samples: int
    mean_length: float
    estimate: stats.Interval


@dataclass(frozen=True)
class Lengths:
    """The score against the length of the answer."""

    unit: str
    """`tokens` or `characters`."""
    bins: tuple[LengthBin, ...]
    samples: int


@dataclass(frozen=True)
class Risk:
    """The error among the surest answers, over the share that is answered."""

    points: tuple[stats.RiskCoveragePoint, ...]
    """Of all reachable ones a selection, the last one always."""
    reachable: int
    n: int


@dataclass(frozen=True, kw_only=True)
class TaskReport:
    """One task of one run, ready to be shown."""

    record: TaskRun
    score: str | None
    """The score of the task's first metric."""
    estimates: tuple[Estimate, ...]
    """Of the whole task."""
    slices: tuple[Estimate, ...]
    """Of its strata."""
    statuses: Mapping[str, int]
    counted: frozenset[Status]
    """Statuses that the task's policy counts."""
    lengths: Lengths | None
    reliability: stats.ReliabilityTable | None
    risk: Risk | None
    positions: tuple[Mapping[str, Any], ...]
    reasons: tuple[Count, ...]
    """Status and reason of what was not scored."""
    rules: tuple[Count, ...]
    """Extraction rules that decided."""
    executions: tuple[Count, ...]
    """How programs ended."""
    groups: Mapping[str, int]
    """Group of examples → samples in it."""
    examples: tuple[Example, ...]
    examples_cut: bool
    """Whether examples were left out so that the report stays small."""
    contamination: Contamination | None
    """What an audit of a corpus says; `None` where there is none."""
    faults: tuple[str, ...]
    """Invariants that are broken."""
    notes: tuple[str, ...]

    @property
    def chance(self) -> float | None:
        """The score of a blind guess."""
        return next((each.chance for each in self.estimates if each.chance is not None), None)

    @property
    def graded(self) -> int:
        """Samples that have an outcome."""
        return sum(self.statuses.values())


@dataclass
class _Seen:
    """What one pass over the samples collects; a few numbers a sample."""

    score: str | None
    marks: list[Mark] = field(default_factory=list)
    lengths: list[tuple[int, float, str]] = field(default_factory=list)
    """Characters of the answer, score, cluster."""
    tokens: list[int | None] = field(default_factory=list)
    sure: list[tuple[float, float, str]] = field(default_factory=list)
    """Confidence, whether it is right, cluster."""
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    rules: dict[str, list[float]] = field(default_factory=dict)
    executions: dict[str, list[float]] = field(default_factory=dict)

    def add(self, sample: Sample, counted: frozenset[Status]) -> str:
        """Counts one sample; returns its group."""
        outcome, item = sample.outcome, sample.item
        self.marks.append(
            Mark(item.id, outcome.sample, outcome.status, outcome.scores, item.cluster, item.stratum)
        )
        scored = outcome.status is Status.SCORED
        if scored and self.score is None:
            self.score = next(iter(outcome.scores), None)
        value = outcome.scores.get(self.score) if scored and self.score is not None else None
        shown = math.nan if value is None else value
        if not scored:
            self.reasons[outcome.status.value, " ".join((outcome.reason or "").split())[:300]] += 1
        if outcome.rule is not None:
            self.rules.setdefault(outcome.rule, []).append(shown)
        if outcome.execution is not None:
            ended = outcome.execution.status.value
            detail = outcome.execution.detail
            name = ended if not detail else f"{ended}: {detail[:80]}"
            self.executions.setdefault(name, []).append(shown)
        if outcome.status in counted:
            self._measure(sample, 0.0 if not scored else value)
        return group_of(outcome.status, value)

    def _measure(self, sample: Sample, value: float | None) -> None:
        outcome, item = sample.outcome, sample.item
        cluster = item.cluster or item.id
        last = sample.responses[-1] if sample.responses else None
        generated = bool(sample.requests) and sample.requests[-1].continuation is None
        if last is not None and generated and value is not None and 0 <= value <= 1:
            self.lengths.append((len(last.text), value, cluster))
            self.tokens.append(last.completion_tokens)
        confidence = outcome.scores.get("confidence")
        right = outcome.scores.get("sum", value)
        if confidence is not None and right in (0, 1) and 0 <= confidence <= 1:
            self.sure.append((confidence, right, cluster))


def gather(
    run: EvaluatedRun,
    record: TaskRun,
    *,
    examples: int,
    budget: int,
    level: float,
    audit: CorpusAudit | None = None,
) -> TaskReport:
    """Reads a task's samples once.

    Args:
        run: with its store.
        record: the task.
        examples: most examples of each group.
        budget: bytes that its examples may take together.
        level: of the intervals that are made here; those of the run keep theirs.
        audit: what a corpus holds of the task's items, where that is known.
    """
    estimates = task_estimates(record)
    whole, slices = _parted(estimates)
    policy = end_to_end(task_policy(record))
    seen = _Seen(first_score(record))
    chooser = Chooser(record.task, examples)
    for sample in run.store.samples(run.id, record.task):
        chooser.add(sample, seen.add(sample, policy.counted))
    shown, cut = chooser.examples(budget)
    statuses = dict(run.statuses[record.task])
    positions = record.summary.get("positions")
    return TaskReport(
        record=record,
        score=seen.score,
        estimates=whole,
        slices=slices,
        statuses={status.value: statuses[status.value] for status in Status if statuses.get(status.value)},
        counted=policy.counted,
        lengths=_lengths(seen, level),
        reliability=_reliability(seen, level),
        risk=_risk(seen),
        positions=tuple(positions) if isinstance(positions, (list, tuple)) else (),
        reasons=_reasons(seen),
        rules=_counts(seen.rules),
        executions=_counts(seen.executions),
        groups=chooser.counts,
        examples=shown,
        examples_cut=cut,
        contamination=_contamination(seen, policy, audit, level),
        faults=kept_task_faults(run.record, record, run.store),
        notes=tuple(map(str, _list(record.summary.get("notes")))),
    )


# ── what stands in a recipe ─────────────────────────────────────────────────────────────────────────


def first_score(record: TaskRun) -> str | None:
    """The score that the task's first metric is a mean of; `None` where the recipe names none."""
    for metric in _list(task_fields(record).get("metrics")):
        score = metric["fields"].get("score") if isinstance(metric, Mapping) else None
        if isinstance(score, str):
            return score
    return None


def _parted(estimates: Sequence[Estimate]) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """Estimates of the whole, and those of strata: named `whole/stratum`."""
    names = {each.name for each in estimates}
    of_part = [any(_prefix(each.name, place) in names for place in _slashes(each.name)) for each in estimates]
    whole = tuple(each for each, part in zip(estimates, of_part, strict=True) if not part)
    return whole, tuple(each for each, part in zip(estimates, of_part, strict=True) if part)


def _slashes(name: str) -> list[int]:
    return [place for place, sign in enumerate(name) if sign == "/"]


def _prefix(name: str, place: int) -> str:
    return name[:place]


# ── what is counted ─────────────────────────────────────────────────────────────────────────────────


def _counts(found: Mapping[str, Sequence[float]]) -> tuple[Count, ...]:
    rows = []
    for name, values in found.items():
        known = [value for value in values if not math.isnan(value)]
        rows.append(Count(name, len(values), math.fsum(known) / len(known) if known else None))
    return tuple(sorted(rows, key=lambda row: (-row.samples, row.name))[:LISTED])


def _reasons(seen: _Seen) -> tuple[Count, ...]:
    found = [Count(": ".join(filter(None, names)), count) for names, count in seen.reasons.items()]
    return tuple(sorted(found, key=lambda row: (-row.samples, row.name))[:LISTED])


def _lengths(seen: _Seen, level: float) -> Lengths | None:
    """Equally many samples a bin, answers of one length never parted; `None` where all have one length."""
    known = [each for each in seen.tokens if each is not None]
    in_tokens = bool(known) and len(known) == len(seen.tokens)
    sizes = np.array(known if in_tokens else [each[0] for each in seen.lengths], dtype=np.int64)
    if not len(sizes) or sizes.min() == sizes.max():
        return None
    values = np.array([each[1] for each in seen.lengths])
    clusters = np.array([each[2] for each in seen.lengths], dtype=object)
    order = np.argsort(sizes, kind="stable")
    edges = [0]
    for part in range(1, LENGTH_BINS + 1):
        end = part * len(order) // LENGTH_BINS
        while 0 < end < len(order) and sizes[order[end]] == sizes[order[end - 1]]:
            end += 1
        if end > edges[-1]:
            edges.append(end)
    bins = []
    for start, end in pairwise(edges):
        here = order[start:end]
        bins.append(
            LengthBin(
                int(sizes[here].min()),
                int(sizes[here].max()),
                len(here),
                float(sizes[here].mean()),
                score_interval(values[here], clusters[here].tolist(), level),
            )
        )
    return Lengths("tokens" if in_tokens else "characters", tuple(bins), len(order))


def _reliability(seen: _Seen, level: float) -> stats.ReliabilityTable | None:
    if not seen.sure:
        return None
    return stats.reliability_table(
        [each[0] for each in seen.sure], [each[1] for each in seen.sure], bins=10, level=level
    )


def _risk(seen: _Seen) -> Risk | None:
    if not seen.sure:
        return None
    curve = stats.risk_coverage([each[0] for each in seen.sure], [1 - each[1] for each in seen.sure])
    step = max(1, math.ceil(len(curve.points) / RISK_POINTS))
    points = [point for place, point in enumerate(curve.points) if place % step == 0]
    if points[-1] is not curve.points[-1]:
        points.append(curve.points[-1])
    return Risk(tuple(points), len(curve.points), curve.n)


def _contamination(
    seen: _Seen, policy: Denominator, audit: CorpusAudit | None, level: float
) -> Contamination | None:
    if audit is None or seen.score is None:
        return None
    return scores_by_overlap(audit, units(seen.marks, seen.score, policy), level)


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
