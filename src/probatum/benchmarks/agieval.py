"""AGIEval: exams with options, of people. Eleven exams in English and Chinese.

Zhong et al. 2023, "AGIEval: A Human-Centric Benchmark for Evaluating Foundation Models",
https://arxiv.org/abs/2304.06364
The exams without options (`gaokao-mathcloze`) and with several right ones (`jec-qa`) are not in this task.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from probatum.benchmarks._choices import chat, choice_task, letters
from probatum.core.protocol import Source
from probatum.core.records import Item

EXAMS = {
    "aqua-rat": "jsonl",
    "gaokao-biology": "jsonl",
    "gaokao-geography": "jsonl",
    "gaokao-history": "jsonl",
    "gaokao-mathqa": "jsonl",
    "logiqa-en": "jsonl.gz",
    "logiqa-zh": "jsonl.gz",
    "lsat-ar": "jsonl",
    "sat-math": "jsonl",
}
"""Exam → ending of its file."""
_LABEL = re.compile(r"^\s*[(（]?[A-I][)）.、]\s*")
SOURCE = Source(local=tuple(f"agieval/{exam}.{ending}" for exam, ending in EXAMS.items()))


@dataclass(frozen=True)
class Row:
    """A question; options carry their labels."""

    question: str
    options: tuple[str, ...]
    label: str
    row_file: str
    row_number: int
    passage: str | None = None


def to_item(row: Row) -> Item:
    """The exam is the stratum; questions about one passage are a cluster."""
    exam = PurePosixPath(row.row_file).name.split(".")[0]
    return Item(
        id=f"{exam}/{row.row_number}",
        fields={"passage": (row.passage or "").strip(), "question": row.question.strip()},
        choices=tuple(_LABEL.sub("", option, count=1) for option in row.options),
        targets=(row.label,),
        cluster=f"{exam}/{row.passage[:200]}" if row.passage else None,
        stratum=exam,
    )


ASKED = "{% if passage %}{{ passage }}\n\n{% endif %}Question: {{ question }}"

TASK = choice_task(
    {"letters": letters(ASKED), "chat": chat(ASKED)},
    name="agieval",
    version=2,
    summary="exams of people with options, in English and Chinese",
    citation="Zhong et al. 2023, arXiv:2304.06364",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    shots=0,
    shot_source=SOURCE,  # the set itself; never the asked item
    shots_of_stratum=True,
    unit="question",
    languages=("en", "zh"),
    population="questions of exams for admission to universities and law schools",
    licence="MIT",
)
