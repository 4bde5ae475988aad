"""What stands in the summary of a task."""

from __future__ import annotations

import msgspec

from probatum.core.errors import StoreError
from probatum.core.records import Estimate
from probatum.core.run import TaskRun

__all__ = ["task_estimates"]


def task_estimates(task: TaskRun) -> tuple[Estimate, ...]:
    """The estimates that stand in a task's summary.

    Raises:
        StoreError: somebody changed them, and they are none.
    """
    try:
        return tuple(msgspec.convert(task.summary.get("estimates", []), list[Estimate]))
    except msgspec.ValidationError as error:
        raise StoreError(
            f"the summary of task {task.task!r} is damaged ({error}); `probatum rescore` makes it again"
        ) from error
