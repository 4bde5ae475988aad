"""Multiple choice and texts by likelihood: every normalisation, ties, equal options, corpora."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import ProtocolError
from probatum.core.records import Finish, Item, Mark, Response
from probatum.core.status import Status
from probatum.scoring import Calibration, MacroRate, OptionLikelihood, Perplexity, Rate, TextLikelihood
from tests.fakes import sums_task

ITEM = Item(id="1", fields={"question": "?"}, choices=("ab", "abcd", "é"), targets=("B",))


def said(*sums, tokens=None):
    counts = tokens or [1] * len(sums)
    return [
        Response(request="", logprobs=(total / count,) * count)
        for total, count in zip(sums, counts, strict=True)
    ]


@pytest.mark.parametrize(
    ("scorer", "responses", "scores", "answer"),
    [
        # sum: A; per token: B (-3/3); per character: B (-3/4); per byte: B
        (
            OptionLikelihood(),
            said(-2.5, -3.0, -2.6, tokens=[1, 3, 1]),
            {"sum": 0, "per_token": 1, "per_character": 1, "per_byte": 1, "correct": 0},
            "A",
        ),
        # é is 1 character and 2 bytes: by character B wins, by byte C does
        (
            OptionLikelihood(primary="per_byte"),
            said(-9.0, -4.0, -1.5),
            {"per_character": 1, "per_byte": 0, "correct": 0, "sum": 0},
            "C",
        ),
        # less what each option loses without the question: B gains most
        (
            OptionLikelihood(unconditional=True, primary="pmi"),
            said(-1.0, -5.0, -2.0, -1.0, -9.0, -3.0),
            {"pmi": 1, "sum": 0, "correct": 1},
            "B",
        ),
        (OptionLikelihood(of="labels"), said(-3.0, -1.0, -2.0), {"sum": 1, "correct": 1}, "B"),
    ],
)
def test_each_normalisation_has_its_own_winner(scorer, responses, scores, answer):
    outcome = scorer.grade(ITEM, 0, responses)
    assert outcome.status is Status.SCORED
    assert outcome.answer == answer
    assert scores.items() <= outcome.scores.items()
    assert set(outcome.scores) == set(scorer.scores)


def test_options_that_tie_share_the_credit_and_say_so():
    outcome = OptionLikelihood(of="labels").grade(ITEM, 0, said(-1.0, -1.0, -2.0))
    assert outcome.scores["correct"] == 0.5
    assert outcome.answer == "A,B"
    assert outcome.reason == "2 options are equally likely and share the credit"


def test_an_option_with_the_text_of_the_right_one_is_as_right():
    item = Item(id="1", fields={}, choices=("x", "y", "x"), targets=("A",))
    outcome = OptionLikelihood().grade(item, 0, said(-2.0, -3.0, -2.0))
    assert outcome.scores["correct"] == 1
    assert outcome.scores["chance"] == pytest.approx(2 / 3)
    labels = OptionLikelihood(of="labels").grade(item, 0, said(-2.0, -3.0, -2.0))
    assert labels.status is Status.INVALID_ITEM


@given(st.lists(st.floats(-2000, 0), min_size=3, max_size=3))
def test_probabilities_are_shares_and_the_best_option_has_the_largest(sums):
    outcome = OptionLikelihood(of="labels").grade(ITEM, 0, said(*sums))
    assert 0 <= outcome.scores["probability"] <= outcome.scores["confidence"] <= 1
    weights = [math.exp(value - max(sums)) for value in sums]
    assert outcome.scores["probability"] == pytest.approx(weights[1] / sum(weights))


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (Item(id="1", fields={}, choices=("a",), targets=("A",)), "a choice needs two"),
        (Item(id="1", fields={}, choices=("a", "b"), targets=("C",)), "none of the labels A, B"),
        (Item(id="1", fields={}, choices=("a", " "), targets=("A",)), "an option is empty"),
        (Item(id="1", fields={}, choices=("a", "b")), "no target"),
    ],
)
def test_an_item_that_likelihoods_cannot_decide_is_invalid(item, words):
    outcome = OptionLikelihood().grade(item, 0, said(-1.0, -2.0))
    assert outcome.status is Status.INVALID_ITEM
    assert words in outcome.reason


def test_a_missing_likelihood_is_never_a_wrong_answer():
    cut = [*said(-1.0, -2.0), Response(request="", finish=Finish.CONTEXT_OVERFLOW)]
    assert OptionLikelihood().grade(ITEM, 0, cut).status is Status.CONTEXT_OVERFLOW
    assert OptionLikelihood().grade(ITEM, 0, said(-1.0, -2.0)).status is Status.INFRA_ERROR
    text = [*said(-1.0, -2.0), Response(request="", text="B")]
    assert OptionLikelihood().grade(ITEM, 0, text).status is Status.INFRA_ERROR


def test_a_primary_score_that_is_not_there_is_refused():
    with pytest.raises(ProtocolError, match="'pmi' is not scored here"):
        OptionLikelihood(primary="pmi")


def test_a_text_loses_what_its_tokens_lose():
    item = Item(id="d", fields={"text": "héllo wörld"})
    response = Response(request="", logprobs=(-1.5, -0.5), scored_bytes=13, greedy=False)
    outcome = TextLikelihood().grade(item, 0, [response])
    assert outcome.scores == {"nll": 2.0, "tokens": 2.0, "words": 2.0, "bytes": 13.0, "greedy": 0.0}


def text_mark(item_id, nll, tokens, octets, stratum=None):
    scores = {"nll": nll, "tokens": tokens, "words": tokens, "bytes": octets, "greedy": 0.0}
    return Mark(item_id, 0, Status.SCORED, scores, None, stratum)


def test_the_corpus_is_totals_and_not_a_mean_of_ratios():
    marks = [text_mark("a", 10.0, 4.0, 16.0), text_mark("b", 30.0, 8.0, 24.0)]
    found = {one.name: one for one in Perplexity().estimate(marks, sums_task(), 0.95)}
    assert found["bits per byte"].value == pytest.approx(40 / 40 / math.log(2))
    assert found["perplexity per token"].value == pytest.approx(math.exp(40 / 12))
    assert found["perplexity per byte"].value == pytest.approx(2 ** found["bits per byte"].value)
    assert "one tokenizer only" in found["perplexity per token"].warnings[-1]


def test_domains_are_reported_apart_and_their_mean_counts_each_the_same():
    marks = [
        text_mark("a", 10.0, 4.0, 10.0, "x"),
        text_mark("b", 12.0, 4.0, 10.0, "x"),
        text_mark("c", 90.0, 40.0, 100.0, "y"),
        text_mark("d", 95.0, 40.0, 100.0, "y"),
    ]
    found = {one.name: one for one in Perplexity().estimate(marks, sums_task(), 0.95)}
    x, y = (found[f"bits per byte/{name}"].value for name in "xy")
    assert x == pytest.approx(1.1 / math.log(2))
    assert found["bits per byte (mean of domains)"].value == pytest.approx((x + y) / 2)
    assert found["bits per byte (mean of domains)"].low < (x + y) / 2


@pytest.mark.parametrize("rules", ["probatum", "lm_eval"])
def test_an_option_of_which_nothing_was_scored_does_not_win(rules):
    """Its sum is 0, which is more than any other's."""
    nothing = Response(request="", logprobs=(), greedy=True, reason="nothing behind the first token")
    outcome = OptionLikelihood(rules=rules).grade(ITEM, 0, [*said(-1.0, -2.0), nothing])
    assert outcome.status is Status.MODEL_ERROR
    assert outcome.reason == "nothing was scored of continuation 3 of 3 (nothing behind the first token)"
    text = Item(id="1", fields={"text": "<s>"})
    outcome = TextLikelihood(primary="greedy").grade(text, 0, [nothing])
    assert outcome.status is Status.MODEL_ERROR


def one_byte(item_id, nll, stratum):
    scores = {"nll": nll, "tokens": 1.0, "words": 1.0, "bytes": 1.0, "greedy": 0.0}
    return Mark(item_id, 0, Status.SCORED, scores, None, stratum)


def test_the_mean_of_domains_knows_its_error_no_better_than_they_do():
    """Domains of two and of three documents: by hand, Satterthwaite's degrees of freedom, and no normal."""
    losses = {"x": (1.0, 1.5), "y": (2.0, 2.1, 2.5)}
    marks = [one_byte(f"{name}{n}", nll, name) for name, each in losses.items() for n, nll in enumerate(each)]
    found = {one.name: one for one in Perplexity().estimate(marks, sums_task(), 0.95)}
    mean = found["bits per byte (mean of domains)"]
    variances = {name: np.var(each, ddof=1) / len(each) for name, each in losses.items()}  # equal lengths
    spread = sum(variances.values())
    df = spread**2 / sum(each**2 / (len(losses[name]) - 1) for name, each in variances.items())
    assert mean.method == "fixed domains, Satterthwaite t"
    assert mean.df == pytest.approx(df)
    assert mean.se == pytest.approx(math.sqrt(spread) / 2 / math.log(2))
    half = scipy.stats.t.ppf(0.975, df) * mean.se
    assert mean.high == pytest.approx(mean.value + half)
    assert mean.low == pytest.approx(max(0.0, mean.value - half))


def test_the_mean_of_domains_is_never_below_zero_bits():
    marks = [one_byte(f"{name}{n}", nll, name) for name in "xy" for n, nll in enumerate((0.01, 5.0))]
    found = {one.name: one for one in Perplexity().estimate(marks, sums_task(), 0.95)}
    assert found["bits per byte (mean of domains)"].low == 0


def mark(item_id, score, stratum, chance=0.25):
    return Mark(item_id, 0, Status.SCORED, {"correct": score, "chance": chance}, None, stratum)


def test_the_macro_average_counts_each_stratum_the_same():
    marks = [mark(str(n), float(n < 6), "big") for n in range(8)] + [
        mark("x", 0.0, "small"),
        mark("y", 1.0, "small"),
    ]
    (found,) = MacroRate().estimate(marks, sums_task(), 0.95)
    assert found.name == "correct (mean of 2 strata)"
    assert found.value == pytest.approx((0.75 + 0.5) / 2)
    assert found.bounds == pytest.approx((found.value, found.value))
    assert MacroRate().estimate(marks[:8], sums_task(), 0.95) == ()


def test_chance_is_the_mean_of_the_items_own():
    marks = [mark("a", 1.0, None, 0.25), mark("b", 0.0, None, 0.5)]
    whole, answered = Rate(chance_score="chance").estimate(marks, sums_task(), 0.95)
    assert whole.chance == answered.chance == pytest.approx(0.375)
    assert whole.p_chance is not None


def test_a_score_of_another_form_is_reported_only_where_it_is():
    marks = [mark("a", 1.0, None)]
    assert Rate(score="per_byte", optional=True).estimate(marks, sums_task(), 0.95) == ()


def sure_mark(item_id, confidence, right):
    return Mark(item_id, 0, Status.SCORED, {"sum": right, "confidence": confidence}, None, None)


def test_confidence_is_held_against_what_was_right():
    marks = [sure_mark(str(n), 0.8, float(n < 8)) for n in range(10)] + [sure_mark("tie", 0.5, 0.5)]
    found = {one.name: one for one in Calibration().estimate(marks, sums_task(), 0.95)}
    assert found["calibration error (15 bins)"].value == pytest.approx(0.0)
    assert found["Brier score of confidence"].value == pytest.approx(0.16)
    assert found["AUROC of confidence"].value == pytest.approx(0.5)
    assert found["area under risk-coverage"].value == pytest.approx(0.2)
    assert found["Brier score of confidence"].n == 10
    assert Calibration().estimate([mark("a", 1.0, None)], sums_task(), 0.95) == ()


def test_broken_items_are_in_no_coverage():
    """As in every other row: what could not be asked is no part of what could have been covered."""
    marks = [sure_mark(str(n), 0.8, float(n < 2)) for n in range(3)]
    marks += [Mark("lost", 0, Status.CONTEXT_OVERFLOW, {}, None, None)]
    marks += [Mark(f"broken{n}", 0, Status.INVALID_ITEM, {}, None, None) for n in range(4)]
    found = {one.name: one for one in Calibration().estimate(marks, sums_task(), 0.95)}
    assert {one.coverage for one in found.values()} == {0.75}


def test_where_all_answers_are_right_what_cannot_be_told_is_none():
    marks = [sure_mark(str(n), 0.8, 1.0) for n in range(5)]
    found = {one.name: one for one in Calibration().estimate(marks, sums_task(), 0.95)}
    assert found["AUROC of confidence"].value is None
    assert found["AUROC of confidence"].warnings


def test_a_perplexity_beyond_floating_point_is_none_and_says_so():
    marks = [text_mark("a", 1e6, 2.0, 8.0), text_mark("b", 2e6, 2.0, 8.0)]
    found = {one.name: one for one in Perplexity().estimate(marks, sums_task(), 0.95)}
    assert found["perplexity per token"].value is None
    assert len(found["perplexity per token"].warnings) >= 2
    assert found["bits per byte"].value == pytest.approx(3e6 / 16 / math.log(2))


@pytest.mark.parametrize("value", [math.nan, 0.5, math.inf])
@pytest.mark.parametrize("scorer", [OptionLikelihood(), OptionLikelihood(rules="lm_eval")])
def test_what_is_no_log_probability_is_not_compared(scorer, value):
    outcome = scorer.grade(ITEM, 0, said(-1.0, value, -2.0))
    assert outcome.status is Status.MODEL_ERROR
    assert outcome.reason == f"the model gave {value!r} as a log-probability: it is none"
    text = Item(id="1", fields={"text": "a"})
    assert TextLikelihood().grade(text, 0, said(value)).status is Status.MODEL_ERROR


def test_rounding_above_zero_is_a_likelihood():
    assert OptionLikelihood().grade(ITEM, 0, said(-1.0, 2e-4, -2.0)).scores["correct"] == 1


def test_what_the_question_adds_makes_no_impossible_option_likelier():
    impossible = -math.inf
    scorer = OptionLikelihood(unconditional=True, primary="pmi")
    outcome = scorer.grade(ITEM, 0, said(impossible, -5.0, impossible, impossible, -9.0, -1.0))
    assert outcome.answer == "B"
    assert outcome.scores["correct"] == 1


def test_responses_without_log_probabilities_are_no_answers_of_the_model():
    outcome = OptionLikelihood().grade(ITEM, 0, [*said(-1.0, -2.0), Response(request="", text="A")])
    assert outcome.status is Status.INFRA_ERROR
    assert outcome.reason == "2 of 3 responses hold log-probabilities, and 3 are needed"
