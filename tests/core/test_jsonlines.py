import doctest
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core import jsonlines
from probatum.core.jsonlines import recover_lines

ROWS = st.lists(
    st.dictionaries(
        st.text(max_size=4),
        st.none() | st.integers() | st.text(max_size=8) | st.lists(st.booleans(), max_size=2),
        max_size=3,
    ),
    max_size=5,
)


@pytest.mark.parametrize(
    ("text", "ids", "again", "after"),
    [
        ('{"id":1,"s":1}\n{"id":2,"s"', [1], [2], '{"id":1,"s":1}\n'),
        ('{"id":1}\n{"id":2,\n{"id":3}\n', [1, 3], [2], '{"id":1}\n{"id":3}\n'),
        ('{"id":1}{"id":2}\n', [1, 2], [], '{"id":1}\n{"id":2}\n'),
        ('{"id":1}\n{"id":12', [1], [], '{"id":1}\n'),
        ('{"id":1}\n{"id":1,"s"', [1], [], '{"id":1}\n'),
        ("", [], [], ""),
        ("\n\n", [], [], ""),
        ('\ufeff{"id":1}\r\n', [1], [], '{"id":1}\n'),
        ('{"id":1,"q":"a\u2028b"}\n', [1], [], '{"id":1,"q":"a\u2028b"}\n'),
        ('{"id":1}\n\x00\x00\x00', [1], [], '{"id":1}\n'),
        ("[1]\n", [], [], ""),
        ('{"id":1,"x":NaN}\n', [], [1], ""),
    ],
)
def test_whole_records_are_kept_and_the_rest_is_told(text, ids, again, after):
    found = recover_lines(text)
    assert [record["id"] for _, record in found.records] == ids
    assert found.again("id") == again
    assert found.text == after


@given(ROWS, st.integers(0, 200))
def test_a_log_cut_anywhere_loses_its_last_record_at_most(rows, cut):
    whole = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    torn = whole[: max(0, len(whole) - cut)]
    found = recover_lines(torn)
    records = [record for _, record in found.records]
    assert records == rows[: len(records)]
    assert len(records) >= torn.count("\n")
    assert recover_lines(found.text).records == tuple((place, row) for place, row in enumerate(records, 1))
    assert len(found.broken) <= 1
    assert all(line.last for line in found.broken)


@given(st.text(max_size=60))
def test_no_log_raises(text):
    found = recover_lines(text)
    assert recover_lines(found.text).broken == ()


def test_records_that_differ_under_one_id_are_named():
    found = recover_lines('{"id":1,"s":1}\n{"id":1,"s":2}\n{"id":2}\n{"id":2}\n')
    records, twice = found.by("id")
    assert (list(records), twice) == ([1, 2], [1])
    assert records[1]["s"] == 1


def test_examples_are_true():
    assert doctest.testmod(jsonlines).failed == 0
