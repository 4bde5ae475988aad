"""The loaded network: hidden states of packed passes, or logits of one sequence by the model's own code."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch

from probatum.core.errors import ModelError
from probatum.models.decoding import Logits
from probatum.models.hf.attention import NAME, Attending, Kept, Running, UnsupportedAttentionError, attending
from probatum.models.hf.head import Head
from probatum.models.hf.tree import Pass, Query, Tokens, Wanted, build, passes

__all__ = ["Answered", "Network", "out_of_memory"]

_log = logging.getLogger("probatum.models.hf")

TOLERANCE: Final = 1e-3
"""Nats: packed and plain log-probabilities of a trial in float32 may differ by it. Seen: below 2e-5."""

COARSE_TOLERANCE: Final = 0.5
"""Nats: the same where numbers have 8 or 11 bits."""

FLUSH_ROWS: Final = 256
"""Hidden states that wait for the last layer at most: for few rows it reads all its weights, too."""

FLUSH_PASSES: Final = 16
"""Passes after which they do not wait any longer, so that answers keep coming."""

LEAST_BUDGET: Final = 16

AHEAD_TOKENS: Final = 8
"""Tokens behind a place that must not change what is predicted there."""

AHEAD_NATS: Final = 1e-3
"""By more than this they change it; in half precision, by more than `COARSE_TOLERANCE`."""

ENCODER_NATS: Final = 1e-4
"""The same where the configuration says that it is no decoder (which GPT-NeoX's says, too)."""

FAILURES: Final = (
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a model's code raises when it cannot compute."""

MEMORY_WORDS: Final = (
    "can't allocate memory", "cannot allocate memory", "not enough memory", "out of memory",
    "alloc_failed", "bad_alloc", "bad allocation",
)  # fmt: skip
"""How a RuntimeError says that memory ran out: torch on Linux and on Windows, cuBLAS, C++."""


@dataclass(frozen=True)
class Answered:
    """A query's log-probabilities, and whether each target is the likeliest token."""

    query: int
    logprobs: torch.Tensor
    """(m,), on the CPU."""
    greedy: bool


class Network:
    """A causal language model of transformers. One thread at a time."""

    def __init__(self, model: Any, *, budget: int, attention: str, context_tokens: int) -> None:
        """Chooses between packed and plain by a trial, unless `attention` says which.

        Args:
            model: as transformers gives it, ready to compute.
            budget: tokens of a pass at most.
            attention: `auto`, `packed` or `plain`.
            context_tokens: what the model can see; no trial is longer.

        Raises:
            ModelError: the model cannot compute, or what it predicts hangs on tokens that come later; or
                `packed` is asked for, and does not give the model's own numbers.
        """
        self.model = model
        self.budget = budget
        self.computed = 0
        """Tokens computed so far."""
        self._kept = Kept()
        self._head: Head | None = None
        parameters = inspect.signature(model.forward).parameters
        self._keeps_logits = "logits_to_keep" in parameters
        self.hands_out_cache = "cache" in parameters
        """Whether the model's code takes a cache of what it has seen, and gives it back."""
        self.plain_attention = str(model.config._attn_implementation)  # noqa: SLF001 - it has no other name
        self.difference: float | None = None
        """Largest difference of packed and plain log-probabilities in the trial; `None` without one."""
        self.packed = False
        self.vocabulary_size = int(model.get_input_embeddings().weight.shape[0])
        """Rows of the embedding."""
        queries = _trial(self.vocabulary_size, model.config.get_text_config(), context_tokens)
        plain = self._try_plain(queries)
        if attention != "plain":
            self._try_packed(queries, plain, required=attention == "packed")
        _trim()

    @property
    def device(self) -> torch.device:
        """Where token numbers go in."""
        return self.model.get_input_embeddings().weight.device

    # ── log-probabilities ───────────────────────────────────────────────────────────────────────

    def score(self, queries: Sequence[Query]) -> Iterator[Answered]:
        """Answers every query once, as they are done.

        Raises:
            ModelError: memory runs out even for the smallest passes.
        """
        open_queries = dict(enumerate(queries))
        while open_queries:
            numbers = list(open_queries)
            try:
                for answered in self._score([open_queries[number] for number in numbers]):
                    number = numbers[answered.query]
                    del open_queries[number]
                    yield Answered(number, answered.logprobs, answered.greedy)
            except (RuntimeError, MemoryError) as error:
                self.shrink(error)

    def _score(self, queries: Sequence[Query]) -> Iterator[Answered]:
        if not self.packed:
            for number, query in enumerate(queries):
                yield self._score_alone(number, query)
            return
        collected = _Collected(queries)
        for number, one in enumerate(passes(build(queries), self.budget), 1):
            collected.add(one, self.hidden(one))
            if collected.waiting >= FLUSH_ROWS or (number % FLUSH_PASSES == 0 and collected.waiting):
                yield from collected.flush(self.head)
        yield from collected.flush(self.head)
        self._kept.clear()

    def _score_alone(self, number: int, query: Query) -> Answered:
        """By the model's own code, in one row."""
        count = len(query.targets)
        with torch.inference_mode():
            tokens = torch.from_numpy(query.tokens)[None].to(self.device)
            logits = self.model(input_ids=tokens, use_cache=False, **self.only(count)).logits[0, -count:]
            logits = logits.float()
            targets = torch.from_numpy(query.targets).to(logits.device)
            picked = logits.gather(1, targets[:, None])[:, 0]
            logprobs = picked - logits.logsumexp(1)
            self.computed += len(query.tokens)
            return Answered(number, logprobs.cpu(), bool((picked >= logits.amax(1)).all()))

    def only(self, count: int) -> dict[str, int]:
        """Asks for the logits of the last places alone, where the model's code can."""
        return {"logits_to_keep": count} if self._keeps_logits else {}

    def hidden(self, one: Pass, kept: Kept | None = None) -> torch.Tensor:
        """Hidden states of a pass after the last norm, shape (n, size)."""
        return self.rows(one.tokens, one.positions, Running(one, kept or self._kept))

    def rows(self, tokens: Tokens, positions: Tokens, attention: Attending) -> torch.Tensor:
        """Hidden states of a row of tokens whose attention `attention` computes, shape (n, size)."""
        self.computed += len(tokens)
        with torch.inference_mode(), attending(attention):
            output = self.model.base_model(
                input_ids=torch.from_numpy(tokens)[None].to(self.device),
                position_ids=torch.from_numpy(positions)[None].to(self.device),
                use_cache=False,
            )
            return output.last_hidden_state[0]

    def logits(self, hidden: torch.Tensor) -> Logits:
        """Logits of hidden states, shape (rows, vocabulary)."""
        with torch.inference_mode():
            values: Logits = self.head.logits(hidden.to(self.head.weight.device)).cpu().numpy()
        return values

    @property
    def head(self) -> Head:
        """The last layer."""
        if self._head is None:
            layer = self.model.get_output_embeddings()
            config = self.model.config.get_text_config()
            self._head = Head(
                layer.weight.detach(),
                getattr(layer, "bias", None),
                getattr(config, "final_logit_softcapping", None),
                (getattr(config, "logit_scale", None) or 1.0)
                / (getattr(config, "logits_scaling", None) or 1.0),
            )
        return self._head

    def use(self, head: Head) -> None:
        """Takes another last layer from now on."""
        self._head = head

    def close(self) -> None:
        """Lets the weights go."""
        self._kept.clear()
        self._head = None
        self.model = None

    def shrink(self, error: BaseException) -> None:
        """Halves the tokens of a pass, if it was memory that ran out.

        Raises:
            ModelError: passes are as small as they can be.
            BaseException: `error` itself, if it says something else.
        """
        if not out_of_memory(error):
            raise error
        self._kept.clear()
        if not self.packed or self.budget <= LEAST_BUDGET:
            told = " ".join(str(error).split())[:200]
            raise ModelError(
                f"memory ran out, even for {self.budget} tokens at once ({told}): give a smaller "
                "-M context_tokens, or a model that fits"
            ) from error
        self.budget = max(LEAST_BUDGET, self.budget // 2)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        _log.warning("memory ran out: going on with batch_tokens=%d", self.budget)

    # ── within ──────────────────────────────────────────────────────────────────────────────────

    @property
    def _coarse(self) -> bool:
        """Whether numbers have 8 or 11 bits."""
        return self.model.dtype not in {torch.float32, torch.float64}

    def _try_plain(self, queries: Sequence[Query]) -> list[Answered]:
        """The trial by the model's own code, after a look at whether it continues text at all."""
        try:
            ahead = self._ahead(max((query.tokens for query in queries), key=len))
            plain = [self._score_alone(number, query) for number, query in enumerate(queries)]
        except FAILURES as error:
            if out_of_memory(error):
                raise
            told = " ".join(str(error).split())[:200]
            raise ModelError(
                f"the model cannot compute {len(queries[0].tokens)} made-up tokens ({type(error).__name__}: "
                f"{told}): its config.json and its code do not fit each other"
            ) from error
        encoder = getattr(self.model.config.get_text_config(), "is_decoder", None) is False
        if ahead > (COARSE_TOLERANCE if self._coarse else ENCODER_NATS if encoder else AHEAD_NATS):
            raise ModelError(
                f"what {type(self.model).__name__} predicts hangs on tokens that come later (by {ahead:.2g} "
                "nats): it is an encoder, and no model that continues text; give a causal language model"
            )
        if any(bool(one.logprobs.isnan().any()) for one in plain):
            hint = ", or too large for this precision: try -M dtype=float32" if self._coarse else ""
            raise ModelError(
                f"model {self.model.name_or_path!r} computes no usable numbers in {self.model.dtype}: "
                f"log-probabilities of made-up tokens are NaN; its weights are damaged{hint}"
            )
        return plain

    def _ahead(self, tokens: Tokens) -> float:
        """By how much predictions at the last places change with what stands behind them, in nats."""
        short = max(1, len(tokens) - AHEAD_TOKENS)
        places = min(short, AHEAD_TOKENS)
        with torch.inference_mode():
            row = torch.from_numpy(tokens)[None].to(self.device)
            keep = len(tokens) - short + places
            whole = self.model(input_ids=row, use_cache=False, **self.only(keep)).logits[0, -keep:][:places]
            alone = self.model(input_ids=row[:, :short], use_cache=False, **self.only(places)).logits[
                0, -places:
            ]
            picked = row[0, :places, None].to(whole.device)
            found = [logits.float().log_softmax(1).gather(1, picked) for logits in (whole, alone)]
            return float((found[0] - found[1]).abs().nan_to_num(0.0).max())

    def _try_packed(self, queries: Sequence[Query], plain: Sequence[Answered], *, required: bool) -> None:
        """Compares both on a small tree of made-up tokens."""
        try:
            self.model.set_attn_implementation(NAME)
            self.packed = True
            packed = {one.query: one for one in self._score(queries)}
            difference = max(float((packed[one.query].logprobs - one.logprobs).abs().max()) for one in plain)
        except (UnsupportedAttentionError, *FAILURES) as error:
            if out_of_memory(error):
                raise
            difference, reason = float("inf"), str(error)
        else:
            reason = f"log-probabilities differ by {difference:.2g}"
        if difference <= (COARSE_TOLERANCE if self._coarse else TOLERANCE):
            self.difference = difference
            if self._coarse:
                _log.warning("the noise floor of %s is %.2g nats a token", self.model.dtype, difference)
            return
        self.packed, self._head = False, None
        if required:
            raise ModelError(
                f"attention=packed gives other numbers than the model's own code ({reason}): leave it out"
            )
        _log.warning("shared beginnings are computed again for each sequence: %s", reason)
        self.model.set_attn_implementation(self.plain_attention)


class _Collected:
    """Hidden states that wait for the last layer, and answers that are not complete."""

    def __init__(self, queries: Sequence[Query]) -> None:
        self._queries = queries
        self._left = [len(query.targets) for query in queries]
        self._logprobs = [torch.empty(len(query.targets)) for query in queries]
        self._greedy = [True] * len(queries)
        self._hidden: list[torch.Tensor] = []
        self._wanted: list[tuple[int, Wanted]] = []
        """First row of the places, and whose they are."""
        self.waiting = 0

    def add(self, one: Pass, hidden: torch.Tensor) -> None:
        """Keeps the rows of a pass that are wanted, each once."""
        if not one.wanted:
            return
        stretches = sorted({(wanted.place, wanted.place + wanted.count) for wanted in one.wanted})
        places = np.unique(np.concatenate([np.arange(first, last) for first, last in stretches]))
        self._hidden.append(hidden[torch.from_numpy(places).to(hidden.device)])
        rows = np.searchsorted(places, [wanted.place for wanted in one.wanted])
        self._wanted += [
            (self.waiting + int(row), wanted) for row, wanted in zip(rows, one.wanted, strict=True)
        ]
        self.waiting += len(places)

    def flush(self, head: Head) -> Iterator[Answered]:
        """Computes what waits; yields the queries that are complete."""
        if not self._wanted:
            return
        wanted = sorted(self._wanted, key=lambda one: (one[0], one[1].query))
        rows = np.concatenate([np.arange(row, row + one.count) for row, one in wanted])
        targets = np.concatenate(
            [self._queries[one.query].targets[one.first : one.first + one.count] for _, one in wanted]
        )
        order = np.argsort(rows, kind="stable")
        with torch.inference_mode():
            device = head.weight.device
            hidden = torch.cat(self._hidden).to(device)
            scores = head.score(
                hidden, torch.from_numpy(rows[order]).to(device), torch.from_numpy(targets[order]).to(device)
            )
            logprobs, greedy = torch.empty(len(rows)), torch.empty(len(rows), dtype=torch.bool)
            logprobs[order], greedy[order] = scores.logprobs.cpu(), scores.greedy.cpu()
        self._hidden, self._wanted, self.waiting = [], [], 0
        begin = 0
        for _, one in wanted:
            end = begin + one.count
            self._logprobs[one.query][one.first : one.first + one.count] = logprobs[begin:end]
            self._greedy[one.query] &= bool(greedy[begin:end].all())
            self._left[one.query] -= one.count
            begin = end
            if not self._left[one.query]:
                yield Answered(one.query, self._logprobs[one.query], self._greedy[one.query])


def out_of_memory(error: BaseException) -> bool:
    """Whether it says that memory ran out, on whatever device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    told = str(error).lower()
    return isinstance(error, RuntimeError) and any(words in told for words in MEMORY_WORDS)


def _trim() -> None:
    """Gives what loading and the trial have left to the system, where the C library can: some 30 MB."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _trial(vocabulary_size: int, config: Any, context_tokens: int) -> list[Query]:
    """Sequences with a shared beginning, longer than a sliding window where that is short."""
    draw = np.random.default_rng(0)
    window = getattr(config, "sliding_window", None) or 0
    length = 40 + (window if window <= 64 else 0)  # noqa: PLR2004 - longer ones would take seconds to load
    begin = draw.integers(0, vocabulary_size, min(length, max(4, context_tokens // 2)))
    ends = [draw.integers(0, vocabulary_size, count) for count in (3, 9, 9, 17)]
    rows = [np.concatenate([begin, end]) for end in ends] + [draw.integers(0, vocabulary_size, 12)]
    rows.append(rows[1][:-4])
    rows = [row[: context_tokens + 1] for row in rows]
    return [Query(row[:-1], row[-3:]) for row in rows]
