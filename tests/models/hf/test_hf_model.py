"""The backend against transformers itself, on tiny models of several architectures."""

from __future__ import annotations

import logging
import shutil
import threading

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Finish, Message, Request, Rolling, Scoring
from probatum.models import load_model
from probatum.models.hf import network as network_module
from probatum.models.hf.model import HFModel

KINDS = ["llama", "mistral", "gemma3", "gpt2", "neox"]
TOLERANCE = 2e-4  # nats a token, of single-precision sums in another order

FEW_SHOT = "Question: what color is the sky\nAnswer: blue\n\nQuestion: what is the capital of France\nAnswer: Paris\n\n"
OPTIONS = [" blue", " red", " green as the sky by day", " 中国龘", " the the the the"]


def asked(prompt: str, continuation: str, **rules) -> Request:
    return Request(item_id="1", prompt=prompt, continuation=continuation, scoring=Scoring(**rules))


def few_shot_requests() -> list[Request]:
    questions = [f"Question: the number {word} is\nAnswer:" for word in ("two", "three", "four", "five")]
    return [asked(FEW_SHOT + question, option) for question in questions for option in OPTIONS]


def answers(model: HFModel, requests: list[Request]):
    found = {response.request: response for response in model.answer(iter(requests))}
    assert len(found) == len({request.key for request in requests})
    return [found[request.key] for request in requests]


def failing(error: Exception):
    def hidden(*_):
        raise error

    return hidden


def reference(directory, tokens_seen, tokens_scored) -> list[float]:
    """transformers' own forward of one sequence, eager attention, in double precision after the logits."""
    model = AutoModelForCausalLM.from_pretrained(directory, attn_implementation="eager").eval()
    whole = [*tokens_seen, *tokens_scored]
    with torch.no_grad():
        logits = model(torch.tensor([whole[:-1]])).logits[0].double()
    logprobs = torch.log_softmax(logits, dim=-1)
    start = len(tokens_seen)
    return [float(logprobs[start + place - 1, token]) for place, token in enumerate(tokens_scored)]


@pytest.mark.parametrize("kind", KINDS)
def test_packed_numbers_are_those_of_transformers(kind, tiny):
    directory = tiny(kind=kind)
    model = load_model(f"hf/{directory}", {"batch_tokens": 64})
    assert model.network.packed
    assert model.network.difference < TOLERANCE
    tokenizer = AutoTokenizer.from_pretrained(directory)
    requests = few_shot_requests()
    for request, response in zip(requests, answers(model, requests), strict=True):
        whole = tokenizer(request.prompt + request.continuation).input_ids
        seen = whole[: len(whole) - len(response.tokens)]
        assert list(response.tokens) == whole[len(seen) :]
        assert response.prompt_tokens == len(seen)
        expected = reference(directory, seen, response.tokens)
        assert response.logprobs == pytest.approx(expected, abs=TOLERANCE)
    model.close()


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_do_not_depend_on_company_budget_or_order(kind, tiny):
    requests = few_shot_requests()
    found = []
    for settings, order in (
        ({"batch_tokens": 512}, 1),
        ({"batch_tokens": 48}, -1),
        ({"batch_tokens": 16}, 1),
        ({"attention": "plain"}, -1),
    ):
        model = load_model(f"hf/{tiny(kind=kind)}", settings)
        found.append(dict(zip(requests, answers(model, requests[::order])[::order], strict=True)))
        model.close()
    for request, first in found[0].items():
        for other in found[1:]:
            assert other[request].logprobs == pytest.approx(first.logprobs, abs=TOLERANCE)
            assert other[request].tokens == first.tokens


def test_shared_beginnings_are_computed_once(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    requests = few_shot_requests()
    before = model.network.computed
    answers(model, requests)
    shared = model.network.computed - before
    before = model.network.computed
    for request in requests:
        answers(model, [request])
    alone = model.network.computed - before
    assert shared < alone / 4
    model.close()


def test_letters_of_one_question_cost_one_forward(tiny):
    model = load_model(f"hf/{tiny()}")
    before = model.network.computed
    letters = [asked("Question: what is it\nAnswer:", f" {letter}") for letter in "ABCD"]
    found = answers(model, letters)
    assert {len(response.tokens) for response in found} == {1}
    assert model.network.computed - before == found[0].prompt_tokens
    model.close()


def test_repeated_runs_give_the_same_bits_in_the_same_order(tiny):
    requests = few_shot_requests()
    runs = []
    for _ in range(2):
        model = load_model(f"hf/{tiny()}", {"threads": 1})
        runs.append([(response.request, response.logprobs) for response in model.answer(requests)])
        model.close()
    assert runs[0] == runs[1]


@pytest.mark.parametrize("kind", KINDS)
def test_windows_see_exactly_their_tokens(kind, tiny):
    directory = tiny(kind=kind)
    model = load_model(f"hf/{directory}", {"batch_tokens": 32})
    text = FEW_SHOT * 3
    tokenizer = AutoTokenizer.from_pretrained(directory)
    whole = tokenizer(text).input_ids
    [whole_response] = answers(model, [asked("", text, rolling=Rolling(window=48, stride=20))])
    assert list(whole_response.tokens) == whole[1:]
    assert whole_response.scored_bytes == len(text.encode())
    expected = reference(directory, whole[:1], whole[1:49])
    first = 49
    while first < len(whole):
        last = min(len(whole), first + 20)
        expected += reference(directory, whole[last - 1 - 48 : first], whole[first:last])
        first = last
    assert whole_response.logprobs == pytest.approx(expected, abs=TOLERANCE)
    model.close()


def test_a_prompt_that_does_not_fit(tiny):
    model = load_model(f"hf/{tiny()}", {"context_tokens": 32})
    long = " ".join(["the sky by day"] * 20)
    refused, cut = answers(model, [asked(long, " blue"), asked(long, " blue", overflow="left")])
    assert refused.finish is Finish.CONTEXT_OVERFLOW
    assert refused.logprobs is None
    assert "do not fit in the context of 32" in refused.reason
    assert (cut.prompt_tokens, cut.finish) == (32, Finish.STOP)
    assert cut.cut_tokens == 81 - 32
    model.close()


def test_no_text_is_no_crash(tiny):
    model = load_model(f"hf/{tiny()}")
    half, empty, fine = answers(model, [asked("the \ud800", " sky"), asked("the", ""), asked("the", " sky")])
    assert (half.finish, empty.finish, fine.finish) == (
        Finish.MODEL_ERROR,
        Finish.MODEL_ERROR,
        Finish.STOP,
    )
    assert "surrogate" in half.reason
    assert "empty" in empty.reason
    model.close()


def test_a_model_that_computes_nothing_usable_is_told(tiny):
    model = load_model(f"hf/{tiny()}")
    model.network.model.get_output_embeddings().weight.data.fill_(float("nan"))
    [response] = answers(model, [asked("the", " sky")])
    assert response.finish is Finish.MODEL_ERROR
    assert "NaN" in response.reason
    assert response.logprobs is None
    model.close()


def test_when_memory_runs_out_smaller_passes_follow(tiny, monkeypatch, caplog):
    model = load_model(f"hf/{tiny()}", {"batch_tokens": 256})
    requests = few_shot_requests()
    expected = answers(model, requests)
    compute = model.network.hidden
    failed = []

    def hidden(one, kept=None):
        if len(one.tokens) > 40:
            failed.append(len(one.tokens))
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")
        return compute(one, kept)

    monkeypatch.setattr(model.network, "hidden", hidden)
    with caplog.at_level(logging.WARNING, "probatum.models.hf"):
        found = answers(model, requests)
    assert failed
    assert model.network.budget == 32
    assert "batch_tokens=32" in caplog.text
    for one, other in zip(found, expected, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=TOLERANCE)
    monkeypatch.setattr(model.network, "hidden", failing(MemoryError("none left")))
    with pytest.raises(ModelError, match="even for 16 tokens"):
        answers(model, requests)
    model.close()


def test_another_error_of_the_network_is_not_taken_for_want_of_memory(tiny, monkeypatch):
    model = load_model(f"hf/{tiny()}")
    monkeypatch.setattr(model.network, "hidden", failing(RuntimeError("shapes")))
    with pytest.raises(RuntimeError, match="shapes"):
        answers(model, few_shot_requests())
    model.close()


def test_an_architecture_that_cannot_be_packed_is_computed_plainly(tiny, monkeypatch, caplog):
    monkeypatch.setattr(network_module, "TOLERANCE", -1.0)
    with caplog.at_level(logging.WARNING, "probatum.models.hf"):
        model = load_model(f"hf/{tiny()}")
    assert not model.network.packed
    assert "computed again for each sequence" in caplog.text
    assert model.identity.settings["attention"] == "sdpa"
    requests = few_shot_requests()
    plain = answers(model, requests)
    model.close()
    monkeypatch.undo()
    model = load_model(f"hf/{tiny()}")
    for one, other in zip(plain, answers(model, requests), strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=TOLERANCE)
    model.close()
    monkeypatch.setattr(network_module, "TOLERANCE", -1.0)
    with pytest.raises(ModelError, match="other numbers than the model's own code"):
        load_model(f"hf/{tiny()}", {"attention": "packed"})


def test_half_precision_states_its_noise_floor(tiny, caplog):
    with caplog.at_level(logging.INFO, "probatum.models.hf"):
        model = load_model(f"hf/{tiny()}", {"dtype": "bfloat16"})
    assert model.identity.precision == "bfloat16"
    assert 1e-5 < model.network.difference < 0.5
    assert "noise floor of torch.bfloat16" in caplog.text
    model.close()


def test_identity_covers_weights_tokenizer_and_what_changes_numbers(tiny):
    first = load_model(f"hf/{tiny()}")
    same = load_model(f"hf/{tiny()}", {"threads": 1, "batch_tokens": 32})
    others = [
        load_model(f"hf/{tiny(seed=1)}"),
        load_model(f"hf/{tiny(begin=False)}"),
        load_model(f"hf/{tiny()}", {"dtype": "bfloat16"}),
        load_model(f"hf/{tiny()}", {"attention": "plain"}),
        load_model(f"hf/{tiny()}", {"context_tokens": 128}),
        load_model(f"hf/{tiny()}", {"special_tokens": "false"}),
    ]
    identity = first.identity
    assert identity.digest == same.identity.digest
    assert identity.weights
    assert identity.tokenizer
    assert identity.weights != others[0].identity.weights
    assert identity.tokenizer != others[1].identity.tokenizer
    assert "transformers" in identity.backend
    assert "torch" in identity.backend
    digests = {identity.digest, *(model.identity.digest for model in others)}
    assert len(digests) == 7
    for model in (first, same, *others):
        model.close()


TEMPLATE = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}\n{% endfor %}Answer:"


def test_a_conversation_is_scored_where_its_answer_begins(tiny):
    model = load_model(f"hf/{tiny(template=TEMPLATE)}")
    request = Request(item_id="1", prompt=(Message("user", "the sky"),), continuation=" blue")
    plain = asked("<s>user: the sky\nAnswer:", " blue")
    chat, text = answers(model, [request, plain])
    assert chat.logprobs == text.logprobs
    assert model.capabilities.chat
    assert model.capabilities.score
    model.close()


def test_a_base_model_refuses_conversations(tiny):
    model = load_model(f"hf/{tiny()}")
    assert not model.capabilities.chat
    with pytest.raises(ModelError, match="base model"):
        answers(model, [Request(item_id="1", prompt=(Message("user", "hi"),), continuation=" a")])
    model.close()


def test_a_model_answers_one_call_at_a_time_and_none_when_closed(tiny):
    model = load_model(f"hf/{tiny()}")
    requests = few_shot_requests()
    first = model.answer(requests)
    next(first)
    with pytest.raises(ModelError, match="another call"):
        next(model.answer(requests))
    first.close()
    assert len(answers(model, requests)) == len(requests)
    model.close()
    model.close()
    with pytest.raises(ModelError, match="closed"):
        answers(model, requests)


def test_requests_that_wait_for_answers_do_not_block(tiny):
    model = load_model(f"hf/{tiny()}")
    answered = threading.Event()

    def requests():
        yield asked("the", " sky")
        assert answered.wait(60)
        yield asked("the", " sun")

    for response in model.answer(requests()):
        assert response.finish is Finish.STOP
        answered.set()
    assert answered.is_set()
    model.close()


def test_what_the_iterable_raises_comes_after_what_it_gave(tiny):
    model = load_model(f"hf/{tiny()}")

    def requests():
        yield asked("the", " sky")
        raise ValueError("no more")

    responses = model.answer(requests())
    assert next(responses).finish is Finish.STOP
    with pytest.raises(ValueError, match="no more"):
        next(responses)
    assert answers(model, [asked("the", " sky")])[0].finish is Finish.STOP
    model.close()


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("hf/no-such", {}, UsageError, "neither a directory nor a model of the hub"),
        ("hf/a/b@", {}, UsageError, "neither a directory"),
        ("hf/TINY", {"context_tokens": 1024}, ModelError, "context_tokens=1024"),
        ("hf/TINY", {"device": "toaster"}, UsageError, "device='toaster'"),
        ("hf/TINY", {"dtype": "int8"}, UsageError, "dtype='int8'"),
        ("hf/EMPTY", {}, ModelError, "no config.json"),
        ("hf/BARE", {}, ModelError, "no weights"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_a_line(name, settings, error, words, tiny, tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare" / "config.json").write_text("{}")
    places = {"TINY": tiny(), "EMPTY": tmp_path / "empty", "BARE": tmp_path / "bare"}
    for key, place in places.items():
        name = name.replace(key, str(place))
    with pytest.raises(error) as raised:
        load_model(name, settings)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_long_masks_go_in_parts(tiny, monkeypatch):
    requests = few_shot_requests()
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    expected = answers(model, requests)
    monkeypatch.setattr("probatum.models.hf.attention.MASK_VALUES", 300)
    for one, other in zip(answers(model, requests), expected, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=TOLERANCE)
    model.close()


@pytest.fixture
def hub(tiny, tmp_path, monkeypatch):
    """The hub's own cache on disk, with one repository and no network."""
    import huggingface_hub

    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--owner--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "v1").write_text(commit)
    shutil.copytree(tiny(), repository / "snapshots" / commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return commit


def test_a_model_of_the_hub_is_pinned_to_its_commit(hub, tiny):
    model = load_model("hf/owner/tiny@v1")
    local = load_model(f"hf/{tiny()}")
    assert (model.identity.name, model.identity.revision) == ("owner/tiny", hub)
    assert model.identity.weights == local.identity.weights
    assert (
        answers(model, [asked("the", " sky")])[0].logprobs
        == answers(local, [asked("the", " sky")])[0].logprobs
    )
    model.close()
    local.close()


@pytest.mark.parametrize("name", ["hf/owner/tiny@v2", "hf/owner/other"])
def test_a_model_that_the_hub_does_not_give_is_told_in_a_line(hub, name):
    with pytest.raises(ModelError, match="cannot be had from the hub") as raised:
        load_model(name)
    assert "\n" not in str(raised.value)


def test_long_documents_close_a_block_early(tiny, monkeypatch):
    monkeypatch.setattr("probatum.models.hf.model.BLOCK_CHARACTERS", 500)
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    pulled = []

    def documents():
        for number in range(200):
            pulled.append(number)
            yield asked("", FEW_SHOT + str(number), rolling=Rolling(window=32))

    responses = model.answer(documents())
    assert next(responses).finish is Finish.STOP
    assert len(pulled) < 120
    assert len(list(responses)) == 199
    model.close()
