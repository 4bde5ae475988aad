from __future__ import annotations

import pytest

from probatum.core.protocol import Policy
from probatum.core.records import Mark
from probatum.core.status import BOUNDED, END_TO_END, FAULTS, Status
from probatum.scoring.tally import CAPABILITY, answered_share, end_to_end, units

OUT, RIGHT, WRONG, MISSING = "out", "as scored", "wrong", "bounded"

TABLE = {  # status: (capability rate, end-to-end rate, asked again), design §4
    "scored": (RIGHT, RIGHT, False),
    "no_answer": (MISSING, WRONG, False),
    "truncated": (MISSING, WRONG, False),
    "refused": (MISSING, WRONG, False),
    "filtered": (MISSING, WRONG, False),
    "context_overflow": (MISSING, WRONG, False),
    "timeout": (MISSING, WRONG, True),
    "model_error": (MISSING, WRONG, True),
    "permission_denied": (MISSING, WRONG, False),
    "judge_unknown": (MISSING, MISSING, False),
    "judge_error": (MISSING, MISSING, True),
    "grader_error": (MISSING, MISSING, True),
    "infra_error": (MISSING, MISSING, True),
    "invalid_item": (OUT, OUT, False),
}


def test_the_table_has_every_status():
    assert list(TABLE) == [status.value for status in Status]


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("rate", [0, 1])
def test_a_status_is_in_exactly_the_denominators_of_the_design(name, rate):
    status = Status(name)
    scores = {"correct": 1.0} if status is Status.SCORED else {}
    found = units([Mark("item", 0, status, scores)], "correct", (CAPABILITY, end_to_end(Policy()))[rate])
    what = TABLE[name][rate]
    if what == OUT:
        assert found == []
        return
    (unit,) = found
    expected = {RIGHT: (1, 0, 1.0), WRONG: (1, 0, 0.0), MISSING: (0, 1, 0.0)}[what]
    assert (unit.counted, unit.missing, unit.total) == expected


@pytest.mark.parametrize("name", TABLE)
def test_faults_are_what_failed_rather_than_answered(name):
    status = Status(name)
    assert (status in FAULTS) is TABLE[name][2]
    share = 0.0 if TABLE[name][2] or status is Status.INVALID_ITEM else 1.0
    assert answered_share({status: 7}) == share


def test_each_status_is_counted_or_bounded_or_listed_and_only_one_of_them():
    assert END_TO_END | BOUNDED | {Status.INVALID_ITEM} == set(Status)
    assert not END_TO_END & BOUNDED
    assert Status.INVALID_ITEM not in END_TO_END | BOUNDED | FAULTS
