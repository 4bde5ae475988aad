"""CommonsenseQA: five-option questions about everyday concepts. 1,221 validation items.

Talmor et al. 2018, "CommonsenseQA: A Question Answering Challenge Targeting Commonsense Knowledge",
https://arxiv.org/abs/1811.00937
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._choices import Options, chat, choice_task, continuations, letters
from probatum.core.protocol import Source
from probatum.core.records import Item

SOURCE = Source(local=("commonsense_qa/csqa_validation.jsonl.gz",))


@dataclass(frozen=True)
class Row:
    """A question about a concept; items of one concept share their distractors."""

    id: str
    question: str
    question_concept: str
    choices: Options
    answerKey: str  # noqa: N815 - the set's own name


def to_item(row: Row) -> Item:
    """The concept is the cluster."""
    return Item(
        id=row.id,
        fields={"question": row.question},
        choices=row.choices.text,
        targets=("ABCDE"[row.choices.label.index(row.answerKey)],),
        cluster=row.question_concept,
    )


TASK = choice_task(
    {
        "letters": letters("Question: {{ question }}"),
        "continuations": continuations("Question: {{ question }}\nAnswer:", unconditional="Answer:"),
        "chat": chat("{{ question }}"),
    },
    name="commonsense_qa",
    summary="five-option questions about everyday concepts",
    citation="Talmor et al. 2018, arXiv:1811.00937",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    chance=0.2,
    unit="question",
    population="questions that crowd workers wrote about concepts of ConceptNet",
    licence="MIT",
)
