"""HellaSwag: which of four sentences goes on with the scene. 10,042 validation items; 1,000 are at hand.

Zellers et al. 2019, "HellaSwag: Can a Machine Really Finish Your Sentence?", https://arxiv.org/abs/1905.07830
Rows hold the context as it is asked: activity or article, then the two halves of the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._choices import LISTED_APART, choice_task, continuations, letters
from probatum.core.protocol import Source
from probatum.core.records import Item

LABELS = "ABCD"


@dataclass(frozen=True)
class Row:
    """A context with its endings."""

    ind: int
    query: str
    choices: tuple[str, ...]
    gold: int
    row_number: int


def once(row: Row) -> bool:
    """Whether it is the first of two: the file holds its thousand rows twice."""
    return row.row_number <= 1000  # noqa: PLR2004 - see above


SOURCE = Source(local=("hellaswag/hellaswag_rc_5shot_docs.jsonl.gz",), select=once)


def to_item(row: Row) -> Item:
    """What stands before the first colon is the activity, or the article's heading."""
    return Item(
        id=str(row.ind),
        fields={"context": row.query},
        choices=row.choices,
        targets=(LABELS[row.gold],),
    )


TASK = choice_task(
    {
        "continuations": continuations("{{ context }}"),
        "letters": letters("{{ context }}\nChoose the best continuation:", listed=LISTED_APART),
    },
    name="hellaswag",
    version=2,
    summary="which of four sentences goes on with the scene",
    citation="Zellers et al. 2019, arXiv:1905.07830",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    preferred="continuations",
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    chance=0.25,
    unit="scene",
    population="captions of videos and how-to articles, with endings that a model wrote and people kept",
    licence="MIT",
)
