"""The benchmark's own parts, on a tiny model: its figures come from real work."""

from __future__ import annotations

import math

import pytest

from benchmarks.likelihood_speed import (
    TEXTS,
    argmaxes,
    our_samples,
    ours,
    planning,
    their_samples,
)


@pytest.mark.parametrize("workload", ["letters", "continuation", "rolling"])
def test_each_workload_is_scored_whole(tiny, workload):
    directory = str(tiny(context_tokens=4096))
    found = ours(directory, workload, 0.1, 1)
    assert len(found["values"]) == len(TEXTS[workload](0.1))
    assert all(math.isfinite(value) and value < 0 for value in found["values"])
    assert found["computed"] > 0


def test_letters_share_what_a_subject_shares():
    pairs = TEXTS["letters"](0.2)
    assert [text for _, text in pairs[:4]] == [" A", " B", " C", " D"]
    prompts = [prompt for prompt, _ in pairs[::4]]
    assert len({prompt[:1500] for prompt in prompts}) == 2
    assert len(set(prompts)) == len(prompts) == 8


def test_samples_are_counted_in_both(tiny):
    directory = str(tiny(context_tokens=512))
    for found in (our_samples(directory, 1), their_samples(directory, 1)):
        assert 20 <= found["tokens"] <= 640


def test_planning_is_measured_without_forwards(tiny):
    found = planning(str(tiny(context_tokens=4096)), 20)
    assert found["items"] == 20
    assert found["ms"] > 0


def test_best_choices_are_read_four_by_four():
    assert argmaxes([-1.0, -2.0, -3.0, -4.0, -9.0, -8.0, -7.0, -7.5]) == [0, 2]
