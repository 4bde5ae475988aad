from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.store import Store, open_store
from tests.fakes import write_sums


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A real store in a file."""
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with 100 additions."""
    return write_sums(tmp_path / "data", 100)


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    """However a run ends, the threads beside it come to an end with it."""
    before = set(threading.enumerate())
    yield
    assert [thread.name for thread in threading.enumerate() if thread not in before] == []
