"""A tiny transformer and its tokenizer, with fixed weights, as an ordinary model directory."""

from __future__ import annotations

import json
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from probatum.core.errors import UsageError
from probatum.models.threads import sleeping_threads

__all__ = ["tiny_model"]

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"

WORDS: Final = (
    "the of and to in is that it was for on with as are be this have from or by not but at which an they you "
    "were can all there when one had more will would what if out so up who no time people could than other "
    "into only some also these new any our most between after may first two work way even because does city "
    "water answer question capital France Paris London Rome Madrid color blue red green sky sun day night "
    "unbelievable understand number three four five six Answer: Question: The A B C D yes no true false"
)
"""Each word is one token, with and without a space before it; so is each of its beginnings."""

LETTERS: Final = "".join(chr(code) for code in range(33, 127)) + "\n。，？：是的不在中国"
"""Characters that are tokens; every other one is its UTF-8 bytes."""

SPACE: Final = "▁"

Kind = Literal["llama", "mistral", "gemma3", "gpt2", "neox"]


def tiny_model(
    directory: str | Path | None = None,
    *,
    kind: Kind = "llama",
    seed: int = 0,
    context_tokens: int = 256,
    begin: bool = True,
    template: str | None = None,
) -> Path:
    """Writes a model of about 100,000 parameters that `hf/DIRECTORY` and transformers load.

    The tokenizer is a byte-pair encoding in the manner of SentencePiece: spaces belong to the word behind
    them, tokens may span any boundary ("un" + "believable"), and what has no token of its own, such as most
    Chinese characters, is its UTF-8 bytes. The weights are random, and the same for the same arguments on
    every machine: they depend on NumPy's PCG64 alone.

    Args:
        directory: where it is written; by default a new temporary directory, which is left to the caller.
        kind: architecture. `llama` shares keys among heads, `mistral` has a sliding window of 32 tokens in
            every layer, `gemma3` one in every other layer, `gpt2` learned positions, `neox` parallel blocks.
        seed: of the weights.
        context_tokens: tokens that the model can see.
        begin: whether the tokenizer puts `<s>` before a text.
        template: chat template; none by default, as in a base model.

    Raises:
        UsageError: the extra `[hf]` is not installed.
    """
    try:
        with sleeping_threads():
            torch, transformers = import_module("torch"), import_module("transformers")
        tokenizers = import_module("tokenizers")
    except ImportError as error:
        raise UsageError(f"tiny_model needs the extra [hf] ({error}): pip install 'probatum[hf]'") from error
    target = Path(directory if directory is not None else tempfile.mkdtemp(prefix="probatum-tiny-"))
    target.mkdir(parents=True, exist_ok=True)
    vocabulary, merges = _vocabulary()
    _tokenizer(tokenizers, vocabulary, merges, begin=begin).save(str(target / "tokenizer.json"))
    told: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BEGIN,
        "eos_token": END,
        "unk_token": UNKNOWN,
        "clean_up_tokenization_spaces": False,
    }
    if template is not None:
        told["chat_template"] = template
    (target / "tokenizer_config.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    config = _config(transformers, kind, len(vocabulary), context_tokens)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    draw = np.random.default_rng(seed)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            parameter.copy_(torch.from_numpy(_weights(draw, tuple(parameter.shape))))
    bars = transformers.utils.logging.is_progress_bar_enabled()
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(target)
    if bars:
        transformers.utils.logging.enable_progress_bar()
    return target


def _vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Token → number, and merges, the earlier ones first."""
    tokens = [UNKNOWN, BEGIN, END, *(f"<0x{byte:02X}>" for byte in range(256)), SPACE, *LETTERS]
    merges: dict[tuple[str, str], None] = {}
    for word in (*(SPACE + word for word in WORDS.split()), *WORDS.split()):
        for length in range(1, len(word)):
            merges[word[:length], word[length]] = None
    tokens += [left + right for left, right in merges]
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}, list(merges)


def _tokenizer(
    tokenizers: Any, vocabulary: dict[str, int], merges: list[tuple[str, str]], *, begin: bool
) -> Any:
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab=vocabulary, merges=merges, unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True
        )
    )
    made.normalizer = tokenizers.normalizers.Replace(" ", SPACE)
    made.decoder = tokenizers.decoders.Sequence(
        [
            tokenizers.decoders.Replace(SPACE, " "),
            tokenizers.decoders.ByteFallback(),
            tokenizers.decoders.Fuse(),
        ]
    )
    made.add_special_tokens([UNKNOWN, BEGIN, END])
    if begin:
        made.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{BEGIN} $A",
            pair=f"{BEGIN} $A {BEGIN} $B",
            special_tokens=[(BEGIN, vocabulary[BEGIN])],
        )
    return made


def _config(transformers: Any, kind: Kind, size: int, context_tokens: int) -> Any:
    numbers = {"vocab_size": size, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
    shape = {
        **numbers,
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": context_tokens,
    }
    shared = {**shape, "num_key_value_heads": 2}
    if kind == "llama":
        return transformers.LlamaConfig(**shared)
    if kind == "mistral":
        return transformers.MistralConfig(**shared, sliding_window=32)
    if kind == "gemma3":
        layers = ["sliding_attention", "full_attention"]
        return transformers.Gemma3TextConfig(
            **shared, head_dim=16, sliding_window=32, layer_types=layers, query_pre_attn_scalar=16
        )
    if kind == "gpt2":
        return transformers.GPT2Config(
            **numbers, n_embd=48, n_inner=64, n_layer=2, n_head=4, n_positions=context_tokens
        )
    if kind == "neox":
        return transformers.GPTNeoXConfig(**shape)
    raise UsageError(f"kind={kind!r} is not known: choose from llama, mistral, gemma3, gpt2, neox")


def _weights(draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Matrices that keep the size of what goes through them, and vectors about one."""
    values = draw.standard_normal(shape, dtype=np.float32)
    if len(shape) > 1:
        return values * np.float32(1.5 / np.sqrt(min(shape)))
    return 1 + values * np.float32(0.1)
