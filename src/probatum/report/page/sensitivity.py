"""How far a score hangs on the prompt: runs of one model on the same items, asked in different words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from probatum import stats
from probatum.core.comparability import Comparability, Difference
from probatum.core.errors import UsageError
from probatum.core.run import Run, TaskRun
from probatum.report.page.means import score_interval
from probatum.runner.comparing.pairing import Scores, load_scores
from probatum.runner.comparing.protocols import made_elsewhere, protocol_differences
from probatum.runner.result import EvaluatedRun

__all__ = ["PromptSensitivity", "PromptVariant", "prompt_sensitivity"]

_PROMPTS: Final = "prompts differ"
_IN_HAND: Final = 2
"""Variants that make a comparison, and items that have a spread."""


@dataclass(frozen=True)
class PromptVariant:
    """One way of asking."""

    letter: str
    differs: tuple[str, ...]
    """Fields in which it differs from the first variant; none for the first itself."""
    estimate: stats.Interval
    """On the items that all variants have."""


@dataclass(frozen=True)
class PromptSensitivity:
    """One task of one model, asked in several ways, on the items that all of them have."""

    task: str
    model: str
    score: str
    variants: tuple[PromptVariant, ...]
    items: int
    spread: float
    """Highest mean minus lowest; above 0 by chance alone."""
    deviation: float | None
    """Standard deviation between prompts beyond what items make by chance; `None` of fewer than two items."""
    changed: int
    """Items whose score is not the same under all prompts."""
    p_value: float | None
    method: str
    """Of the test that all prompts have one mean."""

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {**vars(self), "variants": [vars(each) for each in self.variants]}


def prompt_sensitivity(
    named: Sequence[tuple[str, EvaluatedRun]], level: float
) -> tuple[PromptSensitivity, ...]:
    """Every group of two runs or more that differ in the prompt alone: same model, same items, same grading.

    Args:
        named: letter and run.
        level: of the intervals.
    """
    tasks = dict.fromkeys(task.task for _, run in named for task in run.record.tasks)
    groups = ((name, group) for name in tasks for group in _groups(named, name))
    return tuple(found for name, group in groups if (found := _of_group(name, group, level)) is not None)


def _groups(named: Sequence[tuple[str, EvaluatedRun]], name: str) -> Iterator[list[tuple[str, EvaluatedRun]]]:
    """Runs of one task, by what they may differ in; each group has variants of one prompt."""
    groups: list[list[tuple[str, EvaluatedRun]]] = []
    for sign, run in named:
        record = _record(run, name)
        if record is None or not record.summary or record.requests is None or made_elsewhere(record):
            continue
        home = next((group for group in groups if _varies(group[0][1], run, name)), None)
        if home is None:
            groups.append([(sign, run)])
        elif all(_asked(run, name) != _asked(other, name) for _, other in home):
            home.append((sign, run))  # the same requests again are another run, and no other prompt
    yield from (group for group in groups if len(group) >= _IN_HAND)


def _record(run: EvaluatedRun, name: str) -> TaskRun | None:
    return next((task for task in run.record.tasks if task.task == name), None)


def _asked(run: EvaluatedRun, name: str) -> str | None:
    record = _record(run, name)
    return None if record is None else record.requests


def _varies(one: EvaluatedRun, other: EvaluatedRun, name: str) -> bool:
    """Whether two runs differ in the prompt and, notes aside, in nothing else."""
    if not _same_model(one.record, other.record):
        return False
    left, right = _record(one, name), _record(other, name)
    if left is None or right is None:
        return False
    telling = _telling(one.record, left, other.record, right)
    return bool(telling) and all(each.meaning == _PROMPTS for each in telling)


def _same_model(one: Run, other: Run) -> bool:
    left, right = one.model, other.model
    same = (left.provider, left.name, left.revision) == (right.provider, right.name, right.revision)
    return same and left.weights == right.weights


def _telling(one: Run, left: TaskRun, other: Run, right: TaskRun) -> list[Difference]:
    found = protocol_differences(one, left, other, right)
    return [each for each in found if each.kind is Comparability.REFUSED]


def _of_group(task: str, group: Sequence[tuple[str, EvaluatedRun]], level: float) -> PromptSensitivity | None:
    first = group[0][1]
    try:
        loaded = [(sign, load_scores(run, task, None, answered=False)) for sign, run in group]
    except UsageError:
        return None  # the task measures nothing that has a mean over items
    names = _common([scores for _, scores in loaded])
    if not names or len({scores.score for _, scores in loaded}) > 1:
        return None
    units = loaded[0][1].units
    labels = [units[name].cluster for name in names]
    clusters = None if len(set(labels)) == len(labels) else labels
    table = np.array([[scores.units[name].mean for _, scores in loaded] for name in names])
    variants = [
        PromptVariant(sign, _fields(first, run, task), score_interval(table[:, place], labels, level))
        for place, (sign, run) in enumerate(group)
    ]
    means = table.mean(axis=0)
    p_value, method = _test(table, clusters)
    model = first.record.model
    return PromptSensitivity(
        task=task,
        model=f"{model.provider}/{model.name}",
        score=loaded[0][1].score,
        variants=tuple(variants),
        items=len(names),
        spread=float(means.max() - means.min()),
        deviation=_deviation(table),
        changed=int((table != table[:, :1]).any(axis=1).sum()),
        p_value=p_value,
        method=method,
    )


def _common(loaded: Sequence[Scores]) -> list[str]:
    """Items that every variant has a counted sample of."""
    return [
        name
        for name in loaded[0].units
        if all(name in scores.units and scores.units[name].counted for scores in loaded)
    ]


def _fields(first: EvaluatedRun, run: EvaluatedRun, task: str) -> tuple[str, ...]:
    left, right = _record(first, task), _record(run, task)
    if left is None or right is None or run is first:
        return ()
    return tuple(each.field for each in _telling(first.record, left, run.record, right))


def _deviation(table: npt.NDArray[np.float64]) -> float | None:
    """Of prompts as drawn from many: (MS of prompts - MS of items × prompts) / items, two-way ANOVA."""
    items, prompts = table.shape
    if items < _IN_HAND:
        return None
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    of_rest = float((rest**2).sum()) / ((items - 1) * (prompts - 1))
    of_prompts = items * float(table.mean(axis=0).var(ddof=1))
    return float(np.sqrt(max(of_prompts - of_rest, 0.0) / items))


def _test(table: npt.NDArray[np.float64], clusters: Sequence[str] | None) -> tuple[float | None, str]:
    """Cochran's Q of independent 0/1 scores; else the smallest of the paired tests, corrected by Holm."""
    if clusters is None and bool(np.isin(table, (0, 1)).all()):
        found = stats.cochran_q(table.astype(np.int64))
        return found.p_value, found.method
    p_values = [
        stats.sign_flip_test(table[:, i] - table[:, j], clusters=clusters).p_value
        for i in range(table.shape[1])
        for j in range(i)
    ]
    known = [each for each in p_values if each is not None]
    method = "smallest sign-flip p of all pairs, corrected by Holm"
    return (float(min(stats.adjust_pvalues(known, "holm"))) if known else None), method
