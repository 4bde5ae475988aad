"""C-Eval: four-option questions of 52 subjects in Chinese. 1,346 validation items, 260 for prompts.

Huang et al. 2023, "C-Eval: A Multi-Level Multi-Discipline Chinese Evaluation Suite for Foundation Models",
https://arxiv.org/abs/2305.08322

The validation split is asked: answers of the test split (12,342 items) are not published, and a score on it
is to be had from the authors' server alone. So the public score rests on some 26 items a subject.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from probatum.benchmarks._choices import LISTED, chat, choice_task, letters
from probatum.benchmarks._subjects import C_EVAL
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.prompting import OptionsPrompt

PREAMBLE = "以下是中国关于{{ name }}考试的单项选择题，请选出其中的正确答案。\n\n"
ASKED = "{{ question }}" + LISTED + "\n答案："


@dataclass(frozen=True)
class Row:
    """A question; those for prompts also have an explanation, which is not shown."""

    id: int
    question: str
    A: str
    B: str
    C: str
    D: str
    answer: str
    row_file: str


def to_item(row: Row) -> Item:
    """Subject and split stand in the path, in either layout that is published.

    `val/law_val.csv` (the archive), or `law/val-00000-of-00001.parquet` (the hub).

    Raises:
        ValueError: the path names no subject of C-Eval.
    """
    path = PurePosixPath(row.row_file)
    subject, _, split = path.name.split(".")[0].rpartition("_")
    if path.parent.name in C_EVAL:
        subject, split = path.parent.name, path.name.partition("-")[0].partition(".")[0]
    if subject not in C_EVAL:
        raise ValueError(f"{row.row_file!r} names no subject of C-Eval, such as val/law_val.csv")
    return Item(
        id=f"{subject}/{row.id}" if split == "val" else f"{subject}/{split}/{row.id}",
        fields={"question": row.question.strip(), "name": C_EVAL[subject], "subject": subject},
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
            lm_eval=letters(
                "{{ question }}",
                answer="\n答案：",
                preamble="以下是中国关于{{ name }}的单项选择题，请选出其中的正确答案。\n\n",
            ),
        ),
        "chat": chat("{{ question }}", ask="\n\n最后一行请写：答案：……（只写选项字母）"),
    },
    marks=("Answer:", "答案："),
    name="c_eval",
    summary="four-option questions of 52 subjects in Chinese (validation), five examples shown",
    citation="Huang et al. 2023, arXiv:2305.08322",
    source=Source(local=("ceval/*/*val*.*",)),
    row=Row,
    to_item=to_item,
    shots=5,
    shot_source=Source(local=("ceval/*/*dev*.*",)),
    shots_drawn=False,
    shots_of_stratum=True,
    chance=0.25,
    unit="question",
    languages=("zh",),
    population="exam questions in Chinese, from middle school to professional exams, that are free to read",
    licence="CC-BY-NC-SA-4.0",
)
