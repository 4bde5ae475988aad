"""Continuations scored by the library, held against a forward pass written here and against generation."""

from __future__ import annotations

import math

import pytest

from probatum.core.records import Finish, Message, Request, Rolling, Sampling, Scoring
from probatum.models import load_model
from tests.models.llamacpp.tiny import BOS, BYTES, chain_model, letter, piece, random_model

pytest.importorskip("xllamacpp", reason="needs the extra: pip install 'probatum[local]'")
pytestmark = pytest.mark.local_model

SHOTS = "question abc answer xyz\n" * 8  # 192 letters, three blocks


def asked(prompt: str, continuation: str, **rules) -> Request:
    return Request(item_id=prompt, prompt=prompt, continuation=continuation, scoring=Scoring(**rules))


def answers(model, requests):
    found = {response.request: response for response in model.answer(iter(requests))}
    return [found[request.key] for request in requests]


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """After "a": b with logit 2, c with 1, all others 0; after the beginning: a with 3."""
    path = tmp_path_factory.mktemp("chain") / "m.gguf"
    chain_model(path, {piece("a"): {piece("b"): 2.0, piece("c"): 1.0}, BOS: {piece("a"): 3.0}})
    model = load_model(f"llamacpp/{path}", {"threads": 1})
    yield model
    model.close()


def test_log_probabilities_are_those_of_the_logits(chain):
    others = chain._engine.vocabulary_size
    after_a = math.log(math.exp(2) + math.exp(1) + others - 2)
    first = 3 - math.log(math.exp(3) + others - 1)
    flat = -math.log(others)
    b, c, d, both, begun = answers(
        chain, [asked("a", "b"), asked("a", "c"), asked("a", "d"), asked("a", "bd"), asked("", "ab")]
    )
    assert b.logprobs == pytest.approx([2 - after_a], abs=1e-3)  # the norm's epsilon takes 3e-4
    assert c.logprobs == pytest.approx([1 - after_a], abs=1e-3)  # the norm's epsilon takes 3e-4
    assert d.logprobs == pytest.approx([-after_a], abs=1e-3)  # the norm's epsilon takes 3e-4
    assert both.logprobs == pytest.approx([2 - after_a, flat], abs=1e-3)  # the norm's epsilon takes 3e-4
    assert begun.logprobs == pytest.approx([first, 2 - after_a], abs=1e-3)  # the norm's epsilon takes 3e-4
    assert [b.greedy, c.greedy, d.greedy, begun.greedy] == [True, False, False, True]
    assert (b.tokens, b.prompt_tokens, b.scored_bytes) == ((letter("b"),), 2, 1)
    assert (begun.prompt_tokens, begun.scored_bytes) == (1, 2)


def few_shot() -> list[Request]:
    options = ["x", " y", "zz the", "中", "stop now"]
    return [asked(SHOTS + f"question {number} answer", one) for number in range(4) for one in options]


@pytest.mark.parametrize("kind", ["F32", "Q8_0"])
def test_numbers_do_not_depend_on_company_order_slots_or_threads(tmp_path, kind):
    path = random_model(tmp_path / "m.gguf", kind)
    requests = [*few_shot(), asked("", "the end"), asked("", SHOTS, rolling=Rolling(window=80, stride=30))]
    reference = load_model(f"llamacpp/{path}", {"threads": 1})
    expected = [response.logprobs for response in answers(reference, requests)]
    assert all(value is not None for value in expected)
    for request, value in zip(requests, expected, strict=True):
        assert [response.logprobs for response in answers(reference, [request])] == [value]
    backwards = [response.logprobs for response in answers(reference, requests[::-1])][::-1]
    assert backwards == expected
    reference.close()
    for changed in ({"slots": 2}, {"slots": 16, "threads": 2}):
        model = load_model(f"llamacpp/{path}", {"threads": 1, **changed})
        assert [response.logprobs for response in answers(model, requests)] == expected
        model.close()


def test_what_texts_share_is_computed_once(tmp_path):
    model = load_model(f"llamacpp/{random_model(tmp_path / 'm.gguf')}", {"threads": 1})
    requests = few_shot()
    before = model._batching.evaluated
    found = answers(model, requests)
    together = model._batching.evaluated - before
    whole = sum(response.prompt_tokens + response.completion_tokens - 1 for response in found)
    assert together < whole / 3
    before = model._batching.evaluated
    letters = answers(model, [asked("what is it", f" {one}"[1:]) for one in "abcd"])
    assert model._batching.evaluated - before == letters[0].prompt_tokens
    model.close()


def test_scoring_and_generating_take_turns_and_disturb_nothing(tmp_path):
    model = load_model(f"llamacpp/{random_model(tmp_path / 'm.gguf')}", {"threads": 1, "slots": 2})
    generating = [
        Request(item_id=f"g{number}", prompt=f"tell {number}", sampling=Sampling(max_tokens=9))
        for number in range(6)
    ]
    scoring = few_shot()[:6]
    texts = [response.text for response in answers(model, generating)]
    numbers = [response.logprobs for response in answers(model, scoring)]
    mixed = [one for pair in zip(generating, scoring, strict=True) for one in pair]
    found = answers(model, mixed)
    assert [response.text for response in found[::2]] == texts
    assert [response.logprobs for response in found[1::2]] == numbers
    model.close()


def test_bytes_of_a_character_without_a_token_are_scored_each(chain):
    [response] = answers(chain, [asked("a", "龘")])
    assert response.tokens == tuple(BYTES + byte for byte in "龘".encode())
    assert (len(response.logprobs), response.scored_bytes) == (3, 3)


def test_what_does_not_fit_and_what_is_no_text(chain):
    long = "a" * 600
    refused, cut, half, empty = answers(
        chain,
        [asked(long, "b"), asked(long, "b", overflow="left"), asked("a\ud800", "b"), asked("a", "")],
    )
    assert refused.finish is Finish.CONTEXT_OVERFLOW
    assert (cut.finish, cut.prompt_tokens, cut.cut_tokens) == (Finish.STOP, 512, 601 - 512)
    assert half.finish is empty.finish is Finish.MODEL_ERROR


def test_a_conversation_is_scored_where_its_answer_begins(tmp_path):
    template = "{% for m in messages %}{{ m.content }}\n{% endfor %}a"
    path = chain_model(tmp_path / "m.gguf", {piece("a"): {piece("b"): 2.0}}, template=template)
    model = load_model(f"llamacpp/{path}", {"threads": 1})
    chat = Request(item_id="1", prompt=(Message("user", "hi"),), continuation="b")
    one, other = answers(model, [chat, asked("hi\na", "b")])
    assert one.logprobs == other.logprobs
    assert one.greedy
    model.close()
