"""Whether two runs may be compared: their models and recipes, field by field, each difference classed.

A difference of the models' names and weights is what a comparison is about. What may not differ unseen is how
they were asked and graded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final

from probatum.core.records import Identity

__all__ = ["Comparability", "Difference", "comparability", "compare_identities", "compare_recipes"]


class Comparability(StrEnum):
    """What a difference means; the worst one counts."""

    SAME = "same protocol"
    NOTED = "comparable with a note"
    REFUSED = "not comparable"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One field in which two runs differ."""

    field: str
    one: object
    other: object
    kind: Comparability
    meaning: str
    """What it changes, in words."""

    def __str__(self) -> str:
        return f"{self.meaning}: {self.field} {_shown(self.one)} against {_shown(self.other)}"


_SUBJECT: Final = frozenset({"provider", "name", "revision", "weights", "tokenizer"})
"""Fields of a model that make it another model: what a comparison is about."""

_IGNORED: Final = frozenset({"summary", "citation", "licence", "population", "languages"})
"""Fields of a task that change no number."""

_NOTED: Final = frozenset({"seed", "chance", "unit", "file"})
"""Fields that change numbers by chance alone, or what stands beside them; and the file of a task of one's
own, whose components are compared one by one."""

_MEANINGS: Final[Mapping[str, str]] = {
    "completion": "prompts differ",
    "chat": "prompts differ",
    "form": "prompts differ",
    "system": "prompts differ",
    "shots": "prompts differ",
    "shot_source": "prompts differ",
    "shots_drawn": "prompts differ",
    "to_item": "items differ",
    "row": "items differ",
    "source": "items differ",
    "sampling": "decoding differs",
    "samples": "the sample budgets differ",
    "scorer": "grading differs",
    "metrics": "estimators differ",
    "policy": "denominators differ",
    "compat": "scoring rules differ",
    "seed": "seeds differ",
    "file": "the file that declares the task differs, and what its components call in it is not compared",
}


def compare_identities(one: Identity, other: Identity) -> tuple[Difference, ...]:
    """Differences of two models that are not what the comparison is about.

    A chat template that one has and the other has not means that one conversation is asked as two texts. Two
    templates of two models are noted; two templates of the *same* weights are two prompts.
    """
    found: list[Difference] = []
    same_weights = one.weights is not None and one.weights == other.weights
    for field in fields(Identity):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if left == right or field.name in _SUBJECT:
            continue
        kind, meaning = Comparability.NOTED, "backends differ"
        if field.name == "template":
            bare = left is None or right is None
            kind = Comparability.REFUSED if bare or same_weights else Comparability.NOTED
            meaning = "prompts differ"
        elif field.name == "precision":
            meaning = "precision differs"
        elif field.name == "settings":
            found += _settings(left, right)
            continue
        found.append(
            Difference(field=f"model.{field.name}", one=left, other=right, kind=kind, meaning=meaning)
        )
    return tuple(found)


def _settings(one: Mapping[str, object], other: Mapping[str, object]) -> Iterator[Difference]:
    """One difference a setting."""
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            yield Difference(
                field=f"model.settings.{name}",
                one=one.get(name),
                other=other.get(name),
                kind=Comparability.NOTED,
                meaning="settings of the models differ",
            )


def compare_recipes(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Differences of two protocols in canonical form (`TaskRun.recipe["protocol"]`), one for each field."""
    found = []
    left, right = dict(_leaves(one)), dict(_leaves(other))
    for path in dict.fromkeys([*left, *right]):
        first, second = left.get(path), right.get(path)
        if first == second:
            continue
        names = path.split(".")
        top = names[1] if names[0] == "task" and len(names) > 1 else names[0]
        if top in _IGNORED:
            continue
        kind = Comparability.NOTED if top in _NOTED else Comparability.REFUSED
        meaning = _MEANINGS.get(top, "recipes differ")
        found.append(Difference(field=path, one=first, other=second, kind=kind, meaning=meaning))
    return tuple(found)


def comparability(differences: tuple[Difference, ...]) -> Comparability:
    """The worst class among the differences; the same protocol where there is none."""
    order = list(Comparability)
    return max((each.kind for each in differences), key=order.index, default=Comparability.SAME)


def _leaves(form: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path → plain value; a component by its name and its fields, a function by its source."""
    if isinstance(form, Mapping) and "fields" in form and ("is" in form or "type" in form):
        yield f"{path}.is" if path else "is", form.get("is", form.get("type"))
        form = form["fields"] or {}
    if not isinstance(form, Mapping):
        yield path, form
        return
    for name, part in form.items():
        yield from _leaves(part, f"{path}.{name}" if path else str(name))


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004 - what people read
