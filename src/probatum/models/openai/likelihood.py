"""Log-probabilities of given texts, from servers that have a way to tell them.

Tokens come from the server's own `/tokenize`, except with `echo`. The ways differ:

* vLLM: `prompt_logprobs` of `/v1/completions`, for a prompt of tokens;
* SGLang: `return_logprob` of `/generate`, for the end of a prompt of tokens;
* llama.cpp ignores `echo`. Its `/completion` tells the log-probability of the token that it samples, as it is
  before any sampler: a bias makes it sample the one that is asked about, token by token, and what is before
  it lies in the server's cache;
* others: `echo` with `logprobs` of `/v1/completions`, where the user says `likelihood=echo`.

What a server says is checked: that it speaks of the tokens that were sent and, for `echo`, on a trial, that
its numbers stand beside the right tokens. A server that fails is refused, rather than misread.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from probatum.core.errors import ModelError
from probatum.core.records import Finish, Prompted, Request, Response
from probatum.models.likelihood import (
    NotScorableError,
    Plan,
    Stretch,
    plan_request,
    scored_response,
)
from probatum.models.openai.servers import Server
from probatum.models.openai.settings import Endpoint, OpenAISettings
from probatum.models.openai.verdicts import Rejected, Transient

__all__ = ["ENGINES", "Failed", "Fetch", "Scorer", "scores"]

ENGINES: Final = ("llamacpp", "sglang", "vllm")
"""Servers whose own way is known."""

UNBOUNDED: Final = 1 << 30
"""Tokens, where the server does not say how long its context is: then it refuses what is too long."""

FORCE: Final = 1e9
"""Added to the logit of the token that llama.cpp is to sample."""

WIDENING: Final = (1 << 10, 1 << 15, 1 << 20)
"""How many of the likeliest tokens are asked for, one after the other; the last is all there are."""

ALIGNED: Final = 0.25
"""Nats: two computations of one token's log-probability on a server differ by less."""

PROBE: Final = "The capital of France is"


@dataclass(frozen=True)
class Failed:
    """A question that got no answer."""

    verdict: Transient | Rejected


Fetch = Callable[[str, Mapping[str, object]], Awaitable[dict[str, Any] | Failed]]
"""Address, body → what the server says, after retries."""


def scores(engine: str | None, settings: OpenAISettings) -> bool:
    """Whether such a server can be asked for log-probabilities of given texts."""
    if settings.likelihood == "no":
        return False
    return settings.likelihood == "echo" or engine in ENGINES


class _MissingError(Exception):
    """The tokenizer is the server's: this must be asked first."""

    def __init__(self, kind: str, key: tuple[object, ...]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.key = key


class _Refusal(Exception):  # noqa: N818 - carries a failed question through the planning
    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.verdict.reason)
        self.failed = failed


class _Vocabulary:
    """What is known so far of the server's tokenizer."""

    def __init__(self) -> None:
        self.opening: tuple[int, ...] = ()
        self.begin: int | None = None
        self.end: int | None = None
        self.texts: dict[str, list[int]] = {}
        self.spellings: dict[int, bytes] = {}
        self.lengths: dict[tuple[int, ...], int] = {}

    def encode(self, text: str) -> list[int]:
        text.encode()
        if text not in self.texts:
            raise _MissingError("encode", (text,))
        return self.texts[text]

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        behind = tuple(tokens[count:])
        if all(token in self.spellings for token in behind):
            return len(text.encode()) - sum(len(self.spellings[token]) for token in behind)
        if behind not in self.lengths:
            raise _MissingError("decode", behind)
        return len(text.encode()) - self.lengths[behind]

    def forget(self) -> None:
        """Texts are many, and each is asked about a few times in a row."""
        if len(self.texts) > 4096:  # noqa: PLR2004 - some megabytes
            self.texts.clear()
            self.lengths.clear()


class Scorer:
    """Scores the continuations of one model's requests. Lives in one event loop."""

    def __init__(
        self, name: str, settings: OpenAISettings, endpoint: Endpoint, server: Server, fetch: Fetch
    ) -> None:
        self._name = name
        self._settings = settings
        self._endpoint = endpoint
        self._fetch = fetch
        self._engine = "echo" if settings.likelihood == "echo" else server.engine
        context = settings.context_tokens or server.context_tokens or UNBOUNDED
        # llama.cpp refuses a prompt that fills the context: it wants room for what it generates.
        self._context = context - 1 if self._engine == "llamacpp" and context < UNBOUNDED else context
        self._server = server
        self._vocabulary = _Vocabulary()
        self._known = False
        self._letter = 0
        """A token that is a whole character."""

    async def score(self, request: Request) -> Response:
        """The response to a request with a continuation; what failed on the way is in it.

        Raises:
            ModelError: this server cannot score.
        """
        if self._engine != "echo" and self._engine not in ENGINES:
            raise ModelError(
                f"openai/{self._name}: this server cannot score continuations: the interface has no way to "
                "ask. llama.cpp, vLLM and SGLang have one of their own (-M engine=…); a server that honours "
                "echo with logprobs is asked with -M likelihood=echo; or use hf/… or llamacpp/…"
            )
        try:
            text = await self._text(request.prompt)
            if self._engine == "echo":
                return await self._by_echo(request, text)
            planned = await self._plan(request, text)
            return planned if isinstance(planned, Response) else await self._by_tokens(request, planned)
        except NotScorableError as error:
            return Response(request=request.key, finish=error.finish, reason=error.reason)
        except UnicodeEncodeError:
            reason = "prompt or continuation holds half of a surrogate pair: it is no text"
            return Response(request=request.key, finish=Finish.MODEL_ERROR, reason=reason)
        except _Refusal as refusal:
            verdict = refusal.failed.verdict
            return Response(request=request.key, finish=verdict.finish, reason=verdict.reason)

    # ── tokens ──────────────────────────────────────────────────────────────────────────────────

    async def _text(self, prompt: Prompted) -> str:
        if isinstance(prompt, str):
            return prompt
        if self._engine != "llamacpp" or self._server.borrowed_template:
            raise ModelError(
                f"openai/{self._name}: continuations of a conversation cannot be scored over this server: it "
                "does not show the text that its template makes; use hf/… or llamacpp/…"
            )
        told = await self._ask("apply-template", {"messages": [vars(message) for message in prompt]})
        return str(told.get("prompt", ""))

    async def _plan(self, request: Request, text: str) -> Plan | Response:
        """Plans, and asks for what is missing, until nothing is."""
        if not self._known:
            await self._learn()
        while True:
            try:
                return plan_request(request, lambda _: text, self._vocabulary, self._context)
            except _MissingError as missing:
                await self._find(missing)

    async def _find(self, missing: _MissingError) -> None:
        vocabulary = self._vocabulary
        vocabulary.forget()
        if missing.kind == "encode":
            text = str(missing.key[0])
            vocabulary.texts[text] = await self._tokenize(text, special=False)
        else:
            tokens = [token for token in missing.key if isinstance(token, int)]
            told = await self._ask("detokenize", {"model": self._name, "tokens": tokens})
            text = told.get("prompt", told.get("text", told.get("content", "")))
            vocabulary.lengths[tuple(tokens)] = len(str(text).encode())

    async def _learn(self) -> None:
        """Which tokens the tokenizer puts before a text, and which begin and end one."""
        vocabulary = self._vocabulary
        bare, full = await self._tokenize("a", special=False), await self._tokenize("a", special=True)
        places = range(len(full) - len(bare) + 1)
        found = next((place for place in places if full[place : place + len(bare)] == bare), 0)
        vocabulary.opening = tuple(full[:found])
        self._letter = bare[-1]
        vocabulary.begin = vocabulary.opening[0] if vocabulary.opening else None
        for name, written in self._server.special.items():
            tokens = await self._tokenize(written, special=False)
            if len(tokens) == 1:
                setattr(vocabulary, name, tokens[0])
        self._known = True

    async def _tokenize(self, text: str, *, special: bool) -> list[int]:
        if self._engine == "llamacpp":
            asked: dict[str, object] = {"content": text, "add_special": special, "parse_special": True}
            told = await self._ask("tokenize", {**asked, "with_pieces": True})
        else:
            told = await self._ask(
                "tokenize", {"model": self._name, "prompt": text, "add_special_tokens": special}
            )
        tokens = told.get("tokens")
        if not isinstance(tokens, list):
            raise self._unable("it does not tell the tokens of a text", told)
        found = []
        for token in tokens:
            if isinstance(token, dict):
                number, piece = token["id"], token["piece"]
                self._vocabulary.spellings[number] = (
                    piece.encode() if isinstance(piece, str) else bytes(piece)
                )
                found.append(int(number))
            else:
                found.append(int(token))
        return found

    # ── log-probabilities ───────────────────────────────────────────────────────────────────────

    async def _by_tokens(self, request: Request, planned: Plan) -> Response:
        logprobs: list[float] = []
        greedy = True
        ways = {"llamacpp": self._llamacpp, "vllm": self._vllm, "sglang": self._sglang}
        for stretch in planned.stretches:
            values, likeliest = await ways[str(self._engine)](stretch)
            logprobs += values
            greedy &= likeliest
        return scored_response(request, planned, tuple(logprobs), greedy=greedy)

    async def _llamacpp(self, stretch: Stretch) -> tuple[list[float], bool]:
        """One question a token; what is before it lies in the server's cache."""
        values, greedy = [], True
        for place, token in enumerate(stretch.scored):
            value, best = await self._llamacpp_token([*stretch.seen, *stretch.scored[:place]], token)
            values.append(value)
            greedy &= best
        return values, greedy

    async def _llamacpp_token(self, prompt: list[int], token: int) -> tuple[float, bool]:
        """Log-probability of one token, and whether it is the likeliest.

        The server tells nothing of a token that is part of a character. Then another one is sampled, and the
        token is looked for among the likeliest, of which ever more are asked.
        """
        whole = _is_text(self._vocabulary.spellings.get(token, b""))
        for most in (1,) if whole else WIDENING:
            told = await self._ask(
                "completion",
                {
                    "prompt": prompt,
                    "n_predict": 1,
                    "n_probs": most,
                    "post_sampling_probs": False,
                    "logit_bias": [[token if whole else self._letter, FORCE]],
                    "samplers": [],
                    "temperature": 0,
                    "cache_prompt": True,
                },
            )
            try:
                [shown] = told["completion_probabilities"]
                likeliest = [(int(one["id"]), float(one["logprob"])) for one in shown["top_logprobs"]]
                sampled = (int(shown["id"]), float(shown["logprob"]))
                best = likeliest[0][0] == token
            except (KeyError, TypeError, ValueError, IndexError):
                raise self._unable("it does not tell log-probabilities in a known form", told) from None
            if sampled[0] != (token if whole else self._letter):
                raise self._unable(f"it sampled token {sampled[0]} where another was forced", told)
            known = dict([*likeliest, sampled])
            if token in known:
                return known[token], best
        raise self._unable(f"it tells no log-probability of token {token}", told)

    async def _vllm(self, stretch: Stretch) -> tuple[list[float], bool]:
        whole = [*stretch.seen, *stretch.scored]
        body = {"model": self._name, "prompt": whole, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 1}
        told = await self._ask("completions", body, beside=False)
        try:
            shown = told["choices"][0]["prompt_logprobs"]
            own = [shown[place][str(whole[place])] for place in range(len(stretch.seen), len(whole))]
            values = [float(one["logprob"]) for one in own]
            greedy = all(
                float(one["logprob"]) >= max(float(other["logprob"]) for other in shown[place].values())
                for place, one in enumerate(own, len(stretch.seen))
            )
            complete = len(shown) == len(whole)
        except (KeyError, TypeError, ValueError, IndexError):
            raise self._unable(
                "it does not tell `prompt_logprobs` of the tokens that were sent", told
            ) from None
        if not complete:
            raise self._unable(f"it tells {len(shown)} log-probabilities of {len(whole)} tokens", told)
        return values, greedy

    async def _sglang(self, stretch: Stretch) -> tuple[list[float], bool]:
        whole = [*stretch.seen, *stretch.scored]
        start = len(stretch.seen) - 1
        body = {
            "input_ids": whole,
            "sampling_params": {"max_new_tokens": 1, "temperature": 0},
            "return_logprob": True,
            "logprob_start_len": start,
            "top_logprobs_num": 1,
        }
        told = await self._ask("generate", body)
        count = len(stretch.scored)
        try:
            shown = told["meta_info"]["input_token_logprobs"][-count:]
            best = told["meta_info"]["input_top_logprobs"][-count:]
            tokens = [int(token) for _, token, *_ in shown]
            values = [float(value) for value, *_ in shown]
            greedy = all(value >= float(top[0][0]) for value, top in zip(values, best, strict=True))
        except (KeyError, TypeError, ValueError, IndexError):
            raise self._unable("it does not tell `input_token_logprobs`", told) from None
        if tokens != list(stretch.scored):
            raise self._unable("its log-probabilities are of other tokens than were sent", told)
        return values, greedy

    # ── echo ────────────────────────────────────────────────────────────────────────────────────

    async def _by_echo(self, request: Request, prompt: str) -> Response:
        """The whole text is sent, and comes back with its tokens; which begin where is told in characters."""
        scoring, continuation = request.scoring, request.continuation or ""
        if not continuation:
            raise NotScorableError(Finish.MODEL_ERROR, "the continuation is empty: there is nothing to score")
        (prompt + continuation).encode()
        ruled = scoring.boundary == "common" and scoring.begin == "tokenizer" and scoring.rolling is None
        if not ruled or scoring.begin_twice:
            raise NotScorableError(
                Finish.MODEL_ERROR,
                "over echo the tokens are the server's: boundary='common' and begin='tokenizer' only, and no "
                "windows; use an engine whose tokenizer can be asked",
            )
        if not self._known:
            await self._check_echo()
        shown = await self._echoed(prompt + continuation)
        first = next((place for place, end in enumerate(shown.ends) if end > len(prompt)), len(shown.ends))
        if first < len(shown.values) and shown.values[first] is None and scoring.first == "skip":
            first += 1
        values = shown.values[first:]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or not known:
            raise NotScorableError(
                Finish.MODEL_ERROR,
                "the server gives the first token no log-probability, and puts no beginning token before it: "
                "give a prompt, or score with first='skip'",
            )
        before = shown.ends[first - 1] if first else 0
        return Response(
            request=request.key,
            prompt_tokens=first,
            completion_tokens=len(known),
            logprobs=tuple(known),
            greedy=shown.greedy(first),
            scored_bytes=len((prompt + continuation)[before:].encode()),
            cut_tokens=0,
        )

    async def _check_echo(self) -> None:
        """The log-probability of a token as it is generated is the one that it has when it is echoed.

        Some servers ignore `echo`, and some give each token the number of the next.
        """
        body = {"model": self._name, "prompt": PROBE, "max_tokens": 1, "temperature": 0, "logprobs": 1}
        told = await self._ask("completions", body, beside=False)
        try:
            choice = told["choices"][0]
            text, value = str(choice["text"]), float(choice["logprobs"]["token_logprobs"][0])
        except (KeyError, TypeError, ValueError, IndexError):
            raise self._unable("it does not tell log-probabilities of what it generates", told) from None
        shown = await self._echoed(PROBE + text)
        last = shown.values[-1] if shown.values else None
        if not text or last is None or abs(last - value) > ALIGNED:
            raise self._unable(
                f"echoed, the token {text!r} has log-probability {last}, and {value:.3f} when it is "
                "generated: the numbers do not stand beside their tokens",
                told,
            )
        self._known = True

    async def _echoed(self, text: str) -> _Echoed:
        body = {"model": self._name, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": 1}
        told = await self._ask("completions", {**body, "echo": True}, beside=False)
        try:
            choice = told["choices"][0]
            shown = choice["logprobs"]
            offsets, values, tops = shown["text_offset"], shown["token_logprobs"], shown["top_logprobs"]
        except (KeyError, TypeError, IndexError):
            raise self._unable("it does not honour `echo` with `logprobs`", told) from None
        if not str(choice.get("text", "")).startswith(text):
            raise self._unable("it ignores `echo`: the text that was sent does not come back", told)
        count = sum(offset < len(text) for offset in offsets)
        ends = [*offsets[1:count], len(text)]
        if not count or len(values) < count:
            raise self._unable("it tells no places of its tokens", told)
        return _Echoed(ends, list(values[:count]), list(tops[:count]) if tops else [])

    # ── asking ──────────────────────────────────────────────────────────────────────────────────

    async def _ask(self, route: str, body: Mapping[str, object], *, beside: bool = True) -> dict[str, Any]:
        address = self._endpoint.beside(route) if beside else self._endpoint.address(route)
        if address is None:
            raise ModelError(
                f"openai/{self._name}: log-probabilities are asked beside the interface: base_url must end "
                "in /v1"
            )
        told = await self._fetch(address, body)
        if isinstance(told, Failed):
            raise _Refusal(told)
        return told

    def _unable(self, why: str, told: Mapping[str, Any]) -> ModelError:
        shown = json.dumps(told, ensure_ascii=True, default=str)[:160]
        return ModelError(
            f"openai/{self._name}: this server cannot score continuations: {why} (it says {shown})"
        )


def _is_text(spelling: bytes) -> bool:
    try:
        return bool(spelling.decode())
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True)
class _Echoed:
    """A text as the server gives it back."""

    ends: list[int]
    """Where each token ends, in characters."""
    values: list[float | None]
    tops: list[dict[str, float] | None]
    """Of each token: the likeliest there, by how they are written."""

    def greedy(self, first: int) -> bool | None:
        """Whether no token was likelier; `None` where the server does not tell."""
        if not self.tops:
            return None
        pairs = zip(self.values[first:], self.tops[first:], strict=True)
        return all(
            top is not None and value is not None and value >= max(top.values()) for value, top in pairs
        )
