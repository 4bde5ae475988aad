"""What the user may set of `llamacpp/NAME`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated

from msgspec import Meta

__all__ = ["LlamaSettings"]


@dataclass(frozen=True, kw_only=True)
class LlamaSettings:
    """Settings of `llamacpp/NAME`."""

    threads: Annotated[int, Meta(ge=1, le=512)] | None = None
    """By default the cores that this process may use. The answers do not depend on it."""
    slots: Annotated[int, Meta(ge=1, le=64)] = 8
    """Requests decoded at once. The answers do not depend on it, except that 1 differs from 2 and more."""
    context_tokens: Annotated[int, Meta(ge=16)] | None = None
    """Of each slot, prompt and answer together; by default 4,096, or what the model was trained for."""
    batch_tokens: Annotated[int, Meta(ge=8, le=4096)] = 64
    """Prompt tokens evaluated at once; also the grain at which prompts share their beginnings."""
    special_tokens: bool = True
    """Whether `<eos>` and its like in a prompt are read as the tokens they name, rather than as letters."""
    today: date | None = None
    """The day that a chat template is told; by default it is told none, so that a prompt stays the same."""
    verbose: bool = False
    """Whether llama.cpp's log goes to stderr."""
