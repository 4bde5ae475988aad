"""C-Eval in both published layouts, from rows written here: the rows of the set are not at hand."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from probatum.benchmarks import find_task
from probatum.benchmarks._subjects import C_EVAL, CMMLU
from probatum.core.errors import DataError
from probatum.datasets import load_items
from probatum.runner import validate

TASK = find_task("c_eval")
COLUMNS = ("id", "question", "A", "B", "C", "D", "answer")
ROWS: dict[str, Sequence[Sequence[object]]] = {
    "dev": [(number, f"例题{number}。", "甲", "乙", "丙", "丁", "ABCD"[number % 4]) for number in range(5)],
    "val": [
        (0, " 一加一等于____。 ", "1", "2", "3", "4", "B"),
        (1, "水是____。", "H2O", "O2", "N2", "He", "A"),
    ],
}


def archive(root: Path) -> None:
    """As in the authors' archive: a folder a split, a table a subject."""
    for split, rows in ROWS.items():
        for subject in ("law", "high_school_physics"):
            path = root / "ceval" / split / f"{subject}_{split}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream)
                more = ("explanation",) if split == "dev" else ()
                writer.writerow((*COLUMNS, *more))
                writer.writerows((*row, *("因为。" for _ in more)) for row in rows)
    unanswered = root / "ceval" / "test" / "law_test.csv"
    unanswered.parent.mkdir()
    unanswered.write_text("id,question,A,B,C,D\n0,没有答案____。,甲,乙,丙,丁\n", encoding="utf-8")


def hub(root: Path) -> None:
    """As on the hub: a folder a subject, a file a split; the test split has empty answers."""
    for subject in ("law", "high_school_physics"):
        for split, rows in (*ROWS.items(), ("test", [(0, "没有答案____。", "甲", "乙", "丙", "丁", "")])):
            columns = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
            table = pa.table({**columns, "explanation": [""] * len(rows)})
            path = root / "ceval" / subject / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pa.parquet.write_table(table, path)


@pytest.mark.parametrize("lay_out", [archive, hub])
def test_validation_questions_are_asked_by_subject_with_five_shots_as_published(lay_out, tmp_path):
    lay_out(tmp_path)
    asked = {one.id: one for one in load_items(TASK.source, TASK.row, TASK.to_item, data_directory=tmp_path)}
    shown = list(load_items(TASK.shot_source, TASK.row, TASK.to_item, data_directory=tmp_path))
    assert list(asked) == ["high_school_physics/0", "high_school_physics/1", "law/0", "law/1"]
    assert {one.stratum for one in asked.values()} == {"law", "high_school_physics"}
    law = [one for one in shown if one.stratum == "law"]
    assert [one.id for one in law] == [f"law/dev/{number}" for number in range(5)]
    parts = TASK.letters.parts(asked["law/0"], law, None)
    assert [part.continuation for part in parts] == ["A", "B", "C", "D"]
    blocks = [
        "以下是中国关于法学考试的单项选择题，请选出其中的正确答案。",
        *(f"例题{number}。\nA. 甲\nB. 乙\nC. 丙\nD. 丁\n答案：{'ABCD'[number % 4]}" for number in range(5)),
        "一加一等于____。\nA. 1\nB. 2\nC. 3\nD. 4\n答案：",
    ]
    assert parts[0].prompt == "\n\n".join(blocks)
    assert validate(TASK, data_directory=tmp_path).passed


def test_a_table_of_no_known_subject_is_refused(tmp_path):
    archive(tmp_path)
    (tmp_path / "ceval" / "val" / "cooking_val.csv").write_text("id,question,A,B,C,D,answer\n0,q,1,2,3,4,A\n")
    with pytest.raises(DataError, match=r"'ceval/val/cooking_val\.csv' names no subject"):
        load_items(TASK.source, TASK.row, TASK.to_item, data_directory=tmp_path)


def test_all_subjects_have_a_name_in_chinese():
    assert (len(C_EVAL), len(CMMLU)) == (52, 67)
    assert all(name and not name.isascii() for name in (*C_EVAL.values(), *CMMLU.values()))
