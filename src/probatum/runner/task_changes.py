"""What a run says of the file that defines its task: where it lay, and whether it has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from probatum.core.protocol import Task
from probatum.core.run import Run, TaskRun
from probatum.store import Store

__all__ = ["changed_file", "file_origin"]


def file_origin(task: Task) -> dict[str, object]:
    """What is written down of the file of a task of one's own; nothing of any other task."""
    return {} if task.file is None else {"task_file": task.file.plain()}


def changed_file(run: Run, record: TaskRun, store: Store) -> str | None:
    """A note where the task's file differs from that of the newest earlier run of it; else `None`.

    Earlier runs are those of the same file, and the one whose answers are graded again.
    """
    held = record.origin.get("task_file")
    if not isinstance(held, Mapping):
        return None
    origin = run.options.get("answers_of")
    for other in sorted(store.runs(), key=lambda one: one.created, reverse=True):
        if other.id == run.id:
            continue
        for task in other.tasks:
            before = task.origin.get("task_file")
            if task.task != record.task or not isinstance(before, Mapping):
                continue
            if before.get("path") != held.get("path") and other.id != origin:
                continue
            if before.get("sha256") == held.get("sha256") and _imports(before) == _imports(held):
                return None
            names = (
                [PurePath(str(held.get("path"))).name] if before.get("sha256") != held.get("sha256") else []
            )
            names += sorted({name for name, _ in _imports(before) ^ _imports(held)})
            return f"{', '.join(names)} changed since run {other.id}: the task is another recipe now"
    return None


def _imports(held: Mapping[str, object]) -> set[tuple[str, str]]:
    listed = held.get("imports")
    return (
        {(str(name), str(digest)) for name, digest in listed} if isinstance(listed, (list, tuple)) else set()
    )
