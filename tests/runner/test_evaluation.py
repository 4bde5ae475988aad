from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from probatum import evaluate
from probatum.core.errors import ProtocolError, UsageError
from probatum.core.protocol import Source
from probatum.core.records import Finish, Identity, Message
from probatum.models import Capabilities
from probatum.report import make_card
from probatum.runner import Options, Progress
from probatum.runner.resolution import protocol_for, resolve_tasks
from probatum.store import open_store
from tests.fakes import FakeModel, Row, WindowedModel, failure, sums_task, write_sums
from tests.runner.runs import carry_out, outcomes, statuses

TASK = sums_task()
CHAT, COMPLETION = Capabilities(chat=True), Capabilities(completion=True)


# ── which tasks, and how they are asked ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("mini", ["mini"]),
        ("mini, mini_code", ["mini", "mini_code"]),
        (["mini_code", TASK], ["mini_code", "sums"]),
        (TASK, ["sums"]),
    ],
)
def test_tasks_are_named_or_given(given, names):
    assert [task.name for task in resolve_tasks(given)] == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("minni", r"unknown task 'minni': did you mean 'mini'"),
        ("", "no task is named"),
        (",", "no task is named"),
        ([], "no task is named"),
        ("mini,mini", "'mini' is named twice"),
        ([TASK, TASK], "'sums' is named twice"),
        ("../mini", "'../mini' is neither a benchmark nor a file"),
        ("mine.py", r"task file .*mine.py' cannot be read: No such file"),
        ("mini\nmini", "unknown task"),
    ],
)
def test_a_task_that_cannot_be_found_is_told(given, message):
    with pytest.raises(UsageError, match=message):
        resolve_tasks(given)


@pytest.mark.parametrize(
    ("model", "task", "options", "form"),
    [
        (CHAT, {}, {}, "chat"),
        (COMPLETION, {}, {}, "completion"),
        (Capabilities(chat=True, completion=True), {}, {}, "chat"),
        (Capabilities(chat=True, completion=True), {}, {"form": "completion"}, "completion"),
        (Capabilities(chat=True, completion=True), {"chat": None}, {}, "completion"),
        (CHAT, {"completion": None}, {"form": "chat"}, "chat"),
    ],
)
def test_the_form_is_chat_where_model_and_task_both_can(model, task, options, form):
    found = protocol_for(replace(TASK, **task), FakeModel(capabilities=model), Options(**options))
    assert found.form == form
    assert found.sampling.stop == (("\n",) if form == "completion" else ())


@pytest.mark.parametrize(
    ("model", "task", "options", "message"),
    [
        (
            COMPLETION,
            {},
            {"form": "chat"},
            "'sums' cannot be asked in the form 'chat': it has no chat template",
        ),
        (CHAT, {}, {"form": "completion"}, "only answers messages; use --form chat"),
        (COMPLETION, {"completion": None}, {}, "'sums' can be asked as chat, and model 'sums' cannot"),
        (CHAT, {"completion": None, "chat": None}, {}, "can be asked as nothing"),
        (
            CHAT,
            {},
            {"samples": 2},
            "2 samples at temperature 0 are 2 times the same answer; use --temperature",
        ),
        (CHAT, {}, {"shots": 2}, "takes no few-shot examples"),
        (COMPLETION, {}, {"system": "Add."}, "continues texts here; leave --system out"),
    ],
)
def test_what_does_not_fit_together_is_told_before_anything_is_asked(model, task, options, message):
    with pytest.raises(UsageError) as caught:
        protocol_for(replace(TASK, **task), FakeModel(capabilities=model), Options(**options))
    assert message in str(caught.value)


def test_what_the_user_says_stands_before_the_tasks_default_were_it_zero():
    task = replace(TASK, sampling=replace(TASK.sampling, temperature=0.9, top_p=0.5, top_k=5), samples=4)
    default = protocol_for(task, FakeModel(), Options())
    assert (default.sampling.temperature, default.sampling.top_p, default.samples) == (0.9, 0.5, 4)
    chosen = protocol_for(task, FakeModel(), Options(temperature=0, top_k=0, samples=1))
    assert (chosen.sampling.temperature, chosen.sampling.top_k, chosen.samples) == (0.0, 0, 1)


def test_an_equal_choice_is_the_same_protocol():
    first, second = (
        protocol_for(TASK, FakeModel(), Options(**one))
        for one in ({}, {"temperature": 0, "top_p": 1, "max_tokens": 8, "samples": 1, "shots": 0})
    )
    assert first.digest == second.digest


# ── what the model is asked ─────────────────────────────────────────────────────────────────────────


def test_the_model_is_asked_what_the_protocol_says(store, data):
    model = FakeModel()
    carry_out(TASK, model, store, data, limit=1, system="Add.", max_tokens=3, temperature=0.5, top_k=4)
    (request,) = model.asked
    assert request.prompt == (Message("system", "Add."), Message("user", "0+1="))
    sampling = request.sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_k) == (3, 0.5, 4)


SHOTS = sums_task(shots=3, shot_source=Source(local=("shots.jsonl",)))


def with_shots(directory: Path, count: int) -> Path:
    return write_sums(directory, count, file="shots.jsonl", first=500)


def test_a_limit_changes_no_prompt_no_shot_and_no_seed(store, data, tmp_path):
    with_shots(data, 40)
    small, large = FakeModel(), FakeModel()
    carry_out(SHOTS, small, store, data, limit=7, temperature=0.5)
    with open_store(str(tmp_path / "other.db")) as other:
        carry_out(SHOTS, large, other, data, temperature=0.5)
    assert small.asked == large.asked[:7]


def test_shots_are_dropped_whole_where_the_context_is_small_and_that_is_said(store, data):
    with_shots(data, 40)
    roomy = FakeModel(capabilities=COMPLETION)
    full = carry_out(SHOTS, roomy, store, data, limit=5)
    assert full.plain()["tasks"][0]["notes"] == [
        "the first 5 of 100 items: not a random sample of the benchmark"
    ]
    tight = FakeModel(
        identity=Identity(provider="fake", name="tight"),
        capabilities=Capabilities(completion=True, context_tokens=16 + 8),
        tokens=lambda prompt: 8 * len(prompt.split("\n")),
    )
    run = carry_out(SHOTS, tight, store, data, limit=5)
    assert [request.prompt.count("\n") for request in roomy.asked] == [3] * 5
    assert [request.prompt.count("\n") for request in tight.asked] == [1] * 5
    assert [one.prompt.split("\n")[0] for one in tight.asked] == [
        one.prompt.split("\n")[0] for one in roomy.asked
    ]
    note = "5 items were asked with fewer than 3 shots, because the context is too small"
    assert note in run.plain()["tasks"][0]["notes"]


def test_the_shots_that_were_shown_are_written_down(store, data):
    with_shots(data, 40)
    fixed = carry_out(replace(SHOTS, shots_drawn=False), FakeModel(), store, data, limit=3)
    assert fixed.record.tasks[0].summary["shots"] == ["sum-500", "sum-501", "sum-502"]
    drawn = carry_out(SHOTS, FakeModel(), store, data, limit=3, seed=5)
    assert drawn.record.tasks[0].summary["shots"] == "3 drawn for each item by seed 5"
    none = carry_out(TASK, FakeModel(), store, data, limit=3)
    assert none.record.tasks[0].summary["shots"] == []


def test_too_few_shots_are_found_before_the_first_call(store, data):
    with_shots(data, 3)
    model = FakeModel()
    (data / "shots.jsonl").write_text(
        "".join(
            json.dumps({"id": f"s{number}", "a": number, "b": 2 * number + 1}) + "\n"
            for number in (60, 500, 501)
        )
    )
    with pytest.raises(UsageError, match=r"only 2 can be shown beside item 'sum-60'; use --shots 2"):
        carry_out(SHOTS, model, store, data)
    assert model.asked == []


# ── broken items ────────────────────────────────────────────────────────────────────────────────────


def partly(row: Row):
    item = TASK.to_item(row)
    return replace(item, invalid="known to be wrong") if row.a % 4 == 1 else item


def test_broken_items_are_listed_and_are_in_no_rate(store, data):
    model = FakeModel()
    run = carry_out(replace(TASK, to_item=partly), model, store, data, limit=8, samples=2, temperature=1.0)
    assert statuses(run) == {"scored": 12, "invalid_item": 2}
    assert {request.item_id for request in model.asked} == {f"sum-{n}" for n in (0, 2, 3, 4, 6, 7)}
    assert run.estimates[0].n == 6
    assert run.estimates[0].coverage == 1.0
    assert run.record.tasks[0].summary["invalid"] == ["sum-1", "sum-5"]
    assert "2 items are broken and in no rate" in run.plain()["tasks"][0]["notes"]
    assert run.complete
    assert all(row[6] for row in outcomes(store, run.id) if row[3] == "invalid_item")
    assert [row[1] for row in outcomes(store, run.id) if row[2] == 0] == [f"sum-{n}" for n in range(8)]


# ── what is written down ────────────────────────────────────────────────────────────────────────────


def test_a_run_has_four_digests_and_each_moves_with_what_it_covers(store, data):
    base = carry_out(TASK, FakeModel(), store, data, limit=5).record

    def moved(other):
        pairs = {
            "protocol": (base.tasks[0].protocol, other.tasks[0].protocol),
            "items": (base.tasks[0].items, other.tasks[0].items),
            "requests": (base.tasks[0].requests, other.tasks[0].requests),
            "model": (base.model.digest, other.model.digest),
        }
        return {name for name, (first, second) in pairs.items() if first != second}

    model = FakeModel(identity=Identity(provider="fake", name="sums", weights="0" * 64))
    assert moved(carry_out(TASK, model, store, data, limit=5).record) == {"model"}
    assert moved(carry_out(TASK, FakeModel(), store, data, limit=6).record) == {"items", "requests"}
    assert moved(carry_out(replace(TASK, version=2), FakeModel(), store, data, limit=5).record) == {
        "protocol"
    }
    prompt = replace(TASK.chat, template="{{ a }}+{{ b }}=?")
    assert moved(carry_out(replace(TASK, chat=prompt), FakeModel(), store, data, limit=5).record) == {
        "protocol",
        "requests",
    }
    assert moved(carry_out(TASK, FakeModel(), store, data, limit=5, level=0.9).record) == set()


def test_the_order_of_the_answers_does_not_move_the_digest_of_the_requests(store, data, tmp_path):
    first = carry_out(TASK, FakeModel(), store, data, temperature=0.5, samples=2)
    with open_store(str(tmp_path / "other.db")) as other:
        second = carry_out(TASK, WindowedModel(window=13), other, data, temperature=0.5, samples=2)
        assert second.record.tasks[0].requests == first.record.tasks[0].requests


def test_the_record_says_where_the_rows_came_from_and_what_the_run_stood_on(store, data):
    record = carry_out(TASK, FakeModel(), store, data, limit=5).record
    origin = record.tasks[0].origin
    assert (origin["kind"], origin["items_in_set"], origin["items_used"]) == ("local", 100, 5)
    assert record.options["limit"] == 5
    assert record.options["protocol_digest"]
    assert record.environment["probatum"]
    assert record.environment["python"]
    assert record.tasks[0].planned == 5
    assert record.created <= record.updated


def test_a_task_that_has_no_canonical_form_is_refused_before_anything_is_asked(store, data):
    model = FakeModel()
    with pytest.raises(ProtocolError, match="lambda"):
        carry_out(replace(TASK, gold=lambda item: item.targets[0]), model, store, data)
    assert model.asked == []


def test_the_plain_form_is_what_the_contract_says_and_strict_json(store, data):
    def reply(request):
        return failure(Finish.REFUSAL) if request.item_id == "sum-0" else "7"

    run = carry_out(replace(TASK, chance=0.1), FakeModel(reply=reply), store, data, limit=5)
    plain = json.loads(json.dumps(run.plain(), allow_nan=False))
    assert {"run", "protocol", "model", "tasks", "complete"} <= set(plain)
    (task,) = plain["tasks"]
    assert {"task", "estimates", "statuses"} <= set(task)
    names = {
        "name",
        "value",
        "low",
        "high",
        "level",
        "method",
        "n",
        "clusters",
        "coverage",
        "bounds",
        "chance",
    }
    assert all(names <= set(estimate) for estimate in task["estimates"])
    assert task["statuses"] == {"scored": 4, "refused": 1}
    assert plain["model"] == "fake/sums"


def test_samples_are_a_table_with_a_row_each(store, data):
    def reply(request):
        return "\ud800" if request.item_id == "sum-1" else "1"

    run = carry_out(TASK, FakeModel(reply=reply), store, data, limit=3)
    rows = run.samples().to_pylist()
    assert [row["item_id"] for row in rows] == ["sum-0", "sum-1", "sum-2"]
    assert rows[0] | {"scores": dict(rows[0]["scores"])} == {
        **rows[0],
        "task": "sums", "sample": 0, "status": "scored", "scores": {"correct": 1.0}, "answer": "1",
        "targets": ["1"], "text": "1", "finish": "stop", "prompt_tokens": 3, "completion_tokens": 1,
        "prompt": '[["user","0+1="]]', "position": 0,
    }  # fmt: skip
    assert rows[1]["text"] == "\\ud800"


# ── secrets ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_secret_stands_in_nothing_that_is_written(store, data, tmp_path):
    secret = "sk-" + "0123456789" * 3
    settings = {"api_key": secret, "headers": {"X": secret}, "base_url": f"http://u:{secret}@host/v1"}
    run = carry_out(TASK, FakeModel(), store, data, limit=3, settings=settings)
    card = make_card(run.record)
    written = [
        json.dumps(run.plain()),
        card.markdown(),
        json.dumps(card.plain(), default=str),
        repr(run.record),
    ]
    assert not [text for text in written if secret in text]
    store.close()
    for file in tmp_path.glob("store.db*"):
        assert secret.encode() not in file.read_bytes()


# ── several tasks, progress ─────────────────────────────────────────────────────────────────────────


def test_two_tasks_are_one_run_with_estimates_of_both(store, data):
    progress = Progress()
    other = replace(sums_task("wrong"), chat=replace(TASK.chat, template="{{ b }}+{{ b }}="))
    run = carry_out([TASK, other], FakeModel(), store, data, limit=4, progress=progress)
    assert [task.task for task in run.record.tasks] == ["sums", "wrong"]
    assert [estimate.value for estimate in run.estimates] == [1.0, 1.0, 0.0, 0.0]
    assert len(outcomes(store, run.id)) == 8
    assert run.id != carry_out(TASK, FakeModel(), store, data, limit=4).id
    assert (progress.task, progress.planned, progress.done, progress.asked) == ("wrong", 4, 4, 8)
    assert dict(progress.statuses) == {"scored": 4}


def test_a_model_that_was_given_stays_open(tmp_path, data):
    model = FakeModel()
    run = evaluate(TASK, model=model, store=str(tmp_path / "s.db"), data_directory=data, limit=2)
    run.store.close()
    assert not model.closed
