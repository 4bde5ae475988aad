"""What of a run is sent to others: its estimates with what defends them, and the recipe that made them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from probatum.core.errors import UsageError
from probatum.core.run import TaskRun
from probatum.runner import EvaluatedRun
from probatum.runner.result import task_estimates

__all__ = ["check_valid", "metrics_of", "params_of"]

_SIGNS: Final = re.compile(r"[^A-Za-z0-9_\-. :/]+")
"""What a name of a metric in MLflow cannot hold; the strictest of all."""
LONGEST: Final = 240
"""Characters of a name; MLflow takes 250."""


def check_valid(run: EvaluatedRun) -> None:
    """Refuses a run that breaks an invariant.

    Raises:
        UsageError: it does: its numbers must not be sent to anyone.
    """
    if run.faults:
        raise UsageError(
            f"run {run.id} is INVALID ({run.faults[0]}): its numbers are not sent; grade it again with "
            f"`probatum rescore {run.id}`"
        )


def metrics_of(run: EvaluatedRun) -> dict[str, float]:
    """Name → number: for each estimate its value, interval, bounds, n and coverage; statuses as counts.

    `mini/correct`, `mini/correct/low`, …; what has no value is left out, and so is no other number of it.
    """
    found: dict[str, float] = {}
    for task in run.record.tasks:
        for name, value in _of_task(run, task):
            if value is not None and math.isfinite(value):
                found[_free(_name(name), found)] = float(value)
    return found


def _of_task(run: EvaluatedRun, task: TaskRun) -> Iterator[tuple[str, float | None]]:
    for each in task_estimates(task):
        name = f"{task.task}/{each.name}"
        yield name, each.value
        yield f"{name}/low", each.low
        yield f"{name}/high", each.high
        yield f"{name}/n", each.n
        yield f"{name}/coverage", each.coverage
        if each.bounds is not None:
            yield f"{name}/if missing are wrong", each.bounds[0]
            yield f"{name}/if missing are right", each.bounds[1]
        yield f"{name}/chance", each.chance
    for status, count in run.statuses[task.task].items():
        yield f"{task.task}/statuses/{status}", count


def _name(text: str) -> str:
    """A name that every tracker takes: pass@1 as pass_at_1, (answered) as answered."""
    plain = text.replace("@", "_at_").replace("(", "").replace(")", "")
    return _SIGNS.sub("_", plain)[:LONGEST] or "_"


def _free(name: str, taken: Mapping[str, object]) -> str:
    """The name, or one beside it that is free: no number replaces another one."""
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def params_of(run: EvaluatedRun) -> dict[str, str]:
    """Name → text: the model and its digests, and for each task the four digests and the recipe's fields."""
    record, found = run.record, dict[str, str]()
    model = record.model
    pairs: list[tuple[str, object]] = [
        ("run", record.id),
        ("model", f"{model.provider}/{model.name}"),
        ("model digest", model.digest),
        *(
            (f"model {name}", getattr(model, name))
            for name in ("revision", "weights", "precision", "backend")
        ),
        ("protocol", record.options.get("protocol_digest")),
        ("probatum", record.environment.get("probatum")),
        ("state", record.state.value),
    ]
    for task in record.tasks:
        pairs += [
            (f"{task.task}/protocol digest", task.protocol),
            (f"{task.task}/items digest", task.items),
            (f"{task.task}/requests digest", task.requests),
            (f"{task.task}/planned", task.planned),
            *_recipe(task),
        ]
    for name, value in pairs:
        if value not in (None, ""):
            found[_free(_name(name), found)] = value if isinstance(value, str) else json.dumps(value)
    return found


def _recipe(task: TaskRun) -> Iterator[tuple[str, object]]:
    """The fields of the protocol that are one value each; components by their name."""
    protocol: Any = task.recipe.get("protocol")
    fields = protocol.get("fields", {}) if isinstance(protocol, Mapping) else {}
    for name, value in fields.items():
        if isinstance(value, Mapping) and name != "task":
            inner = value.get("fields")
            if isinstance(inner, Mapping):
                yield from ((f"{task.task}/{name}.{one}", each) for one, each in inner.items())
        elif not isinstance(value, Mapping):
            yield f"{task.task}/{name}", value
    inside = fields.get("task")
    own = inside.get("fields", {}) if isinstance(inside, Mapping) else {}
    for name in ("version", "unit", "licence"):
        yield f"{task.task}/task.{name}", own.get(name)
    for name in ("scorer", "policy"):
        part = own.get(name)
        if isinstance(part, Mapping):
            yield f"{task.task}/task.{name}", str(part.get("is", "")).rpartition(".")[2]
