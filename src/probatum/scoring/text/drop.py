"""DROP's two scores: exact match and F1 of bags of words, over one or several spans.

Dua et al. 2019, arXiv:1903.00161, section 5, and the official script: numbers must agree, spans of a
multi-span answer are aligned one to one so that the sum of F1 is highest.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor
from probatum.scoring.answers import invalid_item, judged, read
from probatum.scoring.text.whole import WholeText

__all__ = ["DropMatch", "drop_scores", "drop_text"]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PARTS = re.compile(r"[ -]")

Spans = str | tuple[str, ...]
"""One span, or the spans of a multi-span answer."""


def drop_text(text: str) -> str:
    """DROP's normalisation: parts at blanks and hyphens; numbers as floats; no punctuation, no articles."""
    parts = (_part(each) for each in _PARTS.split(text.lower()))
    return " ".join(each for each in parts if each)


def _part(word: str) -> str:
    kept = word if _is_number(word) else word.translate(_NO_PUNCTUATION)
    if _is_number(kept):
        return str(float(kept))
    return " ".join(_ARTICLES.sub(" ", kept).split())


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def drop_scores(prediction: Spans, targets: Sequence[Spans]) -> tuple[float, float]:
    """Exact match and F1, the best of each over the targets; 0 … 1, F1 rounded to two places as there.

    >>> drop_scores(("Tom Brady", "Manning"), [("Manning", "Tom Brady")])
    (1.0, 1.0)
    >>> drop_scores("3 yards", ["4 yards"])
    (0.0, 0.0)

    Raises:
        ValueError: there is no target that says anything.
    """
    usable = [spans for target in targets if any((spans := _spans(target))[0])]
    if not usable:
        raise ValueError("there is no target to compare with")
    said = _spans(prediction)
    exact = max(float(len(said[0]) == len(spans[0]) and set(said[0]) == set(spans[0])) for spans in usable)
    return exact, max(_aligned_f1(said[1], spans[1]) for spans in usable)


def _spans(answer: Spans) -> tuple[list[str], list[set[str]]]:
    spans = [drop_text(each) for each in ((answer,) if isinstance(answer, str) else answer)]
    return spans, [set(each.split()) for each in spans]


def _aligned_f1(said: list[set[str]], wanted: list[set[str]]) -> float:
    table = np.array([[_bag_f1(one, other) for one in said] for other in wanted]).reshape(
        len(wanted), len(said)
    )
    rows, columns = linear_sum_assignment(-table)
    total = float(table[rows, columns].sum())
    return round(total / max(len(said), len(wanted)), 2)


def _bag_f1(said: set[str], wanted: set[str]) -> float:
    numbers = {each for each in wanted if _is_number(each)}
    if numbers and not numbers & said:
        return 0.0
    shared = len(said & wanted)
    precision = shared / len(said) if said else 1.0
    recall = shared / len(wanted) if wanted else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True)
class DropMatch:
    """Scores `exact` and `f1` by DROP's rules.

    Targets are spans; an answer or a target of several spans writes them with `separator` between.
    """

    extractor: Extractor = field(default_factory=WholeText)
    separator: str | None = None
    """`None`: every answer is one span."""
    scores: tuple[str, ...] = field(default=("exact", "f1"), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted answer with the targets."""
        targets = [self._split(target) for target in item.targets]
        if not any(drop_text(each) for target in targets for each in target):
            return invalid_item(item, sample, f"no usable target among {item.targets!r}")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        exact, f1 = drop_scores(self._split(found.answer), targets)
        return judged(item, sample, found, {"exact": exact, "f1": f1})

    def _split(self, text: str) -> tuple[str, ...]:
        return (text,) if self.separator is None else tuple(text.split(self.separator))
