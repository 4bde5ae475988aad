"""The server that other tests are held against is real and stops."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

import pytest

from tests.models.servers import LlamaServer, needs_local_model, running_llama_server

pytestmark = [pytest.mark.local_model, needs_local_model]


def complete(server: LlamaServer, key: str | None = None) -> dict[str, object]:
    request = urllib.request.Request(
        f"{server.base_url}/completions",
        json.dumps({"prompt": "The capital of France is", "max_tokens": 4, "temperature": 0}).encode(),
        {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {}),
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def test_the_server_completes_a_text(llama_server: LlamaServer):
    answer = complete(llama_server)
    assert answer["usage"]["completion_tokens"] == 4
    assert answer["choices"][0]["finish_reason"] == "length"


def test_the_server_demands_its_key_and_ends_with_the_block():
    with running_llama_server(slots=1, context_tokens=256, api_key="sesame") as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            complete(server)
        refused.value.close()
        assert refused.value.code == 401
        assert complete(server, key="sesame")["usage"]["completion_tokens"] == 4
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)
