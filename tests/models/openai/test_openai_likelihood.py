"""Scored continuations over vLLM's, SGLang's and the old `echo` forms, and servers that get it wrong.

The servers here tokenise by characters and know a chain: what a letter's log-probability is, depends on the
letter before it alone. A real llama.cpp server is asked in `tests/models/test_conformance.py`.
"""

from __future__ import annotations

import itertools
import math

import pytest

from probatum.core.errors import ModelError
from probatum.core.records import Finish, Message, Request, Rolling, Scoring
from tests.models.openai.fault_server import Asked, Reply, error

BEGIN = 1


def numbers(text: str, *, special: bool) -> list[int]:
    return ([BEGIN] if special else []) + [ord(one) for one in text]


def logprob(before: int, token: int) -> float:
    return -((before * 31 + token * 17) % 97 + 1) / 20


def asked(prompt: str, continuation: str, **rules) -> Request:
    return Request(item_id="1", prompt=prompt, continuation=continuation, scoring=Scoring(**rules))


def expected(tokens: list[int], start: int) -> list[float]:
    return [logprob(tokens[place - 1], tokens[place]) for place in range(start, len(tokens))]


def vllm_prompt_logprobs(tokens: list[int]) -> list[dict | None]:
    found: list[dict | None] = [None]
    for before, token in itertools.pairwise(tokens):
        value = logprob(before, token)
        likeliest = {"logprob": -0.01, "rank": 1, "decoded_token": "x"}
        own = {"logprob": value, "rank": 1 if value > -0.1 else 7, "decoded_token": chr(token)}
        found.append({str(token): own} | ({} if value > -0.1 else {"9": likeliest}))
    return found


def vllm(_: int, asked: Asked) -> Reply:
    body = asked.body
    if asked.path == "/tokenize":
        tokens = numbers(body["prompt"], special=body["add_special_tokens"])
        return Reply(body={"tokens": tokens, "count": len(tokens), "max_model_len": 64})
    if asked.path == "/v1/completions":
        shown = vllm_prompt_logprobs(body["prompt"])
        return Reply(body={"choices": [{"index": 0, "text": "x", "prompt_logprobs": shown}]})
    return error(404)


def sglang(_: int, asked: Asked) -> Reply:
    body = asked.body
    if asked.path == "/tokenize":
        return Reply(body={"tokens": numbers(body["prompt"], special=body["add_special_tokens"])})
    if asked.path == "/generate":
        tokens, start = body["input_ids"], body["logprob_start_len"]
        shown = [
            [None if place == 0 else logprob(tokens[place - 1], tokens[place]), tokens[place], None]
            for place in range(start, len(tokens))
        ]
        top = [[[-0.01, 9, None]] for _ in shown]
        meta = {"input_token_logprobs": shown, "input_top_logprobs": top}
        return Reply(body={"text": "x", "meta_info": meta})
    return error(404)


def echo_server(*, honours: bool = True, shift: int = 0, begins: bool = False):
    def script(_: int, asked: Asked) -> Reply:
        body = asked.body
        tokens = numbers(body["prompt"], special=begins)
        text = ("\x01" if begins else "") + body["prompt"]
        more = "y"
        values = [None, *(logprob(one, two) for one, two in itertools.pairwise(tokens))]
        values.append(logprob(tokens[-1], ord(more)))
        offsets = [max(0, place - begins) for place in range(len(tokens) + 1)]
        names = [*text, more]
        if not (body.get("echo") and honours):
            values, offsets, names, shown = values[-1:], [0], [more], more
        else:
            shown = body["prompt"] + more
            values = [*values[shift:], *[-1.0] * shift]
        tops = [None if value is None else {"?": -0.02} for value in values]
        logprobs = {
            "tokens": names,
            "token_logprobs": values,
            "top_logprobs": tops,
            "text_offset": offsets,
        }
        return Reply(body={"choices": [{"index": 0, "text": shown, "logprobs": logprobs}]})

    return script


VLLM = {"engine": "vllm", "context_tokens": 64}
SGLANG = {"engine": "sglang", "context_tokens": 64}
BOTH = [pytest.param(vllm, VLLM, id="vllm"), pytest.param(sglang, SGLANG, id="sglang")]


def score(model, *requests: Request):
    found = {response.request: response for response in model.answer(requests)}
    return [found[request.key] for request in requests]


@pytest.mark.parametrize(("script", "engine"), BOTH)
def test_numbers_belong_to_the_tokens_that_were_asked_about(serve, script, engine):
    _, model = serve(script, concurrency=2, **engine)
    assert model.capabilities.score
    one, empty, moved = score(model, asked("ab", "cd"), asked("", "cd"), asked("a ", "中"))
    assert one.logprobs == pytest.approx(expected([BEGIN, *map(ord, "abcd")], 3))
    assert (one.tokens, one.prompt_tokens, one.scored_bytes) == ((99, 100), 3, 2)
    assert empty.logprobs == pytest.approx(expected([BEGIN, *map(ord, "cd")], 1))
    assert moved.scored_bytes == 3
    assert one.finish is Finish.STOP
    assert not one.greedy


@pytest.mark.parametrize(("script", "engine"), BOTH)
def test_long_texts_go_in_windows_and_what_does_not_fit_is_told(serve, script, engine):
    _, model = serve(script, **engine)
    text = "".join(chr(97 + place % 26) for place in range(100))
    windows, refused, cut = score(
        model,
        asked("", text, rolling=Rolling(window=16, stride=8)),
        asked(text, "xy"),
        asked(text, "xy", overflow="left"),
    )
    assert windows.logprobs == pytest.approx(expected([BEGIN, *map(ord, text)], 1))
    assert refused.finish is Finish.CONTEXT_OVERFLOW
    assert (cut.prompt_tokens, cut.cut_tokens) == (63, 101 - 63)


def test_greedy_is_read_where_the_server_tells_it(serve):
    found = [chr(one) for one in range(97, 123) if logprob(97, one) > -0.1]
    _, model = serve(vllm, **VLLM)
    [response] = score(model, asked("a", found[0]))
    assert response.greedy


def test_a_server_whose_tokens_cannot_be_asked_is_refused(serve):
    def blind(number: int, asked: Asked) -> Reply:
        return error(404) if asked.path == "/tokenize" else vllm(number, asked)

    _, model = serve(blind, **VLLM)
    with pytest.raises(ModelError, match="404"):
        score(model, asked("ab", "cd"))


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda shown: shown[:-1],
        lambda shown: [None, *({"5": {"logprob": -1.0}} for _ in shown[1:])],
        lambda shown: [None, *({} for _ in shown[1:])],
    ],
)
def test_a_server_that_ignores_or_garbles_prompt_logprobs_is_refused(serve, change):
    def script(number: int, asked: Asked) -> Reply:
        reply = vllm(number, asked)
        if asked.path == "/v1/completions":
            choice = reply.body["choices"][0]
            choice["prompt_logprobs"] = change(choice["prompt_logprobs"])
        return reply

    _, model = serve(script, **VLLM)
    with pytest.raises(ModelError, match="cannot score continuations"):
        score(model, asked("ab", "cd"))


def test_sglang_that_speaks_of_other_tokens_is_refused(serve):
    def script(number: int, asked: Asked) -> Reply:
        reply = sglang(number, asked)
        if asked.path == "/generate":
            shown = reply.body["meta_info"]["input_token_logprobs"]
            reply.body["meta_info"]["input_token_logprobs"] = [[-1.0, 5, None] for _ in shown]
        return reply

    _, model = serve(script, **SGLANG)
    with pytest.raises(ModelError, match="other tokens"):
        score(model, asked("ab", "cd"))


def test_failures_on_the_way_are_tried_again_and_then_told(serve):
    failed = []

    def script(number: int, asked: Asked) -> Reply:
        if asked.path == "/v1/completions" and len(failed) < 2:
            failed.append(number)
            return error(503)
        return vllm(number, asked)

    _, model = serve(script, **VLLM)
    [response] = score(model, asked("ab", "cd"))
    assert response.finish is Finish.STOP
    assert len(failed) == 2


def test_what_servers_are_known_to_say_is_read(serve):
    """The forms as their projects show them: SGLang begins both lists with nothing, and gives more; vLLM writes
    an impossible token as -9999, leaves `rank` and spellings to chance, and has fields beside."""

    def sglang_shown(_: int, asked: Asked) -> Reply:
        reply = sglang(_, asked)
        if asked.path == "/generate":
            meta = reply.body["meta_info"]
            meta["input_token_logprobs"][0][0] = None
            meta["input_top_logprobs"] = [
                None,
                *(
                    [[value, token, None], [value - 1, 5, None]]
                    for value, token, _ in meta["input_token_logprobs"][1:]
                ),
            ]
            meta |= {
                "id": "26223ea355df4c0a",
                "finish_reason": {"type": "length", "length": 1},
                "prompt_tokens": len(asked.body["input_ids"]),
                "cached_tokens": 2,
                "output_token_logprobs": [[-0.73, 120, None]],
                "output_top_logprobs": [[[-0.73, 120, None]]],
            }
        return reply

    _, model = serve(sglang_shown, **SGLANG)
    [response] = score(model, asked("ab", "cd"))
    assert response.logprobs == pytest.approx(expected([BEGIN, *map(ord, "abcd")], 3))
    assert response.greedy

    def vllm_shown(_: int, asked: Asked) -> Reply:
        reply = vllm(_, asked)
        if asked.path == "/tokenize":
            reply.body["token_strs"] = None
        else:
            choice = reply.body["choices"][0]
            own = choice["prompt_logprobs"][-1][str(ord("d"))]
            own |= {"logprob": -9999.0, "rank": None, "decoded_token": "\u0120d"}
            choice |= {"finish_reason": "length", "stop_reason": None, "logprobs": None, "token_ids": None}
            reply.body.update(object="text_completion", usage={"prompt_tokens": 5}, kv_transfer_params=None)
        return reply

    _, model = serve(vllm_shown, **VLLM)
    [response] = score(model, asked("ab", "cd"))
    assert response.logprobs == pytest.approx([*expected([BEGIN, *map(ord, "abc")], 3), -9999.0])
    assert not response.greedy


# ── echo ────────────────────────────────────────────────────────────────────────────────────────


def test_echo_is_asked_where_the_user_says_so(serve):
    server, model = serve(echo_server(begins=True), likelihood="echo", concurrency=1)
    assert model.capabilities.score
    one, empty = score(model, asked("ab", "cd"), asked("", "cd"))
    assert one.logprobs == pytest.approx(expected([BEGIN, *map(ord, "abcd")], 3))
    assert (one.prompt_tokens, one.scored_bytes, one.tokens, one.greedy) == (3, 2, None, False)
    assert empty.logprobs == pytest.approx(expected([BEGIN, *map(ord, "cd")], 1))
    assert [asked.body["prompt"] for asked in server.posts][2:] == ["abcd", "cd"]


def test_a_first_token_without_a_number_is_refused_or_left_out(serve):
    _, model = serve(echo_server(), likelihood="echo")
    refused, skipped = score(model, asked("", "abc"), asked("", "abc", first="skip"))
    assert refused.finish is Finish.MODEL_ERROR
    assert "first='skip'" in refused.reason
    assert skipped.logprobs == pytest.approx(expected([*map(ord, "abc")], 1))
    assert skipped.scored_bytes == 2


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (echo_server(honours=False), "ignores `echo`"),
        (echo_server(shift=1), "do not stand beside their tokens"),
    ],
)
def test_an_echo_that_is_ignored_or_one_place_off_is_refused(serve, script, words):
    _, model = serve(script, likelihood="echo")
    with pytest.raises(ModelError, match=words):
        score(model, asked("ab", "cd"))


def test_what_echo_cannot_do_is_told(serve):
    _, model = serve(echo_server(), likelihood="echo")
    for rules in ({"boundary": "apart"}, {"begin": "never"}, {"rolling": Rolling()}):
        [response] = score(model, asked("ab", "cd", **rules))
        assert response.finish is Finish.MODEL_ERROR
        assert "tokens are the server's" in response.reason


def test_servers_without_a_way_are_refused_before_anything_is_sent(serve):
    server, model = serve(lambda *_: error(404))
    assert not model.capabilities.score
    with pytest.raises(ModelError, match="likelihood=echo"):
        score(model, asked("ab", "cd"))
    assert server.posts == []
    _, off = serve(vllm, likelihood="no", **VLLM)
    assert not off.capabilities.score


def test_a_conversation_is_refused_where_its_text_is_not_shown(serve):
    _, model = serve(vllm, **VLLM)
    request = Request(item_id="1", prompt=(Message("user", "hi"),), continuation=" a")
    with pytest.raises(ModelError, match="conversation"):
        score(model, request)


def test_the_way_is_part_of_the_identity_only_where_it_was_chosen(serve):
    _, plain = serve(vllm, **VLLM)
    _, echo = serve(vllm, likelihood="echo", **VLLM)
    assert "likelihood" not in plain.identity.settings
    assert echo.identity.settings["likelihood"] == "echo"
    assert math.isfinite(score(plain, asked("a", "b"))[0].logprobs[0])
