"""Two runs on one task: the paired difference, its test, and the verdict in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np

from probatum import stats
from probatum.core.comparability import Comparability, Difference
from probatum.core.records import Estimate
from probatum.runner.comparing.pairing import Floats, Paired, Scores
from probatum.stats.quantiles import normal_quantile, t_quantile

__all__ = [
    "POWER",
    "Bridge",
    "Contrast",
    "Decision",
    "PairComparison",
    "Slice",
    "Slicing",
    "adjusted",
    "compare_pair",
    "contrast_of",
    "decide",
    "detectable_effect",
    "fewest_units",
    "shown",
]

_ROUNDING: Final = 1e-12
POWER: Final = 0.8
"""Of seeing an effect of the size that is called detectable."""


class Decision(StrEnum):
    """What a comparison says."""

    A = "A better"
    B = "B better"
    NOT_SHOWN = "no difference shown"
    CANNOT = "cannot be compared"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """B - A over some items: the interval, the test, and who scored higher how often."""

    name: str
    """`all`, or the stratum."""
    estimate: Estimate
    mean_a: float
    mean_b: float
    p_value: float | None
    p_adjusted: float | None = None
    """By Holm, over what stands beside it; `None` where p is."""
    test: str
    wins: int
    """Items on which B scores higher."""
    losses: int
    ties: int
    correlation: float | None = None
    """Of the two scores over items."""


@dataclass(frozen=True, kw_only=True)
class Slice:
    """B - A on some of the items."""

    name: str
    items: int
    contrast: Contrast | None
    """`None` where the slice is too small to show any difference at this correction."""


@dataclass(frozen=True, kw_only=True)
class Slicing:
    """B - A in each slice by one field."""

    by: str
    what: str
    """What the field is, in words, with its unit."""
    slices: tuple[Slice, ...]
    edges: tuple[float, ...]
    """Upper ends of all bins but the last; empty where the slices are values."""
    unlabelled: int
    """Paired items that have no value."""
    smallest: int
    """Independent units that a slice needs, so that a difference in all of them could be shown."""
    p_vary: float | None
    """Of the hypothesis that the difference is the same in every slice: a permutation of the labels;
    corrected by Holm for the other fields. `None` where clusters reach over slices."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bridge:
    """Two protocols joined by one model that was run under both: D - C is what the protocol does."""

    c: str
    """Run that was asked as A was."""
    d: str
    """Run of the same model that was asked as B was."""
    model: str
    raw: Estimate
    """B - A as the scores are: the models' difference and the protocols'."""
    effect: Estimate
    """D - C, on the common items of all."""
    items: int
    clusters: int
    assumption: str
    """What no data here can show."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PairComparison:
    """One task, two runs: B against A."""

    task: str
    a: str
    """Letter of the run that is compared with."""
    b: str
    score: str
    higher_is_better: bool
    comparability: Comparability
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    anyway: bool = False
    """Whether it is made although the two are not comparable: then every output of it says so."""
    common: int = 0
    """Items that both runs have."""
    paired: int = 0
    """Those of them of which both have a score."""
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Ids of items whose content differs: not compared."""
    missing: Mapping[str, int]
    contrast: Contrast | None = None
    detectable: float | None = None
    """The difference that this very design shows with a power of 80 %, from the observed variance and at the
    level that Holm leaves; `None` where it can show none that is possible."""
    strata: tuple[Contrast, ...] = ()
    """The same within each stratum, corrected for their number."""
    slicings: tuple[Slicing, ...] = ()
    """The same in slices that were asked for, all corrected together."""
    bridge: Bridge | None = None
    """Where two protocols are joined: then `contrast` is B - A less the protocols' difference."""
    decision: Decision = Decision.CANNOT
    verdict: str = Decision.CANNOT.value

    def plain(self) -> dict[str, Any]:
        """As JSON data; `difference` is B - A."""
        contrast = self.contrast
        return {
            "task": self.task,
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            "decision": self.decision.value,
            "comparability": self.comparability.value,
            "anyway": self.anyway,
            "score": self.score,
            "higher_is_better": self.higher_is_better,
            "difference": None if contrast is None else contrast.estimate,
            "bridged": self.bridge is not None,
            "p_value": None if contrast is None else contrast.p_value,
            "p_adjusted": None if contrast is None else contrast.p_adjusted,
            "method": "none" if contrast is None else contrast.test,
            "wins": 0 if contrast is None else contrast.wins,
            "losses": 0 if contrast is None else contrast.losses,
            "ties": 0 if contrast is None else contrast.ties,
            "mean_a": None if contrast is None else contrast.mean_a,
            "mean_b": None if contrast is None else contrast.mean_b,
            "correlation": None if contrast is None else contrast.correlation,
            "detectable": self.detectable,
            "items": {
                "common": self.common,
                "paired": self.paired,
                "only_a": list(self.only_a),
                "only_b": list(self.only_b),
                "changed": list(self.changed),
                "missing": dict(self.missing),
            },
            "differences": [
                {
                    "field": each.field,
                    "a": each.one,
                    "b": each.other,
                    "kind": each.kind.value,
                    "meaning": each.meaning,
                }
                for each in self.differences
            ],
            "strata": list(self.strata),
            "slicings": list(self.slicings),
            "bridge": self.bridge,
            "notes": list(self.notes),
        }


def compare_pair(scores: Scores, paired: Paired, level: float) -> tuple[Contrast, tuple[Contrast, ...]]:
    """B - A over all paired items, and B - A in each stratum.

    Args:
        scores: of A; names of score and denominator are those of both.
        paired: one pair at least.
        level: of the intervals.
    """
    whole = contrast_of("all", paired, np.ones(len(paired.ids), bool), scores, level)
    names = sorted({name for name in paired.strata if name is not None})
    strata: tuple[Contrast, ...] = ()
    if len(names) > 1:
        labels = np.array([name or "" for name in paired.strata])
        strata = adjusted([contrast_of(name, paired, labels == name, scores, level) for name in names])
    return _with_bounds(whole, paired), strata


def fewest_units(alpha: float) -> int:
    """Independent units from which on an exact test can show a difference at all.

    If B were better in every one of n units, the sign test and McNemar's would give p = 2¹⁻ⁿ.

    >>> fewest_units(0.05), fewest_units(0.05 / 20)
    (6, 10)
    """
    return math.ceil(1 + math.log2(1 / alpha) - _ROUNDING)


def detectable_effect(estimate: Estimate, level: float) -> float | None:
    """The true difference that is shown with a power of 80 %: (t(1 - α/2) + t(power)) standard errors.

    `stats.minimum_detectable_effect` of a design that exists already; with t for z, since clusters may be
    few. `None` where there is no standard error.
    """
    if not estimate.se:
        return None
    quantile = normal_quantile if estimate.df is None else (lambda share: t_quantile(estimate.df, share))
    return float(quantile((1 + level) / 2) + quantile(POWER)) * estimate.se


def _detectable(pair: PairComparison, contrast: Contrast, level: float) -> float | None:
    """The detectable effect where the test can show one, and where one of its size can be.

    A t quantile does not know that an exact test of five items has no p below 0.06, nor that two rates differ
    by 1 at most.
    """
    units = contrast.estimate.clusters or contrast.estimate.n
    if pair.bridge is None and units < fewest_units(1 - level):
        return None
    found = detectable_effect(contrast.estimate, level)
    return None if found is not None and contrast.estimate.bounds is not None and found > 1 else found


def adjusted(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The contrasts with their p-values corrected for each other, by Holm."""
    known = [each.p_value for each in contrasts if each.p_value is not None]
    corrected = iter(stats.adjust_pvalues(known, "holm").tolist())
    return tuple(
        each if each.p_value is None else replace(each, p_adjusted=next(corrected)) for each in contrasts
    )


def contrast_of(name: str, paired: Paired, chosen: Any, scores: Scores, level: float) -> Contrast:
    """B - A over the chosen ones of the paired items (a mask of them)."""
    a, b = paired.a[chosen], paired.b[chosen]
    labels = [cluster for cluster, here in zip(paired.clusters, chosen.tolist(), strict=True) if here]
    clusters = None if len(set(labels)) == len(labels) else labels
    weights = None if paired.weights is None else paired.weights[chosen]
    found: stats.Interval = (
        stats.paired_difference(
            b, a, clusters=clusters, level=level, bounds=(0.0, 1.0) if paired.rates else None
        )
        if weights is None
        else stats.mean_interval(b - a, clusters=clusters, weights=weights, level=level)
    )
    test = _test(a, b, clusters, weights)
    share = (
        1.0
        if name != "all"
        else len(paired.ids) / (paired.common + len(paired.only_a) + len(paired.only_b) + len(paired.changed))
    )
    return Contrast(
        name=name,
        estimate=Estimate(
            name=f"{scores.score}: B - A",
            value=found.value,
            low=found.low,
            high=found.high,
            level=level,
            method=f"paired, {found.method}",
            n=found.n,
            clusters=found.clusters,
            se=found.se,
            df=found.df,
            denominator=scores.denominator.name,
            coverage=share,
            warnings=_unique(
                *_without_advice(found.warnings), *test.warnings, *_conflict(found, test, level)
            ),
        ),
        mean_a=float(np.average(a, weights=weights)),
        mean_b=float(np.average(b, weights=weights)),
        p_value=test.p_value,
        test=test.method,
        wins=int((b > a).sum()),
        losses=int((b < a).sum()),
        ties=int((b == a).sum()),
        correlation=found.correlation if isinstance(found, stats.PairedDifference) else None,
    )


def _test(
    a: Floats, b: Floats, clusters: Sequence[str] | None, weights: Floats | None
) -> stats.HypothesisTest:
    """McNemar's exact test for independent 0/1 pairs; else the sign-flip test, over clusters."""
    if weights is not None:
        return stats.sign_flip_test((b - a) * weights / weights.mean(), clusters=clusters)
    binary = bool(np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all())
    if binary and clusters is None:
        return stats.mcnemar(int((b > a).sum()), int((b < a).sum()))
    return stats.sign_flip_test(b - a, clusters=clusters)


def _conflict(found: stats.Interval, test: stats.HypothesisTest, level: float) -> list[str]:
    """Where the interval and the test say different things of 0, which decides."""
    if found.low is None or found.high is None or test.p_value is None:
        return []
    excluded = found.low > 0 or found.high < 0
    if excluded == (test.p_value <= 1 - level + _ROUNDING):
        return []
    return [f"interval and test differ about 0 near the {level:.0%} level: the test decides"]


def _without_advice(warnings: Sequence[str]) -> list[str]:
    """Warnings that point to the exact test are left out: it is made."""
    return [each for each in warnings if "mcnemar" not in each]


def _unique(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _with_bounds(contrast: Contrast, paired: Paired) -> Contrast:
    """The contrast with the interval that the missing samples could span; without scores in 0 … 1 none."""
    if not paired.rates:
        return contrast
    lower, upper = float(paired.worst.mean()), float(paired.best.mean())
    warnings = list(contrast.estimate.warnings)
    value = contrast.estimate.value or 0.0
    if paired.missing and value and (lower <= 0 <= upper):
        warnings.append(
            f"the missing samples could turn this: from {100 * lower:+.1f} to {100 * upper:+.1f} points"
        )
    estimate = replace(contrast.estimate, bounds=(lower, upper), warnings=_unique(*warnings))
    return replace(contrast, estimate=estimate)


def decide(pair: PairComparison, level: float, comparisons: int = 1) -> PairComparison:
    """The pair with its verdict, once its p-value is corrected for the others of the suite.

    Args:
        pair: with its contrast, if it has one.
        level: of all comparisons together.
        comparisons: how many there are. Holm holds the smallest of their p-values against (1 - level) /
            comparisons, and so what is called detectable is shown at that.
    """
    contrast = pair.contrast
    if contrast is None:
        return pair
    each = 1 - (1 - level) / comparisons
    pair = replace(pair, detectable=_detectable(pair, contrast, each))
    value, p, bounds = contrast.estimate.value, contrast.p_adjusted, contrast.estimate.bounds
    marked = f"{Comparability.REFUSED}, and compared anyway: " if pair.anyway else ""
    if pair.bridge is not None:
        marked = f"{Comparability.REFUSED}, and joined by a bridge run: "
    if value is None or p is None:
        return replace(pair, verdict=f"{marked}{Decision.CANNOT}: the test is undefined")
    if not value or p > 1 - level + _ROUNDING:
        words = _not_shown(pair, contrast, each)
        return replace(pair, decision=Decision.NOT_SHOWN, verdict=marked + words)
    upward = (value > 0) == pair.higher_is_better
    words = f"{pair.b if upward else pair.a} better"
    if bounds is not None and bounds[0] <= 0 <= bounds[1]:
        words += ", unless the missing samples say otherwise"
    return replace(pair, decision=Decision.B if upward else Decision.A, verdict=marked + words)


def _not_shown(pair: PairComparison, contrast: Contrast, level: float) -> str:
    """What would have been seen, or is ruled out; or that there is too little to see anything."""
    estimate = contrast.estimate
    rates = estimate.bounds is not None
    if pair.detectable is not None:
        return (
            f"{Decision.NOT_SHOWN}: effects above {shown(pair.detectable, rates=rates)} would have been seen"
        )
    if not estimate.se and estimate.high is not None:
        return f"{Decision.NOT_SHOWN}: effects above {shown(estimate.high, rates=rates)} are ruled out"
    units, fewest = estimate.clusters or estimate.n, fewest_units(1 - level)
    if pair.bridge is None and units < fewest:
        what = "items" if units == estimate.n else "clusters of items"
        return (
            f"{Decision.NOT_SHOWN}: too few {what} to show any: {units}, and the test needs {fewest} even if "
            "all differ"
        )
    if estimate.se:
        return (
            f"{Decision.NOT_SHOWN}: no effect is large enough for this design to show it with a power of 80%"
        )
    return f"{Decision.NOT_SHOWN}: this design can show none"


def shown(value: float, *, rates: bool) -> str:
    """A size of effect: of rates in percentage points, rounded up, so that no more is claimed than is so."""
    if not rates:
        return f"{value:.3g}"
    return f"{math.ceil(1000 * value - 1e-9) / 10:.1f} points"
