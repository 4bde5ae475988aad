"""Two runs or more, compared: pairing, tests, verdicts, and what may not be compared."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probatum as pb
from probatum import stats
from probatum.core.comparability import Comparability
from probatum.core.errors import UsageError
from probatum.core.records import Identity, Sampling
from probatum.core.run import RunState
from probatum.core.status import Status
from probatum.core.strictjson import strict_text
from probatum.runner.comparing import (
    Decision,
    GateVerdict,
    compare,
    explain,
    find_run,
    find_runs,
    gate,
    leaderboards,
)
from probatum.runner.comparing.naming import letter
from probatum.runner.comparing.pairs import detectable_effect, shown
from probatum.scoring.texts import Perplexity
from probatum.store import open_store
from tests.fakes import Echo, sums_task
from tests.runner.stored import PROTOCOL, stored_run


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 's.db'}") as opened:
        yield opened


def bits(text: str) -> dict[str, float]:
    return {f"i{place}": float(sign) for place, sign in enumerate(text)}


def test_the_difference_is_b_minus_a_with_the_exact_test_of_independent_items(store):
    a, b = bits("1100" * 25), bits("1110" * 25)
    found = compare(stored_run(store, "a", a), stored_run(store, "b", b))
    (pair,) = found.pairs
    assert (pair.contrast.wins, pair.contrast.losses, pair.contrast.ties) == (25, 0, 75)
    assert pair.contrast.estimate.value == pytest.approx(0.25)
    assert pair.contrast.test == "McNemar exact"
    assert pair.contrast.p_value == pytest.approx(2 * 0.5**25)
    assert (pair.decision, found.verdict, found.comparability) == (Decision.B, "B better", Comparability.SAME)


def test_the_other_way_round_the_other_one_is_better(store):
    a, b = stored_run(store, "a", bits("1110" * 25)), stored_run(store, "b", bits("1100" * 25))
    assert compare(a, b).verdict == "A better"
    assert compare(b, a).verdict == "B better"


def test_where_nothing_is_shown_the_verdict_says_what_would_have_been_seen(store):
    random_ = random.Random(1)
    a = {f"i{n}": float(random_.random() < 0.5) for n in range(400)}
    b = {name: (1 - score if random_.random() < 0.1 else score) for name, score in a.items()}
    (pair,) = compare(stored_run(store, "a", a), stored_run(store, "b", b)).pairs
    estimate = pair.contrast.estimate
    exact = stats.minimum_detectable_effect(400, stats.Design(between=estimate.se**2 * 400)).effect
    assert pair.detectable == pytest.approx(exact, rel=0.01)  # t for z at 399 degrees of freedom
    assert pair.detectable > exact
    assert pair.verdict == (
        f"no difference shown: effects above {shown(pair.detectable, rates=True)} would have been seen"
    )


def test_detectable_effects_of_few_clusters_are_larger_than_the_normal_law_has_it(store):
    names = [f"i{n}" for n in range(60)]
    clusters = {name: f"c{place % 6}" for place, name in enumerate(names)}
    random_ = random.Random(3)
    runs = [
        stored_run(store, model, {name: float(random_.random() < 0.5) for name in names}, clusters=clusters)
        for model in "ab"
    ]
    (pair,) = compare(*runs).pairs
    estimate = pair.contrast.estimate
    assert (estimate.clusters, estimate.n) == (6, 60)
    assert pair.contrast.test.startswith("sign flip")
    assert detectable_effect(estimate, 0.95) > 1.2 * (1.96 + 0.84) * estimate.se


def test_clusters_give_the_interval_and_the_test_of_clusters(store):
    random_ = random.Random(4)
    names = [f"i{n}" for n in range(120)]
    clusters = {name: f"c{place // 4}" for place, name in enumerate(names)}
    a, b = ({name: float(random_.random() < rate) for name in names} for rate in (0.5, 0.6))
    (pair,) = compare(
        stored_run(store, "a", a, clusters=clusters), stored_run(store, "b", b, clusters=clusters)
    ).pairs
    labels = [clusters[name] for name in names]
    first, second = ([run[name] for name in names] for run in (a, b))
    direct = stats.paired_difference(second, first, clusters=labels)
    estimate = pair.contrast.estimate
    assert (estimate.low, estimate.high, estimate.se) == (direct.low, direct.high, direct.se)
    test = stats.sign_flip_test(np.subtract(second, first), clusters=labels)
    assert pair.contrast.p_value == test.p_value


def test_pairs_are_by_id_whatever_the_order_and_others_are_counted_and_named(store):
    a, b = bits("1" * 30), bits("1" * 20 + "0" * 20)
    backwards = dict(reversed(b.items()))
    found = compare(stored_run(store, "a", a), stored_run(store, "b", backwards))
    (pair,) = found.pairs
    assert (pair.common, pair.paired) == (30, 30)
    assert (pair.only_a, set(pair.only_b)) == ((), {f"i{n}" for n in range(30, 40)})
    assert pair.comparability is Comparability.NOTED
    assert any("10 items are only in B, and not compared: 'i39'" in note for note in pair.notes)
    assert (pair.contrast.wins, pair.contrast.losses, pair.contrast.ties) == (0, 10, 20)
    assert pair.contrast.estimate.coverage == pytest.approx(30 / 40)


def test_items_of_one_id_and_two_contents_are_no_pair(store):
    a = stored_run(store, "a", bits("1010"))
    b = stored_run(store, "b", bits("1010"), contents={"i1": "another question"})
    (pair,) = compare(a, b).pairs
    assert (pair.changed, pair.paired) == (("i1",), 3)
    assert pair.comparability is Comparability.NOTED
    assert any("one id and two contents" in note for note in pair.notes)


def test_runs_without_a_common_item_cannot_be_compared_even_anyway(store):
    a = stored_run(store, "a", {"x": 1.0, "y": 0.0})
    b = stored_run(store, "b", {"v": 1.0, "w": 0.0})
    for anyway in (False, True):
        found = compare(a, b, anyway=anyway)
        assert found.verdict == "cannot be compared: the runs have no item in common"
        assert found.comparability is Comparability.REFUSED
        assert not found.decided
        assert found.plain()["difference"] is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"shots": 5}, "shots"),
        ({"samples": 10}, "samples"),
        ({"form": "chat"}, "form"),
        ({"sampling": Sampling(temperature=0.8)}, "sampling.temperature"),
        ({"system": "Be brief."}, "system"),
        ({"task": sums_task(scorer=Echo())}, "task.scorer.is"),
        ({"task": sums_task(version=2)}, "task.version"),
    ],
)
def test_other_protocols_get_no_numbers_but_anyway_and_then_it_is_marked(store, changes, field):
    a = stored_run(store, "a", bits("1100" * 10))
    b = stored_run(store, "b", bits("1111" * 10), protocol=replace(PROTOCOL, **changes))
    requests_differ = replace(b.record.tasks[0], requests="others")  # the fake asks the same all the same
    b = pb.EvaluatedRun(replace(b.record, tasks=(requests_differ,)), b.store)
    found = compare(a, b)
    assert found.verdict.startswith("cannot be compared: ")
    assert field in {each.field for each in found.pairs[0].differences}
    assert found.plain()["p_value"] is None
    marked = compare(a, b, anyway=True)
    assert marked.verdict == "not comparable, and compared anyway: B better"
    assert (marked.plain()["comparability"], marked.plain()["anyway"]) == ("not comparable", True)
    assert marked.pairs[0].contrast.wins == 20


def test_two_temperatures_of_one_model_are_what_is_compared_but_not_two_budgets(store):
    model = Identity(provider="fake", name="m", weights="w")
    warm = replace(PROTOCOL, sampling=Sampling(temperature=0.8))
    a = stored_run(store, "a", bits("10" * 10), model=model)
    b = stored_run(store, "b", bits("11" * 10), model=model, protocol=warm)
    c = stored_run(store, "c", bits("11" * 10), model=model, protocol=replace(warm, samples=10))
    (pair,) = compare(a, b).pairs
    assert pair.comparability is Comparability.NOTED
    assert pair.differences[0].meaning == "decoding differs, and is what is compared: the model is the same"
    assert compare(a, c).comparability is Comparability.REFUSED


def test_what_the_recipe_changes_and_the_requests_do_not_is_a_note(store):
    a = stored_run(store, "a", bits("10" * 10))
    b = stored_run(store, "b", bits("11" * 10), protocol=replace(PROTOCOL, shots=5))
    (pair,) = compare(a, b).pairs
    assert pair.comparability is Comparability.NOTED
    assert pair.differences[0].meaning == "prompts differ on paper (the requests are the same, byte for byte)"


def test_prompts_of_forms_that_were_not_used_are_no_difference(store):
    a = stored_run(store, "a", bits("10" * 10))
    b = stored_run(store, "b", bits("11" * 10), protocol=replace(PROTOCOL, task=sums_task(chat=None)))
    assert compare(a, b).comparability is Comparability.SAME


@pytest.mark.parametrize(("value", "kind"), [(None, Comparability.NOTED), ("another", Comparability.REFUSED)])
def test_a_recipe_older_than_a_field_is_comparable_where_the_other_has_the_default(store, value, kind):
    a, b = stored_run(store, "a", bits("10" * 10)), stored_run(store, "b", bits("11" * 10))
    older = json.loads(json.dumps(a.record.tasks[0].recipe))
    del older["protocol"]["fields"]["task"]["fields"]["samples"]
    newer = json.loads(json.dumps(b.record.tasks[0].recipe))
    if value is not None:
        newer["protocol"]["fields"]["task"]["fields"]["samples"] = value
    a, b = (
        replace(run, record=replace(run.record, tasks=(replace(run.record.tasks[0], recipe=recipe),)))
        for run, recipe in ((a, older), (b, newer))
    )
    assert compare(a, b).comparability is kind
    assert compare(b, a).comparability is kind


def test_code_of_a_scorer_that_changed_without_a_field_is_seen(store):
    a = stored_run(store, "a", bits("10" * 10))
    b = stored_run(store, "b", bits("11" * 10))
    recipe = json.loads(json.dumps(b.record.tasks[0].recipe))
    recipe["protocol"]["fields"]["task"]["fields"]["scorer"]["source"] = "0" * 16
    task = replace(b.record.tasks[0], recipe=recipe, protocol="another")
    found = compare(a, pb.EvaluatedRun(replace(b.record, tasks=(task,)), b.store))
    assert found.comparability is Comparability.REFUSED
    assert "rescore" in found.verdict


def test_backends_that_differ_are_a_note_and_a_template_that_one_lacks_is_not_comparable(store):
    base = Identity(provider="fake", name="m", weights="w", backend="x 1", template="t")
    a = stored_run(store, "a", bits("10" * 10), model=base)
    noted = stored_run(store, "b", bits("11" * 10), model=replace(base, backend="x 2"))
    assert compare(a, noted).comparability is Comparability.NOTED
    chat = replace(PROTOCOL, form="chat")
    with_, without = (
        stored_run(store, name, bits("11" * 10), model=replace(base, template=template), protocol=chat)
        for name, template in (("d", "t"), ("e", None))
    )
    assert compare(with_, without).comparability is Comparability.REFUSED


@pytest.mark.parametrize("form", ["letters", "continuations", "text", "completion"])
def test_a_chat_template_that_no_form_of_texts_uses_is_no_difference(store, form):
    protocol = replace(PROTOCOL, form=form)
    base = Identity(provider="fake", name="m", weights="w1", template="t")
    other = replace(base, name="n", weights="w2", template=None)
    runs = [
        stored_run(store, name, bits("10" * 10), model=model, protocol=protocol)
        for name, model in (("a", base), ("b", other))
    ]
    found = compare(*runs)
    assert found.comparability is Comparability.SAME
    (explained,) = explain(*runs)
    assert explained.first.name == "model"


def test_settings_of_models_are_named_one_by_one(store):
    base = Identity(provider="fake", name="m", settings={"context_tokens": 2048, "device": "cpu"})
    other = replace(base, name="n", settings={"context_tokens": 4096, "device": "cpu"})
    runs = [stored_run(store, name, bits("10"), model=model) for name, model in (("a", base), ("b", other))]
    (pair,) = compare(*runs).pairs
    assert [(each.field, each.one, each.other) for each in pair.differences] == [
        ("model.settings.context_tokens", 2048, 4096)
    ]


def test_failures_that_the_policy_counts_are_wrong_and_others_are_missing_and_bounded(store):
    a = stored_run(
        store, "a", {"x": 1.0, "y": Status.NO_ANSWER, "z": 1.0, "w": 0.0, "v": Status.INVALID_ITEM}
    )
    b = stored_run(store, "b", {"x": 1.0, "y": 1.0, "z": Status.INFRA_ERROR, "w": 0.0, "v": 1.0})
    (pair,) = compare(a, b).pairs
    assert (pair.common, pair.paired) == (4, 3)
    assert (pair.contrast.wins, pair.contrast.ties) == (1, 2)
    assert pair.missing == {"samples of B are missing": 1}
    assert pair.only_b == ("v",)
    direct = stats.paired_missing_bounds([1, 1, None, 0], [1, 0, 1, 0])
    assert pair.contrast.estimate.bounds == (direct.lower, direct.upper)
    answered = compare(a, b, answered=True).pairs[0]
    assert (answered.paired, answered.contrast.ties) == (2, 2)
    assert answered.contrast.estimate.denominator == "capability"


def test_missing_samples_that_could_turn_a_verdict_stand_in_it(store):
    lost = {f"m{n}": Status.INFRA_ERROR for n in range(30)}
    a = stored_run(store, "a", {**bits("1100" * 10), **dict.fromkeys(lost, 1.0)})
    b = stored_run(store, "b", {**bits("1110" * 10), **lost})
    found = compare(a, b)
    assert found.verdict == "B better, unless the missing samples say otherwise"
    low, high = found.pairs[0].contrast.estimate.bounds
    assert low == pytest.approx((10 - 30) / 70)
    assert high == pytest.approx(10 / 70)


def test_samples_of_an_item_are_one_pair_by_their_means(store):
    a = stored_run(store, "a", {f"i{n}": [1.0, 0.0, 0.0, 0.0] for n in range(12)})
    b = stored_run(store, "b", {f"i{n}": [1.0, 1.0, 0.0, 1.0] for n in range(12)})
    (pair,) = compare(a, b).pairs
    assert pair.contrast.estimate.n == 12
    assert pair.contrast.estimate.value == pytest.approx(0.5)
    assert pair.contrast.test == "sign flip, exact"
    assert pair.decision is Decision.B


def test_runs_that_agree_on_every_item_have_no_zero_width_interval(store):
    (pair,) = compare(stored_run(store, "a", bits("10" * 50)), stored_run(store, "b", bits("10" * 50))).pairs
    assert pair.contrast.estimate.low < 0 < pair.contrast.estimate.high
    assert pair.verdict == "no difference shown: effects above 3.0 points are ruled out"


def test_a_suite_is_corrected_by_holm(store):
    first = {"t1": bits("1100" * 12), "t2": bits("1100" * 12), "t3": bits("1100" * 12)}
    second = {"t1": bits("1101" + "1100" * 11), "t2": bits("1110" * 5 + "1100" * 7), "t3": bits("1110" * 12)}
    found = compare(stored_run(store, "a", first), stored_run(store, "b", second))
    p = [pair.contrast.p_value for pair in found.pairs]
    assert [pair.contrast.p_adjusted for pair in found.pairs] == stats.adjust_pvalues(p, "holm").tolist()
    assert found.verdict.startswith("t1: no difference shown")
    assert found.verdict.endswith("t3: B better")
    assert found.plain()["difference"] is None
    assert compare(*_both(store, first, second), task="t3").verdict == "B better"


def _both(store, first, second):
    return stored_run(store, "a", first), stored_run(store, "b", second)


def test_strata_are_compared_each_and_corrected(store):
    names = [f"i{n}" for n in range(60)]
    strata = {name: "en" if place < 30 else "zh" for place, name in enumerate(names)}
    a = dict.fromkeys(names, 0.0)
    b = {name: float(strata[name] == "zh") for name in names}
    (pair,) = compare(
        stored_run(store, "a", a, strata=strata), stored_run(store, "b", b, strata=strata)
    ).pairs
    assert [(each.name, each.wins, each.estimate.n) for each in pair.strata] == [
        ("en", 0, 30),
        ("zh", 30, 30),
    ]
    assert [each.p_adjusted for each in pair.strata] == [1.0, pytest.approx(2 * 2 * 0.5**30)]


def test_three_runs_are_ranked_by_intervals_and_grouped(store):
    runs = [
        stored_run(store, name, bits(text))
        for name, text in {"a": "1000" * 25, "b": "1110" * 25, "c": "1110" * 24 + "1101"}.items()
    ]
    found = compare(*runs)
    (ranking,) = found.rankings
    assert {(row.run, row.low, row.high) for row in ranking.rows} == {("B", 1, 2), ("C", 1, 2), ("A", 3, 3)}
    assert ranking.groups == (("B", "C"), ("A",))
    assert ranking.n == 100
    assert [pair.b for pair in found.pairs] == ["B", "C"]
    assert found.verdict == "B against A: B better; C against A: C better"


def test_a_ranking_with_a_run_that_is_not_comparable_is_not_made_but_anyway(store):
    a, b = stored_run(store, "a", bits("10" * 20)), stored_run(store, "b", bits("11" * 20))
    c = stored_run(store, "c", bits("00" * 20), protocol=replace(PROTOCOL, samples=10))
    found = compare(a, b, c)
    assert found.rankings == ()
    assert [pair.decision for pair in found.pairs] == [Decision.B, Decision.CANNOT]
    assert compare(a, b, c, anyway=True).rankings[0].anyway


def test_losses_are_better_when_they_are_lower(store):
    a = stored_run(store, "a", {f"i{n}": 10.0 + n for n in range(30)}, score="nll")
    b = stored_run(store, "b", {f"i{n}": 9.0 + n for n in range(30)}, score="nll")
    (pair,) = compare(a, b, score="nll").pairs
    assert (pair.contrast.estimate.value, pair.decision) == (-1.0, Decision.B)
    assert pair.contrast.estimate.bounds is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"score": "elegance"}, "has no score 'elegance'; name one with --score: correct"),
        ({"task": "chess"}, "task 'chess' is not in both runs; in common: sums"),
        ({"level": 95}, "level 95 is out of range"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(store, arguments, words):
    runs = stored_run(store, "a", bits("10")), stored_run(store, "b", bits("11"))
    with pytest.raises(UsageError, match=words):
        compare(*runs, **arguments)


def test_one_run_and_the_same_run_twice_are_no_comparison(store):
    run = stored_run(store, "a", bits("10"))
    with pytest.raises(UsageError, match="1 run to compare"):
        compare(run)
    with pytest.raises(UsageError, match="given twice"):
        compare(run, run)
    other = stored_run(store, "b", {"chess": bits("10")})
    with pytest.raises(UsageError, match=r"no task in common .* has sums; .* has chess"):
        compare(run, other)


def test_runs_are_found_by_id_by_latest_and_by_the_name_of_their_model(store):
    run = stored_run(store, "a", bits("10"))
    assert {find_run(store, name).id for name in (run.id, run.id[:6], "latest", "a", "fake/a")} == {run.id}
    with pytest.raises(UsageError, match="no run 'nobody'"):
        find_run(store, "nobody")


def test_models_are_compared_on_their_newest_runs_of_a_task_that_both_have(store):
    def at(minute: int, name: str, *tasks: str) -> str:
        run = stored_run(store, name, {task: bits("10") for task in tasks}).record
        store.close_run(replace(run, updated=f"2026-11-30T10:{minute:02}:00Z"))
        return run.id

    old, chess, both = at(1, "a", "sums"), at(2, "a", "chess"), at(3, "b", "sums", "go")
    go = at(4, "a", "go")
    assert [run.id for run in find_runs(store, ["a", "b"])] == [go, both]
    assert [run.id for run in find_runs(store, ["a", "b"], ["sums"])] == [old, both]
    assert [run.id for run in find_runs(store, ["a", "b"], ["chess"])] == [go, both]
    assert [run.id for run in find_runs(store, [chess, "b"])] == [chess, both]


def test_letters_go_on_behind_z():
    assert [letter(place) for place in (0, 25, 26, 27, 52)] == ["A", "Z", "AA", "AB", "BA"]


def test_the_plain_form_is_strict_json_with_the_fields_of_the_contract(store):
    found = pb.compare(stored_run(store, "a", bits("10" * 9)), stored_run(store, "b", bits("11" * 9)))
    assert isinstance(found, pb.Comparison)
    plain = json.loads(strict_text(found.plain()))
    assert {"verdict", "difference", "p_value", "method", "wins", "losses", "ties", "comparability"} <= set(
        plain
    )
    assert {"value", "low", "high", "level", "method", "n", "clusters", "coverage"} <= set(
        plain["difference"]
    )


scores = st.one_of(st.sampled_from([0.0, 1.0]), st.sampled_from(Status).filter(lambda one: one != "scored"))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=12))
def test_swapping_two_runs_turns_every_sign_and_nothing_else(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("swap") / "s.db"
    with open_store(f"sqlite:///{path}") as store:
        a = stored_run(store, "a", {f"i{n}": one for n, (one, _) in enumerate(pairs)})
        b = stored_run(store, "b", {f"i{n}": other for n, (_, other) in enumerate(pairs)})
        (there,), (back,) = compare(a, b).pairs, compare(b, a).pairs
    assert (there.contrast is None) == (back.contrast is None)
    assert there.paired + sum(there.missing.values()) == there.common
    if there.contrast is not None:
        left, right = there.contrast, back.contrast
        assert (left.wins, left.losses, left.ties) == (right.losses, right.wins, right.ties)
        assert left.wins + left.losses + left.ties == there.paired
        assert left.estimate.value == -right.estimate.value
        assert left.p_value == right.p_value
        assert left.estimate.bounds[0] == pytest.approx(-right.estimate.bounds[1])
        assert left.estimate.bounds[0] - 1e-12 <= left.estimate.bounds[1]


def likelihoods(store, name, losses: dict[str, float | None]):
    """A run that scored texts of as many bytes as their ids have letters; `None` failed."""
    protocol = replace(PROTOCOL, task=sums_task(metrics=(Perplexity(),)))
    given = {item: Status.MODEL_ERROR if loss is None else loss for item, loss in losses.items()}
    run = stored_run(store, name, given, protocol=protocol, score="nll", summed=False)
    task, number = run.record.tasks[0].task, 0
    for number, sample in enumerate(list(run.each_sample())):
        if sample.outcome.scores:
            scores = {**sample.outcome.scores, "bytes": float(len(sample.item.id))}
            outcome = replace(sample.outcome, scores=scores)
            store.keep_outcomes(run.id, task, [(number, sample.item, sample.requests, outcome)])
    return run


def test_likelihoods_of_texts_are_compared_in_bits_per_byte_of_the_corpus(store):
    random_ = random.Random(5)
    names = [("x" * random_.randint(5, 60)) + f"{n:03}" for n in range(80)]
    a = {name: len(name) * random_.uniform(0.6, 0.9) for name in names}
    b = {name: loss - len(name) * random_.uniform(0.0, 0.05) for name, loss in a.items()}
    b[names[0]] = None
    runs = likelihoods(store, "a", a), likelihoods(store, "b", b)
    (pair,) = compare(*runs).pairs
    kept = names[1:]
    octets = sum(map(len, kept))
    bits = [sum(run[name] for name in kept) / math.log(2) / octets for run in (a, b)]
    contrast = pair.contrast
    assert (pair.score, pair.higher_is_better) == ("bits per byte", False)
    assert contrast.estimate.value == pytest.approx(bits[1] - bits[0])
    assert (contrast.mean_a, contrast.mean_b) == pytest.approx(tuple(bits))
    assert contrast.estimate.low < bits[1] - bits[0] < contrast.estimate.high < 0
    assert (contrast.estimate.bounds, contrast.losses) == (None, 79)
    assert pair.decision is Decision.B
    assert pair.missing == {"samples of B are missing": 1}
    (explained,) = explain(*runs)
    assert math.fsum(share.value for share in explained.shares) == pytest.approx(explained.difference)
    assert explained.mean_a == pytest.approx(sum(a.values()) / math.log(2) / sum(map(len, a)))
    (board,) = leaderboards(runs)
    assert board.ranking.rows[0].mean == pytest.approx(bits[1])


def test_a_failure_is_no_loss_of_nothing(store):
    a = stored_run(store, "a", {f"i{n}": 5.0 for n in range(20)}, score="nll")
    b = stored_run(store, "b", {f"i{n}": Status.NO_ANSWER if n < 10 else 5.0 for n in range(20)}, score="nll")
    (pair,) = compare(a, b, score="nll").pairs
    assert (pair.paired, pair.contrast.ties) == (10, 10)
    assert pair.decision is Decision.NOT_SHOWN


def test_runs_whose_recipe_is_not_known_are_compared_by_digest_and_by_a_score_that_is_named(store):
    runs = []
    for name, text, digest in (("a", "10", "p"), ("b", "11", "p"), ("c", "11", "q")):
        run = stored_run(store, name, bits(text * 10))
        task = replace(run.record.tasks[0], recipe={}, protocol=digest)
        runs.append(replace(run, record=replace(run.record, tasks=(task,))))
    a, b, c = runs
    with pytest.raises(
        UsageError, match="no score that is a mean over items; name one with --score: correct"
    ):
        compare(a, b)
    assert compare(a, b, score="correct").verdict == "B better"
    assert compare(a, c, score="correct").comparability is Comparability.REFUSED


@pytest.mark.parametrize(("items", "shows"), [(2, False), (5, False), (6, True), (40, True)])
def test_fewer_items_than_the_exact_test_needs_promise_no_effect(store, items, shows):
    """McNemar's smallest p of n items is 2¹⁻ⁿ: 5 items cannot get below 0.05, whatever t says of them."""
    a = bits(("10" * items)[:items])
    b = {name: (1 - score if name == "i0" else score) for name, score in a.items()}
    (pair,) = compare(stored_run(store, "a", a), stored_run(store, "b", b)).pairs
    assert pair.decision is Decision.NOT_SHOWN
    assert (pair.detectable is not None) is shows
    if shows:
        assert 0 < pair.detectable <= 1
        assert "would have been seen" in pair.verdict
    else:
        assert pair.verdict == (
            f"no difference shown: too few items to show any: {items}, and the test needs 6 even if all differ"
        )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=12))
def test_no_effect_of_rates_above_100_points_is_ever_named(tmp_path_factory, scores):
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('few') / 's.db'}") as opened:
        runs = [
            stored_run(opened, name, {f"i{place}": each[side] for place, each in enumerate(scores)})
            for side, name in enumerate("ab")
        ]
        (pair,) = compare(*runs).pairs
    assert pair.detectable is None or 0 < pair.detectable <= 1
    named = re.findall(r"above ([\d.]+) points", pair.verdict)
    assert all(float(points) <= 100 for points in named)


def test_what_would_have_been_seen_holds_for_the_test_as_it_is_corrected(store):
    """Of many comparisons Holm asks more of each; an effect that one alone would show is not promised."""
    random_ = random.Random(7)
    a = {f"i{n}": float(random_.random() < 0.5) for n in range(200)}
    others = [
        {name: (1 - score if random_.random() < 0.1 else score) for name, score in a.items()}
        for _ in range(5)
    ]
    first = stored_run(store, "a", a)
    runs = [stored_run(store, f"b{place}", one) for place, one in enumerate(others)]
    (alone,) = compare(first, runs[0]).pairs
    many = compare(first, *runs).pairs
    assert many[0].detectable == detectable_effect(alone.contrast.estimate, 1 - 0.05 / 5)
    assert many[0].detectable > 1.15 * alone.detectable
    assert shown(many[0].detectable, rates=True) in many[0].verdict
    assert many[0].contrast.estimate == alone.contrast.estimate


def test_a_gate_says_what_keeps_it_from_telling(store):
    names = [f"i{n}" for n in range(40)]
    right = dict.fromkeys(names, 1.0)
    lost = {name: (Status.INFRA_ERROR if place < 8 else 1.0) for place, name in enumerate(names)}
    clusters = {name: f"c{place % 5}" for place, name in enumerate(names)}
    a = {name: float(place % 2) for place, name in enumerate(names)}
    b = {name: float(place % 3 == 0) for place, name in enumerate(names)}
    for baseline, run, labels, words in (
        (right, lost, None, "the samples that are missing of 8 items could hide a drop of 0.1"),
        (a, b, clusters, "the drop is too near 0.1 for 40 items to tell whether it is more"),
        (a, b, None, "40 items cannot tell a drop of 0.1 from none; some "),
    ):
        pair = [
            stored_run(store, f"{words}{n}", one, clusters=labels) for n, one in enumerate((baseline, run))
        ]
        (task,) = gate(pair[1], pair[0], 0.1).tasks
        assert task.verdict is GateVerdict.CANNOT_TELL
        assert words in task.reason
        assert all(
            int(some.replace(",", "")) > 40 for some in re.findall(r"some ([\d,]+) items", task.reason)
        )


def test_other_numbers_of_samples_are_other_sampling_and_no_other_texts(store):
    """The texts are the same ones, and so are the statuses: only how often each item was asked differs."""
    one = stored_run(store, "a", {f"i{n}": 1.0 for n in range(12)})
    other = stored_run(
        store,
        "b",
        {f"i{n}": [1.0, 1.0, 0.0] for n in range(12)},
        protocol=replace(PROTOCOL, samples=3),
        text="another answer",
    )
    (found,) = explain(one, other)
    assert [stage.name for stage in found.path.stages] == ["A", "asked with other sampling (samples)"]
    assert {share.of for share in found.shares if share.items} == {"asked with other sampling"}


@pytest.mark.parametrize("unfinished", [0, 1])
def test_a_run_that_was_interrupted_passes_no_gate(store, unfinished):
    runs = [stored_run(store, name, bits("1" * 400)) for name in "ab"]
    assert gate(runs[1], runs[0], 0.1).verdict is GateVerdict.PASS
    (task,) = runs[unfinished].record.tasks
    cut = replace(
        runs[unfinished].record,
        state=RunState.INTERRUPTED,
        tasks=(replace(task, planned=900, summary={}),),
    )
    runs[unfinished] = pb.EvaluatedRun(cut, store)
    (told,) = gate(runs[1], runs[0], 0.1).tasks
    name = ("baseline", "run")[unfinished]
    assert told.verdict is GateVerdict.CANNOT_TELL
    assert told.reason == f"the {name} is interrupted, 400 of 900 samples are graded: finish it first"
