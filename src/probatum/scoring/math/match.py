"""The scorer: a mathematical answer equals a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor
from probatum.extraction.mathematics import MathAnswer
from probatum.scoring.answers import invalid_item, judged, read
from probatum.scoring.math.equivalence import Conventions, compare_answers
from probatum.scoring.math.reading import read_answer

__all__ = ["MathMatch", "gold_problem"]

EDITION = 1
"""Raised whenever two answers get another verdict than before: a digest of fields cannot see that."""


def gold_problem(target: str) -> str | None:
    r"""Why a gold answer cannot be compared with; `None` where it can.

    A gold passes the same parser as every answer and must equal itself. One that is written in a way
    that is not read can only be met by the same writing, which would count right answers as wrong.

    >>> gold_problem(r"\frac{1}{2}") is None, gold_problem(r"\frac{1}{0}"), gold_problem("")
    (True, 'an answer divides by zero', 'an answer is empty')
    """
    itself = compare_answers(target, target)
    if not itself.verdict:
        return itself.reason
    answer = read_answer(target)
    if answer.problem and not getattr(answer.readings[0], "understood", True):
        return answer.problem
    return None


@dataclass(frozen=True)
class MathMatch:
    """Score `correct`: 1 where the answer is a target's mathematics, else 0; undecided is not equal."""

    extractor: Extractor = field(default_factory=MathAnswer)
    conventions: Conventions = field(default_factory=Conventions)
    edition: int = field(default=EDITION, init=False)
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted answer with every target; the reason says which rule decided."""
        problems = [gold_problem(target) for target in item.targets]
        targets = [target for target, problem in zip(item.targets, problems, strict=True) if problem is None]
        if not targets:
            why = "; ".join(problem for problem in problems if problem) or "there is none"
            return invalid_item(item, sample, f"no target among {item.targets!r} can be compared with: {why}")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        verdicts = [compare_answers(found.answer, target, self.conventions) for target in targets]
        right = next((each for each in verdicts if each.verdict), None)
        decided = right or next((each for each in verdicts if each.verdict is None), verdicts[0])
        state = "undecided" if decided.verdict is None else decided.rule
        return judged(
            item, sample, found, {"correct": float(right is not None)}, f"{state}: {decided.reason}"
        )
