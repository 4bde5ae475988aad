"""The client against a server that fails as told. Work is counted; seconds are not."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest

from probatum.core.errors import ModelError
from probatum.core.records import Finish, Request, Response
from probatum.models.openai import load
from probatum.models.openai.asking import _same
from probatum.models.openai.exchange import Exchange
from tests.models.openai.fault_server import Asked, FaultServer, Reply, chat, chat_body, error

GOOD = json.dumps(chat_body("Yes")).encode()


def until_it_stops(
    answers: Iterator[Response], each: Callable[[list[Response]], None] = len
) -> tuple[list[Response], str]:
    """What came before the model turned out unusable, and the error."""
    kept: list[Response] = []
    try:
        for response in answers:
            kept.append(response)
            each(kept)
    except ModelError as problem:
        return kept, str(problem)
    return kept, "no error"


BREAKDOWNS = {
    "408": error(408),
    "409": error(409),
    "425": error(425),
    "429": error(429),
    "429 with seconds": error(429, headers={"Retry-After": "0.01"}),
    "429 with milliseconds": error(429, headers={"retry-after-ms": "5"}),
    "429 with a date gone by": error(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
    "429 with nonsense": error(429, headers={"Retry-After": "soon"}),
    "500": error(500),
    "502 as a web page": Reply(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}),
    "503": error(503),
    "504 without a body": Reply(504),
    "524": error(524),
    "529": error(529),
    "no response at all": Reply(raw=b""),
    "connection dropped in the head": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le"),
    "connection dropped in the body": Reply(body=GOOD, cut=20),
    "no HTTP": Reply(raw=b"SSH-2.0-OpenSSH_9.2\r\n"),
    "body cut but announced as whole": Reply(body=GOOD[:-30]),
    "empty body": Reply(body=b""),
    "web page with 200": Reply(
        body=b"<!DOCTYPE html><html>Log in</html>", headers={"Content-Type": "text/html"}
    ),
    "no JSON": Reply(body=b"OK"),
    "JSON of another form": Reply(body=[1, 2, 3]),
    "no choices": Reply(body={"choices": []}),
    "choices missing": Reply(body={"object": "chat.completion"}),
    "choices null": Reply(body={"choices": None}),
    "error in a body with 200": Reply(body={"error": {"message": "upstream", "code": 502}}),
    "error without a code": Reply(body={"error": "upstream"}),
    "broken gzip": Reply(body=b"\x1f\x8b nonsense", headers={"Content-Encoding": "gzip"}),
    "half a gzip": Reply(body=gzip.compress(GOOD)[:40], headers={"Content-Encoding": "gzip"}),
    "ended by the server": chat("Ye", "abort"),
    "invalid UTF-8": Reply(body=GOOD.replace(b"Yes", b"\xff\xfe")),
}


@pytest.mark.parametrize("reply", BREAKDOWNS.values(), ids=BREAKDOWNS)
def test_what_may_pass_is_tried_again(serve, ask, reply):
    server, model = serve(lambda number, _: reply if number == 0 else chat("Yes"))
    [response] = model.answer([ask("Hi")])
    assert (response.text, response.finish, response.attempts) == ("Yes", Finish.STOP, 2)
    assert len(server.posts) == 2
    assert server.posts[0].body == server.posts[1].body


@pytest.mark.parametrize("reply", BREAKDOWNS.values(), ids=BREAKDOWNS)
def test_what_does_not_pass_is_given_up_after_bounded_attempts(serve, ask, reply):
    """Others are answered meanwhile, so that it is not the server."""

    def script(number: int, asked: Asked) -> Reply:
        return reply if asked.prompt == "bad" else chat("Yes", delay=0.0)

    server, model = serve(script, attempts=4, concurrency=2)
    requests = [ask("bad"), *(ask(f"good {number}") for number in range(30))]
    responses = {response.request: response for response in model.answer(requests)}
    failed = responses[requests[0].key]
    assert failed.finish in {Finish.INFRA_ERROR, Finish.MODEL_ERROR}
    assert not failed.answered
    assert failed.text == ""
    assert failed.reason
    assert "\n" not in failed.reason
    assert failed.attempts == Counter(server.prompts)["bad"] in {3, 4}
    assert sum(response.text == "Yes" for response in responses.values()) == 30


PERMANENT = {
    "400": error(400),
    "400 without JSON": Reply(400, b"bad request"),
    "413": error(413, "Request entity too large"),
    "422": error(422),
    "500 that must not be retried": error(500, headers={"x-should-retry": "false"}),
    "403 of a firewall": Reply(403, b"<html>Blocked</html>", {"Content-Type": "text/html"}),
}


@pytest.mark.parametrize("reply", PERMANENT.values(), ids=PERMANENT)
def test_permanent_errors_are_not_tried_again(serve, ask, reply):
    server, model = serve(lambda _, asked: reply if asked.prompt == "bad" else chat("Yes"), concurrency=1)
    good, bad = model.answer([ask("good"), ask("bad")])
    assert good.text == "Yes"
    assert (bad.finish, bad.attempts) == (Finish.MODEL_ERROR, 1)
    assert bad.reason.startswith(f"HTTP {reply.status}")
    assert len(server.posts) == 2


HOPELESS = {
    "401": error(401, "Incorrect API key provided"),
    "402": error(402, "Insufficient Balance"),
    "403": error(403, "Forbidden"),
    "404 of the model": error(404, "The model `m` does not exist", code="model_not_found"),
    "404 of the route": error(404, "File Not Found"),
    "405": Reply(405, b""),
    "429 of an empty account": error(429, "You exceeded your current quota", code="insufficient_quota"),
    "400 of an unknown model": error(400, "Invalid model: m"),
    "301": Reply(301, b"", {"Location": "https://elsewhere.example/v1"}),
}


@pytest.mark.parametrize("reply", HOPELESS.values(), ids=HOPELESS)
def test_what_cannot_work_stops_the_run_at_once(serve, ask, reply):
    server, model = serve(lambda *_: reply, concurrency=2)
    with pytest.raises(ModelError, match=f"openai/m: HTTP {reply.status}"):
        list(model.answer(ask(f"{number}") for number in range(1000)))
    assert len(server.posts) <= 2


def test_what_was_answered_before_the_end_is_kept(serve, ask):
    server, model = serve(lambda number, _: chat("Yes") if number < 5 else error(401), concurrency=1)
    kept, problem = until_it_stops(model.answer(ask(f"{n}") for n in range(50)))
    assert "HTTP 401" in problem
    assert [response.text for response in kept] == ["Yes"] * 5
    assert len(server.posts) == 6


def test_what_is_with_the_server_when_the_run_stops_still_arrives(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        return error(401) if asked.prompt == "bad" else Reply(body=chat_body("late"), delay=0.2)

    _, model = serve(script, concurrency=2)
    kept, problem = until_it_stops(model.answer([ask("slow"), ask("bad")]))
    assert [response.text for response in kept] == ["late"]
    assert "HTTP 401" in problem


def test_nobody_there_is_told_before_any_sample_fails(ask):
    with FaultServer(lambda *_: chat("")) as server:
        gone = server.base_url
    model = load("m", {"base_url": gone})
    with pytest.raises(ModelError, match=f"no connection to {gone}.*is the server running"):
        list(model.answer([ask("Hi")]))
    with pytest.raises(ModelError, match="is the server running"):
        _ = model.identity
    model.close()


def test_server_that_is_gone_before_the_first_answer_is_told_at_once(ask):
    with FaultServer(lambda *_: chat("Yes")) as server:
        model = load("m", {"base_url": server.base_url, "backoff": 30, "backoff_limit": 60})
        _ = model.identity
        server.stop()
        with pytest.raises(ModelError, match="is the server running"):
            list(model.answer(ask(f"{number}") for number in range(100)))
        model.close()


def test_unknown_host_is_told(ask):
    model = load("m", {"base_url": "http://no-such-host.invalid/v1"})
    with pytest.raises(ModelError, match=r"no connection to http://no-such-host\.invalid/v1"):
        list(model.answer([ask("Hi")]))
    model.close()


def test_https_for_an_http_server_is_told(serve, ask):
    server, _ = serve(lambda *_: chat(""))
    model = load("m", {"base_url": server.base_url.replace("http", "https")})
    with pytest.raises(ModelError, match="no secure connection"):
        list(model.answer([ask("Hi")]))
    model.close()


def test_server_that_dies_and_stays_away_stops_the_run(ask):
    with FaultServer(lambda *_: chat("Yes")) as server:
        settings = {"base_url": server.base_url, "backoff": 0.001, "attempts": 3, "concurrency": 4}
        model = load("m", settings)
        answers = model.answer(ask(f"{number}") for number in range(10_000))
        kept, problem = until_it_stops(answers, lambda kept: server.stop() if len(kept) == 20 else None)
        model.close()
    assert re.search(r"has stopped answering after \d+ answers: no connection", problem)
    assert 20 <= len([response for response in kept if response.answered]) < 10_000
    assert len([response for response in kept if not response.answered]) <= 5


def test_server_that_dies_and_comes_back_costs_nothing(ask):
    with FaultServer(lambda *_: chat("Yes")) as server:
        settings = {"base_url": server.base_url, "backoff": 0.1, "attempts": 20, "concurrency": 4}
        model = load("m", settings)
        count = 0
        for response in model.answer(ask(f"{number}") for number in range(200)):
            assert response.text == "Yes"
            count += 1
            if count == 50:
                server.stop()
                threading.Timer(0.3, lambda: server._run(server._start())).start()
        model.close()
    assert count == 200


def test_server_that_only_fails_stops_the_run_after_a_few_requests(serve, ask):
    server, model = serve(lambda *_: error(500, "out of memory"), attempts=3, concurrency=4)
    kept, problem = until_it_stops(model.answer(ask(f"{number}") for number in range(10_000)))
    assert "has answered nothing: HTTP 500: out of memory" in problem
    assert len(kept) <= 8
    assert len(server.posts) <= 3 * 8


def test_first_requests_that_are_all_rejected_stop_the_run(serve, ask):
    server, model = serve(lambda *_: error(400, "no such field"), concurrency=2)
    with pytest.raises(ModelError, match=r"each of the first 20 requests was rejected.*no such field"):
        list(model.answer(ask(f"{number}") for number in range(10_000)))
    assert 20 <= len(server.posts) <= 22


def test_rejected_requests_among_answers_are_data(serve, ask):
    _, model = serve(lambda number, _: chat("Yes") if number == 0 else error(400, "bad"), concurrency=1)
    finishes = Counter(response.finish for response in model.answer(ask(f"{number}") for number in range(60)))
    assert finishes == {Finish.STOP: 1, Finish.MODEL_ERROR: 59}


def test_no_answer_in_time_is_a_timeout_after_bounded_attempts(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        return Reply(body=chat_body("late"), delay=30) if asked.prompt == "slow" else chat("Yes")

    server, model = serve(script, timeout=0.3, attempts=2, concurrency=2)
    responses = {each.request: each for each in model.answer([ask("slow"), *(ask(f"{n}") for n in range(9))])}
    slow = responses[ask("slow").key]
    assert (slow.finish, slow.text, slow.attempts) == (Finish.TIMEOUT, "", 2)
    assert Counter(server.prompts)["slow"] == 2
    assert len(responses) == 10


def test_total_deadline_ends_before_the_attempts_do(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        return error(500, headers={"Retry-After": "3"}) if asked.prompt == "bad" else chat("Yes")

    server, model = serve(script, deadline=2, attempts=50, concurrency=2)
    responses = {each.request: each for each in model.answer([ask("bad"), *(ask(f"{n}") for n in range(9))])}
    bad = responses[ask("bad").key]
    assert (bad.finish, bad.attempts) == (Finish.INFRA_ERROR, 1)
    assert Counter(server.prompts)["bad"] == 1


def test_longer_wait_than_the_deadline_stops_the_run(serve, ask):
    server, model = serve(lambda *_: error(429, headers={"Retry-After": "86400"}), deadline=60, concurrency=2)
    with pytest.raises(ModelError, match=r"asks to wait 86400 s.*run again later"):
        list(model.answer(ask(f"{number}") for number in range(100)))
    assert len(server.posts) <= 2


def test_pause_that_the_server_asks_for_holds_for_everybody(serve, ask):
    """While the server's pause lasts, nothing is sent; its limit is the server's clock, not ours."""
    until = [0.0]
    early = []

    def script(number: int, asked: Asked) -> Reply:
        if number == 3:
            until[0] = time.monotonic() + 0.5
            return error(429, headers={"Retry-After": "0.5"})
        if until[0] and number > 3 + 4 and time.monotonic() < until[0]:
            early.append(number)  # 4 may have been on their way
        return chat("Yes")

    server, model = serve(script, concurrency=4)
    responses = list(model.answer(ask(f"{number}") for number in range(40)))
    assert [response.text for response in responses] == ["Yes"] * 40
    assert early == []
    assert len(server.posts) == 41


def test_concurrency_adapts_to_a_server_that_takes_four(serve, ask):
    """A server that says 429 above four at once is asked about once for each answer in the end."""

    def script(_: int, asked: Asked) -> Reply:
        if server.inside > 4:
            return error(429)
        return Reply(body=chat_body("Yes"), delay=0.004)

    server, model = serve(script, concurrency=64, attempts=30)
    responses = list(model.answer(ask(f"{number}") for number in range(400)))
    assert [response.text for response in responses] == ["Yes"] * 400
    assert server.most_inside <= 64
    refused_late = len(server.posts[200:]) - 200
    assert len(server.posts) < 800, refused_late


def test_concurrency_is_bounded(serve, ask):
    server, model = serve(lambda *_: Reply(body=chat_body("Yes"), delay=0.01), concurrency=5)
    assert len(list(model.answer(ask(f"{number}") for number in range(60)))) == 60
    assert server.most_inside == 5
    assert server.opened <= 6


def test_two_calls_at_once_share_the_bound(serve, ask):
    server, model = serve(lambda *_: Reply(body=chat_body("Yes"), delay=0.01), concurrency=4)
    found = []

    def run(name: str) -> None:
        found.extend(model.answer(ask(f"{name} {number}") for number in range(30)))

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({response.request for response in found}) == 60
    assert server.most_inside == 4


def test_requests_are_pulled_only_as_there_is_room(serve, ask):
    pulled = 0

    def requests():
        nonlocal pulled
        for number in range(10_000):
            pulled += 1
            yield ask(f"{number}")

    _, model = serve(lambda *_: chat("Yes"), concurrency=4)
    answers = model.answer(requests())
    assert pulled == 0  # nothing happens before somebody listens
    for received, _ in enumerate(answers, start=1):
        assert pulled <= received + 4 + 2 + 16  # in flight, next to be sent, handed over at once
        if received == 300:
            break
    answers.close()


def test_each_request_is_answered_once_whatever_the_order(serve, ask):
    def script(number: int, asked: Asked) -> Reply:
        return Reply(body=chat_body(asked.prompt.upper()), delay=0.02 * (number % 3))

    _, model = serve(script, concurrency=8)
    requests = [ask(f"q{number}") for number in range(100)]
    answers = {response.request: response.text for response in model.answer(requests)}
    assert answers == {request.key: request.item_id.upper() for request in requests}


def test_no_requests_no_responses(serve):
    server, model = serve(lambda *_: chat("Yes"))
    assert list(model.answer([])) == []
    assert server.posts == []


def test_making_the_model_asks_nothing(serve):
    server, _ = serve(lambda *_: chat("Yes"))
    assert server.gets == server.posts == []


def test_dialogue_is_asked_in_rounds(serve, ask):
    _, model = serve(lambda _, asked: chat(asked.prompt + "!"), concurrency=4)
    todo = [ask("a")]
    turns = []

    def requests():
        while todo:
            yield todo.pop()

    while todo:
        for response in model.answer(requests()):
            turns.append(response.text)
            if len(turns) < 3:
                todo.append(ask(response.text))
    assert turns == ["a!", "a!!", "a!!!"]


def test_answers_do_not_wait_for_an_iterable_that_does(serve, ask):
    """The second request exists only after the first was answered, in one call."""
    answered = threading.Event()

    def requests():
        yield ask("a")
        assert answered.wait(30)
        yield ask("b")

    _, model = serve(lambda _, asked: chat(asked.prompt + "!"), concurrency=4)
    texts = []
    for response in model.answer(requests()):
        texts.append(response.text)
        answered.set()
    assert texts == ["a!", "b!"]


def test_iterable_that_never_returns_is_left_behind(serve, ask):
    never = threading.Event()

    def requests():
        yield ask("a")
        never.wait(60)

    _, model = serve(lambda *_: chat("Yes"))
    answers = model.answer(requests())
    assert next(answers).text == "Yes"
    answers.close()
    never.set()


def _settled(server: FaultServer) -> bool:
    until = time.monotonic() + 10
    while server.inside and time.monotonic() < until:
        time.sleep(0.01)
    return server.inside == 0


def test_closing_early_drops_what_is_in_flight(serve, ask):
    def script(number: int, _: Asked) -> Reply:
        return chat("Yes") if number == 0 else Reply(body=chat_body("late"), delay=60)

    server, model = serve(script, concurrency=4)
    answers = model.answer(ask(f"{number}") for number in range(100))
    assert next(answers).text == "Yes"
    answers.close()
    assert _settled(server)
    assert len(server.posts) <= 5


@pytest.mark.parametrize("problem", [RuntimeError("broken"), KeyboardInterrupt()])
def test_exception_of_the_iterable_comes_out_and_nothing_hangs(serve, ask, problem):
    def requests():
        for number in range(3):
            yield ask(f"{number}")
        raise problem

    server, model = serve(lambda *_: Reply(body=chat_body("late"), delay=60), concurrency=4)
    with pytest.raises(type(problem)):
        list(model.answer(requests()))
    assert _settled(server)


def test_model_goes_on_after_an_interrupted_call(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        return Reply(body=chat_body("Yes"), delay=60 if asked.prompt == "slow" else 0)

    _, model = serve(script, concurrency=2)
    answers = model.answer([ask("quick"), ask("slow"), ask("slow", sample=1), ask("slow", sample=2)])
    next(answers)
    answers.close()
    assert [response.text for response in model.answer([ask("again")])] == ["Yes"]


def test_closing_the_model_ends_who_waits(serve, ask):
    def script(*_: object) -> Reply:
        threading.Thread(target=model.close).start()
        return Reply(body=chat_body("late"), delay=60)

    _, model = serve(script)
    with pytest.raises(ModelError, match="closed while it was answering"):
        list(model.answer([ask("Hi")]))
    with pytest.raises(ModelError, match="was closed: load it again"):
        list(model.answer([ask("Hi")]))
    model.close()


def test_closing_ends_connections_and_thread(serve, ask):
    server, model = serve(lambda *_: chat("Yes"))
    list(model.answer([ask("Hi")]))
    assert server.connections == 1
    assert any("openai/m" in thread.name for thread in threading.enumerate())
    model.close()
    until = time.monotonic() + 10
    while server.connections and time.monotonic() < until:
        time.sleep(0.01)
    assert server.connections == 0
    assert not any("openai/m" in thread.name for thread in threading.enumerate())


def test_connections_are_used_again(serve, ask):
    server, model = serve(lambda *_: chat("Yes"), concurrency=3)
    list(model.answer(ask(f"{number}") for number in range(200)))
    assert server.opened <= 4


def test_adapts_to_a_server_that_wants_the_other_name_of_the_limit(serve, ask):
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."

    def script(_: int, asked: Asked) -> Reply:
        if "max_tokens" in asked.body:
            return error(400, message, code="unsupported_parameter", param="max_tokens")
        return chat("Yes")

    server, model = serve(script, concurrency=4)
    responses = list(model.answer(ask(f"{number}", max_tokens=9) for number in range(50)))
    assert [response.text for response in responses] == ["Yes"] * 50
    assert {response.attempts for response in responses} == {1}
    assert len(server.posts) <= 50 + 4
    assert server.posts[-1].body["max_completion_tokens"] == 9


def test_adapts_only_once(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        field = next(name for name in ("max_tokens", "max_completion_tokens") if name in asked.body)
        return error(400, f"Unrecognized field: '{field}'", param=field)

    server, model = serve(script, concurrency=1)
    [response] = model.answer([ask("Hi")])
    assert response.finish is Finish.MODEL_ERROR
    assert len(server.posts) == 2


def test_adapts_to_a_server_that_takes_four_stop_strings(serve, ask):
    stops = ("a1", "b2", "c3", "d4", "e5", "f6")

    def script(_: int, asked: Asked) -> Reply:
        if len(asked.body.get("stop", [])) > 4:
            return error(400, "Invalid 'stop': array too long. Expected maximum length 4", param="stop")
        return chat("one two f6 three e5")

    server, model = serve(script, concurrency=1)
    first, second = model.answer([ask("0", stop=stops), ask("1", stop=stops)])
    assert (first.text, first.stop, first.finish) == ("one two ", "f6", Finish.STOP)
    assert second.text == first.text
    assert [asked.body["stop"] for asked in server.posts] == [list(stops), list(stops[:4]), list(stops[:4])]


def test_adapts_to_a_server_that_takes_no_stop_string(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        if "stop" in asked.body:
            return error(400, "Unsupported parameter: 'stop' is not supported with this model.", param="stop")
        return chat("one\ntwo")

    server, model = serve(script, concurrency=1)
    [response] = model.answer([ask("0", stop=("\n",))])
    assert (response.text, response.stop) == ("one", "\n")
    assert len(server.posts) == 2


def test_decoding_setting_that_the_model_does_not_take_is_never_left_out_silently(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        if "temperature" in asked.body:
            message = "Unsupported value: 'temperature' does not support 0.0 with this model."
            return error(400, message, param="temperature", code="unsupported_value")
        return chat("Yes")

    server, model = serve(script)
    with pytest.raises(ModelError, match="-M omit=temperature"):
        list(model.answer([ask("Hi")]))
    told = load("m", {"base_url": server.base_url, "omit": "temperature"})
    assert [response.text for response in told.answer([ask("Hi")])] == ["Yes"]
    assert told.identity.settings["omit"] == ["temperature"]
    told.close()


def test_key_is_sent_and_never_shown(serve, ask, monkeypatch):
    key = "sk-verysecret-0123456789"

    def script(_: int, asked: Asked) -> Reply:
        return error(401, f"Incorrect API key provided: {asked.headers['authorization']} ({key})")

    server, model = serve(script, api_key=key)
    with pytest.raises(ModelError, match="HTTP 401") as caught:
        list(model.answer([ask("Hi")]))
    assert server.posts[0].headers["authorization"] == f"Bearer {key}"
    shown = [str(caught.value), repr(model), repr(model.identity), repr(model.settings), repr(vars(model))]
    assert not [text for text in shown if "verysecret" in text]


def test_key_quoted_in_a_failed_response_is_redacted(serve, ask):
    _, model = serve(
        lambda number, _: chat("") if number == 0 else error(400, "bad key sk-verysecret"),
        api_key="sk-verysecret",
        concurrency=1,
    )
    _, failed = model.answer([ask("0"), ask("1")])
    assert failed.reason == "HTTP 400: bad key ***"


def test_lone_surrogates_survive_both_ways(serve, ask):
    server, model = serve(lambda *_: Reply(body=b'{"choices": [{"message": {"content": "x\\ud83dy"}}]}'))
    [response] = model.answer([ask("a\udc00b")])
    assert server.posts[0].prompt == "a\udc00b"
    assert response.text == "x\ud83dy"


def test_large_prompt_is_sent_whole(serve, ask):
    text = "word " * 300_000
    server, model = serve(lambda *_: chat("Yes"))
    [response] = model.answer([ask(text)])
    assert response.text == "Yes"
    assert server.posts[0].prompt == text


def test_compressed_body_is_read(serve, ask):
    body = gzip.compress(json.dumps(chat_body("Ünï")).encode())
    _, model = serve(lambda *_: Reply(body=body, headers={"Content-Encoding": "gzip"}))
    assert [response.text for response in model.answer([ask("Hi")])] == ["Ünï"]


def test_endless_body_is_no_answer(serve, ask):
    announced = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{"
    _, model = serve(
        lambda _, asked: Reply(raw=announced) if asked.prompt == "bad" else chat("Yes"), concurrency=2
    )
    responses = {each.request: each for each in model.answer([ask("bad"), ask("good")])}
    bad = responses[ask("bad").key]
    assert (bad.finish, bad.attempts) == (Finish.MODEL_ERROR, 1)
    assert "longer than" in bad.reason


def test_name_and_fingerprint_under_which_the_server_answered_are_kept(serve, ask, caplog):
    def script(number: int, _: Asked) -> Reply:
        names = ["m", "m-2026-01-01", "other"]
        return Reply(body={**chat_body("Yes"), "model": names[number], "system_fingerprint": "fp_1"})

    _, model = serve(script, concurrency=1)
    found = [response.model for response in model.answer(ask(f"{number}") for number in range(3))]
    assert found == ["m@fp_1", "m-2026-01-01@fp_1", "other@fp_1 (asked for m)"]
    assert [record.getMessage() for record in caplog.records] == ["openai/m: the server answers as 'other'"]


@pytest.mark.parametrize(
    ("asked", "told", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4", "gpt-4o", False),
        ("gpt-4", "gpt-4-turbo-2024-04-09", False),
        ("openai/gpt-4o", "gpt-4o", True),
        ("llama3", "llama3:latest", True),
        ("m:free", "org/m", True),
        ("Qwen/Qwen3-8B", "qwen/qwen3-8b", True),
        ("mistral-large-latest", "mistral-large-2411", False),
        ("x", "gemma-3-270m", False),
        ("a.b", "axb", False),
    ],
)
def test_names_of_one_model(asked, told, same):
    assert _same(asked, told) is same


def test_text_goes_to_completions_and_conversation_to_chat(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        if asked.path == "/v1/completions":
            return Reply(body={"choices": [{"index": 0, "text": " Paris", "finish_reason": "stop"}]})
        return chat("Paris.")

    server, model = serve(script, concurrency=1)
    text = Request(item_id="t", prompt="The capital of France is")
    assert [response.text for response in model.answer([text, ask("Capital?")])] == [" Paris", "Paris."]
    assert [asked.path for asked in server.posts] == ["/v1/completions", "/v1/chat/completions"]
    assert server.posts[0].body["echo"] is False


@pytest.mark.parametrize(
    ("api", "prompt", "continuation"),
    [("chat", "text", None), ("completions", "conversation", None), ("auto", "text", " more")],
)
def test_what_the_server_cannot_be_asked_stops_the_run_before_it_is_sent(
    serve, ask, api, prompt, continuation
):
    server, model = serve(lambda *_: chat("Yes"), api=api)
    asked = ask("Hi")
    request = Request(
        item_id="t", prompt="Hi" if prompt == "text" else asked.prompt, continuation=continuation
    )
    with pytest.raises(ModelError, match=r"cannot (be sent|score)"):
        list(model.answer([request]))
    assert server.posts == []


def test_server_that_says_wait_no_time_is_not_asked_in_a_hot_loop(serve, ask):
    """`Retry-After: 0` is no reason to use up all attempts within a millisecond."""
    refused_until = []

    def script(number: int, _: Asked) -> Reply:
        if not refused_until:
            refused_until.append(time.monotonic() + 0.3)
        return (
            error(429, headers={"Retry-After": "0"}) if time.monotonic() < refused_until[0] else chat("Yes")
        )

    server, model = serve(script, backoff=0.05, backoff_limit=0.5, attempts=100)
    [response] = model.answer([ask("Hi")])
    assert response.text == "Yes"
    assert len(server.posts) < 50


def test_hard_items_that_run_into_the_timeout_do_not_stop_the_run(serve, ask):
    def script(_: int, asked: Asked) -> Reply:
        return Reply(body=chat_body("late"), delay=30) if asked.prompt.startswith("hard") else chat("Yes")

    _, model = serve(script, timeout=1.5, attempts=1, concurrency=8)
    finishes = Counter(
        response.finish
        for requests in ([ask("easy")], [ask(f"hard {number}") for number in range(8)], [ask("last")])
        for response in model.answer(requests)
    )
    assert finishes == {Finish.STOP: 2, Finish.TIMEOUT: 8}


def test_server_that_hangs_for_good_stops_the_run(serve, ask):
    def script(number: int, _: Asked) -> Reply:
        return chat("Yes") if number == 0 else Reply(body=chat_body("late"), delay=30)

    server, model = serve(script, timeout=1.5, attempts=1, concurrency=16)
    assert [response.text for response in model.answer([ask("first")])] == ["Yes"]
    kept, problem = until_it_stops(model.answer(ask(f"{number}") for number in range(1000)))
    assert "has stopped answering after 1 answers: no answer within the timeout" in problem
    assert len(server.posts) < 60
    assert {response.finish for response in kept} == {Finish.TIMEOUT}


def test_failures_in_a_row_do_not_stop_the_run_while_others_are_answered(serve, ask):
    """All the bad ones give up together, after the good one was answered: it was about them."""

    def script(_: int, asked: Asked) -> Reply:
        return chat("Yes") if asked.prompt == "good" else error(500, "cannot parse this")

    _, model = serve(script, attempts=3, backoff=0.2, backoff_limit=0.2, concurrency=16)
    requests = [*(ask(f"bad {number}") for number in range(12)), ask("good")]
    finishes = Counter(response.finish for response in model.answer(requests))
    assert finishes == {Finish.STOP: 1, Finish.INFRA_ERROR: 12}


def test_request_that_comes_while_a_worker_lies_down_is_not_forgotten(ask):
    """The feeding thread saw nobody at rest, and the worker saw nothing to do."""

    class Asker:
        sending: ClassVar[set[object]] = set()

        async def ask(self, request: Request) -> Response:
            return Response(request=request.key)

    class Bed(deque):
        def append(self, turn: object) -> None:
            if late:
                exchange._waiting.append(late.pop())
            super().append(turn)

    late = [ask("late")]

    async def run() -> list[Response]:
        exchange._loop = asyncio.get_running_loop()
        exchange.put(ask("first"))
        await asyncio.sleep(0.1)
        exchange.close(None)
        await exchange._closing
        found = []
        while not exchange.arrived.empty():
            found.extend(exchange.arrived.get())
        return found

    exchange = Exchange(None, Asker(), 1)
    exchange._idle = Bed()
    assert [response.request for response in asyncio.run(run())] == [ask("first").key, ask("late").key]
