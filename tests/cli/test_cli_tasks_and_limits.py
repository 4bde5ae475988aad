"""Tasks and limits in every form in which people give them."""

from __future__ import annotations

import json

import pytest

ALL = 60  # items of `mini`


@pytest.mark.parametrize(
    ("limit", "items"), [("5%", 3), ("0.05", 3), ("0.01", 1), ("1.0", 1), ("2", 2), ("100%", ALL)]
)
def test_a_limit_is_a_count_a_share_or_a_percentage(probatum_here, limit, items):
    done = probatum_here("run", "--tasks", "mini", "-m", "constant/A", "--limit", limit, "--json")
    assert sum(json.loads(done.stdout)["tasks"][0]["statuses"].values()) == items


def test_tasks_come_by_commas_blanks_and_repetition(probatum_here):
    named = ["run", "nothing,mini", "other", "--tasks", "more", "-m", "constant/A"]
    told = probatum_here(*named)
    assert told.returncode == 1
    assert "'nothing'" in told.stderr
    twice = probatum_here("run", "mini", "-t", "mini", "-m", "constant/A")
    assert "named twice" in twice.stderr
