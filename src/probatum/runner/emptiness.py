"""How many generations are empty: where many are, the template, a stop string or the harness is at fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from probatum.core.records import Finish
from probatum.core.run import Sample

__all__ = ["TOO_MANY", "Emptiness", "emptiness", "generations"]

TOO_MANY: Final = 0.05
"""Share of empty generations above which a run is flagged."""
LOOKED_AT: Final = 2000
"""Samples of a run that are looked at, from the first; enough to see a share of 5%."""


@dataclass(frozen=True)
class Emptiness:
    """Empty generations among those that were looked at."""

    generations: int
    empty: int

    @property
    def share(self) -> float:
        """0 where nothing was generated at all."""
        return self.empty / self.generations if self.generations else 0.0

    def note(self, threshold: float = TOO_MANY) -> str | None:
        """The flag that stands beside every score of the run; `None` up to the threshold."""
        if self.share <= threshold:
            return None
        return (
            f"{self.share:.0%} empty generations ({self.empty} of {self.generations}): look at the template, "
            "the stop strings and the server before believing a score"
        )


def emptiness(texts: Iterable[str]) -> Emptiness:
    """Counts texts without a character that is seen."""
    kept = [bool(text.strip()) for text in texts]
    return Emptiness(len(kept), kept.count(False))


def generations(samples: Iterable[Sample]) -> Iterable[str]:
    """The last generated text of each of the first samples; reasoning apart from the text counts as text.

    What was scored instead of generated, failed or was withheld is no generation.
    """
    for sample in islice(samples, LOOKED_AT):
        last = sample.responses[-1] if sample.responses else None
        if last is None or sample.requests[-1].continuation is not None:
            continue
        if last.finish in (Finish.STOP, Finish.LENGTH):
            yield last.text or last.reasoning or ""
