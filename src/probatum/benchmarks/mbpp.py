"""MBPP: entry-level Python functions from a sentence and three assertions. 500 test problems (ids 11 to 510).

Austin et al. 2021, "Program Synthesis with Large Language Models", https://arxiv.org/abs/2108.07732
Ids 1 to 10 are for prompts, 511 to 600 for validation, 601 to 974 for training. The paper shows 2, 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._mbpp import problem
from probatum.core.protocol import Hub, Source, Task
from probatum.core.records import Item, Sampling
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import PassAtK, PassesTests

LOCAL = ("mbpp/mbpp.jsonl.gz",)
REPOSITORY, REVISION = "google-research-datasets/mbpp", "4bb6404fdc6cacfda99d4ac4205087b89d32030c"


@dataclass(frozen=True)
class Row:
    """A problem as published."""

    task_id: int
    text: str
    code: str
    test_list: tuple[str, ...]
    test_setup_code: str = ""


def for_testing(row: Row) -> bool:
    """Whether it is a test problem of the paper."""
    return 11 <= row.task_id <= 510  # noqa: PLR2004 - ids, see above


def for_prompts(row: Row) -> bool:
    """Whether it may be shown. Problem 1 is left out, so that the first three are those of the paper."""
    return 2 <= row.task_id <= 10  # noqa: PLR2004 - ids, see above


def to_item(row: Row) -> Item:
    """What is asked with its three assertions, which are also the tests."""
    return problem(row.task_id, row.text, row.code, row.test_list, row.test_setup_code)


def gold(item: Item) -> str:
    """The reference solution."""
    return str(item.fields["canonical_solution"])


def wrong(item: Item) -> str:
    """A function that answers nothing."""
    return f"def {item.fields['entry_point']}(*values):\n    return None\n"


ASKED = (
    "You are an expert Python programmer, and here is your task: {{ text }} "
    "Your code should pass these tests:\n\n{{ assertions }}\n"
)
COMPLETION = CompletionPrompt(
    template=f"{ASKED}[BEGIN]\n",
    shot_template=f"{ASKED}[BEGIN]\n{{{{ canonical_solution }}}}\n[DONE]",
    stop=("[DONE]",),
)
CHAT = ChatPrompt(
    template=f"{ASKED}\nAnswer with the code in one code block, without the tests.",
    shot_answer="```python\n{{ canonical_solution }}\n```",
)
SCORER = PassesTests(tests="{test}", prompt="", mode_field="mode")

TASK = Task(
    name="mbpp",
    version=1,
    summary="entry-level Python functions from a sentence and three assertions",
    citation="Austin et al. 2021, arXiv:2108.07732",
    source=Source(
        local=LOCAL,
        hub=Hub(repository=REPOSITORY, revision=REVISION, files=("full/test-00000-of-00001.parquet",)),
        select=for_testing,
    ),
    row=Row,
    to_item=to_item,
    completion=COMPLETION,
    chat=CHAT,
    sampling=Sampling(max_tokens=512),
    scorer=SCORER,
    metrics=(PassAtK(),),
    gold=gold,
    wrong=wrong,
    shots=3,
    shot_source=Source(
        local=LOCAL,
        hub=Hub(repository=REPOSITORY, revision=REVISION, files=("full/prompt-00000-of-00001.parquet",)),
        select=for_prompts,
    ),
    shots_drawn=False,
    unit="problem",
    population="entry-level Python problems that crowd workers wrote",
    licence="CC-BY-4.0",
)
