"""One sample that is generated token by token: the same for every backend that computes in this process."""

from __future__ import annotations

import time
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from probatum.core.records import Finish, Request, Response, Sampling
from probatum.models.sampling import Sampler, seed_of
from probatum.models.writing import Writing

__all__ = ["Logits", "Sample", "Speller", "answered_at_once", "sampling_fault"]

Logits = NDArray[np.float32]
"""One value for each token of the vocabulary."""


class Speller(Interface):
    """What generating needs to know of the model."""

    @property
    def context_tokens(self) -> int:
        """Prompt and answer together."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a control token."""
        ...

    def ends(self, token: int) -> bool:
        """Whether the token ends the text."""
        ...


class Sample:
    """One request on its way to a response."""

    def __init__(self, request: Request, prompt: list[int]) -> None:
        """A request and the tokens of its prompt."""
        self.prompt = prompt
        self.token = 0
        """The token chosen last."""
        self._request = request
        self._sampler = Sampler(request.sampling, seed_of(request))
        self._writing = Writing(request.sampling.stop)
        self._tokens = 0
        self._finish: Finish | None = None
        self._reason: str | None = None
        self._start = time.monotonic()

    def anew(self) -> Sample:
        """The same sample before its first token."""
        return Sample(self._request, self.prompt)

    @property
    def position(self) -> int:
        """Where the last token stands."""
        return len(self.prompt) + self._tokens - 1

    def accept(self, logits: Logits, engine: Speller) -> bool:
        """Chooses the next token; says whether it was the last."""
        try:
            self.token = self._sampler.choose(logits)
        except ArithmeticError as error:
            self._finish, self._reason = Finish.MODEL_ERROR, f"the model computed no usable numbers: {error}"
            return True
        self._tokens += 1
        if engine.ends(self.token) or self._writing.add(engine.piece(self.token)):
            self._finish = Finish.STOP
        elif self._tokens >= self._request.sampling.max_tokens:
            self._finish = Finish.LENGTH
        elif self.position >= engine.context_tokens:
            self._finish = Finish.LENGTH
            self._reason = f"the context of {engine.context_tokens} tokens is used up"
        return self._finish is not None

    def response(self) -> Response:
        """What it came to."""
        finish = self._finish or Finish.INFRA_ERROR
        text, remark = self._writing.text(complete=finish is Finish.STOP)
        return Response(
            request=self._request.key,
            text=text,
            finish=finish,
            stop=self._writing.stop,
            prompt_tokens=len(self.prompt),
            completion_tokens=self._tokens,
            reason="; ".join(note for note in (self._reason, remark) if note) or None,
            seconds=time.monotonic() - self._start,
        )


def answered_at_once(request: Request, tokens: int, context: int) -> Response | None:
    """The response to a prompt of so many tokens, if nothing can or need be generated."""
    key = request.key
    if tokens >= context:
        reason = (
            f"the prompt of {tokens} tokens leaves no room in the context of {context}: "
            "give a larger -M context_tokens"
        )
        return Response(request=key, finish=Finish.CONTEXT_OVERFLOW, reason=reason, prompt_tokens=tokens)
    if tokens == 0:
        reason = "the prompt is empty, and this model has no token that begins a text"
        return Response(request=key, finish=Finish.MODEL_ERROR, reason=reason)
    if request.sampling.max_tokens == 0:
        return Response(request=key, finish=Finish.LENGTH, prompt_tokens=tokens, completion_tokens=0)
    return None


def sampling_fault(sampling: Sampling) -> str | None:
    """Why this cannot be sampled, if it cannot."""
    if sampling.max_tokens < 0:
        return f"max_tokens={sampling.max_tokens} is negative"
    if not sampling.temperature >= 0:
        return f"temperature={sampling.temperature} is not 0 or more"
    if not 0 < sampling.top_p <= 1:
        return f"top_p={sampling.top_p} is not in (0, 1]"
    if sampling.top_k < 0:
        return f"top_k={sampling.top_k} is negative"
    if "" in sampling.stop:
        return "a stop string is empty"
    return None
