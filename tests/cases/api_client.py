"""The client of OpenAI-compatible servers: its readers, and real requests to a server on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from multidict import CIMultiDict

from probatum.core.protocol import Policy
from probatum.core.records import Finish, Item, Message, Request, Response, Sampling
from probatum.models.openai import load
from probatum.models.openai.answers import read_answer
from probatum.models.openai.failures import read_failure
from probatum.models.openai.verdicts import Adapt, Answer, Transient, Verdict
from probatum.scoring import NumberMatch
from tests.cases.frame import Given, NotMappedError, Said, agree, operation
from tests.models.openai.fault_server import Asked, FaultServer, Reply, chat_body, error


def verdict_of(given: Given) -> Verdict:
    raw = given["raw"].encode() if "raw" in given else json.dumps(given.get("body", {})).encode()
    if 200 <= given["status"] < 300:
        return read_answer(raw, None, (), 100)
    return read_failure(given["status"], CIMultiDict(given.get("headers", {})), raw, None)


OUTCOMES = {
    Finish.STOP: ("ok", "answer", "answered", "success"),
    Finish.LENGTH: ("truncated", "length"),
    Finish.REFUSAL: ("refused", "refusal"),
    Finish.FILTERED: ("filtered", "content_filter", "blocked"),
    Finish.CONTEXT_OVERFLOW: ("context_overflow", "too_long", "context_length_exceeded"),
}
"""First words of an outcome that is the model's."""
FAILURES = ("api_error", "transport_error", "error", "timeout", "rate_limit", "overloaded", "harness_error")
"""First words of an outcome that is none of the model's."""


def same_response(ours: dict[str, Any], expected: Any) -> bool:
    """Text, refusal, outcome, whether to ask again and how long to wait for it, as far as they are named."""
    if isinstance(expected, list):  # one prompt a request is sent: index 0 of several choices is its answer
        return bool(ours["text"] == expected[0])
    for key, value in expected.items():
        if key == "wait_at_least_s":
            held = (ours["wait"] or 0.0) >= value
        elif key == "outcome":
            held = str(value).partition(":")[0] in ours["outcome"]
        elif key in ours:
            held = agree(ours[key], value)
        else:
            raise NotMappedError(f"the right value names {key!r}")
        if not held:
            return False
    return True


@operation("handle_response", unused=("prompts",), agrees=same_response)
def handle_response(given: Given) -> dict[str, Any]:
    verdict = verdict_of(given)
    if isinstance(verdict, Answer):
        refusal = verdict.reason if verdict.finish is Finish.REFUSAL else None
        outcome = OUTCOMES.get(verdict.finish, ())
        if verdict.finish is Finish.STOP and not verdict.text.strip():
            outcome = ("empty", "no_answer", *outcome)
        return {"text": verdict.text, "outcome": outcome, "retry": False, "wait": None, "refusal": refusal}
    again = isinstance(verdict, Transient)
    wait = verdict.wait if isinstance(verdict, Transient) else None
    finish = getattr(verdict, "finish", None)
    outcome = OUTCOMES.get(finish, FAILURES) if isinstance(finish, Finish) else FAILURES
    return {"text": "", "outcome": outcome, "retry": again, "wait": wait, "reason": verdict.reason}


@operation("filter_input")
def filter_input(given: Given) -> list[str]:
    bodies = [json.dumps(chat_body(text)).encode() for text in given["outputs"]]
    read = [read_answer(body, None, (), 100) for body in bodies]
    return [verdict.text if isinstance(verdict, Answer) else repr(verdict) for verdict in read]


def kind(verdict: Verdict) -> str:
    if isinstance(verdict, Transient | Adapt):
        return "transient"
    return "answer" if isinstance(verdict, Answer) else "permanent"


@operation("classify")
def classify(given: Given) -> list[str]:
    return [kind(verdict_of(Given({"status": status}))) for status in given["status"]]


STATUSES = (
    ("rate.?limit|too many requests|quota|retry", 429),
    ("api key|unauthorized|authenticat", 401),
    ("overloaded|unavailable|capacity", 503),
    ("internal|server error", 500),
)
"""What a message says, and the status that servers send with it; 400 is with all others."""


@operation("classify_message")
def classify_message(given: Given) -> list[str]:
    """A message with the status that stands before it, or that servers send with such a message."""

    def verdict(text: str) -> Verdict:
        status = next((each for told, each in STATUSES if re.search(told, text, re.IGNORECASE)), 400)
        shown = re.match(r"\s*(?:HTTP |Error code: )?([45]\d\d)\b", text)
        body = {"error": {"message": text}}
        return verdict_of(Given({"status": int(shown[1]) if shown else status, "body": body}))

    return [kind(verdict(text)) for text in given["messages"]]


def ask(
    server: FaultServer, prompts: Sequence[str], sampling: Sampling | None = None, **settings: Any
) -> list[Response]:
    """The client's answers, in the order of the prompts."""
    model = load("m", {"base_url": server.base_url, "backoff": 0.001, "backoff_limit": 0.01, **settings})
    try:
        requests = [
            Request(item_id=p, prompt=(Message("user", p),), sampling=sampling or Sampling()) for p in prompts
        ]
        found = {response.request: response for response in model.answer(requests)}
    finally:
        model.close()
    return [found[request.key] for request in requests]


@operation("gather")
def gather(given: Given) -> list[str]:
    delays = dict(zip(given["prompts"], given["delays"], strict=True))

    def script(_: int, asked: Asked) -> Reply:
        return Reply(body=chat_body(asked.prompt.replace("p", "r")), delay=delays[asked.prompt])

    with FaultServer(script) as server:
        return [response.text for response in ask(server, given["prompts"])]


@operation("score_after_failure")
def score_after_failure(given: Given) -> Said:
    """One request fails for good; the others are answered, so that the server counts as alive."""

    def script(_: int, asked: Asked) -> Reply:
        return error(given["status"]) if asked.prompt == "bad" else Reply(body=chat_body("Yes"))

    with FaultServer(script) as server:
        failed = ask(server, ["bad", *map(str, range(20))], attempts=2, concurrency=2)[0]
    outcome = NumberMatch().grade(Item(id="case", fields={}, targets=("1",)), 0, [failed])
    in_no_rate = outcome.status not in Policy().counted
    return Said("null" if not outcome.scores and in_no_rate else f"{outcome.status}: {dict(outcome.scores)}")


def sends(ours: dict[str, Any], expected: Any) -> bool:
    """Every `name=value` of the right value stands in what was sent."""
    named = re.findall(r"(\w+)=([\d.]+)", str(expected))
    return bool(named) and all(name in ours and float(ours[name]) == float(value) for name, value in named)


@operation("payload", agrees=sends)
def payload(given: Given) -> dict[str, Any]:
    decoding = given["task_decoding"]
    if decoding == "greedy":
        decoding = {}
    if not isinstance(decoding, dict) or not decoding.keys() <= {each.name for each in fields(Sampling)}:
        raise NotMappedError(f"decoding {decoding!r}")
    with FaultServer(lambda *_: Reply(body=chat_body("Yes"))) as server:
        ask(server, ["Hi"], sampling=Sampling(**decoding))
        sent: dict[str, Any] = server.posts[0].body
    return sent
