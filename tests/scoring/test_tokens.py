"""SQuAD's scores: official values, and what holds for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.scoring import squad_exact, token_f1


@pytest.mark.parametrize(
    ("prediction", "targets", "tokens", "expected"),
    [
        ("The cat sat", ["a cat sat down"], "words", 0.8),
        ("x y", ["y z", "x y z"], "words", 0.8),
        ("", [""], "words", 1.0),
        ("", ["Paris"], "words", 0.0),
        ("the", ["Paris"], "words", 0.0),
        ("a a b", ["a b b"], "words", 2 * 1 / 3),
        ("北京大学", ["北京 大学"], "words", 0.0),
        ("北京大学", ["北京 大学"], "characters", 1.0),
        ("北京。", ["北京"], "words", 0.0),
    ],
)
def test_f1_is_that_of_the_official_script(prediction, targets, tokens, expected):
    assert token_f1(prediction, targets, tokens) == pytest.approx(expected, abs=1e-12)


def test_no_answer_equals_no_answer():
    assert squad_exact("", [""])
    assert not squad_exact("Paris", [""])


def test_nothing_to_compare_with_is_an_error():
    with pytest.raises(ValueError, match="no target"):
        token_f1("x", [])
    with pytest.raises(ValueError, match="no target"):
        squad_exact("x", [])
    with pytest.raises(ValueError, match="'letters'"):
        token_f1("x", ["x"], "letters")


@given(st.text(max_size=40), st.text(max_size=40))
def test_an_exact_match_has_f1_one_and_f1_is_symmetric(a, b):
    assert 0 <= token_f1(a, [b]) <= 1
    assert token_f1(a, [b]) == token_f1(b, [a])
    if squad_exact(a, [b]):
        assert token_f1(a, [b]) == 1
