"""What is sent: every decoding setting, in each form."""

from __future__ import annotations

import json

import pytest

from probatum.core.errors import UsageError
from probatum.core.records import Message, Request, Sampling
from probatum.models.openai import OpenAISettings
from probatum.models.openai.payload import Dialect

TEXT = Request(item_id="t", prompt="Once")
CHAT = Request(item_id="c", prompt=(Message("system", "Be brief."), Message("user", "Hi")))


def write(request: Request, *, public: bool = False, engine: str | None = None, **settings: object):
    given = OpenAISettings(base_url="http://a/v1", **settings)
    return Dialect.first("m", given, public=public, engine=engine).write(request)


def body(request: Request, **options: object):
    return json.loads(write(request, **options).body)


def with_sampling(request: Request, **sampling: object) -> Request:
    return Request(item_id="s", prompt=request.prompt, sampling=Sampling(**sampling))


def test_conversation_with_every_default_said():
    assert body(CHAT) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 512,
    }


def test_text_with_every_default_said():
    assert body(TEXT) == {
        "model": "m",
        "prompt": "Once",
        "echo": False,
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 512,
    }


def test_everything_set():
    request = with_sampling(CHAT, temperature=0.7, top_p=0.9, top_k=40, max_tokens=5, stop=("a", "b"), seed=7)
    found = body(request)
    del found["messages"]
    assert found == {
        "model": "m",
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "max_tokens": 5,
        "stop": ["a", "b"],
        "seed": 7,
    }


def test_seed_is_not_sent_to_a_server_that_does_not_take_it():
    assert "seed" not in body(with_sampling(CHAT, temperature=1.0, seed=7), send_seed=False)


def test_public_service_limits_answers_of_chat_under_the_new_name():
    assert body(CHAT, public=True)["max_completion_tokens"] == 512
    assert "max_tokens" not in body(CHAT, public=True)
    assert body(CHAT, public=True, max_tokens_field="max_tokens")["max_tokens"] == 512
    assert body(TEXT, public=True)["max_tokens"] == 512
    assert body(CHAT, max_tokens_field="max_completion_tokens")["max_completion_tokens"] == 512


@pytest.mark.parametrize(
    ("options", "sent"),
    [({}, 6), ({"public": True}, 4), ({"stop_limit": 2}, 2), ({"public": True, "stop_limit": 6}, 6)],
)
def test_no_more_stop_strings_than_the_server_takes(options, sent):
    stops = ("1", "2", "3", "4", "5", "6")
    written = write(with_sampling(CHAT, stop=stops), **options)
    assert json.loads(written.body)["stop"] == list(stops[:sent])
    assert written.stops == sent


def test_no_stop_strings_at_all():
    written = write(with_sampling(CHAT, stop=("x",)), stop_limit=0)
    assert "stop" not in json.loads(written.body)
    assert written.stops == 0


def test_empty_stop_string_is_refused():
    with pytest.raises(UsageError, match="empty stop string"):
        write(with_sampling(CHAT, stop=("a", "")))


@pytest.mark.parametrize(
    ("engine", "neutral"),
    [
        ("llamacpp", {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}),
        ("vllm", {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
        ("ollama", {}),
        (None, {}),
    ],
)
def test_sampling_defaults_of_the_engine_are_switched_off(engine, neutral):
    found = body(CHAT, engine=engine)
    assert {name: value for name, value in found.items() if name not in body(CHAT)} == neutral


def test_what_the_user_asks_for_goes_before_what_the_engine_is_told():
    found = body(with_sampling(CHAT, top_k=5), engine="llamacpp", body={"min_p": 0.1})
    assert (found["top_k"], found["min_p"]) == (5, 0.1)


def test_more_fields_are_added():
    assert body(CHAT, body={"reasoning_effort": "low"})["reasoning_effort"] == "low"


def test_omitted_settings_are_not_sent():
    found = body(CHAT, public=True, omit=("temperature", "top_p", "max_tokens"))
    assert set(found) == {"model", "messages"}


def test_text_that_utf8_cannot_hold_is_sent_as_escapes():
    written = write(Request(item_id="s", prompt="a\ud83db"))
    assert b"\\ud83d" in written.body
    assert json.loads(written.body)["prompt"] == "a\ud83db"
