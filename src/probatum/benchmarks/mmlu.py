"""MMLU: four-option questions of 57 subjects. 14,042 test problems; each subject has five for prompts.

Hendrycks et al. 2021, "Measuring Massive Multitask Language Understanding", https://arxiv.org/abs/2009.03300
The subjects are the benchmark: the mean over all items and the mean over subjects are both reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from probatum.benchmarks._choices import chat, choice_task, continuations, letters
from probatum.core.protocol import Source
from probatum.core.records import Item

COLUMNS = ("question", "A", "B", "C", "D", "answer")
PREAMBLE = "The following are multiple choice questions (with answers) about {{ subject }}.\n\n"


@dataclass(frozen=True)
class Row:
    """A line of one subject's file, which has no header."""

    question: str
    A: str
    B: str
    C: str
    D: str
    answer: str
    row_file: str
    row_number: int


def to_item(row: Row) -> Item:
    """Subject and split are in the file's name; questions for prompts have ids of their own."""
    subject, _, split = PurePosixPath(row.row_file).name.split(".")[0].rpartition("_")
    return Item(
        id=f"{subject}/{row.row_number}" if split == "test" else f"{subject}/{split}/{row.row_number}",
        fields={"question": row.question.strip(), "subject": subject.replace("_", " ")},
        choices=(row.A, row.B, row.C, row.D),
        targets=(row.answer,),
        stratum=subject,
    )


TASK = choice_task(
    {
        "letters": letters("{{ question }}", preamble=PREAMBLE),
        "continuations": continuations("Question: {{ question }}\nAnswer:", unconditional="Answer:"),
        "chat": chat("{{ question }}"),
    },
    name="mmlu",
    version=2,
    summary="four-option questions of 57 subjects, five examples of the subject shown",
    citation="Hendrycks et al. 2021, arXiv:2009.03300",
    source=Source(local=("mmlu/test/*.csv",), columns=COLUMNS),
    row=Row,
    to_item=to_item,
    shots=5,
    shot_source=Source(local=("mmlu/dev/*.csv",), columns=COLUMNS),
    shots_drawn=False,
    shots_of_stratum=True,
    chance=0.25,
    unit="question",
    population="exam questions in English that are free to read",
    licence="MIT",
)
