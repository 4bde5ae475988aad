"""What holds of every two answers: symmetry, no exceptions, agreement with sympy, work that stays bounded."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.extraction.mathematics import find_math
from probatum.scoring import compare_answers, math_equal
from probatum.scoring.math.forms import TooLarge, counted, spend
from probatum.scoring.math.reading import read_answer

WRITTEN = (
    r"\frac \sqrt \pm \cup \infty \le \ge \in \text{ \boxed{ \begin{pmatrix} \end{pmatrix} \\ \left( \right)"
    r" \{ \} ( ) [ ] { } | ^ _ ! % $ & , ; : = < > + - * / \cdot \pi \sin \log \sum_{k=1}^{ \overline"
    " 0 1 2 10 0.5 1,000 12:30 x y k n e i f(x) cm and or a_1 AB 元 ² − ° \ud800 \u0000"
)
PIECES = [*WRITTEN.split(" "), " ", "  "]
writings = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
any_text = st.text(st.characters(codec=None), max_size=60)


@settings(max_examples=400, deadline=None)
@given(writings, writings)
def test_the_order_of_the_two_does_not_matter(a: str, b: str) -> None:
    one, two = compare_answers(a, b), compare_answers(b, a)
    assert (one.verdict, one.rule) == (two.verdict, two.rule)


@settings(max_examples=300, deadline=None)
@given(st.one_of(any_text, writings))
def test_nothing_raises_and_what_is_read_equals_itself(text: str) -> None:
    find_math(text)
    answer = read_answer(text)
    verdict = compare_answers(text, text).verdict
    assert verdict is (None if answer.undefined or not answer.writing else True)


@settings(max_examples=200, deadline=None)
@given(writings)
def test_boxes_dollars_and_full_stops_change_nothing(text: str) -> None:
    if not read_answer(text).problem and "$" not in text and text.count("{") == text.count("}"):
        assert math_equal(text, f"$\\boxed{{{text}}}$.") in {True, None}


small = st.integers(-30, 30)
fractions = st.fractions(min_value=-50, max_value=50, max_denominator=60)


@settings(max_examples=300, deadline=None)
@given(fractions, fractions)
def test_rationals_are_equal_exactly_if_their_values_are(a: Fraction, b: Fraction) -> None:
    writing = f"\\frac{{{a.numerator}}}{{{a.denominator}}}"
    assert math_equal(writing, f"{b.numerator}/{b.denominator}") is (a == b)
    assert math_equal(writing, f"{a.numerator * 7}/{a.denominator * 7}") is True


def expressions(names: tuple[str, ...]) -> st.SearchStrategy[sympy.Expr]:
    """Sums, products, powers and roots, of integers and the names."""
    atoms = st.one_of(
        st.integers(1, 9).map(sympy.Integer), st.sampled_from([sympy.Symbol(n, positive=True) for n in names])
    )
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
            st.tuples(inner, st.sampled_from([2, 3])).map(lambda pair: pair[0] ** pair[1]),
            inner.map(lambda each: 1 / (each**2 + 1)),
            inner.map(lambda each: sympy.sqrt(each**2 + 2)),
        ),
        max_leaves=6,
    )


@settings(max_examples=150, deadline=None)
@given(expressions(("x", "y")))
def test_what_sympy_rewrites_stays_equal(expression: sympy.Expr) -> None:
    writing = sympy.latex(expression)
    for rewritten in (sympy.expand(expression), sympy.together(expression), sympy.factor_terms(expression)):
        assert math_equal(writing, sympy.latex(rewritten)) is True, (writing, sympy.latex(rewritten))


@settings(max_examples=150, deadline=None)
@given(expressions(("x", "y")), expressions(("x", "y")))
def test_verdicts_are_sympys(one: sympy.Expr, two: sympy.Expr) -> None:
    difference = one - two
    value = complex(
        difference.subs({"x": 1}).subs(
            {s: 1.37 + n for n, s in enumerate(sorted(difference.free_symbols, key=str))}
        )
    )
    verdict = math_equal(sympy.latex(one), sympy.latex(two))
    if abs(value) > 1e-6:
        assert verdict is False, (one, two)
    elif sympy.simplify(difference) == 0:
        assert verdict is True, (one, two)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 30)), min_size=1, max_size=4))
def test_sums_of_roots_are_told_apart_by_their_values(terms: list[tuple[int, int]]) -> None:
    total = sum((c * sympy.sqrt(n) for c, n in terms), sympy.Integer(0))
    writing = "+".join(f"({c})\\sqrt{{{n}}}" for c, n in terms)
    assert math_equal(writing, sympy.latex(total)) is True
    assert math_equal(writing, sympy.latex(total + sympy.Rational(1, 10**30))) is False


@settings(max_examples=100, deadline=None)
@given(st.lists(small, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_sets_and_lists_have_no_order_and_tuples_have_one(numbers: list[int], source: random.Random) -> None:
    mixed = source.sample(numbers, len(numbers))
    one, two = ", ".join(map(str, numbers)), ", ".join(map(str, mixed))
    assert math_equal(f"\\{{{one}\\}}", f"\\{{{two}\\}}") is True
    if len(numbers) > 1:
        assert math_equal(one, two) is True
        assert math_equal(f"({one})", f"({two})") is (numbers == mixed)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(small, small), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_unions_are_sets_of_points(ends: list[tuple[int, int]], source: random.Random) -> None:
    intervals = [f"[{min(pair)},{max(pair) + 1}]" for pair in ends]
    mixed = source.sample(intervals, len(intervals))
    assert math_equal(r"\cup".join(intervals), r" \cup ".join(mixed)) is True


HOSTILE = {
    "nested fractions": lambda n: r"\frac{" * n + "1" + "}{2}" * n,
    "open fractions": lambda n: r"\frac{" * n,
    "parentheses": lambda n: "(" * n + "1" + ")" * n,
    "roots": lambda n: r"\sqrt{" * n + "2" + "}" * n,
    "towers": lambda n: "9^{" * n + "9" + "}" * n,
    "factorials": lambda n: "9" + "!" * n,
    "exponents": lambda n: "10^{10^{10}}" + "+1" * n,
    "digits": lambda n: "9" * n,
    "factors": lambda n: "(x+y+1)" * n,
    "powers of sums": lambda n: f"(a+b+c+d+e+f)^{{{n}}}",
    "signs": lambda n: r"\pm 1" * n,
    "boxes": lambda n: r"\boxed{1} and " * n,
    "nested boxes": lambda n: r"\boxed{" * n + "1" + "}" * n,
    "surrogates": lambda n: "\ud800" * n,
    "open texts": lambda n: r"\text{a" * n,
    "long lists": lambda n: ",".join(map(str, range(n % 1000))),
    "long lists of roots": lambda n: ",".join(rf"\sqrt{{{k}}}" for k in range(n % 1000)),
    "commas": lambda n: "1," * n,
    "nested sets": lambda n: r"\{1," * n + r"\}" * n,
    "unions": lambda n: r"[0,1]\cup" * n + "[2,3]",
    "bars": lambda n: "|" * n,
    "sums": lambda n: r"\sum_{k=0}^{n}" * n + "k",
    "rows": lambda n: r"\begin{pmatrix}" + r"1&2\\" * n + r"1&2\end{pmatrix}",
    "products of matrices": lambda n: r"\begin{pmatrix}1&2\\3&4\end{pmatrix}" * n,
    "sums of roots": lambda n: "+".join(rf"\sqrt{{{k}}}" for k in range(2, n + 2)),
    "denominators": lambda n: "+".join(rf"\frac{{1}}{{x+{k}}}" for k in range(n)),
    "angles": lambda n: r"\sin(" + "x+" * n + "1)",
    "exponentials": lambda n: "e^{" * n + "x" + "}" * n,
    "binomials": lambda n: rf"\binom{{{n}}}{{{n // 2}}}",
    "ratios": lambda n: "1:" * n + "2",
    "chains": lambda n: "1<" * n + "x",
    "subscripts": lambda n: "a_{" * n + "1" + "}" * n,
    "phrases": lambda n: "the answer is " * n,
    "dollars": lambda n: "$" * n,
    "blanks": lambda n: " " * n + "1",
    "thoughts": lambda n: "<think>" * n,
    "semiprimes": lambda n: rf"\sqrt{{{(10 ** min(n, 300) + 9) * (10 ** min(n, 300) + 33)}}}",
}


@pytest.mark.parametrize("size", [9, 41, 700, 60_000])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_answers_come_to_an_end(kind: str, size: int) -> None:
    text = HOSTILE[kind](size)
    find_math(text)
    for other in ("3", "x+1", text + "+1", text.replace("1", "2"), ",".join(reversed(text.split(",")))):
        assert compare_answers(text, other).verdict == compare_answers(other, text).verdict
    if kind in {"towers", "exponents"}:
        assert not math_equal(text, "3")


def test_a_million_characters_are_read_in_time_that_grows_with_them() -> None:
    """Counted in the longest text that is parsed at all: the rest is text, and only looked through once."""
    assert compare_answers("1+" * 500_000 + "1", "500001").rule == "not read"


def test_threads_compare_hostile_answers_at_the_same_time_and_go_on() -> None:
    with ThreadPoolExecutor(4) as pool:
        hard = list(pool.map(lambda _: math_equal("1", r"\boxed{9^{9^{9^{9}}}}"), range(8)))
        easy = list(pool.map(lambda n: math_equal(str(n), f"{2 * n}/2"), range(8)))
    assert not any(hard)
    assert all(easy)


def test_steps_are_counted_together_and_an_inner_count_draws_on_the_outer() -> None:
    with counted(10):
        with counted(100), pytest.raises(TooLarge):
            spend(11)
        with pytest.raises(TooLarge):
            spend(1)


def test_the_verdict_of_a_limit_is_undecided_and_says_so() -> None:
    found = compare_answers("(a+b+c+d+e+f+g)^{31}(a+b+c)^{31}", "1")
    assert found.verdict is not True
    assert found.rule in {"not read", "limit", "value"}
