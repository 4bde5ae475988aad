"""How fast the statistics are, against the code that one writes down first.

    python benchmarks/statistics_speed.py [--quick]

Ratios compare two ways of doing the same in one run on one machine, by the clock. Slow references run on a
part of the work and are scaled up; the scaled ones are named. Figures in seconds are CPU seconds, so that
they do not depend on who else uses the machine. The last line is strict JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from math import comb

import numpy as np

from probatum import stats
from probatum.stats.battles import pair_matrix
from probatum.stats.fitting import fit_pairs

ITEMS, RESAMPLES = 14_042, 10_000
BATTLES, MODELS = 1_482_647, 130


def best_of(
    call: Callable[[], object], times: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of the fastest of some calls: the others waited for the machine."""
    taken = []
    for _ in range(times):
        start = clock()
        call()
        taken.append(clock() - start)
    return min(taken)


def plain_bootstrap(deltas: list[float], clusters: list[int], resamples: int, seed: int) -> list[float]:
    """Cluster resampling as one writes it down first."""
    grouped: dict[int, list[float]] = {}
    for delta, cluster in zip(deltas, clusters, strict=True):
        grouped.setdefault(cluster, []).append(delta)
    keys, source, means = list(grouped), random.Random(seed), []
    for _ in range(resamples):
        drawn = [value for _ in keys for value in grouped[source.choice(keys)]]
        means.append(sum(drawn) / len(drawn))
    return means


def bootstrap_figures(figures: dict[str, object], quick: bool) -> None:
    draw = np.random.default_rng(0)
    a = (draw.random(ITEMS) < 0.62).astype(float)
    b = np.where(draw.random(ITEMS) < 0.85, a, 1 - a)
    for clusters, reference in ((57, 100), (3_000, 20), (ITEMS, 10)):
        names = np.arange(ITEMS) if clusters == ITEMS else np.sort(draw.integers(0, clusters, ITEMS))
        label = "iid" if clusters == ITEMS else str(clusters)
        runs = reference // 2 if quick else reference
        deltas, codes = (a - b).tolist(), names.tolist()
        slow = best_of(lambda: plain_bootstrap(deltas, codes, runs, 1), 2) * RESAMPLES / runs  # noqa: B023
        given = None if clusters == ITEMS else names
        fast = best_of(lambda: stats.paired_cluster_bootstrap(a, b, given, samples=RESAMPLES), 5)  # noqa: B023
        tracemalloc.start()
        stats.paired_cluster_bootstrap(a, b, given, samples=RESAMPLES)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        figures[f"ratio_bootstrap_{label}"] = slow / fast
        figures[f"bootstrap_{label}_peak_mb"] = peak
        print(
            f"bootstrap, {label:>5} clusters: {fast:.4f} s, plain {slow:.1f} s (scaled), peak {peak:.1f} MB"
        )
    figures["bootstrap_bit_identical"] = same_draws(a - b, np.sort(draw.integers(0, 57, ITEMS)))


def same_draws(deltas: np.ndarray, names: np.ndarray) -> bool:
    """Whether sums give the very bits that concatenated clusters give."""
    count = len(np.unique(names))
    draws = np.random.default_rng(3).integers(0, count, (50, count))
    members = [deltas[names == name].tolist() for name in np.unique(names)]
    plain = []
    for row in draws:
        values = [value for i in row for value in members[i]]
        plain.append(sum(values) / len(values))
    return stats.resampled_means(deltas, names, draws).tolist() == plain


def simulated_battles() -> stats.Battles:
    draw = np.random.default_rng(0)
    strength = draw.normal(0, 0.7, MODELS)
    share = draw.exponential(1, MODELS)
    first = draw.choice(MODELS, BATTLES, p=share / share.sum())
    second = (first + draw.integers(1, MODELS, BATTLES)) % MODELS
    wins = draw.random(BATTLES) < 1 / (1 + np.exp(strength[second] - strength[first]))
    score = np.where(draw.random(BATTLES) < 0.2, 0.5, wins.astype(float))
    return stats.Battles.of(first, second, score)


def ranking_figures(figures: dict[str, object], quick: bool) -> None:
    battles = simulated_battles()

    def count() -> np.ndarray:
        wins, ties = pair_matrix(battles)
        return wins + ties / 2

    def fit() -> np.ndarray:
        return fit_pairs(count(), None).parameters

    pairs = count()
    solving, seconds = best_of(lambda: fit_pairs(pairs, None), 20), best_of(fit, 20)
    theta = fit()
    figures["bradley_terry_fit_seconds"] = best_of(fit, 5, time.process_time)
    figures["bradley_terry_error"] = distance_to_maximum(battles, theta)
    figures["bradley_terry_sandwich_seconds"] = best_of(
        lambda: stats.bradley_terry(battles), 2, time.process_time
    )
    rounds = 100 if quick else 1_000
    taken = (
        best_of(lambda: stats.bradley_terry(battles, samples=rounds), 1, time.process_time) * 1_000 / rounds
    )
    figures["bradley_terry_1000_rounds_seconds"] = taken
    print(f"Bradley-Terry, {BATTLES} battles: fit {seconds:.4f} s, 1,000 bootstrap rounds {taken:.1f} s")
    slow = logistic_regression_seconds(battles)
    if slow is None:
        print("scikit-learn is not installed: no ratio")
        return
    building, solved = slow
    figures["ratio_bradley_terry_sklearn"] = solved / solving
    figures["ratio_bradley_terry_sklearn_from_battles"] = (building + solved) / seconds
    print(f"  the fit alone, after the battles are counted: {solving:.4f} s")
    print(f"  scikit-learn's logistic regression on one row a battle: {building:.1f} s to build its rows")
    print(f"  and {solved:.1f} s to fit them")


def distance_to_maximum(battles: stats.Battles, theta: np.ndarray) -> float:
    """Largest step that Newton in extended precision still takes from the fit."""
    wins, ties = pair_matrix(battles)
    wins = (wins + ties / 2).astype(np.longdouble)
    games = wins + wins.T
    p = 1 / (1 + np.exp(theta - theta[:, np.newaxis].astype(np.longdouble)))
    gradient = (wins.sum(axis=1) - (games * p).sum(axis=1)).astype(np.float64)
    weights = (games * p * (1 - p)).astype(np.float64)
    np.fill_diagonal(weights, 0)
    hessian = np.diag(weights.sum(axis=1)) - weights + 1 / MODELS
    return float(np.abs(np.linalg.solve(hessian, gradient)).max())


def logistic_regression_seconds(battles: stats.Battles) -> tuple[float, float] | None:
    """One sparse row a battle, ties as a win and a loss (the usual notebook): to build the rows, to fit."""
    try:
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        return None
    n = len(battles)

    def build() -> tuple[csr_matrix, np.ndarray]:
        twice = np.r_[np.arange(n), np.arange(n)]
        first, second = battles.first[twice], battles.second[twice]
        score = battles.score[twice]
        score[score == 0.5] = np.r_[np.ones(n), np.zeros(n)][score == 0.5]
        rows = np.arange(2 * n)
        cells = (np.r_[rows, rows], np.r_[first, second])
        return csr_matrix((np.r_[np.ones(2 * n), -np.ones(2 * n)], cells), (2 * n, MODELS)), score

    design, score = build()
    model = LogisticRegression(fit_intercept=False, C=np.inf, tol=1e-6, max_iter=1_000)
    return best_of(build, 2), best_of(lambda: model.fit(design, score), 2)


def pass_at_k_figures(figures: dict[str, object]) -> None:
    draw = np.random.default_rng(0)
    n = draw.integers(1, 201, 10**6)
    c, k = draw.integers(0, n + 1), draw.integers(1, n + 1)
    seconds = best_of(lambda: stats.pass_at_k(n, c, k), 5, time.process_time)
    values = stats.pass_at_k(n, c, k)
    worst = 0.0
    for i in range(5_000):
        size, hits, draws = int(n[i]), int(c[i]), int(k[i])
        exact = 1 - Fraction(comb(size - hits, draws), comb(size, draws))
        if exact:
            worst = max(worst, float(abs(Fraction(float(values[i])) - exact) / exact))
    figures["pass_at_k_million_seconds"] = seconds
    figures["pass_at_k_relative_error"] = worst
    print(f"pass@k, 10^6 triples: {seconds:.3f} s, relative error {worst:.1e}")


def calibration_figures(figures: dict[str, object]) -> None:
    draw = np.random.default_rng(0)
    p = draw.random(10**7)
    y = (draw.random(10**7) < p).astype(float)
    seconds = best_of(lambda: stats.expected_calibration_error(p, y, 15), 3, time.process_time)
    figures["ece_ten_million_seconds"] = seconds
    print(f"ECE, 10^7 points, 15 bins: {seconds:.3f} s")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="smaller references and 100 bootstrap rounds, scaled"
    )
    quick = parser.parse_args().quick
    figures: dict[str, object] = {}
    pass_at_k_figures(figures)
    calibration_figures(figures)
    bootstrap_figures(figures, quick)
    ranking_figures(figures, quick)
    print(json.dumps(figures, allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
