"""A context and its continuation as tokens, where a token may span the place where they meet.

`models.likelihood` scores what a request asks, by the rules that `core.records.Scoring` names. Here is the
plain rule for one pair and any tokenizer: the continuation is never empty, and what had to be parted is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from probatum.core.errors import ModelError, UsageError

__all__ = ["BOUNDARY_SPLIT", "Pair", "check_prompt_logprobs", "encode_pair", "steps", "sum_logprobs"]

BOUNDARY_SPLIT: Final = "boundary_split"

Encode = Callable[[str], Sequence[int]]
"""Text → tokens, without any that mark its beginning or end."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Tokens of a context and of what follows it."""

    context: tuple[int, ...]
    continuation: tuple[int, ...]
    """Never empty."""
    flag: str | None = None
    """`boundary_split`: a token of the joined text spans the boundary, and the parts were encoded apart."""


def encode_pair(encode: Encode, context: str, continuation: str) -> Pair:
    """Tokens of context + continuation, parted where the context's own tokens end.

    Where the joined text begins with the context's own tokens, it is cut behind them. Otherwise a token spans
    the boundary, or blanks changed the tokens before it: then both parts are encoded apart, and the pair says
    so.

    Raises:
        UsageError: the continuation is empty, or its tokenizer leaves nothing of it.
    """
    if not continuation:
        raise UsageError("the continuation is empty: there is nothing to score; give a text")
    own = tuple(encode(context)) if context else ()
    joined = tuple(encode(context + continuation))
    if joined[: len(own)] == own and len(joined) > len(own):
        return Pair(context=own, continuation=joined[len(own) :])
    alone = tuple(encode(continuation))
    if not alone:
        raise UsageError(f"the tokenizer leaves nothing of the continuation {continuation[:40]!r}")
    return Pair(context=own, continuation=alone, flag=BOUNDARY_SPLIT)


def steps(context: Sequence[int], continuation: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """(all tokens before, token) for each token of the continuation: what the chain rule multiplies."""
    seen = tuple(context)
    for token in continuation:
        yield seen, token
        seen = (*seen, token)


def sum_logprobs(
    logprob: Callable[[tuple[int, ...], int], float], context: Sequence[int], continuation: Sequence[int]
) -> float:
    """The log-likelihood by a model that is a table: the definition that backends are held against."""
    return sum(logprob(seen, token) for seen, token in steps(context, continuation))


def check_prompt_logprobs(prompt_tokens: int, returned: int) -> None:
    """Whether a server scored the whole prompt: every token but the first has a log-probability.

    Raises:
        ModelError: another number; a cached prefix that is left out would shift every score.
    """
    if returned != max(0, prompt_tokens - 1):
        raise ModelError(
            f"{returned} log-probabilities for a prompt of {prompt_tokens} tokens: "
            f"{max(0, prompt_tokens - 1)} expected; turn the server's prompt cache off, "
            "or use a backend that scores whole prompts"
        )
