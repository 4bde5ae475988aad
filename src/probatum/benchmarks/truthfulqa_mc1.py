"""TruthfulQA, one right option: 790 questions that some people would answer falsely.

Lin et al. 2021, "TruthfulQA: Measuring How Models Mimic Human Falsehoods", https://arxiv.org/abs/2109.07958
The six questions that are shown first are our own, in the manner of the paper's.
"""

from __future__ import annotations

from probatum.benchmarks._choices import choice_task, continuations
from probatum.benchmarks._truthfulqa import FIELDS, PREAMBLE, QUESTION, Row, offered
from probatum.core.records import Item
from probatum.prompting.forms import LABELS


def to_item(row: Row) -> Item:
    """The right option comes first in the set, for every question: its place says nothing here."""
    options = offered(row.mc1_targets)
    right = next(place for place, truth in enumerate(options.values()) if truth)
    return Item(
        id=str(row.row_number),
        fields={"question": row.question},
        choices=tuple(options),
        targets=(LABELS[right],),
    )


TASK = choice_task(
    {"continuations": continuations(QUESTION, preamble=PREAMBLE, unconditional="A:")},
    name="truthfulqa_mc1",
    summary="the one true answer among several that people give",
    to_item=to_item,
    **FIELDS,
)
