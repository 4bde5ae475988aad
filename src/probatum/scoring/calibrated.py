"""Whether a model's probabilities of its answers are right: from scores that carry a confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from probatum import stats
from probatum.core.protocol import Task
from probatum.core.records import Estimate, Mark
from probatum.core.status import Status

__all__ = ["Calibration"]


NOT_ASKED = "no interval was asked for (samples=0)"
"""What stats says of an area without a bootstrap: a user asked for nothing, and sees that there is none."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Brier score, calibration error and risk–coverage of the chosen answers' probabilities.

    The area under risk–coverage stands without an interval: that would take thousands of sorts.

    Over the scored samples that are right or wrong: a tie that shares the credit is neither, and is left
    out. Nothing is reported where no outcome has a confidence (another form's scorer).
    """

    confidence: str = "confidence"
    correct: str = "sum"
    """The score of the option that the confidence is of: the likeliest by its sum."""
    bins: int = 15

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """Brier score and AUROC with intervals, calibration error and area under risk–coverage without."""
        del task  # probabilities have no blind guess
        scored = [mark for mark in marks if mark.status is Status.SCORED and self.confidence in mark.scores]
        kept = [mark for mark in scored if mark.scores[self.correct] in (0, 1)]
        if not kept:
            return ()
        sure = [mark.scores[self.confidence] for mark in kept]
        right = [mark.scores[self.correct] for mark in kept]
        clusters = [mark.cluster or mark.item_id for mark in kept]
        share = len(kept) / sum(mark.status is not Status.INVALID_ITEM for mark in marks)

        def told(name: str, of: Callable[[], stats.Interval]) -> Estimate:
            return _told(name, of, (len(kept), level, share))

        return (
            told("Brier score of confidence", lambda: stats.brier_score(sure, right, clusters, level=level)),
            told(
                f"calibration error ({self.bins} bins)",
                lambda: stats.expected_calibration_error(sure, right, bins=self.bins),
            ),
            told("AUROC of confidence", lambda: stats.auroc(sure, right, clusters, level=level)),
            told(
                "area under risk-coverage",
                lambda: stats.aurc(sure, [1 - each for each in right], level=level),
            ),
        )


def _told(name: str, of: Callable[[], stats.Interval], counts: tuple[int, float, float]) -> Estimate:
    n, level, share = counts
    try:
        found = of()
    except ValueError as error:
        none = Estimate.undefined(name, level, str(error), denominator="capability", coverage=share)
        return replace(none, n=n)
    return Estimate(
        name=name,
        value=found.value,
        low=found.low,
        high=found.high,
        level=level,
        method=found.method,
        n=n,
        clusters=found.clusters,
        se=found.se,
        df=found.df,
        denominator="capability",
        coverage=share,
        warnings=tuple(each for each in found.warnings if each != NOT_ASKED),
    )
