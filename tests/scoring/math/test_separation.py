"""The bound that turns agreement of roots into a proof."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.scoring.math.forms import Form, variable
from probatum.scoring.math.separation import proves_zero, separation_digits


def root(number: int | Form, index: int = 2) -> Form:
    return (number if isinstance(number, Form) else Form.of(number)).to(Fraction(1, index))


@pytest.mark.parametrize(
    ("zero"),
    [
        root(Form.of(5) + root(24)) - root(2) - root(3),
        root(Form.of(3) + root(8)) - root(2) - Form.of(1),
        root(Form.of(2) + root(5), 3) - (Form.of(1) + root(5)).scaled(Fraction(1, 2)),
        root(Form.of(17) + root(288)) - Form.of(3) - root(8),
    ],
)
def test_zero_is_proved(zero: Form) -> None:
    assert zero.terms
    assert proves_zero(zero)
    assert not proves_zero(zero + Form.of(Fraction(1, 10**60)))


def test_numbers_that_are_near_to_each_other_are_told_apart() -> None:
    """Sums of square roots that agree to 10 digits (Graham, Knuth and Patashnik's kind)."""
    near = root(10) + root(11) - root(5) - root(18)
    assert not proves_zero(near)
    assert not proves_zero(root(10**8 + 1) - Form.of(10**4))


def test_there_is_no_bound_for_other_numbers() -> None:
    assert separation_digits(variable("x")) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(2, 40)), min_size=1, max_size=3),
    st.integers(-40, 40),
)
def test_no_value_that_is_not_zero_lies_below_the_bound(terms: list[tuple[int, int]], shift: int) -> None:
    form, exact = Form.of(shift), sympy.Integer(shift)
    for times, number in terms:
        form += root(number).scaled(Fraction(times))
        exact += times * sympy.sqrt(number)
    digits = separation_digits(form)
    if digits is not None and exact != 0:
        assert abs(sympy.N(exact, digits + 30)) >= sympy.Float(10, digits + 30) ** -digits
