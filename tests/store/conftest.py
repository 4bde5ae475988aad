from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.store import open_store
from probatum.store.sql import SQLStore
from tests.store.postgres import empty_schema, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a PostgreSQL server."""
    with running_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a database that is empty yet, of either kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    with empty_schema(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def store(url: str) -> Iterator[SQLStore]:
    """An empty store of either kind."""
    with open_store(url) as opened:
        yield opened
