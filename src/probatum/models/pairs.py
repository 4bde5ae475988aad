"""A context and its continuation as tokens, where a token may span the place where they meet.

The rules are those of `models.likelihood`, which backends score by; here is one of them for a single pair and
any function that tokenises: the continuation is never empty, and what had to be parted is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from probatum.core.errors import ModelError, UsageError
from probatum.models.likelihood import SPLIT, NotScorableError, joined

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


@dataclass(frozen=True)
class _Tokenizer:
    """A function of text, as the rules ask for it; nothing is put before a text."""

    encode: Callable[[str], list[int]]
    opening: tuple[int, ...] = ()
    begin: int | None = None
    end: int | None = None

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        """Not known of a bare function, and not asked for here."""
        del text, tokens, count
        return 0


def encode_pair(encode: Encode, context: str, continuation: str) -> Pair:
    """Tokens of context + continuation by the rule `own` of `Scoring.boundary`: the context keeps its tokens.

    Where a token spans the boundary, or blanks changed the tokens before it, both parts are encoded apart,
    and the pair says so.

    Raises:
        UsageError: the continuation is empty, or its tokenizer leaves nothing of it.
    """
    if not continuation:
        raise UsageError("the continuation is empty: there is nothing to score; give a text")
    tokenizer = _Tokenizer(lambda text: list(encode(text)))
    try:
        tokens, start, _, remark = joined(context, continuation, "own", tokenizer)
    except NotScorableError as error:
        raise UsageError(error.reason) from error
    flag = BOUNDARY_SPLIT if remark == SPLIT else None
    return Pair(context=tuple(tokens[:start]), continuation=tuple(tokens[start:]), flag=flag)


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
