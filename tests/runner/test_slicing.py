"""B - A in slices: what they are by, which are tested, and how they are corrected."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from probatum import evaluate
from probatum.core.errors import UsageError
from probatum.core.records import Identity, Item
from probatum.core.strictjson import strict_text
from probatum.runner.comparing import compare
from probatum.runner.comparing.pairing import Paired
from probatum.runner.comparing.slicing import smallest_slice, vary
from tests.fakes import FakeModel, answer_sums, sums_task
from tests.runner.stored import stored_run


def with_fields(row):
    """Additions with metadata: a level, tags, a weight, and a note in some items."""
    number = int(row.id.removeprefix("sum-"))
    fields = {"a": row.a, "b": row.b, "level": ("easy", "hard")[number % 2], "meta": {"weight": number}}
    if number % 10 == 0:
        fields["note"] = "x" * (number + 1)
    return Item(id=row.id, fields=fields, targets=(str(row.a + row.b),), cluster=row.cluster)


TASK = sums_task(to_item=with_fields)


def hard_wrong(request):
    right = answer_sums(request)
    return "0" if int(request.item_id.removeprefix("sum-")) % 2 else right


@pytest.fixture
def runs(store, data):
    return [
        evaluate(
            TASK,
            model=FakeModel(reply=reply, identity=Identity(provider="fake", name=name)),
            store=store,
            data_directory=data,
        )
        for name, reply in (("a", answer_sums), ("b", hard_wrong))
    ]


def sliced(runs, *by, **options):
    (pair,) = compare(*runs, by=by, **options).pairs
    return pair.slicings


def test_a_field_of_the_items_makes_slices_of_its_values(runs):
    (slicing,) = sliced(runs, "level")
    easy, hard = slicing.slices
    assert [(each.name, each.items) for each in slicing.slices] == [("easy", 50), ("hard", 50)]
    assert (easy.contrast.estimate.value, hard.contrast.estimate.value) == (0.0, -1.0)
    assert hard.contrast.p_adjusted == pytest.approx(2 * 2 * 0.5**50)
    assert slicing.p_vary == pytest.approx(1 / 2001)
    assert (slicing.edges, slicing.unlabelled) == ((), 0)


def test_numbers_are_cut_into_quarters_whose_edges_are_told(runs):
    (slicing,) = sliced(runs, "meta.weight")
    assert [each.name for each in slicing.slices] == ["0 … 24", "25 … 49", "50 … 74", "75 … 99"]
    assert [each.items for each in slicing.slices] == [25, 25, 25, 25]
    assert slicing.edges == (24.0, 49.0, 74.0)
    assert slicing.p_vary > 0.2
    assert [each.contrast.estimate.value for each in slicing.slices] == pytest.approx(
        [-12 / 25, -13 / 25, -12 / 25, -13 / 25]
    )


@pytest.mark.parametrize(("items", "bins"), [(12, 2), (24, 2), (36, 3), (48, 4)])
def test_few_items_are_cut_into_fewer_bins(store, data, items, bins):
    runs = [
        evaluate(
            TASK,
            model=FakeModel(reply=reply, identity=Identity(provider="fake", name=name)),
            store=store,
            data_directory=data,
            limit=items,
        )
        for name, reply in (("a", answer_sums), ("b", hard_wrong))
    ]
    (slicing,) = sliced(runs, "meta.weight")
    assert [each.items for each in slicing.slices] == [items // bins] * bins


def test_lengths_of_prompts_answers_golds_and_texts_are_characters(runs):
    prompts, golds, notes = sliced(runs, "prompt_length", "gold_length", "length(note)")
    assert {each.name for each in prompts.slices} == {"4", "5", "6", "7"}  # "0+1=" … "99+199="
    assert sum(each.items for each in prompts.slices) == 100
    assert {each.name for each in golds.slices} <= {"1", "2", "3"}
    assert notes.unlabelled == 90
    (answers,) = sliced(runs, "answer_length")
    assert "part of the difference in it is that selection" in answers.notes[0]


def test_all_slices_of_all_fields_are_corrected_together(runs):
    found = sliced(runs, "level", "meta.weight")
    contrasts = [each.contrast for slicing in found for each in slicing.slices]
    p = [each.p_value for each in contrasts]
    assert [each.p_adjusted for each in contrasts] == pytest.approx(multipletests(p, method="holm")[1])


def test_a_slice_that_could_show_nothing_is_named_and_not_tested(store):
    strata = {f"i{n}": "large" if n < 40 else f"small {n % 3}" for n in range(52)}
    random_ = random.Random(5)
    a, b = ({name: float(random_.random() < rate) for name in strata} for rate in (0.3, 0.7))
    runs = [stored_run(store, name, scores, strata=strata) for name, scores in (("a", a), ("b", b))]
    (slicing,) = sliced(runs, "subject")
    assert (slicing.what, slicing.smallest) == ("stratum, as subject", 6)
    assert {each.name: each.items for each in slicing.slices if each.contrast is None} == {
        "small 0": 4, "small 1": 4, "small 2": 4,
    }  # fmt: skip
    (tested,) = [each for each in slicing.slices if each.contrast is not None]
    assert tested.contrast.p_adjusted == tested.contrast.p_value  # alone in its family


def test_clusters_are_the_units_of_slices(store):
    names = [f"i{n}" for n in range(80)]
    clusters = {name: f"c{n // 4}" for n, name in enumerate(names)}
    strata = {name: "left" if n < 40 else "right" for n, name in enumerate(names)}
    random_ = random.Random(6)
    runs = [
        stored_run(
            store,
            model,
            {name: float(random_.random() < 0.5) for name in names},
            clusters=clusters,
            strata=strata,
        )
        for model in "ab"
    ]
    (slicing,) = sliced(runs, "stratum")
    assert [each.contrast.estimate.clusters for each in slicing.slices] == [10, 10]
    assert all(each.contrast.test.startswith("sign flip") for each in slicing.slices)
    assert 0 < slicing.p_vary <= 1
    crossing = {name: f"c{n % 20}" for n, name in enumerate(names)}
    crossed = [
        stored_run(store, f"{model}x", {name: float(random_.random() < 0.5) for name in names},
                   clusters=crossing, strata=strata)
        for model in "ab"
    ]  # fmt: skip
    assert sliced(crossed, "stratum")[0].p_vary is None


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("colour", r"no item of 'sums' has 'colour' .* a, b, level, meta, note, and length\(FIELD\)"),
        ("options", "no item of 'sums' has 'options'"),
        ("stratum", "no item of 'sums' has 'stratum'"),
        ("meta", "that is no slicing; use a field of fewer values"),
    ],
)
def test_what_cannot_be_sliced_by_is_refused_with_what_can(runs, by, words):
    with pytest.raises(UsageError, match=words):
        sliced(runs, by)


def test_one_value_is_no_slicing(store):
    strata = dict.fromkeys(("x", "y"), "all")
    runs = [stored_run(store, name, {"x": 1.0, "y": 0.0}, strata=strata) for name in "ab"]
    with pytest.raises(
        UsageError, match="all items of 'sums' have 'stratum' 'all': there is nothing to slice by"
    ):
        sliced(runs, "stratum")


def test_slices_are_strict_json(runs):
    plain = json.loads(strict_text(compare(*runs, by=("level",)).plain()))
    (slicing,) = plain["pairs"][0]["slicings"]
    assert slicing["by"] == "level"
    assert slicing["slices"][1]["contrast"]["estimate"]["value"] == -1.0


def test_runs_without_slices_asked_for_have_none(runs):
    assert sliced(runs) == ()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_smallest_slice_is_the_least_that_its_correction_lets_show_anything(sizes, alpha):
    smallest = smallest_slice(sizes, alpha)
    left = sum(size >= smallest for size in sizes)
    assert 2 * 0.5**smallest <= alpha / max(left, 1) * (1 + 1e-9)
    if left:  # with one unit less in each, some K would have to be smaller than the slices left
        assert all(
            sum(2 * 0.5**size <= alpha / tested for size in sizes) > tested
            for tested in range(1, left)
            if math.ceil(1 + math.log2(tested / alpha) - 1e-12) < smallest
        )


def test_permuted_labels_hold_their_level():
    """Where no slice differs, p is below 5 % about as often as it says."""
    random_ = np.random.default_rng(7)
    slices = [np.arange(60) % 4 == number for number in range(4)]
    names = tuple(f"i{n}" for n in range(60))
    found = []
    for _ in range(100):
        differences = random_.choice([-1.0, 0.0, 0.0, 1.0], 60)
        paired = Paired(
            ids=names, a=np.zeros(60), b=differences, clusters=names, strata=(None,) * 60, all_clusters=names,
            worst=differences, best=differences, only_a=(), only_b=(), changed=(), missing={}, rates=True,
        )  # fmt: skip
        found.append(vary(paired, slices))
    assert 0.4 < np.mean(found) < 0.6
    assert sum(p <= 0.05 for p in found) <= 12  # 5 expected; the seed is fixed
