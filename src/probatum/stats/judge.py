"""Judges that err: correcting their scores by human labels, and reading two games of one pair."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import Floats, aligned_scores, check_choice, check_level, finite, scores_of, whole
from probatum.stats.mean import mean_interval
from probatum.stats.proportion import proportion_interval
from probatum.stats.quantiles import normal_quantile, t_quantile
from probatum.stats.result import Interval

__all__ = [
    "JudgeSwapReport",
    "PredictionPowered",
    "combine_swapped",
    "judge_swap_report",
    "ppi_mean",
    "rogan_gladen",
]


@dataclass(frozen=True, kw_only=True)
class PredictionPowered(Interval):
    """A mean on the human scale, from many judged and few human-labelled items."""

    weight: float
    """λ: how far the judge is believed; 0 uses the human labels alone."""
    human_only: Interval
    """The same mean from the human labels alone."""
    n_effective: float | None
    """Human labels that would give this precision without the judge."""
    labels_saved: float | None
    """n_effective less the labels there are."""
    judge_mean: float
    """Mean verdict of the judge on the unlabelled items: what is corrected."""
    bias: float
    """Mean of judge - human on the labelled items."""


def ppi_mean(
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    predictions_unlabelled: npt.ArrayLike,
    weight: float | str = "optimal",
    level: float = 0.95,
    law: str = "t",
    *,
    random_sample: bool = True,
) -> PredictionPowered:
    """Prediction-powered mean (PPI++): mean(λ·judge over all) + mean(human - λ·judge over the labelled).

    Args:
        labels: Human scores of the labelled items, shape (n,).
        predictions: The judge's scores of the same items, same order.
        predictions_unlabelled: The judge's scores of the other items, shape (N,).
        weight: λ, or `optimal` (the variance-minimising one, within [0, 1]).
        level: Confidence level.
        law: `t` with Satterthwaite's degrees of freedom (default), or `normal` with n in the denominators as
            the authors' code has it.
        random_sample: That the labelled items are a random sample of all. If they were chosen (the hard
            ones, the disagreements) the correction is wrong: say `False` and it is refused.

    Raises:
        ValueError: the labels are no random sample, sizes do not match, or fewer than 2 labelled items.

    Sources: Angelopoulos et al., Science 2023; Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453.
    """
    if not random_sample:
        raise ValueError("human labels that are no random sample cannot correct a judge: label random items")
    check_level(level)
    check_choice(law, ("t", "normal"), "law")
    human, judged = aligned_scores(labels, predictions, ("labels", "predictions"))
    others = scores_of(predictions_unlabelled, "predictions_unlabelled")
    if len(human) < 2 or len(others) < 2:  # noqa: PLR2004 - a spread needs two
        raise ValueError(
            f"at least 2 labelled and 2 unlabelled items are needed, not {len(human)} and {len(others)}"
        )
    used = _optimal_weight(human, judged, others) if weight == "optimal" else finite(weight, "weight")
    rectifier = human - used * judged
    value = float(used * others.mean() + rectifier.mean())
    variance, df = _combined_variance((used * others, rectifier), law)
    alone = _human_only(human, level, law)
    half = t_quantile(df, (1 + level) / 2) * math.sqrt(variance)
    plain = float(human.var(ddof=1 if law == "t" else 0)) / len(human)
    effective = len(human) * plain / variance if variance > 0 else None
    return PredictionPowered(
        value=value,
        low=value - half if variance > 0 else None,
        high=value + half if variance > 0 else None,
        level=level,
        method=f"PPI++ ({law})",
        n=len(human) + len(others),
        se=math.sqrt(variance) if variance > 0 else None,
        df=df,
        estimand="mean human score over the population of items; the labelled are a random sample of it",
        warnings=_ppi_warnings(len(human), variance),
        weight=used,
        human_only=alone,
        n_effective=effective,
        labels_saved=None if effective is None else effective - len(human),
        judge_mean=float(others.mean()),
        bias=float((judged - human).mean()),
    )


def _combined_variance(parts: tuple[Floats, ...], law: str) -> tuple[float, float | None]:
    """Variance of the sum of the means of independent samples, and Satterthwaite's degrees of freedom."""
    ddof = 1 if law == "t" else 0
    terms = [(float(part.var(ddof=ddof)) / len(part), len(part) - 1) for part in parts]
    variance = sum(term for term, _ in terms)
    if law != "t" or variance <= 0:
        return variance, None
    return variance, variance**2 / sum(term**2 / size for term, size in terms)


def _optimal_weight(human: Floats, judged: Floats, others: Floats) -> float:
    """Cov(human, judge) / ((1 + n/N) Var(judge)), within [0, 1]."""
    spread = float(np.concatenate([judged, others]).var(ddof=1))
    if spread <= 0:
        return 0.0
    shared = float(((human - human.mean()) * (judged - judged.mean())).mean())
    return min(1.0, max(0.0, shared / ((1 + len(human) / len(others)) * spread)))


def _human_only(human: Floats, level: float, law: str) -> Interval:
    error = math.sqrt(float(human.var(ddof=1 if law == "t" else 0)) / len(human))
    df = float(len(human) - 1) if law == "t" else None
    half = t_quantile(df, (1 + level) / 2) * error
    value = float(human.mean())
    known = error > 0
    return Interval(
        value=value,
        low=value - half if known else None,
        high=value + half if known else None,
        level=level,
        method=law,
        n=len(human),
        se=error if known else None,
        df=df,
        estimand="mean human score, from the labelled items alone",
        warnings=() if known else ("the human labels do not vary: no standard error",),
    )


def _ppi_warnings(labelled: int, variance: float) -> tuple[str, ...]:
    warnings = []
    if variance <= 0:
        warnings.append("neither labels nor verdicts vary: no standard error")
    if labelled < 30:  # noqa: PLR2004 - the customary floor of normal approximations
        warnings.append(f"only {labelled} human labels: the interval is approximate")
    return tuple(warnings)


def rogan_gladen(
    positives: int,
    n: int,
    sensitivity: tuple[int, int],
    specificity: tuple[int, int],
    level: float = 0.95,
) -> Interval:
    """The true rate behind a judge that errs at known rates: (q + sp - 1)/(se + sp - 1).

    Args:
        positives: Items that the judge called right.
        n: Items that it judged.
        sensitivity: (called right, all) among items that people called right.
        specificity: (called wrong, all) among items that people called wrong.
        level: Confidence level.

    The interval is Lang and Reiczigel's, which counts the uncertainty of all three rates.

    Raises:
        ValueError: counts out of range, or a judge that is no better than a coin: nothing can be corrected.

    Sources: Rogan and Gladen 1978; Lang and Reiczigel 2014.
    """
    check_level(level)
    n = whole(n, "n", minimum=1)
    counts = [
        (whole(positives, "positives"), n),
        *((whole(x, "count"), whole(m, "size", minimum=1)) for x, m in (sensitivity, specificity)),
    ]
    if any(x > m for x, m in counts):
        raise ValueError(f"more hits than trials: {counts}")
    q, se, sp = (x / m for x, m in counts)
    if se + sp - 1 <= 0:
        raise ValueError(
            f"sensitivity {se:.3g} and specificity {sp:.3g} are no better than a coin: no correction"
        )
    low, high, error = _lang_reiczigel(positives, n, sensitivity, specificity, level)
    raw = (q + sp - 1) / (se + sp - 1)
    warnings = []
    if low is None:
        warnings.append("too few human labels to tell the judge from a coin: no interval")
    if not 0 <= raw <= 1:
        warnings.append(
            f"the corrected rate {raw:.3g} lies outside 0 … 1 and is clipped: judge and labels do not fit"
        )
    return Interval(
        value=min(1.0, max(0.0, raw)),
        low=low,
        high=high,
        level=level,
        method="Rogan-Gladen, Lang-Reiczigel interval",
        n=n,
        se=error,
        estimand="rate that people would have found",
        warnings=tuple(warnings),
    )


def _lang_reiczigel(
    positives: int, n: int, sensitivity: tuple[int, int], specificity: tuple[int, int], level: float
) -> tuple[float | None, float | None, float | None]:
    """Limits and standard error from rates that are each drawn a little to the middle."""
    z = normal_quantile((1 + level) / 2)
    size, size_se, size_sp = n + z * z, sensitivity[1] + 2, specificity[1] + 2
    q = (positives + z * z / 2) / size
    se, sp = (sensitivity[0] + 1) / size_se, (specificity[0] + 1) / size_sp
    youden = se + sp - 1
    if youden <= 0:
        return None, None, None
    rate = (q + sp - 1) / youden
    spread_se, spread_sp = se * (1 - se) / size_se, sp * (1 - sp) / size_sp
    variance = q * (1 - q) / size + spread_se * rate**2 + spread_sp * (1 - rate) ** 2
    error = math.sqrt(variance) / youden
    shift = 2 * z * z * (rate * spread_se - (1 - rate) * spread_sp)
    low, high = (min(1.0, max(0.0, rate + shift + side * z * error)) for side in (-1, 1))
    return low, high, error


_VERDICTS = ("A", "B", "tie")


def combine_swapped(first: str | None, second: str | None, rule: str = "conservative") -> str | float:
    """One verdict from the two games of a pair, in the labels of the first game.

    Args:
        first: `A`, `B` or `tie` of the game in the original order; anything else is an error.
        second: Verdict of the swapped game, already mapped back to the original labels.
        rule: `conservative`: a side wins only where both games say so, all else is `tie`; `half`: the mean
            score of A over the two games (0 … 1).

    An invalid or missing verdict in either game gives `error`: it is no tie.

    Raises:
        ValueError: an unknown rule.

    Source: Zheng et al. 2023, arXiv:2306.05685, section 3.4.
    """
    check_choice(rule, ("conservative", "half"), "rule")
    if first not in _VERDICTS or second not in _VERDICTS:
        return "error"
    if rule == "half":
        worth = {"A": 1.0, "tie": 0.5, "B": 0.0}
        return (worth[first] + worth[second]) / 2
    return first if first == second else "tie"


@dataclass(frozen=True, kw_only=True)
class JudgeSwapReport:
    """What swapping the seats of a pair shows of a judge. Rates have Wilson intervals over pairs."""

    outcomes: Mapping[str, Interval]
    """Share of all pairs that end as `A`, `B`, `tie`, `inconsistent` or `error`."""
    consistency: Interval
    """Share of pairs with the same verdict in both games, among pairs with two valid verdicts."""
    first_seat: Interval
    """Share of inconsistent decided pairs in which the first seat won both games; ½ is no bias."""
    win_rate: Interval
    """Mean score of A (inconsistent pairs and ties count half), the two games of a pair taken together."""
    n: int


def judge_swap_report(pairs: Iterable[tuple[str | None, str | None]]) -> JudgeSwapReport:
    """Outcome, consistency and seat bias of pairs that were judged in both orders.

    `pairs` are (verdict of the original order, verdict of the swapped order) *by seat*: in the swapped game
    `A` is the answer that was B. Labels are `A`, `B`, `tie` and `error`; `None` is an error.

    Raises:
        ValueError: no pairs, or an unknown label.
    """
    rows = [tuple("error" if verdict is None else verdict for verdict in pair) for pair in pairs]
    if not rows:
        raise ValueError("there are no pairs: 0 verdicts")
    unknown = {verdict for row in rows for verdict in row} - {*_VERDICTS, "error"}
    if unknown or any(len(row) != 2 for row in rows):  # noqa: PLR2004 - two games
        raise ValueError(
            "verdicts must be pairs of A, B, tie or error, not "
            + (", ".join(sorted(map(repr, unknown))) or "rows of another length")
        )
    back = {"A": "B", "B": "A", "tie": "tie", "error": "error"}
    games = [(first, back[second]) for first, second in rows]
    names = [
        "error" if "error" in game else game[0] if game[0] == game[1] else "inconsistent" for game in games
    ]
    counts = Counter(names)
    valid = [game for game in games if "error" not in game]
    flips = [game for game in valid if set(game) == {"A", "B"}]
    seats = sum(game == ("A", "B") for game in flips)
    scores = [float(combine_swapped(*game, rule="half")) for game in valid]
    errors = {"error in a game": counts["error"]} if counts["error"] else {}
    return JudgeSwapReport(
        outcomes={
            name: _rate(counts[name], len(rows)) for name in ("A", "B", "tie", "inconsistent", "error")
        },
        consistency=_rate(len(valid) - counts["inconsistent"], len(valid), errors),
        first_seat=_rate(seats, len(flips), {"no flip": len(rows) - len(flips)}),
        win_rate=_mean(scores, errors),
        n=len(rows),
    )


def _rate(count: int, n: int, missing: Mapping[str, int] | None = None) -> Interval:
    if not n:
        return Interval(value=None, missing=missing or {}, warnings=("no pair is in the denominator",))
    return replace(proportion_interval(count, n), missing=missing or {})


def _mean(scores: list[float], missing: Mapping[str, int]) -> Interval:
    if not scores:
        return Interval(value=None, missing=missing, warnings=("no pair has two valid verdicts",))
    return replace(mean_interval(scores, bounds=(0, 1)), missing=missing)
