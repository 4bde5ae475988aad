"""Grading again from the store. Tasks are found by name, so those that ship with the package are used."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from probatum import evaluate
from probatum.benchmarks import mini, mini_code
from probatum.core.errors import ConsentError, UsageError
from probatum.core.records import Finish
from probatum.datasets import load_items
from probatum.report import make_card
from probatum.runner import Options, Progress, evaluation, grade, load_run, rescore
from probatum.runner.canaries import Canaries
from probatum.runner.isolation import LazySandbox
from probatum.scoring import Rate
from tests.fakes import FakeModel, failure
from tests.runner.runs import FakeSandbox, outcomes

TASK = mini.TASK


def reply(request):
    number = int(request.digest[:8], 16)
    if number % 7 == 0:
        return failure(Finish.REFUSAL)
    if number % 7 == 1:
        return failure(Finish.TIMEOUT, "600 s were not enough")
    return "" if number % 7 == 2 else "Answer: A"


def run_mini(store, **options):
    return evaluate("mini", model=FakeModel(reply=reply), store=store, minimum_answered=0.5, **options)


def test_grading_again_gives_the_same_outcomes_and_asks_nobody(store):
    first = run_mini(store)
    before = outcomes(store, first.id)
    assert {row[3] for row in before} >= {"scored", "refused", "timeout", "no_answer"}
    progress = Progress()
    again = rescore(first.id, store=store, progress=progress)
    assert again.id == first.id
    assert outcomes(store, again.id) == before
    assert again.record.tasks == first.record.tasks
    assert again.record.state == first.record.state
    assert again.record.created == first.record.created
    assert progress.completion_tokens == 0


def test_what_failed_then_is_asked_again_later_all_the_same(store):
    """Grading again keeps no failure as an answer."""
    first = run_mini(store)
    rescore(first.id, store=store)
    model = FakeModel(reply=lambda _: "Answer: A")
    whole = evaluate("mini", model=model, store=store)
    assert len(model.asked) == dict(first.statuses["mini"])["timeout"]
    assert "timeout" not in whole.statuses["mini"]


def test_a_changed_scorer_makes_a_run_of_its_own_that_says_where_its_answers_come_from(store, monkeypatch):
    first = run_mini(store)
    before, written = outcomes(store, first.id), store.run(first.id)
    monkeypatch.setattr(mini, "TASK", replace(TASK, metrics=(Rate(name="share"),), version=2))
    again = rescore(first.id, store=store)
    assert again.id != first.id
    assert again.record.options["answers_of"] == first.id
    assert outcomes(store, again.id) == before
    assert again.estimates[0].name == "share"
    assert store.run(first.id) == written
    shots = json.dumps(first.record.tasks[0].summary["shots"])
    assert "shot-1" in shots
    assert json.dumps(again.record.tasks[0].summary["shots"]) == shots
    assert first.id in make_card(again.record).markdown()


@pytest.mark.parametrize("form", ["chat", "completion"])
def test_a_changed_prompt_is_refused_where_it_was_the_one_that_was_asked(store, monkeypatch, form):
    first = run_mini(store)  # as a conversation
    prompt = getattr(TASK, form)
    monkeypatch.setattr(
        mini, "TASK", replace(TASK, **{form: replace(prompt, template="New: " + prompt.template)})
    )
    if form == "completion":
        assert outcomes(store, rescore(first.id, store=store).id) == outcomes(store, first.id)
        return
    with pytest.raises(
        UsageError, match=r"'mini' asks something else today .*\(chat changed\).*run the task again"
    ):
        rescore(first.id, store=store)


def other_item(row):
    return mini.to_item(row)


def test_changed_items_are_refused(store, monkeypatch):
    first = run_mini(store)
    monkeypatch.setattr(mini, "TASK", replace(TASK, to_item=other_item))
    with pytest.raises(UsageError, match="to_item changed"):
        rescore(first.id, store=store)


def test_another_level_is_written_down(store):
    first = run_mini(store)
    again = rescore(first.id, store=store, level=0.5)
    assert {one.level for one in again.estimates} == {0.5}
    assert again.record.options["level"] == 0.5
    assert again.estimates[0].high - again.estimates[0].low < first.estimates[0].high - first.estimates[0].low
    assert {one.level for one in rescore(first.id, store=store).estimates} == {0.5}


def test_the_limit_below_which_a_run_is_incomplete_stays_the_runs(store):
    first = run_mini(store)
    assert first.complete
    assert rescore(first.id, store=store).complete


def test_an_unfinished_run_is_refused_with_what_to_do(store):
    def stop(request):
        if len(model.asked) == 20:
            raise RuntimeError("broken")
        return "Answer: A"

    model = FakeModel(reply=stop)
    with pytest.raises(Exception, match="broken"):
        evaluate("mini", model=model, store=store)
    with pytest.raises(
        UsageError, match=r"is failed: 19 of 60 samples of 'mini' are graded; start the same run"
    ):
        rescore("latest", store=store)


@pytest.mark.parametrize("run", ["nosuch", "ffff", ""])
def test_a_run_that_is_not_there_is_told(store, run):
    run_mini(store)
    with pytest.raises(UsageError, match="no run"):
        rescore(run, store=store)


def test_programs_need_consent_to_run_again(store, monkeypatch):
    sandbox = FakeSandbox()
    monkeypatch.setattr(LazySandbox, "sandbox", property(lambda _: sandbox))
    monkeypatch.setattr(LazySandbox, "environment_digest", "0" * 64)
    monkeypatch.setattr(evaluation, "check_grader", lambda *_: Canaries())  # a fake fails every program
    first = evaluate(
        "mini_code",
        model=FakeModel(reply=lambda _: "    return 1"),
        store=store,
        allow_code_execution=True,
        cpu_seconds=3.0,  # given, so that no reference solution is measured
    )
    assert len(sandbox.executed) == len(outcomes(store, first.id)) == 10
    with pytest.raises(ConsentError, match=r"^mini_code would execute"):
        rescore(first.id, store=store)
    again = rescore(first.id, store=store, allow_code_execution=True)
    assert len(sandbox.executed) == 10
    assert outcomes(store, again.id) == outcomes(store, first.id)


def test_a_file_of_whole_programs_is_read_as_such_again(store, tmp_path, monkeypatch):
    """The scorer must not put the prompt before a program that holds it already."""
    sandbox = FakeSandbox()
    monkeypatch.setattr(LazySandbox, "sandbox", property(lambda _: sandbox))
    monkeypatch.setattr(LazySandbox, "environment_digest", "0" * 64)
    monkeypatch.setattr(evaluation, "check_grader", lambda *_: Canaries())  # a fake fails every program
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        json.dumps({"task_id": first_item(), "solution": "def double(x):\n    return 2 * x\n"}) + "\n"
    )
    graded, _ = grade(
        answers, mini_code.TASK, store=store, options=Options(allow_code_execution=True, cpu_seconds=3.0)
    )
    (program,) = {one.code for one in sandbox.executed}
    assert program == "def double(x):\n    return 2 * x\n"
    again = rescore(graded.id, store=store, allow_code_execution=True)
    assert {one.code for one in sandbox.executed} == {program}
    assert again.id == graded.id
    assert outcomes(store, again.id) == outcomes(store, graded.id)
    card = make_card(again.record).plain()["sections"]
    assert card["mini_code: recipe"]["decoding"] == "unknown"
    assert card["mini_code: recipe"]["few-shot ids and order"].startswith("unknown")
    assert card["Model"]["system prompt"] == "unknown"


def first_item() -> str:
    return next(iter(load_items(mini_code.TASK.source, mini_code.TASK.row, mini_code.TASK.to_item))).id


def test_a_run_is_read_back_from_its_store(store):
    first = run_mini(store)
    read = load_run(store, first.id[:6])
    assert read.plain() == first.plain()
    assert load_run(store).id == first.id
    assert read.samples().num_rows == 60
