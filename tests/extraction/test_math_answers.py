"""Where the mathematical answer of a text stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.extraction import Ambiguous, Extraction, Missing, extract_math
from probatum.extraction.mathematics import find_math


@pytest.mark.parametrize(
    ("text", "answer", "rule"),
    [
        (r"So $x = \boxed{\frac{1}{2}}$.", r"\frac{1}{2}", "box"),
        (r"First \boxed{3}. Then we correct it.\n\n\boxed{4}", "4", "box"),
        (r"\boxed{1} and \boxed{2}", "1, 2", "box:several"),
        (r"$\boxed{1},\boxed{2}$ or $\boxed{3}$", "1, 2, 3", "box:several"),
        (r"\boxed{1} papers and \boxed{2} bins", "1, 2", "box:several"),
        (r"we get \boxed{255}. So the total is 455. The final answer is $455$.", "$455$", "phrase:answer"),
        ("**Answer:** 35 cm", "35 cm", "declared:line"),
        ("Final Answer: The largest $n$ is 34.", "34", "declared:line"),
        (r"The answer is $x = 3$, since $y = 2$.", "$x = 3$", "phrase:answer"),
        ("答案：$x<3$", "$x<3$", "declared:line"),
        ("答：小明有12元钱。", "12", "declared:line"),
        ("owns all four is **73**.\n\n---\n\n✅ Final Answer: **73**", "73", "phrase:answer"),
        ("最终答案是 12 元。", "12 元", "phrase:answer"),
        (r"\frac{1}{2}", r"\frac{1}{2}", "whole:math"),
        ("512 and 729", "512 and 729", "whole:math"),
        (r"Therefore $x \geq 5$ is the solution.", r"$x \geq 5$", "loose:last_formula"),
        ("the number is not 10 which is 1,000.99€", "1,000.99€", "loose:last_number"),
        ("<think>it is 7</think>It is 8.\n\\boxed{8}", "8", "box"),
    ],
)
def test_the_answer_is_found_with_its_rule(text: str, answer: str, rule: str) -> None:
    found = find_math(text)
    assert isinstance(found, Extraction), found
    assert (found.answer.strip("$"), found.rule) == (answer.strip("$"), rule)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (r"\boxed{1} no no no no no no \boxed{2}", Ambiguous),
        (r"\boxed{\frac{1}{2}", Missing),
        ("<think>it is 7", Missing),
        ("", Missing),
        ("I do not know what to say about this one, since nothing is given at all.", Missing),
    ],
)
def test_a_text_without_one_answer_has_none(text: str, kind: type) -> None:
    assert isinstance(find_math(text), kind)
    assert extract_math(text) is None


def test_without_loose_search_a_formula_in_a_sentence_is_no_answer() -> None:
    assert isinstance(find_math("Therefore $x = 5$ holds here.", loose=False), Missing)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("$\\{}[]()abcx123 .,\n=答案是为:is"), max_size=80))
def test_spans_lie_in_the_text(text: str) -> None:
    found = find_math(text)
    if isinstance(found, Extraction):
        start, end = found.span
        assert 0 <= start < end <= len(text)
        if found.rule != "box:several":
            assert text[start:end] == found.answer


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (r"Thus x = \frac{3}{4}.", r"\frac{3}{4}"),
        (r"<answer>\frac{3}{4}</answer>", r"\frac{3}{4}"),
        (r"So it's \sqrt{2}.", r"\sqrt{2}"),
        (r"Hence 2\sqrt{3}", r"2\sqrt{3}"),
        (r"Area = 12\pi", r"12\pi"),
        ("the result is x^2+1", "x^2+1"),
        ("So (1, 2) works.", "(1, 2)"),
        (r"so x=\frac{1 + \sqrt{5}}{2}", r"\frac{1 + \sqrt{5}}{2}"),
        ("we find x_{1}=3", "3"),
        ("It weighs 5 kg^2", "5"),
        ("In total (see page 2) it costs 5", "5"),
        ("There are 12 apples", "12"),
    ],
)
def test_a_formula_without_dollars_is_not_torn_apart(text: str, right: str) -> None:
    found = extract_math(text)
    assert found is not None
    assert found.answer == right


def test_an_answer_that_is_taken_back_and_announced_again() -> None:
    found = extract_math("Answer: $5$. Wait, I made a mistake. Answer: $6$")
    assert found is not None
    assert (found.answer, found.rule) == ("6", "phrase:correction")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: 0.333...", "0.333..."),
        ("Answer: 0.142857142857…", "0.142857142857…"),
        (r"So \boxed{0.1666...}", "0.1666..."),
        ("Answer: 3.14159...", "3.14159"),
        ("The answer is 5...", "5"),
        ("Answer: x'", "x'"),
        (r"So \boxed{y''}", "y''"),
        ("Answer: $f'$.", "f'"),
        ("The answer is 'x'.", "x"),
        ("Answer: 'f(x)'", "f(x)"),
    ],
)
def test_primes_and_periods_are_part_of_an_answer(text, answer):
    assert getattr(find_math(text), "answer", None) == answer
