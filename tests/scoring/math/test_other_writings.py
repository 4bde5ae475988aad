"""Plain TeX, congruences, powers of e, numbers in words: one value in the writings that models use."""

from __future__ import annotations

import pytest

from probatum.scoring.math import math_equal

PAIRS: list[tuple[str, str, bool]] = [
    (r"{5\choose 2}", "10", True),
    (r"{x+1\over 2}", r"\frac{x+1}{2}", True),
    (r"{\pi\over 2}", r"\frac\pi2", True),
    (r"\approx 3.14", "3.14", True),
    ("≈3.14", "3.14", True),
    (r"\approx 3.14", "3.15", False),
    ("approximately 5", "5", True),
    ("about 5", "6", False),
    (r"x\equiv 5 \pmod 7", r"x \equiv 5 \pmod{7}", True),
    (r"x\equiv 5 \pmod 7", r"x \equiv 12 \pmod{7}", True),
    (r"x\equiv 5 \pmod 7", "x ≡ -2 (mod 7)", True),
    (r"x\equiv 5 \pmod 7", r"x \equiv 5 \pmod{8}", False),
    (r"x\equiv 5 \pmod 7", r"y \equiv 5 \pmod{7}", False),
    (r"5 \pmod{7}", r"5 \bmod 7", True),
    (r"e^{i\pi/2}", "i", True),
    (r"2e^{2i\pi/3}", r"-1+i\sqrt3", True),
    (r"e^{i\pi/4}", r"\frac{\sqrt2}{2}(1-i)", False),
    (r"\text{twenty-one}", "21", True),
    ("two", "2", True),
    ("two", "3", False),
    ("two dogs", "2", False),
]


@pytest.mark.parametrize(("one", "two", "equal"), PAIRS)
def test_one_value_in_several_writings(one: str, two: str, equal: bool) -> None:
    assert bool(math_equal(one, two)) is equal
    assert bool(math_equal(two, one)) is equal
