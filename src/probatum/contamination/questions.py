"""What of an item is its question, and what would give its answer away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from probatum.core.errors import UsageError
from probatum.core.records import Item

__all__ = ["QUESTION_FIELDS", "golds_of", "question_of", "question_text"]

QUESTION_FIELDS: Final = (
    "question",
    "q",
    "query",
    "problem",
    "prompt",
    "text",
    "input",
    "instruction",
    "premise",
    "ctx",
)
"""Fields that hold a question, the first that is there."""

_LABELS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def question_text(fields: Mapping[str, object], name: str | None = None) -> str | None:
    """The question of a row: the field named, the first of `QUESTION_FIELDS`, or the only text."""
    if name is not None:
        value = fields.get(name)
        return value if isinstance(value, str) else None
    texts = {field: value for field, value in fields.items() if isinstance(value, str)}
    known = next((field for field in QUESTION_FIELDS if field in texts), None)
    if known is not None:
        return texts[known]
    return next(iter(texts.values())) if len(texts) == 1 else None


def question_of(item: Item, name: str | None = None) -> str:
    """The question of an item.

    Raises:
        UsageError: no field is it for certain.
    """
    found = question_text(item.fields, name)
    if found is None:
        there = ", ".join(map(repr, item.fields)) or "none"
        raise UsageError(
            f"item {item.id!r} has no field {name!r} with a text (there are {there}); name another one"
            if name is not None
            else f"which field of item {item.id!r} is its question cannot be told from {there}; name it"
        )
    return found


def golds_of(item: Item) -> tuple[str, ...]:
    """Texts that give the answer: targets; of a choice the right option, and its label behind "answer"."""
    texts: list[str] = []
    for target in item.targets:
        place = _LABELS.find(target) if len(target) == 1 else -1
        if item.choices and 0 <= place < len(item.choices):
            texts += [
                item.choices[place],
                f"answer {target}",
                f"answer is {target}",
                f"答案{target}",
                f"答案是{target}",
            ]
        else:
            texts.append(target)
    return tuple(texts)
