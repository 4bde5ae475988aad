from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Policy
from probatum.core.records import Mark
from probatum.core.status import BOUNDED, END_TO_END, Status
from probatum.scoring.tally import (
    CAPABILITY,
    Denominator,
    answered_share,
    count_statuses,
    end_to_end,
    units,
)

WHOLE = end_to_end(Policy())


def mark(
    status: str = "scored", score: float = 1.0, *, item: str = "a", sample: int = 0, **places: str
) -> Mark:
    scores = {"correct": score} if status == "scored" else {}
    return Mark(item, sample, Status(status), scores, **places)


statuses = st.sampled_from(list(Status))
marks = st.lists(
    st.builds(
        lambda item, status, score: Mark(
            f"item-{item}", 0, status, {"correct": score} if status is Status.SCORED else {}
        ),
        st.integers(0, 5),
        statuses,
        st.sampled_from([0.0, 0.25, 1.0]),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("found", "denominator", "expected"),
    [
        pytest.param([mark(score=0.5)], WHOLE, (0.5, 1, 0), id="scored"),
        pytest.param([mark("refused")], WHOLE, (0.0, 1, 0), id="refused is wrong"),
        pytest.param([mark("refused")], CAPABILITY, (0.0, 0, 1), id="refused is no answer"),
        pytest.param([mark("infra_error")], WHOLE, (0.0, 0, 1), id="our failure is missing"),
        pytest.param(
            [mark(sample=0), mark("no_answer", sample=1), mark("grader_error", sample=2)],
            WHOLE,
            (1.0, 2, 1),
            id="three samples",
        ),
        pytest.param([mark(), mark("invalid_item", sample=1)], WHOLE, (1.0, 1, 0), id="broken is nowhere"),
    ],
)
def test_samples_of_an_item_are_counted_by_their_status(found, denominator, expected):
    (unit,) = units(found, "correct", denominator)
    assert (unit.total, unit.counted, unit.missing) == expected


def test_a_policy_says_what_counts_as_wrong():
    lenient = end_to_end(Policy(name="lenient", counted=END_TO_END - {Status.REFUSED}))
    (unit,) = units([mark("refused"), mark(sample=1)], "correct", lenient)
    assert lenient.name == "lenient"
    assert (unit.counted, unit.missing, unit.mean) == (1, 1, 1.0)
    assert (unit.low, unit.high) == (0.5, 1.0)


def test_units_come_in_the_order_of_the_items_and_keep_their_places():
    found = units(
        [mark(item="b", cluster="k", stratum="s"), mark(item="a"), mark(item="b", sample=1, cluster="k")],
        "correct",
        WHOLE,
    )
    assert [(unit.item_id, unit.cluster, unit.stratum, unit.counted) for unit in found] == [
        ("b", "k", "s", 2),
        ("a", "a", None, 1),
    ]


def test_an_item_without_a_cluster_is_its_own():
    (first, second) = units([mark(item="a"), mark(item="b")], "correct", WHOLE)
    assert first.cluster != second.cluster


def test_a_score_that_the_scorer_does_not_give_is_told():
    with pytest.raises(ProtocolError, match=r"asks for the score 'passed', and the scorer gives 'correct'"):
        units([mark()], "passed", WHOLE)


@given(marks)
def test_every_sample_of_a_valid_item_is_counted_or_missing(found):
    valid = [one for one in found if one.status is not Status.INVALID_ITEM]
    for denominator in (WHOLE, CAPABILITY):
        tallied = units(found, "correct", denominator)
        assert sum(unit.counted + unit.missing for unit in tallied) == len(valid)
        assert {unit.item_id for unit in tallied} == {one.item_id for one in valid}
    missing = sum(unit.missing for unit in units(found, "correct", WHOLE))
    assert missing == sum(one.status in BOUNDED for one in found)


@given(marks)
def test_counts_of_statuses_add_up_and_stand_in_the_order_of_the_enum(found):
    counts = count_statuses(found)
    assert sum(counts.values()) == len(found)
    assert all(counts.values())
    assert list(counts) == [status for status in Status if status in counts]


@given(marks)
def test_a_unit_lies_within_its_bounds(found):
    for denominator in (WHOLE, CAPABILITY, Denominator("all", frozenset(Status))):
        for unit in units(found, "correct", denominator):
            assert 0 <= unit.low <= unit.high <= 1
            if unit.counted:
                assert unit.low <= unit.mean <= unit.high


@pytest.mark.parametrize(
    ("counts", "share"),
    [
        ({}, 0.0),
        ({"scored": 4}, 1.0),
        ({"scored": 1, "no_answer": 1, "refused": 1, "truncated": 1, "filtered": 1}, 1.0),
        ({"scored": 3, "model_error": 1}, 0.75),
        ({"scored": 1, "timeout": 1, "infra_error": 1, "grader_error": 1}, 0.25),
        ({"scored": 1, "invalid_item": 9}, 1.0),
        ({"invalid_item": 9}, 0.0),
        ({"model_error": 2}, 0.0),
    ],
)
def test_the_share_that_was_answered_leaves_out_broken_items_and_counts_faults(counts, share):
    assert answered_share({Status(name): count for name, count in counts.items()}) == share
