"""LAMBADA: the last word of a passage. 5,153 test passages; a part of them is at hand.

Paperno et al. 2016, "The LAMBADA dataset", https://arxiv.org/abs/1606.06031
`greedy` is the share of passages whose last word is what the model would write; the perplexity is of that
word alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.protocol import Source, Task
from probatum.core.records import Item
from probatum.prompting import OptionsPrompt
from probatum.scoring import Perplexity, Rate, TextLikelihood


@dataclass(frozen=True)
class Row:
    """A passage without its last word, and the word."""

    id: int
    query: str
    answers_text: tuple[str, ...]


def to_item(row: Row) -> Item:
    """The word is the only continuation."""
    return Item(id=str(row.id), fields={"context": row.query}, targets=row.answers_text)


def gold(item: Item) -> str:
    """The word."""
    return item.targets[0]


def wrong(item: Item) -> str:
    """Another word."""
    return f"not {item.targets[0]}"


TASK = Task(
    name="lambada",
    version=1,
    summary="the last word of a passage",
    citation="Paperno et al. 2016, arXiv:1606.06031",
    source=Source(local=("lambada/lambada_docs.jsonl",)),
    row=Row,
    to_item=to_item,
    continuations=OptionsPrompt(template="{{ context }}", continuation=" {{ choice }}"),
    scorer=TextLikelihood(primary="greedy"),
    metrics=(Rate(score="greedy"), Perplexity(units=("word",), by_stratum=False)),
    gold=gold,
    wrong=wrong,
    unit="passage",
    population="passages of novels whose last word people guess from the whole and not from the sentence",
    licence="CC-BY-4.0",
)
