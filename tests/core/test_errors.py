from __future__ import annotations

import inspect
import re

import pytest

from probatum.core import errors
from probatum.core.errors import ProbatumError


def drawn_tree() -> dict[str, str | None]:
    """Class → parent, as the module's docstring draws them."""
    found: dict[str, str | None] = {}
    path: list[str] = []
    for line in errors.__doc__.splitlines():
        match = re.match(r"^    (?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+)  ", line)
        if match:
            depth = len(match["branch"]) // 4
            path[depth:] = [match["name"]]
            found[match["name"]] = path[depth - 1] if depth else None
    return found


def classes() -> dict[str, type[BaseException]]:
    return {
        name: one
        for name, one in vars(errors).items()
        if inspect.isclass(one) and one.__module__ == errors.__name__
    }


def test_the_drawing_of_the_tree_is_the_tree():
    real = {
        name: None if one is ProbatumError else one.__mro__[1].__name__ for name, one in classes().items()
    }
    assert drawn_tree() == real
    assert ProbatumError.__mro__[1] is Exception


def test_every_error_is_exported():
    assert sorted(errors.__all__) == errors.__all__
    assert set(errors.__all__) == set(classes())


@pytest.mark.parametrize("name", sorted(errors.__all__))
def test_only_an_interruption_ends_with_130(name):
    assert getattr(errors, name).exit_status == (130 if name == "Interrupted" else 1)
