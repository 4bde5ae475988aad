from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given

from probatum import stats
from probatum.core.errors import ProtocolError
from probatum.core.protocol import Policy
from probatum.core.records import Estimate, Mark
from probatum.core.status import BOUNDED, END_TO_END, Status
from probatum.scoring import PassAtK, Rate
from tests.fakes import sums_task

TASK = sums_task()
LEVEL = 0.95


def marks_of(*items: str, score: str = "correct") -> list[Mark]:
    """Marks from words: one word an item, one letter a sample.

    `1` and `0` are scored, `n` no answer, `r` refused, `i` infra error, `g` grader error, `x` broken.
    """
    letters = {"n": "no_answer", "r": "refused", "i": "infra_error", "g": "grader_error", "x": "invalid_item"}
    return [
        Mark(f"item-{place}", sample, Status.SCORED, {score: float(letter)})
        if letter in "01"
        else Mark(f"item-{place}", sample, Status(letters[letter]), {})
        for place, word in enumerate(items)
        for sample, letter in enumerate(word)
    ]


def rate(marks: list[Mark], task=TASK, **settings) -> dict[str, Estimate]:
    return {one.name: one for one in Rate(**settings).estimate(marks, task, LEVEL)}


def passes(marks: list[Mark], task=TASK, **settings) -> dict[str, Estimate]:
    return {one.name: one for one in PassAtK(**{"score": "correct", **settings}).estimate(marks, task, LEVEL)}


# ── Rate ────────────────────────────────────────────────────────────────────────────────────────────

TABLE = [  # items; end to end: value, coverage, bounds; among answers: value, coverage, bounds
    (["1", "0", "1", "1"], (0.75, 1.0, (0.75, 0.75)), (0.75, 1.0, (0.75, 0.75))),
    (["1", "0", "n", "r"], (0.25, 1.0, (0.25, 0.25)), (0.5, 0.5, (0.25, 0.75))),
    (["1", "0", "i", "g"], (0.5, 0.5, (0.25, 0.75)), (0.5, 0.5, (0.25, 0.75))),
    (["1", "0", "n", "i"], (1 / 3, 0.75, (0.25, 0.5)), (0.5, 0.5, (0.25, 0.75))),
    (["1", "0", "x", "x"], (0.5, 1.0, (0.5, 0.5)), (0.5, 1.0, (0.5, 0.5))),
    (["10", "11"], (0.75, 1.0, (0.75, 0.75)), (0.75, 1.0, (0.75, 0.75))),
    (["1n", "1i"], (0.75, 0.75, (0.5, 0.75)), (1.0, 0.5, (0.5, 1.0))),
]


@pytest.mark.parametrize(("items", "whole", "answered"), TABLE)
def test_rates_count_what_the_design_says(items, whole, answered):
    found = rate(marks_of(*items))
    for name, expected in (("correct", whole), ("correct (answered)", answered)):
        estimate = found[name]
        assert (estimate.value, estimate.coverage) == pytest.approx(expected[:2])
        assert estimate.bounds == pytest.approx(expected[2])
    assert found["correct"].denominator == "end_to_end"
    assert found["correct (answered)"].denominator == "capability"


@pytest.mark.parametrize("items", [[], ["x"], ["i", "g"]])
def test_without_a_counted_sample_the_value_is_none_and_says_why(items):
    estimate = rate(marks_of(*items))["correct"]
    assert (estimate.value, estimate.low, estimate.high, estimate.n, estimate.coverage) == (
        None,
        None,
        None,
        0,
        0.0,
    )
    assert "nothing to estimate from" in estimate.warnings[0]
    assert estimate.bounds == ((0.0, 1.0) if items and items[0] != "x" else None)


def test_the_interval_of_single_answers_is_wilsons():
    items = ["1"] * 37 + ["0"] * 63
    estimate = rate(marks_of(*items))["correct"]
    z = 1.959963984540054
    centre = (37 + z * z / 2) / (100 + z * z)
    half = z / (100 + z * z) * math.sqrt(37 * 63 / 100 + z * z / 4)
    assert (estimate.low, estimate.high) == pytest.approx((centre - half, centre + half), abs=1e-12)
    assert estimate.n == 100
    assert "ilson" in estimate.method


def test_items_of_one_cluster_widen_the_interval():
    marks = marks_of(*(["1"] * 20 + ["0"] * 20))
    clustered = [replace(mark, cluster=f"passage-{place // 10}") for place, mark in enumerate(marks)]
    alone, together = rate(marks)["correct"], rate(clustered)["correct"]
    assert together.value == alone.value
    assert (together.n, together.clusters) == (40, 4)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    expected = stats.mean_interval(
        [mark.scores["correct"] for mark in clustered],
        clusters=[mark.cluster for mark in clustered],
        level=LEVEL,
        bounds=(0, 1),
    )
    assert (together.low, together.high, together.method) == (expected.low, expected.high, expected.method)


def test_samples_of_one_item_are_one_unit():
    """Five samples of each of 20 items say no more about the benchmark than 20 items do."""
    estimate = rate(marks_of(*(["11111"] * 10 + ["00000"] * 10)))["correct"]
    single = rate(marks_of(*(["1"] * 10 + ["0"] * 10)))["correct"]
    assert (estimate.n, estimate.low, estimate.high) == (20, single.low, single.high)


def test_one_cluster_has_no_interval_and_says_so():
    marks = [replace(mark, cluster="all") for mark in marks_of("1", "0", "1")]
    estimate = rate(marks)["correct"]
    assert (estimate.low, estimate.high, estimate.se) == (None, None, None)
    assert estimate.warnings


def test_strata_are_reported_each_and_the_whole_stays_the_first():
    marks = [
        replace(mark, stratum=stratum)
        for mark, stratum in zip(marks_of("1", "1", "0", "i"), "bbaa", strict=True)
    ]
    found = Rate().estimate(marks, TASK, LEVEL)
    assert [(one.name, one.value, one.n) for one in found] == [
        ("correct", pytest.approx(2 / 3), 3),
        ("correct (answered)", pytest.approx(2 / 3), 3),
        ("correct/a", 0.0, 1),
        ("correct/b", 1.0, 2),
    ]
    assert found[2].bounds == (0.0, 0.5)
    assert "correct/a" not in rate(marks, by_stratum=False)
    assert list(rate([replace(mark, stratum="only") for mark in marks])) == ["correct", "correct (answered)"]


def test_a_policy_gives_the_end_to_end_rate_its_name_and_its_denominator():
    policy = Policy(name="abstaining is allowed", counted=END_TO_END - {Status.REFUSED})
    estimate = rate(marks_of("1", "0", "r"), replace(TASK, policy=policy))["correct"]
    assert (estimate.denominator, estimate.value, estimate.bounds) == (
        policy.name,
        0.5,
        (pytest.approx(1 / 3), pytest.approx(2 / 3)),
    )


def test_a_rate_is_held_against_chance():
    task = replace(TASK, chance=0.25)
    above = rate(marks_of(*(["1"] * 60 + ["0"] * 40)), task)["correct"]
    at = rate(marks_of(*(["1"] * 25 + ["0"] * 75)), task)["correct"]
    assert above.chance == at.chance == 0.25
    assert above.p_chance < 1e-6
    assert 0.4 < at.p_chance < 0.6
    assert rate(marks_of("1", "0"))["correct"].p_chance is None


@pytest.mark.parametrize("score", [-0.5, 1.5, 100.0])
def test_a_score_outside_of_0_to_1_is_no_rate(score):
    with pytest.raises(ProtocolError, match=r"a rate needs scores from 0 to 1, and item 'a' has 'correct'"):
        rate([Mark("a", 0, Status.SCORED, {"correct": score})])


def test_another_score_and_another_name():
    marks = [Mark("a", 0, Status.SCORED, {"f1": 0.5, "correct": 1.0})]
    assert rate(marks, score="f1")["f1"].value == 0.5
    assert set(rate(marks, score="f1", name="token F1")) == {"token F1", "token F1 (answered)"}


# ── pass@k ──────────────────────────────────────────────────────────────────────────────────────────


def share_with_a_pass(word: str, k: int) -> float:
    """pass@k by its definition: the share of all k-subsets of the samples that hold a pass."""
    subsets = list(combinations(word, k))
    return sum("1" in subset for subset in subsets) / len(subsets)


@given(st.lists(st.text("01", min_size=4, max_size=4), min_size=2, max_size=5), st.integers(1, 4))
def test_pass_at_k_is_the_share_of_subsets_that_hold_a_pass(items, k):
    estimate = passes(marks_of(*items), ks=(k,))[f"pass@{k}"]
    assert estimate.value == pytest.approx(sum(share_with_a_pass(word, k) for word in items) / len(items))
    assert estimate.n == len(items)


def test_every_k_that_can_be_estimated_is_and_no_other():
    assert list(passes(marks_of("10101", "00000"), ks=(1, 5, 10))) == [
        "pass@1",
        "pass@1 (answered)",
        "pass@5",
        "pass@5 (answered)",
    ]
    assert list(passes([], ks=(1, 10))) == ["pass@1", "pass@1 (answered)"]


def test_pass_at_k_is_undefined_where_fewer_than_k_samples_count():
    """With n < k the estimator is undefined; 1.0, which some code gives there, is wrong."""
    estimate = passes(marks_of("11i", "1ig"), ks=(3,))["pass@3"]
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (None, None, None, 0)
    assert estimate.warnings
    assert estimate.bounds == (0.0, 1.0)


def test_a_problem_with_too_few_samples_is_missing_and_not_filled_up():
    estimate = passes(marks_of("000", "1ii"), ks=(2,))["pass@2"]
    assert (estimate.value, estimate.n, estimate.coverage) == (0.0, 1, 0.5)
    assert estimate.bounds == (0.0, 0.5)


def test_problems_with_different_numbers_of_samples_are_each_judged_by_their_own():
    """A file of answers made elsewhere may hold five of one problem and one of another."""
    found = passes(marks_of("10000", "0"), ks=(1, 5))
    assert found["pass@1"].value == pytest.approx(0.1)
    assert (found["pass@5"].value, found["pass@5"].n, found["pass@5"].bounds) == (1.0, 1, (0.5, 1.0))


def test_a_sample_without_an_answer_is_a_failed_one_end_to_end_and_none_among_answers():
    found = passes(marks_of("1n", "nn", "0r"), ks=(1,))
    assert found["pass@1"].value == pytest.approx(0.5 / 3)
    assert found["pass@1 (answered)"].value == pytest.approx(0.5)
    assert found["pass@1 (answered)"].n == 2


@pytest.mark.parametrize("score", [0.5, 2.0, -1.0])
def test_pass_at_k_takes_passes_only(score):
    with pytest.raises(ProtocolError, match=r"pass@k needs scores 0 or 1, and item 'a' has 'correct'"):
        passes([Mark("a", 0, Status.SCORED, {"correct": score})])


# ── what holds of every estimate ────────────────────────────────────────────────────────────────────

words = st.lists(st.text("01nrigx", min_size=1, max_size=4), max_size=6)
METRICS = {"rate": Rate(), **{f"pass@{k}": PassAtK(score="correct", ks=(k,)) for k in (1, 2)}}


@given(words, st.sampled_from(list(METRICS)))
def test_every_estimate_lies_in_its_interval_and_within_its_bounds(items, metric):
    for estimate in METRICS[metric].estimate(marks_of(*items), TASK, LEVEL):
        assert 0 <= estimate.coverage <= 1
        if estimate.bounds is not None:
            assert 0 <= estimate.bounds[0] <= estimate.bounds[1] <= 1
        if estimate.value is None:
            assert estimate.warnings
            continue
        assert estimate.bounds[0] - 1e-12 <= estimate.value <= estimate.bounds[1] + 1e-12
        if estimate.low is not None:
            assert 0 <= estimate.low <= estimate.value + 1e-12
            assert estimate.value - 1e-12 <= estimate.high <= 1


@given(st.lists(st.sampled_from("01nrigx"), max_size=10))
def test_the_end_to_end_rate_is_never_above_the_one_among_answers(items):
    """Of one sample an item and 0/1 scores: what it adds to the denominator is wrong."""
    found = rate(marks_of(*items))
    whole, answered = found["correct"], found["correct (answered)"]
    if whole.value is not None and answered.value is not None:
        assert whole.value <= answered.value + 1e-12
    assert answered.coverage <= whole.coverage


@given(
    st.lists(st.text("01nig", min_size=1, max_size=2), min_size=1, max_size=4), st.sampled_from(list(METRICS))
)
def test_the_bounds_hold_whatever_the_missing_would_have_been(items, metric):
    """Every completion of what is missing, of both denominators, lies within the bounds."""
    marks = marks_of(*items)
    for place, missing in enumerate((BOUNDED, set(Status) - {Status.SCORED})):
        found = METRICS[metric].estimate(marks, TASK, LEVEL)
        assume(found)  # nobody was asked for k samples
        estimate = found[place]
        holes = [number for number, mark in enumerate(marks) if mark.status in missing]
        assume(len(holes) <= 6)
        for filling in product((0.0, 1.0), repeat=len(holes)):
            filled = list(marks)
            for number, score in zip(holes, filling, strict=True):
                filled[number] = replace(marks[number], status=Status.SCORED, scores={"correct": score})
            value = METRICS[metric].estimate(filled, TASK, LEVEL)[place].value
            if value is not None:
                assert estimate.bounds[0] - 1e-12 <= value <= estimate.bounds[1] + 1e-12


@given(words, st.randoms())
def test_the_order_of_the_marks_changes_nothing_but_the_last_bits(items, chance):
    marks = marks_of(*items)
    shuffled = list(marks)
    chance.shuffle(shuffled)
    for first, second in zip(
        Rate().estimate(marks, TASK, LEVEL), Rate().estimate(shuffled, TASK, LEVEL), strict=True
    ):
        numbers = [
            [one.value, one.low, one.high, one.coverage, *(one.bounds or ())] for one in (first, second)
        ]
        assert numbers[0] == pytest.approx(numbers[1])
