"""Tiny models, each made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from probatum.models.threads import sleeping_threads

with sleeping_threads():
    pytest.importorskip("torch", reason="needs the extra: pip install 'probatum[hf]'")
pytest.importorskip("transformers", reason="needs the extra: pip install 'probatum[hf]'")

from probatum.testing import tiny_model


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Arguments of `tiny_model` → its directory."""

    @cache
    def make(**options: object) -> Path:
        name = "-".join(str(value)[:8] for value in options.values()) or "tiny"
        return tiny_model(tmp_path_factory.mktemp(name.replace("/", "")), **options)

    return make
