"""A leaderboard of a store: models that were asked the same, with the ranks that are not ruled out.

Runs stand in one table only if they are comparable and have the same items. A model stands in it with its
newest run under each decoding. Ties are groups; a strict order of runs that differ by noise is never made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from probatum.core.comparability import Comparability
from probatum.core.protocol import SCORED_FORMS
from probatum.core.run import Run, TaskRun
from probatum.runner.comparing.pairing import load_scores
from probatum.runner.comparing.protocols import protocol_differences
from probatum.runner.comparing.ranking import Ranking, rank
from probatum.runner.result import EvaluatedRun

__all__ = ["Leaderboard", "leaderboards"]


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """Runs of one task that were asked the same about the same items."""

    task: str
    protocol: str
    """Digest of the newest run's recipe."""
    items: str
    models: tuple[tuple[str, str], ...]
    """Run and model, the newest first."""
    ranking: Ranking | None
    """Of two runs or more, by run id; `None` where there is one, or no item that all have."""
    older: int
    """Runs of the same models and decodings that are older, and left out."""
    apart: str | None = None
    """Why these runs are not in the task's first table; `None` of that one."""

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "task": self.task,
            "protocol": self.protocol,
            "items": self.items,
            "models": [{"run": run, "model": model} for run, model in self.models],
            "ranking": None if self.ranking is None else self.ranking.plain(),
            "older": self.older,
            "apart": self.apart,
        }


def leaderboards(
    runs: Sequence[EvaluatedRun],
    *,
    tasks: Sequence[str] = (),
    score: str | None = None,
    level: float = 0.95,
) -> tuple[Leaderboard, ...]:
    """Leaderboards of runs, task by task; several of a task where its runs are not comparable.

    Args:
        runs: each with its store; those without an outcome are left out.
        tasks: these alone; none: all.
        score: which score; `None`: that of each task's first metric.
        level: probability with which all ranks of one table lie within their intervals.

    Raises:
        UsageError: a task has no such score.
    """
    newest = sorted(runs, key=lambda run: run.record.updated, reverse=True)
    names = dict.fromkeys(task.task for run in newest for task in run.record.tasks)
    found: list[Leaderboard] = []
    for name in sorted(names):
        if tasks and name not in tasks:
            continue
        tables: list[list[EvaluatedRun]] = []
        for run in newest:
            if any(one.task == name for one in run.record.tasks) and run.statuses[name]:
                table = next((each for each in tables if _apart(run, each[0], name) is None), None)
                if table is None:
                    tables.append([run])
                else:
                    table.append(run)
        for table in tables:
            apart = None if table is tables[0] else _apart(table[0], tables[0][0], name)
            found.append(replace(_board(table, name, score, level), apart=apart))
    return tuple(found)


def _record(run: Run, task: str) -> TaskRun:
    return next(one for one in run.tasks if one.task == task)


def _apart(run: EvaluatedRun, first: EvaluatedRun, task: str) -> str | None:
    """Why a run does not belong to the table of another one; `None` where it does."""
    left, right = _record(first.record, task), _record(run.record, task)
    for each in protocol_differences(first.record, left, run.record, right):
        if each.kind is Comparability.REFUSED:
            return f"{each.meaning} ({each.field})"
    return None if left.items == right.items else "it has other items, or another number of them"


def _board(table: Sequence[EvaluatedRun], task: str, score: str | None, level: float) -> Leaderboard:
    newest: dict[tuple[str, str], EvaluatedRun] = {}
    for run in table:
        newest.setdefault((run.record.model.digest, _decoding(run, task)), run)
    shown = list(newest.values())
    ranking = None
    if len(shown) > 1:
        named = [(run.id, load_scores(run, task, score, answered=False)) for run in shown]
        ranking = rank(named, frozenset(), level)
    first = _record(shown[0].record, task)
    return Leaderboard(
        task=task,
        protocol=first.protocol,
        items=first.items,
        models=tuple(zip((run.id for run in shown), _named(shown, task), strict=True)),
        ranking=ranking,
        older=len(table) - len(shown),
    )


def _named(shown: Sequence[EvaluatedRun], task: str) -> list[str]:
    """Names of models; with how it was sampled, where one is there with several decodings."""
    names = [f"{run.record.model.provider}/{run.record.model.name}" for run in shown]
    decodings = [_decoding(run, task) for run in shown]
    return [
        f"{name} ({decoding})" if decoding and names.count(name) > 1 else name
        for name, decoding in zip(names, decodings, strict=True)
    ]


def _decoding(run: EvaluatedRun, task: str) -> str:
    """How a run sampled, in words; empty where nothing is sampled, or it is not known."""
    protocol = _record(run.record, task).recipe.get("protocol")
    if not isinstance(protocol, Mapping) or protocol["fields"].get("form") in SCORED_FORMS:
        return ""
    sampling = dict(protocol["fields"]["sampling"]["fields"])
    parts = [f"temperature {sampling['temperature']:g}" if sampling.get("temperature") else "greedy"]
    if sampling.get("temperature"):
        parts += [
            f"{name} {sampling[name]:g}"
            for name, off in (("top_p", 1), ("top_k", 0))
            if sampling.get(name, off) != off
        ]
    return ", ".join(parts)
