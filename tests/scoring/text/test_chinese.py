"""CMRC 2018's scores, and three ways to split Chinese text."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.status import Status
from probatum.scoring import token_f1
from probatum.scoring.text import Cmrc2018Match, cmrc2018_exact, cmrc2018_f1
from probatum.scoring.text.chinese import cmrc2018_tokens
from probatum.scoring.tokens import Tokens
from tests.scoring.text.answers import graded

SHARED = Path(os.environ.get("PROBATUM_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("光荣和ω-force", ["光", "荣", "和", "ωforce"]),
        ("面积19.2平方公里。", ["面", "积", "19.2", "平", "方", "公", "里"]),
        ("「ABC」、def", ["abcdef"]),
        ("Henry A. Walsh设计", ["henry", "a.", "walsh", "设", "计"]),
        ("cannot", ["can", "not"]),
        ("  ，。", []),
    ],
)
def test_each_chinese_character_is_a_token_and_other_text_is_split_into_words(
    text: str, tokens: list[str]
) -> None:
    assert cmrc2018_tokens(text) == tokens


@pytest.mark.parametrize(
    ("prediction", "targets", "exact", "f1"),
    [
        ("村雨城", ["村雨城"], True, 1.0),
        ("《村雨城》。", ["村雨城"], True, 1.0),
        ("村雨城", ["谜之村雨城"], False, 0.75),
        ("村x雨", ["村雨"], False, 2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2)),  # runs, not subsequences
        ("东京", ["北京"], False, 0.5),
        ("", ["北京"], False, 0.0),
        ("364", ["364.6公里"], False, 0.0),  # 364.6 is one word
        ("北京", ["东京", "北京市"], False, 0.8),
    ],
)
def test_f1_is_of_the_longest_run_in_common(
    prediction: str, targets: list[str], exact: bool, f1: float
) -> None:
    assert cmrc2018_exact(prediction, targets) is exact
    assert cmrc2018_f1(prediction, targets) == pytest.approx(f1)


def test_no_target_is_an_error_of_the_caller_and_of_the_item() -> None:
    with pytest.raises(ValueError, match="no target"):
        cmrc2018_f1("x", [])
    with pytest.raises(ValueError, match="no target"):
        cmrc2018_exact("x", [])
    assert graded(Cmrc2018Match(), "x", "。").status is Status.INVALID_ITEM


TEXT = st.text(alphabet="北京市东ab1. ，。", max_size=12)


@given(prediction=TEXT, target=TEXT)
def test_f1_is_symmetric_and_1_exactly_where_the_tokens_are_equal(prediction: str, target: str) -> None:
    value = cmrc2018_f1(prediction, [target])
    assert 0 <= value <= 1
    assert value == pytest.approx(cmrc2018_f1(target, [prediction]))
    same = cmrc2018_tokens(prediction) == cmrc2018_tokens(target) != []
    assert (value == 1) is same


def test_an_answer_of_a_megabyte_is_scored() -> None:
    assert cmrc2018_f1("东西" * 250_000 + "北京市", ["北京市"]) == pytest.approx(6 / 500_006)
    assert cmrc2018_f1("x" * 1_000_000, ["北京市"]) == 0.0


def test_the_scorer_gives_both_scores() -> None:
    outcome = graded(Cmrc2018Match(), "<think>上海？</think>北京市", "北京")
    assert outcome.scores == pytest.approx({"exact": 0.0, "f1": 0.8})


@pytest.mark.parametrize(("tokens", "value"), [("words", 0.0), ("characters", 0.8), ("mixed", 0.5)])
def test_the_three_ways_to_split_give_three_scores(tokens: Tokens, value: float) -> None:
    assert token_f1("于2008年", ["2008"], tokens) == pytest.approx(value)


def test_every_official_score_is_ours_item_by_item() -> None:
    path = SHARED / "cmrc2018" / "synthetic_predictions_with_official_scores.jsonl.gz"
    if not path.is_file():
        pytest.skip("needs cmrc2018/ in the shared data (PROBATUM_DATA)")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert len(rows) == 879
    for row in rows:
        assert cmrc2018_f1(row["prediction"], row["golds"]) == pytest.approx(row["f1"]), row["id"]
        assert cmrc2018_exact(row["prediction"], row["golds"]) == bool(row["em"]), row["id"]
