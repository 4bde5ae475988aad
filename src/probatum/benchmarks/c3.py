"""C3: multiple-choice reading in Chinese, dialogues and mixed texts. 3,816 development questions.

Sun et al. 2019, "Investigating Prior Knowledge for Challenging Chinese Machine Reading Comprehension",
https://arxiv.org/abs/1904.09679
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._choices import LISTED, chat, choice_task
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.prompting import OptionsPrompt

ASKED = "{{ passage }}\n\n问题：{{ question }}"
LETTERS = ASKED + LISTED + "\n答案："
SOURCE = Source(local=("c3/c3-d-dev.json.gz", "c3/c3-m-dev.json.gz"), columns=("passage", "questions", "id"))


@dataclass(frozen=True)
class Question:
    """A question about a passage; the answer is the text of an option."""

    question: str
    choice: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Row:
    """A passage in lines, with all its questions."""

    passage: tuple[str, ...]
    questions: tuple[Question, ...]
    id: str
    row_file: str


def to_items(row: Row) -> tuple[Item, ...]:
    """Questions of one passage are a cluster; dialogues and mixed texts are strata."""
    kind = "dialogue" if "c3-d" in row.row_file else "mixed"
    return tuple(
        Item(
            id=f"{kind}/{row.id}/{number}",
            fields={"passage": "\n".join(row.passage), "question": one.question},
            choices=one.choice,
            targets=(one.answer,),
            cluster=f"{kind}/{row.id}",
            stratum=kind,
        )
        for number, one in enumerate(row.questions, 1)
    )


TASK = choice_task(
    {
        "letters": OptionsPrompt(
            template=LETTERS, continuation="{{ label }}", shot_template=LETTERS + "{{ label }}"
        ),
        "continuations": OptionsPrompt(
            template=ASKED + "\n答案：",
            continuation="{{ choice }}",
            shot_template=ASKED + "\n答案：{{ answer }}",
            unconditional="答案：",
        ),
        "chat": chat(ASKED, ask="\n\n最后一行请写：答案：……（只写选项字母）"),
    },
    marks=("Answer:", "答案："),
    name="c3",
    summary="multiple-choice reading in Chinese, dialogues and mixed texts",
    citation="Sun et al. 2019, arXiv:1904.09679",
    source=SOURCE,
    row=Row,
    to_item=to_items,
    shots=0,
    shot_source=SOURCE,  # the set itself, as long as its training part is not at hand: never the asked item
    unit="question",
    languages=("zh",),
    population="reading questions of exams in Chinese as a second language",
    licence="non-commercial research",
)
