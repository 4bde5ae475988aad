"""The extraction audit of a stored run: its responses read again, without a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from probatum.core.errors import UsageError
from probatum.core.protocol import Protocol, Task
from probatum.core.run import Run, TaskRun
from probatum.core.status import END_TO_END
from probatum.runner.rescoring import stored_protocol
from probatum.scoring.audit import ExtractionAudit, audit_extraction
from probatum.store import Store

__all__ = ["AuditedTask", "audit_run"]


@dataclass(frozen=True)
class AuditedTask:
    """One task's audit, and what must be said beside it."""

    audit: ExtractionAudit
    notes: tuple[str, ...] = ()

    def plain(self) -> dict[str, object]:
        """As JSON data."""
        return {**self.audit.plain(), "notes": list(self.notes)}


def audit_run(run: Run, store: Store, tasks: Mapping[str, Task] | None = None) -> tuple[AuditedTask, ...]:
    """Audits the extraction of each task of a run.

    The outcomes are those of the run; other readings are those of today's code, with the scorer of the
    task of today.

    Args:
        run: as the store has it.
        store: where its samples lie; they are streamed.
        tasks: tasks that are not found by their name, such as those of your own.
    """
    return tuple(_audited(run, store, record, (tasks or {}).get(record.task)) for record in run.tasks)


def _audited(run: Run, store: Store, record: TaskRun, task: Task | None) -> AuditedTask:
    notes = []
    protocol: Protocol | None = None
    try:
        protocol = stored_protocol(record, task)
    except UsageError as error:
        notes.append(f"without the task's own scorer: {error}")
    if protocol is not None and protocol.digest != record.protocol:
        notes.append("the task's recipe has changed since this run: other readings use today's scorer")
    graded = sum(store.statuses(run.id, record.task).values())
    if graded < record.planned:
        notes.append(f"the run is {run.state.value}: {graded} of {record.planned} samples are graded")
    audit = audit_extraction(
        store.samples(run.id, record.task),
        None if protocol is None else protocol.scorer,
        task=record.task,
        counted=END_TO_END if protocol is None else protocol.task.policy.counted,
    )
    return AuditedTask(audit, tuple(notes))
