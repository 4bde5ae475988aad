"""From a request's texts to the tokens that are scored: the same rules for every backend.

`plan` reads prompt, continuation and `Scoring`, and says which tokens the model sees and which are scored
after them, in one or several stretches. It computes nothing of the model, and so is the same everywhere;
see `docs/likelihood.md` for the rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, get_args, get_type_hints
from typing import Protocol as Interface

from probatum.core.errors import UsageError
from probatum.core.records import Finish, Prompted, Request, Response, Rolling, Scoring
from probatum.models.chat import RenderingError

__all__ = [
    "SPLIT",
    "NotScorableError",
    "Plan",
    "Stretch",
    "Vocabulary",
    "begun",
    "check_scoring",
    "joined",
    "plan",
    "plan_request",
    "scored_response",
]

CHOICES: Final = {name: get_args(hint) for name, hint in get_type_hints(Scoring).items() if name != "rolling"}
"""Field of `Scoring` → what it may be, where it is a choice."""


SPLIT: Final = "a token spans the boundary: prompt and continuation are encoded apart"
"""Remark of the rule `own` where it could not keep the whole."""


class Vocabulary(Interface):
    """What a backend knows of its tokenizer."""

    @property
    def opening(self) -> tuple[int, ...]:
        """Tokens that the tokenizer itself puts before a text; one (BOS) or none in most."""
        ...

    @property
    def begin(self) -> int | None:
        """The beginning token (BOS), whether or not the tokenizer adds it."""
        ...

    @property
    def end(self) -> int | None:
        """The end-of-text token (EOS)."""
        ...

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, none added before or after it.

        Raises:
            UnicodeEncodeError: the text holds half of a surrogate pair.
        """
        ...

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        """UTF-8 bytes of `text` before the token number `count` of its `tokens`."""
        ...


@dataclass(frozen=True)
class Stretch:
    """Tokens that are seen, and tokens that are scored after them. The last one need not be computed."""

    seen: tuple[int, ...]
    scored: tuple[int, ...]

    @property
    def evaluated(self) -> tuple[int, ...]:
        """What the model computes: everything but the last token."""
        return (self.seen + self.scored)[:-1]


@dataclass(frozen=True)
class Plan:
    """One request's stretches, and what its response says of them."""

    stretches: tuple[Stretch, ...]
    prompt_tokens: int
    scored_bytes: int
    cut_tokens: int = 0
    remark: str | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The scored tokens, in order."""
        return tuple(token for stretch in self.stretches for token in stretch.scored)


class NotScorableError(Exception):
    """Nothing can be scored: how the response ends, and why."""

    def __init__(self, finish: Finish, reason: str) -> None:
        super().__init__(reason)
        self.finish = finish
        self.reason = reason


def check_scoring(scoring: Scoring) -> None:
    """Refuses a field that no rule knows.

    Raises:
        UsageError: names the field, its value and what it may be.
    """
    for name, known in CHOICES.items():
        value = getattr(scoring, name)
        if known and value not in known:
            raise UsageError(f"scoring {name}={value!r} is not known: choose from {', '.join(known)}")
    rolling = scoring.rolling
    if rolling is None:
        if scoring.begin_twice:
            raise UsageError("scoring begin_twice=True is for windows: give rolling=Rolling(), too")
        return
    window, stride = rolling.window, rolling.stride
    if window is not None and window < 2:  # noqa: PLR2004 - one token to see, one more to score after
        raise UsageError(f"window={window} is too small: give 2 tokens or more")
    if stride is not None and not 0 < stride <= (window or stride):
        raise UsageError(f"stride={stride} must be between 1 and window={window}: each token is scored once")


def begun(tokens: Sequence[int], vocabulary: Vocabulary, begin: str) -> list[int]:
    """The tokens of a text with the beginning token before them as `Scoring.begin` says, once.

    Raises:
        NotScorableError: it must stand there, and the vocabulary has none.
    """
    opening = vocabulary.opening
    if begin == "always" and not opening:
        if vocabulary.begin is None:
            raise NotScorableError(
                Finish.MODEL_ERROR, "begin='always', and the model's vocabulary has no beginning token"
            )
        opening = (vocabulary.begin,)
    if begin == "never" or _starts(tokens, opening):
        return list(tokens)
    return [*opening, *tokens]


def plan(
    prompt: str, continuation: str, scoring: Scoring, vocabulary: Vocabulary, context_tokens: int
) -> Plan:
    """Which tokens of a request are seen, and which are scored.

    Args:
        prompt: as text; a conversation is rendered already.
        continuation: the text whose likelihood is asked.
        scoring: the rules.
        vocabulary: the backend's.
        context_tokens: tokens that the model can see at once.

    Raises:
        NotScorableError: nothing can be scored; becomes a response.
        UsageError: the rules contradict themselves.
        UnicodeEncodeError: half of a surrogate pair.
    """
    check_scoring(scoring)
    if not continuation:
        raise NotScorableError(Finish.MODEL_ERROR, "the continuation is empty: there is nothing to score")
    whole, start, before, remark = joined(prompt, continuation, scoring.boundary, vocabulary)
    tokens = begun(whole, vocabulary, scoring.begin)
    start += len(tokens) - len(whole)
    total = len((prompt + continuation).encode())
    opening = _opening(tokens, vocabulary)
    if start < len(opening):  # the continuation writes it: it is given, not scored
        start = len(opening)
        before = vocabulary.bytes_before(prompt + continuation, tokens, start)
    if start == 0:
        tokens, start, before = _first(tokens, before, scoring, vocabulary, prompt + continuation)
        opening = _opening(tokens, vocabulary)
    if start >= len(tokens):
        return Plan((), start, 0, remark="nothing is scored: there is nothing behind the first token")
    if scoring.rolling is not None:
        if scoring.begin_twice and vocabulary.opening:
            tokens, start = [*vocabulary.opening, *tokens], len(vocabulary.opening)
        stretches = _windows(tokens, start, opening, scoring.rolling, context_tokens)
        return Plan(stretches, start, total - before, 0, remark)
    kept, cut = _fitting(tokens, start, opening, scoring.overflow, context_tokens)
    stretch = Stretch(tuple(kept), tuple(tokens[start:]))
    return Plan((stretch,), len(kept), total - before, cut, remark)


def plan_request(
    request: Request,
    render: Callable[[Prompted], str],
    vocabulary: Vocabulary,
    context_tokens: int,
) -> Plan | Response:
    """The plan of a request with a continuation, or the response where nothing can be scored.

    Args:
        request: what is asked.
        render: the text of a prompt; may raise RenderingError.
        vocabulary: the backend's.
        context_tokens: tokens that the model can see at once.

    Raises:
        UsageError: the request's rules contradict themselves.
    """
    finish = Finish.MODEL_ERROR
    try:
        text = render(request.prompt)
        return plan(text, request.continuation or "", request.scoring, vocabulary, context_tokens)
    except NotScorableError as error:
        finish, reason = error.finish, error.reason
    except RenderingError as error:
        reason = str(error)
    except UnicodeEncodeError:
        reason = "prompt or continuation holds half of a surrogate pair: it is no text"
    return Response(request=request.key, finish=finish, reason=reason)


def scored_response(
    request: Request,
    planned: Plan,
    logprobs: tuple[float, ...],
    *,
    greedy: bool,
    seconds: float | None = None,
) -> Response:
    """The response to a request whose tokens are scored; a NaN among the numbers is an error of the model."""
    if any(math.isnan(value) for value in logprobs):
        return Response(
            request=request.key,
            finish=Finish.MODEL_ERROR,
            reason="the model computed no usable numbers: a logit is NaN",
            prompt_tokens=planned.prompt_tokens,
            seconds=seconds,
        )
    return Response(
        request=request.key,
        prompt_tokens=planned.prompt_tokens,
        completion_tokens=len(logprobs),
        logprobs=logprobs,
        greedy=greedy,
        tokens=planned.tokens,
        scored_bytes=planned.scored_bytes,
        cut_tokens=planned.cut_tokens,
        reason=planned.remark,
        seconds=seconds,
    )


def joined(
    prompt: str, continuation: str, boundary: str, vocabulary: Vocabulary
) -> tuple[list[int], int, int, str | None]:
    """Prompt and continuation as tokens, by one of the rules of `Scoring.boundary`.

    Returns:
        Tokens of the whole, the place of the first scored one, UTF-8 bytes before it, and a remark.

    Raises:
        NotScorableError: the tokenizer leaves nothing of the continuation.
    """
    alone = vocabulary.encode(prompt) if prompt else []
    if boundary == "apart":
        own = vocabulary.encode(continuation)
        if not own:
            raise _vanished(continuation)
        return alone + own, len(alone), len(prompt.encode()), None
    text = prompt + continuation
    whole = vocabulary.encode(text)
    remark = None
    start = _shared(alone, whole)
    same = start == len(alone)
    if boundary == "own" and not (same and start < len(whole)):
        return *joined(prompt, continuation, "apart", vocabulary)[:3], SPLIT
    if boundary == "count":
        bare = prompt.rstrip()
        counted = vocabulary.encode(bare) if bare else []
        place = len(counted)
        if place < len(whole):
            clean = whole[:place] == counted
            before = len(bare.encode()) if clean else vocabulary.bytes_before(text, whole, place)
            return counted + whole[place:], place, before, None
        remark = "the last token spans the boundary: split where the tokens first differ"
    if start >= len(whole):
        raise _vanished(continuation)
    before = len(prompt.encode()) if same else vocabulary.bytes_before(text, whole, start)
    return whole, start, before, remark


def _vanished(continuation: str) -> NotScorableError:
    return NotScorableError(
        Finish.MODEL_ERROR, f"the tokenizer leaves nothing of the continuation {continuation[:40]!r}"
    )


def _first(
    tokens: list[int], before: int, scoring: Scoring, vocabulary: Vocabulary, text: str
) -> tuple[list[int], int, int]:
    """A text with nothing before its first token: tokens, the first scored one, bytes before it."""
    if scoring.first == "skip":
        return tokens, 1, vocabulary.bytes_before(text, tokens, 1)
    for candidate in (vocabulary.begin, vocabulary.end):
        if candidate is not None:
            return [*(vocabulary.opening or (candidate,)), *tokens], len(vocabulary.opening) or 1, before
    raise NotScorableError(
        Finish.MODEL_ERROR,
        "nothing stands before the first token, and the vocabulary has neither a beginning nor an "
        "end-of-text token: give a prompt, or score with first='skip'",
    )


def _opening(tokens: Sequence[int], vocabulary: Vocabulary) -> tuple[int, ...]:
    """The beginning tokens that stand there."""
    if vocabulary.opening and _starts(tokens, vocabulary.opening):
        return vocabulary.opening
    if vocabulary.begin is not None and _starts(tokens, (vocabulary.begin,)):
        return (vocabulary.begin,)
    return ()


def _fitting(
    tokens: list[int], start: int, opening: tuple[int, ...], overflow: str, context_tokens: int
) -> tuple[list[int], int]:
    """What is seen before the scored tokens, and how many tokens were cut from it."""
    seen = tokens[:start]
    room = context_tokens - (len(tokens) - start - 1)
    if start <= room:
        return seen, 0
    kept = len(opening) if overflow == "left" else 0
    if overflow == "refuse" or room <= kept:
        raise NotScorableError(
            Finish.CONTEXT_OVERFLOW,
            f"prompt and continuation of {len(tokens)} tokens do not fit in the context of {context_tokens}",
        )
    return [*seen[:kept], *seen[start - room + kept :]], start - room


def _windows(
    tokens: list[int], start: int, opening: tuple[int, ...], rolling: Rolling, context_tokens: int
) -> tuple[Stretch, ...]:
    window = rolling.window or context_tokens
    if window > context_tokens:
        raise NotScorableError(
            Finish.MODEL_ERROR, f"window={window} is more than the context of {context_tokens} tokens"
        )
    stride = rolling.stride or window
    again = opening if rolling.begin_each else ()
    room = window - len(again)
    if room < 1:
        raise NotScorableError(Finish.MODEL_ERROR, f"window={window} holds nothing but the beginning token")
    found = []
    first = start
    if start <= window:
        first = min(len(tokens), window + 1)
        found.append(Stretch(tuple(tokens[:start]), tuple(tokens[start:first])))
    stride = min(stride, room)
    while first < len(tokens):
        last = min(len(tokens), first + stride)
        reach = max(0, last - 1 - room)
        before = tokens[reach:first] if reach else tokens[:first]
        found.append(Stretch((*(again if reach else ()), *before), tuple(tokens[first:last])))
        first = last
    return tuple(found)


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """Tokens in which the two begin alike."""
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(place for place in range(length) if one[place] != other[place])


def _starts(tokens: Sequence[int], opening: Sequence[int]) -> bool:
    return list(tokens[: len(opening)]) == list(opening)
