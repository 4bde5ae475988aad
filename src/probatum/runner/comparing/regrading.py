"""Kept responses of one run, graded by the rules and golds of another: nothing is asked or executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from probatum.core.canonical import canonical
from probatum.core.errors import ProbatumError
from probatum.core.protocol import ProgramScorer, Scorer, Task
from probatum.core.records import Item, Outcome, Program, Response
from probatum.core.run import Sample, TaskRun
from probatum.core.status import Status
from probatum.runner.rescoring import stored_protocol
from probatum.store import Store

__all__ = ["Rules", "regraded", "rules_of"]


@dataclass(frozen=True)
class Rules:
    """How a run reads and grades."""

    form: object
    recipe: object
    """The scorer in canonical form, with the digest of its source."""
    scorer: Scorer | ProgramScorer | None
    """`None` where today's code is not that of the run."""
    missing: str | None = None
    """Why there is none."""


def rules_of(record: TaskRun, task: Task | None = None) -> Rules:
    """The rules of a stored task, if the code of today is the code of then.

    Args:
        record: as the store has it.
        task: its definition; `None`: the benchmark of its name.
    """
    recipe = _recipe(record)
    form = recipe.get("form")
    then = _part(recipe, "task").get("scorer")
    try:
        protocol = stored_protocol(record, task)
        today = _part(_fields(canonical(protocol)), "task").get("scorer")
    except (ProbatumError, KeyError, TypeError, ValueError, StopIteration) as error:
        why = (
            f"its task cannot be had ({error})"
            if isinstance(error, ProbatumError)
            else "its recipe is unknown"
        )
        return Rules(form, then, None, why)
    if today != then:
        return Rules(form, then, None, "its rules are not those of today's code")
    return Rules(form, then, protocol.scorer)


def regraded(sample: Sample, item: Item, scorer: Scorer | ProgramScorer, store: Store) -> Outcome | None:
    """The outcome of a sample's kept responses under another scorer or another gold.

    Returns:
        `None` where it cannot be told without executing a program that was not executed.
    """
    given = [response for response in sample.responses if response is not None]
    if sample.outcome.status is Status.INVALID_ITEM or len(given) < len(sample.responses) or not given:
        return sample.outcome
    try:
        if isinstance(scorer, ProgramScorer):
            return _executed(sample, item, scorer, given, store)
        return scorer.grade(item, sample.outcome.sample, given)
    except Exception:  # noqa: BLE001 - the boundary of graders, ours and others'
        return replace(sample.outcome, status=Status.GRADER_ERROR, scores={})


def _executed(
    sample: Sample, item: Item, scorer: ProgramScorer, given: list[Response], store: Store
) -> Outcome | None:
    """By the execution that the sample has, where the program is the same whatever its limits."""
    what = scorer.program(item, sample.outcome.sample, given)
    if not isinstance(what, Program):
        return what
    execution = sample.outcome.execution
    if execution is None:
        return None
    ran = store.programs([execution.program]).get(execution.program)
    if ran is None or replace(what, limits=ran.limits) != ran:
        return None
    return scorer.verdict(item, sample.outcome.sample, given, execution)


def _recipe(record: TaskRun) -> dict[str, Any]:
    return _fields(record.recipe.get("protocol"))


def _part(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _fields(fields.get(name))


def _fields(component: Any) -> dict[str, Any]:
    return dict(component["fields"]) if isinstance(component, Mapping) and "fields" in component else {}
