"""One scorer a kind of item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probatum.core.errors import ProtocolError
from probatum.core.protocol import ProgramScorer, Scorer
from probatum.core.records import Item, Outcome, Response
from probatum.scoring.answers import invalid_item

__all__ = ["ByField"]


@dataclass(frozen=True, kw_only=True)
class ByField:
    """Grades each item with the scorer that one of its fields names: for benchmarks of mixed kinds."""

    field: str
    """Field of the item, a string."""
    scorers: Mapping[str, Scorer]
    """Value of the field → scorer; all give the same scores."""

    def __post_init__(self) -> None:
        if not self.scorers:
            raise ProtocolError(
                f"ByField({self.field!r}) has no scorer: give one for each value of the field"
            )
        given = {scorer.scores for scorer in self.scorers.values()}
        if len(given) > 1:
            raise ProtocolError(
                f"scorers of ByField({self.field!r}) give different scores {sorted(given)!r}: "
                "every item must have all of them"
            )
        if any(isinstance(scorer, ProgramScorer) for scorer in self.scorers.values()):
            raise ProtocolError(f"ByField({self.field!r}) grades text only: put code in a task of its own")

    @property
    def scores(self) -> tuple[str, ...]:
        """Keys of the scores, the same for every kind."""
        return next(iter(self.scorers.values())).scores

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """The verdict of the scorer that the item's field names."""
        kind = item.fields.get(self.field)
        scorer = self.scorers.get(kind) if isinstance(kind, str) else None
        if scorer is None:
            known = ", ".join(sorted(self.scorers))
            return invalid_item(
                item, sample, f"field {self.field!r} is {kind!r}; there are scorers for {known}"
            )
        return scorer.grade(item, sample, responses)
