"""What a chat template says of its own: a system prompt that nobody gave changes every answer, unseen."""

from __future__ import annotations

import re
from typing import Final

from probatum.core.records import Message
from probatum.models.chat import ChatTemplate, RenderingError

__all__ = ["text_of_its_own"]

_ASKED: Final = "QXQ0QXQ"
"""A user's turn that stands in no template."""

_SPECIAL = re.compile(r"<[^<>\n]{1,60}>|<\|[^|\n]{1,60}\|>|\[/?[A-Z_]{2,24}\]|◁[^▷\n]{1,40}▷")
_ROLE = re.compile(
    r"#{0,4} ?(?:system|user|assistant|model|developer|human|instruction|question|input)\s?:?", re.IGNORECASE
)


def text_of_its_own(template: ChatTemplate) -> str | None:
    """The text that a template puts before a lone user's turn, without its special tokens and role names.

    `None` where there is none, and where the template does not render a lone user's turn.
    """
    try:
        rendered = template.render([Message("user", _ASKED)])
    except RenderingError:
        return None
    head, found, _ = rendered.partition(_ASKED)
    if not found:
        return None
    lines = (line.strip() for line in _SPECIAL.sub("\n", head).split("\n"))
    said = [line for line in lines if line and not _ROLE.fullmatch(line)]
    text = " ".join(said)
    return text if any(each.isalnum() for each in text) else None
