from __future__ import annotations

import pytest

from probatum.store import open_store


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path}/store.db") as opened:
        yield opened
