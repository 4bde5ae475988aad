"""The two ways to ask: a text to be continued, or a conversation to be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from probatum.core.errors import ProtocolError, UsageError
from probatum.core.records import Item, Message
from probatum.prompting.templates import check_template, render

__all__ = ["LABELS", "ChatPrompt", "CompletionPrompt", "shot_text", "view"]


LABELS: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""What options are called where a task names them no other way."""


def view(item: Item) -> Mapping[str, object]:
    """What a template may read of an item.

    Its fields, `targets`, `choices` with their `labels` (A, B, …), and `target` if there is one.
    """
    first = {"target": item.targets[0]} if item.targets else {}
    labels = LABELS[: len(item.choices)]
    return {"targets": item.targets, "choices": item.choices, "labels": labels, **first, **item.fields}


def shot_text(template: str, name: str) -> str:
    """The template of a shot's answer; without one a shot would be shown empty."""
    if not template:
        raise ProtocolError(
            f"shots are asked for, and the prompt has no {name}; give it one, or use --shots 0"
        )
    return template


@dataclass(frozen=True, kw_only=True)
class CompletionPrompt:
    """A text that a base model continues: preamble, shots, question."""

    template: str
    """The question, up to where the model goes on. No space at its end: " A" and "A" are different
    tokens, and a model that was trained on the first scores the second badly."""
    shot_template: str = ""
    """A shot: question and answer. Empty where the task takes no shots."""
    separator: str = "\n\n"
    """Between shots, and between the last shot and the question."""
    preamble: str = ""
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for template in (self.template, self.shot_template):
            check_template(template)

    def render(self, item: Item, shots: Sequence[Item], system: str | None) -> str:
        """Preamble, shots and question as one text.

        Raises:
            UsageError: a system prompt is given; a text has no place for it.
            ProtocolError: the template asks for a field that the item has not; shots without a template.
        """
        if system is not None:
            raise UsageError(
                f"a system prompt ({system[:40]!r}) needs a conversation, and this run continues texts; "
                "leave it out, or use --form chat with a model that has a chat template"
            )
        shown = [render(shot_text(self.shot_template, "shot_template"), view(shot)) for shot in shots]
        return self.preamble + self.separator.join([*shown, render(self.template, view(item))])


@dataclass(frozen=True, kw_only=True)
class ChatPrompt:
    """A conversation: shots are earlier turns, the question is the last one.

    The backend (or its server) applies the model's own template to the messages.
    """

    template: str
    shot_question: str = ""
    """A shot's user turn; empty means the question's template."""
    shot_answer: str = ""
    """A shot's assistant turn. Empty where the task takes no shots."""
    system: str | None = None
    """System prompt if the user gives none."""
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for template in (self.template, self.shot_question, self.shot_answer):
            check_template(template)

    def render(self, item: Item, shots: Sequence[Item], system: str | None) -> tuple[Message, ...]:
        """System turn (if any), shots as pairs of turns, question.

        Raises:
            ProtocolError: a template asks for a field that the item has not; shots without a template.
        """
        turns: list[Message] = []
        if (instruction := system if system is not None else self.system) is not None:
            turns.append(Message("system", instruction))
        for shot in shots:
            turns.append(Message("user", render(self.shot_question or self.template, view(shot))))
            answer = shot_text(self.shot_answer, "shot_answer")
            turns.append(Message("assistant", render(answer, view(shot))))
        turns.append(Message("user", render(self.template, view(item))))
        return tuple(turns)
