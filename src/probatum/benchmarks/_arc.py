"""ARC as its two sets share it: rows, and the prompts of OLMES (Gu et al. 2024, arXiv:2406.08446)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from probatum.benchmarks._choices import (
    LISTED_APART,
    Options,
    chat,
    choice_task,
    continuations,
    letters,
)
from probatum.core.protocol import Source, Task
from probatum.core.records import Item
from probatum.prompting.forms import LABELS

QUESTION = "Question: {{ question }}"
_OPTION = re.compile(r"\n (?P<label>[A-Z1-9])\. ")


@dataclass(frozen=True)
class Row:
    """A question as published; or as one text with its options, as a harness logged it."""

    id: str
    question: str | None = None
    choices: Options | tuple[str, ...] = ()
    answerKey: str | None = None  # noqa: N815 - the set's own name
    query: str | None = None
    gold: int | None = None


def to_item(row: Row) -> Item:
    """Some questions have the labels 1 to 4, or three options, or five.

    Raises:
        ValueError: the row is neither form.
    """
    if isinstance(row.choices, Options) and row.question is not None and row.answerKey is not None:
        question, options = row.question, row.choices.text
        place = row.choices.label.index(row.answerKey)
    elif row.query is not None and row.gold is not None:
        text = row.query.removeprefix("Question: ").removesuffix("\nAnswer:")
        question, *rest = _OPTION.split(text)
        options, place = tuple(rest[1::2]), row.gold
    else:
        raise ValueError("the row has neither question, choices and answerKey nor query and gold")
    return Item(id=row.id, fields={"question": question}, choices=options, targets=(LABELS[place],))


def arc(name: str, summary: str) -> Task:
    """One of the two sets: questions of the test split, examples from the validation split."""
    return choice_task(
        {
            "continuations": continuations(QUESTION + "\nAnswer:", unconditional="Answer:"),
            "letters": letters(QUESTION, listed=LISTED_APART),
            "chat": chat(QUESTION),
        },
        citation="Clark et al. 2018, arXiv:1803.05457",
        shots=5,
        chance=0.25,
        unit="question",
        population="grade-school science questions of exams in the United States",
        licence="CC-BY-SA-4.0",
        name=name,
        summary=summary,
        source=Source(local=(f"arc/{name}_test_docs.jsonl.gz",)),
        row=Row,
        to_item=to_item,
        shot_source=Source(local=(f"arc/{name}_validation.jsonl",)),
        preferred="continuations",
    )
