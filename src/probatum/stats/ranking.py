"""Strengths from pairwise comparisons: Bradley–Terry with ties and covariates; Elo for comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from probatum.stats.battles import TIE, Battles, components, pair_matrix
from probatum.stats.bootstrap import limits_of_draws
from probatum.stats.fitting import Fit, fit_davidson, fit_pairs, fit_with_covariates, moments
from probatum.stats.inputs import (
    Floats,
    Integers,
    Labels,
    check_choice,
    check_level,
    check_size,
    encode,
    finite,
    generator,
    numbers_or_none,
    scores_of,
    table_of,
    whole,
)
from probatum.stats.quantiles import t_quantile, t_tail
from probatum.stats.result import HypothesisTest, Interval
from probatum.stats.threads import one_blas_thread

__all__ = ["BradleyTerry", "Elo", "bradley_terry", "bradley_terry_of_wins", "elo"]

Given = Battles | Iterable[tuple[Hashable, Hashable, object]]
_ELEMENTS = 1 << 20
_FLAT = "the outcomes do not vary about the fit: no standard error"
_NAMED = 5
"""Models of a part that an error message names."""


@dataclass(frozen=True, kw_only=True)
class BradleyTerry:
    """Fitted strengths: P(i beats j) = 1/(1 + exp(θⱼ - θᵢ)), in natural logarithms with mean 0."""

    models: tuple[Hashable, ...]
    strengths: Floats
    """θ, shape (models,)."""
    intervals: tuple[Interval, ...]
    """Of each θ (its distance from the mean of all)."""
    covariance: Floats
    """Of θ, shape (models, models); NaN where it could not be estimated."""
    tie_strength: float | None
    """Davidson's ν; `None` where ties count half."""
    coefficients: tuple[Interval, ...]
    """Effect of each covariate on the log odds of the first model."""
    n: int
    clusters: int | None
    df: float | None
    level: float
    method: str
    log_likelihood: float
    seed: int | None
    warnings: tuple[str, ...] = ()

    def ranking(self) -> tuple[tuple[Hashable, Interval], ...]:
        """Models with their strengths, best first."""
        order = np.argsort(-self.strengths, kind="stable")
        return tuple((self.models[i], self.intervals[i]) for i in order.tolist())

    def elo_scale(self, scale: float = 400.0, base: float = 10.0, centre: float = 1000.0) -> Floats:
        """Strengths as Elo-like ratings: centre + scale · θ / ln(base)."""
        return np.asarray(centre + scale * self.strengths / math.log(base))

    def probability(self, first: Hashable, second: Hashable) -> float:
        """Expected score of `first` against `second` (a tie counts half), without covariates."""
        gap = float(self.strengths[self._place(first)] - self.strengths[self._place(second)])
        if self.tie_strength is None:
            return 1 / (1 + math.exp(-gap))
        up, down = math.exp(gap / 2), math.exp(-gap / 2)
        return (up + self.tie_strength / 2) / (up + down + self.tie_strength)

    def difference(self, first: Hashable, second: Hashable) -> Interval:
        """θ of `first` less θ of `second`, with its own interval: the two are not independent."""
        i, j = self._place(first), self._place(second)
        value = float(self.strengths[i] - self.strengths[j])
        variance = float(self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j])
        found = Interval(
            value=value, level=self.level, method=self.method, n=self.n, clusters=self.clusters, df=self.df,
            estimand=f"log odds that {first} beats {second}", seed=self.seed, warnings=self.warnings,
        )  # fmt: skip
        if not variance > 0:
            return replace(found, warnings=found.warnings or (_FLAT,))
        half = t_quantile(self.df, (1 + self.level) / 2) * math.sqrt(variance)
        return replace(found, low=value - half, high=value + half, se=math.sqrt(variance))

    def difference_test(self, first: Hashable, second: Hashable) -> HypothesisTest:
        """Two-sided test that two models are equally strong."""
        found = self.difference(first, second)
        p = None if not found.se else min(1.0, 2 * t_tail(self.df, abs(float(found)) / found.se))
        return HypothesisTest(
            p_value=p,
            statistic=None if not found.se else float(found) / found.se,
            method=self.method,
            null=f"{first} and {second} are equally strong",
            n=self.n,
            clusters=self.clusters,
            df=self.df,
            warnings=found.warnings,
        )

    def _place(self, model: Hashable) -> int:
        if model not in self.models:
            raise ValueError(f"no model {model!r}; there are {', '.join(map(str, self.models[:10]))}")
        return self.models.index(model)


@one_blas_thread()
def bradley_terry(
    battles: Given,
    ties: str = "half",
    covariates: npt.ArrayLike | Mapping[str, npt.ArrayLike] | None = None,
    clusters: Labels | None = None,
    level: float = 0.95,
    samples: int = 0,
    seed: int = 0,
) -> BradleyTerry:
    """Maximum-likelihood strengths of models from their battles.

    Args:
        battles: `Battles`, or (first, second, outcome) triples with outcome `a`, `b` or `tie`.
        ties: `half` (a tie is half a win for each) or `davidson` (ties have a strength of their own).
        covariates: Differences first - second that may sway the outcome (length, style), shape (n, p), or
            name → shape (n,). Their effects are fitted beside the strengths, which then hold at equal style.
        clusters: One label a battle: battles on one prompt, of one user, or the two games of a swapped pair
            are not independent.
        level: Confidence level.
        samples: 0 for sandwich errors; else bootstrap resamples (of clusters, where there are any).
        seed: Of the resamples.

    Whether a finite maximum exists is checked before anything is fitted.

    Raises:
        ValueError: no finite estimate exists (the message names the parts that are undefeated or never met),
            sizes that do not match, or covariates together with `davidson`.

    Sources: Bradley and Terry 1952; Davidson 1970; Hunter 2004; White 1982 for the sandwich.
    """
    given = battles if isinstance(battles, Battles) else Battles.of_triples(battles)
    check_choice(ties, ("half", "davidson"), "ties")
    check_level(level)
    wins, tied = pair_matrix(given)
    _check_identified(wins + tied / 2, given.models)
    warnings: tuple[str, ...] = ()
    if ties == "davidson" and not tied.any():
        ties, warnings = "half", ("there are no ties: their strength is 0, and the model is Bradley–Terry's",)
    if ties == "davidson" and not wins.any():
        raise ValueError("every battle is a tie: the strength of ties has no finite estimate")
    names, table = _covariates(covariates, len(given))
    if table is not None and ties == "davidson":
        raise ValueError("covariates are fitted with ties='half' only")
    codes = None if clusters is None else encode(clusters, len(given), "clusters")
    problem = _Problem(given, wins, tied, ties, table, codes)
    fit = problem.fit(None)
    count = len(given) if codes is None else codes[1]
    spread = _sandwich(problem, fit, count) if samples == 0 else _bootstrap(problem, fit, samples, seed)
    return _result(
        problem, fit, spread, level, names, replace(_EMPTY, seed=seed if samples else None, warnings=warnings)
    )


_EMPTY = Interval(value=None)


@dataclass(frozen=True)
class _Problem:
    """Everything that a fit needs."""

    battles: Battles
    wins: Floats
    tied: Floats
    ties: str
    covariates: Floats | None
    clusters: tuple[Integers, int] | None

    def fit(self, start: Fit | None, weights: Floats | None = None) -> Fit:
        """The maximum, where `weights` (one a battle) may stand for a resample."""
        if self.covariates is not None:
            return fit_with_covariates(self.battles, self.covariates, weights, start)
        if self.ties == "davidson":
            return fit_davidson(self.wins, self.tied, start)
        return fit_pairs(self.wins + self.tied / 2, start)


_Draw = Callable[[np.random.Generator], tuple[_Problem, Floats | None]]
"""One resample: the problem with its counts, and where needed the weight of each battle."""


def _check_identified(wins: Floats, models: Sequence[Hashable]) -> None:
    parts = components(wins)
    if len(parts) == 1:
        return
    named = [
        ", ".join(str(models[i]) for i in part[:_NAMED]) + (", …" if len(part) > _NAMED else "")
        for part in parts[:6]
    ]
    met = components(wins + wins.T)
    how = (
        f"the models fall into {len(met)} parts that never met"
        if len(met) > 1
        else "some models never lost to, or never won against, the others"
    )
    raise ValueError(
        f"no finite estimate exists: {how}. Parts, the best first: {' | '.join(named)}. "
        "Collect battles between the parts, leave models out, or set prior in bradley_terry_of_wins"
    )


def _covariates(
    covariates: npt.ArrayLike | Mapping[str, npt.ArrayLike] | None, n: int
) -> tuple[tuple[str, ...], Floats | None]:
    if covariates is None:
        return (), None
    if isinstance(covariates, Mapping):
        names = tuple(covariates)
        for name, column in covariates.items():
            check_size(scores_of(column, f"values of {name}"), n, f"values of {name}", "battles")
        if not names:
            return (), None
        table = np.column_stack([np.asarray(column, np.float64) for column in covariates.values()])
    else:
        given = numbers_or_none(covariates)
        if given is None or given.ndim > 2:  # noqa: PLR2004 - a table
            raise ValueError("covariates must be numbers of the shape (battles, covariates)")
        table = given[:, np.newaxis] if given.ndim == 1 else given
        names = tuple(f"covariate {i}" for i in range(table.shape[1]))
    check_size(table, n, "rows of covariates", "battles")
    if not np.isfinite(table).all():
        raise ValueError(f"{int((~np.isfinite(table)).sum())} values of covariates are not finite")
    if (table.std(axis=0) == 0).any() and (table == 0).all(axis=0).any():
        raise ValueError("a covariate is 0 in every battle; leave it out")
    return names, table


@dataclass(frozen=True)
class _Spread:
    covariance: Floats
    """Of the strengths, then the other parameters."""
    df: float | None
    method: str
    draws: Floats | None = None
    warnings: tuple[str, ...] = ()
    clusters: int | None = None


def _sandwich(problem: _Problem, fit: Fit, count: int) -> _Spread:
    """H⁺ (Σ over clusters of score·scoreᵀ) H⁺ · G/(G-1)."""
    if count <= 1:
        size = len(fit.information)
        note = "1 cluster has no standard error: at least 2 independent clusters are needed"
        return _Spread(np.full((size, size), np.nan), None, "sandwich", warnings=(note,), clusters=count)
    models = len(problem.battles.models)
    meat = _meat(problem, fit)
    bread = fit.information.copy()
    bread[:models, :models] += 1.0 / models  # fixes the sum of the strengths at 0
    inverse = np.linalg.inv(bread)
    covariance = inverse @ meat @ inverse * (count / (count - 1))
    projection = np.eye(len(covariance))
    projection[:models, :models] -= 1.0 / models
    covariance = projection @ covariance @ projection
    clustered = problem.clusters is not None
    warnings = (f"only {count} clusters: sandwich errors are too small",) if clustered and count < 40 else ()  # noqa: PLR2004 - few
    return _Spread(
        covariance,
        float(count - 1) if clustered else None,
        "clustered sandwich" if clustered else "sandwich",
        warnings=warnings,
        clusters=count if clustered else None,
    )


def _meat(problem: _Problem, fit: Fit) -> Floats:
    """Σ score·scoreᵀ over battles, or over the sums of clusters."""
    battles, models = problem.battles, len(problem.battles.models)
    residual, extra = fit.scores(battles, problem.covariates)
    if problem.clusters is None:
        columns = np.empty((len(battles), 0)) if extra is None else extra
        return moments(battles, residual * residual, residual[:, np.newaxis] * columns, columns)
    codes, count = problem.clusters
    order = np.argsort(codes, kind="stable")
    width = models + (0 if extra is None else extra.shape[1])
    meat = np.zeros((width, width))
    step = max(1, _ELEMENTS // width)
    bounds = np.searchsorted(codes[order], np.arange(0, count + step, step))
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        rows = order[start:stop]
        local = codes[rows] - block * step
        size = min(step, count - block * step)
        sums = np.bincount(local * width + battles.first[rows], residual[rows], minlength=size * width)
        sums -= np.bincount(local * width + battles.second[rows], residual[rows], minlength=size * width)
        sums = sums.reshape(size, width)
        if extra is not None:
            for k in range(extra.shape[1]):
                sums[:, models + k] += np.bincount(local, extra[rows, k], minlength=size)
        meat += sums.T @ sums
    return meat


def _bootstrap(problem: _Problem, fit: Fit, samples: int, seed: int) -> _Spread:
    """Refits on resamples; those without a finite maximum are left out and counted."""
    random = generator(seed)
    samples = whole(samples, "samples", minimum=2)
    draw = (
        _cell_draw(problem)
        if problem.clusters is None and problem.covariates is None
        else _cluster_draw(problem)
    )
    estimates = np.full((samples, len(fit.parameters)), np.nan)
    for i in range(samples):
        resampled, weights = draw(random)
        if len(components(resampled.wins + resampled.tied / 2)) > 1:
            continue
        try:
            estimates[i] = resampled.fit(fit, weights).parameters
        except ValueError:  # a resample without a finite maximum in the other parameters
            continue
    defined = estimates[np.isfinite(estimates).all(axis=1)]
    lost = samples - len(defined)
    warnings = (
        (f"{lost} of {samples} resamples have no finite estimate and are left out: limits are too narrow",)
        if lost
        else ()
    )
    size = estimates.shape[1]
    covariance = np.cov(defined.T) if len(defined) > 1 else np.full((size, size), np.nan)
    clustered = problem.clusters is not None
    return _Spread(
        covariance,
        None,
        f"{'cluster ' if clustered else ''}bootstrap, {samples} resamples",
        estimates,
        warnings,
        problem.clusters[1] if problem.clusters else None,
    )


def _cell_draw(problem: _Problem) -> _Draw:
    """Independent battles: a multinomial over the cells (winner, loser) and (tied pair)."""
    size = len(problem.battles.models)
    upper = np.triu_indices(size, 1)
    counts = np.r_[problem.wins.ravel(), problem.tied[upper]]
    cells = np.flatnonzero(counts)
    total, shares = int(counts.sum()), counts[cells] / counts.sum()

    def draw(random: np.random.Generator) -> tuple[_Problem, None]:
        drawn = np.zeros(len(counts))
        drawn[cells] = random.multinomial(total, shares)
        tied = np.zeros((size, size))
        tied[upper] = drawn[size * size :]
        return replace(problem, wins=drawn[: size * size].reshape(size, size), tied=tied + tied.T), None

    return draw


def _cluster_draw(problem: _Problem) -> _Draw:
    """Whole clusters with return, as weights of the battles."""
    battles = problem.battles
    codes, count = problem.clusters or (np.arange(len(battles)), len(battles))
    size = len(battles.models)
    key = battles.first * size + battles.second
    is_tie = battles.score == TIE

    def cells(weights: Floats) -> Floats:
        return np.bincount(key, weights, minlength=size * size).reshape(size, size).astype(np.float64)

    def draw(random: np.random.Generator) -> tuple[_Problem, Floats]:
        weights = np.bincount(random.integers(0, count, count), minlength=count)[codes].astype(np.float64)
        tied = cells(weights * is_tie)
        won = cells(weights * (battles.score == 1)) + cells(weights * (battles.score == 0)).T
        return replace(problem, wins=won, tied=tied + tied.T), weights

    return draw


def _result(
    problem: _Problem, fit: Fit, spread: _Spread, level: float, names: tuple[str, ...], said: Interval
) -> BradleyTerry:
    models = problem.battles.models
    warnings = (*said.warnings, *spread.warnings)
    shared = replace(
        said,
        level=level,
        method=spread.method,
        n=len(problem.battles),
        clusters=spread.clusters,
        df=spread.df,
    )
    estimates = [
        _parameter(replace(shared, value=float(fit.parameters[i])), spread, i)
        for i in range(len(fit.parameters))
    ]
    count = len(models)
    strengths = [
        replace(found, estimand=f"strength of {model}, log scale, mean 0")
        for model, found in zip(models, estimates[:count], strict=True)
    ]
    effects = [
        replace(found, estimand=f"effect of {name} on the log odds")
        for name, found in zip(names, estimates[count:], strict=False)
    ]
    return BradleyTerry(
        models=models,
        strengths=fit.parameters[:count],
        intervals=tuple(strengths),
        covariance=spread.covariance[:count, :count],
        tie_strength=fit.tie_strength,
        coefficients=tuple(effects),
        n=len(problem.battles),
        clusters=spread.clusters,
        df=spread.df,
        level=level,
        method=spread.method,
        log_likelihood=fit.log_likelihood,
        seed=said.seed,
        warnings=warnings,
    )


def _parameter(found: Interval, spread: _Spread, place: int) -> Interval:
    if spread.draws is not None:
        low, high, se, lost, warnings = limits_of_draws(spread.draws[:, place], found.level)
        missing = {"resamples without an estimate": lost} if lost else {}
        return replace(
            found, low=low, high=high, se=se, missing=missing, warnings=(*found.warnings, *warnings)
        )
    variance = float(spread.covariance[place, place])
    if not variance > 0:
        return replace(found, warnings=(*found.warnings, *(spread.warnings or (_FLAT,))))
    half = t_quantile(spread.df, (1 + found.level) / 2) * math.sqrt(variance)
    value = float(found)
    return replace(found, low=value - half, high=value + half, se=math.sqrt(variance))


def bradley_terry_of_wins(
    wins: npt.ArrayLike, models: Sequence[Hashable] | None = None, prior: float = 0.0
) -> tuple[tuple[Hashable, ...], Floats]:
    """Models and strengths (natural log, mean 0) from a matrix of wins of row over column; ties as halves.

    `prior` adds so many wins each way to every pair: a stated assumption that makes undefeated models finite.

    Raises:
        ValueError: a matrix that is not square or negative, or no finite estimate.
    """
    table = table_of(wins, "wins", "(models, models)")
    finite(prior, "prior", minimum=0)
    if table.shape[0] != table.shape[1] or (table < 0).any():
        raise ValueError(f"wins must be a square matrix of counts, not of shape {table.shape}")
    names = tuple(range(len(table))) if models is None else tuple(models)
    check_size(names, len(table), "models", "rows of wins")
    table = table + prior * (1 - np.eye(len(table)))
    np.fill_diagonal(table, 0)
    _check_identified(table, names)
    return names, fit_pairs(table, None).parameters


@dataclass(frozen=True, kw_only=True)
class Elo:
    """Ratings after one pass over the battles: they depend on their order."""

    models: tuple[Hashable, ...]
    ratings: Floats
    spread_over_orders: Floats | None
    """Standard deviation of each rating over shuffled orders of the same battles."""
    n: int
    k: float
    order_dependent: bool = True
    warnings: tuple[str, ...] = (
        "Elo depends on the order of the battles and has no interval; bradley_terry does not and has one",
    )


def elo(
    battles: Given,
    k: float = 4.0,
    init: float = 1000.0,
    scale: float = 400.0,
    shuffles: int = 0,
    seed: int = 0,
) -> Elo:
    """Online Elo ratings in the order given; for comparison with tables that use them.

    `shuffles` > 0 reports how much each rating moves when the same battles come in another order.

    Raises:
        ValueError: as `Battles`.
    """
    given = battles if isinstance(battles, Battles) else Battles.of_triples(battles)
    k, init, scale = finite(k, "k", minimum=0), finite(init, "init"), finite(scale, "scale", minimum=1e-9)
    ratings = _one_pass(given, np.arange(len(given)), k, init, scale)
    random = generator(seed)
    others = [
        _one_pass(given, random.permutation(len(given)), k, init, scale)
        for _ in range(whole(shuffles, "shuffles"))
    ]
    spread = np.std(others, axis=0, ddof=1) if len(others) > 1 else None
    return Elo(models=given.models, ratings=ratings, spread_over_orders=spread, n=len(given), k=k)


def _one_pass(battles: Battles, order: Integers, k: float, init: float, scale: float) -> Floats:
    ratings = [init] * len(battles.models)
    rows = zip(
        battles.first[order].tolist(),
        battles.second[order].tolist(),
        battles.score[order].tolist(),
        strict=True,
    )
    for i, j, score in rows:
        change = k * (score - 1 / (1 + 10 ** ((ratings[j] - ratings[i]) / scale)))
        ratings[i] += change
        ratings[j] -= change
    return np.array(ratings)
