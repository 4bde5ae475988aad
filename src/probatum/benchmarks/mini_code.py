"""Mini-code: ten small Python functions of our own, judged by tests in the sandbox.

It exercises code execution where HumanEval's package is not at hand; it is no measure of quality.
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.protocol import Source, Task
from probatum.core.records import Item, Sampling
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import PassAtK, PassesTests


@dataclass(frozen=True)
class Row:
    """A function to write, and assertions about it."""

    id: str
    prompt: str
    entry_point: str
    solution: str
    tests: tuple[str, ...]


def to_item(row: Row) -> Item:
    """The assertions become one test function."""
    test = "def check(candidate):\n" + "".join(
        f"    {line.replace(row.entry_point, 'candidate')}\n" for line in row.tests
    )
    return Item(
        id=row.id,
        fields={
            "prompt": row.prompt,
            "test": test,
            "entry_point": row.entry_point,
            "canonical_solution": row.solution,
        },
    )


def gold(item: Item) -> str:
    """The reference solution."""
    return str(item.fields["canonical_solution"])


def wrong(_: Item) -> str:
    """A body that runs and answers nothing."""
    return "    return None\n"


TASK = Task(
    name="mini_code",
    version=1,
    summary="ten small Python functions of our own, judged by unit tests",
    citation="probatum",
    source=Source(package="probatum.benchmarks:mini_code.jsonl"),
    row=Row,
    to_item=to_item,
    completion=CompletionPrompt(
        template="{{ prompt }}", stop=("\nclass", "\ndef", "\n#", "\n@", "\nif", "\nprint", "\n```")
    ),
    chat=ChatPrompt(
        template="Complete this Python function. Answer with the whole function in one code block.\n\n"
        "```python\n{{ prompt }}```"
    ),
    sampling=Sampling(max_tokens=256),
    scorer=PassesTests(),
    metrics=(PassAtK(),),
    gold=gold,
    wrong=wrong,
    unit="problem",
    languages=("en", "zh"),
    population="easy functions that the authors of probatum thought of",
    licence="Apache-2.0",
)
