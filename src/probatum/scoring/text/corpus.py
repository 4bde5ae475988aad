"""BLEU and TER of a corpus as metrics: from the items' counts, with an interval over resampled items."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Task
from probatum.core.records import Estimate, Mark
from probatum.core.status import Status
from probatum.scoring.text.ngrams import BLEU_COUNTS, ORDER, TER_COUNTS

__all__ = ["CorpusBleu", "CorpusTer", "bleu_of_counts"]

Floats = NDArray[np.float64]


def bleu_of_counts(counts: Sequence[float]) -> float:
    """BLEU (0 … 100) of summed counts: matches and n-grams of each order, length, reference length.

    With the exponential smoothing of orders without a match that sacrebleu has (Chen and Cherry 2014,
    method 3).
    """
    matches, totals = counts[:ORDER], counts[ORDER : 2 * ORDER]
    length, reference = counts[2 * ORDER], counts[2 * ORDER + 1]
    if not any(matches) or not all(totals):
        return 0.0
    smoothing = 1.0
    logs = 0.0
    for matched, total in zip(matches, totals, strict=True):
        smoothing = smoothing if matched else smoothing * 2
        logs += math.log(matched / total) if matched else math.log(1 / (smoothing * total))
    brevity = 1.0 if length >= reference else math.exp(1 - reference / length)
    return 100 * brevity * math.exp(logs / ORDER)


@dataclass(frozen=True, kw_only=True)
class CorpusBleu:
    """BLEU of the corpus, 0 … 100, from the counts of `NgramOverlap`; the interval resamples items.

    Koehn 2004, "Statistical significance tests for machine translation evaluation". Of several samples
    an item, all are in the corpus. A sample without an answer has no counts, and is in no corpus: the
    estimate says how many.
    """

    resamples: int = 1000
    seed: int = 0

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:  # noqa: ARG002 - every metric is given the task
        """One estimate.

        Raises:
            ProtocolError: the scorer gives no counts.
        """
        return (_corpus("corpus_bleu", marks, BLEU_COUNTS, bleu_of_counts, self, level),)


@dataclass(frozen=True, kw_only=True)
class CorpusTer:
    """Translation edit rate of the corpus, edits of 100 words; less is better.

    From the counts of `NgramOverlap(ter=True)`; the interval resamples items.
    """

    resamples: int = 1000
    seed: int = 0

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:  # noqa: ARG002 - every metric is given the task
        """One estimate.

        Raises:
            ProtocolError: the scorer gives no counts.
        """
        return (_corpus("corpus_ter", marks, TER_COUNTS, _ter_of_counts, self, level),)


def _ter_of_counts(counts: Sequence[float]) -> float:
    edits, words = counts
    return 100 * edits / words if words else float(100 * (edits > 0))


def _corpus(
    name: str,
    marks: Sequence[Mark],
    keys: Sequence[str],
    score: Callable[[Sequence[float]], float],
    metric: CorpusBleu | CorpusTer,
    level: float,
) -> Estimate:
    valid = [mark for mark in marks if mark.status is not Status.INVALID_ITEM]
    scored = [mark for mark in valid if mark.status is Status.SCORED]
    sums = _sums(name, scored, keys)
    left_out = len(valid) - len(scored)
    warnings = (f"{left_out} samples without an answer are in no corpus",) if left_out else ()
    if not scored:
        why = "no sample is in the corpus: there is nothing to score"
        return Estimate.undefined(name, level, why, *warnings, denominator="capability", coverage=0.0)
    low, high = _interval(sums, score, metric, level)
    clustered = any(mark.cluster is not None for mark in scored)
    return Estimate(
        name=name,
        value=score(sums.sum(axis=0).tolist()),
        low=low,
        high=high,
        level=level,
        method=f"bootstrap over {'clusters' if clustered else 'items'}, percentile"
        if low is not None
        else "none",
        n=len({mark.item_id for mark in scored}),
        clusters=len(sums) if clustered else None,
        denominator="capability",
        coverage=len(scored) / len(valid),
        warnings=warnings if low is not None else ("one unit has no interval", *warnings),
    )


def _sums(name: str, scored: Sequence[Mark], keys: Sequence[str]) -> Floats:
    """Counts of each cluster (item, where there are no clusters): units × keys."""
    units: dict[str, Floats] = {}
    for mark in scored:
        if any(key not in mark.scores for key in keys):
            raise ProtocolError(
                f"{name} needs the counts {', '.join(keys)}, and item {mark.item_id!r} has "
                f"{', '.join(mark.scores) or 'none'}; score with NgramOverlap"
            )
        row = np.array([mark.scores[key] for key in keys])
        unit = mark.cluster if mark.cluster is not None else mark.item_id
        units[unit] = units[unit] + row if unit in units else row
    return np.array(list(units.values())).reshape(len(units), len(keys))


def _interval(
    sums: Floats,
    score: Callable[[Sequence[float]], float],
    metric: CorpusBleu | CorpusTer,
    level: float,
) -> tuple[float, float] | tuple[None, None]:
    if len(sums) < 2:  # noqa: PLR2004 - one unit says nothing about others
        return None, None
    generator = np.random.default_rng(metric.seed)
    weights = generator.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=metric.resamples)
    values = [score(row) for row in (weights @ sums).tolist()]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
