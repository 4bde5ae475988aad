"""What every backend that scores continuations must hold: `pytest tests/models -k conformance`.

Only the seam is used, so that a test says the same of a network in this process and of a server. Each
backend brings its own model, and the tolerance of its arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import pytest

from probatum.core.records import Finish, Request, Response, Rolling, Scoring
from probatum.models import Model, load_model
from probatum.models.llamacpp.embedded import installed
from probatum.models.threads import sleeping_threads

FEW_SHOT = "".join(
    f"Question: what is the number {one}\nA. {two}\nB. {one}\nAnswer: B\n\n"
    for one, two in (("one", "two"), ("two", "three"), ("three", "four"), ("four", "five"))
)


@dataclass(frozen=True)
class Backend:
    """A model, and what its arithmetic allows."""

    model: Model
    begin: str
    """How the beginning token is written."""
    tolerance: float
    """Nats, for sums of a few tokens in another order or company."""

    def score(self, *requests: Request) -> list[Response]:
        found = {response.request: response for response in self.model.answer(iter(requests))}
        assert set(found) == {request.key for request in requests}
        return [found[request.key] for request in requests]

    def total(self, prompt: str, continuation: str, **rules: object) -> float:
        [response] = self.score(asked(prompt, continuation, **rules))
        assert response.finish is Finish.STOP, response.reason
        return math.fsum(response.logprobs)


def asked(prompt: str, continuation: str, **rules: object) -> Request:
    return Request(item_id="1", prompt=prompt, continuation=continuation, scoring=Scoring(**rules))


def hf(request: pytest.FixtureRequest, kind: str, settings: dict[str, object]) -> Backend:
    if find_spec("torch") is None or find_spec("transformers") is None:
        pytest.skip("needs the extra: pip install 'probatum[hf]'")
    from probatum.testing import tiny_model

    directory = tiny_model(request.getfixturevalue("tmp_path_factory").mktemp("tiny"), kind=kind)
    with sleeping_threads():
        return Backend(load_model(f"hf/{directory}", {"threads": 1, **settings}), "<s>", 2e-4)


def llamacpp(request: pytest.FixtureRequest, name: str) -> Backend:
    if not installed():
        pytest.skip("needs the extra: pip install 'probatum[local]'")
    if name == "tiny":
        from tests.models.llamacpp.tiny import random_model

        path = request.getfixturevalue("tmp_path_factory").mktemp("tiny") / "m.gguf"
        return Backend(
            load_model(f"llamacpp/{random_model(path)}", {"threads": 1}), "<s>", 0.04
        )  # values in 16 bits
    # four-bit weights: activations are rounded to eight bits, block by block
    return Backend(load_model(f"llamacpp/{name}", {"slots": 2, "context_tokens": 1024}), "<bos>", 0.12)


def openai(request: pytest.FixtureRequest) -> Backend:
    server = request.getfixturevalue("llama_server")
    # the same, and a server computes a prompt in other pieces each time: seen up to 0.46 for one token
    return Backend(load_model(f"openai/{server.model}", {"base_url": server.base_url}), "<bos>", 1.0)


BACKENDS = {
    "hf": lambda request: hf(request, "llama", {"batch_tokens": 64}),
    "hf-sliding": lambda request: hf(request, "gemma3", {"batch_tokens": 32}),
    "hf-plain": lambda request: hf(request, "llama", {"attention": "plain"}),
    "llamacpp": lambda request: llamacpp(request, "tiny"),
    "llamacpp-gemma": lambda request: llamacpp(request, "gemma-3-270m"),
    "openai-llamacpp-server": openai,
}


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    made = BACKENDS[request.param](request)
    yield made
    made.model.close()


def test_it_says_that_it_scores(backend):
    assert backend.model.capabilities.score


@pytest.mark.parametrize(
    ("prompt", "one", "two"),
    [
        ("The capital of France is", " Paris", " and London"),
        ("", "The", " water is blue"),
        (FEW_SHOT + "Question: what color is the sky\nAnswer:", " blue", " and red"),
        ("a", " 中", " and 是"),
    ],
)
def test_chain_rule(backend, prompt, one, two):
    """log P(ab) = log P(a) + log P(b | a), where no token spans a and b."""
    both, first, second = backend.score(
        asked(prompt, one + two), asked(prompt, one), asked(prompt + one, two)
    )
    assert both.tokens == first.tokens + second.tokens
    parts = math.fsum(first.logprobs) + math.fsum(second.logprobs)
    assert math.fsum(both.logprobs) == pytest.approx(parts, abs=backend.tolerance)
    assert both.scored_bytes == first.scored_bytes + second.scored_bytes == len((one + two).encode())
    assert both.greedy == (first.greedy and second.greedy)


def test_probabilities_of_different_tokens_add_up_to_less_than_one(backend):
    words = [" A", " B", " C", " D", " the", " one", " no", " yes", " water", " day"]
    found = backend.score(*(asked("Answer:", word) for word in words))
    single = {response.tokens[0]: response for response in found if len(response.tokens) == 1}
    assert len(single) > 4 or len({response.tokens[0] for response in found}) < len(found)
    assert math.fsum(math.exp(one.logprobs[0]) for one in single.values()) < 1
    assert all(value <= 0 for response in found for value in response.logprobs)
    assert sum(one.greedy for one in single.values()) <= 1


def test_the_beginning_token_stands_there_once(backend):
    plain = backend.total("The capital of France is", " Paris")
    written = backend.total(f"{backend.begin}The capital of France is", " Paris")
    assert written == pytest.approx(plain, abs=backend.tolerance)
    without = backend.total("The capital of France is", " Paris", begin="never")
    assert without != pytest.approx(plain, abs=1e-6)


def test_an_empty_prompt_is_the_beginning_token(backend):
    empty, written = backend.score(asked("", "The water"), asked(backend.begin, "The water"))
    assert empty.logprobs == pytest.approx(written.logprobs, abs=backend.tolerance)
    assert empty.tokens == written.tokens
    assert (empty.prompt_tokens, empty.scored_bytes) == (1, 9)
    bare = backend.total("", "The water", begin="never")
    assert bare == pytest.approx(math.fsum(empty.logprobs), abs=backend.tolerance)


def test_a_long_context(backend):
    """Longer than any pass or block: what is far away still counts, and the pieces add up."""
    prompt = FEW_SHOT[: len(FEW_SHOT) // 2]
    text = " the day and the night"
    [whole] = backend.score(asked(prompt, text))
    assert whole.prompt_tokens > 32
    assert whole.completion_tokens == len(whole.logprobs) == len(whole.tokens)
    step = backend.total(prompt, " the day") + backend.total(prompt + " the day", " and the night")
    assert math.fsum(whole.logprobs) == pytest.approx(step, abs=backend.tolerance)


@pytest.mark.parametrize("text", ["龘", " 中国人民", "𠮷野家", "é", "🏳️‍🌈", "ｆｕｌｌ"])
def test_characters_that_are_several_tokens(backend, text):
    [response] = backend.score(asked("The", text))
    assert response.scored_bytes == len(text.encode())
    assert len(response.logprobs) == len(response.tokens) == response.completion_tokens
    assert all(math.isfinite(value) for value in response.logprobs)
    longer = backend.score(asked("The", text + " day"))[0]
    if longer.tokens[: len(response.tokens)] == response.tokens:
        shared = longer.logprobs[: len(response.logprobs)]
        assert shared == pytest.approx(response.logprobs, abs=backend.tolerance)


def test_a_space_at_the_end_of_the_prompt_moves_to_the_continuation(backend):
    moved, plain = backend.score(asked("Answer: ", "B"), asked("Answer:", " B"))
    count = len(moved.tokens)  # a vocabulary without " B" has nothing to move
    assert moved.tokens == plain.tokens[-count:]
    assert moved.logprobs == pytest.approx(plain.logprobs[-count:], abs=backend.tolerance)
    assert plain.scored_bytes == 2
    assert moved.scored_bytes == 2 - (count < len(plain.tokens))


def test_a_token_that_spans_the_boundary_is_scored_whole(backend):
    for prompt, text in (("The word un", "believable"), ("The sk", "y"), ("The answer", " is")):
        [response] = backend.score(asked(prompt, text))
        assert response.finish is Finish.STOP
        assert response.tokens
        assert response.scored_bytes >= len(text)
        if response.scored_bytes > len(text):
            before = prompt[: len(prompt) + len(text) - response.scored_bytes]
            behind = (prompt + text)[len(before) :]
            [same] = backend.score(asked(before, behind))
            if same.tokens == response.tokens:
                assert same.logprobs == pytest.approx(response.logprobs, abs=backend.tolerance)


def test_numbers_do_not_depend_on_company_or_order(backend):
    options = [" one", " two and three", " B", " 中国", " the the"]
    requests = [
        asked(FEW_SHOT + f"Question: {word}\nAnswer:", one) for word in ("day", "sky") for one in options
    ]
    together = backend.score(*requests)
    backwards = backend.score(*requests[::-1])[::-1]
    for one, other in zip(together, backwards, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=backend.tolerance)
        assert one.tokens == other.tokens
    for place in (0, 3, 8):
        [alone] = backend.score(requests[place])
        assert alone.logprobs == pytest.approx(together[place].logprobs, abs=backend.tolerance)


def test_equal_requests_of_several_samples_are_each_answered(backend):
    requests = [Request(item_id="1", sample=sample, prompt="The", continuation=" sky") for sample in range(3)]
    found = backend.score(*requests)
    for response in found[1:]:
        assert response.logprobs == pytest.approx(found[0].logprobs, abs=backend.tolerance)


def test_windows_give_each_token_once(backend):
    text = FEW_SHOT[:100]
    whole, windows = backend.score(asked("", text), asked("", text, rolling=Rolling(window=24, stride=10)))
    assert windows.tokens == whole.tokens
    assert windows.scored_bytes == whole.scored_bytes == len(text.encode())
    assert windows.logprobs[:24] == pytest.approx(whole.logprobs[:24], abs=backend.tolerance)


def test_a_window_as_wide_as_the_context_is_no_window(backend):
    text = FEW_SHOT[:30]
    whole, wide = backend.score(asked("", text), asked("", text, rolling=Rolling()))
    assert wide.logprobs == pytest.approx(whole.logprobs, abs=backend.tolerance)


def test_what_cannot_be_scored_says_why(backend):
    empty, half, fine = backend.score(asked("The", ""), asked("The \ud800", " sky"), asked("The", " sky"))
    assert empty.finish is half.finish is Finish.MODEL_ERROR
    assert empty.reason
    assert half.reason
    assert empty.logprobs is half.logprobs is None
    assert fine.finish is Finish.STOP


def test_what_does_not_fit_is_refused_or_cut_and_told(backend):
    context = backend.model.capabilities.context_tokens
    long = " day" * (context + 8)
    refused, cut = backend.score(asked(long, " night"), asked(long, " night", overflow="left"))
    assert refused.finish is Finish.CONTEXT_OVERFLOW
    assert refused.logprobs is None
    assert cut.finish is Finish.STOP
    assert cut.cut_tokens >= 8
    assert cut.prompt_tokens + cut.completion_tokens - 1 <= context
    assert backend.score(asked("The", " sky"))[0].cut_tokens == 0


def test_counting_tokens_agrees(backend):
    texts: Sequence[str] = ("The sky", "Answer:", FEW_SHOT.strip())
    for text in texts:
        [response] = backend.score(asked(text, "\n\n\n中"))
        assert backend.model.count_tokens(text) == pytest.approx(response.prompt_tokens, abs=1)
