"""Probabilities against outcomes: Brier score, log loss, calibration errors, reliability, temperature."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import special

from probatum.stats.inputs import (
    Floats,
    Integers,
    Labels,
    binary,
    check_choice,
    check_size,
    counts_of,
    generator,
    probabilities,
    table_of,
    whole,
)
from probatum.stats.mean import mean_interval
from probatum.stats.proportion import wilson_limits
from probatum.stats.quantiles import normal_quantile
from probatum.stats.result import Interval

__all__ = [
    "BrierDecomposition",
    "BrierScore",
    "CalibrationError",
    "CalibrationReport",
    "LogLoss",
    "ReliabilityBin",
    "ReliabilityTable",
    "TemperatureScaling",
    "brier_decomposition",
    "brier_score",
    "calibration_report",
    "expected_calibration_error",
    "negative_log_likelihood",
    "reliability_table",
    "temperature_scale",
]

KINDS = ("uniform", "quantile", "debiased", "classwise", "smooth")
EDGES = ("(lo,hi]", "[lo,hi)")
_BLOCK = 1 << 16
_GRID = 2_000
"""Cells of the grid on which the smooth calibration error is computed."""


def _binary_pairs(p: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats]:
    if np.size(p) == 0 or np.size(p) != np.size(y):
        raise ValueError(
            f"probabilities and labels must be aligned and not empty: {np.size(p)} and {np.size(y)} values"
        )
    return probabilities(p), binary(y)


def _class_table(p: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Integers]:
    """Rows of class probabilities that add up to 1, and the class of each row."""
    table = table_of(p, "probabilities", "(n, classes)")
    probabilities(table.ravel())
    labels = _classes(y, table, "rows of probabilities")
    worst = float(np.abs(table.sum(axis=1) - 1).max())
    if worst > 1e-6:  # noqa: PLR2004 - rounding of float32 softmax
        raise ValueError(f"class probabilities of a row must add up to 1; one is off by {worst:.3g}")
    return table, labels


def _classes(y: npt.ArrayLike, table: Floats, against: str) -> Integers:
    """The class of each row, 0 … classes-1."""
    rows, classes = table.shape
    labels = counts_of(y, "labels (classes)", negative=True)
    check_size(labels if labels.ndim else [labels], rows, "labels", against)
    if labels.ndim != 1 or labels.min() < 0 or labels.max() >= classes:
        raise ValueError(f"labels must be classes 0 … {classes - 1}, one a row")
    return labels


def _is_table(p: npt.ArrayLike) -> bool:
    try:
        return np.ndim(p) == 2  # noqa: PLR2004 - rows × classes
    except ValueError:
        raise ValueError("probabilities must be rows of one length, one number a class") from None


@dataclass(frozen=True, kw_only=True)
class BrierDecomposition:
    """Murphy's decomposition: brier = reliability - resolution + uncertainty + within."""

    brier: float
    reliability: float
    """Squared distance of forecasts from what happened (calibration; 0 is best)."""
    resolution: float
    """How far the groups' rates are from the base rate (larger is better)."""
    uncertainty: float
    """Base rate × (1 - base rate)."""
    within: float
    """What binning forecasts that differ leaves over; 0 where groups are distinct forecasts."""
    groups: int


@dataclass(frozen=True, kw_only=True)
class BrierScore(Interval):
    """Mean squared error of probabilities; 0 is best."""

    decomposition: BrierDecomposition | None
    """`None` for more than two classes."""


def brier_score(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, clusters: Labels | None = None, level: float = 0.95
) -> BrierScore:
    """Brier score, with the interval of its mean over items.

    Args:
        probabilities: Of the label 1, shape (n,) (score in [0, 1]); or of every class, shape (n, classes):
            then the sum over classes is taken (Brier's own form, in [0, 2]).
        labels: 0/1, or classes 0 … classes-1.
        clusters: One label an item.
        level: Confidence level.

    Raises:
        ValueError: sizes that do not match, labels that are not binary, probabilities out of [0, 1].
    """
    if _is_table(probabilities):
        table, classes = _class_table(probabilities, labels)
        squares = np.square(table).sum(axis=1) - 2 * table[np.arange(len(table)), classes] + 1
        found = mean_interval(np.clip(squares, 0, 2), clusters, level=level, bounds=(0, 2))
        return _extended(
            BrierScore, replace(found, estimand="Brier score, sum over classes"), decomposition=None
        )
    p, y = _binary_pairs(probabilities, labels)
    found = mean_interval(np.square(p - y), clusters, level=level, bounds=(0, 1))
    return _extended(
        BrierScore, replace(found, estimand="Brier score"), decomposition=brier_decomposition(p, y)
    )


T = TypeVar("T", bound=Interval)


def _extended(result: type[T], found: Interval, **more: Any) -> T:
    """`found` as a richer result."""
    return result(**{field.name: getattr(found, field.name) for field in fields(Interval)}, **more)


def brier_decomposition(
    probabilities: npt.ArrayLike, labels: npt.ArrayLike, bins: int | None = None
) -> BrierDecomposition:
    """Reliability, resolution and uncertainty over groups of equal forecasts, or over `bins` equal bins.

    Raises:
        ValueError: as `brier_score`.

    Sources: Murphy 1973; Stephenson, Coelho and Jolliffe 2008 for the remainder of binning.
    """
    p, y = _binary_pairs(probabilities, labels)
    if bins is None:
        _, group = np.unique(p, return_inverse=True)
    else:
        group = _uniform_bins(p, whole(bins, "bins", minimum=1), "(lo,hi]")
    counts = np.bincount(group)
    kept = counts > 0
    size = counts[kept]
    forecast = np.bincount(group, p)[kept] / size
    rate = np.bincount(group, y)[kept] / size
    base, n = float(y.mean()), len(y)
    brier = float(np.square(p - y).mean())
    reliability = float(size @ np.square(forecast - rate)) / n
    resolution = float(size @ np.square(rate - base)) / n
    uncertainty = base * (1 - base)
    within = 0.0 if bins is None else brier - (reliability - resolution + uncertainty)
    return BrierDecomposition(
        brier=brier,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within=within,
        groups=len(size),
    )


@dataclass(frozen=True, kw_only=True)
class LogLoss(Interval):
    """Mean negative log-likelihood in nats."""

    infinite: int
    """Items whose label had probability 0."""
    eps: float
    """Probabilities below it were raised to it; 0 if none were."""


def negative_log_likelihood(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    eps: float = 1e-15,
    clusters: Labels | None = None,
    level: float = 0.95,
) -> LogLoss:
    """Mean of -ln(probability of the label), with the interval of its mean over items.

    A label of probability 0 has infinite loss. It is counted in `infinite`, and enters the mean as -ln(eps);
    with `eps=0` the value is then `None`.

    Raises:
        ValueError: as `brier_score`, or an eps outside [0, 0.5).
    """
    if not 0 <= eps < 0.5:  # noqa: PLR2004 - above, the two labels would swap
        raise ValueError(f"eps must lie in [0, 0.5), not {eps!r}")
    if _is_table(probabilities):
        table, classes = _class_table(probabilities, labels)
        given = table[np.arange(len(table)), classes]
    else:
        p, y = _binary_pairs(probabilities, labels)
        given = np.where(y == 1, p, 1 - p)
    infinite = int((given == 0).sum())
    estimand = "mean negative log-likelihood (nats)"
    if infinite and eps == 0:
        note = f"{infinite} of {len(given)} labels have probability 0: the loss is infinite"
        undefined = Interval(value=None, level=level, n=len(given), estimand=estimand, warnings=(note,))
        return _extended(LogLoss, undefined, infinite=infinite, eps=eps)
    raised = int((given < eps).sum())
    found = mean_interval(-np.log(np.maximum(given, eps)), clusters, level=level)
    if raised:
        note = (
            f"{infinite} of {len(given)} labels have probability 0 and {raised - infinite} less than eps: "
            f"each counts as {-math.log(eps):.4g} (eps={eps:g})"
        )
        found = replace(found, warnings=(*found.warnings, note))
    return _extended(
        LogLoss, replace(found, estimand=estimand), infinite=infinite, eps=eps if raised else 0.0
    )


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """One bin of a reliability diagram. Empty bins have counts of 0 and no means."""

    low: float
    high: float
    count: int
    confidence: float | None
    """Mean probability."""
    accuracy: float | None
    """Share of labels 1."""
    accuracy_low: float | None
    """Wilson's limits of the share."""
    accuracy_high: float | None


@dataclass(frozen=True, kw_only=True)
class ReliabilityTable:
    """The bins of a reliability diagram, from low to high probability."""

    bins: tuple[ReliabilityBin, ...]
    kind: str
    edges: str
    n: int
    level: float

    def __iter__(self) -> Iterator[ReliabilityBin]:
        return iter(self.bins)

    def __len__(self) -> int:
        return len(self.bins)

    @property
    def maximum(self) -> float:
        """Largest |confidence - accuracy| over the bins that hold anything (MCE)."""
        return max(
            abs(row.confidence - row.accuracy)
            for row in self.bins
            if row.confidence is not None and row.accuracy is not None
        )


def reliability_table(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    bins: int = 10,
    kind: str = "uniform",
    edges: str = "(lo,hi]",
    level: float = 0.95,
) -> ReliabilityTable:
    """Mean probability and share of labels 1 in each of `bins` bins.

    Args:
        probabilities: Of the label 1, shape (n,).
        labels: 0/1.
        bins: Number of bins.
        kind: `uniform` (edges i/bins, exactly) or `quantile` (equally many items; equal probabilities are
            never parted, so that the order of the input does not matter).
        edges: `(lo,hi]` with 0 in the first bin, or `[lo,hi)` with 1 in the last; for uniform bins.
        level: Of Wilson's limits.

    Raises:
        ValueError: as `brier_score`, or bins < 1.
    """
    p, y = _binary_pairs(probabilities, labels)
    check_choice(kind, ("uniform", "quantile"), "kind")
    check_choice(edges, EDGES, "edges")
    counts, total_p, total_y, low, high = _binned(p, y, whole(bins, "bins", minimum=1), kind, edges)
    z = normal_quantile((1 + level) / 2)
    rows = []
    for i, count in enumerate(counts.tolist()):
        rate = float(total_y[i]) / count if count else None
        limits = (None, None) if rate is None else wilson_limits(rate, count, z)
        rows.append(
            ReliabilityBin(
                low=float(low[i]),
                high=float(high[i]),
                count=count,
                confidence=float(total_p[i]) / count if count else None,
                accuracy=rate,
                accuracy_low=limits[0],
                accuracy_high=limits[1],
            )
        )
    return ReliabilityTable(bins=tuple(rows), kind=kind, edges=edges, n=len(p), level=level)


def _binned(
    p: Floats, y: Floats, bins: int, kind: str, edges: str
) -> tuple[Integers, Floats, Floats, Floats, Floats]:
    """Count, Σ probability, Σ label, lower and upper edge of each bin."""
    if kind == "quantile":
        return _quantile_sums(p, y, bins)
    counts, total_p, total_y = np.zeros(bins, np.int64), np.zeros(bins), np.zeros(bins)
    for start in range(0, len(p), _BLOCK):
        part, hits = p[start : start + _BLOCK], y[start : start + _BLOCK]
        index = _uniform_bins(part, bins, edges)
        counts += np.bincount(index, minlength=bins)
        total_p += np.bincount(index, part, minlength=bins)
        total_y += np.bincount(index, hits, minlength=bins)
    border = np.arange(bins + 1) / bins
    return counts, total_p, total_y, border[:-1], border[1:]


def _uniform_bins(p: Floats, bins: int, edges: str) -> Integers:
    """The bin of each probability between the exact edges i/bins.

    int(0.29 * 100) is 28, and np.linspace puts an edge at 0.30000000000000004: so the product only guesses,
    and a comparison with i/bins decides.
    """
    border = np.arange(bins + 1) / bins
    if edges == "(lo,hi]":
        index = np.ceil(p * bins).astype(np.int64) - 1
        np.clip(index, 0, bins - 1, out=index)
        index -= (p <= border[index]) & (index > 0)
        index += (p > border[index + 1]) & (index < bins - 1)
        return index
    index = np.minimum((p * bins).astype(np.int64), bins - 1)
    index -= p < border[index]
    index += (p >= border[index + 1]) & (index < bins - 1)
    return index


def _quantile_sums(p: Floats, y: Floats, bins: int) -> tuple[Integers, Floats, Floats, Floats, Floats]:
    order = np.argsort(p, kind="stable")
    ordered, hits = p[order], y[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    starts = np.cumsum([0, *(len(part) for part in np.array_split(np.empty(len(p), np.int8), bins))])[:-1]
    group = np.searchsorted(starts[starts < len(p)], first, side="right") - 1
    begins = first[np.flatnonzero(np.r_[True, np.diff(group) > 0])]
    ends = np.r_[begins[1:], len(p)]
    counts = ends - begins
    return (
        counts,
        np.add.reduceat(ordered, begins),
        np.add.reduceat(hits, begins),
        ordered[begins],
        ordered[ends - 1],
    )


@dataclass(frozen=True, kw_only=True)
class CalibrationError(Interval):
    """A calibration error. It has no interval of its own: the estimate itself is biased upward."""

    kind: str
    bins: int | None
    """`None` for the smooth error."""
    edges: str | None
    maximum: float | None
    """Largest error of a bin (MCE)."""
    bandwidth: float | None = None
    """σ of the smooth error's kernel."""
    by_class: tuple[float, ...] = ()


def expected_calibration_error(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    bins: int = 10,
    kind: str = "uniform",
    edges: str = "(lo,hi]",
) -> CalibrationError:
    """Mean distance of stated probability and observed rate.

    Args:
        probabilities: Of the label 1, shape (n,); or of every class, shape (n, classes): then the largest one
            against whether it is right, or for `classwise` each class against the rest, averaged.
        labels: 0/1, or classes 0 … classes-1.
        bins: Number of bins.
        kind: `uniform`, `quantile` (equally many items a bin, ties together), `debiased` (uniform bins less
            the bias that sampling noise gives |difference|, in the normal approximation: most of it where
            forecasts are off, some 40 % of it where they are calibrated), `classwise` or
            `smooth` (reflected Gaussian kernel whose width equals the error; no bins).
        edges: As in `reliability_table`.

    Raises:
        ValueError: as `brier_score`, or bins < 1.

    Sources: Guo et al. 2017; Kumar, Liang and Ma 2019 (debiased); Nixon et al. 2019 (classwise);
    Błasiok and Nakkiran 2023, arXiv:2309.12236 (smooth).
    """
    check_choice(kind, KINDS, "kind")
    check_choice(edges, EDGES, "edges")
    bins = whole(bins, "bins", minimum=1)
    if _is_table(probabilities):
        table, classes = _class_table(probabilities, labels)
        if kind == "classwise":
            return _classwise(table, classes, bins, edges)
        top = table.argmax(axis=1)
        p, y = table[np.arange(len(table)), top], (top == classes).astype(np.float64)
    elif kind == "classwise":
        p, y = _binary_pairs(probabilities, labels)
        return _classwise(np.column_stack([1 - p, p]), y.astype(np.int64), bins, edges)
    else:
        p, y = _binary_pairs(probabilities, labels)
    if kind == "smooth":
        value, bandwidth = _smooth_error(p, y)
        return _error(value, len(p), kind, bandwidth=bandwidth)
    counts, total_p, total_y, _, _ = _binned(
        p, y, bins, "quantile" if kind == "quantile" else "uniform", edges
    )
    kept = counts > 0
    size = counts[kept]
    gaps = np.abs(total_p[kept] - total_y[kept]) / size
    value = float(size @ gaps) / len(p)
    if kind == "debiased":
        rate = total_y[kept] / size
        value = max(0.0, value - float(size @ _folded_bias(gaps, np.sqrt(rate * (1 - rate) / size))) / len(p))
    return _error(value, len(p), kind, bins=bins, edges=edges, maximum=float(gaps.max()))


def _error(value: float, n: int, kind: str, **more: Any) -> CalibrationError:
    note = "binned and smooth calibration errors are biased upward and have no interval here"
    found = Interval(value=value, method=kind, n=n, estimand=f"{kind} calibration error", warnings=(note,))
    return _extended(
        CalibrationError, found, **{"kind": kind, "bins": None, "edges": None, "maximum": None, **more}
    )


def _classwise(table: Floats, classes: Integers, bins: int, edges: str) -> CalibrationError:
    errors = [
        float(
            expected_calibration_error(table[:, k], (classes == k).astype(np.float64), bins, "uniform", edges)
        )
        for k in range(table.shape[1])
    ]
    value = math.fsum(errors) / len(errors)
    return _error(value, len(table), "classwise", bins=bins, edges=edges, by_class=tuple(errors))


def _folded_bias(mean: Floats, sd: Floats) -> Floats:
    """E|N(mean, sd²)| - mean: what noise of size sd adds to an absolute difference."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean / sd
        noisy = sd * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + mean * special.erf(
            ratio / math.sqrt(2)
        )
    return np.where(sd > 0, noisy - mean, 0.0)


def _smooth_error(p: Floats, y: Floats) -> tuple[float, float]:
    """The σ at which the error smoothed by a kernel of width σ equals σ, and that error."""
    position = p * _GRID - 0.5
    left = np.clip(np.floor(position).astype(np.int64), 0, _GRID - 1)
    right = np.minimum(left + 1, _GRID - 1)
    share = np.clip(position - left, 0, 1)
    residual = (y - p) / len(p)
    signal = np.bincount(left, residual * (1 - share), minlength=_GRID)
    signal += np.bincount(right, residual * share, minlength=_GRID)
    # reflection at 0 and 1 is the even extension of period 2: the kernel then acts as a product
    spectrum = np.fft.rfft(np.r_[signal, signal[::-1]])
    frequency = np.arange(len(spectrum)) * math.pi

    def smoothed(sigma: float) -> float:
        kernel = np.exp(-0.5 * (frequency * sigma) ** 2)
        return float(np.abs(np.fft.irfft(spectrum * kernel, 2 * _GRID)[:_GRID]).sum())

    low, high = 1e-4, 1.0
    while high - low > 1e-6:  # noqa: PLR2004 - far below the grid
        middle = (low + high) / 2
        low, high = (low, middle) if smoothed(middle) < middle else (middle, high)
    return smoothed(high), high


@dataclass(frozen=True, kw_only=True)
class TemperatureScaling:
    """A temperature that fits logits to labels; divide logits by it."""

    temperature: float | None
    """`None` where the likelihood has no maximum; then `warnings` says why."""
    nll_before: float
    """Mean negative log-likelihood at temperature 1."""
    nll: float | None
    """At the fitted temperature, on the data it was fitted to (optimistic)."""
    nll_held_out: float | None
    """Each fold at the temperature of the other folds; `None` without `cv`."""
    ece_before: float
    """Top-label error, 10 uniform bins, at temperature 1."""
    ece_held_out: float | None
    folds: tuple[float, ...]
    """Temperatures fitted without each fold."""
    n: int
    seed: int | None
    warnings: tuple[str, ...] = ()


def temperature_scale(
    logits: npt.ArrayLike, labels: npt.ArrayLike, cv: int | None = None, seed: int = 0
) -> TemperatureScaling:
    """Fits one temperature by maximum likelihood.

    Args:
        logits: Shape (n, classes).
        labels: Classes 0 … classes-1.
        cv: Folds of the cross-fit that measures what it brings on data it did not see.
        seed: Of the assignment to folds.

    Raises:
        ValueError: sizes that do not match, logits that are not finite, fewer items than folds.

    Source: Guo et al. 2017, section 4.2.
    """
    table = table_of(logits, "logits", "(n, classes)")
    classes = _classes(labels, table, "rows of logits")
    inverse, warnings = _fit_inverse(table, classes)
    folds: tuple[float, ...] = ()
    held_out = None
    if cv is not None:
        folds, held_out, fold_warnings = _cross_fit(table, classes, whole(cv, "cv", minimum=2), seed)
        warnings = (*warnings, *fold_warnings)
    before = special.softmax(table, axis=1)
    return TemperatureScaling(
        temperature=None if inverse is None else 1 / inverse,
        nll_before=_mean_nll(table, classes),
        nll=None if inverse is None else _mean_nll(table * inverse, classes),
        nll_held_out=None if held_out is None else _mean_nll(held_out, classes),
        ece_before=float(expected_calibration_error(before, classes)),
        ece_held_out=None
        if held_out is None
        else float(expected_calibration_error(special.softmax(held_out, axis=1), classes)),
        folds=folds,
        n=len(table),
        seed=None if cv is None else seed,
        warnings=warnings,
    )


def _mean_nll(logits: Floats, classes: Integers) -> float:
    chosen = logits[np.arange(len(logits)), classes]
    return float((special.logsumexp(logits, axis=1) - chosen).mean())


def _fit_inverse(logits: Floats, classes: Integers) -> tuple[float | None, tuple[str, ...]]:
    """1/T: the likelihood is concave in it, so that its slope has one root."""
    centred = logits - logits.mean(axis=1, keepdims=True)
    chosen = centred[np.arange(len(centred)), classes]

    def slope(inverse: float) -> float:
        return float(((special.softmax(centred * inverse, axis=1) * centred).sum(axis=1) - chosen).mean())

    if slope(0.0) >= 0:
        return None, (
            "the logits do not favour the labels: every temperature makes it worse than a uniform guess",
        )
    if (chosen >= centred.max(axis=1)).all():
        return None, (
            "every label has the largest logit: the likelihood grows as the temperature falls to 0",
        )
    low, high = 0.0, 1.0
    while slope(high) < 0:
        low, high = high, high * 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) >= 0 else (middle, high)
    return (low + high) / 2, ()


def _cross_fit(
    logits: Floats, classes: Integers, cv: int, seed: int
) -> tuple[tuple[float, ...], Floats, tuple[str, ...]]:
    if cv > len(logits):
        raise ValueError(f"{cv} folds need at least {cv} items, and there are {len(logits)}")
    fold = generator(seed).permutation(len(logits)) % cv
    scaled, temperatures, warnings = logits.copy(), [], []
    for part in range(cv):
        inverse, why = _fit_inverse(logits[fold != part], classes[fold != part])
        if inverse is None:
            warnings.append(f"fold {part} keeps temperature 1: {why[0]}")
            inverse = 1.0
        temperatures.append(1 / inverse)
        scaled[fold == part] *= inverse
    return tuple(temperatures), scaled, tuple(warnings)


@dataclass(frozen=True, kw_only=True)
class CalibrationReport:
    """What one prints of a probability forecast."""

    brier: BrierScore
    nll: LogLoss
    ece: CalibrationError
    debiased: CalibrationError
    smooth: CalibrationError
    table: ReliabilityTable
    base_rate: float
    mean_probability: float
    n: int


def calibration_report(
    probabilities: npt.ArrayLike,
    labels: npt.ArrayLike,
    bins: int = 10,
    clusters: Labels | None = None,
    level: float = 0.95,
) -> CalibrationReport:
    """Brier score, log loss, three calibration errors and the reliability table of 0/1 labels.

    Raises:
        ValueError: as `brier_score`, or bins < 1.
    """
    p, y = _binary_pairs(probabilities, labels)
    bins = whole(bins, "bins", minimum=1)
    return CalibrationReport(
        brier=brier_score(p, y, clusters, level),
        nll=negative_log_likelihood(p, y, clusters=clusters, level=level),
        ece=expected_calibration_error(p, y, bins),
        debiased=expected_calibration_error(p, y, bins, "debiased"),
        smooth=expected_calibration_error(p, y, kind="smooth"),
        table=reliability_table(p, y, bins, level=level),
        base_rate=float(y.mean()),
        mean_probability=float(p.mean()),
        n=len(p),
    )
