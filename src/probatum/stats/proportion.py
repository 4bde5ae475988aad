"""One rate: k successes in n independent trials, and the difference of two rates."""

from __future__ import annotations

import math
from collections.abc import Callable

from probatum.stats.inputs import (
    check_choice,
    check_level,
    check_probability,
    prior_of,
    whole,
)
from probatum.stats.quantiles import beta_quantile, binomial_tail, normal_quantile
from probatum.stats.result import HypothesisTest, Interval

__all__ = [
    "bernoulli_standard_error",
    "proportion_difference",
    "proportion_interval",
    "proportion_test",
    "rule_of_three",
    "wilson_limits",
]

ESTIMAND = "probability of success, over the population that the n independent trials are drawn from"


def wilson_limits(p: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's limits for an observed share `p` of (effective) size `n`; exact at p = 0 and p = 1.

    `quantile` is the two-sided normal (or t) quantile. Source: Wilson, JASA 1927.
    """
    square = quantile * quantile
    centre = (p + square / (2 * n)) / (1 + square / n)
    half = quantile * math.sqrt(p * (1 - p) / n + square / (4 * n * n)) / (1 + square / n)
    return (0.0 if p == 0 else max(0.0, centre - half)), (1.0 if p == 1 else min(1.0, centre + half))


def _wald(x: int, n: int, level: float, _: tuple[float, float]) -> tuple[float, float]:
    p = x / n
    half = normal_quantile((1 + level) / 2) * math.sqrt(p * (1 - p) / n)
    return max(0.0, p - half), min(1.0, p + half)


def _wilson(x: int, n: int, level: float, _: tuple[float, float]) -> tuple[float, float]:
    return wilson_limits(x / n, n, normal_quantile((1 + level) / 2))


def _agresti_coull(x: int, n: int, level: float, _: tuple[float, float]) -> tuple[float, float]:
    z = normal_quantile((1 + level) / 2)
    size = n + z * z
    centre = (x + z * z / 2) / size
    half = z * math.sqrt(centre * (1 - centre) / size)
    return max(0.0, centre - half), min(1.0, centre + half)


def _clopper_pearson(x: int, n: int, level: float, _: tuple[float, float]) -> tuple[float, float]:
    tail = (1 - level) / 2
    low = 0.0 if x == 0 else beta_quantile(x, n - x + 1, tail)
    high = 1.0 if x == n else beta_quantile(x + 1, n - x, 1 - tail)
    return low, high


def _posterior(x: int, n: int, level: float, prior: tuple[float, float]) -> tuple[float, float]:
    tail = (1 - level) / 2
    a, b = x + prior[0], n - x + prior[1]
    return beta_quantile(a, b, tail), beta_quantile(a, b, 1 - tail)


def _jeffreys(x: int, n: int, level: float, _: tuple[float, float]) -> tuple[float, float]:
    return _posterior(x, n, level, (0.5, 0.5))


def _jeffreys_modified(x: int, n: int, level: float, _: tuple[float, float]) -> tuple[float, float]:
    low, high = _jeffreys(x, n, level, _)
    return (0.0 if x == 0 else low), (1.0 if x == n else high)


_Limits = Callable[[int, int, float, tuple[float, float]], tuple[float, float]]
_METHODS: dict[str, _Limits] = {
    "wald": _wald,
    "wilson": _wilson,
    "agresti_coull": _agresti_coull,
    "clopper_pearson": _clopper_pearson,
    "jeffreys": _jeffreys,
    "jeffreys_modified": _jeffreys_modified,
    "beta_binomial": _posterior,
}


def proportion_interval(
    successes: int,
    n: int,
    method: str = "wilson",
    level: float = 0.95,
    prior: tuple[float, float] = (1.0, 1.0),
) -> Interval:
    """Interval of one rate from `successes` in `n` independent trials.

    Methods: `wilson` (default; mean coverage near the level from n = 10), `clopper_pearson` (exact, never
    below the level: for safety claims), `jeffreys` (equal-tailed Beta(x+½, n-x+½) quantiles),
    `jeffreys_modified` (the same with limits 0 and 1 at 0/n and n/n), `agresti_coull`, `beta_binomial`
    (credible interval under the Beta `prior`, uniform by default) and `wald` (for comparison only).

    Raises:
        ValueError: n is 0, successes are not within 0 … n, or the method is unknown.

    Source: Brown, Cai and DasGupta, Statistical Science 2001.
    """
    n = whole(n, "n", minimum=1)
    successes = whole(successes, "successes")
    if successes > n:
        raise ValueError(f"{successes} successes in {n} trials")
    check_choice(method, _METHODS, "method")
    check_level(level)
    low, high = _METHODS[method](successes, n, level, prior_of(prior))
    p = successes / n
    return Interval(
        value=p,
        low=low,
        high=high,
        level=level,
        method=method,
        n=n,
        se=math.sqrt(p * (1 - p) / n) if 0 < successes < n else None,
        estimand=ESTIMAND,
        warnings=_edge_warnings(successes, n, method, level),
    )


def _edge_warnings(successes: int, n: int, method: str, level: float) -> tuple[str, ...]:
    """What must be said at 0/n and n/n."""
    if 0 < successes < n:
        return ()
    limit = rule_of_three(n, level)
    event, bound = ("success", "above") if successes == 0 else ("failure", "below")
    warning = (
        f"no {event} in {n} trials: the one-sided {level:.0%} limit of the rate of {event} is {limit:.3g} "
        f"(rule of three: {min(1.0, 3 / n):.3g}); the plain standard error is undefined"
    )
    warnings = [warning]
    if method == "wald":
        warnings.append("a Wald interval has no width at 0/n and n/n; use wilson or clopper_pearson")
    if method in {"jeffreys", "beta_binomial"}:
        warnings.append(
            f"equal-tailed limits lie {bound} {successes // n} and leave it out; use jeffreys_modified"
        )
    return tuple(warnings)


def rule_of_three(n: int, level: float = 0.95) -> float:
    """Exact one-sided upper limit of a rate of which no event was seen in n trials: 1 - (1-level)^(1/n).

    3/n approximates it at 95 %.

    Raises:
        ValueError: n is 0.
    """
    n = whole(n, "n", minimum=1)
    return -math.expm1(math.log1p(-check_level(level)) / n)


def bernoulli_standard_error(p: float, n: int, ddof: int = 1) -> float | None:
    """Standard error of a mean of n 0/1 values of mean p: sqrt(p(1-p)/(n-ddof)); `None` where n ≤ ddof.

    `ddof=1` is what the sample standard deviation gives (lm-eval, Inspect); `ddof=0` the plug-in.
    """
    check_probability(p, "p")
    n = whole(n, "n", minimum=1)
    return math.sqrt(p * (1 - p) / (n - ddof)) if n > ddof else None


def proportion_difference(
    successes: tuple[int, int], n: tuple[int, int], method: str = "newcombe", level: float = 0.95
) -> Interval:
    """Interval of p₁ - p₂ of two *independent* samples: Newcombe's hybrid score interval (method 10).

    `newcombe` (default), or `agresti_caffo` (a success and a failure added to each sample) or `wald` (for
    comparison only).

    Two systems that answered the same items are paired: use `paired_difference`.

    Raises:
        ValueError: as `proportion_interval`.

    Source: Newcombe, Statistics in Medicine 1998, 17:873.
    """
    check_choice(method, ("newcombe", "agresti_caffo", "wald"), "method")
    if {len(successes), len(n)} != {2}:
        raise ValueError(f"two samples are compared, not {len(successes)} successes in {len(n)} sizes")
    first, second = (
        proportion_interval(x, size, "wilson", level) for x, size in zip(successes, n, strict=True)
    )
    p, q = float(first), float(second)
    se = math.sqrt(p * (1 - p) / n[0] + q * (1 - q) / n[1]) or None
    if method == "newcombe":
        (low_p, high_p), (low_q, high_q) = _limits_of(first), _limits_of(second)
        low = p - q - math.hypot(p - low_p, high_q - q)
        high = p - q + math.hypot(high_p - p, q - low_q)
    else:
        added = 1 if method == "agresti_caffo" else 0
        sizes = [size + 2 * added for size in n]
        rates = [(x + added) / size for x, size in zip(successes, sizes, strict=True)]
        spread = sum(rate * (1 - rate) / size for rate, size in zip(rates, sizes, strict=True))
        half = normal_quantile((1 + level) / 2) * math.sqrt(spread)
        low, high = (rates[0] - rates[1] + side * half for side in (-1, 1))
    note = "both rates are 0 or 1: the plain standard error is undefined"
    return Interval(
        value=p - q,
        low=max(-1.0, low),
        high=min(1.0, high),
        level=level,
        method=method,
        n=n[0] + n[1],
        se=se,
        estimand="difference of two success probabilities, from independent samples",
        warnings=() if se else (note,),
    )


def _limits_of(interval: Interval) -> tuple[float, float]:
    """The limits of an interval that has them.

    Raises:
        ValueError: it has none.
    """
    limits = interval.interval
    if limits is None:
        raise ValueError(f"the interval is undefined: {'; '.join(interval.warnings)}")
    return limits


def proportion_test(successes: int, n: int, chance: float, alternative: str = "greater") -> HypothesisTest:
    """Exact binomial test of a rate against a fixed `chance` (the rate of a blind guess).

    One-sided by default: is the rate above chance? Two-sided p-values add up every outcome that is no
    likelier than the one seen.

    Raises:
        ValueError: n is 0, or successes or chance are out of range.
    """
    n = whole(n, "n", minimum=1)
    successes = whole(successes, "successes")
    if successes > n:
        raise ValueError(f"{successes} successes in {n} trials")
    check_probability(chance, "chance")
    check_choice(alternative, ("greater", "less", "two-sided"), "alternative")
    upper = binomial_tail(successes, n, chance)
    lower = binomial_tail(n - successes, n, 1 - chance)
    p_value = {"greater": upper, "less": lower}.get(alternative)
    side = {"greater": "at most ", "less": "at least "}.get(alternative, "")
    return HypothesisTest(
        p_value=_two_sided(successes, n, chance) if p_value is None else p_value,
        statistic=successes / n,
        method="exact binomial",
        null=f"the rate is {side}{chance:g}",
        alternative=alternative,
        n=n,
    )


def _two_sided(successes: int, n: int, chance: float) -> float:
    """Sum of the probabilities of every outcome that is no likelier than `successes`."""
    from_log = _log_binomial(n, chance)
    limit = from_log(successes) + 1e-7
    mean = n * chance
    if successes == mean:
        return 1.0
    if successes > mean:
        last = _last_below(from_log, limit, 0, math.floor(mean))
        return min(1.0, binomial_tail(successes, n, chance) + binomial_tail(n - last, n, 1 - chance))
    mirrored = _last_below(lambda k: from_log(n - k), limit, 0, n - math.ceil(mean))
    return min(1.0, binomial_tail(n - successes, n, 1 - chance) + binomial_tail(n - mirrored, n, chance))


def _last_below(log_mass: Callable[[int], float], limit: float, low: int, high: int) -> int:
    """Largest k in low … high with log mass ≤ limit, or low - 1; the mass grows with k there."""
    low -= 1
    while low < high:
        middle = (low + high + 1) // 2
        if log_mass(middle) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _log_binomial(n: int, p: float) -> Callable[[int], float]:
    """Log mass of Binomial(n, p); -inf where it is 0."""

    def log_mass(k: int) -> float:
        if (p == 0 and k > 0) or (p == 1 and k < n):
            return -math.inf
        choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return choose + (k * math.log(p) if k else 0.0) + ((n - k) * math.log1p(-p) if k < n else 0.0)

    return log_mass
