"""A request → the body that asks it. Every decoding setting is sent: a missing one is the server's choice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Request
from probatum.models.openai.settings import OpenAISettings

__all__ = ["CHAT", "COMPLETIONS", "NEUTRAL", "Dialect", "Sent"]

CHAT: Final = "chat/completions"
COMPLETIONS: Final = "completions"

PUBLIC_STOPS: Final = 4
"""What OpenAI and Azure take."""

NEUTRAL: Final[Mapping[str, Mapping[str, Any]]] = {
    "llamacpp": {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0},
    "vllm": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    "sglang": {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
}
"""Engines with sampling defaults of their own, or of the model's `generation_config.json`: llama.cpp takes
the 40 likeliest tokens if nothing is said. What switches them off."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt's body, and the choices in it that the server may object to."""

    route: str
    body: bytes
    max_tokens_field: str
    stops: int
    """How many stop strings it holds."""


@dataclass
class Dialect:
    """How this server wants to be asked. Changes when the server objects, once in each respect."""

    name: str
    settings: OpenAISettings
    max_tokens_field: str
    stop_limit: int | None
    neutral: Mapping[str, Any] = field(default_factory=dict)
    """Fields that switch off the engine's own sampling defaults."""
    _given_up: set[str] = field(default_factory=set)

    @classmethod
    def first(cls, name: str, settings: OpenAISettings, *, public: bool, engine: str | None) -> Dialect:
        """What is known before the first request."""
        given = settings.max_tokens_field
        usual = "max_completion_tokens" if public else "max_tokens"
        limit = settings.stop_limit
        return cls(
            name=name,
            settings=settings,
            max_tokens_field=usual if given == "auto" else given,
            stop_limit=PUBLIC_STOPS if limit is None and public else limit,
            neutral=NEUTRAL.get(engine or "", {}),
        )

    def write(self, request: Request) -> Sent:
        """The body that asks `request`.

        Raises:
            ModelError: this server cannot be asked that.
            UsageError: a stop string is empty.
        """
        api = self.settings.api
        body: dict[str, Any] = {"model": self.name}
        if isinstance(request.prompt, str):
            if api == "chat":
                raise ModelError("a text to continue cannot be sent with api=chat: give -M api=completions")
            route, tokens_field = COMPLETIONS, "max_tokens"
            body["prompt"] = request.prompt
            body["echo"] = False
        else:
            if api == "completions":
                raise ModelError("a conversation cannot be sent with api=completions: give -M api=chat")
            route, tokens_field = CHAT, self.max_tokens_field
            body["messages"] = request.prompt
        stops = self._sampling(body, request, tokens_field)
        try:
            content = msgspec.json.encode(body)
        except UnicodeEncodeError:  # a lone surrogate: as an escape it is JSON, and the server decides
            content = json.dumps(msgspec.to_builtins(body)).encode("ascii")
        return Sent(route, content, tokens_field, stops)

    def _sampling(self, body: dict[str, Any], request: Request, tokens_field: str) -> int:
        """Adds the decoding settings; returns how many stop strings are sent."""
        sampling, settings = request.sampling, self.settings
        stop = sampling.stop
        if "" in stop:
            raise UsageError("an empty stop string would end every answer before it begins: leave it out")
        if self.stop_limit is not None:
            stop = stop[: self.stop_limit]
        body.update(self.neutral)
        body.update(settings.body)
        body["temperature"] = sampling.temperature
        body["top_p"] = sampling.top_p
        body[tokens_field] = sampling.max_tokens
        if sampling.top_k:
            body["top_k"] = sampling.top_k
        if stop:
            body["stop"] = stop
        if sampling.seed is not None and settings.send_seed:
            body["seed"] = sampling.seed
        for name in settings.omit:
            body.pop(tokens_field if name == "max_tokens" else name, None)
        return len(stop) if "stop" in body else 0

    def adapt(self, objected: str, sent: Sent) -> bool:
        """Says it in another way from now on; `False` where there is no other way left.

        Requests in flight together all meet the same objection: the first changes the dialect, and the
        others are only sent again.
        """
        if objected == "stop":
            if not sent.stops:
                return False
            if self.stop_limit is None or sent.stops <= self.stop_limit:
                self.stop_limit = PUBLIC_STOPS if sent.stops > PUBLIC_STOPS else 0
            return True
        if (
            objected != sent.max_tokens_field
            or sent.route != CHAT
            or self.settings.max_tokens_field != "auto"
        ):
            return False
        if objected == self.max_tokens_field:
            other = "max_tokens" if objected == "max_completion_tokens" else "max_completion_tokens"
            if other in self._given_up:
                return False
            self._given_up.add(objected)
            self.max_tokens_field = other
        return True
