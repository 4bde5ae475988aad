"""Settings: what is accepted, what is refused, and that nothing secret is shown."""

from __future__ import annotations

import pickle

import pytest

from probatum.core.errors import UsageError
from probatum.models import load_model
from probatum.models.openai import OpenAISettings, load
from probatum.models.openai.settings import PUBLIC_URL, Endpoint, Secrets, read_openai_settings

LOCAL = "http://127.0.0.1:8080/v1"


def read(**given: object) -> tuple[OpenAISettings, Endpoint, Secrets]:
    return read_openai_settings({"base_url": LOCAL, **given})


def test_strings_of_the_command_line_are_read_as_what_they_mean():
    settings, _, _ = read(
        concurrency="8",
        timeout="2.5",
        send_seed="false",
        omit="temperature, top_p",
        body='{"reasoning_effort": "low"}',
        headers='{"X-Route": "b"}',
        api="chat",
    )
    assert settings.concurrency == 8
    assert settings.timeout == 2.5
    assert settings.send_seed is False
    assert settings.omit == ("temperature", "top_p")
    assert settings.body == {"reasoning_effort": "low"}
    assert settings.headers == {"X-Route": "b"}
    assert settings.api == "chat"


def test_typed_values_are_taken_as_they_are():
    settings, _, _ = read(concurrency=8, omit=["seed"], body={"a": [1]}, headers={"X": "y"})
    assert (settings.concurrency, settings.omit, settings.body, settings.headers) == (
        8,
        ("seed",),
        {"a": [1]},
        {"X": "y"},
    )


REFUSED = {
    "unknown": ({"concurency": 3}, "no setting 'concurency'; did you mean 'concurrency'"),
    "misspelt key": ({"apikey": "sk-secret"}, "no setting 'apikey'; did you mean 'api_key'"),
    "out of range": ({"concurrency": 0}, "concurrency=0"),
    "no number": ({"timeout": "long"}, "timeout='long'"),
    "no such form": ({"api": "responses"}, "api='responses'"),
    "body not JSON": ({"body": "{a: 1}"}, "setting body .* must be a JSON object"),
    "body a list": ({"body": "[1]"}, "setting body .* must be a JSON object"),
    "body with a decoding setting": ({"body": {"temperature": 1}}, "may not hold 'temperature'"),
    "body with the prompt": ({"body": '{"messages": []}'}, "may not hold 'messages'"),
    "body that streams": ({"body": {"stream": True}}, "may not hold 'stream'"),
    "headers not texts": ({"headers": {"X": 1}}, "must map names to texts"),
    "headers a list": ({"headers": ["X"]}, "must map names to texts"),
    "header of two lines": ({"headers": {"X": "a\r\nEvil: b"}}, "header 'X' .* has a character"),
    "key of two lines": ({"api_key": "sk\nsecret"}, "characters that no key may have"),
    "key no text": ({"api_key": 7}, "must be text, not int"),
    "omit of an unknown field": ({"omit": "temprature"}, "'temprature'; did you mean 'temperature'"),
    "no address": ({"base_url": "localhost:8080"}, "no address of a server"),
    "no host": ({"base_url": "http://"}, "no address of a server"),
    "port too high": ({"base_url": "http://a:99999/v1"}, "no address of a server"),
    "address of a route": (
        {"base_url": "http://a/v1/chat/completions?key=sk-secret"},
        "must end before '/chat/completions': give 'http://a/v1'",
    ),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(given, words):
    with pytest.raises(UsageError, match=words) as caught:
        read(**given)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_server_and_key_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://10.0.0.1:9/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", " sk-1234 \n")
    _, endpoint, secrets = read_openai_settings({})
    assert endpoint.address("models") == "http://10.0.0.1:9/v1/models"
    assert secrets.authorization == "Bearer sk-1234"


def test_key_may_come_from_another_variable(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    monkeypatch.setenv("ROUTER_KEY", "sk-right")
    assert read(api_key_env="ROUTER_KEY")[2].key == "sk-right"
    assert read(api_key_env="ROUTER_KEY", api_key="sk-given")[2].key == "sk-given"


def test_public_server_needs_a_key_and_a_local_one_does_not():
    with pytest.raises(UsageError, match="set the environment variable OPENAI_API_KEY"):
        load("gpt", {})
    assert read()[2].authorization is None
    assert read_openai_settings({"api_key": "k"})[1].shown == PUBLIC_URL


def test_password_of_the_address_authorizes_and_is_not_shown():
    model = load("m", {"base_url": "http://anna:s3cr@t@127.0.0.1:8080/v1"})
    _, endpoint, secrets = read(base_url="http://anna:s3cr@t@127.0.0.1:8080/v1")
    assert endpoint.address("models") == "http://127.0.0.1:8080/v1/models"
    assert secrets.authorization == "Basic YW5uYTpzM2NyQHQ="
    assert "s3cr" not in repr(model) + repr(vars(model)) + endpoint.shown


def test_query_of_the_address_is_sent_and_its_secrets_are_not_shown():
    _, endpoint, secrets = read(
        base_url="https://a.example/openai/v1?api-version=2026-01-01&api-key=hush-hush"
    )
    assert endpoint.address("models") == (
        "https://a.example/openai/v1/models?api-version=2026-01-01&api-key=hush-hush"
    )
    assert endpoint.shown == "https://a.example/openai/v1?api-version=2026-01-01&api-key=***"
    assert secrets.redact("no hush-hush here") == "no *** here"


def test_routes_beside_the_interface():
    assert read()[1].beside("props") == "http://127.0.0.1:8080/props"
    assert read(base_url="http://a:1/x")[1].beside("props") is None


def test_secrets_are_neither_printed_nor_pickled():
    _, _, secrets = read(api_key="sk-hush-hush", headers={"X-Api-Token": "tok-12345"})
    assert repr(secrets) == "Secrets(***)"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secrets)
    assert secrets.redact("key sk-hush-hush, token tok-12345, Bearer abcdefgh123") == (
        "key ***, token ***, Bearer ***"
    )


def test_found_by_its_provider():
    model = load_model("openai/org/model-name", {"base_url": LOCAL})
    assert model.name == "org/model-name"  # type: ignore[attr-defined] - an OpenAIModel
