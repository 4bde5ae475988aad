"""Likelihood of texts: what each document loses, and the perplexity of the corpus."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probatum import stats
from probatum.core.protocol import Task
from probatum.core.records import Estimate, Item, Mark, Outcome, Response
from probatum.core.status import Status
from probatum.scoring.answers import invalid_item, unscorable

__all__ = ["Perplexity", "TextLikelihood"]

Unit = Literal["token", "word", "byte"]


@dataclass(frozen=True, kw_only=True)
class TextLikelihood:
    """What a text loses under the model: `nll` in nats, and how many units of each kind were scored.

    Bytes are those of the text that the scored tokens stand for. Words are runs without white space.

    By the rules of lm-eval (0.4.13) words are the pieces between white space, the empty ones at the ends
    included, and words and bytes are those of the text as the task gives it, or of another field: its
    wikitext scores a cleaned text, and divides by the words and bytes of the one before.
    """

    text: str = "text"
    """The field that is scored; of an item without it, the targets."""
    raw: str | None = None
    """A field with the text before it was cleaned: what words and bytes are counted of instead."""
    primary: Literal["nll", "greedy"] = "nll"
    """What comes first: the loss, or whether the model would have written this text."""
    lm_eval_raw: str | None = None
    """The field whose words and bytes lm-eval counts; `None` where it counts those of the text it scores."""
    rules: Literal["probatum", "lm_eval"] = "probatum"

    def for_compat(self, compat: Literal["lm_eval"]) -> TextLikelihood:
        """By the rules of that harness."""
        return replace(self, raw=self.lm_eval_raw or self.text, rules=compat)

    @property
    def scores(self) -> tuple[str, ...]:
        """The primary one first."""
        others = ("nll", "greedy", "tokens", "words", "bytes")
        return (self.primary, *(name for name in others if name != self.primary))

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Adds up the log-probabilities of the only response."""
        nothing = unscorable(item, sample, responses, 1)
        if nothing is not None:
            return nothing
        (response,) = responses
        logprobs = response.logprobs or ()
        text = item.fields.get(self.raw or self.text, item.targets[0] if item.targets else None)
        if not isinstance(text, str):
            return invalid_item(item, sample, f"the field {self.raw or self.text!r} holds no text")
        octets = len(text.encode("utf-8", "replace"))
        words = len(re.split(r"\s+", text)) if self.rules == "lm_eval" else len(text.split())
        if self.raw is None and response.scored_bytes is not None:
            octets = response.scored_bytes
        return Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores={
                "nll": -math.fsum(logprobs),
                "tokens": float(len(logprobs)),
                "words": float(words),
                "bytes": float(octets),
                "greedy": float(bool(response.greedy)),
            },
            rule="likelihood:text",
        )


@dataclass(frozen=True, kw_only=True)
class Perplexity:
    """Corpus perplexity per unit and bits per byte: totals over documents, never a mean of ratios.

    Perplexity per token compares models of one tokenizer only; bits per byte compare all. With several
    strata (domains) there is one of each, and their macro average in bits per byte (Magnusson et al. 2023,
    "Paloma", arXiv:2312.10523, reports domains apart).
    """

    units: tuple[Unit, ...] = ("word", "byte", "token")
    by_stratum: bool = True

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """Bits per byte, then perplexity per unit; then bits per byte of each stratum and their mean."""
        del task  # no chance, and no policy: a text is scored or missing
        scored = [mark for mark in marks if mark.status is Status.SCORED]
        valid = [mark for mark in marks if mark.status is not Status.INVALID_ITEM]
        share = len(scored) / len(valid) if valid else 0.0
        found = [_bits("bits per byte", scored, level, share)]
        found += [_perplexity(unit, scored, level, share) for unit in self.units]
        strata = sorted({mark.stratum for mark in scored if mark.stratum is not None})
        if self.by_stratum and len(strata) > 1:
            parts = [
                _bits(f"bits per byte/{one}", [mark for mark in scored if mark.stratum == one], level, share)
                for one in strata
            ]
            found += [_macro(parts, level, share), *parts]
        return tuple(found)


def _totals(marks: Sequence[Mark], unit: Unit) -> tuple[list[float], list[int]]:
    return [mark.scores["nll"] for mark in marks], [round(mark.scores[f"{unit}s"]) for mark in marks]


def _undefined(name: str, level: float, share: float, why: str) -> Estimate:
    return Estimate.undefined(name, level, why, denominator="scored texts", coverage=share)


def _perplexity(unit: Unit, marks: Sequence[Mark], level: float, share: float) -> Estimate:
    name = f"perplexity per {unit}"
    losses, sizes = _totals(marks, unit)
    try:
        found = stats.corpus_perplexity(losses, sizes, level=level)
    except ValueError as error:
        return _undefined(name, level, share, str(error))
    warnings = found.warnings
    if unit == "token":
        warnings = (*warnings, "perplexity per token compares models of one tokenizer only")
    return Estimate(
        name=name,
        value=found.value,
        low=_possible(found.low, 1.0),
        high=found.high,
        level=level,
        method=found.method,
        n=found.n,
        clusters=found.clusters,
        se=found.se,
        df=found.df,
        denominator="scored texts",
        coverage=share,
        warnings=warnings,
    )


def _bits(name: str, marks: Sequence[Mark], level: float, share: float) -> Estimate:
    """log2 of the byte perplexity, with its interval on that scale."""
    losses, sizes = _totals(marks, "byte")
    try:
        found = stats.corpus_perplexity(losses, sizes, level=level)
    except (ValueError, OverflowError) as error:
        return _undefined(name, level, share, str(error))
    low, high = _possible(_log2(found.low), 0.0), _log2(found.high)
    spread = None if found.se is None or not found.value else found.se / found.value / math.log(2)
    return Estimate(
        name=name,
        value=stats.bits_per_byte(found.total_nll, found.units),
        low=low,
        high=high,
        level=level,
        method="ratio over documents, CR2 t",
        n=found.n,
        clusters=found.clusters,
        se=spread,
        df=found.df,
        denominator="scored texts",
        coverage=share,
        warnings=found.warnings,
    )


def _possible(limit: float | None, least: float) -> float | None:
    """No text is likelier than certain: what few documents leave open ends at a perplexity of 1."""
    return None if limit is None else max(limit, least)


def _log2(limit: float | None) -> float | None:
    """Of a limit of the perplexity; one beyond floating point is none."""
    return math.log2(limit) if limit is not None and 0 < limit < math.inf else None


def _macro(parts: Sequence[Estimate], level: float, share: float) -> Estimate:
    """The mean over domains: each counts the same, however long it is."""
    name = "bits per byte (mean of domains)"
    values = [part.value for part in parts if part.value is not None]
    errors = [part.se for part in parts if part.se is not None]
    if len(values) < len(parts):
        return _undefined(name, level, share, "a domain has no value")
    mean = math.fsum(values) / len(values)
    if len(errors) < len(parts):
        return Estimate(
            name=name,
            value=mean,
            low=None,
            high=None,
            level=level,
            method="none",
            n=sum(part.n for part in parts),
            denominator="scored texts",
            coverage=share,
            warnings=("a domain of one document has no standard error",),
        )
    error = math.sqrt(math.fsum(each**2 for each in errors)) / len(parts)
    df = _satterthwaite(parts)
    low, high = stats.t_interval(mean, error, df, level)
    return Estimate(
        name=name,
        value=mean,
        low=max(low, 0.0),
        high=high,
        level=level,
        method="fixed domains, normal" if df is None else "fixed domains, Satterthwaite t",
        n=sum(part.n for part in parts),
        se=error,
        df=df,
        denominator="scored texts",
        coverage=share,
    )


def _satterthwaite(parts: Sequence[Estimate]) -> float | None:
    """Degrees of freedom of a sum of independent estimates (Satterthwaite 1946); `None` without any spread.

    Domains of few documents know their own errors badly, and so does the mean of them.
    """
    shares = [((part.se or 0.0) ** 2, part.df) for part in parts]
    spread = math.fsum(variance for variance, _ in shares)
    if spread == 0 or any(df is None for _, df in shares):
        return None
    return 1 / math.fsum((variance / spread) ** 2 / df for variance, df in shares if df)
