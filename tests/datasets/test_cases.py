"""Faults that were reported of other tools, as tests of ours: one row a report.

The right values follow from the reports; files and texts are written anew here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from probatum.core.errors import DataError
from probatum.core.records import Item
from probatum.datasets import Dataset, load_file, of_items
from tests.datasets.rows import DATA, Question, pairs, question, questions


def refusal(directory: Path, content: bytes, row: type, name: str = "rows.jsonl") -> str:
    (directory / name).write_bytes(content)
    with pytest.raises(DataError) as raised:
        load_file(directory / name, row, question)
    return str(raised.value)


def test_cells_that_look_like_missing_values_are_texts(tmp_path: Path) -> None:
    """unitxt 700: "NA" became NaN."""
    dataset = questions(tmp_path, b"q,a\nNa symbol?,NA\nAny left?,None\nBlank?,\n", "r.csv")
    assert pairs(dataset) == [("Na symbol?", "NA"), ("Any left?", "None"), ("Blank?", "")]
    assert dataset.invalid == {"r.csv/3": "an accepted answer is empty: ''"}


def test_a_line_separator_inside_a_string_ends_no_row(tmp_path: Path) -> None:
    """A known trap: `str.splitlines` makes two broken rows of it."""
    assert questions(tmp_path, '{"q": "a\u2028b", "a": "1"}\n'.encode()).count == 1


def test_a_slip_names_its_own_line(tmp_path: Path) -> None:
    """openai/evals 259: the message named line 1 for a slip in line 143."""
    content = b'{"q": "1", "a": "1"}\n' * 142 + b'{"q":}\n'
    message = refusal(tmp_path, content, Question)
    assert message.startswith("rows.jsonl line 143: not JSON: Expecting value")
    assert "(column 6)" in message


@dataclass(frozen=True)
class Distracted:
    q: str
    a: str
    distractor_1: str


def test_a_missing_column_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    """lm-evaluation-harness 1434: a KeyError in a worker."""
    message = refusal(tmp_path, b"q,a\nx,1\n", Distracted, "rows.csv")
    assert message == "rows.csv line 1: missing column 'distractor_1'; the columns are 'q', 'a'"


def test_a_split_without_answers_is_an_error_before_any_call(tmp_path: Path) -> None:
    """VLMEvalKit 57: a KeyError; and a split whose answers are all blank is no better."""
    assert "field 'a': missing; the row's fields are 'q'" in refusal(tmp_path, b'{"q": "x"}\n', Question)
    blank = b'{"q": "x", "a": ""}\n{"q": "y", "a": " "}\n'
    assert "not one of 2 items can be scored" in refusal(tmp_path, blank, Question)


def test_ids_that_stand_twice_are_an_error() -> None:
    """alpaca_eval 453: an empty merge and a score of NaN."""
    with pytest.raises(DataError, match="memory row 2: id '7' stands at memory row 1, too"):
        of_items([Item(id="7", fields={"q": "a"}), Item(id="7", fields={"q": "b"})])


def test_gold_by_the_text_of_an_option_becomes_its_label() -> None:
    """inspect_ai 310: the scorer compared letters with the text, and all was wrong."""
    item = Item(id="1", fields={}, choices=("red", "green", "blue"), targets=("blue",))
    (loaded,) = of_items([item])
    assert loaded.targets == ("C",)


@pytest.mark.parametrize(("gold", "options"), [("pink", ["red", "blue"]), ("red", ["red", "red"])])
def test_gold_that_is_none_of_the_options_or_several_is_an_invalid_item(
    gold: str, options: list[str]
) -> None:
    sound = Item(id="2", fields={})
    broken = Item(id="1", fields={}, choices=tuple(options), targets=(gold,))
    assert list(of_items([broken, sound]).invalid) == ["1"]


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    """SOTA-skills 128: a run without its input printed a score."""
    assert "has no rows" in refusal(tmp_path, b"", Question)


def test_nan_is_not_json(tmp_path: Path) -> None:
    """A known trap: a gold answer that is the float NaN."""
    assert "line 1: NaN is not JSON" in refusal(tmp_path, b'{"q": "x", "a": NaN}\n', Question)


def published() -> list[dict[str, Any]]:
    path = DATA.parent / "cases" / "cases-open.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [
        case
        for line in lines
        if line.strip()
        for case in [json.loads(line)]
        if case["area"] == "dataset-loading"
    ]


def load_text(directory: Path, text: str, name: str) -> Dataset:
    return questions(directory, text.encode(), name)


def test_the_published_cases_of_loading_hold(tmp_path: Path) -> None:
    cases = {case["id"]: case for case in published()}
    if not cases:
        pytest.skip("needs cases/cases-open.jsonl beside the data directory (PROBATUM_DATA)")
    held = set()
    for case in cases.values():
        given, expected = case["input"], case["expected"]["value"]
        if given["op"] == "load_csv":
            assert [list(pair) for pair in pairs(load_text(tmp_path, given["text"], "r.csv"))] == expected
        elif given["op"] == "load_jsonl" and isinstance(expected, dict):
            assert load_text(tmp_path, given["text"], "r.jsonl").count == expected["rows"]
        elif given["op"] == "load_jsonl":
            line = 1 + given["text"].rstrip("\n").count("\n")
            assert f"rows.jsonl line {line}: " in refusal(tmp_path, given["text"].encode(), Question)
        elif given["op"] == "resolve_gold":
            item = Item(id="1", fields={}, choices=tuple(given["options"]), targets=(given["gold"],))
            assert next(iter(of_items([item]))).targets == (expected["label"],)
        else:
            continue
        held.add(case["id"])
    assert held >= {"dat-001", "dat-004", "dat-005", "dat-009", "dat-014"}
