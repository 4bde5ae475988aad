"""Generation: packed cohorts against the model's own cache, one sample at a time."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from probatum.core.records import Finish, Request, Sampling
from probatum.models import load_model

KINDS = ["llama", "mistral", "gemma3", "gpt2", "neox"]
PROMPTS = ["The capital of", "the sky by day and the night " * 4, "the sky by day and the sun", "中国"]


def asked(prompt: str, sample: int = 0, **sampling: object) -> Request:
    return Request(item_id="1", sample=sample, prompt=prompt, sampling=Sampling(**sampling))


def answers(model, requests):
    found = {response.request: response for response in model.answer(iter(requests))}
    return [found[request.key] for request in requests]


def sampled(count: int = 3, **more: object) -> list[Request]:
    return [
        asked(prompt, number, temperature=1.0, top_p=0.95, seed=number, max_tokens=20 + number, **more)
        for prompt in PROMPTS
        for number in range(count)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_is_what_transformers_generates(kind, tiny):
    directory = tiny(kind=kind)
    model = load_model(f"hf/{directory}", {"threads": 1, "batch_tokens": 16})
    tokenizer = AutoTokenizer.from_pretrained(directory)
    reference = AutoModelForCausalLM.from_pretrained(directory, attn_implementation="eager").eval()
    requests = [asked(prompt, max_tokens=40) for prompt in PROMPTS]
    for request, response in zip(requests, answers(model, requests), strict=True):
        tokens = torch.tensor([tokenizer(request.prompt).input_ids])
        with torch.no_grad():
            whole = reference.generate(
                tokens,
                max_new_tokens=40,
                do_sample=False,
                pad_token_id=0,
                attention_mask=torch.ones_like(tokens),
            )[0].tolist()
        new = whole[tokens.shape[1] :]
        assert response.completion_tokens == len(new)
        assert (response.finish is Finish.STOP) == (new[-1] == tokenizer.eos_token_id)
        assert response.prompt_tokens == tokens.shape[1]
        expected = b"".join(model._speller.piece(token) for token in new)
        text = expected.decode("utf-8", "replace")
        assert response.text.rstrip("\ufffd") == text.rstrip("\ufffd")  # a character may be cut off
    model.close()


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_the_same_packed_and_plain(kind, tiny):
    texts = []
    for settings in ({}, {"attention": "plain"}):
        model = load_model(f"hf/{tiny(kind=kind)}", {"threads": 1, **settings})
        texts.append([response.text for response in answers(model, sampled())])
        model.close()
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 8


def test_a_prompt_is_computed_once_for_all_its_samples(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    requests = [asked(PROMPTS[1], number, temperature=1.0, seed=number, max_tokens=5) for number in range(70)]
    before = model.network.computed
    found = answers(model, requests)
    generated = sum(response.completion_tokens for response in found)
    prompt = found[0].prompt_tokens
    assert model.network.computed - before <= prompt + generated
    model.close()


def test_prompts_share_their_beginnings(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    requests = [asked(PROMPTS[1] + end, max_tokens=1) for end in ("one", "two", "three")]
    before = model.network.computed
    found = answers(model, requests)
    assert model.network.computed - before < found[0].prompt_tokens + 20
    model.close()


def test_stop_strings_end_the_text_wherever_tokens_lie(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    [whole] = answers(model, [asked("The capital of", temperature=1.0, seed=5, max_tokens=60)])
    stop = max(whole.text.split("\ufffd"), key=len)[-3:]
    assert len(stop) == 3
    [cut] = answers(model, [asked("The capital of", temperature=1.0, seed=5, max_tokens=60, stop=(stop,))])
    assert (cut.text, cut.stop, cut.finish) == (whole.text[: whole.text.find(stop)], stop, Finish.STOP)
    assert cut.completion_tokens <= whole.completion_tokens
    model.close()


def test_a_seed_belongs_to_its_sample_whatever_the_order(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    requests = sampled(5)
    expected = [response.text for response in answers(model, requests)]
    assert [response.text for response in answers(model, requests[::-1])][::-1] == expected
    assert [response.text for response in answers(model, requests)] == expected
    model.close()


def test_length_context_and_faults(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1, "context_tokens": 32})
    long = "the sky by day " * 20
    overflow, full, none, wrong, half = answers(
        model,
        [
            asked(long),
            asked("the sky by day and the night", temperature=1.0, seed=1, max_tokens=100),
            asked("the", max_tokens=0),
            asked("the", temperature=-1.0),
            asked("the \ud800"),
        ],
    )
    assert overflow.finish is Finish.CONTEXT_OVERFLOW
    assert full.finish in {Finish.LENGTH, Finish.STOP}
    assert full.prompt_tokens + full.completion_tokens <= 33
    assert (none.finish, none.completion_tokens) == (Finish.LENGTH, 0)
    assert wrong.finish is half.finish is Finish.MODEL_ERROR
    model.close()


def test_scoring_and_generating_in_one_call(tiny):
    model = load_model(f"hf/{tiny()}", {"threads": 1})
    scored = [Request(item_id="1", prompt=prompt, continuation=" blue") for prompt in PROMPTS]
    mixed = [one for pair in zip(scored, sampled(1), strict=True) for one in pair]
    found = answers(model, mixed)
    assert all(response.logprobs for response in found[::2])
    assert all(response.logprobs is None for response in found[1::2])
    model.close()
