"""CPU limits of programs: ten times the reference solution's time, unless the user says otherwise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from probatum.benchmarks import find_task
from probatum.core.errors import UsageError
from probatum.core.protocol import Task
from probatum.core.records import Item, Limits, Program, Response
from probatum.runner import EvaluatedRun, Options, Progress, grade, rescore
from probatum.runner.cpu_limits import CpuLimits, with_cpu_seconds
from probatum.scoring import PassesTests
from probatum.store import Store

BUSY = "    import time\n    while time.process_time() < {seconds}: pass\n    return 1\n"
ROWS = [
    # id, reference solution
    ("T/quick", "    return 1\n"),
    ("T/slow", BUSY.format(seconds=0.1)),
    ("T/wrong", "    return 2\n"),
]


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Problems of HumanEval's form: one whose solution is quick, one whose is slow, one whose is wrong."""
    rows = [
        {
            "task_id": name,
            "prompt": "def f():\n",
            "canonical_solution": solution,
            "test": "def check(candidate):\n    assert candidate() == 1\n",
            "entry_point": "f",
        }
        for name, solution in ROWS
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """To each problem, an answer that takes 0.7 seconds."""
    path = tmp_path / "samples.jsonl"
    path.write_text(
        "".join(
            json.dumps({"task_id": name, "completion": BUSY.format(seconds=0.7)}) + "\n" for name, _ in ROWS
        )
    )
    return path


def ended(run: EvaluatedRun) -> dict[str, tuple[str, str | None]]:
    found = {}
    for sample in run.each_sample():
        execution = sample.outcome.execution
        assert execution is not None, sample.outcome
        found[sample.item.id] = (execution.status.value, execution.detail)
    return found


def run_of(
    samples: Path, items: Path, store: Store, task: Task | None = None, progress: Progress | None = None,
    **options: float,
) -> EvaluatedRun:  # fmt: skip
    chosen = Options(workers=2, allow_code_execution=True, **options)  # type: ignore[arg-type]
    return grade(
        samples, task or find_task("humaneval"), store=store, data=items, options=chosen, progress=progress
    )[0]


def test_a_program_may_take_ten_times_what_the_reference_takes(
    samples: Path, items: Path, store: Store
) -> None:
    progress = Progress()
    run = run_of(samples, items, store, progress=progress)
    assert ended(run) == {
        "T/quick": ("timeout", "cpu"),
        "T/slow": ("passed", None),
        "T/wrong": ("passed", None),  # its reference says nothing: the task's own limit of 3 seconds holds
    }
    limits = run.record.tasks[0].summary["limits"]
    assert isinstance(limits, dict)
    assert limits["of_the_task"] == ["T/wrong"]
    assert sorted(limits["cpu_seconds"].values()) == [1, 1]
    assert limits["cpu_seconds"]["0.5"] == 1
    assert any(
        "1 of the items have the task's own CPU limit" in note for note in run.plain()["tasks"][0]["notes"]
    )
    again = Progress()
    second = run_of(samples, items, store, progress=again)
    assert (second.id, again.executed, ended(second)) == (run.id, 0, ended(run))


def test_a_limit_that_is_given_holds_for_all_and_is_another_recipe(
    samples: Path, items: Path, store: Store
) -> None:
    measured = run_of(samples, items, store)
    given = run_of(samples, items, store, cpu_seconds=5)
    assert set(ended(given).values()) == {("passed", None)}
    assert given.id != measured.id
    assert given.record.options["cpu_seconds"] == 5.0
    assert "limits" not in given.record.tasks[0].summary
    again = rescore(given.id, store=store, allow_code_execution=True)
    assert (again.id, ended(again)) == (given.id, ended(given))


def test_files_of_whole_programs_are_measured_by_the_same_reference(
    items: Path, tmp_path: Path, store: Store
) -> None:
    path = tmp_path / "whole.jsonl"
    path.write_text(json.dumps({"task_id": "T/slow", "solution": "def f():\n" + BUSY.format(seconds=0.7)}))
    run = run_of(path, items, store)
    assert [one.status.value for sample in run.each_sample() if (one := sample.outcome.execution)] == [
        "passed"
    ]


def item(name: str) -> Item:
    return Item(
        id=name,
        fields={
            "prompt": "def f():\n",
            "test": "def check(f): f()",
            "entry_point": "f",
            "gold": "    return 1",
        },
    )


def test_references_are_measured_once_an_item_and_the_wall_clock_leaves_room() -> None:
    asked: list[int] = []

    def measure(programs: object) -> dict[str, float]:
        found = list(programs)  # type: ignore[call-overload]
        asked.append(len(found))
        return {one.digest: 42.0 for one in found}

    scorer = PassesTests()
    limits = CpuLimits(scorer, lambda one: str(one.fields["gold"]), measure)
    program = scorer.program(item("a"), 0, [Response(request="", text="    return 2")])
    assert isinstance(program, Program)
    (limited,) = limits.limited([(item("a"), program)])
    assert (limited.limits.cpu_seconds, limited.limits.wall_seconds) == (42.0, 420.0)
    assert replace(limited, limits=program.limits) == program
    limits.limited([(item("a"), program), (item("b"), program)])
    assert asked == [1, 1]
    assert limits.plain()["cpu_seconds"] == {"42": 2}


@pytest.mark.parametrize("gold", [lambda _: 1 / 0, lambda one: one.fields["nothing"]])
def test_an_item_without_a_solution_keeps_the_limit_of_the_task(gold: object) -> None:
    limits = CpuLimits(PassesTests(), gold, lambda _: {})  # type: ignore[arg-type]
    program = Program(code="", tests="", limits=Limits(cpu_seconds=7))
    assert limits.limited([(item("a"), program)]) == [program]
    assert limits.plain()["of_the_task"] == ["a"]


@pytest.mark.parametrize("given", ["completion", "answer", "program"])
def test_the_reference_is_the_gold_answer_whatever_the_responses_hold(given: str) -> None:
    scorer = PassesTests().reading(given, ("stop",))  # type: ignore[arg-type]
    found = scorer.reference(item("a"), "    return 'stop'\n")
    assert found is not None
    assert found.code.rstrip() == "def f():\n    return 'stop'"


def test_a_limit_for_a_task_without_programs_is_refused() -> None:
    with pytest.raises(UsageError, match="'gsm8k' runs no programs"):
        with_cpu_seconds(find_task("gsm8k"), 2.0)
    assert with_cpu_seconds(find_task("gsm8k"), None) is find_task("gsm8k")


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), True])
def test_limits_that_are_none_are_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="cpu_seconds"):
        Options(cpu_seconds=seconds)
