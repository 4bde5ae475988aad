"""Newton's method for Bradley–Terry likelihoods.

The information matrix of the strengths is the Laplacian of a weighted graph. Its systems are solved by
conjugate gradients on plain array products: no BLAS call, whose threads cost more than such small systems
are worth (a factor of 14 to 47 was seen on a busy machine), and warm starts make refits cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from probatum.stats.battles import TIE, Battles
from probatum.stats.inputs import Floats, sum_by

__all__ = ["Fit", "fit_davidson", "fit_pairs", "fit_with_covariates", "moments"]

_STEPS = 100
_SMALL_STEP = 1e-11
"""A step of Newton's method so small that the next would be rounding."""
_FLAT = 1e-9
"""Curvature, against that at equal odds, below which a maximum is none."""
_FAR = 200.0
"""Log odds that no battles can show."""
_ENDLESS = "no finite estimate exists: ever larger strengths and ties fit these battles ever better"
_GRADIENT = 1e-12
"""Stop where the gradient is so small against the number of battles (of pairs alone: of surprising wins)."""


@dataclass(frozen=True)
class Fit:
    """A maximum of the likelihood."""

    parameters: Floats
    """Strengths with mean 0, then (Davidson) ln ν or (covariates) their effects."""
    information: Floats
    """Negative second derivative there."""
    log_likelihood: float
    models: int
    davidson: bool = False

    @property
    def tie_strength(self) -> float | None:
        """Davidson's ν."""
        return float(np.exp(self.parameters[self.models])) if self.davidson else None

    def scores(self, battles: Battles, covariates: Floats | None) -> tuple[Floats, Floats | None]:
        """Per battle: the derivative by the strength of the first model, and by the other parameters."""
        gap = self.parameters[battles.first] - self.parameters[battles.second]
        if covariates is not None:
            gap = gap + covariates @ self.parameters[self.models :]
            residual = battles.score - special.expit(gap)
            return residual, residual[:, np.newaxis] * covariates
        if not self.davidson:
            return battles.score - special.expit(gap), None
        expected, tied = _davidson_expectations(gap, float(np.exp(self.parameters[self.models])))
        is_tie = battles.score == TIE
        return battles.score - expected, (is_tie - tied)[:, np.newaxis]


def _solve(weights: Floats, gradient: Floats, relative: float = 1e-15) -> Floats:
    """The x with mean 0 such that Laplacian(weights)·x = gradient, by preconditioned conjugate gradients.

    `relative` is what may be left of the gradient: a step far from the maximum need not be exact.
    """
    degree = weights.sum(axis=1)
    x = np.zeros(len(gradient))
    residual = gradient - gradient.mean()
    limit = relative * float(np.abs(residual).max(initial=0.0)) + 1e-300
    z = residual / degree
    direction = z.copy()
    inner = float((residual * z).sum())
    for _ in range(10 * len(gradient) + 50):
        if float(np.abs(residual).max()) <= limit or inner <= 0:
            break
        image = degree * direction - (weights * direction).sum(axis=1)
        curvature = float((direction * image).sum())
        if curvature <= 0:  # nothing is left but rounding
            break
        length = inner / curvature
        x += length * direction
        residual -= length * image
        z = residual / degree
        previous, inner = inner, float((residual * z).sum())
        direction = z + inner / previous * direction
    return np.asarray(x - x.mean())


def _pair_likelihood(theta: Floats, wins: Floats) -> float:
    return float((wins * special.log_expit(theta[:, np.newaxis] - theta)).sum())


def fit_pairs(wins: Floats, start: Fit | None) -> Fit:
    """Bradley–Terry strengths from wins of row over column (ties as halves): Newton on the pair matrix."""
    games = wins + wins.T
    won = wins.sum(axis=1)
    total = float(wins.sum())
    theta = _first_guess(won, games) if start is None else start.parameters[: len(wins)].copy()
    step, before = np.zeros(len(wins)), np.inf
    for _ in range(_STEPS):
        moved = theta + step
        p = special.expit(moved[:, np.newaxis] - moved)
        surprising = wins * p.T  # wins × probability of a loss: the gradient without cancellation
        flow = surprising.sum(axis=1)
        gradient = flow - surprising.sum(axis=0)
        slope = float(np.abs(gradient).max())
        if slope > before and float(np.abs(step).max()) > _SMALL_STEP:  # too far: the slope falls along it
            step = step / 2
            continue
        theta, before = moved, slope
        weights = games * p * p.T
        if (np.abs(gradient) <= _GRADIENT * flow).all():
            break
        step = _solve(weights, gradient, max(1e-15, min(1e-3, slope / total)))
        if float(np.abs(step).max()) <= _SMALL_STEP:
            theta = theta + step
            break
    if not np.isfinite(theta).all():
        raise ValueError("no finite estimate exists in floating point: some model wins too rarely")
    theta = theta - theta.mean()
    return Fit(theta, _laplacian(weights), _pair_likelihood(theta, wins), len(wins))


def _first_guess(won: Floats, games: Floats) -> Floats:
    """Log odds of the share of battles won, kept from the ends."""
    played = games.sum(axis=1)
    share = (won + 1) / (played + 2)
    guess = np.log(share / (1 - share))
    return np.asarray(guess - guess.mean())


def _climb(
    theta: Floats, step: Floats, likelihood: float, of: Callable[[Floats], float]
) -> tuple[Floats, float, bool]:
    """The longest of step, step/2, … that does not lower the likelihood by more than rounding."""
    slack = 1e-12 * abs(likelihood)
    for _ in range(40):
        reached = of(theta + step)
        if reached >= likelihood - slack:
            return theta + step, reached, bool(np.abs(step).max() > 1e-13)  # noqa: PLR2004 - rounding
        step = step / 2
    return theta, likelihood, False


def _laplacian(weights: Floats) -> Floats:
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)


def _davidson_expectations(gap: Floats, nu: float) -> tuple[Floats, Floats]:
    """Expected score of the first, and probability of a tie."""
    up, down = np.exp(gap / 2), np.exp(-gap / 2)
    total = up + down + nu
    tied = nu / total
    return up / total + tied / 2, tied


def _davidson_step(weights: Floats, cross: Floats, own: float, gradient: Floats, slope: float) -> Floats:
    """Newton's step of the strengths and of ln ν."""
    if not weights.sum(axis=1).min() > 0:
        raise ValueError(_ENDLESS)
    plain, tilted = _solve(weights, gradient), _solve(weights, cross)
    rest = own - float((cross * tilted).sum())
    if not rest > 0:
        raise ValueError(_ENDLESS)
    eta_step = (slope - float((cross * plain).sum())) / rest
    return np.asarray(np.r_[plain - eta_step * tilted, eta_step], np.float64)


def fit_davidson(wins: Floats, tied: Floats, start: Fit | None) -> Fit:
    """Davidson's model: P(tie) = ν√(πᵢπⱼ)/(πᵢ + πⱼ + ν√(πᵢπⱼ)); Newton on strengths and ln ν."""
    models = len(wins)
    games = wins + wins.T + tied
    points = wins.sum(axis=1) + tied.sum(axis=1) / 2
    ties = float(tied.sum()) / 2
    if not ties or not wins.any():
        raise ValueError("the strength of ties has no finite estimate: all battles are ties, or none is")

    def likelihood(parameters: Floats) -> float:
        theta, eta = parameters[:-1], parameters[-1]
        gap = theta[:, np.newaxis] - theta
        log_total = np.logaddexp(np.logaddexp(gap / 2, -gap / 2), eta)
        return float((wins * (gap / 2 - log_total)).sum() + (tied * (eta - log_total)).sum() / 2)

    if start is None:
        parameters = np.r_[
            fit_pairs(wins + tied / 2, None).parameters, np.log(2 * ties / max(wins.sum(), 1.0))
        ]
    else:
        parameters = start.parameters.copy()
    value = likelihood(parameters)
    for _ in range(_STEPS):
        gap = parameters[:-1, np.newaxis] - parameters[:-1]
        if float(np.abs(gap).max()) > _FAR or abs(float(parameters[-1])) > _FAR:
            raise ValueError(_ENDLESS)
        expected, tie = _davidson_expectations(gap, float(np.exp(parameters[-1])))
        gradient = points - (games * expected).sum(axis=1)
        slope = ties - float((games * tie).sum()) / 2
        weights = games * (expected - tie / 4 - expected**2)
        cross = (games * tie * (0.5 - expected)).sum(axis=1)
        own = float((games * tie * (1 - tie)).sum()) / 2
        if max(float(np.abs(gradient).max()), abs(slope)) <= _GRADIENT * float(games.sum()):
            break
        step = _davidson_step(weights, cross, own, gradient, slope)
        parameters, value, moved = _climb(parameters, step, value, likelihood)
        if not moved:
            break
    if float((weights.sum(axis=1) / games.sum(axis=1)).min()) < _FLAT or own < _FLAT * float(games.sum()):
        raise ValueError(_ENDLESS)
    information = np.zeros((models + 1, models + 1))
    information[:models, :models] = _laplacian(weights)
    information[:models, models] = information[models, :models] = cross
    information[models, models] = own
    parameters[:models] -= parameters[:models].mean()
    return Fit(parameters, information, value, models, davidson=True)


def fit_with_covariates(
    battles: Battles, covariates: Floats, weights: Floats | None, start: Fit | None
) -> Fit:
    """Strengths and effects of covariates: logistic regression, Newton on sums over pairs and columns."""
    models, columns = len(battles.models), covariates.shape[1]
    weight = np.ones(len(battles)) if weights is None else weights
    parameters = np.zeros(models + columns) if start is None else start.parameters.copy()

    def gap_of(values: Floats) -> Floats:
        return np.asarray(values[battles.first] - values[battles.second] + covariates @ values[models:])

    def likelihood(values: Floats) -> float:
        gap = gap_of(values)
        return float((weight * (special.log_expit(gap) - (1 - battles.score) * gap)).sum())

    value = likelihood(parameters)
    scale = float(weight.sum())
    for _ in range(_STEPS):
        p = special.expit(gap_of(parameters))
        gradient = _gradient(battles, covariates, weight * (battles.score - p))
        information = _information(battles, covariates, weight * p * (1 - p))
        if float(np.abs(gradient).max()) <= _GRADIENT * scale:
            break
        step = _grounded_step(information, gradient, models)
        parameters, value, moved = _climb(parameters, step, value, likelihood)
        if not moved:
            break
    _check_effects(information, _information(battles, covariates, weight / 4), models)
    parameters[:models] -= parameters[:models].mean()
    return Fit(parameters, information, value, models)


def _grounded_step(information: Floats, gradient: Floats, models: int) -> Floats:
    """Newton's step; the free shift of all strengths is tied down."""
    grounded = information.copy()
    grounded[:models, :models] += float(np.trace(information)) / models**2
    try:
        return np.asarray(np.linalg.solve(grounded, gradient), np.float64)
    except np.linalg.LinAlgError:
        raise ValueError("the effects of the covariates cannot be told apart; leave one out") from None


def _check_effects(information: Floats, at_start: Floats, models: int) -> None:
    """Refuses effects that repeat one another, and effects that grow without end.

    Where a covariate separates wins from losses the curvature dies away as its effect grows.
    """
    scale = np.sqrt(np.diag(at_start))
    for curvature, why in (
        (at_start, "the effects of the covariates cannot be told apart; leave one out"),
        (information, "no finite estimate exists: a covariate separates the wins from the losses"),
    ):
        relative = curvature / np.outer(scale, scale)
        relative[:models, :models] += 1 / models
        if float(np.linalg.eigvalsh(relative)[0]) < _FLAT:
            raise ValueError(why)


def _gradient(battles: Battles, covariates: Floats, residual: Floats) -> Floats:
    models = len(battles.models)
    strengths = np.bincount(battles.first, residual, minlength=models)
    strengths -= np.bincount(battles.second, residual, minlength=models)
    effects = [float((column * residual).sum()) for column in covariates.T]
    return np.asarray(np.r_[strengths, effects], np.float64)


def _information(battles: Battles, covariates: Floats, curvature: Floats) -> Floats:
    weighted = curvature[:, np.newaxis] * covariates
    return moments(battles, curvature, weighted, covariates, weighted)


def moments(
    battles: Battles, square: Floats, cross: Floats, columns: Floats, weighted: Floats | None = None
) -> Floats:
    """Σ over battles of v·vᵀ, where v is (r at the first, -r at the second model, then the columns).

    `square` is r² of each battle, `cross` r × columns; for a weighted sum the weights are already in
    `square`, in `cross` and in `weighted` (weights × columns).
    """
    models, width = len(battles.models), columns.shape[1]
    key = battles.first * models + battles.second
    pairs = sum_by(key, square, models * models).reshape(models, models)
    total = np.zeros((models + width, models + width))
    total[:models, :models] = _laplacian(pairs + pairs.T)
    left = columns if weighted is None else weighted
    for k in range(width):
        edge = np.bincount(battles.first, cross[:, k], minlength=models)
        edge -= np.bincount(battles.second, cross[:, k], minlength=models)
        total[:models, models + k] = total[models + k, :models] = edge
        for other in range(k + 1):
            entry = float((left[:, k] * columns[:, other]).sum())
            total[models + k, models + other] = total[models + other, models + k] = entry
    return total
