"""What every backend offers to the runner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol as Interface

from probatum.core.records import Identity, Prompted, Request, Response

__all__ = ["Capabilities", "Model"]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a model can be asked for."""

    completion: bool = False
    """Continues a text."""
    chat: bool = False
    """Answers messages (it has a chat template, or the server applies one)."""
    score: bool = False
    """Gives log-probabilities of a continuation."""
    context_tokens: int | None = None
    """Prompt and answer together; `None` where it is not known."""
    reproducible: bool = False
    """Whether the same seed gives the same text whatever else is asked at the same time."""


class Model(Interface):
    """A model that answers requests. A fake is ten lines."""

    @property
    def identity(self) -> Identity:
        """Which model answers; its digest is part of every stored response's key."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can be asked for."""
        ...

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers every request once, in any order.

        Requests are pulled only as there is room for them, so that memory does not grow with their
        number; when the iterable ends, what is in flight is finished and yielded. It may be pulled
        from another thread than the caller's.

        Raises:
            ModelError: the model cannot be used at all. What was yielded before stands.
        """
        ...

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Tokens of the rendered prompt, or `None` where the backend cannot tell."""
        ...

    def close(self) -> None:
        """Gives back memory, processes and connections."""
        ...
