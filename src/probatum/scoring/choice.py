"""Choice match: the label that the answer names is a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from probatum.core.errors import UsageError
from probatum.core.records import Item, Outcome, Response
from probatum.extraction import OptionLetter
from probatum.extraction.characters import fold_width
from probatum.scoring.answers import invalid_item, judged, read

__all__ = ["ChoiceMatch"]


@dataclass(frozen=True)
class ChoiceMatch:
    """Score `correct`: 1 where the chosen label is a target, else 0.

    Targets are labels; for an extractor with `multiple` each target is a set of labels by commas.
    """

    extractor: OptionLetter = field(default_factory=OptionLetter)
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted label, whole, with every target."""
        targets = {_label_set(target, self.extractor.multiple) for target in item.targets}
        broken = self._broken(item, targets)
        if broken is not None:
            return invalid_item(item, sample, broken)
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        equal = _label_set(found.answer, self.extractor.multiple) in targets
        return judged(item, sample, found, {"correct": float(equal)})

    def _broken(self, item: Item, targets: set[frozenset[str]]) -> str | None:
        """Why the item cannot be graded: no label as target, or a right option that another repeats."""
        if not targets:
            return "the item has no target"
        try:
            choices = self.extractor.choices(item)
        except UsageError as error:
            return str(error)
        labels = {_key(label): text for label, text in zip(choices.labels, choices.texts, strict=True)}
        for target in targets:
            for label in target:
                if label not in labels:
                    return f"target {label!r} is none of the labels {', '.join(choices.labels)}"
                text = " ".join(labels[label].split())
                if text and sum(" ".join(each.split()) == text for each in labels.values()) > 1:
                    return f"option {label!r} is right, and another one has the same text {text[:60]!r}"
        return None


def _key(label: str) -> str:
    return fold_width(label).strip().casefold()


def _label_set(target: str, multiple: bool) -> frozenset[str]:
    if not multiple:
        return frozenset({_key(target)})
    return frozenset(_key(label) for label in target.split(",") if label.strip())
