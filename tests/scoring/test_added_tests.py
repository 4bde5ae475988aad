import doctest

import pytest

from probatum.scoring import added_tests as module
from probatum.scoring.added_tests import added_tests


@pytest.mark.parametrize(
    ("base", "extended", "added", "lints"),
    [
        ([[1], [2]], [[1], [2]], 0, 1),
        ([[1], [2]], [], 0, 1),
        ([[1], [2]], [[3]], 1, 0),
        ([[1], [2]], [[1], [2], [2, 0]], 1, 0),
        ([[1]], [["1"]], 1, 0),
        ([[1]], [[3], [3]], 1, 0),
    ],
)
def test_an_extension_adds_tests_or_is_noted(base, extended, added, lints):
    found = added_tests(base, extended)
    assert (found.added, len(found.lint)) == (added, lints)


def test_a_base_that_is_not_repeated_is_noted_where_it_should_be():
    assert added_tests([[1], [2]], [[1], [3]], whole=True).lost == 1
    assert "not in the extension" in added_tests([[1], [2]], [[1], [3]], whole=True).lint[0]


def test_examples_are_true():
    assert doctest.testmod(module).failed == 0
