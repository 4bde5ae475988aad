"""Faults of other clients, from public reports: area `api-client` of the collection of cases.

Where they lie: `../cases` beside the data directory. `op` names the operation; an adapter maps it here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from multidict import CIMultiDict

from probatum.core.records import Finish
from probatum.models.openai.answers import read_answer
from probatum.models.openai.failures import read_failure
from probatum.models.openai.verdicts import Answer, Rejected, Transient, Unusable
from tests.models.openai.fault_server import Asked, Reply, chat_body, error

DATA = Path(os.environ.get("PROBATUM_DATA") or Path(__file__).parents[4] / "shared" / "data")
FILE = DATA.parent / "cases" / "cases-open.jsonl"


def cases() -> list[Any]:
    if not FILE.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="the collection of cases is not here"))]
    found = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return [pytest.param(case, id=case["id"]) for case in found if case["area"] == "api-client"]


def verdict_of(given: dict[str, Any]) -> Any:
    raw = given["raw"].encode() if "raw" in given else json.dumps(given.get("body", {})).encode()
    if given["status"] == 200:
        return read_answer(raw, None, (), 100)
    return read_failure(given["status"], CIMultiDict(given.get("headers", {})), raw, None)


def handle_response(given: dict[str, Any], expected: Any) -> None:
    verdict = verdict_of(given)
    if "prompts" in given:  # we send one prompt a request: of several choices, index 0 is its answer
        assert verdict.text == expected[0]
        return
    if "retry" in expected:
        assert isinstance(verdict, Transient) is expected["retry"]
    if "wait_at_least_s" in expected:
        assert verdict.wait >= expected["wait_at_least_s"]
    if expected.get("outcome") == "refused":
        assert isinstance(verdict, Answer)
        assert verdict.finish is Finish.REFUSAL
        assert verdict.text == expected["text"]
        assert verdict.reason == expected.get("refusal", verdict.reason)
    elif "outcome" in expected:
        assert isinstance(verdict, Transient)


def classify(given: dict[str, Any], expected: Any) -> None:
    verdicts = [verdict_of({"status": status}) for status in given["status"]]
    assert ["transient" if isinstance(each, Transient) else "permanent" for each in verdicts] == expected


def classify_message(given: dict[str, Any], expected: Any) -> None:
    verdicts = [
        verdict_of({"status": 429, "body": {"error": {"message": text}}}) for text in given["messages"]
    ]
    kinds = {Transient: "transient", Unusable: "permanent", Rejected: "permanent"}
    assert [kinds[type(each)] for each in verdicts] == expected


def filter_input(given: dict[str, Any], expected: Any) -> None:
    bodies = [chat_body(text) for text in given["outputs"]]
    assert [verdict_of({"status": 200, "body": body}).text for body in bodies] == expected


def gather(given: dict[str, Any], expected: Any, serve: Any, ask: Any) -> None:
    delays = dict(zip(given["prompts"], given["delays"], strict=True))

    def script(_: int, asked: Asked) -> Reply:
        return Reply(body=chat_body(asked.prompt.replace("p", "r")), delay=delays[asked.prompt])

    _, model = serve(script)
    requests = [ask(prompt) for prompt in given["prompts"]]
    answers = {response.request: response.text for response in model.answer(requests)}
    assert [answers[request.key] for request in requests] == expected


def score_after_failure(given: dict[str, Any], _: Any, serve: Any, ask: Any) -> None:
    """Not answered, and not the model's fault: the runner counts it in neither rate."""

    def script(_: int, asked: Asked) -> Reply:
        return error(given["status"]) if asked.prompt == "bad" else Reply(body=chat_body("Yes"))

    _, model = serve(script, attempts=2, concurrency=2)
    requests = [ask("bad"), *(ask(f"{number}") for number in range(20))]
    failed = {response.request: response for response in model.answer(requests)}[requests[0].key]
    assert (failed.finish, failed.answered, failed.text) == (Finish.INFRA_ERROR, False, "")


def payload(_: dict[str, Any], __: Any, serve: Any, ask: Any) -> None:
    server, model = serve(lambda *_: Reply(body=chat_body("Yes")))
    list(model.answer([ask("Hi")]))
    assert server.posts[0].body["temperature"] == 0


PURE: dict[str, Callable[..., None]] = {
    "handle_response": handle_response,
    "classify": classify,
    "classify_message": classify_message,
    "filter_input": filter_input,
}
ASKED: dict[str, Callable[..., None]] = {
    "gather": gather,
    "score_after_failure": score_after_failure,
    "payload": payload,
}


@pytest.mark.parametrize("case", cases())
def test_reported_case(case, serve, ask):
    given, expected = case["input"], case["expected"]["value"]
    if given["op"] in PURE:
        PURE[given["op"]](given, expected)
    else:
        ASKED[given["op"]](given, expected, serve, ask)
