"""Variance of a weighted mean when observations come in clusters: CR0 … CR3, and the degrees of freedom.

The estimate is Σ pᵢyᵢ with shares p that add up to 1. Strata are pools with a fixed share each: residuals
are taken from the mean of the pool. With uᵍ = Σ pᵢrᵢ over the cluster g, the variance is Σ xᵍ(uᵍ)².
For CR2, xᵍ makes E[xᵍ(uᵍ)²] exact when observations are independent with equal variance; for the plain
mean it is 1/(1 - mᵍ/N). The degrees of freedom are Satterthwaite's under the same working model.

Sources: Bell and McCaffrey, Survey Methodology 2002; Imbens and Kolesár, REStat 2016; Pustejovsky and
Tipton, JBES 2018. For a mean their matrices collapse to the sums below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from probatum.stats.inputs import Floats, Integers, sum_by

__all__ = ["METHODS", "ClusterVariance", "Sampling", "cluster_variance"]

METHODS = ("CR0", "CR1", "CR2", "CR3")
_DENSE_CELLS = 20_000_000
"""Largest clusters × strata for which the exact degrees of freedom of crossed strata are computed."""


@dataclass(frozen=True)
class Sampling:
    """How the observations were drawn: each has a cluster, a pool (stratum) and a share of the mean."""

    shares: Floats
    clusters: Integers
    cluster_count: int
    pools: Integers
    pool_count: int


@dataclass(frozen=True)
class ClusterVariance:
    """The estimated variance of the mean, and the degrees of freedom of its estimate."""

    variance: float
    df: float
    """Infinite for CR0, which goes with the normal law."""
    contributions: Floats
    """Uncorrected contribution uᵍ of every cluster, of shape (clusters,)."""
    largest_share: float
    """Share of the mean that the largest cluster carries."""


def cluster_variance(values: Floats, sampling: Sampling, method: str) -> ClusterVariance:
    """Variance of Σ sharesᵢ·valuesᵢ. Every pool must hold at least two clusters."""
    cells = _Cells.of(values, sampling)
    expected = cells.expected_square()
    ratio = cells.square_shares_of_cluster() / expected
    factor = {"CR0": 0.0, "CR1": 0.0, "CR2": 1.0, "CR3": 2.0}[method]
    squares = np.square(cells.contributions()) * ratio**factor
    if method == "CR1":
        squares = squares * cells.small_sample_factor()
    df = math.inf if method == "CR0" else float(sampling.cluster_count - cells.lost_degrees())
    if method == "CR2":
        df = cells.satterthwaite(ratio)
    return ClusterVariance(
        variance=float(squares.sum()),
        df=df,
        contributions=cells.contributions(),
        largest_share=float(np.bincount(sampling.clusters, sampling.shares).max()),
    )


@dataclass(frozen=True)
class _Cells:
    """Sums over the cells cluster × pool that occur. In nested designs every cluster is in one cell."""

    cluster: Integers
    pool: Integers
    clusters: int
    pools: int
    contribution: Floats
    """Σ share × residual."""
    square_share: Floats
    """q: Σ share² of the cell."""
    relative_share: Floats
    """π: share of the pool that the cell carries."""
    pool_square: Floats
    """Q: Σ share² of the pool, of shape (pools,)."""

    @classmethod
    def of(cls, values: Floats, sampling: Sampling) -> _Cells:
        shares, pools = sampling.shares, sampling.pools
        weight = sum_by(pools, shares, sampling.pool_count)
        means = sum_by(pools, shares * values, sampling.pool_count) / weight
        key = sampling.clusters * sampling.pool_count + pools
        if sampling.pool_count == 1 and sampling.cluster_count == len(values):
            unique, inverse = key, np.arange(len(values))
            if not np.array_equal(key, inverse):
                unique, inverse = np.unique(key, return_inverse=True)
        else:
            unique, inverse = np.unique(key, return_inverse=True)
        size = len(unique)
        cluster, pool = np.divmod(unique, sampling.pool_count)
        share = sum_by(inverse, shares, size)
        return cls(
            cluster=cluster,
            pool=pool,
            clusters=sampling.cluster_count,
            pools=sampling.pool_count,
            contribution=sum_by(inverse, shares * (values - means[pools]), size),
            square_share=sum_by(inverse, shares * shares, size),
            relative_share=share / weight[pool],
            pool_square=sum_by(pools, shares * shares, sampling.pool_count),
        )

    @property
    def nested(self) -> bool:
        return len(self.cluster) == self.clusters

    def _by_cluster(self, values: Floats) -> Floats:
        return sum_by(self.cluster, values, self.clusters)

    def contributions(self) -> Floats:
        return self._by_cluster(self.contribution)

    def square_shares_of_cluster(self) -> Floats:
        return self._by_cluster(self.square_share)

    def expected_square(self) -> Floats:
        """E[u²]/σ² of each cluster when observations are independent: q - 2πq + π²Q."""
        q, pi, total = self.square_share, self.relative_share, self.pool_square[self.pool]
        return self._by_cluster(q - 2 * pi * q + pi * pi * total)

    def small_sample_factor(self) -> Floats:
        """G/(G-1) of the pool; of the whole where clusters cross pools."""
        if not self.nested:
            return np.full(self.clusters, self.clusters / (self.clusters - 1))
        size = np.bincount(self.pool, minlength=self.pools)
        factor = np.empty(self.clusters)
        factor[self.cluster] = (size / (size - 1.0))[self.pool]
        return factor

    def lost_degrees(self) -> int:
        return self.pools if self.nested else 1

    def satterthwaite(self, ratio: Floats) -> float:
        """(trace M)² / ‖M‖², where M is the covariance of the corrected contributions."""
        trace = float(self.pool_square.sum())
        diagonal = float(np.square(self.square_shares_of_cluster()).sum())
        if self.nested:
            return trace * trace / (diagonal + self._off_diagonal_nested(ratio))
        if self.clusters * self.pools > _DENSE_CELLS:
            return float(self.clusters - 1)
        return trace * trace / (diagonal + self._off_diagonal_crossed(ratio))

    def _off_diagonal_nested(self, ratio: Floats) -> float:
        """Σ over pairs g ≠ h of one pool of xᵍxʰ(πʰqᵍ + πᵍqʰ - πᵍπʰQ)², through sums alone."""
        x, q, pi, total = ratio[self.cluster], self.square_share, self.relative_share, self.pool_square

        def summed(terms: Floats) -> Floats:
            return sum_by(self.pool, terms, self.pools)

        a, b, c = summed(x * pi * pi), summed(x * q * q), summed(x * pi * q)
        every_pair = 2 * a * b + np.square(total * a) + 2 * c * c - 4 * total * a * c
        own = summed(np.square(x * (2 * pi * q - pi * pi * total[self.pool])))
        return float((every_pair - own).sum())

    def _off_diagonal_crossed(self, ratio: Floats) -> float:
        """The same where clusters cross pools, through matrices of pools × pools."""
        q, pi = np.zeros((2, self.clusters, self.pools))
        q[self.cluster, self.pool] = self.square_share
        pi[self.cluster, self.pool] = self.relative_share
        left = np.hstack([-q, -pi, pi * self.pool_square])
        right = np.hstack([pi, q, pi])
        scaled = ratio[:, np.newaxis]
        every_pair = float(np.vdot((left * scaled).T @ left, ((right * scaled).T @ right).T))
        own = float(np.square(ratio * np.einsum("gk,gk->g", left, right)).sum())
        return every_pair - own
