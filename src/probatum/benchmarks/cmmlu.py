"""CMMLU: four-option questions of 67 subjects in Chinese. Each subject has five for prompts.

Li et al. 2023, "CMMLU: Measuring massive multitask language understanding in Chinese",
https://arxiv.org/abs/2306.09212
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

from probatum.benchmarks._choices import LISTED, chat, choice_task, letters
from probatum.benchmarks._subjects import CMMLU
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.prompting import OptionsPrompt

PREAMBLE = "以下是关于{{ name }}的单项选择题，请直接给出正确答案的选项。\n\n"
ASKED = "题目：{{ question }}" + LISTED + "\n答案是："


@dataclass(frozen=True)
class Row:
    """A line of one subject's file."""

    question: str = field(metadata={"column": "Question"})
    A: str
    B: str
    C: str
    D: str
    answer: str = field(metadata={"column": "Answer"})
    row_file: str
    row_number: int


def to_item(row: Row) -> Item:
    """The subject is the file's name, the split its folder's; questions for prompts have ids of their own.

    Raises:
        ValueError: the file is none of CMMLU's subjects.
    """
    path = PurePosixPath(row.row_file)
    subject, split = path.name.split(".")[0], path.parent.name
    if subject not in CMMLU:
        raise ValueError(f"{row.row_file!r} names no subject of CMMLU, such as test/agronomy.csv")
    return Item(
        id=f"{subject}/{row.row_number}" if split == "test" else f"{subject}/{split}/{row.row_number}",
        fields={"question": row.question.strip(), "name": CMMLU[subject], "subject": subject},
        choices=(row.A, row.B, row.C, row.D),
        targets=(row.answer,),
        stratum=subject,
    )


TASK = choice_task(
    {
        # no space: Chinese has none, and labels stand right behind the colon
        "letters": OptionsPrompt(
            template=ASKED,
            continuation="{{ label }}",
            shot_template=ASKED + "{{ label }}",
            preamble=PREAMBLE,
            lm_eval=letters("{{ question }}", answer="\n答案：", preamble=PREAMBLE),
        ),
        "chat": chat("题目：{{ question }}", ask="\n\n最后一行请写：答案：……（只写选项字母）"),
    },
    marks=("Answer:", "答案：", "答案是："),
    name="cmmlu",
    version=2,
    summary="four-option questions of 67 subjects in Chinese, five examples of the subject shown",
    citation="Li et al. 2023, arXiv:2306.09212",
    source=Source(local=("cmmlu/test/*.csv",)),
    row=Row,
    to_item=to_item,
    shots=5,
    shot_source=Source(local=("cmmlu/dev/*.csv",)),
    shots_drawn=False,
    shots_of_stratum=True,
    chance=0.25,
    unit="question",
    languages=("zh",),
    population="exam questions in Chinese that are free to read",
    licence="CC-BY-NC-SA-4.0",
)
