"""What every estimator returns: the number, its interval, and all that is needed to defend both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["HypothesisTest", "Interval"]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate and its confidence interval.

    What is undefined is `None`, and then `warnings` says why; it is never 0 and never NaN.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    """How the interval was made, in words that a report can print."""
    n: int = 0
    """Observations (items, tasks, pairs) in the estimate."""
    se: float | None = None
    clusters: int | None = None
    """Independent units among the `n`, as the estimator counted them; `None` where it takes no clusters."""
    df: float | None = None
    """Degrees of freedom of the t quantile; `None` where none was used."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """Reason → observations that are not in the estimate."""
    estimand: str = ""
    """What the number is an estimate of."""
    seed: int | None = None
    """Seed of the random numbers; `None` where nothing was random."""
    warnings: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float] | None:
        """`(low, high)`, or `None` where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def width(self) -> float | None:
        """Length of the interval, or `None`."""
        return None if self.low is None or self.high is None else self.high - self.low

    def __float__(self) -> float:
        """The value alone.

        Raises:
            ValueError: the value is undefined.
        """
        if self.value is None:
            raise ValueError(f"the value is undefined: {'; '.join(self.warnings)}")
        return float(self.value)


@dataclass(frozen=True, kw_only=True)
class HypothesisTest:
    """A p-value, and the test that it belongs to."""

    p_value: float | None
    statistic: float | None = None
    """The statistic that was compared with its null distribution; its meaning follows from `method`."""
    method: str = ""
    null: str = ""
    """The hypothesis that a small p-value speaks against."""
    alternative: str = "two-sided"
    """`two-sided`, `greater` or `less`."""
    n: int = 0
    clusters: int | None = None
    df: float | None = None
    smallest: float | None = None
    """The smallest p-value that this test can give on data of this size, where there is such a floor."""
    seed: int | None = None
    warnings: tuple[str, ...] = ()

    def __float__(self) -> float:
        """The p-value alone.

        Raises:
            ValueError: the p-value is undefined.
        """
        if self.p_value is None:
            raise ValueError(f"the p-value is undefined: {'; '.join(self.warnings)}")
        return float(self.p_value)
