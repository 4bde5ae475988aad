"""Gold answers are read and scored like a model's before anything is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest

from probatum import evaluate
from probatum.benchmarks import mini
from probatum.cli.tables import print_run
from probatum.core.records import Item
from probatum.core.status import Status
from probatum.report import make_card
from probatum.runner import Options, grade, rescore
from probatum.runner.gold import GoldChecker
from probatum.runner.resolution import protocol_for
from probatum.runner.validation import validate
from probatum.scoring import ExactMatch, NumberMatch, Rate
from tests.fakes import Echo, FakeModel, sums_task
from tests.runner.runs import FakeSandbox, carry_out, outcomes

TASK = sums_task(scorer=NumberMatch())


def named(item: Item) -> str:
    return f"The answer is {item.targets[0]}."


def off_by_one(item: Item) -> str:
    """The gold answer of one item names another number than its target."""
    return f"Answer: {int(item.targets[0]) + (item.id == 'sum-2')}"


def ambiguous(item: Item) -> str:
    return "The answer is 1. The answer is 2." if item.id == "sum-1" else item.targets[0]


def unwritable(item: Item) -> str:
    return {"sum-1": "", "sum-2": None}.get(item.id, item.targets[0]) if item.id != "sum-3" else 1 // 0


def test_an_item_whose_gold_answer_does_not_equal_itself_is_invalid_and_named(store, data, capsys):
    model = FakeModel()
    run = carry_out(replace(TASK, gold=off_by_one), model, store, data, limit=5, samples=2, temperature=1.0)
    assert dict(run.statuses["sums"]) == {"scored": 8, "invalid_item": 1}
    assert {request.item_id for request in model.asked} == {"sum-0", "sum-1", "sum-3", "sum-4"}
    (row,) = [row for row in outcomes(store, run.id) if row[3] == Status.INVALID_ITEM]
    assert row[1] == "sum-2"
    assert "read as '8'" in row[6]
    summary = run.record.tasks[0].summary
    assert summary["invalid"] == ["sum-2"]
    assert summary["golds"] == {
        "checked": 5,
        "unequal": {"sum-2": row[6]},
        "undecided": {},
        "left_out": None,
    }
    print_run(run)
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 item has a gold answer that does not equal itself" in printed
    assert "'sum-2'" in printed
    card = make_card(run.record).plain()["sections"]["sums: data"]["gold answers"]
    assert card.startswith("4 of 5 equal themselves")
    assert "'sum-2'" in card


def test_a_task_may_count_what_its_gold_fails_as_its_published_score_does(store, data):
    task = replace(TASK, gold=off_by_one, gold_fails="counted")
    run = carry_out(task, FakeModel(), store, data, limit=5)
    assert dict(run.statuses["sums"]) == {"scored": 5}
    golds = run.record.tasks[0].summary["golds"]
    assert (golds["unequal"], list(golds["undecided"])) == ({}, ["sum-2"])
    assert any("'sum-2'" in note for note in run.plain()["tasks"][0]["notes"])


def test_an_ambiguous_gold_answer_makes_its_item_invalid(store, data):
    run = carry_out(replace(TASK, gold=ambiguous), FakeModel(), store, data, limit=3)
    (row,) = [row for row in outcomes(store, run.id) if row[3] == Status.INVALID_ITEM]
    assert (row[1], "no_answer: ambiguous" in row[6]) == ("sum-1", True)


def test_a_gold_answer_that_cannot_be_written_is_said_and_its_item_is_asked(store, data):
    run = carry_out(replace(TASK, gold=unwritable), FakeModel(), store, data, limit=5)
    assert dict(run.statuses["sums"]) == {"scored": 5}
    golds = run.record.tasks[0].summary["golds"]
    assert golds["checked"] == 2
    assert set(golds["undecided"]) == {"sum-1", "sum-2", "sum-3"}
    (note,) = [note for note in run.plain()["tasks"][0]["notes"] if "not confirmed" in note]
    assert "ZeroDivisionError" in note
    assert "the task gives none" in note


def test_where_every_gold_answer_equals_itself_nothing_is_said(store, data):
    run = carry_out(replace(TASK, gold=named), FakeModel(), store, data, limit=5)
    assert run.record.tasks[0].summary["golds"]["checked"] == 5
    assert not [note for note in run.plain()["tasks"][0]["notes"] if "gold" in note]
    assert make_card(run.record).plain()["sections"]["sums: data"]["gold answers"].startswith("5 of 5")


@dataclass
class Counting:
    """Counts how often it grades."""

    inner: NumberMatch = field(default_factory=NumberMatch)
    graded: int = 0
    scores: tuple[str, ...] = ("correct",)

    def grade(self, item, sample, responses):
        self.graded += 1
        return self.inner.grade(item, sample, responses)


def test_each_gold_answer_is_graded_once():
    scorer = Counting()
    protocol = protocol_for(TASK, FakeModel(), Options())
    checker = GoldChecker(replace(protocol, task=replace(TASK, scorer=scorer)))
    items = [Item(id=str(number), fields={}, targets=(str(number),)) for number in range(50)]
    assert [checker.check(item) for item in items] == [None] * 50
    assert scorer.graded == checker.found.checked == 50


def test_programs_are_left_to_validate_and_the_record_says_so(store, data):
    task = sums_task(scorer=Echo(), metrics=(Rate(score="passed"),))
    run = carry_out(task, FakeModel(), store, data, limit=2, sandbox=FakeSandbox())
    golds = run.record.tasks[0].summary["golds"]
    assert golds["checked"] == 0
    assert "validate" in golds["left_out"]
    card = make_card(run.record).plain()["sections"]["sums: data"]["gold answers"]
    assert card.startswith("not checked before the run")


def test_a_file_of_answers_is_held_against_sound_items_only(store, data, tmp_path):
    answers = tmp_path / "answers.jsonl"
    rows = [{"task_id": f"sum-{number}", "response": str(3 * number + 1)} for number in range(3)]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = tmp_path / "items.jsonl"
    items.write_text("".join(json.dumps({"id": f"sum-{n}", "a": n, "b": 2 * n + 1}) + "\n" for n in range(3)))
    run, _ = grade(answers, replace(TASK, gold=off_by_one), store=store, data=items)
    assert dict(run.statuses["sums"]) == {"scored": 2, "invalid_item": 1}
    assert run.estimates[0].value == 1.0


def test_grading_again_names_them_again(store, monkeypatch):
    first = carry_out_mini(store)
    monkeypatch.setattr(mini, "TASK", replace(mini.TASK, gold=mini.TASK.wrong))
    again = rescore(first.id, store=store)
    assert sum(again.statuses["mini"].values()) == sum(first.statuses["mini"].values())
    golds = again.record.tasks[0].summary["golds"]
    assert golds["unequal"] == {}
    assert len(golds["undecided"]) == golds["checked"]
    assert any("in the count although" in note for note in again.plain()["tasks"][0]["notes"])


def carry_out_mini(store):
    return evaluate("mini", model=FakeModel(reply=lambda _: "Answer: A"), store=store)


def test_validate_names_them(tmp_path, data):
    found = validate(replace(TASK, gold=off_by_one), data_directory=data)
    assert not found.passed
    (fault,) = found.faults
    assert (fault.item_id, fault.answer) == ("sum-2", "gold")


@pytest.mark.parametrize(
    ("scorer", "target", "gold", "reason"),
    [
        (ExactMatch(), "???", "???", "no usable target"),
        (NumberMatch(), "three", "three", "no target"),
        (NumberMatch(), "3", "x" * 500, "no_answer"),
    ],
)
def test_the_reason_is_the_scorers_and_short(scorer, target, gold, reason):
    task = sums_task(scorer=scorer, gold=lambda _: gold)
    checker = GoldChecker(replace(protocol_for(TASK, FakeModel(), Options()), task=task))
    said = checker.check(Item(id="one", fields={}, targets=(target,)))
    assert said is not None
    assert reason in said
    assert len(said) < 250
