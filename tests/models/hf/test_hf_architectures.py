"""Log-probabilities and texts of many architectures against transformers itself, one sequence at a time."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from probatum.core.errors import ModelError
from probatum.core.records import Request, Sampling
from probatum.models import load_model

TOLERANCE = 1e-4  # nats a token, in single precision

SHAPE = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": None,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
}
SHARED = {**SHAPE, "num_key_value_heads": 2}
WIDE = {**SHARED, "head_dim": 16}
GPT = {"bos_token_id": 1, "eos_token_id": 2, "n_embd": 48, "n_layer": 2, "n_head": 4, "n_positions": 256}
OPT = {**SHAPE, "ffn_dim": 64, "word_embed_proj_dim": 48}
NO_HEADS = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "hidden_size": 48,
    "num_hidden_layers": 2,
}
SLIDING = {"sliding_window": 32, "layer_types": ["sliding_attention", "full_attention"]}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}

PACKED: dict[str, tuple[str, dict[str, Any]]] = {
    "llama, tied": ("Llama", {**SHARED, "tie_word_embeddings": True}),
    "qwen2": ("Qwen2", SHARED),
    "qwen2, late windows": (
        "Qwen2",
        {**SHARED, "use_sliding_window": True, "sliding_window": 32, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3", WIDE),
    "qwen3, experts": ("Qwen3Moe", {**WIDE, **EXPERTS}),
    "gemma2": ("Gemma2", {**WIDE, "sliding_window": 32, "query_pre_attn_scalar": 16}),
    "gemma3": ("Gemma3Text", {**WIDE, **SLIDING, "query_pre_attn_scalar": 16}),
    "mistral": ("Mistral", {**SHARED, "sliding_window": 32}),
    "mixtral": ("Mixtral", {**SHARED, "num_local_experts": 4}),
    "phi": ("Phi", SHARED),
    "phi3": ("Phi3", {**SHARED, "sliding_window": 32}),
    "gpt2": ("GPT2", {**GPT, "n_inner": 64}),
    "gpt-j": ("GPTJ", {**GPT, "rotary_dim": 8}),
    "gpt-neox": ("GPTNeoX", SHAPE),
    "opt": ("OPT", OPT),
    "opt, narrow": ("OPT", {**OPT, "word_embed_proj_dim": 32}),
    "olmo2": ("Olmo2", SHARED),
    "cohere2": ("Cohere2", {**WIDE, **SLIDING, "logit_scale": 0.25}),
    "granite": ("Granite", {**SHARED, "logits_scaling": 4.0, "residual_multiplier": 0.5}),
    "starcoder2": ("Starcoder2", {**SHARED, "sliding_window": 32}),
    "gpt-oss": ("GptOss", {**WIDE, **SLIDING, "num_local_experts": 4, "num_experts_per_tok": 2}),
}
PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "mamba": ("Mamba", {**NO_HEADS, "state_size": 8}),
    "bloom": ("Bloom", {"bos_token_id": 1, "eos_token_id": 2, "hidden_size": 48, "n_layer": 2, "n_head": 4}),
    "gpt-neo": (
        "GPTNeo",
        {
            "bos_token_id": 1,
            "eos_token_id": 2,
            "hidden_size": 48,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 32,
            "max_position_embeddings": 256,
        },
    ),
    "lfm2": ("Lfm2", {**SHARED, "layer_types": ["conv", "full_attention"]}),
    "rwkv": ("Rwkv", {**NO_HEADS, "context_length": 256}),
    "recurrent gemma": (
        "RecurrentGemma",
        {**SHAPE, "num_hidden_layers": 3, "lru_width": 48, "attention_window_size": 32},
    ),
}
EVERY = {**PACKED, **PLAIN}

SHOTS = "Question: what color is the sky\nAnswer: blue\n\nQuestion: what is the capital of France\nAnswer: Paris\n\n"
OPTIONS = [" blue", " red", " green as the sky by day", " the the the the"]


def asked() -> list[Request]:
    prompts = [SHOTS + f"Question: the number {word} is\nAnswer:" for word in ("two", "three", "four")]
    return [
        Request(item_id="1", prompt=prompt, continuation=option)
        for prompt in [*prompts, "the sky"]
        for option in OPTIONS
    ]


def answers(model, requests):
    found = {response.request: response for response in model.answer(requests)}
    return [found[request.key] for request in requests]


@pytest.fixture(scope="module")
def directory(tiny, tmp_path_factory):
    """Name in the tables above → a directory with the tiny tokenizer and random weights."""

    @cache
    def make(name: str) -> Path:
        target = tmp_path_factory.mktemp("architecture")
        kind, fields = EVERY[name]
        for part in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(tiny() / part, target / part)
        size = len(AutoTokenizer.from_pretrained(tiny()))
        config = getattr(transformers, f"{kind}Config")(vocab_size=size, **fields)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        draw = torch.Generator().manual_seed(7)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(0, 0.3, generator=draw)
        model.save_pretrained(target)
        return target

    return make


def reference(directory: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(directory, attn_implementation="eager").eval()


@pytest.mark.parametrize("name", EVERY)
def test_numbers_are_those_of_one_forward_at_a_time(name, directory):
    model = load_model(f"hf/{directory(name)}", {"threads": 1, "batch_tokens": 64})
    assert model.network.packed == (name in PACKED)
    plain = reference(directory(name))
    tokenizer = AutoTokenizer.from_pretrained(directory(name))
    requests = asked()
    for request, response in zip(requests, answers(model, requests), strict=True):
        whole = tokenizer(request.prompt + request.continuation).input_ids
        count = len(response.tokens)
        assert whole[-count:] == list(response.tokens)
        with torch.no_grad():
            logprobs = plain(torch.tensor([whole])).logits[0].double().log_softmax(-1)
        expected = [
            float(logprobs[place - 1, whole[place]]) for place in range(len(whole) - count, len(whole))
        ]
        assert response.logprobs == pytest.approx(expected, abs=TOLERANCE)
    model.close()


@pytest.mark.parametrize("name", EVERY)
def test_greedy_texts_are_those_of_one_forward_a_token(name, directory):
    model = load_model(f"hf/{directory(name)}", {"threads": 1})
    plain = reference(directory(name))
    tokenizer = AutoTokenizer.from_pretrained(directory(name))
    prompts = ["The capital of", "the sky by day and the night " * 5]
    requests = [Request(item_id="1", prompt=prompt, sampling=Sampling(max_tokens=10)) for prompt in prompts]
    for prompt, response in zip(prompts, answers(model, requests), strict=True):
        tokens = list(tokenizer(prompt).input_ids)
        new = []
        while len(new) < 10 and tokenizer.eos_token_id not in new:
            with torch.no_grad():
                new.append(int(plain(torch.tensor([tokens + new])).logits[0, -1].argmax()))
        written = b"".join(model._speller.piece(token) for token in new).decode("utf-8", "replace")
        assert response.completion_tokens == len(new)
        assert response.text.rstrip("\ufffd") == written.rstrip("\ufffd")  # a character may be cut off
    model.close()


@pytest.mark.parametrize("context", [8, 16, 40])
def test_a_short_context_is_never_exceeded(context, tiny):
    model = load_model(f"hf/{tiny(kind='gpt2', context_tokens=context)}", {"threads": 1})
    assert model.network.packed
    assert model.capabilities.context_tokens == context
    fits, full, long = answers(
        model,
        [
            Request(item_id="1", prompt="the sky", continuation=" blue"),
            Request(item_id="1", prompt="the sky", sampling=Sampling(max_tokens=99)),
            Request(item_id="1", prompt="the " * 60, continuation=" sky"),
        ],
    )
    assert len(fits.logprobs) == 1
    assert full.prompt_tokens + full.completion_tokens <= context + 1
    assert long.finish == "context_overflow"
    model.close()


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Electra"])
@pytest.mark.parametrize("attention", ["auto", "plain"])
def test_an_encoder_is_refused(kind, attention, tiny, tmp_path):
    for part in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny() / part, tmp_path / part)
    size = len(AutoTokenizer.from_pretrained(tiny()))
    config = getattr(transformers, f"{kind}Config")(vocab_size=size, **SHAPE | {"pad_token_id": 0})
    torch.manual_seed(3)
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="hangs on tokens that come later") as raised:
        load_model(f"hf/{tmp_path}", {"threads": 1, "attention": attention})
    assert "\n" not in str(raised.value)
