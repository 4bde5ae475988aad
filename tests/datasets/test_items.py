"""What an item must be: broken rows stop everything, broken items are listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import DataError
from probatum.core.records import Item
from probatum.datasets import BrokenRowsError, checks, load_file, of_items, of_rows
from probatum.datasets.checks import settle, width_normalised
from tests.datasets.rows import Choice, Question, choice, question, questions

OPTIONS = ("red", "green", "blue")


def chosen(*targets: str, choices: tuple[str, ...] = OPTIONS) -> Item:
    return Item(id="1", fields={}, choices=choices, targets=targets)


@pytest.mark.parametrize(
    ("item", "labels"),
    [
        (chosen("C"), ("C",)),
        (chosen("blue"), ("C",)),
        (chosen(" blue\n"), ("C",)),
        (chosen("ｂｌｕｅ"), ("C",)),
        (chosen("Ｃ"), ("C",)),
        (chosen("A", "C"), ("A", "C")),
        (chosen("red", "A"), ("A",)),
        (chosen("C", choices=("B", "A", "C")), ("C",)),
        (chosen("A", choices=("B", "A", "C")), ("A",)),
        (chosen("D", choices=("B", "D", "C")), ("B",)),
        (chosen("Ａ ", choices=("x", "y")), ("A",)),
        (chosen("aa", choices=("AA", "aa")), ("B",)),
        (chosen("4", choices=("3", "4")), ("B",)),
        (chosen("Z", choices=tuple(map(str, range(26)))), ("Z",)),
    ],
)
def test_gold_is_a_label_or_becomes_one(item: Item, labels: tuple[str, ...]) -> None:
    settled, reason = settle(item)
    assert reason is None
    assert settled == replace(item, targets=labels)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (chosen(), "no gold: none of its options is the target"),
        (chosen("D"), "gold 'D' is neither a label (A…C) nor the text of an option"),
        (chosen("c"), "gold 'c' is neither"),
        (chosen("blu"), "gold 'blu' is neither"),
        (chosen("A", "purple"), "gold 'purple' is neither"),
        (chosen(""), "gold '' is neither"),
        (chosen("AB"), "gold 'AB' is neither"),
        (chosen("1"), "gold '1' is neither"),
        (chosen("A", choices=("x", "")), "option B is empty"),
        (chosen("A", choices=("x", " \u3000\n")), "option B is empty"),
        (chosen("A", choices=("x", "y", "x ")), "options A and C are the same: 'x'"),
        (chosen("A", choices=("42", "４２")), "options A and B are the same: '42'"),
        (chosen("A", choices=("(a　b)", "（ａ b）")), "options A and B are the same: '(a b)'"),
        (chosen("A", choices=tuple(map(str, range(27)))), "27 options, and labels end at Z"),
        (Item(id="1", fields={}, targets=("x", " ")), "an accepted answer is empty: ' '"),
    ],
)
def test_a_broken_item_is_listed_with_its_reason_and_stays_in_the_count(item: Item, reason: str) -> None:
    sound = Item(id="2", fields={})
    dataset = of_items([item, sound])
    assert (dataset.count, len(dataset)) == (2, 2)
    assert list(dataset.invalid) == ["1"]
    assert reason in dataset.invalid["1"]
    assert list(dataset) == [item, sound]
    with pytest.raises(BrokenRowsError, match=r"memory row 1: item '1': .*mend the item, or leave it out"):
        of_items([item, sound], strict=True)


@pytest.mark.parametrize(
    "item",
    [
        Item(id="1", fields={}),
        Item(id="1", fields={}, targets=("x", "x")),
        chosen("A", choices=("Aa", "AA", "aa")),
        chosen("A", choices=("a b", "a  b")),
        chosen("A", choices=("only one",)),
    ],
)
def test_these_items_are_sound(item: Item) -> None:
    assert not of_items([item]).invalid


def test_a_set_in_which_nothing_can_be_scored_is_an_error() -> None:
    with pytest.raises(DataError) as raised:
        of_items([chosen(), replace(chosen(), id="2")])
    assert str(raised.value) == (
        "not one of 2 items can be scored: memory row 1: item '1': no gold: none of its options is the target; "
        "mend the rows"
    )


@given(st.text(), st.text())
def test_width_normalising_twice_changes_nothing(left: str, right: str) -> None:
    once = width_normalised(left)
    assert width_normalised(once) == once
    assert width_normalised(f" {once}\u3000") == once
    assert len(width_normalised(f"x{right}x")) == len(right) + 2


class Opaque:
    def __repr__(self) -> str:
        return "opaque\n"


def test_every_field_of_an_item_is_checked() -> None:
    assert set(checks._KINDS) == {field.name for field in fields(Item)}


def foreign(**changes: Any) -> Item:
    return replace(Item(id="1", fields={}), **changes)


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (None, "to_item must return an Item, and returned None"),
        ({"id": "1"}, "to_item must return an Item"),
        (foreign(id=7), "the item's id is 7, a int"),
        (foreign(id=""), "the item's id is empty ('')"),
        (foreign(id=" \n"), "the item's id is empty (' \\n')"),
        (foreign(targets=["x"]), "the item's targets is ['x'], a list"),
        (foreign(targets="x"), "the item's targets is 'x', a str"),
        (foreign(targets=(7,)), "the item's targets have 7, which is not a string"),
        (foreign(choices=("x", None)), "the item's choices have None, which is not a string"),
        (foreign(fields=[]), "the item's fields is [], a list"),
        (foreign(cluster=3), "the item's cluster is 3, a int"),
        (foreign(stratum=("x",)), "the item's stratum is ('x',), a tuple"),
        (foreign(fields={"x": Opaque()}), "item.fields.x: opaque\\n (Opaque) is not JSON data"),
        (foreign(fields={"x": [0, {"y": Decimal(1)}]}), "item.fields.x[1].y: Decimal('1') (Decimal) is not JSON data"),
        (foreign(fields={"x": float("inf")}), "item.fields.x: inf is not a number that JSON has"),
        (foreign(fields={"x": {1: 2}}), "item.fields.x: key 1 is not a string"),
        (foreign(fields={"x": {1, 2}}), "(set) is not JSON data"),
        (foreign(fields={"x": b"y"}), "(bytes) is not JSON data"),
        (foreign(fields={"\ud800": 1}), "item.fields: lone surrogate '\\ud800'"),
        (foreign(targets=("\udfff",)), "item.targets[0]: lone surrogate"),
        (foreign(cluster="\ud800"), "item.cluster: lone surrogate"),
    ],
)  # fmt: skip
def test_what_is_no_item_stops_the_run(item: Any, told: str) -> None:
    with pytest.raises(BrokenRowsError) as raised:
        of_items([Item(id="0", fields={}), item])
    assert told in str(raised.value)
    assert str(raised.value).startswith("memory row 2: ")
    assert str(raised.value).isprintable()


def test_an_id_that_stands_twice_stops_the_run_and_names_both_places(tmp_path: Path) -> None:
    rows = b'{"id": "7", "q": "a", "options": ["x", "y"], "gold": "A"}\n'
    (tmp_path / "r.jsonl").write_bytes(rows + rows.replace(b'"7"', b'"8"') + rows)
    with pytest.raises(BrokenRowsError) as raised:
        load_file(tmp_path / "r.jsonl", Choice, choice)
    assert str(raised.value) == "r.jsonl line 3: id '7' stands at r.jsonl line 1, too; make ids unique"


def failing(error: Exception) -> Callable[[Any], Item]:
    def to_item(row: Any) -> Item:
        raise error

    return to_item


@pytest.mark.parametrize(
    "error", [KeyError("x"), ValueError("two\nlines"), ZeroDivisionError(), RecursionError()]
)
def test_a_function_of_the_task_that_fails_names_row_and_error(error: Exception) -> None:
    with pytest.raises(BrokenRowsError) as raised:
        of_rows([{"q": "x", "a": "1"}], Question, failing(error))
    message = str(raised.value)
    assert message.startswith(f"memory row 1: to_item failed: {type(error).__name__}")
    assert "the row is Question(q='x', a='1'" in message
    assert message.isprintable()


@dataclass(frozen=True)
class Inner:
    text: str
    at: int = 0


@dataclass(frozen=True)
class Typed:
    name: str
    kind: Literal["a", "b"] = "a"
    count: int | None = None
    share: float = 0.0
    flag: bool = False
    inner: tuple[Inner, ...] = ()
    best: str = field(default="", metadata={"column": "Best Answer"})
    note: str | None = None


def typed(rows: list[Mapping[str, object]]) -> list[Typed]:
    """The rows as the task sees them."""
    seen: list[Typed] = []

    def to_item(row: Typed) -> Item:
        seen.append(row)
        return Item(id=str(len(seen)), fields={})

    of_rows(rows, Typed, to_item)
    return seen


def test_rows_become_what_the_task_declares() -> None:
    (row,) = typed(
        [{"name": "x", "inner": [{"text": "y", "z": 1}], "Best Answer": "z", "share": 1, "extra": object()}]
    )
    assert row == Typed(name="x", inner=(Inner("y"),), best="z", share=1.0)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, "memory row 1: field 'name': missing; the row's fields are none"),
        ({"q": 1, "r": 2}, "field 'name': missing; the row's fields are 'q', 'r'"),
        ({"name": 7}, "field 'name': expected `str`, got `int` 7"),
        ({"name": None}, "field 'name': expected `str`, got `null` None"),
        ({"name": "x", "count": "3"}, "field 'count': expected `int | null`, got `str` '3'"),
        ({"name": "x", "count": 3.0}, "field 'count': expected `int | null`, got `float` 3.0"),
        ({"name": "x", "count": True}, "field 'count': expected `int | null`, got `bool` True"),
        ({"name": "x", "kind": "c"}, "field 'kind': invalid enum value 'c' 'c'"),
        ({"name": "x", "inner": [{"text": "y"}, {"text": 2}]}, "field 'inner[1].text': expected `str`, got `int` 2"),
        ({"name": "x", "inner": [{"at": 1}]}, "field 'inner[0].text': missing; the row's fields are 'at'"),
        ({"name": "x", "inner": {"text": "y"}}, "field 'inner': expected `array`, got `object` {'text': 'y'}"),
        ({"name": "x", "Best Answer": 1}, "field 'Best Answer': expected `str`, got `int` 1"),
        ({"name": "x", "share": float("nan")}, "field 'share': nan is not a number that JSON has"),
        ({"name": "x" * 300, "flag": "x" * 300}, "field 'flag': expected `bool`, got `str` 'xxx"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_names_the_field_and_the_value(row: dict[str, object], told: str) -> None:
    with pytest.raises(BrokenRowsError) as raised:
        typed([row])
    assert told in str(raised.value)
    assert len(str(raised.value)) < 300


def csv_row(directory: Path, content: str) -> Typed:
    seen: list[Typed] = []

    def to_item(row: Typed) -> Item:
        seen.append(row)
        return Item(id=row.name, fields={})

    (directory / "r.csv").write_text(content, encoding="utf-8", newline="")
    load_file(directory / "r.csv", Typed, to_item)
    return seen[0]


def test_a_cell_becomes_a_number_only_where_a_number_is_declared(tmp_path: Path) -> None:
    row = csv_row(tmp_path, "name,count,share,flag,note,Best Answer\n3,3,0.5,true,null,1e5\n")
    assert row == Typed(name="3", count=3, share=0.5, flag=True, note="null", best="1e5")


@pytest.mark.parametrize("cell", ["", "NA", "3.5", "1_000", " 3", "0x3", "³", "٣"])
def test_a_cell_that_is_no_integer_is_refused_where_one_is_declared(tmp_path: Path, cell: str) -> None:
    with pytest.raises(
        BrokenRowsError, match=r"r.csv line 2 \(row 1\): field 'count': expected `int \| null`"
    ):
        csv_row(tmp_path, f"name,count\nx,{cell}\n")


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-Infinity", "1e999"])
def test_a_cell_that_is_no_finite_number_is_refused(tmp_path: Path, cell: str) -> None:
    with pytest.raises(BrokenRowsError, match=r"r.csv line 2 \(row 1\): field 'share': "):
        csv_row(tmp_path, f"name,share\nx,{cell}\n")


@dataclass(frozen=True)
class Picky:
    x: Any

    def __post_init__(self) -> None:
        raise {"value": ValueError, "key": KeyError}[self.x]("no\nway")


@pytest.mark.parametrize(
    ("x", "told"),
    [("value", "no\\nway"), ("key", "Picky cannot be made of it: KeyError: 'no\\nway'; the row is {'x'")],
)
def test_a_row_type_that_refuses_a_row_is_a_fault(x: str, told: str) -> None:
    with pytest.raises(BrokenRowsError) as raised:
        of_rows([{"x": x}], Picky, question)
    assert told.replace("\\\\", "\\") in str(raised.value)
    assert str(raised.value).isprintable()


@dataclass(frozen=True)
class Deep:
    x: Any


def refusal(path: Path) -> str | None:
    try:
        load_file(path, Deep, lambda row: Item(id="1", fields={"x": row.x}))
    except DataError as error:
        return str(error)
    return None


@pytest.mark.parametrize("depth", [100, 300, 400, 700, 900, 100_000])
@pytest.mark.parametrize(("before", "after"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_read_or_refused_and_never_a_traceback(
    tmp_path: Path, depth: int, before: str, after: str
) -> None:
    (tmp_path / "r.jsonl").write_text(f'{{"x": {before * depth}1{after * depth}}}\n', encoding="utf-8")
    told = refusal(tmp_path / "r.jsonl")
    assert told is None or ("nested too deeply" in told and depth > 100)
    assert told is not None or depth < 1000


class Structure(msgspec.Struct, frozen=True, rename={"best": "Best Answer", "share": "Share"}):
    name: str
    best: str
    share: float = 0.0


def test_a_struct_is_a_row_type_too(tmp_path: Path) -> None:
    def to_item(row: Structure) -> Item:
        return Item(id=row.name, fields={"best": row.best})

    (item,) = of_rows([{"name": "x", "Best Answer": "y"}], Structure, to_item)
    assert item.fields == {"best": "y"}
    (tmp_path / "r.csv").write_text("name,Best Answer,Share\nx,y,nan\n", encoding="utf-8")
    with pytest.raises(
        BrokenRowsError, match=r"line 2 \(row 1\): field 'Share': 'nan' is not a finite number"
    ):
        load_file(tmp_path / "r.csv", Structure, to_item)


@pytest.mark.parametrize("row", [int, dict, object, list[str]])
def test_a_row_type_without_fields_is_refused(row: type) -> None:
    with pytest.raises(DataError, match="make it a frozen dataclass of plain types"):
        of_rows([{}], row, question)


def test_a_field_that_the_loader_fills_in_must_not_be_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(BrokenRowsError, match="line 1: field 'row_file': the loader fills this in"):
        questions(tmp_path, b'{"q": "x", "a": "1", "row_file": "y"}\n')


def test_a_row_may_hold_several_items(tmp_path):
    from dataclasses import dataclass

    from probatum.core.records import Item
    from probatum.datasets import load_file

    @dataclass(frozen=True)
    class Passage:
        id: str
        questions: tuple[str, ...]

    path = tmp_path / "passages.jsonl"
    path.write_text('{"id": "p", "questions": ["a?", "b?"]}\n{"id": "q", "questions": []}\n')

    def to_items(row):
        return tuple(
            Item(id=f"{row.id}.{n}", fields={"question": one}, targets=("x",), cluster=row.id)
            for n, one in enumerate(row.questions)
        )

    dataset = load_file(path, Passage, to_items)
    assert [(item.id, item.cluster) for item in dataset] == [("p.0", "p"), ("p.1", "p")]


def test_a_text_file_is_one_row_that_the_task_may_part(tmp_path):
    from dataclasses import dataclass

    from probatum.core.records import Item
    from probatum.datasets import load_file

    @dataclass(frozen=True)
    class File:
        text: str
        row_file: str

    path = tmp_path / "pages.txt"
    path.write_text("one\n\ntwo é\n", encoding="utf-8")

    def to_items(row):
        return tuple(Item(id=str(n), fields={"text": page}) for n, page in enumerate(row.text.split("\n\n")))

    assert [item.fields["text"] for item in load_file(path, File, to_items)] == ["one", "two é\n"]
