import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.stats import jury_verdict, label_preference, win_rate


@pytest.mark.parametrize(
    ("votes", "quorum", "verdict"),
    [
        (["A", "A", "B"], 2, "A"),
        (["A", "error", "error"], 3, "inconclusive"),
        (["A", None, None], 1, "A"),
        (["A", "B"], 2, "tie"),
        (["A", "B", "tie"], 2, "tie"),
        (["tie", "tie", "A"], 2, "tie"),
        (["error", "error"], 1, "inconclusive"),
    ],
)
def test_a_jury_needs_its_quorum_and_a_leading_label(votes, quorum, verdict):
    found = jury_verdict(votes, quorum)
    assert found.verdict == verdict
    assert sum(found.counts.values()) + found.failed == len(votes)
    assert found.conclusive == (verdict != "inconclusive")


def test_labels_without_a_tie_leave_an_even_jury_inconclusive():
    assert jury_verdict(["C", "I"], 2, labels=("C", "I")).verdict == "inconclusive"


@pytest.mark.parametrize(("votes", "quorum"), [([], 1), (["A"], 2), (["A"], 0)])
def test_a_jury_that_cannot_be_is_refused(votes, quorum):
    with pytest.raises(ValueError, match=r"judge|quorum"):
        jury_verdict(votes, quorum)


@given(st.lists(st.sampled_from(["A", "B", "tie", "error"]), min_size=1, max_size=9), st.randoms())
def test_the_order_of_judges_and_the_names_of_the_sides_change_nothing(votes, random):
    swap = {"A": "B", "B": "A"}
    mixed = list(votes)
    random.shuffle(mixed)
    found = jury_verdict(votes, 1).verdict
    assert jury_verdict(mixed, 1).verdict == found
    mirrored = jury_verdict([swap.get(vote, vote) for vote in votes], 1).verdict
    assert mirrored == swap.get(found, found)


def test_ties_count_half():
    assert win_rate(36, 36, 28).value == pytest.approx(0.54)
    assert win_rate(45, 0, 55).value == pytest.approx(0.45)
    assert win_rate(1, 0, 0).interval is None
    with pytest.raises(ValueError, match="no battles"):
        win_rate(0, 0, 0)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_win_rates_of_the_two_sides_add_up_to_one(wins, ties, losses):
    if wins + ties + losses > 1:
        ours, theirs = win_rate(wins, ties, losses), win_rate(losses, ties, wins)
        assert ours.value + theirs.value == pytest.approx(1)
        assert 0 <= ours.low <= ours.value <= ours.high <= 1


def test_a_preference_compares_the_two_labels_in_their_case():
    found = label_preference({"m": -0.5, "M": -1.2, "Both": -9.0}, "M", "m")
    assert found.value == pytest.approx(0.3318, abs=5e-5)
    assert (found.low, found.high) == (found.value, found.value)
    assert found.other == pytest.approx(1 - math.exp(-0.5) - math.exp(-1.2))


def test_a_label_that_is_not_listed_has_a_range():
    found = label_preference({"m": math.log(0.9), "x": math.log(0.04)}, "M", "m")
    assert found.value == 0
    assert found.high == pytest.approx(0.04 / 0.94)
    mirrored = label_preference({"m": math.log(0.9), "x": math.log(0.04)}, "m", "M")
    assert (mirrored.value, mirrored.low) == (1, pytest.approx(0.9 / 0.94))


@pytest.mark.parametrize(
    ("listed", "of", "against"),
    [
        ({"x": -1.0}, "M", "m"),
        ({}, "M", "m"),
        ({"m": 0.5}, "M", "m"),
        ({"m": math.nan}, "m", "M"),
        ({"m": -1.0}, "m", "m"),
    ],
)
def test_preferences_without_a_label_are_refused(listed, of, against):
    with pytest.raises(ValueError, match=r"label|log-prob|neither"):
        label_preference(listed, of, against)
