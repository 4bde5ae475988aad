"""What comes out of a store equals what went in."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probatum.core.records import Item, Outcome, Request, Response, Sampling
from probatum.core.run import RunState
from probatum.core.status import Status
from probatum.store.encoding import pack, pack_text, text_digest, unpack, unpack_text
from probatum.store.prompts import StoredProgram, StoredRequest
from tests.store import rows

shared_store = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def fresh() -> str:
    """A name that no earlier example in the same store has."""
    return uuid4().hex


@shared_store
@given(st.data())
def test_responses_come_back_equal(store, data):
    model = fresh()
    request = data.draw(rows.requests)
    response = data.draw(rows.responses_to(request))
    assert store.keep_responses(model, [(request, response)]) == {}
    assert store.responses(model, [request.key]) == {request.key: response}


@shared_store
@given(rows.programs, rows.executions)
def test_executions_and_their_programs_come_back_equal(store, program, execution):
    environment = fresh()
    execution = replace(execution, program=program.digest)
    store.keep_executions(environment, [(program, execution)])
    assert store.executions(environment, [program.digest]) == {program.digest: execution}
    assert store.programs([program.digest]) == {program.digest: program}


@shared_store
@given(rows.runs)
def test_runs_come_back_equal(store, run):
    store.close_run(run)
    assert run in store.runs()


@shared_store
@given(st.data(), rows.any_text)
def test_samples_come_back_equal(store, data, task):
    run = fresh()
    item = data.draw(rows.items)
    outcome = data.draw(rows.outcomes)
    own = [
        replace(request, item_id=outcome.item_id)
        for request in data.draw(st.lists(rows.requests, max_size=2))
    ]
    asked = (*own, *data.draw(st.lists(rows.requests, max_size=1)))
    store.open_run(rows.run_of(run))
    store.keep_outcomes(run, task, [(7, item, asked, outcome)])
    [sample] = store.samples(run, task)
    assert (sample.task, sample.position, sample.item, sample.requests) == (task, 7, item, asked)
    assert sample.outcome == outcome
    [mark] = store.marks(run, task)
    assert (mark.item_id, mark.sample, mark.status) == (outcome.item_id, outcome.sample, outcome.status)
    assert (mark.scores, mark.cluster, mark.stratum) == (outcome.scores, item.cluster, item.stratum)


@given(rows.any_text)
def test_a_text_alone_comes_back_equal(text):
    assert unpack_text(pack_text(text)) == text


def test_megabytes_come_back_equal(store):
    text = "\ud800\0\u2028 many words \U0001f600" * 100_000
    request = Request(item_id="a", prompt=text, continuation=text[:-1])
    response = Response(request=request.key, text=text + "!")
    outcome = Outcome(item_id="a", sample=0, status=Status.SCORED, scores={"s": 1.0}, answer=text)
    store.open_run(rows.run_of())
    store.keep_responses(rows.MODEL.digest, [(request, response)])
    store.keep_outcomes("abc123", "t", [(0, Item(id="a", fields={"text": text}), (request,), outcome)])
    [sample] = store.samples("abc123", "t")
    assert sample.requests == (request,)
    assert sample.responses == (response,)
    assert (sample.outcome, sample.item.fields["text"]) == (outcome, text)


def test_two_halves_of_a_surrogate_pair_stay_apart_from_the_character():
    assert unpack(str, pack("\ud83d\ude00")) == "\ud83d\ude00"
    assert unpack(str, pack("\U0001f600")) == "\U0001f600"
    assert text_digest("\ud83d\ude00") != text_digest("\U0001f600")


def test_infinite_logprobs_survive(store):
    request = Request(item_id="a", prompt="p", continuation="c")
    response = Response(request=request.key, logprobs=(-math.inf, -0.0, 5e-324), greedy=False)
    store.keep_responses("m", [(request, response)])
    assert store.responses("m", [request.key])[request.key].logprobs == (-math.inf, -0.0, 5e-324)


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**40])
def test_integers_of_any_size_survive(number):
    assert unpack(dict[str, object], pack({"n": number})) == {"n": number}


def test_long_texts_are_compressed_and_noise_is_not():
    assert len(pack_text("word " * 1000)) < 500
    noise = "".join(map(chr, range(33, 127)))
    assert len(pack_text(noise)) == len(noise) + 1


def test_stored_forms_cover_every_field_of_a_request_and_a_program():
    named = {field.name for field in fields(Request)} - {"item_id", "sample", "part"}
    assert set(StoredRequest.__struct_fields__) == named
    assert set(StoredProgram.__struct_fields__) == {field.name for field in fields(rows.Program)}


def test_samples_that_differ_by_seed_share_their_prompt(store):
    from sqlalchemy import func, select

    from probatum.store.schema import requests, texts

    prompt = "a long few-shot prompt " * 50
    asked = [Request(item_id="a", sample=n, prompt=prompt, sampling=Sampling(seed=n)) for n in range(20)]
    store.keep_responses("m", [rows.answer(request) for request in asked])
    with store._reading() as connection:
        assert connection.execute(select(func.count()).select_from(texts)).scalar() == 1
        assert connection.execute(select(func.count()).select_from(requests)).scalar() == 20


def test_state_of_a_run_is_an_enum_again(store):
    store.close_run(rows.run_of(state=RunState.FAILED))
    assert store.runs()[0].state is RunState.FAILED
