"""Drawing whole clusters with return, as sums.

Clusters with equal sums are one type. A resample of G clusters is then a draw of how often each type
occurs, and its statistic follows from Σ counts × sums: the law is that of drawing clusters one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import special

from probatum.stats.inputs import Floats, Integers
from probatum.stats.threads import one_blas_thread

__all__ = ["distinct_rows", "draw_counts", "resampled_sums"]

_ELEMENTS = 1 << 20
"""Array elements worked on at once: 8 MB of float64."""
_DRAWS = 1 << 18
"""Single draws worked on at once."""
_FEW = 8
"""Up to so many types a multinomial draw is quickest."""
_COMMON = 10
"""A type that occurs more often is drawn as a count, a rarer one cluster by cluster."""
_SHORT = 1.5
"""Counts are drawn this many standard deviations short, and then filled up cluster by cluster."""


def distinct_rows(rows: Floats) -> tuple[Floats, Integers]:
    """Distinct rows and how often each occurs, the commonest first."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    starts = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    counts = np.diff(np.r_[starts, len(rows)])
    by_count = np.argsort(-counts, kind="stable")
    return ordered[starts[by_count]], counts[by_count]


def draw_counts(counts: Integers, samples: int, random: np.random.Generator) -> Iterator[Integers]:
    """Resamples of a table of counts, in blocks of shape (≤ samples, cells): multinomial of the same size."""
    total = int(counts.sum())
    step = max(1, _ELEMENTS // len(counts))
    for start in range(0, samples, step):
        yield random.multinomial(total, counts / total, size=min(step, samples - start))


def resampled_sums(columns: Floats, counts: Integers, samples: int, random: np.random.Generator) -> Floats:
    """Column sums of resamples of Σ counts rows, of shape (samples, columns).

    `columns` are the sums of each type, shape (types, columns), the commonest type first.

    Counts of the common types are independent Poisson draws; given their total they are multinomial, and
    what the total falls short is drawn cluster by cluster. (Totals that are too large are drawn again; that
    changes nothing, since given *any* total the counts are multinomial.)
    """
    sums = np.zeros((samples, columns.shape[1]))
    if len(counts) <= _FEW:
        with one_blas_thread():
            done = 0
            for block in draw_counts(counts, samples, random):
                sums[done : done + len(block)] = block @ columns
                done += len(block)
        return sums
    total = int(counts.sum())
    common = int((counts > _COMMON).sum())
    shared = int(counts[:common].sum())
    rows = np.repeat(np.arange(len(counts)), counts)
    wanted = np.full(samples, total if common == len(counts) else 0)
    if 0 < common < len(counts):
        wanted = random.binomial(total, shared / total, samples)
    if common:
        drawn = _poisson_sums(columns[:common], counts[:common], wanted, sums, random)
        _add_single(sums, columns[rows[:shared]], wanted - drawn, random)
    if common < len(counts):
        _add_single(sums, columns[rows[shared:]], total - wanted, random)
    return sums


def _poisson_sums(
    columns: Floats, counts: Integers, wanted: Integers, sums: Floats, random: np.random.Generator
) -> Integers:
    """Adds Poisson counts of each type to `sums`; how many clusters that were, never more than wanted."""
    size = int(counts.sum())
    means = max(0.0, size - _SHORT * size**0.5) * counts / size
    tables = [special.pdtr(np.arange(int(mean + 12 * mean**0.5 + 20)), mean) for mean in means.tolist()]
    total = np.zeros(len(wanted), np.int64)
    rows = np.arange(len(wanted))
    while rows.size:
        found, part = np.zeros(rows.size, np.int64), np.zeros((columns.shape[1], rows.size))
        for values, table in zip(columns, tables, strict=True):
            drawn = table.searchsorted(random.random(rows.size))
            found += drawn
            part += values[:, np.newaxis] * drawn
        fits = found <= wanted[rows]
        total[rows[fits]] = found[fits]
        sums[rows[fits]] += part[:, fits].T
        rows = rows[~fits]
    return total


def _add_single(sums: Floats, rows: Floats, sizes: Integers, random: np.random.Generator) -> None:
    """Adds `sizes` rows to each resample, drawn one by one."""
    width = rows.shape[1]
    padded = np.column_stack([rows, np.zeros((len(rows), width % 2))])
    pairs = np.ascontiguousarray((padded[:, 0::2] + 1j * padded[:, 1::2]).T)  # two sums in one pass
    kind: npt.DTypeLike = np.uint16 if len(rows) < 1 << 16 else np.int64
    step = max(1, _DRAWS // max(1, int(sizes.max(initial=0))))
    for start in range(0, len(sums), step):
        block = sizes[start : start + step]
        some = np.flatnonzero(block)
        if not some.size:
            continue
        starts = (np.cumsum(block) - block)[some]
        drawn = random.integers(0, len(rows), int(block.sum()), dtype=kind)
        for column, values in enumerate(pairs):
            part = np.add.reduceat(values.take(drawn), starts)
            sums[start + some, 2 * column] += part.real
            if 2 * column + 1 < width:
                sums[start + some, 2 * column + 1] += part.imag
