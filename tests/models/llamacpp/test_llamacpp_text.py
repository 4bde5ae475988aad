"""Text out of bytes: stop strings across tokens, characters across tokens."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from probatum.models.writing import Writing


def write(stops, pieces):
    writing = Writing(stops)
    taken = 0
    for piece in pieces:
        taken += 1
        if writing.add(piece):
            break
    return writing, taken


@pytest.mark.parametrize(
    ("stops", "pieces", "text", "stop", "taken"),
    [
        ((), [b"ab", b"c"], "abc", None, 2),
        (("b",), [b"abc"], "a", "b", 1),
        (("\n\n",), [b"x\n", b"\ny", b"z"], "x", "\n\n", 2),
        (("stop",), [b"s", b"t", b"o", b"p", b"!"], "", "stop", 4),
        (("stop",), [b"sto", b"sto", b"p"], "sto", "stop", 3),
        (("world", "o w"), [b"hello", b" world"], "hell", "o w", 2),
        (("b", "abc"), [b"abc"], "", "abc", 1),
        (("ab", "abc"), [b"abc"], "", "ab", 1),
        (("好",), ["你".encode(), "好".encode()[:1], "好".encode()[1:]], "你", "好", 3),
        (("x",), [b"", b"x"], "", "x", 2),
        (("é",), [b"\xc3", b"\xa9"], "", "é", 2),
    ],
)
def test_text_ends_before_the_stop_string_that_begins_first(stops, pieces, text, stop, taken):
    writing, seen = write(stops, pieces)
    assert (writing.text(complete=True), writing.stop, seen) == ((text, None), stop, taken)


@given(
    text=some.text(alphabet="ab\n你😀", max_size=40),
    stops=some.lists(some.text(alphabet="ab\n你", min_size=1, max_size=4), max_size=3),
    cuts=some.lists(some.integers(0, 160), max_size=30),
)
def test_however_the_bytes_are_cut_a_stop_string_is_never_missed(text, stops, cuts):
    content = text.encode()
    places = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    pieces = [content[start:end] for start, end in pairwise(places)]
    writing, _ = write(stops, pieces)
    written, remark = writing.text(complete=True)
    assert remark is None
    assert text.startswith(written)
    assert not any(stop in written for stop in stops)
    if writing.stop is None:
        assert written == text
    else:
        assert text[len(written) :].startswith(writing.stop)


@given(text=some.text(min_size=1, max_size=30), cut=some.integers(0, 120))
def test_a_character_that_did_not_come_to_its_end_is_left_out(text, cut):
    content = text.encode()
    writing = Writing(())
    writing.add(content[:cut])
    written, remark = writing.text(complete=False)
    assert remark is None
    assert text.startswith(written)
    assert len(written.encode()) <= min(cut, len(content)) < len(written.encode()) + 4 or cut >= len(content)


@given(content=some.binary(max_size=60), complete=some.booleans())
def test_any_bytes_become_text_and_a_remark_says_if_some_were_replaced(content, complete):
    writing = Writing(())
    for value in content:
        writing.add(bytes([value]))
    written, remark = writing.text(complete=complete)
    written.encode()  # no half of a surrogate pair
    if remark is None:
        assert content.startswith(written.encode())
    else:
        assert "\ufffd" in written


def test_a_model_that_ends_within_a_character_is_remarked():
    writing = Writing(())
    writing.add(b"a\xe4\xbd")
    assert writing.text(complete=False) == ("a", None)
    text, remark = writing.text(complete=True)
    assert text == "a\ufffd"
    assert "no UTF-8" in str(remark)
