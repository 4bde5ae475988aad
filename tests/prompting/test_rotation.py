"""Options in every cyclic order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from probatum.core.records import Item
from probatum.prompting.rotation import of_rotation, rotations

LABELS = "ABCDEFGH"


@given(st.integers(2, 8), st.data())
def test_the_right_text_stays_right_and_stands_in_each_place_once(count, data):
    right = data.draw(st.integers(0, count - 1))
    item = Item(
        id="a~b", fields={}, choices=tuple(map(str, range(count))), targets=(LABELS[right],), cluster="c"
    )
    turned = rotations(item)
    assert len({one.id for one in turned}) == count
    assert turned[0].choices == item.choices
    assert {one.cluster for one in turned} == {"c"}
    assert {of_rotation(one.id) for one in turned} == {"a~b"}
    assert [one.choices[LABELS.index(one.targets[0])] for one in turned] == [str(right)] * count
    assert {one.targets[0] for one in turned} == set(LABELS[:count])


def test_several_right_options_move_together():
    item = Item(id="x", fields={}, choices=("p", "q", "r"), targets=("A,C", "B"))
    assert [one.targets for one in rotations(item)] == [("A,C", "B"), ("B,C", "A"), ("A,B", "C")]
    assert rotations(item)[1].cluster == "x"


def test_an_item_without_options_is_itself():
    item = Item(id="x", fields={}, targets=("7",))
    assert rotations(item) == (item,)
