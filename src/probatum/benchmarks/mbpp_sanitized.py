"""MBPP, sanitized: problems whose text and tests the authors checked by hand. 257 test problems.

Austin et al. 2021, "Program Synthesis with Large Language Models", https://arxiv.org/abs/2108.07732
The file has 427 problems; as in the full set, ids 11 to 510 are for testing and 2 to 9 for prompts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from probatum.benchmarks import mbpp
from probatum.benchmarks._mbpp import problem
from probatum.core.protocol import Hub, Source
from probatum.core.records import Item

LOCAL = ("mbpp/sanitized-mbpp.json",)


@dataclass(frozen=True)
class Row:
    """A problem as published."""

    task_id: int
    prompt: str
    code: str
    test_list: tuple[str, ...]
    test_imports: tuple[str, ...] = ()


def for_testing(row: Row) -> bool:
    """Whether it is a test problem of the paper."""
    return 11 <= row.task_id <= 510  # noqa: PLR2004 - ids, see above


def for_prompts(row: Row) -> bool:
    """Whether it may be shown; the first three are those of the paper."""
    return row.task_id <= 10  # noqa: PLR2004 - ids, see above


def to_item(row: Row) -> Item:
    """What is asked with its assertions, which are also the tests."""
    return problem(row.task_id, row.prompt, row.code, row.test_list, "\n".join(row.test_imports))


TASK = replace(
    mbpp.TASK,
    name="mbpp_sanitized",
    version=1,
    summary="MBPP's problems with text and tests checked by hand",
    source=Source(
        local=LOCAL,
        hub=Hub(
            repository=mbpp.REPOSITORY,
            revision=mbpp.REVISION,
            files=("sanitized/test-00000-of-00001.parquet",),
        ),
        select=for_testing,
    ),
    row=Row,
    to_item=to_item,
    shot_source=Source(
        local=LOCAL,
        hub=Hub(
            repository=mbpp.REPOSITORY,
            revision=mbpp.REVISION,
            files=("sanitized/prompt-00000-of-00001.parquet",),
        ),
        select=for_prompts,
    ),
)
