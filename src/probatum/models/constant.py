"""`constant/TEXT`: a baseline that gives the same text to every request.

It honours stop strings, so that a task reads it as it reads a model; it has no tokens, and so ignores
`max_tokens` and everything else of the sampling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from probatum.core.errors import ModelError
from probatum.core.records import Identity, Prompted, Request, Response
from probatum.models.seam import Capabilities
from probatum.models.settings import read_settings

__all__ = ["ConstantModel", "cut_at_stop", "load"]


@dataclass(frozen=True, kw_only=True)
class ConstantSettings:
    """There are none."""


def load(name: str, settings: Mapping[str, object]) -> ConstantModel:
    """The model `constant/NAME`: the name is the text."""
    read_settings("constant", settings, ConstantSettings)
    return ConstantModel(name)


def cut_at_stop(text: str, stops: Iterable[str]) -> tuple[str, str | None]:
    """The text before the stop string that begins first, and that string if there is one."""
    found = [(place, stop) for stop in stops if stop and (place := text.find(stop)) >= 0]
    if not found:
        return text, None
    place, stop = min(found, key=lambda one: one[0])
    return text[:place], stop


@dataclass(frozen=True)
class ConstantModel:
    """Answers `text` to everything."""

    text: str

    @property
    def identity(self) -> Identity:
        """The text is the whole model."""
        return Identity(provider="constant", name=self.text)

    @property
    def capabilities(self) -> Capabilities:
        """Texts and messages alike."""
        return Capabilities(completion=True, chat=True, reproducible=True)

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers each request as it is pulled.

        Raises:
            ModelError: a continuation is to be scored.
        """
        for request in requests:
            if request.continuation is not None:
                raise ModelError("the model 'constant' cannot score continuations: choose another model")
            text, stop = cut_at_stop(self.text, request.sampling.stop)
            yield Response(request=request.key, text=text, stop=stop)

    def count_tokens(self, prompt: Prompted) -> int | None:
        """It has no tokens."""
        del prompt
        return None

    def close(self) -> None:
        """Nothing to give back."""
