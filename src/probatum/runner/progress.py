"""Counters that a run keeps while it goes on; whoever shows progress reads them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from probatum.core.status import Status

__all__ = ["Progress"]


@dataclass
class Progress:
    """Written by the runner alone, read from any thread; single numbers, so no lock is needed."""

    task: str = ""
    planned: int = 0
    """Samples of the present task."""
    done: int = 0
    """Samples of it that have an outcome."""
    asked: int = 0
    """Requests that went to the model, over all tasks."""
    reused: int = 0
    """Requests that the store answered."""
    asked_again: int = 0
    """Those of `asked` that were a second time: for the noise floor."""
    executed: int = 0
    """Programs that ran in the sandbox."""
    reused_executions: int = 0
    completion_tokens: int = 0
    """Tokens that the model generated in this process."""
    statuses: Counter[Status] = field(default_factory=Counter)
    """Of the present task."""
    stopping: bool = False
    """Ctrl-C was pressed: what is in flight is finished, and nothing new is asked."""

    def begin(self, task: str, planned: int) -> None:
        """Starts the counts of a task."""
        self.task, self.planned, self.done = task, planned, 0
        self.statuses = Counter()

    def plain(self) -> dict[str, int]:
        """What this process paid for, and what it found paid; second askings where there were any."""
        again = {"model_calls_asked_again": self.asked_again} if self.asked_again else {}
        return {
            "model_calls": self.asked,
            "reused_responses": self.reused,
            "executions": self.executed,
            "reused_executions": self.reused_executions,
            "completion_tokens": self.completion_tokens,
            **again,
        }
