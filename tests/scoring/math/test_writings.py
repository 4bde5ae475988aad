"""Writings of the same value that reports of other tools did not name: periods, units, times."""

from __future__ import annotations

import pytest

from probatum.scoring import math_equal


@pytest.mark.parametrize(
    ("one", "two", "right"),
    [
        # periods, in every way of writing them; three digits are no period
        (r"0.\dot{3}", "1/3", True),
        (r"0.\dot{3}", "0", False),
        (r"0.\dot{1}4285\dot{7}", "1/7", True),
        (r"0.1\dot{6}", "1/6", True),
        ("0.(3)", "1/3", True),
        ("0.1(6)", "1/6", True),
        ("2(3)", "6", True),
        ("0.333...", "1/3", True),
        ("0.333...", "0.333", False),
        (r"0.1666\ldots", "1/6", True),
        ("0.142857142857…", "1/7", True),
        ("3.14159...", r"\pi", None),
        ("3.14159...", "3.14159", None),
        ("1, 2, 3, ...", "1, 2, 3", None),
        ("5...", "5", True),
        # units of two letters and more
        ("36 km/h", "10 m/s", True),
        ("36 km/h", "10 km/h", False),
        ("60 km/h", "1 km/min", True),
        ("10 m/min", "10 m/s", False),
        ("9.8 m/s^2", "980 cm/s^2", True),
        ("9.8 m/s^2", "9.8", True),
        ("5 m/n", r"\frac{5m}{n}", True),
        ("50¢", r"\$0.50", True),
        # times of day
        ("3:30 PM", "3:30 p.m.", True),
        ("3:30 AM", "3:30 PM", False),
        ("15:30", "3:30 PM", True),
        ("12:00 AM", "0:00", True),
        ("12:30 PM", "12:30", True),
        ("3:30", "3:30 PM", True),
        ("15:30", "3:30 AM", False),
        ("x=1或x=2", "1,2", True),
    ],
)
def test_the_same_value_in_another_writing(one: str, two: str, right: bool | None) -> None:
    assert math_equal(one, two) is right
    assert math_equal(two, one) is right
