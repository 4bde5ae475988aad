"""No test of data sets depends on the environment of who runs it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.datasets.hubserver import Hub, serving


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROBATUM_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def hub() -> Iterator[Hub]:
    """An empty hub on loopback."""
    with serving(Hub()) as running:
        yield running
