"""Several samples an item: item means, and where the variance lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import Floats, Labels, encode, finite, picked, scores_of, sum_by, whole

__all__ = ["ItemMeans", "item_means", "resampling_variance_ratio"]


@dataclass(frozen=True, kw_only=True)
class ItemMeans:
    """The mean score of each item over its samples, and the split of the variance."""

    means: Floats
    """In the order in which the items first occur, shape (items,)."""
    counts: npt.NDArray[np.int64]
    items: tuple[object, ...]
    within: float | None
    """Variance of the samples of one item, pooled; `None` where no item has two samples."""
    between: float | None
    """Variance of the true item means: that of `means` less the sampling noise in it, at least 0; `None` as
    above, or with one item."""

    def standard_error(self, k: int | None = None) -> float | None:
        """Of the mean over items at k samples an item (now: the harmonic mean); `None` where unknown.

        With k growing it falls to √(between/items): more samples cannot replace more items.
        """
        if self.between is None or self.within is None:
            return None
        samples = 1 / float(np.mean(1 / self.counts)) if k is None else whole(k, "k", minimum=1)
        return math.sqrt((self.between + self.within / samples) / len(self.means))


def item_means(scores: npt.ArrayLike, items: Labels) -> ItemMeans:
    """Means over the samples of each item: what `mean_interval` and `paired_difference` take.

    The spread of the item means already contains the sampling noise of the answers, so that nothing is added
    to their standard error.

    Args:
        scores: One score a sample, shape (samples,).
        items: The item of each sample.

    Raises:
        ValueError: sizes that do not match, or scores that are not finite.
    """
    values = scores_of(scores)
    sorted_codes, count = encode(items, len(values), "items")
    first = np.full(count, len(values))
    np.minimum.at(first, sorted_codes, np.arange(len(values)))
    renumber = np.empty(count, np.int64)
    renumber[np.argsort(first, kind="stable")] = np.arange(count)
    codes = renumber[sorted_codes]
    counts = np.bincount(codes, minlength=count)
    means = sum_by(codes, values, count) / counts
    squares = float(np.square(values - means[codes]).sum())
    spare = len(values) - count
    within = squares / spare if spare else None
    between = None
    if within is not None and count > 1:
        noise = within * float(np.mean(1 / counts))
        between = max(0.0, float(means.var(ddof=1)) - noise)
    labels = tuple(picked(items, np.sort(first)) or ())
    return ItemMeans(means=means, counts=counts, items=labels, within=within, between=between)


def resampling_variance_ratio(between: float, within: float, k: int) -> float:
    """Variance of a mean over items with k samples an item, over that with one: (b + w/k)/(b + w).

    Source: Miller 2024, arXiv:2411.00640, section 3.1.
    """
    k = whole(k, "k", minimum=1)
    between, within = finite(between, "between"), finite(within, "within")
    if between < 0 or within < 0 or between + within <= 0:
        raise ValueError(f"variances must not be negative or both 0: {between!r}, {within!r}")
    return (between + within / k) / (between + within)
