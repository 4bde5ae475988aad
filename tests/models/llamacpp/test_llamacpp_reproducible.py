"""What a request gets depends on nothing but the request, and prompts share what they have in common."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from probatum.core.records import Request, Sampling
from probatum.models import load_model
from tests.models.llamacpp.tiny import random_model

pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
pytestmark = pytest.mark.local_model

SHOTS = "question abc answer xyz\n" * 8  # 192 letters, three blocks


def prompts(count):
    """Some alike, some with a long beginning in common, some short."""
    return [
        *(SHOTS + f"question {number}" for number in range(count // 3)),
        *(f"{number} " * (number + 1) for number in range(count // 3)),
        *(["the same"] * (count - 2 * (count // 3))),
    ]


def requests(count, temperature):
    return [
        Request(
            item_id=str(number),
            sample=number,
            prompt=prompt,
            sampling=Sampling(
                max_tokens=12 + number % 7,
                temperature=temperature,
                top_p=0.95,
                seed=number if temperature else None,
            ),
        )
        for number, prompt in enumerate(prompts(count))
    ]


def texts(model, asked):
    return {response.request: response.text for response in model.answer(iter(asked))}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0"])
def test_alone_in_company_in_any_order_with_any_slots_and_threads(tmp_path, kind, temperature):
    path = random_model(tmp_path / "m.gguf", kind)
    asked = requests(24, temperature)
    reference = load_model(f"llamacpp/{path}", {"slots": 8, "threads": 1})
    assert reference.capabilities.reproducible
    expected = texts(reference, asked)
    assert len(set(expected.values())) > 12
    alone: dict[str, str] = {}
    for number, one in enumerate(asked):
        alone |= texts(reference, [one])
        if number % 5 == 0:
            reference._batching.reset()
    assert alone == expected
    assert texts(reference, asked[::-1]) == expected
    reference.close()
    for changed in ({"slots": 2}, {"slots": 3, "threads": 2}, {"slots": 16}):
        model = load_model(f"llamacpp/{path}", {"threads": 1, **changed})
        assert model.identity.digest == reference.identity.digest
        assert texts(model, asked[7:] + asked[:7]) == expected
        model.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    model = load_model(f"llamacpp/{random_model(tmp_path_factory.mktemp('m') / 'm.gguf')}", {"threads": 1})
    yield model
    model.close()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    beginnings=some.lists(some.tuples(some.integers(0, 200), some.integers(0, 3)), min_size=1, max_size=14),
    order=some.randoms(use_true_random=False),
)
def test_sharing_a_beginning_never_changes_an_answer(shared, beginnings, order):
    text = SHOTS * 2
    asked = [
        Request(
            item_id="1", sample=place, prompt=text[:length] + "abcd"[tail], sampling=Sampling(max_tokens=4)
        )
        for place, (length, tail) in enumerate(beginnings)
    ]
    first = texts(shared, asked)
    mixed = list(asked)
    order.shuffle(mixed)
    assert texts(shared, mixed) == first
    shared._batching.reset()
    assert texts(shared, mixed[:1]) == {mixed[0].key: first[mixed[0].key]}


def test_one_slot_is_reproducible_too_and_another_identity(tmp_path):
    path = random_model(tmp_path / "m.gguf")
    model = load_model(f"llamacpp/{path}", {"slots": 1, "threads": 1})
    asked = requests(9, 1.0)
    expected = texts(model, asked)
    assert texts(model, asked[::-1]) == expected
    assert model.capabilities.reproducible
    model.close()


def evaluated(model, asked):
    before = model._batching.evaluated
    list(model.answer(iter(asked)))
    return model._batching.evaluated - before


def test_samples_of_one_prompt_evaluate_it_once(tmp_path):
    model = load_model(f"llamacpp/{random_model(tmp_path / 'm.gguf')}", {"threads": 1})
    prompt = SHOTS + "question"
    tokens = model.count_tokens(prompt)
    samples = [
        Request(
            item_id="1",
            sample=number,
            prompt=prompt,
            sampling=Sampling(max_tokens=9, temperature=1.0, seed=number),
        )
        for number in range(20)
    ]
    assert evaluated(model, samples) == tokens
    assert evaluated(model, samples[:3]) == 0  # also when asked again later
    model.close()


def test_prompts_with_the_same_shots_evaluate_whole_blocks_of_them_once(tmp_path):
    model = load_model(f"llamacpp/{random_model(tmp_path / 'm.gguf')}", {"threads": 1})
    asked = [
        Request(item_id=str(number), prompt=SHOTS + "abcdefghij"[number] * 9, sampling=Sampling(max_tokens=5))
        for number in range(10)
    ]
    length = model.count_tokens(asked[0].prompt)
    shared_blocks = (1 + len(SHOTS)) // 64 * 64
    assert evaluated(model, asked) == length + 9 * (length - shared_blocks)
    model.close()
