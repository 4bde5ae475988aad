"""PIQA: which of two ways reaches the goal. 1,838 validation items.

Bisk et al. 2019, "PIQA: Reasoning about Physical Commonsense in Natural Language",
https://arxiv.org/abs/1911.11641
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._choices import chat, choice_task, continuations, letters
from probatum.core.protocol import Source
from probatum.core.records import Item

SOURCE = Source(local=("piqa/piqa_validation.jsonl.gz",))


@dataclass(frozen=True)
class Row:
    """A goal and two solutions."""

    goal: str
    sol1: str
    sol2: str
    label: int
    row_number: int


def to_item(row: Row) -> Item:
    """The set has no ids: the row's number is one."""
    return Item(
        id=str(row.row_number),
        fields={"goal": row.goal},
        choices=(row.sol1, row.sol2),
        targets=("AB"[row.label],),
    )


TASK = choice_task(
    {
        "continuations": continuations("Question: {{ goal }}\nAnswer:", unconditional="Answer:"),
        "letters": letters("Goal: {{ goal }}"),
        "chat": chat("Which way reaches the goal?\n\n{{ goal }}"),
    },
    name="piqa",
    version=2,
    summary="which of two ways reaches the goal",
    citation="Bisk et al. 2019, arXiv:1911.11641",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    preferred="continuations",
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    chance=0.5,
    unit="goal",
    population="everyday goals in English, inspired by how-to articles",
    licence="AFL-3.0",
)
