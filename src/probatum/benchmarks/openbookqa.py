"""OpenBookQA: four-option questions that one fact of elementary science helps to answer. 500 items.

Mihaylov et al. 2018, "Can a Suit of Armor Conduct Electricity?", https://arxiv.org/abs/1809.02789
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._choices import Options, chat, choice_task, continuations, letters
from probatum.core.protocol import Source
from probatum.core.records import Item

SOURCE = Source(local=("openbookqa/openbookqa_validation.jsonl",))


@dataclass(frozen=True)
class Row:
    """The stem of a sentence, and how it may go on."""

    id: str
    question_stem: str
    choices: Options
    answerKey: str  # noqa: N815 - the set's own name


def to_item(row: Row) -> Item:
    """The label becomes a place."""
    return Item(
        id=row.id,
        fields={"stem": row.question_stem},
        choices=row.choices.text,
        targets=("ABCD"[row.choices.label.index(row.answerKey.strip())],),
    )


TASK = choice_task(
    {
        "continuations": continuations("{{ stem }}", unconditional="Answer:"),
        "letters": letters("Question: {{ stem }}"),
        "chat": chat("{{ stem }}"),
    },
    name="openbookqa",
    summary="four-option questions that one fact of elementary science helps to answer",
    citation="Mihaylov et al. 2018, arXiv:1809.02789",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    preferred="continuations",
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    chance=0.25,
    unit="question",
    population="questions that crowd workers wrote about 1,326 facts of elementary science",
    licence="Apache-2.0",
)
