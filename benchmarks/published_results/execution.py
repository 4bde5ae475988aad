"""Runs stored programs in the sandbox: the few of HumanEval always, the many of other sets where asked for.

Executions are kept in a store beside the temporary files, so that a second run finds them there.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probatum.benchmarks import find_task
from probatum.core.errors import ProbatumError
from probatum.core.records import ExecutionStatus, Limits, Outcome, Program
from probatum.core.status import Status
from probatum.runner import Options, grade
from probatum.sandbox import Sandbox
from probatum.store import open_store

from .files import Data

__all__ = [
    "Ended",
    "Executed",
    "graded_file",
    "graded_lines",
    "is_allowed",
    "run_programs",
    "set_policy",
    "why_not",
]


@dataclass
class _Policy:
    """What may be executed."""

    everything: bool = False
    store: Path = Path(tempfile.gettempdir()) / "probatum-published.db"


_POLICY = _Policy()


def set_policy(*, everything: bool, store: Path | None = None) -> None:
    """Whether thousands of programs may run, and where their executions are kept."""
    _POLICY.everything = everything
    if store is not None:
        _POLICY.store = store


def is_allowed() -> bool:
    """Whether thousands of programs may run."""
    return _POLICY.everything


@dataclass(frozen=True)
class Executed:
    """Verdicts on the answers of one file."""

    passed: Mapping[tuple[str, int], bool]
    invalid: frozenset[str]
    """Items without a usable reference: they are in no rate."""
    estimates: Mapping[str, float]
    how: Mapping[tuple[str, int], str]
    """How each execution ended, in words."""


def graded_file(data: Data, name: str, task: str, problems: str | None = None) -> Executed:
    """Executes the answers of a stored file under a benchmark's tests.

    Raises:
        ProbatumError: there is no isolation on this machine, or the file does not fit.
    """
    options = Options(data_directory=data.root, allow_code_execution=True)
    store = open_store(f"sqlite:///{_POLICY.store}")
    try:
        run, _ = grade(
            data.path(name),
            find_task(task),
            store=store,
            data=data.path(problems) if problems is not None else None,
            options=options,
        )
        outcomes = [sample.outcome for sample in run.each_sample()]
    finally:
        store.close()
    valid = [each for each in outcomes if each.status is not Status.INVALID_ITEM]
    return Executed(
        {(each.item_id, each.sample): each.scores.get("passed") == 1.0 for each in valid},
        frozenset(each.item_id for each in outcomes) - {each.item_id for each in valid},
        {each.name: each.value for each in run.estimates if each.value is not None},
        {(each.item_id, each.sample): _ended(each) for each in valid},
    )


def _ended(outcome: Outcome) -> str:
    execution = outcome.execution
    if execution is None:
        return outcome.reason or outcome.status.value
    parts = (execution.status.value, execution.detail, f"{execution.cpu_seconds or 0:.1f} s of CPU time")
    return ", ".join(filter(None, parts))


def graded_lines(data: Data, lines: Sequence[Mapping[str, str]], task: str) -> Executed:
    """The same of answers that are made here, in their order."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(each) + "\n" for each in lines)
        file.flush()
        return graded_file(Data(data.root), file.name, task)


@dataclass(frozen=True)
class Ended:
    """How one program ended."""

    passed: bool
    how: str


def run_programs(programs: Sequence[tuple[str, str]], cpu_seconds: float = 3.0) -> list[Ended]:
    """Runs pairs of code (a model's) and tests (ours) that call its `answer`. Equal pairs run once.

    Raises:
        ProbatumError: there is no isolation on this machine.
    """
    limits = Limits(cpu_seconds=cpu_seconds)
    made = [
        Program(code=code, tests=tests, entry_points=("answer",), limits=limits) for code, tests in programs
    ]
    distinct = {each.digest: each for each in made}
    found: dict[str, Ended] = {}
    with Sandbox() as sandbox:
        for each in sandbox.execute(distinct.values()):
            told = " ".join(filter(None, (each.status.value, each.detail, each.message)))
            found[each.program] = Ended(each.status is ExecutionStatus.PASSED, told[:120])
    return [found[each.digest] for each in made]


def why_not(error: ProbatumError) -> str:
    """One line: why nothing could be executed."""
    return f"not executed: {error}"
