"""Metrics: from the marks of one task to estimates, each with denominator, interval and bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum

from probatum import stats
from probatum.core.errors import ProtocolError
from probatum.core.listed import whole_numbers
from probatum.core.protocol import Task
from probatum.core.records import Estimate, Mark
from probatum.scoring.tally import CAPABILITY, Denominator, Unit, end_to_end, units

__all__ = ["MacroRate", "PassAtK", "Rate"]


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The mean of one score over the items: the end-to-end rate, and the rate among answers.

    An item with several samples counts once, with the mean of its samples: samples of one item say
    nothing about other items.
    """

    score: str = "correct"
    name: str | None = None
    """Printed name; the score's if `None`."""
    by_stratum: bool = True
    """Whether a benchmark of several strata is reported for each as well."""
    chance_score: str | None = None
    """A score that holds each item's own chance of a blind guess; the task's `chance` if `None`."""
    optional: bool = False
    """Whether nothing is reported where no outcome has the score: scorers of other forms lack it."""
    answered: bool = True
    """Whether the rate among answers is reported, too; of a score beside the main one it says nothing new."""

    def _chance(self, marks: Sequence[Mark], task: Task) -> float | None:
        if self.chance_score is None:
            return task.chance
        chances = [mark.scores[self.chance_score] for mark in marks if self.chance_score in mark.scores]
        return fsum(chances) / len(chances) if chances else task.chance

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """End-to-end rate, capability rate, then the end-to-end rate of each stratum.

        Raises:
            ProtocolError: a score is outside 0 … 1, so that the bounds of what is missing would be wrong.
        """
        _check_scores(marks, self.score, "a rate", lambda score: 0 <= score <= 1, "from 0 to 1")
        if self.optional and not any(self.score in mark.scores for mark in marks):
            return ()
        name = self.name or self.score
        whole = end_to_end(task.policy)
        found = units(marks, self.score, whole)
        chance = self._chance(marks, task)
        estimates = [_rate(found, Label(name, whole, chance), level)]
        if self.answered:
            among = units(marks, self.score, CAPABILITY)
            estimates.append(_rate(among, Label(f"{name} (answered)", CAPABILITY, chance), level))
        strata = sorted({unit.stratum for unit in found if unit.stratum is not None})
        if self.by_stratum and len(strata) > 1:
            for stratum in strata:
                part = [unit for unit in found if unit.stratum == stratum]
                estimates.append(_rate(part, Label(f"{name}/{stratum}", whole, None), level))
        return tuple(estimates)


@dataclass(frozen=True, kw_only=True)
class MacroRate:
    """The mean over the strata of a benchmark (MMLU's subjects, a set's languages), each counting the same.

    Strata are fixed: they are the benchmark, and the interval is over the items within them. Nothing is
    reported where there is one stratum, or where no outcome has the score (another form's scorer).
    """

    score: str = "correct"
    name: str | None = None

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """The end-to-end estimate, where there are two strata or more.

        Raises:
            ProtocolError: a score is outside 0 … 1.
        """
        _check_scores(marks, self.score, "a rate", lambda score: 0 <= score <= 1, "from 0 to 1")
        found = units(marks, self.score, end_to_end(task.policy))
        strata = {unit.stratum for unit in found}
        if len(strata) < 2 or None in strata:  # noqa: PLR2004 - a mean of strata needs two
            return ()
        name = f"{self.name or self.score} (mean of {len(strata)} strata)"
        sizes = Counter(unit.stratum for unit in found)
        counted = [unit for unit in found if unit.counted]
        if {unit.stratum for unit in counted} != strata:
            missing = sorted(str(one) for one in strata - {unit.stratum for unit in counted})
            why = f"no sample of {', '.join(missing)} is in the denominator"
            return (_nothing(found, Label(name, end_to_end(task.policy), task.chance), level, why),)
        interval = stats.mean_interval(
            [unit.mean for unit in counted],
            clusters=[unit.cluster for unit in counted],
            strata=stats.Strata(labels=[unit.stratum for unit in counted], weights="equal", role="fixed"),
            level=level,
            bounds=(0.0, 1.0),
        )
        share = sum(unit.counted for unit in counted) / sum(unit.counted + unit.missing for unit in found)
        bounds = tuple(
            sum(getattr(unit, side) / sizes[unit.stratum] for unit in found) / len(strata)
            for side in ("low", "high")
        )
        return (
            Estimate(
                name=name,
                value=interval.value,
                low=interval.low,
                high=interval.high,
                level=level,
                method=interval.method,
                n=len(counted),
                clusters=interval.clusters,
                se=interval.se,
                df=interval.df,
                denominator=task.policy.name,
                coverage=share,
                bounds=(bounds[0], bounds[1]),
                warnings=interval.warnings,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class PassAtK:
    """pass@k: the chance that one of k samples passes, without bias from n ≥ k samples a problem.

    1 − C(n−c, k)/C(n, k), averaged over problems; the interval is over problems (Chen et al. 2021,
    "Evaluating Large Language Models Trained on Code", §2.1). A k above the samples asked is left out; a
    problem with fewer than k counted samples is missing, never filled up.
    """

    score: str = "passed"
    ks: tuple[int, ...] = (1, 5, 10, 100)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ks", tuple(whole_numbers(self.ks)))  # a list or "1,5" is the same choice

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """For each k the end-to-end estimate, then the one among answers.

        Raises:
            ProtocolError: a score is neither 0 nor 1.
        """
        _check_scores(marks, self.score, "pass@k", lambda score: score in (0, 1), "0 or 1")
        whole = end_to_end(task.policy)
        found = units(marks, self.score, whole)
        answered = units(marks, self.score, CAPABILITY)
        most = max((unit.counted + unit.missing for unit in found), default=0)
        estimates: list[Estimate] = []
        for k in (k for k in self.ks if k <= max(most, 1)):
            estimates.append(_pass_at(k, found, Label(f"pass@{k}", whole, task.chance), level))
            label = Label(f"pass@{k} (answered)", CAPABILITY, task.chance)
            estimates.append(_pass_at(k, answered, label, level))
        return tuple(estimates)


@dataclass(frozen=True)
class Label:
    """What an estimate is called, what it counts, and what a blind guess scores."""

    name: str
    denominator: Denominator
    chance: float | None


def _check_scores(
    marks: Sequence[Mark], score: str, metric: str, good: Callable[[float], bool], words: str
) -> None:
    for mark in marks:
        value = mark.scores.get(score)
        if value is not None and not good(value):
            raise ProtocolError(
                f"{metric} needs scores {words}, and item {mark.item_id!r} has {score!r} = {value!r}; "
                "scale the score, or use another metric"
            )


def _rate(found: Sequence[Unit], label: Label, level: float) -> Estimate:
    counted = [unit for unit in found if unit.counted]
    return _estimate(found, counted, [unit.mean for unit in counted], label, level, bounds=_mean_bounds)


def _mean_bounds(found: Sequence[Unit]) -> tuple[float, float]:
    return (
        sum(unit.low for unit in found) / len(found),
        sum(unit.high for unit in found) / len(found),
    )


def _pass_at(k: int, found: Sequence[Unit], label: Label, level: float) -> Estimate:
    """pass@k where every problem has k counted samples; problems that have not are missing."""
    enough = [unit for unit in found if unit.counted >= k]
    values = [stats.pass_at_k(unit.counted, round(unit.total), k) for unit in enough]

    def bounds(units: Sequence[Unit]) -> tuple[float, float]:
        spans = [_pass_bounds(unit, k) for unit in units]
        return sum(low for low, _ in spans) / len(spans), sum(high for _, high in spans) / len(spans)

    return _estimate(found, enough, values, label, level, bounds=bounds)


def _pass_bounds(unit: Unit, k: int) -> tuple[float, float]:
    """What pass@k of one problem could be; a problem with fewer than k counted samples is missing whole."""
    if unit.counted < k:
        return 0.0, 1.0
    size, passed = unit.counted + unit.missing, round(unit.total)
    return stats.pass_at_k(size, passed, k), stats.pass_at_k(size, passed + unit.missing, k)


def _estimate(
    found: Sequence[Unit],
    counted: Sequence[Unit],
    values: Sequence[float],
    label: Label,
    level: float,
    *,
    bounds: Callable[[Sequence[Unit]], tuple[float, float]],
) -> Estimate:
    """The mean of `values` (one an item of `counted`), with what the other items could change."""
    samples = sum(unit.counted + unit.missing for unit in found)
    coverage = sum(unit.counted for unit in counted) / samples if samples else 0.0
    span = bounds(found) if found else None
    if not counted:
        why = "no sample is in the denominator: there is nothing to estimate from"
        return replace(_nothing(found, label, level, why), coverage=coverage, bounds=span)
    interval = _interval(values, [unit.cluster for unit in counted], level)
    against = None
    if label.chance is not None and 0 < label.chance < 1:
        against = _better_than(values, [unit.cluster for unit in counted], label.chance)
    return Estimate(
        name=label.name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        level=level,
        method=interval.method,
        n=len(counted),
        clusters=interval.clusters,
        se=interval.se,
        df=interval.df,
        denominator=label.denominator.name,
        coverage=coverage,
        bounds=span,
        chance=label.chance,
        p_chance=against,
        warnings=interval.warnings,
    )


def _nothing(found: Sequence[Unit], label: Label, level: float, why: str) -> Estimate:
    """An estimate without a value, and why there is none."""
    samples = sum(unit.counted + unit.missing for unit in found)
    coverage = sum(unit.counted for unit in found) / samples if samples else 0.0
    none = Estimate.undefined(label.name, level, why, denominator=label.denominator.name, coverage=coverage)
    return replace(none, chance=label.chance)


def _interval(values: Sequence[float], clusters: Sequence[str], level: float) -> stats.Interval:
    """Wilson where every unit is its own and 0 or 1; else the mean over clusters (CR2), kept in [0, 1]."""
    if _plain(values, clusters):
        return stats.proportion_interval(round(sum(values)), len(values), level=level)
    return stats.mean_interval(values, clusters=clusters, level=level, bounds=(0.0, 1.0))


def _better_than(values: Sequence[float], clusters: Sequence[str], chance: float) -> float | None:
    """One-sided p-value of "no better than a blind guess"; `None` where it is undefined."""
    if _plain(values, clusters):
        return stats.proportion_test(round(sum(values)), len(values), chance).p_value
    return stats.mean_test(values, chance, clusters=clusters, bounds=(0.0, 1.0)).p_value


def _plain(values: Sequence[float], clusters: Sequence[str]) -> bool:
    return len(set(clusters)) == len(clusters) and all(value in (0.0, 1.0) for value in values)
