"""A gate for continuous integration: is this run no worse than its baseline, by a margin that was named?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from probatum import stats
from probatum.core.comparability import Comparability
from probatum.core.errors import UsageError
from probatum.core.records import Estimate
from probatum.runner.comparing.comparison import compare
from probatum.runner.comparing.naming import items_said
from probatum.runner.comparing.pairing import Floats, Paired, load_scores, pair
from probatum.runner.comparing.pairs import PairComparison
from probatum.runner.result import EvaluatedRun

__all__ = ["Gate", "GateVerdict", "GatedTask", "gate"]

SPARSE: Final = 10
"""Below so many discordant 0/1 pairs the t interval covers less than it says (docs/statistics.md)."""

_NO_DISTANCE: Final = 1e-4
"""Between a drop and the margin: to tell it apart would take more items than there are."""


class GateVerdict(StrEnum):
    """What the gate says; the worst task decides."""

    PASS = "pass"  # noqa: S105 - no password
    """Shown: the drop is smaller than the margin."""
    FAIL = "fail"
    """Shown: the drop is larger than the margin."""
    CANNOT_TELL = "cannot tell"
    """Neither is shown, or the two runs cannot be compared."""


@dataclass(frozen=True, kw_only=True)
class GatedTask:
    """One task at the gate."""

    task: str
    verdict: GateVerdict
    reason: str
    difference: float | None
    """Run - baseline."""
    low: float | None
    """One-sided limit: with the level's confidence the difference is above it, whatever is missing."""
    high: float | None
    """One-sided limit: with the level's confidence the difference is below it, whatever is missing."""
    p_value: float | None
    """Of non-inferiority: that the drop is the margin or more."""
    needed: int | None
    """Items of this kind with which the gate would pass 8 of 10 runs that are as good as the baseline."""
    pair: PairComparison

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        kept = ("task", "verdict", "reason", "difference", "low", "high", "p_value", "needed")
        return {**{name: getattr(self, name) for name in kept}, "comparison": self.pair.plain()}


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What the gate says of a run."""

    run: str
    baseline: str
    max_drop: float
    level: float
    tasks: tuple[GatedTask, ...]

    @property
    def verdict(self) -> GateVerdict:
        """`fail` if one task fails, `pass` if all pass."""
        verdicts = {each.verdict for each in self.tasks}
        for verdict in (GateVerdict.FAIL, GateVerdict.CANNOT_TELL):
            if verdict in verdicts:
                return verdict
        return GateVerdict.PASS

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "verdict": self.verdict.value,
            "run": self.run,
            "baseline": self.baseline,
            "max_drop": self.max_drop,
            "level": self.level,
            "tasks": [each.plain() for each in self.tasks],
        }


def gate(
    run: EvaluatedRun,
    baseline: EvaluatedRun,
    max_drop: float,
    *,
    task: str | Sequence[str] | None = None,
    score: str | None = None,
    level: float = 0.95,
    anyway: bool = False,
) -> Gate:
    """Whether a run is no worse than its baseline: non-inferiority, one-sided, on the paired items.

    A task passes if the drop is shown to be smaller than `max_drop`, with every missing sample at its worst;
    it fails if it is shown to be larger, with every missing sample at its best. Each claim errs at most at
    1 - level, for each task. To pass a run that is as good as its baseline takes enough items: `needed`.

    Args:
        run: what is to be let through.
        baseline: what it is held against.
        max_drop: the loss that would matter, in units of the score (0.01 is one percentage point).
        task: these tasks alone; `None`: all that both have.
        score: which score; `None`: that of each task's first metric.
        level: confidence of each claim, one-sided.
        anyway: lets runs pass that are not comparable.

    Raises:
        UsageError: a drop that is not above 0, or what `compare` raises.
    """
    if not 0 < max_drop <= 1:
        raise UsageError(
            f"a drop of {max_drop!r} is out of range: name the loss that would matter, above 0 and up to 1, "
            "such as 0.01"
        )
    if not 0.5 < level < 1:  # noqa: PLR2004 - below a half a one-sided claim is worth nothing
        raise UsageError(f"level {level!r} is out of range: use a share between 0.5 and 1, such as 0.95")
    found = compare(baseline, run, task=task, score=score, level=level, anyway=anyway)
    return Gate(
        run=run.id,
        baseline=baseline.id,
        max_drop=max_drop,
        level=level,
        tasks=tuple(_gated(baseline, run, each, max_drop, level) for each in found.pairs),
    )


def _gated(
    baseline: EvaluatedRun, run: EvaluatedRun, pair_: PairComparison, max_drop: float, level: float
) -> GatedTask:
    contrast = pair_.contrast
    if contrast is None:
        return _undecided(pair_, pair_.verdict)
    if contrast.estimate.bounds is None or not pair_.higher_is_better:
        return _undecided(pair_, f"the gate needs scores from 0 to 1, and {pair_.score!r} is none")
    scores = [load_scores(one, pair_.task, pair_.score, answered=False) for one in (baseline, run)]
    for name, one in zip(("baseline", "run"), scores, strict=True):
        if one.graded < one.record.planned:  # what is not graded is in no bound: it would pass unseen
            done = f"{one.graded:,} of {one.record.planned:,} samples are graded"
            state = one.run.record.state.value
            return _undecided(pair_, f"the {name} is {state}, {done}: finish it first")
    paired = pair(*scores)
    low, high = _limits(paired, level)
    test = stats.non_inferiority(
        stats.paired_difference(paired.b, paired.a, clusters=paired.clusters, level=level), max_drop
    )
    needed = _needed(contrast.estimate.se, contrast.estimate.n, max_drop, level)
    if low is not None and low > -max_drop:
        verdict, reason = GateVerdict.PASS, f"a drop of {max_drop:g} or more is ruled out"
    elif high is not None and high < -max_drop:
        verdict, reason = GateVerdict.FAIL, f"the drop is more than {max_drop:g}"
    else:
        verdict, reason = (
            GateVerdict.CANNOT_TELL,
            _why(paired, contrast.estimate, high, max_drop, level, needed),
        )
    if pair_.comparability is Comparability.REFUSED:
        reason += " (of runs that are not comparable)"
    return GatedTask(
        task=pair_.task,
        verdict=verdict,
        reason=reason,
        difference=contrast.estimate.value,
        low=low,
        high=high,
        p_value=test.p_value,
        needed=needed,
        pair=pair_,
    )


def _why(
    paired: Paired, estimate: Estimate, high: float | None, max_drop: float, level: float, needed: int | None
) -> str:
    """What keeps the gate from telling: missing samples, a drop near the margin, or too few items."""
    count = len(paired.ids)
    if paired.missing:
        alone = _lower_limit(paired.b - paired.a, _labels(paired.clusters), level)
        if alone is not None and alone > -max_drop:
            lost = items_said(sum(paired.missing.values()))
            return (
                f"the samples that are missing of {lost} could hide a drop of {max_drop:g}; more items "
                "would not help"
            )
    would_do = "items of this kind would do"
    if high is not None and (high < 0 or (needed is not None and needed <= count)):
        distance = abs((estimate.value or 0.0) + max_drop)
        more = _needed(estimate.se, estimate.n, distance, level) if distance > _NO_DISTANCE else None
        told = f"; if it is as it seems, some {more:,} {would_do}" if more and more > count else ""
        return f"the drop is too near {max_drop:g} for {items_said(count)} to tell whether it is more{told}"
    told = f"; some {needed:,} {would_do}" if needed and needed > count else ""
    return f"{items_said(count)} cannot tell a drop of {max_drop:g} from none{told}"


def _undecided(pair_: PairComparison, reason: str) -> GatedTask:
    return GatedTask(
        task=pair_.task,
        verdict=GateVerdict.CANNOT_TELL,
        reason=reason,
        difference=None,
        low=None,
        high=None,
        p_value=None,
        needed=None,
        pair=pair_,
    )


def _limits(paired: Paired, level: float) -> tuple[float | None, float | None]:
    """One-sided limits of the difference, with what is missing at its worst and at its best."""
    clusters = _labels(paired.all_clusters)
    found = []
    for filled, sign in ((paired.worst, 1.0), (-paired.best, -1.0)):
        limit = _lower_limit(filled, clusters, level)
        found.append(None if limit is None else sign * limit)
    return found[0], found[1]


def _labels(clusters: Sequence[str]) -> Sequence[str] | None:
    """Labels of clusters, where one has more than one item."""
    return None if len(set(clusters)) == len(clusters) else clusters


def _lower_limit(differences: Floats, clusters: Sequence[str] | None, level: float) -> float | None:
    """The one-sided lower limit: the lower end of the two-sided interval at 2·level - 1.

    Where no item differs, the limit of the rate of disagreement is one-sided already. Where few do, the t
    interval is too narrow, and Bonett and Price's is taken.
    """
    differ = int(np.count_nonzero(differences))
    few = clusters is None and 0 < differ < SPARSE and bool(np.isin(differences, (-1, 0, 1)).all())
    return stats.paired_difference(
        np.maximum(differences, 0),
        np.maximum(-differences, 0),
        clusters=clusters,
        level=2 * level - 1 if differ else level,
        method="bonett_price" if few else "CR2",
        bounds=None if few else (0.0, 1.0),
    ).low


def _needed(se: float | None, n: int, max_drop: float, level: float) -> int | None:
    if not se:
        return None
    design = stats.Design(between=se**2 * n)
    return stats.sample_size(max_drop, design, 1 - level, 0.8, "one-sided").n
