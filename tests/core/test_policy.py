from __future__ import annotations

import pytest

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Policy
from probatum.core.status import END_TO_END, Status


def test_a_policy_counts_scored_answers():
    with pytest.raises(ProtocolError, match="'odd' counts no `scored` answers"):
        Policy(name="odd", counted=END_TO_END - {Status.SCORED})


def test_a_policy_cannot_count_broken_items():
    with pytest.raises(ProtocolError, match="'odd' counts broken items as wrong"):
        Policy(name="odd", counted=END_TO_END | {Status.INVALID_ITEM})


def test_the_default_policy_is_the_designs():
    assert Policy() == Policy(name="end_to_end", counted=END_TO_END)
