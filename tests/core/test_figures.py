"""How figures are written."""

from __future__ import annotations

import pytest

from probatum.core.figures import figure


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0.0000"),
        (0.25, "0.2500"),
        (3443.65789, "3443.6579"),
        (999_999.5, "999999.5000"),
        (1_000_000.0, "1e+06"),
        (42_523_005_756.7689, "4.2523e+10"),
        (-111_676_202_221_821_536.0, "-1.11676e+17"),
    ],
)
def test_a_figure_has_no_more_digits_than_mean_something(value, written):
    assert figure(value) == written
