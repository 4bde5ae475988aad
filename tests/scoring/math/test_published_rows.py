"""Real golds, real answers, and the equivalence rows of other tools' suites."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks import math_equivalence
from probatum.scoring import math_equal
from probatum.scoring.math import gold_problem

DATA = (
    Path(os.environ.get("PROBATUM_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data") / "math"
)
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="no mathematics in the data directory (PROBATUM_DATA)"
)


def rows(name: str) -> list[dict[str, Any]]:
    opener = gzip.open if name.endswith(".gz") else open
    with opener(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_row_of_other_suites_has_its_label_or_a_reason() -> None:
    cases = rows("equivalence_cases.jsonl")
    verdicts = math_equivalence.ours(cases)
    differing = {i for i, row in enumerate(cases) if bool(verdicts[i].verdict) != row["expected"]}
    assert differing == set(math_equivalence.REASONS)


def test_no_row_depends_on_the_order_of_its_answers() -> None:
    assert math_equivalence.symmetric(rows("equivalence_cases.jsonl")) == 0


@pytest.mark.parametrize(
    ("name", "field", "unreadable"),
    [
        ("math500_docs.jsonl.gz", "answer", 0),
        ("gaokao_math_cloze_test.jsonl", "answer", 0),
        ("asdiv_first300.jsonl", "answer", 0),
        ("cmath_test.jsonl", "answer", 0),
        ("aime24_test.jsonl", "answer", 0),
        ("amc23_test.jsonl", "answer", 0),
        ("college_math_first200.jsonl", "answer", 6),
        ("gaokao2023en_test.jsonl", "answer", 3),  # two of them are empty
    ],
)
def test_golds_of_benchmarks_are_read(name: str, field: str, unreadable: int) -> None:
    problems = [row[field] for row in rows(name) if gold_problem(str(row[field])) is not None]
    assert len(problems) <= unreadable, problems


def test_verdicts_on_real_answers_are_the_published_ones_but_for_one() -> None:
    """`10{,}000` is 10000: the published grader missed it."""
    differing = [
        (row["answer"], answer)
        for row in rows("qwen_eval_rm_maj_example_math_cot_100.jsonl.gz")
        for answer, score in zip(row["pred"], row["score"], strict=True)
        if bool(math_equal(row["answer"], answer)) is not bool(score)
    ]
    assert differing == [("10{,}000", "10000")]
