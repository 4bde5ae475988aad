import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.prompting import joining
from probatum.prompting.joining import join_answer, move_blanks


@pytest.mark.parametrize(
    ("prompt", "answer", "joined"),
    [
        ("Answer:", "Paris", "Answer: Paris"),
        ("Answer: ", "Paris", "Answer: Paris"),
        ("Answer:", " Paris", "Answer: Paris"),
        ("<|assistant|>\n", "B", "<|assistant|>\nB"),
        ("答案：", "A", "答案：A"),
        ("Answer: (", "A", "Answer: (A"),
        ("", "A", "A"),
        ("Answer:", "", "Answer:"),
    ],
)
def test_there_is_one_blank_or_none(prompt, answer, joined):
    assert join_answer(prompt, answer) == joined


def test_a_delimiter_that_is_no_blank_always_stands():
    assert join_answer("答案", "A", "：") == "答案：A"


@given(st.text(alphabet="ab: \t\n", max_size=8), st.text(alphabet="ab \n", max_size=8))
def test_moving_blanks_changes_no_text(prompt, continuation):
    left, right = move_blanks(prompt, continuation)
    assert left + right == prompt + continuation
    assert not left.endswith((" ", "\t"))


def test_examples_are_true():
    assert doctest.testmod(joining).failed == 0
