"""Whether a task that somebody hands us is made as `Task` says: dataclasses do not check."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from probatum.core.errors import UsageError
from probatum.core.protocol import (
    FORMS,
    SCORED_FORMS,
    FormScorer,
    Policy,
    ProgramScorer,
    ScoredPrompt,
    Scorer,
    Source,
    Task,
)
from probatum.core.records import Sampling

__all__ = ["check_task"]

Check = Callable[[Any], bool]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _name(value: object) -> bool:
    if not isinstance(value, str) or not value or value != value.strip() or "," in value:
        return False
    return all(unicodedata.category(sign)[0] != "C" for sign in value)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _instance(*names: str) -> Check:
    """Has these members, and is no class: `Rate` for `Rate()` is a usual slip."""
    return lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in names)


def _scorer(value: object) -> bool:
    return not isinstance(value, type) and isinstance(value, (Scorer, ProgramScorer, FormScorer))


def _metrics(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(_instance("estimate"), value))


def _texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def _chance(value: object) -> bool:
    return value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    )


def _optional_source(value: object) -> bool:
    return value is None or isinstance(value, Source)


_FIELDS: Final[Mapping[str, tuple[Check, str]]] = {
    "name": (_name, "a short text without commas"),
    "version": (lambda value: _count(value) and value > 0, "a whole number, 1 or more"),
    "summary": (_text, "a text"),
    "citation": (_text, "a text"),
    "source": (lambda value: isinstance(value, Source), "a Source"),
    "row": (lambda value: isinstance(value, type), "the class of a row: a frozen dataclass"),
    "to_item": (callable, "a function from a row to an Item"),
    "sampling": (lambda value: isinstance(value, Sampling), "a Sampling"),
    "scorer": (_scorer, "a scorer with a method grade(item, sample, responses), such as ExactMatch()"),
    "metrics": (_metrics, "a tuple of metrics, such as (Rate(),)"),
    "gold": (callable, "a function from an item to the text of a perfect answer"),
    "wrong": (callable, "a function from an item to the text of a wrong answer"),
    "gold_fails": (lambda value: value in ("invalid", "counted"), "'invalid' or 'counted'"),
    "preferred": (lambda value: value is None or value in FORMS, f"None or one of {', '.join(FORMS)}"),
    "shots": (_count, "a whole number, 0 or more"),
    "shot_source": (_optional_source, "None or a Source"),
    "samples": (lambda value: _count(value) and value > 0, "a whole number, 1 or more"),
    "chance": (_chance, "None or a number from 0 to 1"),
    "unit": (_text, "a text"),
    "policy": (lambda value: isinstance(value, Policy), "a Policy"),
    "languages": (_texts, "a tuple of texts, such as ('en',)"),
    "population": (_text, "a text"),
    "licence": (_text, "a text"),
}


def check_task(task: Task, where: str = "") -> None:
    """Refuses a task that could not be run, in one line that names the field.

    Args:
        task: from a file, a package or the caller.
        where: what the message begins with, such as the file.

    Raises:
        UsageError: a field is of another kind than `Task` says, or two do not go together.
    """
    begin = f"{where}: task" if where else "task"

    def refuse(field: str, wanted: str) -> None:
        value = getattr(task, field)
        name = task.name if field != "name" else "of no name"
        kind = f"the class {value.__name__}" if isinstance(value, type) else _shown(value)
        raise UsageError(f"{begin} {name!r}: {field} is {kind}; give {wanted}")

    for field, (fits, wanted) in _FIELDS.items():
        if not fits(getattr(task, field)):
            refuse(field, wanted)
    for form in FORMS:
        prompt = task.prompt(form)
        if prompt is None:
            continue
        kind = (
            "OptionsPrompt(…) or TextPrompt(…)" if form in SCORED_FORMS else f"{form.capitalize()}Prompt(…)"
        )
        if not _instance("render", "stop")(prompt) or (form in SCORED_FORMS) != isinstance(
            prompt, ScoredPrompt
        ):
            refuse(form, kind)
    if not task.forms:
        raise UsageError(f"{begin} {task.name!r} has no prompt; give it completion, chat or another form")
    if task.preferred is not None and task.preferred not in task.forms:
        refuse("preferred", f"a form that the task has: {', '.join(task.forms)}")
    if task.shots and task.shot_source is None:
        refuse("shots", "0, or give a shot_source to take them from")


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004 - what people read
