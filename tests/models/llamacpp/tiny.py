"""Tiny models in GGUF files, written here: a chain whose every probability is known, and one of random weights.

The tokenizer is the same for all: control tokens, the 256 bytes, and a few pieces.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

UNKNOWN, BOS, EOS, TURN = 0, 1, 2, 3
CONTROL = ["<unk>", "<s>", "</s>", "<turn>"]
BYTES = 4  # number of the token of byte 0
PIECES = ["▁", *"abcdefghijklmnopqrstuvwxyz", "the", "▁the", "stop", "\n"]
TOKENS = CONTROL + [f"<0x{byte:02X}>" for byte in range(256)] + PIECES
TOKENS += [f"<unused{number}>" for number in range(-len(TOKENS) % 32)]
VOCABULARY = len(TOKENS)  # a multiple of 32, so that Q8_0 can hold rows as long
TOKEN_TYPES = [2, 3, 3, 3] + [6] * 256 + [1] * len(PIECES) + [5] * (VOCABULARY - 260 - len(PIECES))

RANDOM_WIDTH = 128
ALIGNMENT = 32
TYPE_NUMBERS = {"F32": 0, "F16": 1, "Q8_0": 8}


@dataclass(frozen=True)
class Array:
    """A GGUF array: `kind` is a format of `struct`, or `s` for texts."""

    kind: str
    values: Sequence[object]


def letter(character: str) -> int:
    """The token that the tokenizer gives a character: its piece, or else its one byte."""
    text = "▁" if character == " " else character
    return TOKENS.index(text) if text in PIECES else BYTES + ord(character)


def piece(text: str) -> int:
    """The token of a piece."""
    return TOKENS.index(text)


def metadata(*, width: int, layers: int, context: int, template: str | None = None) -> dict[str, object]:
    entries: dict[str, object] = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "general.file_type": 0,
        "llama.context_length": context,
        "llama.embedding_length": width,
        "llama.block_count": layers,
        "llama.feed_forward_length": 64,
        "llama.attention.head_count": 2,
        "llama.attention.head_count_kv": 1,
        "llama.attention.layer_norm_rms_epsilon": 1e-6,
        "llama.rope.dimension_count": width // 2,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": Array("s", TOKENS),
        "tokenizer.ggml.scores": Array("f", [-float(number) for number in range(VOCABULARY)]),
        "tokenizer.ggml.token_type": Array("i", TOKEN_TYPES),
        "tokenizer.ggml.bos_token_id": BOS,
        "tokenizer.ggml.eos_token_id": EOS,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": False,
    }
    if template is not None:
        entries["tokenizer.chat_template"] = template
    return entries


def layer_shapes(width: int) -> dict[str, tuple[int, int]]:
    """Name → (rows, columns) of the matrices of a layer."""
    return {
        "attn_q": (width, width),
        "attn_k": (width // 2, width),
        "attn_v": (width // 2, width),
        "attn_output": (width, width),
        "ffn_gate": (64, width),
        "ffn_up": (64, width),
        "ffn_down": (width, 64),
    }


def chain_model(
    path: Path,
    next_tokens: Mapping[int, Mapping[int, float]],
    *,
    context: int = 512,
    template: str | None = None,
) -> Path:
    """A model whose next token depends on the last one only: token → {next token: logit}; others have 0.

    Embeddings are unit vectors and all layers add nothing, so that row `last` of the output is the logits.
    """
    width = VOCABULARY
    output = np.zeros((VOCABULARY, width), np.float32)
    for last, followers in next_tokens.items():
        for token, logit in followers.items():
            output[token, last] = logit / np.sqrt(width)  # the norm makes a unit vector that long
    tensors = {
        "token_embd.weight": np.eye(VOCABULARY, width, dtype=np.float32),
        "output_norm.weight": np.ones(width, np.float32),
        "output.weight": output,
        "blk.0.attn_norm.weight": np.ones(width, np.float32),
        "blk.0.ffn_norm.weight": np.ones(width, np.float32),
    }
    for name, shape in layer_shapes(width).items():
        tensors[f"blk.0.{name}.weight"] = np.zeros(shape, np.float32)
    return write_gguf(path, metadata(width=width, layers=1, context=context, template=template), tensors)


def random_tensors(seed: int) -> dict[str, np.ndarray]:
    """Two layers of random weights: what the model says depends on every token of the prompt."""
    draw = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return draw.standard_normal((rows, columns)).astype(np.float32) / np.float32(np.sqrt(columns) / 2)

    tensors = {
        "token_embd.weight": matrix(VOCABULARY, RANDOM_WIDTH),
        "output_norm.weight": np.ones(RANDOM_WIDTH, np.float32),
        "output.weight": matrix(VOCABULARY, RANDOM_WIDTH),
    }
    for layer in range(2):
        tensors[f"blk.{layer}.attn_norm.weight"] = np.ones(RANDOM_WIDTH, np.float32)
        tensors[f"blk.{layer}.ffn_norm.weight"] = np.ones(RANDOM_WIDTH, np.float32)
        for name, shape in layer_shapes(RANDOM_WIDTH).items():
            tensors[f"blk.{layer}.{name}.weight"] = matrix(*shape)
    return tensors


def random_model(path: Path, kind: str = "F32", *, seed: int = 0, context: int = 512) -> Path:
    """A model of random weights, its matrices stored as `kind`."""
    entries = metadata(width=RANDOM_WIDTH, layers=2, context=context)
    return write_gguf(path, entries, random_tensors(seed), kind)


def write_gguf(
    path: Path, entries: Mapping[str, object], tensors: Mapping[str, np.ndarray], kind: str = "F32"
) -> Path:
    """Writes a GGUF file of version 3; matrices as `kind`, vectors as F32."""
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    for key, value in entries.items():
        header += _text(key) + _value(value)
    data = b""
    for name, tensor in tensors.items():
        stored = kind if tensor.ndim > 1 else "F32"
        header += _text(name) + struct.pack("<I", tensor.ndim)
        header += b"".join(struct.pack("<Q", size) for size in reversed(tensor.shape))
        header += struct.pack("<IQ", TYPE_NUMBERS[stored], len(data))
        data += _padded(_stored(tensor, stored))
    path.write_bytes(_padded(header) + data)
    return path


def split_model(path: Path, parts: int) -> list[Path]:
    """The same random model in parts, named and marked as llama.cpp's own tool does."""
    tensors = random_tensors(0)
    names = list(tensors)
    paths = []
    for number in range(parts):
        marks: dict[str, object] = {
            "split.no": np.uint16(number),
            "split.count": np.uint16(parts),
            "split.tensors.count": np.int32(len(names)),
        }
        entries = metadata(width=RANDOM_WIDTH, layers=2, context=512) if number == 0 else {}
        own = {name: tensors[name] for name in names[number::parts]}
        target = path.with_name(f"{path.name}-{number + 1:05}-of-{parts:05}.gguf")
        paths.append(write_gguf(target, entries | marks, own))
    return paths


def _stored(tensor: np.ndarray, kind: str) -> bytes:
    if kind == "F32":
        return tensor.astype("<f4").tobytes()
    if kind == "F16":
        return tensor.astype("<f2").tobytes()
    blocks = tensor.reshape(-1, 32)
    scale = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype("<f2")
    divisor = np.where(scale == 0, 1, scale).astype(np.float32)
    values = np.round(blocks / divisor).clip(-127, 127).astype(np.int8)
    return b"".join(one.tobytes() + row.tobytes() for one, row in zip(scale, values, strict=True))


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % ALIGNMENT)


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _value(value: object) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, Array):
        if value.kind == "s":
            return struct.pack("<IIQ", 9, 8, len(value.values)) + b"".join(map(_text, map(str, value.values)))
        number = {"f": 6, "i": 5}[value.kind]
        return struct.pack("<IIQ", 9, number, len(value.values)) + struct.pack(
            f"<{len(value.values)}{value.kind}", *value.values
        )
    kinds: list[tuple[type, int, str]] = [
        (bool, 7, "?"),
        (np.uint16, 2, "H"),
        (np.int32, 5, "i"),
        (int, 4, "I"),
        (float, 6, "f"),
    ]
    number, form = next((number, form) for kind, number, form in kinds if isinstance(value, kind))
    return struct.pack("<I", number) + struct.pack(f"<{form}", value)
