"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import probatum.extraction

MODULES = [
    *(f"probatum.extraction.{each.name}" for each in pkgutil.iter_modules(probatum.extraction.__path__)),
    "probatum.scoring.exact",
    "probatum.scoring.number",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    found = [doctest.testmod(importlib.import_module(name)).attempted for name in MODULES]
    assert sum(found) >= 10
