"""Facts of the code benchmarks: which problems they hold, how each is judged, and what counts as right."""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import pytest

from probatum.benchmarks import find_task
from probatum.benchmarks._mbpp_plus import ARGUMENTS, fits, restored
from probatum.core.protocol import Task
from probatum.core.records import ExecutionStatus, Item, Response
from probatum.datasets import Dataset, load_file, load_items
from probatum.runner import validate
from probatum.sandbox import Sandbox
from probatum.scoring import PassesTests

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="needs PROBATUM_DATA")


@lru_cache(maxsize=4)
def dataset(name: str) -> Dataset:
    task = find_task(name)
    return load_items(task.source, task.row, task.to_item, data_directory=SHARED)


def item(name: str, number: int) -> Item:
    return next(item for item in dataset(name) if item.id.endswith(f"/{number}"))


@pytest.mark.parametrize(
    ("name", "count", "shots"),
    [
        ("mbpp", 500, 9),
        ("mbpp_sanitized", 257, 7),
        ("humaneval_plus", 164, 0),
        ("mbpp_plus", 399, 0),
        ("mbpp_plus_base", 399, 0),
    ],
)
def test_a_benchmark_has_its_items_and_its_shots(name: str, count: int, shots: int) -> None:
    task = find_task(name)
    assert dataset(name).count == count
    pool = task.shot_source
    found = (
        []
        if pool is None
        else [shot.id for shot in load_items(pool, task.row, task.to_item, data_directory=SHARED)]
    )
    assert len(found) == shots
    assert found[:3] == ["Mbpp/2", "Mbpp/3", "Mbpp/4"][:shots]  # those of the paper


def test_the_prompt_of_mbpp_is_that_of_the_paper() -> None:
    task = find_task("mbpp")
    assert task.completion is not None
    assert task.shot_source is not None
    shots = list(load_items(task.shot_source, task.row, task.to_item, data_directory=SHARED))[:3]
    prompt = str(task.completion.render(item("mbpp", 11), shots, None))
    assert prompt.startswith(
        "You are an expert Python programmer, and here is your task: Write a function to find the similar "
        "elements from the given two tuple lists. Your code should pass these tests:\n\nassert similar_elements("
    )
    assert prompt.count("[BEGIN]") == 4
    assert prompt.count("[DONE]") == 3
    assert prompt.endswith("[BEGIN]\n")
    assert "\r" not in prompt


def test_problems_whose_tests_make_objects_of_a_class_run_in_one_process_and_say_so() -> None:
    task = dataclasses.replace(
        find_task("mbpp"), source=dataclasses.replace(find_task("mbpp").source, select=None)
    )
    everything = load_items(task.source, task.row, task.to_item, data_directory=SHARED)
    modes = Counter(str(item.fields["mode"]) for item in everything)
    joint = [item.id for item in everything if item.fields["mode"] == "joint"]
    assert joint == ["Mbpp/367", "Mbpp/601", "Mbpp/927"]
    assert modes["split"] == 971
    assert all(item.fields["entry_point"] for item in everything if item.fields["mode"] == "split")


def judged(task: Task, answers: Iterable[tuple[Item, str]]) -> list[tuple[ExecutionStatus, str, str]]:
    """Status, message and trust of each program's execution."""
    scorer = task.scorer
    assert isinstance(scorer, PassesTests)
    programs = [
        dataclasses.replace(scorer, given="program").program(one, 0, [Response(request="", text=text)])
        for one, text in answers
    ]
    with Sandbox(workers=1) as sandbox:
        found = {execution.program: execution for execution in sandbox.execute(programs)}  # type: ignore[arg-type]
    ended = [found[program.digest] for program in programs]  # type: ignore[union-attr]
    return [(one.status, one.message or "", one.verdict_trust) for one in ended]


def test_joint_verdicts_are_labelled() -> None:
    one = item("mbpp", 367)
    ((status, _, trust),) = judged(find_task("mbpp"), [(one, str(one.fields["canonical_solution"]))])
    assert (status, trust) == (ExecutionStatus.PASSED, "in_process")


PLUS = [
    # problem, program, status, part of the message
    (2, "def similar_elements(a, b):\n    return sorted(set(a) & set(b), key=repr) * 2\n", "passed", ""),  # any order
    (2, "def similar_elements(a, b):\n    return set(a)\n", "assertion_failed", "base input 1 of 3: ((3, 4, 5, 6), (5, 7, 4, 10))"),
    (737, "import re\ndef check_str(text):\n    return re.match('[aeiouAEIOU]', text)\n", "passed", ""),  # a match, or True
    (737, "def check_str(text):\n    return text[:1] in set('aeiouAEIOU')\n", "passed", ""),
    (737, "def check_str(text):\n    return True\n", "assertion_failed", ""),
    (164, "def are_equivalent(a, b):\n    return True\n", "assertion_failed", "base input 1 of 3"),
    (558, "def digit_distance_nums(a, b):\n    n = max(len(str(a)), len(str(b)))\n    return sum(abs(int(x) - int(y)) for x, y in zip(str(a).zfill(n), str(b).zfill(n)))\n", "passed", ""),
    (98, "def multiply_num(numbers):\n    found = 1\n    for one in numbers:\n        found *= one\n    return found / len(numbers) + 0.00009\n", "passed", ""),
    (98, "def multiply_num(numbers):\n    found = 1\n    for one in numbers:\n        found *= one\n    return found / len(numbers) + 0.9\n", "assertion_failed", ""),
    (2, "def similar(a, b):\n    return 1\n", "exception", "does not define 'similar_elements'"),
]  # fmt: skip


@pytest.mark.slow
def test_what_counts_as_right_in_mbpp_plus() -> None:
    found = judged(find_task("mbpp_plus"), [(item("mbpp_plus", number), code) for number, code, _, _ in PLUS])
    for (number, _, status, message), (ended, told, trust) in zip(PLUS, found, strict=True):
        assert (number, ended.value) == (number, status)
        assert message in told
        assert trust == "split"


def test_arguments_have_the_types_that_references_take() -> None:
    assert restored(2, [[[1], [2]]]) == [[(1,), (2,)]]
    assert restored(63, [[[[1], [2]]]]) == [[[(1,), (2,)]]]
    assert restored(106, [[[1], [2]]]) == [[[1], (2,)]]
    assert restored(115, [[[[1, 1], [], {}]]]) == [[[{1}, {}, {}]]]
    assert restored(124, [["1", "2j"]]) == [[1.0, 2j]]
    assert restored(278, [[[1, [2, 3]]]]) == [[(1, (2, 3))]]
    assert restored(580, [[[1, [2, [3]]]]]) == [[(1, (2, (3,)))]]
    assert restored(722, [[{"a": [1]}, 2]]) == [[{"a": (1,)}, 2]]
    assert restored(1, [[[1]], []]) == [[[1]], []]
    assert len(ARGUMENTS) == 62
    assert fits(255, [["a"] * 5, 3])
    assert not fits(255, [["a"] * 5, 77])


def test_inputs_that_are_not_json_are_read() -> None:
    assert "-Infinity" in str(item("mbpp_plus", 404).fields["test"])


def test_slow_problems_have_limits_of_their_own() -> None:
    scorer = find_task("mbpp_plus").scorer
    assert isinstance(scorer, PassesTests)
    assert scorer._limits(item("mbpp_plus", 599)).cpu_seconds == 120
    assert scorer._limits(item("mbpp_plus", 2)).cpu_seconds == 10


HUB_TEST = """import numpy as np
from math import inf

def is_floats(x) -> bool:
    return isinstance(x, float)

def assertion(out, exp, atol):
    assert out == exp

inputs = [[(3, 4, 5, 6), (5, 7, 4, 10)], [(1, 2), (2, 3)]]
results = [(4, 5), (2,)]
for i, (inp, exp) in enumerate(zip(inputs, results)):
    assertion(similar_elements(*inp), exp, 0)
"""
HUB_MBPP = {
    "task_id": 2,
    "code": "def similar_elements(a, b):\n  return tuple(set(a) & set(b))\n",
    "prompt": "Write a function to find the shared elements from the given two lists.",
    "source_file": "x.ipynb",
    "test_imports": [],
    "test_list": ["assert set(similar_elements((3, 4, 5, 6),(5, 7, 4, 10))) == set((4, 5))"],
    "test": HUB_TEST,
}
HUB_HUMANEVAL = {
    "task_id": "HumanEval/1000",
    "prompt": "def half(x: float) -> float:\n",
    "canonical_solution": "    return x / 2\n",
    "entry_point": "half",
    "test": HUB_TEST.replace("inputs = ", "def check(candidate):\n    inputs = ")
    .replace("[[(3, 4, 5, 6), (5, 7, 4, 10)], [(1, 2), (2, 3)]]", "[[1.0], [inf], [3]]")
    .replace("\nresults = [(4, 5), (2,)]\nfor", "\n    results = [0.5, inf, 1.5]\n    for")
    .replace("    assertion(similar_elements", "        assertion(candidate"),
}
RELEASE_HUMANEVAL = {
    "task_id": "HumanEval/1000",
    "prompt": "def half(x: float) -> float:\n",
    "contract": "    assert x > 0",
    "canonical_solution": "    return x / 2\n",
    "entry_point": "half",
    "base_input": [[1.0]],
    "plus_input": [[3]],
    "atol": 0,
}


@pytest.mark.parametrize(
    ("name", "row"),
    [("mbpp_plus", HUB_MBPP), ("humaneval_plus", HUB_HUMANEVAL), ("humaneval_plus", RELEASE_HUMANEVAL)],
)
def test_other_editions_are_read_and_judged_alike(name: str, row: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "edition.jsonl"
    path.write_text(json.dumps(row) + "\n")
    task = find_task(name)
    (one,) = load_file(path, task.row, task.to_item)
    prompt = str(one.fields["prompt"])
    right, wrong = task.gold(one), task.wrong(one)
    programs = [prompt + right, prompt + wrong]
    statuses = [status for status, _, _ in judged(task, [(one, code) for code in programs])]
    assert statuses == [ExecutionStatus.PASSED, ExecutionStatus.ASSERTION_FAILED]
    assert one.fields["entry_point"] in {"similar_elements", "half"}


def test_a_reference_that_fails_is_the_fault_of_the_benchmark_and_of_no_program(tmp_path: Path) -> None:
    row = {**RELEASE_HUMANEVAL, "plus_input": [["x"]]}
    path = tmp_path / "edition.jsonl"
    path.write_text(json.dumps(row) + "\n")
    task = find_task("humaneval_plus")
    (one,) = load_file(path, task.row, task.to_item)
    ((status, message, _),) = judged(task, [(one, "def half(x):\n    return x * 0.5\n")])
    assert status is ExecutionStatus.SANDBOX_ERROR
    assert message.startswith("the reference fails on plus input 1 of 1: TypeError")


def test_known_broken_problems_are_declared_with_the_reason() -> None:
    assert dict(dataset("humaneval_plus").invalid) == {
        "HumanEval/20": "the early edition has no reference solution: its body is `pass`"
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humaneval_plus", "mbpp_plus", "mbpp_plus_base"])
def test_references_of_large_benchmarks_pass_their_tests(name: str) -> None:
    checked = validate(find_task(name), data_directory=SHARED)
    assert checked.faults == ()
    assert checked.gold_right == checked.wrong_right == checked.items - len(checked.known_broken)
    assert checked.passed
