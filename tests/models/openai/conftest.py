"""Fixtures of the tests of the API backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from probatum.core.records import Message, Request, Sampling
from probatum.models.openai import OpenAIModel, load
from tests.models.openai.fault_server import FaultServer, Script


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


Serve = Callable[..., tuple[FaultServer, OpenAIModel]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(script, **settings)`: a server that fails as told, and a model that asks it."""
    with ExitStack() as stack:

        def start(script: Script, **settings: object) -> tuple[FaultServer, OpenAIModel]:
            server = stack.enter_context(FaultServer(script))
            quick = {"backoff": 0.001, "backoff_limit": 0.01, "base_url": server.base_url}
            model = load("m", {**quick, **settings})
            stack.callback(model.close)
            return server, model

        yield start


@pytest.fixture
def ask() -> Callable[..., Request]:
    """`ask("Hi", max_tokens=3)`: a conversation of one turn."""

    def request(text: str, sample: int = 0, **sampling: object) -> Request:
        prompt = (Message("user", text),)
        return Request(item_id=text, sample=sample, prompt=prompt, sampling=Sampling(**sampling))

    return request
