"""Runs as a store has them, made of scores: for comparisons, exports and gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from probatum.core.canonical import canonical, digest_json
from probatum.core.protocol import Protocol
from probatum.core.records import Identity, Item, Outcome, Request, Response, Sampling
from probatum.core.run import Run, RunState, TaskRun
from probatum.core.status import Status
from probatum.runner import EvaluatedRun
from probatum.scoring.tally import count_statuses
from probatum.store import Store
from tests.fakes import sums_task

NOW = "2026-11-30T10:00:00Z"
PROTOCOL = Protocol(task=sums_task(), form="completion", shots=0, samples=1, sampling=Sampling())

Scores = Mapping[str, "float | Status | Sequence[float | Status]"]


def stored_run(
    store: Store,
    name: str,
    scores: Scores | Mapping[str, Scores],
    *,
    protocol: Protocol = PROTOCOL,
    clusters: Mapping[str, str] | None = None,
    strata: Mapping[str, str] | None = None,
    contents: Mapping[str, str] | None = None,
    score: str = "correct",
    text: str = "an answer",
    summed: bool = True,
    **run: object,
) -> EvaluatedRun:
    """A complete run of model `name`: item id → score, or status, or one of these a sample.

    Of several tasks: task → item id → …
    """
    protocol = replace(protocol, samples=max(protocol.samples, _most_samples(scores)))
    several = scores if any(isinstance(one, Mapping) for one in scores.values()) else {"sums": scores}
    identity = run.pop("model", Identity(provider="fake", name=name))
    id_ = digest_json([name, protocol.digest, identity.digest, sorted(several)])[:16]
    graded = {
        task: _graded(id_, _each(one, protocol.samples), clusters or {}, strata or {}, contents or {}, score)
        for task, one in several.items()
    }
    tasks = tuple(
        TaskRun(
            task=task,
            protocol=protocol.digest,
            recipe={"protocol": canonical(protocol)},
            items=digest_json([item.digest for _, item, _, outcome in rows if outcome.sample == 0]),
            requests=digest_json([request.digest for _, _, asked, _ in rows for request in asked]),
            planned=len(rows),
        )
        for task, rows in graded.items()
    )
    record = Run(id=id_, model=identity, tasks=tasks, state=RunState.RUNNING, created=NOW, updated=NOW, **run)
    store.open_run(record)
    for task, rows in graded.items():
        store.keep_responses(
            identity.digest,
            [(asked, Response(request=asked.key, text=text)) for _, _, (asked,), _ in rows],
        )
        store.keep_outcomes(id_, task, rows)
    if summed:
        tasks = tuple(_summed(store, id_, task, protocol, score) for task in tasks)
    closed = replace(record, state=RunState.COMPLETE, tasks=tasks)
    store.close_run(closed)
    return EvaluatedRun(closed, store)


def _each(scores: Scores, samples: int) -> Scores:
    """With what one score says said of each sample."""
    return {name: one if isinstance(one, (list, tuple)) else [one] * samples for name, one in scores.items()}


def _most_samples(scores: Mapping[str, object]) -> int:
    """Samples an item, of whatever task."""
    lists = [one for one in scores.values() if isinstance(one, (list, tuple))]
    inner = [_most_samples(one) for one in scores.values() if isinstance(one, Mapping)]
    return max([1, *inner, *map(len, lists)])


def _summed(store: Store, run: str, task: TaskRun, protocol: Protocol, score: str) -> TaskRun:
    """With the estimates of the task's own metrics, where they are of this score."""
    marks = list(store.marks(run, task.task))
    metrics = [metric for metric in protocol.task.metrics if metric.score == score]
    estimates = [asdict(one) for metric in metrics for one in metric.estimate(marks, protocol.task, 0.95)]
    statuses = {status.value: count for status, count in count_statuses(marks).items()}
    return replace(task, summary={"estimates": estimates, "statuses": statuses})


def _graded(
    run: str,
    scores: Scores,
    clusters: Mapping[str, str],
    strata: Mapping[str, str],
    contents: Mapping[str, str],
    score: str,
) -> list[tuple[int, Item, tuple[Request, ...], Outcome]]:
    rows = []
    for place, (name, given) in enumerate(scores.items()):
        item = Item(
            id=name,
            fields={"question": contents.get(name, name)},
            targets=("right",),
            cluster=clusters.get(name),
            stratum=strata.get(name),
        )
        for sample, one in enumerate(given if isinstance(given, (list, tuple)) else [given]):
            known = {"item_id": name, "sample": sample}
            if isinstance(one, Status):
                outcome = Outcome(**known, status=one, reason=f"told so in {run}")
            else:
                outcome = Outcome(**known, status=Status.SCORED, scores={score: float(one)}, answer="right")
            asked = Request(item_id=name, sample=sample, prompt=f"{name}?")
            rows.append((place, item, (asked,), outcome))
    return rows
