"""Known answers before a run: a broken grader stops it, and does not look like a poor model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from probatum.benchmarks.mini_code import TASK, gold, wrong
from probatum.core.errors import GraderError, SandboxError
from probatum.core.records import Execution, ExecutionStatus, Item, Program
from probatum.datasets import load_items
from probatum.runner.canaries import CANARIES, check_grader
from probatum.runner.isolation import LazySandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[LazySandbox]:
    with LazySandbox(1) as made:
        try:
            made.sandbox  # noqa: B018 - opens it
        except SandboxError as error:
            pytest.skip(f"no isolation on this machine: {error}")
        yield made


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(load_items(TASK.source, TASK.row, TASK.to_item))


@dataclass
class Recorded:
    """Ends every program in one way, and counts them."""

    status: ExecutionStatus
    programs: list[Program] = field(default_factory=list)

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        for program in programs:
            self.programs.append(program)
            yield Execution(program=program.digest, status=self.status)


def test_a_sound_grader_has_nothing_to_tell(sandbox: LazySandbox, items: list[Item]) -> None:
    found = check_grader(TASK, TASK.scorer, items, sandbox)
    assert found.items == tuple(item.id for item in items[:CANARIES])
    assert found.notes() == []


def test_references_that_all_fail_stop_the_run(sandbox: LazySandbox, items: list[Item]) -> None:
    with pytest.raises(GraderError, match=r"reference pass rate 0 of 3 .*probatum validate mini_code"):
        check_grader(replace(TASK, gold=wrong), TASK.scorer, items, sandbox)


def test_known_bad_answers_that_all_pass_stop_the_run(sandbox: LazySandbox, items: list[Item]) -> None:
    with pytest.raises(GraderError, match="all of 3 known-bad answers pass"):
        check_grader(replace(TASK, wrong=gold), TASK.scorer, items, sandbox)


def test_one_reference_that_fails_is_told_and_stops_nothing(sandbox: LazySandbox, items: list[Item]) -> None:
    task = replace(TASK, gold=lambda item: wrong(item) if item.id == items[0].id else gold(item))
    (note,) = check_grader(task, TASK.scorer, items, sandbox).notes()
    assert note.startswith(f"the reference solution of {items[0].id} fails here (assertion_failed")


def test_workers_that_cannot_be_started_stop_the_run(items: list[Item]) -> None:
    class Broken:
        def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
            raise SandboxError(f"a worker cannot be started for {len(list(programs))} program")

    with pytest.raises(SandboxError, match="cannot be started"):
        check_grader(TASK, TASK.scorer, items, Broken())


def test_a_sandbox_that_passes_all_or_nothing_is_found_out(items: list[Item]) -> None:
    with pytest.raises(GraderError, match="known-bad"):
        check_grader(TASK, TASK.scorer, items, Recorded(ExecutionStatus.PASSED))
    failing = Recorded(ExecutionStatus.SANDBOX_ERROR)
    with pytest.raises(GraderError, match="reference pass rate 0"):
        check_grader(TASK, TASK.scorer, items, failing)
    assert len(failing.programs) == 2 * CANARIES


def test_a_task_without_sound_items_has_no_canaries() -> None:
    assert check_grader(TASK, TASK.scorer, [], Recorded(ExecutionStatus.PASSED)).items == ()
