"""Likelihood of text: perplexity of what was scored, bits per byte, and the interval over documents."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probatum.stats.clustering import Sampling, cluster_variance
from probatum.stats.inputs import (
    Floats,
    Integers,
    Labels,
    binary,
    check_level,
    check_size,
    counts_of,
    encode,
    finite,
    numbers_or_none,
    scores_of,
    sum_by,
    whole,
)
from probatum.stats.quantiles import t_quantile
from probatum.stats.result import Interval

__all__ = ["Perplexity", "bits_per_byte", "corpus_perplexity", "masked_perplexity"]


_SLACK = 1e-6
"""Rounding of a loss a unit: a likelihood is at most 1."""
_LARGEST = 709.0
"""Exponents below it have a finite power of e."""


@dataclass(frozen=True, kw_only=True)
class Perplexity(Interval):
    """exp(Σ negative log-likelihood / Σ units), and the same in other units.

    Perplexities by token compare models of one tokenizer only; bits per byte compare all.
    """

    nll_per_unit: float | None
    """In nats."""
    total_nll: float
    units: int
    """Tokens (or bytes, or words) that were scored."""
    bits_per_byte: float | None
    """`None` without byte counts. 2 to its power is the byte perplexity."""
    byte_perplexity: float | None


def masked_perplexity(
    token_nll: npt.ArrayLike, mask: npt.ArrayLike, documents: Labels | None = None, level: float = 0.95
) -> Perplexity:
    """Perplexity of the tokens that the mask keeps.

    Args:
        token_nll: Negative log-likelihood of each token in nats, shape (tokens,).
        mask: Whether each token counts (0/1 or booleans), same shape. Losses of
            tokens that do not count are not looked at.
        documents: The document of each token; with it there is an interval over documents.
        level: Confidence level.

    Raises:
        ValueError: sizes that do not match, no token that counts, or a loss that is not finite.
    """
    losses = numbers_or_none(token_nll)
    if losses is None:
        raise ValueError("token losses must be numbers")
    check_size(np.ravel(mask), losses.size, "mask entries", "token losses")
    if np.shape(mask) != losses.shape:
        raise ValueError(f"mask and token losses must be aligned: shapes {np.shape(mask)} and {losses.shape}")
    losses = losses.ravel()
    kept = binary(np.ravel(mask), "mask entries") == 1 if len(losses) else np.zeros(0, bool)
    if not kept.any():
        raise ValueError(f"none of {len(losses)} tokens is evaluated: the mask keeps 0")
    scored = scores_of(losses[kept], "token losses")
    if documents is None:
        return corpus_perplexity([math.fsum(scored)], [len(scored)], level=level)
    codes, count = encode(documents, len(losses), "documents")
    return corpus_perplexity(
        sum_by(codes[kept], scored, count), np.bincount(codes[kept], minlength=count), level=level
    )


def corpus_perplexity(
    nll: npt.ArrayLike,
    units: npt.ArrayLike,
    byte_counts: npt.ArrayLike | None = None,
    level: float = 0.95,
    unscored: npt.ArrayLike | None = None,
) -> Perplexity:
    """Perplexity of a corpus: totals over all documents, not the mean of their perplexities.

    Args:
        nll: Total negative log-likelihood of each document in nats, over the units that were scored.
        units: Tokens (or bytes, or words) scored in each; documents with 0 are skipped and counted.
        byte_counts: UTF-8 bytes of the raw text of each, for bits per byte.
        level: Confidence level of the interval over documents (ratio estimator, CR2 t, on the log scale).
        unscored: Units of each document that were left out because it was cut. They are in no denominator,
            are counted in `missing`, and a warning says so. `byte_counts` are those of the scored part.

    Raises:
        ValueError: sizes that do not match, no unit at all, a loss without a unit, or a negative loss.
    """
    check_level(level)
    losses, sizes = scores_of(nll, "losses"), counts_of(units, "units")
    check_size(sizes, len(losses), "unit counts", "losses")
    used = sizes > 0
    if (losses[~used] != 0).any():
        raise ValueError(f"{int((losses[~used] != 0).sum())} documents have a loss but no unit")
    if not used.any():
        raise ValueError(f"none of {len(losses)} documents has a unit to score")
    negative = int((losses < -_SLACK * sizes).sum())
    if negative:
        raise ValueError(
            f"{negative} losses are negative: give negative log-likelihoods, not log-probabilities"
        )
    total, count = math.fsum(losses[used]), int(sizes[used].sum())
    rate = total / count
    low, high, error, df, warnings = _log_limits(losses[used], sizes[used], rate, level)
    bpb = None
    if byte_counts is not None:
        octets = counts_of(byte_counts, "byte counts")
        check_size(octets, len(losses), "byte counts", "losses")
        bpb = bits_per_byte(total, int(octets[used].sum()))
    value = _exp(rate)
    if value is None or (low is not None and high is None):
        warnings = (*warnings, "a perplexity beyond floating point is left out; see nll_per_unit")
    skipped = int((~used).sum())
    missing = {"no unit to score": skipped} if skipped else {}
    if unscored is not None and (cut := int(_aligned_counts(unscored, len(losses)).sum())):
        missing["cut off: units not scored"] = cut
        warnings = (*warnings, f"{cut} units were cut off and not scored: the loss is that of the rest")
    return Perplexity(
        value=value,
        low=low,
        high=high,
        level=level,
        method="ratio over documents, CR2 t on the log scale",
        n=int(used.sum()),
        se=error,
        clusters=int(used.sum()),
        df=df,
        missing=missing,
        estimand="exp(total loss / total units) over the population of documents",
        warnings=warnings,
        nll_per_unit=rate,
        total_nll=total,
        units=count,
        bits_per_byte=bpb,
        byte_perplexity=None if bpb is None else _exp(bpb * math.log(2)),
    )


def _aligned_counts(values: npt.ArrayLike, n: int) -> Integers:
    counts = counts_of(values, "unscored units")
    check_size(counts, n, "unscored units", "losses")
    return counts


def _log_limits(
    losses: Floats, sizes: Integers, rate: float, level: float
) -> tuple[float | None, float | None, float | None, float | None, tuple[str, ...]]:
    documents = len(losses)
    if documents < 2:  # noqa: PLR2004 - a spread needs two
        return None, None, None, None, ("1 document has no standard error: name the document of each token",)
    design = Sampling(sizes / sizes.sum(), np.arange(documents), documents, np.zeros(documents, np.int64), 1)
    found = cluster_variance(losses / sizes, design, "CR2")
    error = math.sqrt(found.variance)
    if error <= 1e-14 * max(1e-300, abs(rate)):
        return None, None, None, None, (f"all {documents} documents have the same loss: no standard error",)
    half = t_quantile(found.df, (1 + level) / 2) * error
    value = _exp(rate)
    return _exp(rate - half), _exp(rate + half), None if value is None else value * error, found.df, ()


def _exp(exponent: float) -> float | None:
    """E to the exponent, or `None` where that is beyond floating point."""
    return math.exp(exponent) if exponent < _LARGEST else None


def bits_per_byte(nll: float, byte_count: int) -> float:
    """Total loss in nats as bits a byte of UTF-8: nll / (ln 2 · bytes).

    Raises:
        ValueError: there are no bytes, or the loss is negative or not finite.
    """
    if whole(byte_count, "byte_count") < 1:
        raise ValueError(f"bits per byte need at least 1 byte, not {byte_count!r}")
    if finite(nll, "nll") < -_SLACK * byte_count:
        raise ValueError(f"nll is negative: {nll!r}; give a negative log-likelihood, not a log-probability")
    return float(nll) / (math.log(2) * byte_count)
