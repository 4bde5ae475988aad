"""MMLU-Pro: questions with up to ten options, in fourteen fields. 12,032 test questions; a part is at hand.

Wang et al. 2024, "MMLU-Pro", https://arxiv.org/abs/2406.01574
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._choices import chat, choice_task, letters
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.prompting.forms import LABELS

PREAMBLE = "The following are multiple choice questions (with answers) about {{ category }}.\n\n"
SOURCE = Source(local=("mmlu_pro/llama31_8b_instruct_5shot_subset.jsonl.gz",))


@dataclass(frozen=True)
class Row:
    """A question as published."""

    question_id: int
    question: str
    options: tuple[str, ...]
    answer_index: int
    category: str


def to_item(row: Row) -> Item:
    """The field is the stratum."""
    return Item(
        id=str(row.question_id),
        fields={"question": row.question.strip(), "category": row.category},
        choices=row.options,
        targets=(LABELS[row.answer_index],),
        stratum=row.category,
    )


TASK = choice_task(
    {
        "letters": letters("Question: {{ question }}\nOptions:", preamble=PREAMBLE),
        "chat": chat(
            "Question: {{ question }}\nOptions:",
            ask="\n\nThink step by step. End with the line: Answer: … (the letter alone)",
        ),
    },
    name="mmlu_pro",
    version=2,
    summary="questions with up to ten options, in fourteen fields",
    citation="Wang et al. 2024, arXiv:2406.01574",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its validation part is not at hand: never the asked item
    shots_of_stratum=True,
    unit="question",
    population="exam questions in English, filtered for difficulty and given more options",
    licence="MIT",
)
