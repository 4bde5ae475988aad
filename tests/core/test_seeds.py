from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from probatum.core.seeds import derive_seed

names = st.lists(st.text(st.characters(exclude_categories=())) | st.integers(), max_size=4)


@given(st.integers(), names)
def test_a_seed_fits_a_signed_integer_of_32_bits(seed, parts):
    assert 0 <= derive_seed(seed, *parts) < 2**31


@given(st.integers(0, 100), st.lists(st.tuples(st.text(), st.integers(0, 9)), unique=True), st.randoms())
def test_seeds_do_not_depend_on_the_order_of_asking(run_seed, wanted, chance):
    forwards = {one: derive_seed(run_seed, "sample", *one) for one in wanted}
    shuffled = list(wanted)
    chance.shuffle(shuffled)
    assert {one: derive_seed(run_seed, "sample", *one) for one in shuffled} == forwards


def test_each_of_run_seed_purpose_item_and_sample_changes_the_seed():
    base = (0, "sample", "item-1", 0)
    others = [(1, "sample", "item-1", 0), (0, "shots", "item-1", 0), (0, "sample", "item-2", 0)]
    seeds = {derive_seed(*one) for one in [base, *others, (0, "sample", "item-1", 1)]}
    assert len(seeds) == 5


def test_names_are_not_run_together():
    assert derive_seed(0, "ab", "c") != derive_seed(0, "a", "bc")
    assert derive_seed(0, "1", "11") != derive_seed(0, "11", "1")


def test_seeds_stay_what_they_were():
    """A change here would give every stored run other prompts and other samples."""
    assert derive_seed(0, "sample", "HumanEval/0", 0) == 2006157494
    assert derive_seed(7, "shots", 1, "题目") == 665214717


def test_seeds_spread_over_the_whole_range():
    seeds = [derive_seed(0, "sample", f"item-{number}", 0) for number in range(2000)]
    assert len(set(seeds)) == 2000
    assert 0.45 < sum(seed > 2**30 for seed in seeds) / 2000 < 0.55
