"""The client against a real llama.cpp server with the embedded model."""

from __future__ import annotations

import pytest

from probatum.core.errors import ModelError
from probatum.core.records import Finish, Message, Request, Sampling
from probatum.models.openai import load
from tests.models.servers import needs_local_model, running_llama_server

pytestmark = [pytest.mark.local_model, needs_local_model]


@pytest.fixture
def model(llama_server):
    loaded = load(llama_server.model, {"base_url": llama_server.base_url, "concurrency": 4})
    yield loaded
    loaded.close()


def text(prompt: str, **sampling: object) -> Request:
    return Request(item_id=prompt, prompt=prompt, sampling=Sampling(**sampling))


def answers(model, *requests: Request):
    found = {response.request: response for response in model.answer(requests)}
    return [found[request.key] for request in requests]


def test_identity_tells_weights_template_engine_and_context(model, llama_server):
    identity = model.identity
    assert identity.name == llama_server.model
    assert identity.backend.startswith("llama.cpp")
    assert identity.settings["server"]["listed"] is True
    assert identity.settings["server"]["meta"]["n_params"] == 268_098_176
    assert identity.settings["server"]["model_path"].endswith(".gguf")
    assert identity.template is not None
    assert model.capabilities.context_tokens == 1024


def test_base_model_is_known_as_one(model):
    assert not model.capabilities.chat
    assert model.capabilities.completion
    assert "warnings" not in model.identity.settings


def test_greedy_completion(model):
    [response] = answers(model, text("The opposite of hot is", max_tokens=4))
    assert response.text.strip().lower().startswith("cold")
    assert response.finish is Finish.LENGTH
    assert (response.completion_tokens, response.attempts) == (4, 1)
    assert response.prompt_tokens == 6
    assert response.model.startswith("gemma-3-270m@")


def test_stop_string_ends_the_answer_and_is_not_part_of_it(model):
    [response] = answers(model, text("1, 2, 3, 4,", max_tokens=40, stop=("7",)))
    assert response.text == " 5, 6, "
    assert response.finish is Finish.STOP


def test_more_than_four_stop_strings(model):
    stops = ("A", "B", "C", "D", "E", "7")
    [response] = answers(model, text("1, 2, 3, 4,", max_tokens=40, stop=stops))
    assert response.text == " 5, 6, "


def test_stop_strings_cut_here_give_the_same_text(llama_server):
    blind = load(llama_server.model, {"base_url": llama_server.base_url, "stop_limit": 0})
    [response] = answers(blind, text("1, 2, 3, 4,", max_tokens=12, stop=("7",)))
    blind.close()
    assert (response.text, response.stop, response.finish) == (" 5, 6, ", "7", Finish.STOP)


def test_chat_where_it_is_asked_for(llama_server):
    chat = load(llama_server.model, {"base_url": llama_server.base_url, "api": "chat"})
    request = Request(item_id="c", prompt=(Message("user", "Hi"),), sampling=Sampling(max_tokens=3))
    [response] = answers(chat, request)
    assert "no chat template" in chat.identity.settings["warnings"][0]
    chat.close()
    assert response.answered
    assert response.finish is Finish.LENGTH
    assert response.completion_tokens == 3


def test_sampling_is_unrestricted_where_top_k_is_not_set(model):
    """llama.cpp would take the 40 likeliest tokens: at a high temperature, most would be of them."""
    requests = [text("Once", max_tokens=12, temperature=50.0, seed=seed) for seed in range(4)]
    limited = [text("Once", max_tokens=12, temperature=50.0, top_k=1, seed=seed) for seed in range(4)]
    free = {response.text for response in answers(model, *requests)}
    greedy = {response.text for response in answers(model, *limited)}
    assert len(free) == 4
    assert len(greedy) == 1
    assert any(not answer.isascii() for answer in free)


def test_prompt_that_does_not_fit_is_told_and_harms_no_other(model):
    long, short = answers(model, text("a b c d " * 2000, max_tokens=4), text("One two three", max_tokens=4))
    assert long.finish is Finish.CONTEXT_OVERFLOW
    assert "exceeds the available context size" in long.reason
    assert short.answered


def test_many_at_once_are_each_answered_once(model):
    requests = [text(f"{number} plus {number} is", max_tokens=3) for number in range(12)]
    responses = list(model.answer(requests))
    assert sorted(response.request for response in responses) == sorted(request.key for request in requests)
    assert all(response.answered for response in responses)


def test_another_name_is_answered_and_told(llama_server, caplog):
    other = load("gpt-4", {"base_url": llama_server.base_url})
    [response] = answers(other, text("The opposite of hot is", max_tokens=2))
    identity = other.identity
    other.close()
    assert response.model.endswith("(asked for gpt-4)")
    assert "does not list 'gpt-4' but 'gemma-3-270m'" in identity.settings["warnings"][0]
    assert caplog.text.count("does not list 'gpt-4'") == 1
    assert "answers as" not in caplog.text


@pytest.mark.slow
def test_key_of_the_server():
    with running_llama_server(slots=1, api_key="sk-right-key") as server:
        wrong = load(server.model, {"base_url": server.base_url, "api_key": "sk-wrong-key"})
        with pytest.raises(ModelError, match=r"HTTP 401.*is the key right") as caught:
            answers(wrong, text("Hi", max_tokens=1))
        wrong.close()
        assert "wrong-key" not in str(caught.value)
        right = load(server.model, {"base_url": server.base_url, "api_key": "sk-right-key"})
        assert answers(right, text("Hi", max_tokens=1))[0].answered
        right.close()


@pytest.mark.parametrize(
    "prompt", ["The opposite of hot is", "  two  blanks\n", "是的 ½ <start_of_turn>", "a " * 300]
)
def test_tokens_are_counted_as_the_server_counts_them(model, prompt):
    [response] = answers(model, text(prompt, max_tokens=1))
    assert model.count_tokens(prompt) == response.prompt_tokens


def test_tokens_of_a_conversation_are_counted_with_its_template(llama_server):
    chat = load(llama_server.model, {"base_url": llama_server.base_url, "api": "chat"})
    prompt = (Message("system", "Be brief."), Message("user", "Hi"))
    [response] = answers(chat, Request(item_id="c", prompt=prompt, sampling=Sampling(max_tokens=1)))
    assert chat.count_tokens(prompt) == response.prompt_tokens
    chat.close()
