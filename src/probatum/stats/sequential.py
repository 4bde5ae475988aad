"""Looking while a run goes on: e-processes and confidence sequences, valid at every stopping time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from probatum.stats.inputs import (
    Floats,
    check_bounds,
    check_choice,
    check_level,
    finite,
    prior_of,
    scores_of,
    whole,
)
from probatum.stats.result import Interval

__all__ = ["ConfidenceSequence", "EProcess", "beta_binomial_e_value", "confidence_sequence", "e_process"]

_GRID = 2_001
"""Candidate means that a confidence sequence tries."""
_TRUNCATION = 0.5
"""Bets stay within half of what could ruin them (Waudby-Smith and Ramdas 2023, section 4)."""


@dataclass(frozen=True, kw_only=True)
class EProcess:
    """Evidence against a null that may be looked at after every observation.

    Under the null the probability that it *ever* reaches 1/α is at most α: stop when you like.
    """

    log_e: Floats
    """ln of the e-value after 1 … n observations, shape (n,)."""
    null: float
    alternative: str
    n: int
    method: str

    @property
    def e_value(self) -> float:
        """After the last observation (infinite where it is beyond floating point)."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_e[-1]))

    @property
    def p_value(self) -> float:
        """Valid at every stopping time: 1 / (largest e-value so far), at most 1."""
        return min(1.0, float(np.exp(-max(0.0, float(self.log_e.max())))))

    def rejected_at(self, alpha: float = 0.05) -> int | None:
        """The number of observations at which the null was first rejected, or `None`."""
        if not 0 < finite(alpha, "alpha") < 1:
            raise ValueError(f"alpha must lie between 0 and 1, not {alpha!r}")
        crossed = np.flatnonzero(self.log_e >= -math.log(alpha))
        return int(crossed[0]) + 1 if crossed.size else None


def beta_binomial_e_value(
    successes: int, n: int, null: float, prior: tuple[float, float] = (1.0, 1.0)
) -> float:
    """Logarithm of the mixture e-value of k successes in n against the rate `null`.

    B(a+k, b+n-k) / (B(a, b) p₀^k (1-p₀)^(n-k)); reject where e ≥ 1/α, at any stopping time.

    Raises:
        ValueError: counts or the null are out of range.
    """
    n, successes = whole(n, "n"), whole(successes, "successes")
    if successes > n or not 0 < finite(null, "null") < 1:
        raise ValueError(f"{successes} of {n} against {null!r} is out of range")
    a, b = prior_of(prior)
    log_mixture = float(special.betaln(a + successes, b + n - successes) - special.betaln(a, b))
    return log_mixture - successes * math.log(null) - (n - successes) * math.log1p(-null)


def e_process(
    scores: npt.ArrayLike,
    null: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    alternative: str = "two-sided",
) -> EProcess:
    """Betting e-process that the mean of bounded scores is `null`.

    Args:
        scores: In the order in which they came, shape (n,); one independent unit each (of clustered items
            the cluster means). For a paired difference: a - b, `null` 0 and `bounds` (-1, 1).
        null: The mean under the null.
        bounds: The range of a score.
        alternative: `two-sided` (half of the money on each side), `greater` or `less`.

    Raises:
        ValueError: scores out of bounds, or a null that is not inside them.

    Source: Waudby-Smith and Ramdas, JRSS B 2024 (arXiv:2010.09686): hedged capital with predictable
    plug-in bets.
    """
    check_choice(alternative, ("two-sided", "greater", "less"), "alternative")
    values = _scaled(scores, bounds)
    low, high = check_bounds(bounds)
    target = (finite(null, "null") - low) / (high - low)
    if not 0 < target < 1:
        raise ValueError(f"null must lie inside {low:g} … {high:g}, not {null!r}")
    up, down = _log_capital(values, np.array([target]), _bets(values, alpha=0.05))
    log_up, log_down = up[:, 0], down[:, 0]
    log_e = {"greater": log_up, "less": log_down}.get(alternative)
    if log_e is None:
        log_e = np.logaddexp(log_up, log_down) - math.log(2)
    return EProcess(log_e=log_e, null=null, alternative=alternative, n=len(values), method="hedged betting")


def _scaled(scores: npt.ArrayLike, bounds: tuple[float, float]) -> Floats:
    low, high = check_bounds(bounds)
    values = (scores_of(scores) - low) / (high - low)
    if values.min() < 0 or values.max() > 1:
        raise ValueError(f"scores must lie within {low:g} … {high:g}")
    return values


def _bets(values: Floats, alpha: float) -> Floats:
    """Predictable plug-in bets: each looks at earlier scores alone, shape (n,)."""
    n = len(values)
    steps = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values)) / (steps + 1)
    spreads = (0.25 + np.cumsum(np.square(values - means))) / (steps + 1)
    earlier = np.r_[0.25, spreads[:-1]]
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (earlier * steps * np.log1p(steps))))


def _log_capital(values: Floats, targets: Floats, bets: Floats) -> tuple[Floats, Floats]:
    """Logarithm of the capital of the bets on "above" and "below" each target, shape (n, targets)."""
    up_bets = np.minimum(bets[:, np.newaxis], _TRUNCATION / targets)
    down_bets = np.minimum(bets[:, np.newaxis], _TRUNCATION / (1 - targets))
    gain = values[:, np.newaxis] - targets
    return np.cumsum(np.log1p(up_bets * gain), axis=0), np.cumsum(np.log1p(-down_bets * gain), axis=0)


@dataclass(frozen=True, kw_only=True)
class ConfidenceSequence(Interval):
    """Intervals that all hold the mean at once, so that one may stop at any of them."""

    lows: Floats
    """Lower limits after 1 … n observations, shape (n,); they never widen again."""
    highs: Floats


def confidence_sequence(
    scores: npt.ArrayLike, bounds: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> ConfidenceSequence:
    """Hedged betting confidence sequence of the mean of bounded scores, in order of arrival.

    The limits are those of 2,001 candidate means, widened to the next candidate on either side.

    Raises:
        ValueError: scores out of bounds.

    Source: as `e_process`, theorem 3.
    """
    check_level(level)
    values = _scaled(scores, bounds)
    low, high = check_bounds(bounds)
    targets = np.linspace(0, 1, _GRID)[1:-1]
    bets = _bets(values, 1 - level)
    limit = -math.log(1 - level) + math.log(2)
    lows, highs = np.empty(len(values)), np.empty(len(values))
    capital_up, capital_down = np.zeros(len(targets)), np.zeros(len(targets))
    alive = np.ones(len(targets), dtype=bool)
    for i, value in enumerate(values):
        gain = value - targets
        capital_up += np.log1p(np.minimum(bets[i], _TRUNCATION / targets) * gain)
        capital_down += np.log1p(-np.minimum(bets[i], _TRUNCATION / (1 - targets)) * gain)
        alive &= np.maximum(capital_up, capital_down) < limit
        kept = np.flatnonzero(alive)
        if not kept.size:  # the mean lies outside every candidate: keep the last limits
            lows[i:], highs[i:] = lows[i - 1], highs[i - 1]
            break
        lows[i] = 0.0 if kept[0] == 0 else targets[kept[0] - 1]
        highs[i] = 1.0 if kept[-1] == len(targets) - 1 else targets[kept[-1] + 1]
    span, mean = high - low, float(values.mean())
    note = "the mean lies outside the limits: later scores contradict the earlier ones"
    return ConfidenceSequence(
        value=low + span * mean,
        low=low + span * float(lows[-1]),
        high=low + span * float(highs[-1]),
        level=level,
        method="hedged betting confidence sequence",
        n=len(values),
        estimand="mean of the sequence; the limits hold at every stopping time",
        warnings=() if lows[-1] <= mean <= highs[-1] else (note,),
        lows=low + span * lows,
        highs=low + span * highs,
    )
