import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import UsageError
from probatum.runner import limits
from probatum.runner.limits import items_within, parse_limit, task_names


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1", 1),
        ("1.0", 1),
        (1.0, 1),
        (7, 7),
        ("0.5", 0.5),
        (".5", 0.5),
        ("50%", 0.5),
        ("12.5 %", 0.125),
        ("100%", None),
        ("+3", 3),
    ],
)
def test_a_limit_is_a_count_or_a_share(text, limit):
    found = parse_limit(text)
    assert found == limit
    assert type(found) is type(limit)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-3",
        "0%",
        "101%",
        "1.5",
        "",
        "ten",
        "nan",
        "inf",
        "1e3",
        "-0.5",
        True,
        "0.0",
        -1,
        0,
        2.5,
        float("nan"),
        float("inf"),
        1e300,
    ],
)
def test_what_is_neither_is_refused(text):
    with pytest.raises(UsageError, match="limit"):
        parse_limit(text)


@given(st.floats(min_value=1e-6, max_value=1, exclude_max=True), st.integers(1, 10_000))
def test_a_share_is_never_none_and_never_more(share, count):
    within = items_within(share, count)
    assert 1 <= within <= count
    assert within == pytest.approx(math.ceil(share * count), abs=1)


def test_counts_and_no_limit_stay():
    assert items_within(None, 10) is None
    assert items_within(3, 10) == 3
    assert items_within(0.3, 10) == 3  # 0.3 · 10 is a little above 3 in floating point


def test_commas_and_repetition_both_name_tasks():
    for named in ("a, b,,c", ["a,b", "c"], ("a", " b ", "c,")):
        assert task_names(named) == ["a", "b", "c"]
    assert task_names([]) == []


def test_examples_are_true():
    assert doctest.testmod(limits).failed == 0
