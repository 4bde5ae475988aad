from __future__ import annotations

import gc
from collections import Counter
from dataclasses import dataclass, replace

import pytest

from probatum import evaluate
from probatum.core.errors import ModelError
from probatum.core.records import Finish
from probatum.runner import Progress
from probatum.runner.pipeline import BACKLOG, FLUSH, WINDOW, Pending
from probatum.store import open_store
from tests.fakes import FakeModel, Verbatim, WindowedModel, answer_sums, failure, sums_task, write_sums
from tests.runner.runs import carry_out, kept, outcomes, statuses

TASK = sums_task()
MOST = BACKLOG + 2 * WINDOW + 4 * FLUSH + 8
"""Samples that may wait at once: the backlog, a window planned, one batch in hand, eight with the model."""
SAMPLED = {"samples": 3, "temperature": 0.7}


def asked(model: FakeModel) -> list[tuple[str, int]]:
    return [(request.item_id, request.sample) for request in model.asked]


# ── nothing is asked twice ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("options", [{}, SAMPLED], ids=["greedy", "sampled"])
def test_a_run_that_is_started_again_asks_nothing_and_says_the_same(store, data, options):
    first_model, second_model, progress = FakeModel(), FakeModel(), Progress()
    first = carry_out(TASK, first_model, store, data, **options)
    table = outcomes(store, first.id)
    second = carry_out(TASK, second_model, store, data, progress=progress, **options)
    assert len(first_model.asked) == first.record.tasks[0].planned == 100 * options.get("samples", 1)
    assert second_model.asked == []
    assert second.id == first.id
    assert second.estimates == first.estimates
    assert second.record.tasks == first.record.tasks
    assert outcomes(store, second.id) == table
    assert progress.plain() == {
        "model_calls": 0,
        "reused_responses": len(first_model.asked),
        "executions": 0,
        "reused_executions": 0,
        "completion_tokens": 0,
    }


def test_a_higher_limit_asks_only_the_new_items(store, data):
    model = FakeModel()
    small = carry_out(TASK, model, store, data, limit=20)
    assert len(model.asked) == 20
    large = carry_out(TASK, model, store, data, limit=40)
    assert asked(model) == [(f"sum-{number}", 0) for number in range(40)]
    assert small.id != large.id
    assert outcomes(store, small.id) == outcomes(store, large.id)[:20]
    carry_out(TASK, model, store, data, limit=10)
    assert len(model.asked) == 40


def test_more_samples_ask_only_the_new_ones(store, data):
    model = FakeModel()
    carry_out(TASK, model, store, data, limit=5, samples=2, temperature=0.7)
    carry_out(TASK, model, store, data, limit=5, samples=5, temperature=0.7)
    assert Counter(asked(model)) == Counter(
        (f"sum-{item}", sample) for item in range(5) for sample in range(5)
    )


def test_what_changes_the_request_is_asked_anew(store, data):
    model = FakeModel()
    for options in ({}, {"max_tokens": 9}, {"form": "completion"}, {"system": "Add."}, {"temperature": 0.5}):
        before = len(model.asked)
        carry_out(TASK, model, store, data, limit=3, **options)
        assert len(model.asked) == before + 3, options


def test_another_model_is_asked_anew(store, data):
    first = FakeModel()
    second = FakeModel(identity=replace(first.identity, revision="2"))
    carry_out(TASK, first, store, data, limit=3)
    carry_out(TASK, second, store, data, limit=3)
    assert len(second.asked) == 3


def test_a_greedy_run_under_another_seed_asks_nothing_new(store, data):
    model = FakeModel()
    first = carry_out(TASK, model, store, data, limit=3, seed=0)
    second = carry_out(TASK, model, store, data, limit=3, seed=1)
    assert len(model.asked) == 3
    assert first.id != second.id


def test_equal_requests_are_asked_once_and_graded_each(store, tmp_path):
    """Two items that put the same question get the same greedy answer."""
    rows = '{"id": "a", "a": 1, "b": 2}\n{"id": "b", "a": 1, "b": 2}\n{"id": "c", "a": 2, "b": 2}\n'
    (tmp_path / "sums.jsonl").write_text(rows)
    model = FakeModel()
    run = carry_out(TASK, model, store, tmp_path)
    assert asked(model) == [("a", 0), ("c", 0)]
    assert [row[1:5] for row in outcomes(store, run.id)] == [
        (item, 0, "scored", {"correct": 1.0}) for item in "abc"
    ]


def test_two_tasks_share_what_they_ask_alike(store, data):
    model = FakeModel()
    run = carry_out([TASK, sums_task("again")], model, store, data, limit=10)
    assert len(model.asked) == 10
    assert statuses(run, "sums") == statuses(run, "again") == {"scored": 10}


# ── failures are asked again, and nothing else ──────────────────────────────────────────────────────


def test_failures_are_no_hits(store, data):
    broken = {"sum-3": Finish.TIMEOUT, "sum-5": Finish.MODEL_ERROR, "sum-7": Finish.INFRA_ERROR}
    final = {"sum-1": Finish.REFUSAL, "sum-2": Finish.FILTERED}

    def reply(request):
        finish = {**broken, **final}.get(request.item_id)
        return answer_sums(request) if finish is None else failure(finish)

    first = carry_out(TASK, FakeModel(reply=reply), store, data, limit=10)
    assert statuses(first) == {
        "scored": 5, "refused": 1, "filtered": 1, "timeout": 1, "model_error": 1, "infra_error": 1
    }  # fmt: skip
    assert first.record.state == "incomplete"
    assert not first.complete
    mended = FakeModel()
    second = carry_out(TASK, mended, store, data, limit=10)
    assert {item for item, _ in asked(mended)} == set(broken)
    assert statuses(second) == {"scored": 8, "refused": 1, "filtered": 1}
    assert second.complete
    assert second.id == first.id


@pytest.mark.parametrize(("failures", "complete"), [(0, True), (1, True), (2, False)])
def test_a_run_is_complete_where_few_enough_samples_failed(store, data, failures, complete):
    def reply(request):
        number = int(request.item_id.removeprefix("sum-"))
        return failure(Finish.MODEL_ERROR) if number < failures else answer_sums(request)

    assert carry_out(TASK, FakeModel(reply=reply), store, data).complete is complete


def test_a_model_that_raises_in_the_middle_keeps_what_it_answered(store, data):
    def reply(request):
        if request.item_id == "sum-40":
            raise RuntimeError("out of memory\nlong story")
        return answer_sums(request)

    with pytest.raises(ModelError, match="answering failed: RuntimeError: out of memory"):
        carry_out(TASK, FakeModel(reply=reply), store, data)
    (run,) = store.runs()
    assert run.state == "failed"
    assert kept(store, run.id) == 40
    mended = FakeModel()
    whole = carry_out(TASK, mended, store, data)
    assert asked(mended) == [(f"sum-{number}", 0) for number in range(40, 100)]
    assert statuses(whole) == {"scored": 100}


def test_an_error_of_the_model_that_is_ours_comes_out_as_it_is(store, data):
    def reply(request):
        raise ModelError("no permission: give a key")

    with pytest.raises(ModelError, match=r"^no permission: give a key$"):
        carry_out(TASK, FakeModel(reply=reply), store, data)


# ── order, and memory ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("window", [1, 7, 100, 1000])
def test_answers_may_come_in_any_order(store, data, tmp_path, window):
    backwards = carry_out(TASK, WindowedModel(window=window), store, data, **SAMPLED)
    with open_store(f"sqlite:///{tmp_path}/other.db") as other:
        forwards = carry_out(TASK, FakeModel(), other, data, **SAMPLED)
        assert backwards.estimates == forwards.estimates
        assert backwards.record.tasks[0] == forwards.record.tasks[0]
        assert outcomes(store, backwards.id) == outcomes(other, forwards.id)


def test_requests_are_planned_only_as_the_model_takes_them(store, tmp_path):
    """What waits does not grow with the number of items."""
    most = []
    count = 4000

    def reply(request):
        if int(request.item_id.removeprefix("sum-")) % 200 == 0:
            most.append(sum(type(one) is Pending for one in gc.get_objects()))
        return answer_sums(request)

    data = write_sums(tmp_path / "many", count)
    model = WindowedModel(reply=reply, window=8)
    run = carry_out(TASK, model, store, data)
    assert statuses(run) == {"scored": count}
    assert model.most_in_flight == 8
    assert max(most) <= MOST


WATCHED: list[int] = []
"""How many samples waited, each time that `Watching` looked."""


@dataclass(frozen=True)
class Watching(Verbatim):
    """Grades, and counts now and then how many samples wait."""

    def grade(self, item, sample, responses):
        if int(item.fields["a"]) % 200 == 0:
            WATCHED.append(sum(type(one) is Pending for one in gc.get_objects()))
        return super().grade(item, sample, responses)


def test_what_the_store_answers_is_planned_in_windows_too(store, tmp_path):
    count = 4000
    data = write_sums(tmp_path / "many", count)
    carry_out(TASK, FakeModel(), store, data)
    progress = Progress()
    WATCHED[:] = []
    task = replace(TASK, scorer=Watching())
    run = carry_out(task, FakeModel(), store, data, progress=progress)
    assert progress.reused == count
    assert statuses(run) == {"scored": count}
    assert max(WATCHED) <= MOST


def test_evaluate_is_the_same_through_the_front_door(data, tmp_path):
    model = FakeModel()
    url = f"sqlite:///{tmp_path}/store.db"
    first = evaluate(TASK, model=model, store=url, data_directory=data, limit=10)
    first.store.close()
    second = evaluate([TASK], model=model, store=url, data_directory=data, limit=10)
    assert len(model.asked) == 10
    assert second.samples().num_rows == 10
    assert second.estimates == first.estimates
    second.store.close()
