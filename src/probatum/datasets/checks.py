"""What an item must be before a model is asked about it."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import replace
from types import NoneType
from typing import Any

from probatum.core.records import Item
from probatum.datasets.faults import shown
from probatum.datasets.foreign import first_foreign

__all__ = ["LABELS", "malformed", "settle", "width_normalised"]

LABELS = string.ascii_uppercase
"""Labels of the options, by position."""

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "id": str,
    "fields": Mapping,
    "targets": tuple,
    "choices": tuple,
    "cluster": (str, NoneType),
    "stratum": (str, NoneType),
    "invalid": (str, NoneType),
}
"""What the fields of an item must be: dataclasses do not check, and a task's row may be of any type."""

_NARROW = {0x3000: " "} | {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


def width_normalised(text: str) -> str:
    """`text` without white space at its ends, full-width ASCII (U+FF01…U+FF5E, U+3000) made narrow.

    Options are compared in this form: “４２” and “42 ” are the same answer. Case is kept, because
    “Aa” and “AA” may differ.
    """
    return text.translate(_NARROW).strip()


def malformed(item: Any) -> str | None:
    """Why this cannot be an item at all (a slip of the task's `to_item`); `None` if it can."""
    if not isinstance(item, Item):
        return f"to_item must return an Item, and returned {shown(item)}"
    named = {name: getattr(item, name) for name in _KINDS}
    for name, kind in _KINDS.items():
        if not isinstance(named[name], kind):
            kinds = type(named[name]).__name__
            return f"the item's {name} is {shown(named[name])}, a {kinds}; give what Item says"
    for name in ("targets", "choices"):
        if strange := [text for text in named[name] if not isinstance(text, str)]:
            return f"the item's {name} have {shown(strange[0])}, which is not a string"
    if not item.id.strip():
        return f"the item's id is empty ({item.id!r}); give every item an id"
    if found := first_foreign(named):
        path, problem = found
        return f"item{path}: {problem}; let to_item make plain JSON data of it"
    return None


def settle(item: Item) -> tuple[Item, str | None]:
    """The item with the targets of a choice as labels, and why it is invalid, if it is.

    The target of an item with choices is a label (`A`, `B`, …); one that is not, but equals the text of
    exactly one option, becomes that option's label. A text that could be read either way is a label.
    What the task itself declares invalid stays so, for the reason that it gives.
    """
    if item.invalid is not None:
        return item, item.invalid
    if not item.choices:
        empty = [target for target in item.targets if not target.strip()]
        return item, f"an accepted answer is empty: {empty[0]!r}" if empty else None
    options = [width_normalised(choice) for choice in item.choices]
    if problem := _options_problem(options):
        return item, problem
    if not item.targets:
        return item, "no gold: none of its options is the target"
    labels = []
    for target in item.targets:
        position = _position(options, width_normalised(target))
        if position is None:
            named = f"{LABELS[0]}…{LABELS[len(options) - 1]}"
            return item, f"gold {shown(target)} is neither a label ({named}) nor the text of an option"
        labels.append(LABELS[position])
    settled = tuple(dict.fromkeys(labels))
    return (item if settled == item.targets else replace(item, targets=settled)), None


def _options_problem(options: list[str]) -> str | None:
    if len(options) > len(LABELS):
        return f"{len(options)} options, and labels end at {LABELS[-1]}"
    if "" in options:
        return f"option {LABELS[options.index('')]} is empty"
    for position, option in enumerate(options):
        if (first := options.index(option)) != position:
            return f"options {LABELS[first]} and {LABELS[position]} are the same: {shown(option)}"
    return None


def _position(options: list[str], target: str) -> int | None:
    if target and target in LABELS[: len(options)] and len(target) == 1:
        return LABELS.index(target)
    return options.index(target) if target in options else None
