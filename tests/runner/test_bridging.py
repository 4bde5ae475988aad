"""Two protocols joined by one model that was run under both."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from probatum.core.comparability import Comparability
from probatum.core.errors import UsageError
from probatum.core.records import Identity, Sampling
from probatum.core.strictjson import strict_text
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import Decision, compare
from probatum.runner.comparing.bridging import ClusteredMean, less
from tests.runner.stored import PROTOCOL, stored_run

OTHER = replace(PROTOCOL, sampling=Sampling(max_tokens=2))
THIRD = replace(PROTOCOL, sampling=Sampling(max_tokens=3))


def draws(rate, seed, count=400, first=0):
    random_ = random.Random(seed)
    return {f"i{n}": float(random_.random() < rate) for n in range(first, first + count)}


def four(store, a, b, c, d, **kept):
    """A and C under one protocol, B and D under another, C and D of one model."""
    return (
        stored_run(store, "a", a, **kept),
        stored_run(store, "b", b, protocol=OTHER, **kept),
        stored_run(store, "bridge", c, **kept),
        stored_run(store, "bridge", d, protocol=OTHER, **kept),
    )


def joined(a, b, c, d, **options):
    (pair,) = compare(a, b, bridge=(c, d), **options).pairs
    return pair


def test_the_protocols_effect_is_taken_off_and_its_uncertainty_added(store):
    scores = [draws(rate, seed) for seed, rate in enumerate((0.5, 0.7, 0.4, 0.6))]
    pair = joined(*four(store, *scores))
    a, b, c, d = (np.array(list(one.values())) for one in scores)
    both = (b - a) - (d - c)
    estimate = pair.contrast.estimate
    assert estimate.value == pytest.approx(both.mean())
    assert estimate.se == pytest.approx(
        both.std(ddof=1) / 20
    )  # the same items: one difference of differences
    assert pair.bridge.raw.value == pytest.approx((b - a).mean())
    assert pair.bridge.effect.value == pytest.approx((d - c).mean())
    assert estimate.se > pair.bridge.raw.se
    assert (estimate.df, estimate.clusters, pair.bridge.items) == (399, 400, 400)
    assert pair.comparability is Comparability.REFUSED
    assert pair.verdict.startswith("not comparable, and joined by a bridge run: ")


def test_where_only_the_protocol_differs_nothing_is_left(store):
    """All four answer alike but for the protocol, which turns every fifth item right."""
    base = draws(0.3, 1)
    moved = {name: 1.0 if n % 5 == 0 else score for n, (name, score) in enumerate(base.items())}
    pair = joined(*four(store, base, moved, base, moved))
    assert pair.bridge.raw.low > 0.05
    assert pair.contrast.estimate.value == pytest.approx(0.0)
    assert pair.decision is not Decision.B


def test_a_bridge_of_a_part_of_the_items_has_the_variance_of_both_means(store):
    a, b = draws(0.5, 1), draws(0.7, 2)
    c, d = draws(0.4, 3, count=100), draws(0.6, 4, count=100)
    pair = joined(*four(store, a, b, c, d))
    x = np.array(list(b.values())) - np.array(list(a.values()))
    y = np.array(list(d.values())) - np.array(list(c.values()))
    influence = (x - x.mean()) / 400
    influence[:100] -= (y - y.mean()) / 100
    assert pair.contrast.estimate.value == pytest.approx(x.mean() - y.mean())
    assert pair.contrast.estimate.se == pytest.approx(np.sqrt(100 / 99 * (influence**2).sum()))
    assert (pair.contrast.estimate.df, pair.bridge.items) == (99, 100)
    assert any("stands on 100 of the 400 items" in note for note in pair.bridge.notes)


def test_intervals_over_a_bridge_cover_as_often_as_they_say():
    """The true difference of the models is 0.1 and that of the protocols 0.15; 120 items, 40 of the bridge."""
    random_ = np.random.default_rng(11)
    names = [f"i{n}" for n in range(120)]
    covered = 0
    for _ in range(1000):
        ease = random_.random(120)

        def right(shift, ease=ease):
            return (random_.random(120) < 0.25 + 0.5 * ease + shift).astype(float)

        raw = ClusteredMean.of(right(0.15) - right(-0.1), names, None)
        effect = ClusteredMean.of((right(0.1) - right(-0.05))[:40], names[:40], None)
        found = less(raw, effect).estimate("x", "y", 0.95, "z")
        covered += found.low <= 0.1 <= found.high
    assert 930 <= covered <= 970  # 950, with a standard error of 7; the seed is fixed


def test_clusters_are_the_units_over_a_bridge(store):
    clusters = {f"i{n}": f"c{n // 10}" for n in range(400)}
    pair = joined(*four(store, *(draws(0.5, seed) for seed in range(4)), clusters=clusters))
    assert (pair.contrast.estimate.clusters, pair.contrast.estimate.df) == (40, 39)


def test_a_bridge_given_the_other_way_round_is_turned_and_says_so(store):
    a, b, c, d = four(store, *(draws(0.5, seed) for seed in range(4)))
    right, turned = joined(a, b, c, d), joined(a, b, d, c)
    assert turned.contrast == right.contrast
    assert "turned" in turned.bridge.notes[0]


def test_a_bridge_of_a_models_own_says_what_needs_no_assumption(store):
    scores = [draws(0.5, seed) for seed in range(3)]
    a = stored_run(store, "a", scores[0])
    b = stored_run(store, "b", scores[1], protocol=OTHER)
    d = stored_run(store, "a", scores[2], protocol=OTHER)
    pair = joined(a, b, a, d)
    direct = compare(d, b).pairs[0].contrast.estimate
    assert pair.contrast.estimate.value == pytest.approx(direct.value)
    assert pair.contrast.estimate.se == pytest.approx(direct.se)
    assert any("that of A" in note and "needs no assumption" in note for note in pair.bridge.notes)


def test_the_plain_form_is_strict_json_and_marked(store):
    found = compare(*(runs := four(store, *(draws(0.5, seed) for seed in range(4))))[:2], bridge=runs[2:])
    (pair,) = json.loads(strict_text(found.plain()))["pairs"]
    assert (pair["bridged"], pair["comparability"]) == (True, "not comparable")
    assert pair["difference"]["name"] == "correct: B - A, bridged"
    assert pair["bridge"]["assumption"].startswith("that the protocols differ for these models by as much")
    assert found.decided


def test_what_is_no_bridge_is_refused_with_the_reason(store):
    a, b, c, d = four(store, *(draws(0.5, seed, count=20) for seed in range(4)))
    alien = stored_run(store, "other", draws(0.5, 5, count=20), protocol=OTHER)
    third = stored_run(store, "bridge", draws(0.5, 6, count=20), protocol=THIRD)
    apart = [
        stored_run(store, "apart", draws(0.5, 7, count=20, first=100), protocol=protocol)
        for protocol in (PROTOCOL, OTHER)
    ]
    chess = stored_run(store, "bridge", {"chess": draws(0.5, 8, count=20)})
    lone = [
        stored_run(store, "lone", draws(0.5, 9, count=1), protocol=protocol) for protocol in (PROTOCOL, OTHER)
    ]
    cases = (
        ((a, b), (c, alien), "of two models, fake/bridge and fake/other: a bridge is one model"),
        ((a, b), (c, third), "was not asked as B was: decoding differs: sampling.max_tokens 2 against 3"),
        ((a, b), (third, d), "was not asked as A was: decoding differs: sampling.max_tokens 512 against 3"),
        ((a, b), tuple(apart), "no item that A and B share"),
        ((a, b), (chess, d), "has no task 'sums'"),
        ((a, b), (c, c), "both ends of the bridge are run"),
        ((a, b), tuple(lone), "one cluster of items"),
        ((a, c), (c, d), "A and B are comparable as they are; leave --bridge out"),
    )
    for pair, bridge, words in cases:
        with pytest.raises(UsageError, match=words):
            compare(*pair, bridge=bridge)
    for options, runs in (({"anyway": True}, (a, b)), ({}, (a, b, third))):
        with pytest.raises(UsageError, match="a bridge joins two runs"):
            compare(*runs, bridge=(c, d), **options)


def test_a_bridge_whose_run_breaks_an_invariant_is_refused(store):
    a, b, c, d = four(store, *(draws(0.5, seed, count=20) for seed in range(4)))
    (task,) = d.record.tasks
    broken = replace(task, summary={**task.summary, "statuses": {"scored": 999}})
    d = EvaluatedRun(replace(d.record, tasks=(broken,)), store)
    with pytest.raises(UsageError, match=rf"bridge run {d.id} is INVALID, and its numbers must not be used"):
        compare(a, b, bridge=(c, d))


def test_another_decoding_of_two_models_is_bridged_by_a_third_with_both(store):
    hot = replace(PROTOCOL, sampling=Sampling(temperature=1.0))
    weights = Identity(provider="fake", name="bridge", weights="w")
    runs = [
        stored_run(store, "a", draws(0.5, 1)),
        stored_run(store, "b", draws(0.5, 2), protocol=hot),
        stored_run(store, "c", draws(0.5, 3), model=weights),
        stored_run(store, "d", draws(0.5, 4), protocol=hot, model=replace(weights, backend="another")),
    ]
    assert joined(*runs).bridge.model == "fake/bridge"
