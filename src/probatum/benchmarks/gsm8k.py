"""GSM8K: grade-school word problems, answered with a chain of thought. 1,319 test problems.

Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems", https://arxiv.org/abs/2110.14168
The eight worked examples are our own, in the manner of Wei et al. 2022 (arXiv:2201.11903).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from probatum.core.protocol import Hub, Source, Task
from probatum.core.records import Item, Sampling
from probatum.extraction import FinalNumber
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import NumberMatch, Rate


@dataclass(frozen=True)
class Row:
    """A problem and its worked solution, which ends with `#### number`."""

    question: str
    answer: str


def to_item(row: Row) -> Item:
    """The set has no ids: the question gives one, so that the order of the rows does not matter."""
    worked, _, number = row.answer.rpartition("####")
    return Item(
        id=hashlib.sha256(row.question.encode()).hexdigest()[:12],
        fields={"question": row.question, "worked": worked.strip()},
        targets=(number.strip(),),
    )


def gold(item: Item) -> str:
    """The reference solution with its declared answer line."""
    return f"{item.fields['worked']}\nThe answer is {item.targets[0]}."


def wrong(item: Item) -> str:
    """A number that is not the answer."""
    return f"The answer is {item.targets[0].replace(',', '')}7."


TASK = Task(
    name="gsm8k",
    version=1,
    summary="grade-school word problems, 8 worked examples shown",
    citation="Cobbe et al. 2021, arXiv:2110.14168",
    source=Source(
        local=("gsm8k/test.jsonl.gz",),
        hub=Hub(
            repository="openai/gsm8k",
            revision="e53f048856ff4f594e959d75785d2c2d37b678ee",
            files=("main/test-00000-of-00001.parquet",),
        ),
    ),
    row=Row,
    to_item=to_item,
    completion=CompletionPrompt(
        template="Question: {{ question }}\nAnswer:",
        shot_template="Question: {{ question }}\nAnswer: {{ worked }} The answer is {{ target }}.",
        stop=("\nQuestion:",),
    ),
    chat=ChatPrompt(
        template="{{ question }}\n\nThink step by step. End with the line: The answer is N.",
        shot_answer="{{ worked }}\nThe answer is {{ target }}.",
    ),
    sampling=Sampling(max_tokens=512),
    scorer=NumberMatch(FinalNumber(declared=("The answer is", "####"))),
    metrics=(Rate(),),
    gold=gold,
    wrong=wrong,
    shots=8,
    shot_source=Source(package="probatum.benchmarks:gsm8k_shots.jsonl"),
    shots_drawn=False,
    unit="problem",
    population="English grade-school word problems of two to eight steps",
    licence="MIT",
)
