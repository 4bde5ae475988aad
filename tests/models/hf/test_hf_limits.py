"""What holds when memory runs out, whatever the company, and however long the text."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.likelihood_speed import TEXTS
from probatum.core.errors import ModelError
from probatum.core.records import Request, Rolling, Sampling, Scoring
from probatum.models import load_model
from probatum.models.hf.attention import Kept
from probatum.models.hf.network import out_of_memory
from probatum.models.hf.tree import SHORT, Query, build, passes

PROMPTS = ["The capital of", "the sky by day and the night " * 4, "the sky by day and the sun", "中国"]

NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried"
    ),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("std::bad_alloc"),
    MemoryError(),
]


def sampled(count: int = 3, greedy: bool = False) -> list[Request]:
    return [
        Request(
            item_id=str(item),
            sample=number,
            prompt=prompt,
            sampling=Sampling(
                temperature=0.0 if greedy else 1.0, top_p=0.95, seed=number, max_tokens=12 + number
            ),
        )
        for item, prompt in enumerate(PROMPTS)
        for number in range(count)
    ]


def options() -> list[Request]:
    return [
        Request(item_id=prompt, prompt=prompt * 3, continuation=option)
        for prompt in PROMPTS
        for option in (" blue", " red and green", " the the the")
    ]


def answers(model, requests):
    found = {response.request: response for response in model.answer(requests)}
    return [found[request.key] for request in requests]


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: str(error)[-40:])
def test_that_memory_ran_out_is_understood_on_every_device(error):
    assert out_of_memory(error)
    assert not out_of_memory(ValueError(str(error)))


def test_other_failures_are_none_of_memory():
    assert not out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)"))


class Short:
    """A network that fails for want of memory on rows longer than `longest`."""

    def __init__(self, network, error: BaseException, *, longest: int, times: int) -> None:
        self._rows, self._error = network.rows, error
        self._longest, self._left = longest, times
        self.failed = 0

    def __call__(self, tokens, positions, attention):
        if len(tokens) > self._longest and self._left:
            self._left -= 1
            self.failed += 1
            raise self._error
        return self._rows(tokens, positions, attention)


@pytest.mark.parametrize("error", NO_MEMORY[:3], ids=["cuda", "linux", "windows"])
@pytest.mark.parametrize(
    ("requests", "longest"), [(options(), 16), (sampled(12), 20)], ids=["scores", "texts"]
)
def test_after_memory_ran_out_once_the_answers_are_the_same(error, requests, longest, tiny, monkeypatch):
    model = load_model(f"hf/{tiny()}", {"threads": 1, "batch_tokens": 128})
    expected = answers(model, requests)
    short = Short(model.network, error, longest=longest, times=1)
    monkeypatch.setattr(model.network, "rows", short)
    found = answers(model, requests)
    assert short.failed == 1
    assert model.network.budget == 64
    assert [one.text for one in found] == [one.text for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.logprobs == (None if other.logprobs is None else pytest.approx(other.logprobs, abs=2e-4))
    model.close()


@pytest.mark.parametrize("requests", [options(), sampled()], ids=["scores", "texts"])
def test_memory_that_never_suffices_ends_in_a_line(requests, tiny, monkeypatch):
    model = load_model(f"hf/{tiny()}", {"threads": 1, "batch_tokens": 128})
    monkeypatch.setattr(model.network, "rows", Short(model.network, NO_MEMORY[1], longest=0, times=99))
    with pytest.raises(ModelError, match="even for 16 tokens at once") as raised:
        answers(model, requests)
    assert "\n" not in str(raised.value)
    model.close()


def test_computed_alone_a_request_has_the_same_bits_whatever_the_company(tiny):
    requests = [*sampled(), *options()]
    model = load_model(f"hf/{tiny()}", {"threads": 1, "attention": "plain"})
    assert model.capabilities.reproducible
    together = answers(model, requests)
    begun = model.answer(requests)
    next(begun)
    begun.close()  # an interruption
    again = answers(model, requests[::-1])[::-1]
    alone = [answers(model, [request])[0] for request in requests]
    model.close()
    for first, second, third in zip(together, again, alone, strict=True):
        assert first.text == second.text == third.text
        assert first.logprobs == second.logprobs == third.logprobs
    assert len({response.text for response in together if response.text}) > 6


def test_packed_texts_do_not_depend_on_the_company_though_their_last_bits_may(tiny):
    requests = sampled(5)
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    assert model.network.packed
    assert not model.capabilities.reproducible
    together = [response.text for response in answers(model, requests)]
    begun = model.answer(requests)
    next(begun)
    begun.close()
    assert [response.text for response in answers(model, requests[::-1])][::-1] == together
    assert [answers(model, [request])[0].text for request in requests] == together
    model.close()


def test_a_trunk_keeps_what_a_later_pass_sees_and_no_more():
    alone = Query(np.arange(250), np.arange(250))
    assert [(one.prefix, one.room) for one in passes(build([alone]), 100)] == [(0, 200), (100, 200), (200, 0)]
    shared = [Query(np.concatenate([np.arange(250), [end]]), np.array([0])) for end in range(500, 700)]
    made = list(passes(build(shared), 100))
    assert [(one.prefix, one.room) for one in made[:3]] == [(0, 250), (100, 250), (200, 250)]
    assert {(one.prefix, one.room) for one in made[3:]} == {(250, 0)}


def test_room_is_made_for_what_is_kept_alone():
    new = (torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 6))
    kept = Kept()
    kept.write(0, 0, new, 7)
    key, value = kept.held(0, 99)
    assert (key.shape[2], value.shape[2]) == (7, 7)
    longer = kept.write(0, 5, new, 10)
    assert [one.shape[2] for one in longer] == [10, 10]
    for one, part in zip(longer, new, strict=True):
        assert torch.equal(one, torch.cat([part, part], dim=2))
    following = kept.follow(0, 3, 5)
    for one, part in zip(following.group(new), new, strict=True):
        assert torch.equal(one, torch.cat([part[:, :, :3], part], dim=2))
    copy = kept.beginning(4, 6)
    assert copy.held(0, 99)[0].shape[2] == 6
    assert torch.equal(copy.held(0, 4)[1], new[1][:, :, :4])


def test_a_document_keeps_less_than_its_window(tiny):
    model = load_model(f"hf/{tiny(context_tokens=1024)}", {"threads": 1, "batch_tokens": 64})
    kept = model.network._kept
    most = 0
    write = kept.write

    def measured(layer, start, new, room):
        nonlocal most
        found = write(layer, start, new, room)
        most = max(most, kept.held(layer, 9999)[0].shape[2])
        return found

    kept.write = measured
    text = "the sky by day and the night " * 60
    request = Request(item_id="1", prompt="", continuation=text, scoring=Scoring(rolling=Rolling(window=128)))
    [response] = model.answer([request])
    assert len(response.logprobs) > 400
    assert most == 64
    model.close()


@pytest.mark.parametrize("workload", ["letters", "continuation"])
def test_what_is_computed_is_the_tree_of_distinct_beginnings(workload, tiny):
    model = load_model(f"hf/{tiny(context_tokens=4096)}", {"threads": 1})
    requests = [
        Request(item_id=str(place), prompt=prompt, continuation=text)
        for place, (prompt, text) in enumerate(TEXTS[workload](0.2))
    ]
    before = model.network.computed
    answers(model, requests)
    computed = model.network.computed - before
    sequences = [
        (1, *model._vocabulary.encode(request.prompt + request.continuation))[:-1] for request in requests
    ]
    distinct = {hash(one[:length]) for one in sequences for length in range(1, len(one) + 1)}
    branches = len({request.prompt for request in requests})
    assert len(distinct) <= computed <= len(distinct) + SHORT * branches
    assert computed < sum(map(len, sequences)) / 2
    model.close()
