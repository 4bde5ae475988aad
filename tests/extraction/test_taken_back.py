"""Answers that the text takes back, and explanations of an answer that only look like it."""

from __future__ import annotations

import pytest

from probatum.extraction import extract_number, extract_option, extract_options


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Answer: B. No wait, I misread. Answer: C", "C"),
        ("答案：A\n\n不对，重新计算后，答案：C", "C"),
        ("Answer: A. Wait, B is correct.", "B"),
        ("Answer: A. Actually B, not A.", "B"),
        ("Answer: A. Sorry, I mean **D**", "D"),
        ("答案：A。不对，应该是B。", "B"),
        ("The answer is A. Wait, no: B because of x.", "B"),
        ("Student says 'the answer is A'. That is wrong. The answer is B.", "B"),
        ("The answer: A... no, B.", "B"),
        ("Answer: A, no B is involved.", "A"),
        # what is said about other options takes nothing back
        ("Answer: A\nB contains an error. C is wrong.", "A"),
        ("Answer: A\nOption B is a mistake. D is not right.", "A"),
        ("Answer: A. Actually, B is tempting but wrong.", "A"),
        ("Answer: A\nActually, D would lead to an overdose.", "A"),
        ("Answer: A\nExplanation: C is a mistake. D, too.", "A"),
        ("Answer: A\nWait, check: the answer is B only if x > 0.", "A"),
        ("答案：C\n解析：A选项不对，B也不对。", "C"),
        ("Answer: B\nWait, is that right? Yes. The answer is B.", "B"),
    ],
)
def test_the_option_that_is_left_standing(text: str, right: str) -> None:
    found = extract_option(text, "ABCD")
    assert found is not None
    assert found.answer == right
    assert text[slice(*found.span)] == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The statement is not true.", None),
        ("It does not hold: false.", "B"),
        ("This cannot be false.", None),
        ("So it is true.", "A"),
    ],
)
def test_an_option_that_is_denied_by_its_text_is_not_chosen(text: str, right: str | None) -> None:
    found = extract_option(text, {"A": "true", "B": "false"})
    assert (found.answer if found else None) == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Answer: 5. No wait, I misread. Answer: 6", "6"),
        ("答案：5\n\n不对，重新计算后，答案：6", "6"),
        ("Answer: 5\nThe mistake people make: they say the answer is 6.", "5"),
        ("So the result is 12.\n```python\nprint(3 + 9)\n```", "12"),
        ("```python\nprint(12)\n```", "12"),
        ("The output:\n```\n42\n```", "42"),
        ("The probability is 0.25 (25%)", "0.25"),
        ("It rose by 3 (25%)", "25"),
        ("Step 3: 5 apples", "5"),
        ("答案：零下5度", "-5"),
        ("答案：5千", "5000"),
        ("答案：3百万元", "3000000"),
        ("答案：2.5千亿", "250000000000"),
        ("答案：5千克", "5"),
        ("答案：12千米/时", "12"),
        ("答案：3百分点", "3"),
    ],
)
def test_the_number_that_is_meant(text: str, right: str) -> None:
    found = extract_number(text)
    assert found is not None
    assert found.answer == right


@pytest.mark.parametrize("text", ["Answer: 3 : 5", "Answer: 3:5"])
def test_a_ratio_is_no_number(text: str) -> None:
    assert extract_number(text) is None


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A and C are correct.", "A,C"),
        ("(A), (B) and (D) are all correct; C is wrong.", "A,B,D"),
        ("A、C都正确", "A,C"),
        ("A and C are wrong, B and D are right.", "B,D"),
        ("A and C are close calls.", None),
    ],
)
def test_options_that_are_called_right_together(text: str, right: str | None) -> None:
    found = extract_options(text, "ABCD")
    assert (found.answer if found else None) == right
