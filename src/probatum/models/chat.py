"""Renders a conversation by the chat template that stands in the model file, as transformers does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any, Never

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from probatum.core.errors import ModelError
from probatum.core.records import Message

__all__ = ["ChatTemplate", "RenderingError"]


class RenderingError(Exception):
    """The template refuses this conversation, such as one with a system message."""


class ChatTemplate:
    """One template. It comes with the weights, so that it runs in Jinja's sandbox."""

    def __init__(self, source: str, *, bos: str, eos: str, today: date | None) -> None:
        """Compiles it.

        Args:
            source: in Jinja.
            bos: text of the token that begins a text, for templates that write it themselves.
            eos: text of the token that ends one.
            today: what `strftime_now` tells the template; without it, the name is not defined.

        Raises:
            ModelError: it is no valid template.
        """
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols"],
            autoescape=False,  # a prompt, no web page
        )
        environment.filters["tojson"] = _to_json
        environment.globals.update(bos_token=bos, eos_token=eos, raise_exception=_refuse)
        if today is not None:
            environment.globals["strftime_now"] = today.strftime
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise ModelError(f"the model's chat template cannot be compiled: {error}") from error

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt after which the assistant's answer follows.

        Raises:
            RenderingError: the template refuses the conversation.
        """
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            return self._template.render(messages=turns, add_generation_prompt=True)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise RenderingError(f"the model's chat template refuses the conversation: {error}") from error


def _refuse(message: str) -> Never:
    raise TemplateError(message)


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
