"""SQuAD 2.0 by its official rules, and where ours says more than the script."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import UsageError
from probatum.core.records import Finish
from probatum.core.status import Status
from probatum.scoring.text import SquadMatch, SquadQuestion, squad_best_threshold, squad_report
from tests.scoring.text.answers import graded

SHARED = Path(os.environ.get("PROBATUM_DATA", Path(__file__).parents[4] / "shared" / "data"))

QUESTIONS = (
    SquadQuestion("a", ("the Nile", "Nile river")),
    SquadQuestion("b", ("1889",)),
    SquadQuestion("c", ()),
    SquadQuestion("d", ("The",)),
)


def test_the_parts_of_the_report_are_those_of_the_official_script() -> None:
    report = squad_report(QUESTIONS, {"a": "Nile", "b": "in 1889", "c": "", "d": "a"})
    assert report.missing == ()
    assert (report.exact, report.answered_exact, report.unanswerable_exact) == (75.0, 50.0, 100.0)
    assert report.f1 == pytest.approx(100 * (1 + 2 / 3 + 1 + 1) / 4)
    assert report.answered_f1 == pytest.approx(100 * (1 + 2 / 3) / 2)


def test_a_target_that_normalises_to_nothing_means_no_answer_in_version_2_alone() -> None:
    question = [SquadQuestion("d", ("The", "Nile"))]
    assert squad_report(question, {"d": ""}, version=2).exact == 0.0
    assert squad_report(question, {"d": ""}, version=1).exact == 100.0


def test_questions_without_a_prediction_are_wrong_and_named() -> None:
    report = squad_report(QUESTIONS, {"a": "Nile"})
    assert report.missing == ("b", "c", "d")
    assert report.exact == 25.0


@pytest.mark.parametrize(("threshold", "exact"), [(1.0, 50.0), (0.8, 75.0), (0.6, 100.0), (0.2, 75.0)])
def test_a_probability_above_the_threshold_is_no_answer(threshold: float, exact: float) -> None:
    predictions = {"a": "Nile", "b": "1889", "c": "something", "d": "something"}
    no_answer = {"a": 0.1, "b": 0.5, "c": 0.9, "d": 0.7}
    assert squad_report(QUESTIONS, predictions, no_answer=no_answer, threshold=threshold).exact == exact


def test_the_best_threshold_is_the_highest_probability_that_is_kept() -> None:
    predictions = {"a": "Nile", "b": "1889", "c": "something", "d": "something"}
    best = squad_best_threshold(
        QUESTIONS, predictions, {"a": 0.1, "b": 0.5, "c": 0.9, "d": 0.7}, score="exact"
    )
    assert (best.value, best.threshold) == (100.0, 0.5)


def test_equal_probabilities_move_together_and_the_official_script_parts_them() -> None:
    predictions = {"a": "Nile", "b": "wrong", "c": "something", "d": ""}
    no_answer = dict.fromkeys("acbd", 0.5)
    assert squad_best_threshold(QUESTIONS, predictions, no_answer, score="exact").value == 50.0
    official = squad_best_threshold(QUESTIONS, predictions, no_answer, score="exact", ties="official")
    assert official.value == 75.0


ANSWER = st.sampled_from(["", "Nile", "the nile river", "1889", "x"])


@given(
    predictions=st.fixed_dictionaries(dict.fromkeys("abcd", ANSWER)),
    no_answer=st.fixed_dictionaries(dict.fromkeys("abcd", st.sampled_from([0.0, 0.25, 0.5, 1.0]))),
    score=st.sampled_from(["exact", "f1"]),
)
def test_the_best_score_is_reached_at_its_threshold_and_nowhere_surpassed(
    predictions: Mapping[str, str], no_answer: Mapping[str, float], score: str
) -> None:
    best = squad_best_threshold(QUESTIONS, predictions, no_answer, score=score)  # type: ignore[arg-type]

    def at(threshold: float) -> float:
        report = squad_report(QUESTIONS, predictions, no_answer=no_answer, threshold=threshold)
        return report.exact if score == "exact" else report.f1

    every = [at(threshold) for threshold in (-1.0, 0.0, 0.25, 0.5, 1.0)]
    assert best.value == pytest.approx(max(every))
    reached = at(best.threshold) if best.value > at(-1.0) else at(-1.0)
    assert reached == pytest.approx(best.value)


@pytest.mark.parametrize(
    ("questions", "version", "message"),
    [
        ([], 2, "no question"),
        ([SquadQuestion("a", ("x",)), SquadQuestion("a", ("y",))], 2, "one id"),
        ([SquadQuestion("a", ())], 1, "version=2"),
    ],
)
def test_questions_that_cannot_be_scored_are_refused(
    questions: list[SquadQuestion], version: int, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        squad_report(questions, {}, version=version)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "targets", "exact", "f1"),
    [
        ("The Nile.", ("Nile",), 1.0, 1.0),
        ("<think>Nile?</think>\nthe river Nile", ("Nile",), 0.0, 2 / 3),
        ("", (), 1.0, 1.0),
        ("No answer", (), 1.0, 1.0),
        ("Unanswerable.", ("Nile",), 0.0, 0.0),
        ("Nile", (), 0.0, 0.0),
    ],
)
def test_the_scorer_reads_the_whole_answer(
    text: str, targets: tuple[str, ...], exact: float, f1: float
) -> None:
    outcome = graded(SquadMatch(), text, *targets)
    assert outcome.status is Status.SCORED
    assert outcome.scores == pytest.approx({"exact": exact, "f1": f1})


def test_reasoning_that_never_ends_is_truncated() -> None:
    assert graded(SquadMatch(), "<think>Nile", "Nile").status is Status.TRUNCATED
    assert graded(SquadMatch(), "Ni", "Nile", finish=Finish.LENGTH).status is Status.TRUNCATED


def test_version_1_has_no_item_without_an_answer() -> None:
    assert graded(SquadMatch(version=1), "x").status is Status.INVALID_ITEM


def test_every_official_score_of_one_system_is_ours_item_by_item() -> None:
    folder = SHARED / "squad"
    if not folder.is_dir():
        pytest.skip("needs squad/ in the shared data (PROBATUM_DATA)")
    import gzip

    with gzip.open(folder / "squad_dev_docs_1000.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    questions = [SquadQuestion(row["id"], tuple(row["answers_text"])) for row in rows]
    predictions = json.loads((folder / "predictions_BERT_ensemble_Google_AI_Language.json").read_text())
    report = squad_report(questions, predictions)
    lines = (folder / "expected_per_item_BERT.jsonl").read_text().splitlines()
    official = {row["id"]: (row["em"], row["f1"]) for row in map(json.loads, lines)}
    assert len(official) == 1000
    for name, values in official.items():
        assert report.per_question[name] == pytest.approx(values), name
