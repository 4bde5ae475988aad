"""Mini: 60 small questions of our own, English and Chinese, so that a first run needs nothing.

Option letters, numbers, short answers, and programs to read. It exercises a model and this harness;
it is no measure of quality, and its items are public.
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.protocol import Source, Task
from probatum.core.records import Item, Sampling
from probatum.extraction import FinalNumber, OptionLetter, ShortAnswer
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import ByField, ChoiceMatch, ExactMatch, NumberMatch, Rate, loose_text

LINES = ("Answer:", "答案：")
QUESTION = (
    "{{ question }}{% for choice in choices %}\n{{ 'ABCDEF'[loop.index0] }}. {{ choice }}{% endfor %}\n"
)
ASK = (
    "{% if language == 'zh' %}\n最后一行请写：答案：……{% if choices %}（只写选项字母）{% endif %}"
    "{% else %}\nEnd with the line: Answer: …{% if choices %} (the letter alone){% endif %}{% endif %}"
)
REPLY = "{{ '答案：' if language == 'zh' else 'Answer: ' }}{{ target }}"


@dataclass(frozen=True)
class Row:
    """A question; `answers` holds the letter where there are choices."""

    id: str
    kind: str
    language: str
    question: str
    choices: tuple[str, ...]
    answers: tuple[str, ...]


def to_item(row: Row) -> Item:
    """The kind is the stratum: each is reported on its own."""
    return Item(
        id=row.id,
        fields={"question": row.question, "kind": row.kind, "language": row.language},
        choices=row.choices,
        targets=row.answers,
        stratum=f"{row.kind}-{row.language}",
    )


def gold(item: Item) -> str:
    """The declared answer line."""
    return f"{'答案：' if item.fields['language'] == 'zh' else 'Answer: '}{item.targets[0]}"


def wrong(item: Item) -> str:
    """Another option, another number, another word."""
    other = "A" if item.targets[0] != "A" else "B"
    return f"Answer: {other if item.choices else '987654'}"


TASK = Task(
    name="mini",
    version=1,
    summary="60 small questions of our own: options, numbers, short answers, programs to read; en, zh",
    citation="probatum",
    source=Source(package="probatum.benchmarks:mini.jsonl"),
    row=Row,
    to_item=to_item,
    completion=CompletionPrompt(template=QUESTION, shot_template=QUESTION + REPLY, stop=("\n\n",)),
    chat=ChatPrompt(template=QUESTION + ASK, shot_answer=REPLY),
    sampling=Sampling(max_tokens=256),
    scorer=ByField(
        field="kind",
        scorers={
            "option": ChoiceMatch(OptionLetter(declared=LINES)),
            "number": NumberMatch(FinalNumber(declared=LINES)),
            "short": ExactMatch(ShortAnswer(declared=LINES), normaliser=loose_text),
            "code": ExactMatch(ShortAnswer(declared=LINES), normaliser=loose_text),
        },
    ),
    metrics=(Rate(),),
    gold=gold,
    wrong=wrong,
    shots=4,
    shot_source=Source(package="probatum.benchmarks:mini_shots.jsonl"),
    shots_drawn=False,
    languages=("en", "zh"),
    population="easy questions that the authors of probatum thought of",
    licence="Apache-2.0",
)
