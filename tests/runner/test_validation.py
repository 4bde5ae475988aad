from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from probatum.core.errors import DataError, ProtocolError
from probatum.core.protocol import Source
from probatum.core.records import ExecutionStatus, Item
from probatum.prompting import CompletionPrompt
from probatum.runner import validate
from probatum.runner.isolation import LazySandbox
from probatum.runner.lint import lint
from tests.fakes import Echo, Row, Verbatim, sums_task, write_sums
from tests.runner.runs import FakeSandbox

TASK = sums_task()


def test_a_sound_task_passes(data):
    found = validate(TASK, data_directory=data)
    assert (found.items, found.gold_right, found.wrong_right, found.passed) == (100, 100, 100, True)
    assert (found.faults, found.findings, found.invalid) == ((), (), {})
    assert json.loads(json.dumps(found.plain()))["passed"] is True


def gold_but_one(item: Item) -> str:
    return "" if item.id == "sum-3" else item.targets[0]


def right_once(item: Item) -> str:
    return item.targets[0] if item.id == "sum-5" else "-1"


def fails_once(item: Item) -> str:
    return str(1 / (int(str(item.fields["a"])) - 7))


def test_a_gold_answer_that_is_not_understood_is_a_fault(data):
    found = validate(replace(TASK, gold=gold_but_one), data_directory=data)
    assert (found.gold_right, found.wrong_right, found.passed) == (99, 100, False)
    ((fault,),) = (found.faults,)
    assert (fault.item_id, fault.answer, fault.status) == ("sum-3", "gold", "no_answer")


def test_a_known_bad_answer_that_scores_is_a_fault(data):
    found = validate(replace(TASK, wrong=right_once), data_directory=data)
    assert (found.gold_right, found.wrong_right, found.passed) == (100, 99, False)
    assert [(fault.item_id, fault.answer) for fault in found.faults] == [("sum-5", "wrong")]


@dataclass(frozen=True)
class Raising(Verbatim):
    def grade(self, item, sample, responses):
        if item.id == "sum-2":
            raise KeyError("unit")
        return super().grade(item, sample, responses)


@dataclass(frozen=True)
class NoOutcome(Verbatim):
    def grade(self, item, sample, responses):
        return super().grade(item, sample, responses) if item.id != "sum-2" else True


def test_a_scorer_that_gives_no_outcome_is_a_fault_of_that_item(data):
    found = validate(replace(TASK, scorer=NoOutcome()), data_directory=data)
    reason = "the scorer gave a bool and no outcome"
    assert [(fault.item_id, fault.reason) for fault in found.faults] == [("sum-2", reason)] * 2


def test_a_scorer_that_raises_is_a_fault_of_that_item(data):
    found = validate(replace(TASK, scorer=Raising()), data_directory=data)
    line = Raising.grade.__code__.co_firstlineno + 2
    reason = f"KeyError: 'unit' (test_validation.py line {line})"
    assert [(fault.item_id, fault.status, fault.reason) for fault in found.faults] == [
        ("sum-2", "grader_error", reason)
    ] * 2
    assert not found.passed


def test_a_task_whose_own_answers_raise_is_told(data):
    with pytest.raises(ProtocolError, match=r"'fails_once' fails on item 'sum-7': ZeroDivisionError"):
        validate(replace(TASK, gold=fails_once), data_directory=data)


def broken(row: Row) -> Item:
    item = TASK.to_item(row)
    return replace(item, choices=("same", "same"), targets=("A",)) if row.a == 4 else item


def declared(row: Row) -> Item:
    item = TASK.to_item(row)
    return replace(item, invalid="the benchmark's own answer is wrong") if row.a == 4 else item


def test_a_broken_item_fails_the_check_unless_the_task_declares_it(data):
    found = validate(replace(TASK, to_item=broken), data_directory=data)
    assert (list(found.invalid), found.gold_right, found.passed) == (["sum-4"], 99, False)
    found = validate(replace(TASK, to_item=declared), data_directory=data)
    assert (list(found.invalid), found.gold_right, found.passed) == (["sum-4"], 99, True)


def test_rows_that_cannot_be_used_are_told(data):
    (data / "sums.jsonl").write_text('{"id": "x", "a": "one", "b": 2}\n')
    with pytest.raises(DataError, match=r"sums\.jsonl.*1.*`?a"):
        validate(TASK, data_directory=data)


@pytest.mark.parametrize(("lost", "passed"), [(None, True), ("7", False)])
def test_programs_are_executed_and_one_that_is_lost_is_not_passed_over(data, monkeypatch, lost, passed):
    def verdict(program):
        if program.code == lost:
            return None
        right = program.tests == f"check({program.code})"
        return ExecutionStatus.PASSED if right else ExecutionStatus.ASSERTION_FAILED

    sandbox = FakeSandbox(verdict)
    monkeypatch.setattr(LazySandbox, "sandbox", property(lambda _: sandbox))
    found = validate(replace(TASK, scorer=Echo()), data_directory=data)
    assert len(sandbox.executed) == 200
    assert (found.passed, found.isolation) == (passed, "fake")


# ── content ─────────────────────────────────────────────────────────────────────────────────────────

PROMPT = CompletionPrompt(template="{{ question }}{% for one in choices %} {{ one }}{% endfor %}")


def item(name: str, question: str, target: str = "x", choices: tuple[str, ...] = ()) -> Item:
    return Item(id=name, fields={"question": question}, targets=(target,), choices=choices)


def kinds(items: list[Item], shots: tuple[Item, ...] = ()) -> list[tuple[str, str]]:
    return [(finding.item_id, finding.kind) for finding in lint(items, PROMPT, shots)]


def test_a_stop_string_within_a_gold_answer_is_found():
    prompt = replace(PROMPT, stop=("\n", "Q:"))
    items = [item("a", "One?", "first\nsecond"), item("b", "Two?", "one line\n"), item("c", "Three?", "Q: x")]
    found = lint(items, prompt, ())
    assert [(one.item_id, one.kind) for one in found] == [("a", "stop_in_gold"), ("c", "stop_in_gold")]
    assert found[0].detail == "the stop string '\\n' cuts the answer 'first\\nsecond'"


@pytest.mark.parametrize(
    ("items", "shots", "expected"),
    [
        pytest.param([item("a", "One?"), item("b", "Two?")], (), [], id="sound"),
        pytest.param([item("a", "One?"), item("b", "one")], (), [("b", "duplicate")], id="duplicate"),
        pytest.param(
            [item("a", "Which?", "A", ("cat", "dog")), item("b", "Which?", "B", ("dog", "cat"))],
            (),
            [("b", "duplicate")],
            id="options in another order",
        ),
        pytest.param([item("a", "One?")], (item("s", "ONE"),), [("a", "shot_overlap")], id="shot"),
        pytest.param(
            [item("a", "The capital is  Ouagadougou-upon-Thames, or?", "ouagadougou-upon-thames")],
            (),
            [("a", "gold_in_prompt")],
            id="answer in the question",
        ),
        pytest.param([item("a", "Is it 7 or 8?", "7")], (), [], id="a short answer may stand there by chance"),
        pytest.param(
            [item("a", "Which?", "a very long option", ("a very long option", "b"))], (), [], id="options are shown"
        ),
    ],
)  # fmt: skip
def test_faults_of_the_content_are_found(items, shots, expected):
    assert kinds(items, shots) == expected


@pytest.mark.parametrize(("same", "found"), [(12, False), (13, True)])
def test_a_gold_label_that_is_nearly_always_the_same_is_found(same, found):
    items = [
        item(f"i{number}", f"number {number}?", "A" if number < same else "B", ("x", f"y{number}"))
        for number in range(20)
    ]
    assert (("", "constant_gold") in kinds(items)) is found


def test_shots_of_the_task_are_held_against_its_items(data):
    write_sums(data, 1, file="shots.jsonl", first=7)
    rows = (data / "shots.jsonl").read_text().replace("sum-7", "shot")
    (data / "shots.jsonl").write_text(rows)
    found = validate(replace(TASK, shots=1, shot_source=Source(local=("shots.jsonl",))), data_directory=data)
    assert [(one.item_id, one.kind) for one in found.findings] == [("sum-7", "shot_overlap")]
