"""A loaded model with a fixed number of sequences, and the few things that it can do with them.

Floating-point sums depend on the order in which a matrix product adds, and llama.cpp's order depends on how
many rows are computed together. Here the number of rows never varies, so that what a sequence gets does
not depend on its company, bit for bit:

* a step always has one row for each sequence, idle ones included (their row is computed and dropped);
* a prompt is evaluated alone, in blocks of a fixed length from its beginning.

It costs little: 8 rows take 33 ms on two cores where 7 take 49 (they miss the fast kernel) and 1 takes 10.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import weakref
from collections.abc import Iterator, Sequence
from ctypes import POINTER, c_char_p, c_float, c_int8, c_int32
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from probatum.core.errors import ModelError
from probatum.models.decoding import Logits
from probatum.models.llamacpp.gguf import GgufModel
from probatum.models.llamacpp.library import Batch, Library

__all__ = ["ROWS", "Engine", "Shape"]

ROWS: Final = 8
"""Rows of a step are a multiple of it: with 8, 16, … rows llama.cpp's kernels add in the same order."""

DEFAULT_CONTEXT: Final = 4096  # tokens


@dataclass(frozen=True)
class Shape:
    """Sizes of a context."""

    slots: int
    """Sequences in use."""
    context_tokens: int | None
    """Of each sequence; `None` chooses."""
    batch_tokens: int
    threads: int

    @property
    def rows(self) -> int:
        """Sequences there are: as many as slots, rounded up so that the kernels are always the same."""
        return 1 if self.slots == 1 else -(-self.slots // ROWS) * ROWS


class Engine:
    """One model in memory. Sequences are numbered from 0; each holds the tokens it was given, in order.

    One thread at a time; `tokenize` alone may be called from any thread at any time.
    """

    def __init__(self, library: Library, model: GgufModel, shape: Shape) -> None:
        """Loads the weights.

        Raises:
            ModelError: llama.cpp cannot load it, it cannot generate, or memory is short.
        """
        self._library = library
        self._path = str(model.path)
        self._reading = threading.Lock()
        self.rows = shape.rows
        self.batch_tokens = shape.batch_tokens
        with contextlib.ExitStack() as undo:
            self._model = self._load_model()
            undo.callback(library.llama_model_free, self._model)
            self._check_kind()
            self.context_tokens = self._choose_context(shape.context_tokens)
            self._context = self._make_context(shape)
            undo.callback(library.llama_free, self._context)
            self._check_context()
            self._free = weakref.finalize(self, undo.pop_all().close)
        self._memory = library.llama_get_memory(self._context)
        self._vocabulary = library.llama_model_get_vocab(self._model)
        self.vocabulary_size = int(library.llama_vocab_n_tokens(self._vocabulary))
        self.trims = not (
            library.llama_model_is_recurrent(self._model) or library.llama_model_is_hybrid(self._model)
        )
        """Whether the end of a sequence can be cut off; a recurrent state cannot go back."""
        self.offloads = bool(library.llama_supports_gpu_offload())
        """Whether a GPU may do the work."""
        self._batch = _Rows(max(self.rows, self.batch_tokens))
        self._pieces: dict[int, bytes] = {}
        self._spellings: dict[int, bytes] = {}
        bos = int(library.llama_vocab_bos(self._vocabulary))
        self.first = bos
        """The token that begins a text, whether or not the tokenizer adds it; negative if there is none."""
        self.bos = bos if bos >= 0 and library.llama_vocab_get_add_bos(self._vocabulary) else None
        """The token that every prompt begins with, if the tokenizer says that it should."""
        self.filler = max(bos, 0)
        """Token of an idle row; any would do."""

    # ── text and tokens ─────────────────────────────────────────────────────────────────────────

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Tokens of a whole prompt, with the beginning-of-text token exactly once where it belongs.

        Raises:
            UnicodeEncodeError: the text holds half of a surrogate pair.
        """
        tokens = self.encode(text, special=special)
        if self.bos is not None and tokens[:1] != [self.bos]:
            tokens.insert(0, self.bos)
        return tokens

    def encode(self, text: str, *, special: bool) -> list[int]:
        """Tokens of a text, none added.

        Raises:
            UnicodeEncodeError: the text holds half of a surrogate pair.
        """
        content = text.encode("utf-8")
        room = len(content) + 8
        with self._reading:
            self._check_open()
            buffer = (c_int32 * room)()
            call = self._library.llama_tokenize
            count = call(self._vocabulary, content, len(content), buffer, room, False, special)
            if count < 0:  # more tokens than bytes: it says how many
                room = -count
                buffer = (c_int32 * room)()
                count = call(self._vocabulary, content, len(content), buffer, room, False, special)
        if count < 0:
            raise ModelError(f"llama.cpp cannot tokenise a text of {len(content)} bytes")
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a control token."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._read_piece(token, special=False)
        return known

    def spelling(self, token: int) -> bytes:
        """The bytes that a token is written with in a prompt, a control token's name included."""
        known = self._spellings.get(token)
        if known is None:
            known = self._spellings[token] = self._read_piece(token, special=True)
        return known

    def ends(self, token: int) -> bool:
        """Whether the token ends the text."""
        return bool(self._library.llama_vocab_is_eog(self._vocabulary, token))

    def token_text(self, token: int) -> str:
        """How the tokenizer writes a special token, such as `<bos>`."""
        text = self._library.llama_vocab_get_text(self._vocabulary, token) if token >= 0 else None
        return (text or b"").decode("utf-8", "replace")

    @property
    def eos(self) -> int:
        """The end-of-text token; negative where there is none."""
        return int(self._library.llama_vocab_eos(self._vocabulary))

    # ── sequences ───────────────────────────────────────────────────────────────────────────────

    def evaluate(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        """Evaluates `tokens[start:]` block by block; returns the logits of the next token (a copy).

        `start` is a multiple of the block length, and less than the number of tokens.
        """
        last = range(len(tokens) - 1, len(tokens))
        [(_, logits)] = self.prompt_logits(sequence, tokens, start, last)
        return logits.copy()

    def prompt_logits(
        self, sequence: int, tokens: Sequence[int], start: int, wanted: range
    ) -> Iterator[tuple[int, Logits]]:
        """Evaluates `tokens[start:]` block by block; gives logits at the wanted places, each with its place.

        They are overwritten when the next are taken. All must be taken, else the rest is not evaluated.
        """
        for begin in range(start, len(tokens), self.batch_tokens):
            block = tokens[begin : begin + self.batch_tokens]
            rows = [(token, begin + place, sequence) for place, token in enumerate(block)]
            here = [begin + place in wanted for place in range(len(block))]
            self._decode(rows, here)
            for place, asked in enumerate(here):
                if asked:
                    yield begin + place, self._logits(place)

    def step(self, rows: Sequence[tuple[int, int]]) -> list[Logits]:
        """One more token for every sequence: (token, position) of each, idle ones included.

        Returns the logits of each sequence; they are overwritten by the next call.
        """
        placed = [(token, position, sequence) for sequence, (token, position) in enumerate(rows)]
        self._decode(placed, wanted=[True] * len(placed))
        return [self._logits(row) for row in range(len(rows))]

    def keep(self, sequence: int, length: int) -> None:
        """Forgets what the sequence holds after its first `length` tokens."""
        self._check_open()
        self._library.llama_memory_seq_rm(self._memory, sequence, length or -1, -1)

    def copy(self, source: int, target: int, length: int) -> None:
        """Makes `target` hold the first `length` tokens of `source`, as they were computed there."""
        self._check_open()
        self._library.llama_memory_seq_rm(self._memory, target, -1, -1)
        self._library.llama_memory_seq_cp(self._memory, source, target, -1, -1)
        self._library.llama_memory_seq_rm(self._memory, target, length, -1)

    def close(self) -> None:
        """Frees the memory. A second call does nothing."""
        with self._reading:
            self._free()

    # ── within ──────────────────────────────────────────────────────────────────────────────────

    def _load_model(self) -> Any:
        parameters = self._library.llama_model_default_params()
        model = self._library.llama_model_load_from_file(
            self._path.encode(errors="surrogateescape"), parameters
        )
        if not model:
            raise ModelError(
                f"llama.cpp cannot load {self._path!r} ({self._library.last_error()}): "
                "check the file, or whether this version of xllamacpp knows the architecture"
            )
        return model

    def _check_kind(self) -> None:
        library = self._library
        if library.llama_model_has_encoder(self._model) or not library.llama_model_has_decoder(self._model):
            raise ModelError(
                f"model {self._path!r} has an encoder; only decoders that continue text can be asked"
            )
        if library.llama_model_is_diffusion(self._model):
            raise ModelError(
                f"model {self._path!r} is a diffusion model; only those that go left to right can be asked"
            )

    def _choose_context(self, asked: int | None) -> int:
        trained = int(self._library.llama_model_n_ctx_train(self._model))
        if asked is None:
            return min(DEFAULT_CONTEXT, trained)
        if asked > trained:
            raise ModelError(
                f"context_tokens={asked} is more than the {trained} tokens that the model was trained for: "
                f"give -M context_tokens={trained} or less"
            )
        return asked

    def _make_context(self, shape: Shape) -> Any:
        parameters = self._library.llama_context_default_params()
        # llama.cpp rounds the context up to a multiple of 256; the limit that counts is ours.
        parameters.n_ctx = self.rows * (-(-self.context_tokens // 256) * 256)
        parameters.n_batch = parameters.n_ubatch = max(self.rows, self.batch_tokens)
        parameters.n_seq_max = self.rows
        parameters.n_threads = parameters.n_threads_batch = shape.threads
        parameters.flash_attn_type = 1
        parameters.swa_full = True  # else a prompt longer than the window cannot be cut back to its beginning
        parameters.kv_unified = (
            False  # each sequence has cells of its own: its order does not depend on others
        )
        context = self._library.llama_init_from_model(self._model, parameters)
        if not context:
            raise ModelError(
                f"no memory for {self.rows} contexts of {self.context_tokens} tokens "
                f"({self._library.last_error()}): give a smaller -M context_tokens or -M slots=1"
            )
        return context

    def _check_context(self) -> None:
        library, context = self._library, self._context
        for name, found, least in (
            ("n_ctx_seq", library.llama_n_ctx_seq(context), self.context_tokens),
            ("n_ubatch", library.llama_n_ubatch(context), max(self.rows, self.batch_tokens)),
            ("n_seq_max", library.llama_n_seq_max(context), self.rows),
        ):
            if not least <= found < least + 256:
                raise library.unknown_layout(f"{name} became {found} where {least} was asked")

    def _check_open(self) -> None:
        if not self._free.alive:
            raise ModelError(f"model {self._path!r} is closed: load it again")

    def _decode(self, rows: Sequence[tuple[int, int, int]], wanted: Sequence[bool]) -> None:
        self._check_open()
        code = self._library.llama_decode(self._context, self._batch.fill(rows, wanted))
        if code:
            raise ModelError(
                f"llama.cpp failed to compute {len(rows)} tokens of {self._path!r} with code {code} "
                f"({self._library.last_error()})"
            )

    def _logits(self, row: int) -> Logits:
        address = self._library.llama_get_logits_ith(self._context, row)
        if not address:
            raise ModelError(f"llama.cpp gave no logits for row {row} ({self._library.last_error()})")
        values = (c_float * self.vocabulary_size).from_address(address)
        return np.ctypeslib.as_array(values)

    def _read_piece(self, token: int, *, special: bool) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            text = ctypes.cast(buffer, c_char_p)
            count = self._library.llama_token_to_piece(self._vocabulary, token, text, room, 0, special)
            if count >= 0:
                return buffer.raw[:count]
            room = -count


class _Rows:
    """Arrays of a batch, kept for as long as the engine."""

    def __init__(self, room: int) -> None:
        self._tokens = (c_int32 * room)()
        self._positions = (c_int32 * room)()
        self._counts = (c_int32 * room)(*[1] * room)
        self._sequences = (c_int32 * room)()
        self._wanted = (c_int8 * room)()
        size = ctypes.sizeof(c_int32)
        start = ctypes.addressof(self._sequences)
        pointers = [ctypes.cast(start + place * size, POINTER(c_int32)) for place in range(room)]
        self._pointers = (POINTER(c_int32) * room)(*pointers)

    def fill(self, rows: Sequence[tuple[int, int, int]], wanted: Sequence[bool]) -> Batch:
        """The batch of these (token, position, sequence)."""
        for place, (token, position, sequence) in enumerate(rows):
            self._tokens[place] = token
            self._positions[place] = position
            self._sequences[place] = sequence
            self._wanted[place] = wanted[place]
        return Batch(
            len(rows),
            ctypes.cast(self._tokens, POINTER(c_int32)),
            None,
            ctypes.cast(self._positions, POINTER(c_int32)),
            ctypes.cast(self._counts, POINTER(c_int32)),
            ctypes.cast(self._pointers, POINTER(POINTER(c_int32))),
            ctypes.cast(self._wanted, POINTER(c_int8)),
        )
