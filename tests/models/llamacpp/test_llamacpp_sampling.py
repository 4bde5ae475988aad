"""The next token: temperature, then top-k, then top-p, then one draw."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from probatum.core.records import Request, Sampling
from probatum.models.sampling import Sampler, seed_of

FINITE = some.floats(-30, 30, width=32)
LOGITS = some.lists(FINITE, min_size=1, max_size=40).map(lambda values: np.array(values, np.float32))


def kept_naively(logits: np.ndarray, temperature: float, top_k: int, top_p: float) -> list[int]:
    """Sorts everything, and adds up one by one, in double precision."""
    order = sorted(range(len(logits)), key=lambda token: (-float(logits[token]), token))
    if top_k:
        order = order[:top_k]
    best = float(logits[order[0]])
    weights = [
        float(np.exp(np.float32((logits[token] - np.float32(best)) / np.float32(temperature))))
        for token in order
    ]
    total, running, kept = math.fsum(weights), 0.0, []
    for token, weight in zip(order, weights, strict=True):
        if kept and top_p < 1 and running >= top_p * total:
            break
        kept.append(token)
        running += weight
    return kept


@given(
    logits=LOGITS,
    temperature=some.floats(0.2, 3),
    top_k=some.integers(0, 12),
    top_p=some.sampled_from([1.0, 0.95, 0.9, 0.5, 0.1, 1e-6]),
)
def test_what_may_be_drawn_is_what_sorting_everything_gives(logits, temperature, top_k, top_p):
    sampler = Sampler(Sampling(temperature=temperature, top_k=top_k, top_p=top_p), seed=1)
    weights = np.exp((logits - logits.max()) / np.float32(temperature))
    candidates = sampler._top(logits, weights)
    kept = list(range(len(logits))) if candidates is None else candidates.tolist()
    expected = kept_naively(logits, temperature, top_k, top_p)
    if candidates is None:
        kept, expected = sorted(kept), sorted(expected)
    # Sums in another order may put the last token of the nucleus in or out.
    assert abs(len(kept) - len(expected)) <= 1
    assert kept[: len(expected)] == expected[: len(kept)]


@given(
    logits=LOGITS,
    temperature=some.floats(0, 5),
    top_k=some.integers(0, 50),
    top_p=some.floats(1e-6, 1),
    seed=some.integers(0, 2**31),
)
def test_the_choice_is_a_token_and_follows_from_the_seed(logits, temperature, top_k, top_p, seed):
    sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    one, other = Sampler(sampling, seed), Sampler(sampling, seed)
    choices = [one.choose(logits) for _ in range(5)]
    assert choices == [other.choose(logits) for _ in range(5)]
    assert all(0 <= token < len(logits) for token in choices)


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(temperature=1.0), [0.1, 0.2, 0.3, 0.4]),
        (Sampling(temperature=0.5), [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        (Sampling(temperature=1.0, top_k=2), [0, 0, 3 / 7, 4 / 7]),
        (Sampling(temperature=1.0, top_p=0.7), [0, 0, 3 / 7, 4 / 7]),
        (Sampling(temperature=1.0, top_p=0.71), [0, 2 / 9, 3 / 9, 4 / 9]),
        # Half the temperature makes the two likeliest hold 25/30: top-p is measured after it.
        (Sampling(temperature=0.5, top_p=0.8), [0, 0, 9 / 25, 16 / 25]),
        # Top-k first leaves 3/7 and 4/7, of which the greater alone holds 0.5.
        (Sampling(temperature=1.0, top_k=2, top_p=0.5), [0, 0, 0, 1]),
    ],
)
def test_frequencies_are_those_of_the_distribution(sampling, expected):
    logits = np.log(np.array([0.1, 0.2, 0.3, 0.4], np.float32))
    draws = 4000
    counts = Counter(Sampler(sampling, seed).choose(logits) for seed in range(draws))
    for token, share in enumerate(expected):
        deviation = math.sqrt(draws * share * (1 - share))
        assert abs(counts[token] - draws * share) <= 5 * deviation


def test_draws_of_one_sample_are_independent_of_each_other():
    logits = np.zeros(2, np.float32)
    sampler = Sampler(Sampling(temperature=1.0), seed=3)
    pairs = Counter((sampler.choose(logits), sampler.choose(logits)) for _ in range(2000))
    assert all(abs(count - 500) < 5 * math.sqrt(2000 * 0.25 * 0.75) for count in pairs.values())
    assert len(pairs) == 4


@pytest.mark.parametrize("size", [3, 511, 512, 513, 1024, 5000])
def test_every_part_of_a_large_vocabulary_is_drawn_in_proportion(size):
    impossible, possible = size // 2, size - size // 2
    logits = np.zeros(size, np.float32)
    logits[:impossible] = -np.inf
    draws = [Sampler(Sampling(temperature=1.0), seed).choose(logits) - impossible for seed in range(2000)]
    assert min(draws) >= 0
    first = sum(draw < possible // 2 for draw in draws)
    assert abs(first - 2000 * (possible // 2) / possible) < 5 * math.sqrt(500)


def test_a_token_that_is_impossible_is_never_drawn():
    logits = np.full(2000, -np.inf, np.float32)
    logits[[700, 1999]] = 0
    assert {Sampler(Sampling(temperature=1.0), seed).choose(logits) for seed in range(100)} == {700, 1999}


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(temperature=0.0), 1),
        (Sampling(temperature=2.0, top_k=1), 1),
        (Sampling(temperature=1e-30), 1),
        (Sampling(temperature=1.0, top_p=1e-9), 1),
        (Sampling(temperature=0.0, top_p=0.5, top_k=3, seed=5), 1),
    ],
)
def test_greedy_takes_the_first_of_the_likeliest(sampling, expected):
    assert Sampler(sampling, 0).choose(np.array([0.5, 3, 3, -1], np.float32)) == expected


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_numbers_that_are_none_are_no_answer(value, temperature):
    logits = np.array([0, value, 1], np.float32)
    with pytest.raises(ArithmeticError, match="token 1"):
        Sampler(Sampling(temperature=temperature), 0).choose(logits)


def test_without_a_seed_it_follows_from_the_request_and_the_sample():
    request = Request(item_id="a", prompt="p", sampling=Sampling(temperature=1.0))
    assert seed_of(request) == seed_of(replace(request, item_id="b"))
    assert seed_of(request) != seed_of(replace(request, sample=1))
    assert seed_of(request) != seed_of(replace(request, prompt="q"))
    assert seed_of(replace(request, sampling=Sampling(temperature=1.0, seed=0))) == 0
