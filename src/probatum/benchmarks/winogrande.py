"""WinoGrande: which of two names fills the gap. 1,267 validation sentences.

Sakaguchi et al. 2019, "WinoGrande: An Adversarial Winograd Schema Challenge at Scale",
https://arxiv.org/abs/1907.10641
Scored in part (Trinh and Le 2018, arXiv:1806.02847): each option stands in the gap, and what follows the gap
is scored, the same text for both.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from probatum.benchmarks._choices import chat, choice_task
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.prompting import OptionsPrompt

SOURCE = Source(local=("winogrande/winogrande_xl_validation.jsonl",))


@dataclass(frozen=True)
class Row:
    """A sentence with one gap."""

    sentence: str
    option1: str
    option2: str
    answer: str


def to_item(row: Row) -> Item:
    """The set has no ids: the sentence gives one. Sentences come in twins, which share their options."""
    before, after = row.sentence.split("_")
    twins = " / ".join(sorted((row.option1.lower(), row.option2.lower())))
    return Item(
        id=hashlib.sha256(f"{row.sentence}\n{row.option1}\n{row.option2}".encode()).hexdigest()[:12],
        fields={"sentence": row.sentence, "before": before, "after": after.strip()},
        choices=(row.option1, row.option2),
        targets=("AB"[int(row.answer) - 1],),
        cluster=hashlib.sha256(twins.encode()).hexdigest()[:12],
    )


TASK = choice_task(
    {
        "continuations": OptionsPrompt(
            template="{{ before }}{{ choice }}",
            continuation=" {{ after }}",
            shot_template="{{ before }}{{ answer }} {{ after }}",
        ),
        "chat": chat("Which option fills the gap?\n\n{{ sentence }}"),
    },
    name="winogrande",
    version=2,
    summary="which of two names fills the gap; what follows the gap is scored",
    citation="Sakaguchi et al. 2019, arXiv:1907.10641",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    chance=0.5,
    unit="sentence",
    population="sentences that crowd workers wrote in twins, filtered against an embedding model",
    licence="CC-BY",
)
