"""XCOPA: cause or effect of a sentence, in eleven languages. 500 test items of each.

Ponti et al. 2020, "XCOPA: A Multilingual Dataset for Causal Commonsense Reasoning",
https://arxiv.org/abs/2005.00333
The premise goes on with a word for "because" or "therefore" in its language, and each option follows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from probatum.benchmarks._choices import choice_task, continuations
from probatum.core.protocol import Source
from probatum.core.records import Item

JOINED = {
    "et": ("sest", "seetõttu"),
    "ht": ("poukisa", "donk sa"),
    "id": ("karena", "maka"),
    "it": ("perché", "quindi"),
    "qu": ("imataq", "chaymi"),
    "sw": ("kwa sababu", "kwa hiyo"),
    "ta": ("காரணமாக", "எனவே"),
    "th": ("เพราะ", "ดังนั้น"),
    "tr": ("çünkü", "bu yüzden"),
    "vi": ("bởi vì", "vì vậy"),
    "zh": ("因为", "所以"),
}
"""Language → words for "because" and for "therefore"."""
SOURCE = Source(local=tuple(f"xcopa/test.{language}.jsonl" for language in JOINED))


@dataclass(frozen=True)
class Row:
    """A premise and two sentences, one of which is its cause or its effect."""

    premise: str
    choice1: str
    choice2: str
    question: str
    label: int
    idx: int
    row_file: str


def to_item(row: Row) -> Item:
    """The same item in all languages is a cluster; languages are strata."""
    language = row.row_file.split(".")[-2]
    because, therefore = JOINED[language]
    return Item(
        id=f"{language}/{row.idx}",
        fields={
            "premise": row.premise.strip().rstrip(".。"),
            "shortened": row.premise.strip()[:-1],
            "join": because if row.question == "cause" else therefore,
            "language": language,
        },
        choices=tuple(_lowered(text.strip()) for text in (row.choice1, row.choice2)),
        targets=("AB"[row.label],),
        cluster=str(row.idx),
        stratum=language,
    )


def _lowered(text: str) -> str:
    """A sentence as it goes on behind a conjunction."""
    return text[:1].lower() + text[1:]


ASKED = continuations("{{ premise }} {{ join }}")

TASK = choice_task(
    # lm-eval takes off the last character, which in Tamil and Thai is no full stop but a letter
    {"continuations": replace(ASKED, lm_eval=continuations("{{ shortened }} {{ join }}"))},
    name="xcopa",
    version=2,
    summary="cause or effect of a sentence, in eleven languages",
    citation="Ponti et al. 2020, arXiv:2005.00333",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its validation part is not at hand: never the asked item
    shots_of_stratum=True,
    chance=0.5,
    unit="premise",
    languages=tuple(JOINED),
    population="COPA's sentences, translated by people",
    licence="CC-BY-4.0",
)
