"""Before a run: how many items, what could be detected, with which power."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from scipy import special

from probatum.stats.inputs import check_choice, check_probability, finite, whole
from probatum.stats.quantiles import normal_quantile, normal_tail, t_quantile

__all__ = [
    "Design",
    "Plan",
    "design_effect",
    "effective_size",
    "minimum_detectable_effect",
    "power",
    "power_of_t",
    "sample_size",
    "sample_size_of_t",
]


@dataclass(frozen=True, kw_only=True)
class Design:
    """Where the variance of an estimate of a difference comes from, per item.

    The variance of the estimate is (between + within_a/samples_a + within_b/samples_b) · design effect / n.
    """

    between: float
    """ω²: variance over items of the difference of the true item scores (paired); of two unpaired systems
    the sum of their variances."""
    within_a: float = 0.0
    """σ²: mean variance of one sample of system a around its item score."""
    within_b: float = 0.0
    samples_a: int = 1
    """Samples an item."""
    samples_b: int = 1
    cluster_size: float = 1.0
    """Items a cluster (mean)."""
    icc: float = 0.0
    """Intraclass correlation of the differences within a cluster."""
    cluster_size_cv: float = 0.0
    """Coefficient of variation of the cluster sizes."""
    assumptions: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("between", "within_a", "within_b"):
            if finite(getattr(self, name), name) < 0:
                raise ValueError(f"{name} must be a variance, not {getattr(self, name)!r}")
        if self.variance <= 0:
            raise ValueError("the variances are all 0: nothing varies, and any difference is certain")

    @property
    def variance(self) -> float:
        """Variance of the estimate times the number of items."""
        noise = self.within_a / whole(self.samples_a, "samples_a", minimum=1)
        noise += self.within_b / whole(self.samples_b, "samples_b", minimum=1)
        return (self.between + noise) * self.effect_of_clusters

    def described(self) -> tuple[str, ...]:
        """The parts of the variance in words."""
        said = [f"variance of the difference over items {self.between:g}"]
        if self.within_a or self.within_b:
            said.append(
                f"variance of one sample {self.within_a:g} and {self.within_b:g}, {self.samples_a} and "
                f"{self.samples_b} samples an item"
            )
        if self.icc:
            said.append(f"clusters of {self.cluster_size:g} items, intraclass correlation {self.icc:g}")
        return tuple(said)

    @property
    def effect_of_clusters(self) -> float:
        """The design effect."""
        return design_effect(self.cluster_size, self.icc, self.cluster_size_cv)

    @classmethod
    def of_rates(
        cls,
        rate: float = 0.5,
        rate_b: float | None = None,
        correlation: float = 0.0,
        *,
        paired: bool = True,
        cluster_size: float = 1.0,
        icc: float = 0.0,
        within: float = 0.0,
        samples: int = 1,
    ) -> Design:
        """Two rates on 0/1 scores.

        Args:
            rate: Rate of the first system; 0.5 is the worst case.
            rate_b: Rate of the second; the same by default.
            correlation: Of the two scores over items, one answer an item (0.3 to 0.7 is usual for models of
                one kind).
            paired: Whether both answer the same items.
            cluster_size: Items a cluster.
            icc: Correlation of differences within a cluster.
            within: Variance of one answer around the rate of its item, in each system (`item_means` of a
                trial run has it); the part of the variance that more samples an item make smaller.
            samples: Answers an item.

        Raises:
            ValueError: rates out of range, or a correlation or `within` that such rates cannot have.
        """
        samples = whole(samples, "samples", minimum=1)
        first = check_probability(rate, "rate")
        second = first if rate_b is None else check_probability(rate_b, "rate_b")
        spread = math.sqrt(first * (1 - first) * second * (1 - second))
        covariance = finite(correlation, "correlation") * spread
        least, most = max(0.0, first + second - 1) - first * second, min(first, second) - first * second
        if paired and not least - 1e-12 <= covariance <= most + 1e-12:
            raise ValueError(
                f"correlation {correlation:g} is impossible for 0/1 scores with rates {first:g} and "
                f"{second:g}: it lies within {least / spread:.3g} … {most / spread:.3g}"
                if spread
                else f"rates {first:g} and {second:g} leave no variance to correlate"
            )
        variance = first * (1 - first) + second * (1 - second) - (2 * covariance if paired else 0.0)
        said = [
            f"rates {first:g} and {second:g}" + (" (the worst case)" if first == second == 0.5 else ""),  # noqa: PLR2004 - one half
            f"paired on the same items, correlation {correlation:g}" if paired else "independent samples",
            "one answer an item" if samples == 1 else f"{samples} answers an item",
        ]
        most_within = min(first * (1 - first), second * (1 - second), variance / 2)
        if not finite(within, "within", minimum=0) <= most_within + 1e-12:
            raise ValueError(
                f"within {within:g} is impossible at these rates and correlation: at most {most_within:.3g}"
            )
        if samples > 1:
            said.append(f"variance {within:g} of one answer around the rate of its item")
            if not within:
                said.append("answers to one item never differ, so that more of them bring nothing")
        if icc:
            said.append(f"clusters of {cluster_size:g} items, intraclass correlation {icc:g}")
        return cls(
            between=max(0.0, variance - 2 * within),
            within_a=within,
            within_b=within,
            samples_a=samples,
            samples_b=samples,
            cluster_size=cluster_size,
            icc=icc,
            assumptions=tuple(said),
        )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An answer of planning, with everything it supposes."""

    n: int
    """Items (of each system)."""
    n_exact: float
    """Before rounding up."""
    effect: float
    power: float
    alpha: float
    alternative: str
    variance: float
    """Of the estimate, times n."""
    design_effect: float
    clusters: int | None
    """Clusters that hold n items, where items are clustered."""
    method: str = "normal approximation"
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def design_effect(cluster_size: float, icc: float, cluster_size_cv: float = 0.0) -> float:
    """Factor by which clustering multiplies the variance of a mean: 1 + ((1 + cv²)·m - 1)·ρ.

    Sources: Kish 1965; Eldridge et al. 2006 for unequal sizes.
    """
    cluster_size = finite(cluster_size, "cluster_size", minimum=1)
    cluster_size_cv = finite(cluster_size_cv, "cluster_size_cv", minimum=0)
    if not -1 <= finite(icc, "icc") <= 1:
        raise ValueError(f"icc must lie in [-1, 1], not {icc!r}")
    effect = 1 + ((1 + cluster_size_cv**2) * cluster_size - 1) * icc
    if effect <= 0:
        raise ValueError(f"an icc of {icc!r} is impossible in clusters of {cluster_size:g}")
    return effect


def effective_size(n: float, effect: float) -> float:
    """Independent items that n clustered ones are worth."""
    return finite(n, "n", minimum=0) / finite(effect, "effect", minimum=1e-12)


def _quantile_sum(alpha: float, power_: float, alternative: str) -> float:
    check_choice(alternative, ("two-sided", "one-sided"), "alternative")
    for name, value in (("alpha", alpha), ("power", power_)):
        if not 0 < finite(value, name) < 1:
            raise ValueError(f"{name} must lie between 0 and 1, not {value!r}")
    tail = alpha / 2 if alternative == "two-sided" else alpha
    return normal_quantile(1 - tail) + normal_quantile(power_)


def sample_size(
    effect: float, design: Design, alpha: float = 0.05, power: float = 0.8, alternative: str = "two-sided"
) -> Plan:
    """Items needed to detect a difference of `effect`: (z_α + z_power)² · variance / effect².

    Raises:
        ValueError: an effect of 0, or levels out of range.

    Source: Miller 2024, arXiv:2411.00640, section 5, extended by the design effect.
    """
    if not finite(effect, "effect"):
        raise ValueError(f"effect must not be 0: {effect!r}")
    exact = (_quantile_sum(alpha, power, alternative) / effect) ** 2 * design.variance
    return _plan(math.ceil(exact - 1e-9), exact, abs(effect), power, alpha, alternative, design)


def minimum_detectable_effect(
    n: int, design: Design, alpha: float = 0.05, power: float = 0.8, alternative: str = "two-sided"
) -> Plan:
    """The difference that n items detect with the given power.

    Raises:
        ValueError: n is 0, or levels are out of range.
    """
    n = whole(n, "n", minimum=1)
    effect = _quantile_sum(alpha, power, alternative) * math.sqrt(design.variance / n)
    return _plan(n, float(n), effect, power, alpha, alternative, design)


def power(n: int, effect: float, design: Design, alpha: float = 0.05, alternative: str = "two-sided") -> Plan:
    """The probability that n items show a true difference of `effect`.

    Raises:
        ValueError: n is 0, or alpha is out of range.
    """
    n = whole(n, "n", minimum=1)
    _quantile_sum(alpha, 0.5, alternative)
    shift = abs(finite(effect, "effect")) / math.sqrt(design.variance / n)
    critical = normal_quantile(1 - (alpha / 2 if alternative == "two-sided" else alpha))
    reached = normal_tail(critical - shift)
    if alternative == "two-sided":
        reached += normal_tail(critical + shift)
    return _plan(n, float(n), abs(effect), reached, alpha, alternative, design)


def _plan(
    n: int, exact: float, effect: float, power_: float, alpha: float, alternative: str, design: Design
) -> Plan:
    clusters = math.ceil(n / design.cluster_size) if design.icc else None
    plan = Plan(
        n=n,
        n_exact=exact,
        effect=effect,
        power=power_,
        alpha=alpha,
        alternative=alternative,
        variance=design.variance,
        design_effect=design.effect_of_clusters,
        clusters=clusters,
        assumptions=design.assumptions or design.described(),
    )
    units = clusters or n
    if units < 30:  # noqa: PLR2004 - the customary floor of normal approximations
        return replace(plan, warnings=(f"{units} independent units are few for a normal approximation",))
    return plan


def power_of_t(effect: float, n: float, alpha: float = 0.05, alternative: str = "two-sided") -> float:
    """Power of the one-sample (or paired) t test at a standardised effect (mean over SD) of `effect`."""
    check_choice(alternative, ("two-sided", "one-sided"), "alternative")
    n = finite(n, "n", minimum=1 + 1e-12)
    df, shift = n - 1, abs(finite(effect, "effect")) * math.sqrt(n)
    if alternative == "one-sided":
        return 1 - _noncentral_below(df, shift, t_quantile(df, 1 - alpha))
    critical = t_quantile(df, 1 - alpha / 2)
    return 1 - _noncentral_below(df, shift, critical) + _noncentral_below(df, shift, -critical)


def _noncentral_below(df: float, shift: float, t: float) -> float:
    """P(T ≤ t) of the noncentral t; scipy gives NaN far out, where it is below 1e-14."""
    found = float(special.nctdtr(df, shift, t))
    return 0.0 if math.isnan(found) else found


def sample_size_of_t(
    effect: float, alpha: float = 0.05, power: float = 0.8, alternative: str = "two-sided"
) -> float:
    """Items at which the one-sample (or paired) t test reaches the power, not rounded.

    Raises:
        ValueError: an effect of 0, or levels out of range.
    """
    if not finite(effect, "effect"):
        raise ValueError("effect must not be 0")
    start = (_quantile_sum(alpha, power, alternative) / effect) ** 2
    return _root(lambda n: power_of_t(effect, n, alpha, alternative) - power, 2.0 + 1e-9, 2 * start + 20)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0."""
    if function(low) >= 0:
        return low
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) >= 0 else (middle, high)
    return (low + high) / 2
