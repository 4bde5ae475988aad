# ruff: noqa: E501 - the rows are a table, one a line
"""How often the default intervals hold the truth, by simulation.

    python benchmarks/coverage.py [--quick] [--write docs/statistics.md]

Every row is one interval on one way of making data whose truth is known. `--write` replaces the table
between the marks in a file. The last line is strict JSON: row → coverage.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from probatum import stats

START, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
Maker = Callable[[np.random.Generator], tuple[stats.Interval, float]]


@dataclass(frozen=True)
class Row:
    """One interval on one way of making data."""

    name: str
    interval: str
    data: str
    make: Maker
    weight: float = 1.0
    """Share of the repetitions that are run: slow intervals run fewer."""
    default: bool = True


def sizes_of(draw: np.random.Generator, clusters: int, mean: float, spread: float) -> np.ndarray:
    """Cluster sizes of at least 1: lognormal with the given spread of the logarithm."""
    return np.maximum(1, np.rint(mean * np.exp(draw.normal(-(spread**2) / 2, spread, clusters)))).astype(int)


def beta_effects(draw: np.random.Generator, clusters: int, rate: float, icc: float) -> np.ndarray:
    return draw.beta(rate * (1 / icc - 1), (1 - rate) * (1 / icc - 1), clusters)


def binary_clusters(clusters: int, rate: float, spread: float, icc: float = 0.2, size: float = 6) -> Maker:
    """0/1 scores; clusters differ in their rate."""

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        sizes = sizes_of(draw, clusters, size, spread)
        chance = np.repeat(beta_effects(draw, clusters, rate, icc), sizes)
        scores = (draw.random(len(chance)) < chance).astype(float)
        return stats.mean_interval(scores, np.repeat(np.arange(clusters), sizes), bounds=(0, 1)), rate

    return make


def harder_when_larger(clusters: int) -> Maker:
    """0/1 scores whose rate falls with the size of the cluster."""

    def chances(draw: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = sizes_of(draw, count, 6, 0.8)
        return sizes, 1 / (1 + np.exp(-(1.2 - 0.8 * np.log(sizes / 6) + draw.normal(0, 0.6, count))))

    sizes, chance = chances(np.random.default_rng(123), 2_000_000)
    truth = float(sizes @ chance / sizes.sum())

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        sizes, chance = chances(draw, clusters)
        scores = (draw.random(sizes.sum()) < np.repeat(chance, sizes)).astype(float)
        return stats.mean_interval(scores, np.repeat(np.arange(clusters), sizes), bounds=(0, 1)), truth

    return make


def gaussian_clusters(clusters: int, spread: float, method: str = "CR2") -> Maker:
    """Continuous scores without bounds; intraclass correlation 0.3."""

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        sizes = sizes_of(draw, clusters, 8, spread)
        names = np.repeat(np.arange(clusters), sizes)
        scores = math.sqrt(0.3) * draw.normal(size=clusters)[names] + math.sqrt(0.7) * draw.normal(
            size=len(names)
        )
        return stats.mean_interval(scores, names, method=method), 0.0

    return make


def skewed_items(n: int) -> Maker:
    """Continuous scores in [0, 1], most of them near 1 (F1, chrF)."""

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        return stats.mean_interval(draw.beta(4, 0.7, n), bounds=(0, 1)), 4 / 4.7

    return make


def wilson(n: int, rate: float) -> Maker:
    return lambda draw: (stats.proportion_interval(int(draw.binomial(n, rate)), n), rate)


def strata(parts: int, each: int) -> Maker:
    """Fixed subjects of different difficulty, equal weights."""
    rates = np.linspace(0.35, 0.95, parts)

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        names = np.repeat(np.arange(parts), each)
        scores = (draw.random(len(names)) < rates[names]).astype(float)
        found = stats.mean_interval(scores, strata=stats.Strata(labels=names, weights="equal"), bounds=(0, 1))
        return found, float(rates.mean())

    return make


def pass_at(k: int, tasks: int, samples: int) -> Maker:
    """Tasks whose success rates follow Beta(0.4, 0.8): many hopeless, some easy."""
    a, b = 0.4, 0.8
    truth = 1 - math.exp(math.lgamma(b + k) - math.lgamma(b) + math.lgamma(a + b) - math.lgamma(a + b + k))

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        c = draw.binomial(samples, draw.beta(a, b, tasks))
        return stats.pass_at_k_interval(np.full(tasks, samples), c, k), truth

    return make


def paired_binary(n: int, wins: float, losses: float, method: str = "CR2") -> Maker:
    """Independent 0/1 pairs with given rates of the two kinds of discordance."""

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        kind = draw.choice(4, n, p=[wins, losses, 0.6 * (1 - wins - losses), 0.4 * (1 - wins - losses)])
        a, b = np.isin(kind, (0, 2)).astype(float), np.isin(kind, (1, 2)).astype(float)
        return stats.paired_difference(a, b, method=method), wins - losses

    return make


def paired_clusters(clusters: int, spread: float) -> Maker:
    """Two systems on shared passages: passage and item effects are common, the rest is not."""
    truth = shared_truth()

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        sizes = sizes_of(draw, clusters, 8, spread)
        names = np.repeat(np.arange(clusters), sizes)
        a, b = shared_scores(draw, names, clusters)
        return stats.paired_difference(a, b, names), truth

    return make


def shared_scores(
    draw: np.random.Generator, names: np.ndarray, clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    base = draw.normal(0, 0.7, clusters)[names] + draw.normal(0, 1, len(names))
    sides = []
    for shift in (0.9, 0.6):
        own = base + shift + draw.normal(0, 0.4, clusters)[names]
        sides.append((draw.random(len(names)) < 1 / (1 + np.exp(-own))).astype(float))
    return sides[0], sides[1]


def shared_truth() -> float:
    noise = np.random.default_rng(5).normal(0, math.sqrt(0.49 + 1 + 0.16), 4_000_000)
    return float((1 / (1 + np.exp(-noise - 0.9))).mean() - (1 / (1 + np.exp(-noise - 0.6))).mean())


def bootstrap_clusters(clusters: int, ci: str) -> Maker:
    truth = shared_truth()

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        names = np.repeat(np.arange(clusters), sizes_of(draw, clusters, 8, 1.0))
        a, b = shared_scores(draw, names, clusters)
        return stats.paired_cluster_bootstrap(a, b, names, samples=2_000, ci=ci), truth

    return make


def prediction_powered(labelled: int) -> Maker:
    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        human = (draw.random(labelled + 1_000) < 0.7).astype(float)
        judge = np.clip(0.6 * human + 0.25 + draw.normal(0, 0.2, len(human)), 0, 1)
        return stats.ppi_mean(human[:labelled], judge[:labelled], judge[labelled:]), 0.7

    return make


def known_judge(labelled: int) -> Maker:
    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        called = int(draw.binomial(600, 0.3 * 0.85 + 0.7 * 0.1))
        right, wrong = int(draw.binomial(labelled, 0.85)), int(draw.binomial(labelled, 0.9))
        return stats.rogan_gladen(called, 600, (right, labelled), (wrong, labelled)), 0.3

    return make


def kappa(n: int) -> Maker:
    """Two raters of three labels who agree with a truth in four of five cases."""
    prior = np.array([0.5, 0.3, 0.2])
    given = 0.8 * np.eye(3) + 0.2 / 3
    joint = np.einsum("t,ta,tb->ab", prior, given, given)
    chance = float(joint.sum(axis=1) @ joint.sum(axis=0))
    truth = (float(np.trace(joint)) - chance) / (1 - chance)

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        table = draw.multinomial(n, joint.ravel()).reshape(3, 3)
        return stats.cohen_kappa(table, samples=1_000), truth

    return make


def ranking_quality(n: int) -> Maker:
    truth = 0.5 * (1 + math.erf(1.0 / 2))

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        right = draw.random(n) < 0.7
        return stats.auroc(draw.normal(right, 1), right), truth

    return make


def strengths(battles: int, prompts: int | None) -> Maker:
    """Five models; with prompts, each prompt favours some of them."""
    theta = np.linspace(0.8, -0.8, 5)
    truth = float(theta[0] - theta[3])
    shift = 0.7
    if prompts is not None:  # the odds that a fit sees are averaged over the prompts
        draws = np.random.default_rng(9).normal(0, shift * math.sqrt(2), 400_000)
        mean = [
            [
                0.0 if i == j else float((1 / (1 + np.exp(theta[j] - theta[i] - draws))).mean())
                for j in range(5)
            ]
            for i in range(5)
        ]
        limit = stats.bradley_terry_of_wins(mean)[1]
        truth = float(limit[0] - limit[3])

    def make(draw: np.random.Generator) -> tuple[stats.Interval, float]:
        first = draw.integers(0, 5, battles)
        second = (first + draw.integers(1, 5, battles)) % 5
        gap = theta[first] - theta[second]
        names = None
        if prompts is not None:
            names = draw.integers(0, prompts, battles)
            taste = draw.normal(0, shift, (prompts, 5))
            gap = gap + taste[names, first] - taste[names, second]
        won = (draw.random(battles) < 1 / (1 + np.exp(-gap))).astype(float)
        fit = stats.bradley_terry(stats.Battles.of(first, second, won), clusters=names)
        return fit.difference(0, 3), truth

    return make


def documents(count: int) -> Maker:
    """Documents of very different length; long ones are easier."""

    def made(draw: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
        length = np.maximum(5, np.rint(np.exp(draw.normal(5, 1, number)))).astype(int)
        rate = 2.5 - 0.15 * np.log(length / 150) + draw.normal(0, 0.3, number)
        return length * rate, length

    losses, lengths = made(np.random.default_rng(3), 2_000_000)
    truth = math.exp(float(losses.sum() / lengths.sum()))
    return lambda draw: (stats.corpus_perplexity(*made(draw, count)), truth)


ROWS = (
    Row("wilson_n30", "one rate, Wilson", "30 trials, rate 0.9", wilson(30, 0.9)),
    Row("wilson_n300", "one rate, Wilson", "300 trials, rate 0.97", wilson(300, 0.97)),
    Row("gauss_5", "mean, CR2 t", "5 equal clusters, continuous", gaussian_clusters(5, 0)),
    Row("gauss_5_unequal", "mean, CR2 t", "5 unequal clusters, continuous", gaussian_clusters(5, 1)),
    Row("gauss_10_unequal", "mean, CR2 t", "10 unequal clusters, continuous", gaussian_clusters(10, 1)),
    Row("gauss_57_unequal", "mean, CR2 t", "57 unequal clusters, continuous", gaussian_clusters(57, 1)),
    Row("binary_5", "mean in bounds, CR2", "5 equal clusters, 0/1, rate 0.8", binary_clusters(5, 0.8, 0)),
    Row("binary_10", "mean in bounds, CR2", "10 equal clusters, 0/1, rate 0.95", binary_clusters(10, 0.95, 0)),
    Row("binary_20_unequal", "mean in bounds, CR2", "20 unequal clusters, 0/1, rate 0.8", binary_clusters(20, 0.8, 1)),
    Row("binary_57_unequal", "mean in bounds, CR2", "57 unequal clusters, 0/1, rate 0.5", binary_clusters(57, 0.5, 1)),
    Row("binary_57_high", "mean in bounds, CR2", "57 unequal clusters, 0/1, rate 0.95", binary_clusters(57, 0.95, 1)),
    Row("hard_large_20", "mean in bounds, CR2", "20 clusters, 0/1, larger ones harder", harder_when_larger(20)),
    Row("hard_large_57", "mean in bounds, CR2", "57 clusters, 0/1, larger ones harder", harder_when_larger(57)),
    Row("hard_large_300", "mean in bounds, CR2", "300 clusters, 0/1, larger ones harder", harder_when_larger(300)),
    Row("skewed_30", "mean in bounds, CR2", "30 items, skewed scores in [0, 1]", skewed_items(30)),
    Row("skewed_300", "mean in bounds, CR2", "300 items, skewed scores in [0, 1]", skewed_items(300)),
    Row("strata_10", "mean of fixed strata", "10 subjects of 12 items, equal weights", strata(10, 12)),
    Row("pass_at_1", "pass@1 over tasks", "164 tasks, 5 samples", pass_at(1, 164, 5)),
    Row("pass_at_10", "pass@10 over tasks", "50 tasks, 20 samples", pass_at(10, 50, 20)),
    Row("paired_30", "paired difference, CR2 t", "30 pairs, 20 % against 10 %", paired_binary(30, 0.2, 0.1)),
    Row("paired_300", "paired difference, CR2 t", "300 pairs, 10 % against 5 %", paired_binary(300, 0.1, 0.05)),
    Row("paired_100_sparse", "paired difference, CR2 t", "100 pairs, 3 % against 0.5 %", paired_binary(100, 0.03, 0.005)),
    Row(
        "paired_100_sparse_adjusted", "paired difference, Bonett-Price", "100 pairs, 3 % against 0.5 %",
        paired_binary(100, 0.03, 0.005, "bonett_price"), default=False,
    ),
    Row("paired_10_clusters", "paired difference, CR2 t", "10 unequal passages, 0/1", paired_clusters(10, 1)),
    Row("paired_57_clusters", "paired difference, CR2 t", "57 unequal passages, 0/1", paired_clusters(57, 1)),
    Row("bca_57", "paired difference, BCa bootstrap", "57 unequal passages, 0/1", bootstrap_clusters(57, "bca"), 0.5, False),
    Row("t_57", "paired difference, t bootstrap", "57 unequal passages, 0/1", bootstrap_clusters(57, "t"), 0.5, False),
    Row(
        "percentile_10", "paired difference, percentile bootstrap", "10 unequal passages, 0/1",
        bootstrap_clusters(10, "percentile"), 0.5, False,
    ),
    Row("ppi_50", "judge corrected, PPI++", "50 human labels, 1,000 verdicts", prediction_powered(50)),
    Row("ppi_200", "judge corrected, PPI++", "200 human labels, 1,000 verdicts", prediction_powered(200)),
    Row("rogan_gladen_60", "judge corrected, Lang-Reiczigel", "60 labels of each kind", known_judge(60)),
    Row("kappa_80", "Cohen's kappa, bootstrap", "80 items, 3 labels", kappa(80), 0.5),
    Row("kappa_300", "Cohen's kappa, bootstrap", "300 items, 3 labels", kappa(300), 0.5),
    Row("auroc_100", "AUROC, DeLong logit", "100 answers, 70 % right", ranking_quality(100)),
    Row("bt_600", "Bradley-Terry, sandwich", "600 battles, 5 models", strengths(600, None), 0.5),
    Row("bt_prompts", "Bradley-Terry, clustered sandwich", "1,200 battles on 80 prompts", strengths(1_200, 80), 0.5),
    Row("documents_60", "perplexity, ratio on the log scale", "60 documents, long ones easier", documents(60)),
    Row("gauss_10_cr0", "mean, CR0 normal (Miller 2024)", "10 unequal clusters, continuous", gaussian_clusters(10, 1, "CR0"), default=False),
    Row("gauss_10_cr1", "mean, CR1 t (Inspect)", "10 unequal clusters, continuous", gaussian_clusters(10, 1, "CR1"), default=False),
    Row("gauss_10_cr3", "mean, CR3 t", "10 unequal clusters, continuous", gaussian_clusters(10, 1, "CR3"), default=False),
)  # fmt: skip


def measure(row: Row, repetitions: int) -> tuple[float, float, float, float]:
    """Coverage, its standard error, share of misses above, and mean width."""
    draw = np.random.default_rng(2026)
    number = max(20, round(repetitions * row.weight))
    low_misses = high_misses = 0
    widths = []
    for _ in range(number):
        found, truth = row.make(draw)
        if found.low is None or found.high is None:  # no interval covers nothing
            low_misses += 1
            continue
        high_misses += found.high < truth
        low_misses += found.low > truth
        widths.append(found.high - found.low)
    coverage = 1 - (low_misses + high_misses) / number
    error = math.sqrt(max(coverage * (1 - coverage), 0.25 / number) / number)
    return coverage, error, high_misses / number, float(np.mean(widths))


def table_of(results: list[tuple[Row, tuple[float, float, float, float]]], repetitions: int) -> str:
    lines = [
        f"{repetitions:,} repetitions (half as many where slow), nominal 95 %, seed 2026.",
        "",
        "| interval | data | coverage | ± | truth above | mean width |",
        "|---|---|---|---|---|---|",
    ]
    for row, (coverage, error, above, width) in results:
        name = row.interval if row.default else f"{row.interval} (no default)"
        lines.append(f"| {name} | {row.data} | {coverage:.1%} | {error:.1%} | {above:.1%} | {width:.3f} |")
    return "\n".join(lines)


def write(path: Path, table: str) -> None:
    text = path.read_text("utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    path.write_text(f"{before}{START}\n{table}\n{END}{after}", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="300 repetitions instead of 4,000")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the table in FILE")
    arguments = parser.parse_args()
    repetitions = 300 if arguments.quick else 4_000
    results = []
    for row in ROWS:
        results.append((row, measure(row, repetitions)))
        print(f"{row.name:28} {results[-1][1][0]:.3f}", flush=True)
    if arguments.write:
        write(arguments.write, table_of(results, repetitions))
    defaults = [found[0] for row, found in results if row.default]
    figures: dict[str, object] = {row.name: found[0] for row, found in results}
    figures["defaults"] = len(defaults)
    figures["defaults_within_93_and_97"] = sum(0.93 <= coverage <= 0.97 for coverage in defaults)
    figures["lowest_default"] = min(defaults)
    print(json.dumps(figures, allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
