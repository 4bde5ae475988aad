"""BLEU, chrF, TER and ROUGE: the libraries' own numbers, and which of them belong to a corpus."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.benchmarks import find_task
from probatum.core.errors import ProtocolError, UsageError
from probatum.core.protocol import Task
from probatum.core.records import Item, Mark, Response
from probatum.core.status import Status
from probatum.scoring.text import (
    CorpusBleu,
    CorpusTer,
    NgramOverlap,
    TruthfulOverlap,
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
    rouge,
    sentence_bleu,
    truthful_overlap,
)
from probatum.scoring.text.backends import sacrebleu
from tests.scoring.text.answers import graded

PREDICTIONS = ("The cat sat on the mat .", "A dog barks loudly .", "It rains .")
REFERENCES = (
    ("The cat sat on a mat .", "A cat sat on the mat ."),
    ("The dog barks very loudly .",),
    ("It is raining .",),
)


@pytest.fixture(scope="module")
def task() -> Task:
    return find_task("mini")


def marks(predictions: tuple[str, ...], scorer: NgramOverlap) -> list[Mark]:
    found = []
    for number, (text, targets) in enumerate(zip(predictions, REFERENCES, strict=True)):
        one = Item(id=str(number), fields={}, targets=targets)
        outcome = scorer.grade(one, 0, [Response(request="r", text=text)])
        found.append(Mark(one.id, 0, outcome.status, outcome.scores))
    return found


def test_a_corpus_score_names_what_it_is() -> None:
    found = corpus_bleu(PREDICTIONS, REFERENCES)
    assert found.value == pytest.approx(59.52416838751354)
    assert "tok:13a" in found.signature
    assert (found.name, found.items) == ("BLEU", 3)
    assert corpus_bleu(["x"], [["x"]], tokens="zh").signature != found.signature


def test_the_bleu_of_the_corpus_is_no_mean_of_the_items() -> None:
    mean = sum(map(sentence_bleu, PREDICTIONS, REFERENCES)) / len(PREDICTIONS)
    assert abs(mean - corpus_bleu(PREDICTIONS, REFERENCES).value) > 1


@pytest.mark.parametrize(("tokens", "value"), [("13a", 0.0), ("zh", 70.0), ("char", 70.0)])
def test_chinese_needs_a_tokenizer_that_splits_it(tokens: str, value: float) -> None:
    found = corpus_bleu(["今天天气很好我们去公园"], [["今天天气很好我们去公园玩"]], tokens=tokens)  # type: ignore[arg-type]
    assert found.value >= value
    assert (found.value == 0) is (value == 0)


def test_chrf_and_ter_of_equal_texts_are_perfect() -> None:
    texts = [each[0] for each in REFERENCES]
    assert corpus_chrf(texts, REFERENCES).value == pytest.approx(100)
    assert corpus_chrf(texts, REFERENCES, word_order=2).name == "chrF++"
    assert corpus_ter(texts, REFERENCES).value == 0.0
    assert corpus_ter(["北京很大"], [["北京很小"]], asian=True).value == 25.0


def test_what_cannot_be_compared_is_refused() -> None:
    for function in (corpus_bleu, corpus_chrf, corpus_ter):
        with pytest.raises(UsageError, match="predictions and"):
            function(["a"], [])
        with pytest.raises(UsageError, match="at least one"):
            function([], [])
        with pytest.raises(UsageError, match="no reference"):
            function(["a", "b"], [["a"], []])
    with pytest.raises(ValueError, match="no reference"):
        sentence_bleu("a", [])


def test_rouge_takes_the_best_reference_and_refuses_what_it_cannot_read() -> None:
    found = rouge("the cat sat", ["a dog", "the cat sat down"])
    assert found == pytest.approx({"rouge1": 6 / 7, "rouge2": 0.8, "rougeL": 6 / 7})
    with pytest.raises(UsageError, match="ASCII"):
        rouge("猫", ["猫坐着"])
    with pytest.raises(ValueError, match="no reference"):
        rouge("a", [])


SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "."]), max_size=9).map(" ".join)


@settings(max_examples=60)
@given(predictions=st.tuples(SENTENCES, SENTENCES, SENTENCES))
def test_the_metric_of_a_task_equals_sacrebleu_on_the_corpus(
    predictions: tuple[str, ...], task: Task
) -> None:
    counted = marks(predictions, NgramOverlap(ter=True))
    stripped = [text.strip() for text in predictions]
    (bleu,) = CorpusBleu(resamples=20).estimate(counted, task, 0.95)
    assert bleu.value == pytest.approx(corpus_bleu(stripped, REFERENCES).value)
    (ter,) = CorpusTer(resamples=20).estimate(counted, task, 0.95)
    assert ter.value == pytest.approx(corpus_ter(stripped, REFERENCES).value)


def test_the_interval_covers_the_score_and_says_what_is_missing(task: Task) -> None:
    counted = marks(PREDICTIONS, NgramOverlap())
    counted.append(Mark("3", 0, Status.REFUSED, {}))
    (found,) = CorpusBleu().estimate(counted, task, 0.95)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= (found.value or 0) <= found.high
    assert (found.n, found.coverage, found.denominator) == (3, 0.75, "capability")
    assert found.warnings == ("1 samples without an answer are in no corpus",)
    assert CorpusBleu().estimate(counted, task, 0.95) == (found,)


def test_a_corpus_of_nothing_has_no_score_and_one_of_one_item_no_interval(task: Task) -> None:
    (nothing,) = CorpusBleu().estimate([Mark("1", 0, Status.REFUSED, {})], task, 0.95)
    assert (nothing.value, nothing.coverage) == (None, 0.0)
    (single,) = CorpusBleu().estimate(marks(PREDICTIONS, NgramOverlap())[:1], task, 0.95)
    assert single.value is not None
    assert (single.low, single.high) == (None, None)


def test_a_scorer_without_counts_does_not_fit(task: Task) -> None:
    with pytest.raises(ProtocolError, match="NgramOverlap"):
        CorpusTer().estimate(marks(PREDICTIONS, NgramOverlap()), task, 0.95)


def test_every_declared_score_is_given() -> None:
    scorer = NgramOverlap(rouge=("rouge1", "rougeLsum"), ter=True)
    outcome = graded(scorer, "A cat .", "A cat .")
    assert tuple(outcome.scores) == scorer.scores
    assert (outcome.scores["bleu"], outcome.scores["rouge1"], outcome.scores["ter_edits"]) == (1.0, 1.0, 0.0)
    assert graded(scorer, "", "A cat .").scores["bleu"] == 0.0
    assert graded(scorer, "x", " ").status is Status.INVALID_ITEM


def test_overlap_with_the_truth_is_held_against_overlap_with_falsehood() -> None:
    found = truthful_overlap("Nothing happens to you", ["Nothing happens to you."], ["You get sick"])
    assert found["rouge1_max"] == pytest.approx(100)
    assert found["rouge1_diff"] == pytest.approx(100 - 100 * 2 / 7)
    assert found["bleu_acc"] == 1.0
    equal = truthful_overlap("x y", ["x y"], ["x y"])
    assert (equal["rougeL_acc"], equal["rougeL_diff"]) == (0.0, 0.0)
    with pytest.raises(ValueError, match="true and a false"):
        truthful_overlap("x", ["x"], [])


def test_the_scorer_of_overlap_needs_both_sides() -> None:
    outcome = graded(TruthfulOverlap(), "Nothing.", "Nothing.", incorrect_answers=["All."])
    assert tuple(outcome.scores) == TruthfulOverlap().scores
    assert graded(TruthfulOverlap(), "Nothing.", "Nothing.").status is Status.INVALID_ITEM


def test_a_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    sacrebleu.cache_clear()
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(UsageError, match=r"probatum\[text\]"):
        corpus_ter(["a"], [["a"]])
    sacrebleu.cache_clear()
