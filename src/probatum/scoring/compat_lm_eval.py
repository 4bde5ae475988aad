"""lm-evaluation-harness's own figures, by its names and formulas, for those who must match them.

The formulas are those of version 0.4.13 (`api/metrics.py`): the mean over all items that were scored, and the
sample standard deviation over the root of their number. Neither clusters nor strata count there, nothing is
an interval, and corpus perplexities have no error at all. They stand beside our own estimates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from probatum.core.protocol import Metric, Protocol, Task
from probatum.core.records import Estimate, Mark
from probatum.core.status import Status
from probatum.scoring.metrics import Rate
from probatum.scoring.options import OptionLikelihood
from probatum.scoring.texts import TextLikelihood

__all__ = ["LmEvalCorpus", "LmEvalMean", "compat_metrics"]

DENOMINATOR = "scored, as lm-eval counts"

TIES = "lm-eval's rule: the first of tied options wins, and items with an option twice count"
CHARACTERS = "lm-eval's rule: divided by characters, white space at the ends included"
POOLED = "lm-eval's rule: the standard error of a group pools the variances within its parts"
BEGINNING = (
    "lm-eval's rule: where the tokenizer adds a beginning token, that token is scored after itself, in the "
    "first window of every text"
)
WORDS = "lm-eval's rule: words and bytes are those of the raw text, and not of the one that is scored"


@dataclass(frozen=True, kw_only=True)
class LmEvalMean:
    """The mean of a score with lm-eval's standard error, sqrt(sum (x - mean)² / (n - 1)) / sqrt(n).

    A benchmark of several strata is a group there: its mean is that of all items, and its error pools the
    variances within the strata, sqrt(sum (n_i - 1) s_i² / (n - k)) / sqrt(n), with s_i² of stratum i of k.
    """

    name: str
    score: str
    exponential: bool = False
    """Whether exp of the mean is given: its `perplexity`, whose bootstrapped error is not made again."""
    notes: tuple[str, ...] = ()

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """One estimate; of nothing scored none."""
        del task  # lm-eval knows no chance
        values = [mark.scores[self.score] for mark in marks if _counts(mark, self.score)]
        if not values:
            return ()
        mean = sum(values) / len(values)
        told = _told(self, math.exp(mean) if self.exponential else mean, level, len(values), len(marks))
        if self.exponential:
            return (told,)
        parts: dict[str | None, list[float]] = {}
        for mark in marks:
            if _counts(mark, self.score):
                parts.setdefault(mark.stratum, []).append(mark.scores[self.score])
        pooled = (POOLED,) if len(parts) > 1 else ()
        return (replace(told, se=_error(list(parts.values())), warnings=(*self.notes, *pooled)),)


@dataclass(frozen=True, kw_only=True)
class LmEvalCorpus:
    """exp(total loss / total units), or in bits: `word_perplexity`, `byte_perplexity`, `bits_per_byte`."""

    name: str
    units: str
    """The score that holds how many there are: `words`, `bytes`."""
    bits: bool = False
    notes: tuple[str, ...] = ()

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """One estimate; of nothing scored, or of no units, none."""
        del task  # lm-eval knows no chance
        kept = [mark for mark in marks if _counts(mark, "nll")]
        units = math.fsum(mark.scores[self.units] for mark in kept)
        if not units:
            return ()
        loss = math.fsum(mark.scores["nll"] for mark in kept) / units
        try:
            value = loss / math.log(2) if self.bits else math.exp(loss)
        except OverflowError:
            return (Estimate.undefined(self.name, level, "beyond floating point", denominator=DENOMINATOR),)
        return (_told(self, value, level, len(kept), len(marks)),)


def _error(parts: Sequence[Sequence[float]]) -> float | None:
    """The pooled standard error; of a part of one item there is none."""
    if any(len(part) < 2 for part in parts):  # noqa: PLR2004 - a variance needs two
        return None
    means = [sum(part) / len(part) for part in parts]
    squares = sum((value - mean) ** 2 for part, mean in zip(parts, means, strict=True) for value in part)
    size = sum(map(len, parts))
    return math.sqrt(squares / (size - len(parts)) / size)


def _counts(mark: Mark, score: str) -> bool:
    return mark.status is Status.SCORED and score in mark.scores


def _told(named: LmEvalMean | LmEvalCorpus, value: float, level: float, n: int, of: int) -> Estimate:
    return Estimate(
        name=named.name,
        value=value,
        low=None,
        high=None,
        level=level,
        method="lm-eval",
        n=n,
        denominator=DENOMINATOR,
        coverage=n / of,
        warnings=named.notes,
    )


def compat_metrics(protocol: Protocol) -> tuple[Metric, ...]:
    """The figures that lm-eval prints for what this protocol scores; none without its rules."""
    scorer = protocol.scorer
    if protocol.compat is None:
        return ()
    if isinstance(scorer, OptionLikelihood):
        return _options(scorer, protocol.task)
    if isinstance(scorer, TextLikelihood):
        return _texts(scorer)
    return ()


def _options(scorer: OptionLikelihood, task: Task) -> tuple[Metric, ...]:
    first = next((metric.score for metric in task.metrics if isinstance(metric, Rate)), "correct")
    if first == "probability":  # TruthfulQA's mc2: lm-eval calls the probability of the true options acc
        return (LmEvalMean(name="acc", score=first),)
    found = [LmEvalMean(name="acc", score="sum", notes=(TIES,))]
    if scorer.of == "labels":
        found.append(LmEvalMean(name="acc_norm", score="sum"))
    elif scorer.of == "texts":
        found.append(LmEvalMean(name="acc_norm", score="per_character", notes=(CHARACTERS,)))
        found.append(LmEvalMean(name="acc_bytes", score="per_byte"))
    if scorer.unconditional:
        found.append(LmEvalMean(name="acc_mutual_info", score="pmi"))
    return tuple(found)


def _texts(scorer: TextLikelihood) -> tuple[Metric, ...]:
    if scorer.primary == "greedy":
        return (
            LmEvalMean(name="acc", score="greedy"),
            LmEvalMean(name="perplexity", score="nll", exponential=True),
        )
    notes = (BEGINNING, WORDS) if scorer.lm_eval_raw is not None else (BEGINNING,)
    kinds: tuple[tuple[str, str, bool], ...] = (
        ("word_perplexity", "words", False),
        ("byte_perplexity", "bytes", False),
        ("bits_per_byte", "bytes", True),
    )
    return tuple(
        LmEvalCorpus(name=name, units=units, bits=bits, notes=notes if name == "word_perplexity" else ())
        for name, units, bits in kinds
    )
