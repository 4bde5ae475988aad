"""Every reported fault with a right value is none of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases.frame import (
    Given,
    NotMappedError,
    Said,
    agree,
    begins,
    judge,
    load_adapters,
    operation,
    read_cases,
)

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PROBATUM_DATA") or ROOT.parent / "shared" / "data")
FILE = DATA.parent / "cases" / "cases-open.jsonl"

DECIDED_OTHERWISE: dict[str, str] = {}
"""Cases whose right value is a choice, and where ours is another: id → why (docs/fault-cases.md)."""


def cases() -> list[Any]:
    if not FILE.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="the file of cases is not at hand"))]
    load_adapters()
    return [pytest.param(case, id=case["id"]) for case in read_cases(FILE)]


@pytest.mark.parametrize("case", cases())
def test_a_reported_fault_is_none_of_ours(case: dict[str, Any]) -> None:
    verdict = judge(case)
    if case["id"] in DECIDED_OTHERWISE:
        assert (case["checked"], verdict.state) == ("policy", "failed")
        return
    assert verdict.state == "passed", verdict


@pytest.mark.parametrize(
    ("ours", "expected", "same"),
    [
        (1.0, 1, True), (1, 1.0, True), (0.33181, 0.3318, True), (0.3319, 0.3318, False), (0.0712, 0.0712, True),
        (True, 1, False), (1.0, True, False), (None, None, True), (None, 0, False), (0.0, None, False),
        (float("nan"), 0.0, False), (float("inf"), 1.0, False), ("a", "a", True), ("1", 1, False), ([1, 2], (1, 2), True),
        ([1], [1, 2], False), ({"a": 1, "b": 2}, {"a": 1}, True), ({"a": 1}, {"a": 1, "b": 2}, False), ({}, {"a": None}, False),
        (Said("fail", "x"), "fail (tests not completed)", True), (Said("fail"), "failed", False), (Said("error"), "null or error (n<k)", True),
        (Said("pass"), "fail", False), (Said("error"), None, False), ([Said("error"), 1.0], ["error: no reference", 1.0], True),
    ],
)  # fmt: skip
def test_values_agree_by_kind_and_to_the_digits_printed(ours: object, expected: object, same: bool) -> None:
    assert agree(ours, expected) is same


def test_prose_begins_with_a_word_or_offers_it() -> None:
    assert begins("pass in < 5 s", "pass")
    assert begins("1, or failure if forbidden", "failure")
    assert not begins("passing", "pass")
    assert not begins("no pass", "pass")


@operation("case_of_the_tests", area="tests", unused=("note",))
def echo(given: Given) -> Any:
    if given["value"] == "raise":
        raise ValueError("as told\nby the test")
    if given["value"] == "unknown":
        raise NotMappedError("told so")
    return given["value"]


@pytest.mark.parametrize(
    ("given", "state", "told"),
    [
        ({"op": "case_of_the_tests", "value": 1}, "passed", "1"),
        ({"op": "case_of_the_tests", "value": 1, "note": "x"}, "passed", "1"),
        ({"op": "case_of_the_tests", "value": 2}, "failed", "2"),
        ({"op": "case_of_the_tests", "value": "raise"}, "failed", "ValueError: as told by the test"),
        ({"op": "case_of_the_tests", "value": "unknown"}, "not_mapped", "told so"),
        ({"op": "case_of_the_tests"}, "not_mapped", "the input has no 'value'"),
        ({"op": "case_of_the_tests", "value": 1, "more": 2}, "not_mapped", "does not know 'more'"),
        ({"op": "made_up", "value": 1}, "not_mapped", "operation 'made_up'"),
    ],
)
def test_what_is_not_understood_never_passes(given: dict[str, Any], state: str, told: str) -> None:
    verdict = judge({"id": "t-1", "area": "tests", "input": given, "expected": {"value": 1}})
    assert verdict.state == state
    assert told in verdict.ours


@pytest.mark.parametrize(
    ("given", "expected", "state"),
    [
        ({"op": "echo_text_many", "texts": ["a", "b"]}, ["a", "b"], "passed"),
        ({"op": "echo_text_many", "texts": ["a", "b"]}, ["a"], "failed"),
        ({"op": "echo_text_many", "cases": [{"text": "a"}, {"text": "b"}]}, ["a", "b"], "passed"),
        ({"op": "echo_text_many", "texts": ["a"], "labels": ["x"]}, ["a"], "passed"),
        ({"op": "echo_text_many", "ones": ["a"], "others": ["x"]}, ["a"], "not_mapped"),
        ({"op": "echo_text_many", "text": "a"}, ["a"], "not_mapped"),
        ({"op": "echo_text", "text": "a", "why": "told to people"}, "a", "passed"),
    ],
)
def test_an_operation_is_done_over_several_inputs(given: dict[str, Any], expected: Any, state: str) -> None:
    verdict = judge({"id": "t-2", "area": "tests", "input": given, "expected": {"value": expected}})
    assert verdict.state == state, verdict


@operation("echo_text", area="tests")
def echo_text(given: Given) -> Any:
    return given["text"]


def test_an_operation_over_several_inputs_is_done_for_one() -> None:
    given = {"op": "echo_every", "text": "a"}
    assert judge({"id": "t", "area": "tests", "input": given, "expected": {"value": "a"}}).state == "passed"


@operation("echo_every_many", area="tests")
def echo_every(given: Given) -> Any:
    return list(given["texts"])


def test_the_command_ends_with_one_line_of_json(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [
        {"id": "a", "area": "extraction", "input": {"op": "extract_boxed", "text": "\\boxed{7}"}, "expected": {"value": "7"}},
        {"id": "b", "area": "extraction", "input": {"op": "extract_boxed", "text": "\\boxed{7}"}, "expected": {"value": "8"}},
        {"id": "c", "area": "new", "input": {"op": "made_up"}, "expected": {"value": 1}},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for flag in ([], ["--json"]):
        ran = subprocess.run(
            [sys.executable, "-m", "tests.cases", str(file), *flag],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        last = json.loads(ran.stdout.splitlines()[-1])
        assert {key: last[key] for key in ("passed", "failed", "not_mapped")} == {
            "passed": 1,
            "failed": 1,
            "not_mapped": 1,
        }
        assert ran.returncode == 1
        assert flag or 'failed      b: ours "7"' in ran.stdout
