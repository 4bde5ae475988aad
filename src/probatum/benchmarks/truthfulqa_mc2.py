"""TruthfulQA, several right options: how much of the probability lies on true answers.

Lin et al. 2021, "TruthfulQA: Measuring How Models Mimic Human Falsehoods", https://arxiv.org/abs/2109.07958
"""

from __future__ import annotations

from probatum.benchmarks._choices import continuations, gold, wrong
from probatum.benchmarks._truthfulqa import FIELDS, PREAMBLE, QUESTION, Row, offered
from probatum.core.protocol import Task
from probatum.core.records import Item
from probatum.prompting.forms import LABELS
from probatum.scoring import OptionLikelihood, Rate


def to_item(row: Row) -> Item:
    """All true answers are targets."""
    options = offered(row.mc2_targets)
    return Item(
        id=str(row.row_number),
        fields={"question": row.question},
        choices=tuple(options),
        targets=tuple(label for label, truth in zip(LABELS, options.values(), strict=False) if truth),
    )


TASK = Task(
    name="truthfulqa_mc2",
    version=1,
    summary="how much of the probability lies on true answers",
    continuations=continuations(QUESTION, preamble=PREAMBLE),
    to_item=to_item,
    scorer=OptionLikelihood(),
    metrics=(Rate(score="probability", name="mc2", chance_score="chance"), Rate(chance_score="chance")),
    gold=gold,
    wrong=wrong,
    **FIELDS,
)
