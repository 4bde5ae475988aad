"""Components that break their promise: the sample stays in the count, or the run stops and says why."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice

import pytest

from probatum import evaluate
from probatum.core.errors import ConsentError, DataError, ModelError, ProtocolError, StoreError, UsageError
from probatum.core.records import Outcome, Response
from probatum.core.status import Status
from probatum.runner import EvaluatedRun
from probatum.runner.pipeline import BACKLOG, FLUSH
from probatum.store import open_store
from tests.fakes import FakeModel, answer_sums, response_to, sums_task, write_sums
from tests.runner.runs import carry_out, kept, outcomes, statuses

TASK = sums_task()


# ── models ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Mixing(FakeModel):
    """Puts `extra` responses behind the one to `sum-5`."""

    extra: Callable[[Response], list[Response]] = lambda response: [response]

    def answer(self, requests):
        for request in requests:
            self.asked.append(request)
            response = response_to(request, answer_sums(request))
            yield response
            if request.item_id == "sum-5":
                yield from self.extra(response)


@pytest.mark.parametrize(
    "extra",
    [
        pytest.param(lambda response: [replace(response, request="f" * 64 + ":0")], id="never asked"),
        pytest.param(lambda response: [response], id="answered twice"),
        pytest.param(lambda response: [response, response, replace(response, request="")], id="many"),
    ],
)
def test_a_model_that_mixes_answers_up_is_asked_no_more_and_what_it_answered_is_kept(store, tmp_path, extra):
    data = write_sums(tmp_path / "data", 4 * BACKLOG)  # more than any model can be ahead of its grading
    with pytest.raises(ModelError, match=r"not asked, or answered twice: .*is kept"):
        carry_out(TASK, Mixing(extra=extra), store, data)
    (run,) = store.runs()
    assert run.state == "failed"
    before = kept(store, run.id)
    assert 6 <= before < 2 * BACKLOG
    assert store.statuses(run.id, "sums") == {"scored": before}
    again = FakeModel()
    assert statuses(carry_out(TASK, again, store, data)) == {"scored": 4 * BACKLOG}
    assert len(again.asked) == 4 * BACKLOG - before


@dataclass
class Dropping(FakeModel):
    """Takes every request, and answers none of `lost`."""

    lost: frozenset[str] = frozenset({"sum-3", "sum-99"})

    def answer(self, requests):
        for request in requests:
            self.asked.append(request)
            if request.item_id not in self.lost:
                yield response_to(request, answer_sums(request))


def test_a_request_without_an_answer_is_our_failure_and_is_asked_again(store, data):
    run = carry_out(TASK, Dropping(), store, data)
    assert statuses(run) == {"scored": 98, "infra_error": 2}
    assert not run.complete
    reasons = {row[1]: row[6] for row in outcomes(store, run.id) if row[3] == "infra_error"}
    assert reasons == dict.fromkeys(["sum-3", "sum-99"], "the backend gave no response to this request")
    mended = FakeModel()
    assert statuses(carry_out(TASK, mended, store, data)) == {"scored": 100}
    assert [request.item_id for request in mended.asked] == ["sum-3", "sum-99"]


@pytest.mark.parametrize("taken", [0, 1, 31, 32, 33])
def test_a_model_that_stops_early_leaves_the_rest_in_the_count(store, data, taken):
    class Lazy(FakeModel):
        def answer(self, requests):
            for request in islice(requests, taken):
                yield response_to(request, answer_sums(request))

    run = carry_out(TASK, Lazy(), store, data)
    assert statuses(run) == {**({"scored": taken} if taken else {}), "infra_error": 100 - taken}
    assert run.record.tasks[0].requests == carry_out(TASK, FakeModel(), store, data).record.tasks[0].requests


def test_a_model_may_pull_requests_in_a_thread_of_its_own(store, data):
    class Threaded(FakeModel):
        def answer(self, requests):
            held = []
            thread = threading.Thread(target=lambda: held.extend(requests))
            thread.start()
            thread.join()
            yield from (response_to(request, answer_sums(request)) for request in reversed(held))

    assert statuses(carry_out(TASK, Threaded(), store, data)) == {"scored": 100}


def test_an_error_in_planning_stops_the_run_with_its_own_words(store, data):
    """A template that fails on one item is told before that item is asked."""
    prompt = replace(TASK.completion, template="{{ 100 // (a - 40) }} {{ a }}+{{ b }}=")
    task = replace(TASK, completion=prompt, chat=None)
    with pytest.raises(ProtocolError, match="fails on an item: ZeroDivisionError"):
        carry_out(task, FakeModel(), store, data)
    (run,) = store.runs()
    assert (run.state, kept(store, run.id)) == ("failed", 32)  # the windows before stand


# ── scorers ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Faulty:
    """Gives what `kind` says for `sum-3`, and the right verdict elsewhere."""

    kind: str
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item, sample, responses):
        right = Outcome(item_id=item.id, sample=sample, status=Status.SCORED, scores={"correct": 1.0})
        if item.id != "sum-3":
            return right
        if self.kind == "raises":
            raise KeyError("no such\nthing")
        if self.kind == "recursion":
            return self.grade(item, sample, responses)
        return {
            "nothing": None,
            "score": 1.0,
            "no score": replace(right, scores={}),
            "other score": replace(right, scores={"other": 1.0}),
            "nan": replace(right, scores={"correct": math.nan}),
            "text": replace(right, scores={"correct": "1"}),
            "other item": replace(right, item_id="sum-4"),
            "other sample": replace(right, sample=7),
        }[self.kind]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("raises", "KeyError: 'no such\\nthing'"),
        ("recursion", "RecursionError"),
        ("nothing", "gave a NoneType and no outcome"),
        ("score", "gave a float and no outcome"),
        ("no score", "score 'correct' is None"),
        ("other score", "score 'correct' is None"),
        ("nan", "score 'correct' is nan"),
        ("text", "score 'correct' is '1'"),
        ("other item", "graded sample 0 of item 'sum-4' instead"),
        ("other sample", "graded sample 7 of item 'sum-3' instead"),
    ],
)
def test_a_faulty_scorer_is_the_scorers_failure_and_stays_in_the_count(store, data, kind, reason):
    run = carry_out(replace(TASK, scorer=Faulty(kind)), FakeModel(), store, data, limit=10)
    assert statuses(run) == {"scored": 9, "grader_error": 1}
    (row,) = [row for row in outcomes(store, run.id) if row[3] == "grader_error"]
    assert (row[1], row[2], row[4]) == ("sum-3", 0, {})
    assert reason in row[6]
    assert "\n" not in row[6]
    estimate = run.estimates[0]
    assert (estimate.value, estimate.coverage, estimate.bounds) == (1.0, 0.9, (0.9, 1.0))


def test_a_scorer_is_mended_without_asking_again(store, data):
    model = FakeModel()
    carry_out(replace(TASK, scorer=Faulty("raises")), model, store, data, limit=10)
    run = carry_out(TASK, model, store, data, limit=10)
    assert len(model.asked) == 10
    assert statuses(run) == {"scored": 10}


def test_a_metric_that_asks_for_a_score_nobody_gives_is_told(store, data):
    metric = replace(TASK.metrics[0], score="f1")
    with pytest.raises(ProtocolError, match="asks for the score 'f1', and the scorer gives 'correct'"):
        carry_out(replace(TASK, metrics=(metric,)), FakeModel(), store, data, limit=3)


# ── stores ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Failing:
    """A store that fails at the `after`th call of `method`."""

    store: object
    method: str
    after: int

    def __getattr__(self, name):
        found = getattr(self.store, name)
        if name != self.method:
            return found

        def call(*arguments, **keywords):
            self.after -= 1
            if self.after < 0:
                raise StoreError("the disk is full; make room and start again")
            return found(*arguments, **keywords)

        return call


@pytest.mark.parametrize(
    ("method", "after"),
    [(name, after) for name in ("responses", "keep_responses", "keep_outcomes") for after in (0, 1)]
    + [("marks", 0)],
)
def test_a_store_that_fails_stops_the_run_with_its_own_words(store, tmp_path, method, after):
    model = FakeModel()
    data = write_sums(tmp_path / "many", 8 * FLUSH)  # more than one batch
    with pytest.raises(StoreError, match=r"^the disk is full; make room and start again$"):
        carry_out(TASK, model, Failing(store, method, after), data)
    (run,) = store.runs()
    assert run.state == "failed"
    before = {request.item_id for request in model.asked}
    again = FakeModel()
    assert statuses(carry_out(TASK, again, store, data)) == {"scored": 8 * FLUSH}
    assert len(before) + len(again.asked) >= 8 * FLUSH
    if method == "keep_outcomes":
        assert len(again.asked) < 8 * FLUSH  # what was answered is kept, though its grading was not


def test_a_store_that_evaluate_opened_is_closed_when_it_fails(tmp_path, data):
    def reply(request):
        raise RuntimeError("broken")

    before = set(threading.enumerate())  # a store that an earlier test left open is not this one's
    with pytest.raises(ModelError):
        evaluate(TASK, model=FakeModel(reply=reply), store=str(tmp_path / "a.db"), data_directory=data)
    assert [one.name for one in set(threading.enumerate()) - before if one.name.startswith("probatum")] == []
    with open_store(str(tmp_path / "a.db"), create=False) as opened:
        assert opened.run("latest").state == "failed"


@pytest.mark.parametrize(
    ("field", "value"),
    [("text", None), ("text", b"1"), ("completion_tokens", "x"), ("prompt_tokens", 1.5), ("finish", "stop")],
)
def test_a_response_of_a_wrong_type_stops_the_run_and_is_not_kept(store, data, field, value):
    def reply(request):
        given = response_to(request, answer_sums(request))
        return replace(given, **{field: value}) if request.item_id == "sum-3" else given

    with pytest.raises(ModelError, match=f"a response with {field} .*; it is not kept"):
        carry_out(TASK, FakeModel(reply=reply), store, data)
    again = FakeModel()
    run = carry_out(TASK, again, store, data)
    assert "sum-3" in {request.item_id for request in again.asked}
    assert set(statuses(run)) == {"scored"}


def test_a_run_that_was_cut_off_shows_what_is_kept(store, data):
    def reply(request):
        if request.item_id == "sum-3":
            raise RuntimeError("broken")
        return answer_sums(request)

    with pytest.raises(ModelError):
        carry_out(TASK, FakeModel(reply=reply), store, data)
    cut = EvaluatedRun(store.run("latest"), store)
    assert cut.statuses["sums"] == {"scored": 3}
    assert cut.plain()["tasks"][0]["statuses"] == {"scored": 3}


# ── errors before anything is asked ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ({"tasks": "nosuch"}, UsageError),
        ({"tasks": [TASK, TASK]}, UsageError),
        ({"tasks": []}, UsageError),
        ({"limit": 0}, UsageError),
        ({"model": "nosuch/x"}, UsageError),
        ({"model": "constant"}, UsageError),
        ({"tasks": "mini_code"}, ConsentError),
    ],
)
def test_what_cannot_begin_leaves_no_store_behind(tmp_path, broken, error):
    arguments = {"tasks": TASK, "model": FakeModel(), "store": str(tmp_path / "new.db"), **broken}
    tasks = arguments.pop("tasks")
    with pytest.raises(error):
        evaluate(tasks, **arguments)
    assert not (tmp_path / "new.db").exists()


def test_rows_that_cannot_be_used_are_told_before_anything_is_asked(store, data):
    model = FakeModel()
    with pytest.raises(DataError, match=r"sums\.jsonl"):
        carry_out([TASK, replace(TASK, name="other", to_item=lambda row: row)], model, store, data)
    assert model.asked == []
    assert store.runs() == []
