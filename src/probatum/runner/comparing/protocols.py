"""Whether the tasks of two runs may be compared: recipes, items and models, each difference classed.

`core.comparability` compares field by field. Here stand what the digests of a run add to it: fields that
differ on paper and changed no byte that was asked, and code that differs where no field does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, Final

from probatum.core.canonical import canonical
from probatum.core.comparability import Comparability, Difference, compare_identities, compare_recipes
from probatum.core.protocol import FORMS, SCORED_FORMS, Protocol, Task
from probatum.core.run import Run, TaskRun

__all__ = ["asks_conversations", "made_elsewhere", "protocol_differences"]

_OF_THE_CHECK: Final = frozenset({"gold", "wrong", "gold_fails", "preferred"})
"""Fields of a task that its own checks read, and no score of a model."""
_OF_TEMPLATES: Final = frozenset({"model.template", "model.settings.template_says"})
_DECODING: Final = frozenset({"sampling.temperature", "sampling.top_p", "sampling.top_k"})
_OF_ASKING: Final = frozenset({"prompts differ", "decoding differs", "seeds differ"})


def protocol_differences(one: Run, first: TaskRun, other: Run, second: TaskRun) -> tuple[Difference, ...]:
    """What differs between one task of two runs beside the models themselves, the worst first."""
    left, right = first.recipe.get("protocol"), second.recipe.get("protocol")
    recipes: list[Difference] = []
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        found = (*compare_recipes(left, right), *_code_differences(left, right))
        classed = (_classed(each, first, second) for each in found)
        recipes = [each for each in classed if each is not None]
        if one.model.digest == other.model.digest:
            recipes = [_of_one_model(each) for each in recipes]
    elif first.protocol != second.protocol:
        recipes = [
            Difference(
                field="protocol",
                one=first.protocol,
                other=second.protocol,
                kind=Comparability.REFUSED,
                meaning="recipes differ",
            )
        ]
    models = compare_identities(one.model, other.model)
    if not asks_conversations(first, second):
        models = tuple(each for each in models if each.field not in _OF_TEMPLATES)
    found_all = [*recipes, *models, *_harness(one, other)]
    if made_elsewhere(first) or made_elsewhere(second):
        found_all = [each for each in found_all if each.meaning not in _OF_ASKING]
        found_all.append(
            Difference(
                field="origin.answers",
                one=_file(first),
                other=_file(second),
                kind=Comparability.NOTED,
                meaning="answers were made elsewhere, and how they were asked for is unknown",
            )
        )
    order = list(Comparability)
    return tuple(sorted(found_all, key=lambda each: -order.index(each.kind)))


def made_elsewhere(task: TaskRun) -> bool:
    """Whether answers of a file were graded."""
    return "answers" in task.origin


def asks_conversations(*tasks: TaskRun) -> bool:
    """Whether one of them asked conversations, as far as is known: chat templates are for these alone."""
    return any(_form(task) not in (*SCORED_FORMS, "completion") for task in tasks)


def _file(task: TaskRun) -> object:
    answers = task.origin.get("answers")
    return answers.get("file") if isinstance(answers, Mapping) else "asked for in the run"


def _classed(difference: Difference, first: TaskRun, second: TaskRun) -> Difference | None:  # noqa: PLR0911 - read as a table
    """The difference as the digests of what was really asked class it; `None` where it touches nothing."""
    names = difference.field.split(".")
    top = names[1] if names[0] == "task" and len(names) > 1 else names[0]
    forms = {_form(first), _form(second)}
    if top in FORMS:
        if top not in forms:
            return None  # the prompt of a form that neither run used
        difference = replace(difference, meaning="prompts differ")
    if _is_new_default(difference, first, second):
        return _noted(difference, "one recipe is older than this field, and the other has its default")
    if top in _OF_THE_CHECK or top == "metrics":
        return replace(difference, kind=Comparability.NOTED)
    if difference.meaning == "items differ" and first.items == second.items:
        return _noted(difference, "the items are the same, byte for byte")
    if difference.meaning == "prompts differ" and first.requests == second.requests is not None:
        return _noted(difference, "the requests are the same, byte for byte")
    if top == "sampling" and forms <= SCORED_FORMS:
        return _noted(difference, "nothing is sampled in this form")
    return difference


def _of_one_model(difference: Difference) -> Difference:
    """Two decodings of one model are what its comparison is about; of two models they are mixed up."""
    if difference.field not in _DECODING:
        return difference
    meaning = "decoding differs, and is what is compared: the model is the same"
    return replace(difference, kind=Comparability.NOTED, meaning=meaning)


def _is_new_default(difference: Difference, first: TaskRun, second: TaskRun) -> bool:
    """Whether one recipe was written before this field was there, and the other has it at its default."""
    *owner, name = difference.field.split(".")
    kind = {(): Protocol, ("task",): Task}.get(tuple(owner))
    known = {each.name: each.default for each in fields(kind)} if kind is not None else {}
    if known.get(name, MISSING) is MISSING:
        return False
    held = [dict(_fields_of(task, owner)) for task in (first, second)]
    with_it = [each[name] for each in held if name in each]
    return len(with_it) == 1 and with_it[0] == canonical(known[name])


def _fields_of(task: TaskRun, owner: list[str]) -> Mapping[str, Any]:
    form: Any = task.recipe.get("protocol")
    for name in owner:
        form = form["fields"][name]
    return dict(form["fields"])


def _noted(difference: Difference, why: str) -> Difference:
    return replace(difference, kind=Comparability.NOTED, meaning=f"{difference.meaning} on paper ({why})")


def _form(task: TaskRun) -> object:
    protocol = task.recipe.get("protocol")
    return protocol["fields"].get("form") if isinstance(protocol, Mapping) else None


def _code_differences(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Components of one name and other code, which no field shows."""
    first, second = dict(_sources(left)), dict(_sources(right))
    for path, (name, source) in first.items():
        other = second.get(path)
        if other is None or other[0] != name or other[1] == source:
            continue
        names = path.split(".")
        top = names[1] if names[0] == "task" and len(names) > 1 else names[0]
        meaning = "the code of a component differs"
        if top in FORMS:
            meaning = "prompts differ"
        elif top == "scorer":
            meaning = "grading differs (`probatum rescore` grades both by the code of today)"
        elif top in ("row", "source"):
            meaning = "items differ"
        yield Difference(
            field=f"{path}.source", one=source, other=other[1], kind=Comparability.REFUSED, meaning=meaning
        )


def _sources(form: Any, path: str = "") -> Iterator[tuple[str, tuple[str, object]]]:
    """Path of a component → its dotted name and the digest of its source."""
    if isinstance(form, Mapping):
        name = form.get("is", form.get("type"))
        component = isinstance(name, str) and "fields" in form
        if component and path not in ("", "task"):
            yield path, (str(name), form.get("source"))
        parts = (form["fields"] or {}) if component else form
        for key, part in parts.items():
            yield from _sources(part, f"{path}.{key}" if path else str(key))
    elif isinstance(form, list):
        for place, part in enumerate(form):
            yield from _sources(part, f"{path}.{place}")


def _harness(one: Run, other: Run) -> Iterator[Difference]:
    """The version of probatum: code that a recipe does not name could have changed."""
    left, right = one.environment.get("probatum"), other.environment.get("probatum")
    if left != right:
        yield Difference(
            field="environment.probatum",
            one=left,
            other=right,
            kind=Comparability.NOTED,
            meaning="versions of probatum differ",
        )
