"""BoolQ: yes or no, after a passage. 3,270 validation questions.

Clark et al. 2019, "BoolQ: Exploring the Surprising Difficulty of Natural Yes/No Questions",
https://arxiv.org/abs/1905.10044
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from probatum.benchmarks._choices import chat, choice_task, continuations
from probatum.core.protocol import Source
from probatum.core.records import Item

SOURCE = Source(local=("boolq/boolq_validation.jsonl",))


@dataclass(frozen=True)
class Row:
    """A question that people typed into a search, and a passage that answers it."""

    question: str
    answer: bool
    passage: str
    row_number: int


def to_item(row: Row) -> Item:
    """Questions about one passage are a cluster."""
    return Item(
        id=str(row.row_number),
        fields={"passage": row.passage, "question": row.question},
        choices=("no", "yes"),
        targets=("B" if row.answer else "A",),
        cluster=hashlib.sha256(row.passage.encode()).hexdigest()[:12],
    )


ASKED = "{{ passage }}\nQuestion: {{ question }}?\n"

TASK = choice_task(
    {
        "continuations": continuations(ASKED + "Answer:"),
        "chat": chat(ASKED),
    },
    name="boolq",
    summary="yes or no, after a passage",
    citation="Clark et al. 2019, arXiv:1905.10044",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    chance=0.5,
    unit="question",
    population="yes/no questions to a search engine, with a passage of Wikipedia",
    licence="CC-BY-SA-3.0",
)
