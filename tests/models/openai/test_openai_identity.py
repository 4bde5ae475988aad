"""Who answers: what the server tells goes into the identity, so that no cache answers for another model."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from probatum.core.errors import ModelError
from probatum.core.records import Message
from probatum.models.openai import OpenAIModel, load
from probatum.models.openai.servers import CHATML, OWNERS, Server, look
from probatum.models.openai.settings import read_openai_settings
from probatum.models.openai.transport import Received
from tests.models.openai.fault_server import FaultServer, Reply, chat, error

CHATML_LIKE = CHATML.replace("assistant", "helper")


def entry(name: str, **more: object) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 1, "owned_by": "us", **more}


def listing(*entries: dict[str, object]) -> Reply:
    return Reply(body={"object": "list", "data": list(entries)})


def routes(models: Reply, **others: object):
    """Replies to GET: the list of models, and other routes by their last part."""

    def reply(path: str) -> Reply:
        last = path.rsplit("/", 1)[-1]
        if last == "models":
            return models
        return Reply(body=others[last]) if last in others else Reply(404)

    return reply


def identity(models: object, name: str = "m", **settings: object):
    with FaultServer(lambda *_: chat("Yes"), models) as server:
        model = load(name, {"base_url": server.base_url, **settings})
        try:
            return model.identity, model.capabilities
        finally:
            model.close()


def settings_of(models: object, **given: object):
    found = dict(identity(models, **given)[0].settings)
    del found["base_url"]  # another port each time
    return found


LLAMA = entry("m", owned_by="llamacpp", created=7, meta={"n_params": 268, "size": 246, "n_ctx": 1024})
PROPS = {
    "model_path": "/models/m.gguf",
    "build_info": "b4321-abc",
    "chat_template": "{{ messages }}",
    "default_generation_settings": {"n_ctx": 512},
}


def test_server_is_asked_once():
    with FaultServer(lambda *_: chat("Yes")) as server:
        model = load("m", {"base_url": server.base_url})
        first = model.identity
        assert model.identity == first
        _ = model.capabilities
        assert [asked.path for asked in server.gets] == ["/v1/models"]
        model.close()


def test_llama_cpp_tells_weights_template_build_and_context():
    found, capabilities = identity(routes(listing(LLAMA), props=PROPS))
    assert found.backend == "llama.cpp b4321-abc"
    assert found.template is not None
    assert len(found.template) == 64
    assert found.settings["server"] == {
        "listed": True,
        "meta": {"n_params": 268, "size": 246, "n_ctx": 1024},
        "model_path": "/models/m.gguf",
    }
    assert found.settings["neutral"] == {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}
    assert capabilities.context_tokens == 512
    assert capabilities.chat
    assert capabilities.completion
    assert capabilities.score


def test_other_weights_under_the_same_name_are_another_model():
    other = {**LLAMA, "meta": {"n_params": 268, "size": 247, "n_ctx": 1024}}
    assert settings_of(routes(listing(LLAMA))) != settings_of(routes(listing(other)))


def test_start_of_the_server_does_not_make_another_model():
    again = {**LLAMA, "created": 8, "permission": [{"id": "modelperm-2"}]}
    assert settings_of(routes(listing(LLAMA))) == settings_of(routes(listing(again)))


def test_base_model_behind_a_borrowed_template_is_not_asked_to_chat():
    found, capabilities = identity(routes(listing(LLAMA), props={**PROPS, "chat_template": CHATML}))
    assert (capabilities.chat, capabilities.completion) == (False, True)
    assert "warnings" not in found.settings
    assert identity(routes(listing(LLAMA), props={**PROPS, "chat_template": CHATML_LIKE}))[1].chat
    found, capabilities = identity(
        routes(listing(LLAMA), props={**PROPS, "chat_template": CHATML}), api="chat"
    )
    assert capabilities.chat
    assert found.settings["warnings"] == ["the model has no chat template: the server applies ChatML"]


def test_vllm_tells_revision_version_and_context():
    root = "/root/.cache/huggingface/hub/models--o--m/snapshots/" + "a1" * 20
    found, capabilities = identity(
        routes(
            listing(entry("m", owned_by="vllm", root=root, max_model_len=4096)), version={"version": "0.12.0"}
        )
    )
    assert found.backend == "vllm 0.12.0"
    assert found.revision == "a1" * 20
    assert capabilities.context_tokens == 4096
    assert found.settings["neutral"]["top_k"] == -1


def test_ollama_tells_the_digest():
    tags = {"models": [{"name": "other:latest", "digest": "ff"}, {"name": "m:latest", "digest": "ab12"}]}
    found, _ = identity(routes(listing(entry("m:latest", owned_by="library")), tags=tags))
    assert found.revision == "ab12"


def test_sglang_tells_the_path():
    models = routes(listing(entry("m", owned_by="sglang", root="m")), get_model_info={"model_path": "/w/m"})
    assert identity(models)[0].settings["server"]["model_path"] == "/w/m"


def test_name_that_the_server_does_not_list_is_told_and_what_it_serves_is_part_of_the_identity():
    found, _ = identity(routes(listing(LLAMA), props=PROPS), name="gpt-5")
    assert found.settings["warnings"] == [
        "the server does not list 'gpt-5' but 'm': another model may answer"
    ]
    assert found.settings["server"]["served"] == ["m"]
    assert found.settings["server"]["model_path"] == "/models/m.gguf"


def test_alias_counts_as_listed():
    found, _ = identity(listing(entry("file.gguf", aliases=["m", "n"])))
    assert found.settings["server"] == {"listed": True}


def test_catalogue_that_grows_does_not_make_another_model():
    small, large = ([entry(f"x{number}") for number in range(count)] for count in (100, 101))
    assert (
        settings_of(listing(*small))["server"] == settings_of(listing(*large))["server"] == {"listed": False}
    )
    assert settings_of(listing(*small))["warnings"] == [
        "the server does not list 'm' but 100 other models: another model may answer"
    ]


SILENT = {
    "404": Reply(404),
    "401": error(401),
    "403": error(403),
    "no JSON": Reply(body=b"<html>"),
    "of another form": Reply(body={"data": {"m": 1}}),
    "a text": Reply(body="m"),
    "entries of another form": Reply(body={"data": [1, {"name": "m"}, {"id": 7}]}),
    "empty": listing(),
}


@pytest.mark.parametrize("models", SILENT.values(), ids=SILENT)
def test_server_that_does_not_tell_is_no_error(models):
    found, capabilities = identity(models)
    assert found.settings["server"] == {"listed": None}
    assert "warnings" not in found.settings
    assert (found.revision, found.backend, capabilities.context_tokens) == (None, None, None)


def test_outage_while_it_is_asked_does_not_make_another_model():
    calls = []

    def flaky(path: str) -> Reply:
        calls.append(path)
        return Reply(503) if len(calls) < 3 else listing(entry("m"))

    assert settings_of(flaky) == settings_of(listing(entry("m")))


def test_context_that_the_user_names_goes_before_what_the_server_tells():
    assert identity(routes(listing(LLAMA), props=PROPS), context_tokens=99)[1].context_tokens == 99


def test_entry_with_details_of_the_wrong_kind_is_read_as_far_as_it_goes():
    strange = entry("m", owned_by="llamacpp", meta="large", max_model_len="many")
    props = {"chat_template": 7, "default_generation_settings": [], "model_path": None}
    _, capabilities = identity(routes(listing(strange), props=props))
    assert capabilities.context_tokens is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"concurrency": 3, "timeout": 5, "attempts": 2, "api_key": "k"}, True),
        ({}, {"body": {"reasoning_effort": "low"}}, False),
        ({}, {"omit": "temperature"}, False),
        ({}, {"send_seed": False}, False),
        ({}, {"api": "chat"}, False),
        ({}, {"engine": "vllm"}, False),
        ({}, {"headers": {"X-Route": "b"}}, False),
        ({"headers": {"X-Token": "a"}}, {"headers": {"X-Token": "b"}}, True),
    ],
)
def test_what_changes_answers_is_in_the_identity_and_nothing_else(one, other, same):
    with FaultServer(lambda *_: chat("Yes")) as server:
        models = [load("m", {"base_url": server.base_url, **given}) for given in (one, other)]
        first, second = (model.identity.digest for model in models)
        for model in models:
            model.close()
    assert (first == second) is same


def test_server_elsewhere_is_another_model():
    assert identity(Reply(404))[0].digest != identity(Reply(404))[0].digest


def test_identity_is_plain_json():
    found, _ = identity(routes(listing(LLAMA), props=PROPS), body={"a": [1, {"b": None}]})
    assert json.loads(json.dumps(dict(found.settings))) == found.settings


def test_public_service_is_asked_in_conversations():
    model = load("gpt", {"api_key": "k", "base_url": "https://api.openai.com/v1"})
    model._server = Server()
    assert model.capabilities.chat
    assert not model.capabilities.completion
    assert not model.capabilities.score


def test_closed_model_says_so():
    model = load("m", {"base_url": "http://127.0.0.1:1/v1"})
    model.close()
    with pytest.raises(ModelError, match="was closed: load it again"):
        _ = model.identity


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5000)
    | st.floats()
    | st.sampled_from(["m", "vllm", "library"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "n_ctx"]), inner, max_size=2)
    ),
    max_leaves=5,
)
FIELDS = ["id", "aliases", "owned_by", "root", "meta", "max_model_len"]
ENTRY = st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)) | st.fixed_dictionaries(
    {"id": st.sampled_from(["m", "n"]), "owned_by": st.sampled_from(list(OWNERS))},
    optional=dict.fromkeys(FIELDS[3:], JSON),
)
DETAILS = ["models", "version", "model_path", "chat_template", "default_generation_settings", "build_info"]


class Told:
    """A transport that answers with given JSON."""

    def __init__(self, models: object, details: object) -> None:
        self.models = models
        self.details = details

    async def ask(self, address: str, *_: object) -> Received:
        value = self.models if address.endswith("/v1/models") else self.details
        return Received(200, CIMultiDictProxy(CIMultiDict()), json.dumps(value).encode(), None)


@given(
    st.fixed_dictionaries({"data": st.lists(ENTRY | JSON, max_size=3)}) | JSON,
    st.fixed_dictionaries({}, optional=dict.fromkeys(DETAILS, JSON)) | JSON,
)
def test_whatever_the_server_tells_has_an_identity(models, details):
    settings, endpoint, secrets = read_openai_settings({"base_url": "http://a/v1"})
    model = OpenAIModel("m", settings, endpoint, secrets)
    model._server = asyncio.run(look("m", endpoint, Told(models, details), secrets, settings))
    assert len(model.identity.digest) == 64
    assert model.capabilities.context_tokens is None or model.capabilities.context_tokens > 0


PROGRAM = """
import sys
import probatum.models
from probatum.models import load_model
assert "aiohttp" not in sys.modules
assert "probatum.models.openai" not in sys.modules
load_model("openai/m", {"base_url": "http://127.0.0.1:1/v1"})
assert "aiohttp" not in sys.modules
"""


def test_aiohttp_is_loaded_only_when_something_is_asked():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120)


FORGETFUL = """
import sys
from probatum.core.records import Request
from probatum.models import load_model
model = load_model("openai/m", {"base_url": sys.argv[1]})
answers = model.answer(Request(item_id=str(n), prompt=str(n)) for n in range(1000))
assert next(answers).text == "Yes"
"""


def test_process_that_forgets_to_close_ends_all_the_same():
    body = {"choices": [{"index": 0, "text": "Yes", "finish_reason": "stop"}]}
    with FaultServer(lambda number, _: Reply(body=body, delay=60 if number > 20 else 0)) as server:
        ended = subprocess.run(
            [sys.executable, "-W", "always", "-c", FORGETFUL, server.base_url],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def count(engine: str, prompt: object, answer: object) -> tuple[object, list[object]]:
    def script(_: int, asked: object) -> Reply:
        return Reply(body=answer)

    with FaultServer(script, routes(listing(entry("m")))) as server:
        model = load("m", {"base_url": server.base_url, "engine": engine})
        found = model.count_tokens(prompt)
        model.close()
        return found, [(asked.path, asked.body) for asked in server.posts]


def test_vllm_counts_tokens_of_texts_and_of_conversations():
    found, asked = count("vllm", "Once", {"count": 5, "max_model_len": 9})
    assert found == 5
    assert asked == [("/tokenize", {"model": "m", "prompt": "Once"})]
    found, asked = count("vllm", (Message("user", "Hi"),), {"count": 7})
    assert found == 7
    assert asked == [("/tokenize", {"model": "m", "messages": [{"role": "user", "content": "Hi"}]})]


@pytest.mark.parametrize("answer", [b"<html>", [], {}, {"count": "5", "tokens": 5, "prompt": None}])
@pytest.mark.parametrize("engine", ["vllm", "llamacpp", "other"])
def test_tokens_that_nobody_counts_are_unknown(engine, answer):
    assert count(engine, (Message("user", "Hi"),), answer)[0] is None
    assert count(engine, "Hi", answer)[0] is None
