"""A run as it is read back: estimates, statuses, samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from probatum.core.records import Estimate
from probatum.core.run import Run, RunState, Sample, TaskRun
from probatum.runner.display import run_html
from probatum.runner.invariants import kept_faults
from probatum.runner.noise import NoiseFloor, noise_floor_of, told_noise
from probatum.runner.summaries import task_estimates
from probatum.store import Store, open_store

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EvaluatedRun", "load_run", "task_estimates"]


@dataclass(frozen=True)
class EvaluatedRun:
    """One run with the store it lies in; whoever reads samples closes the store after."""

    record: Run
    store: Store

    @property
    def id(self) -> str:
        """The run's id."""
        return self.record.id

    @property
    def complete(self) -> bool:
        """Whether every sample has an outcome and few enough of them are faults."""
        return self.record.state is RunState.COMPLETE

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """Invariants that the run breaks, a line each; none is good. Reads the store once.

        Raises:
            StoreError: the store was closed before this was asked for the first time.
        """
        return kept_faults(self.record, self.store)

    @property
    def valid(self) -> bool:
        """Whether the run breaks no invariant: if it does, its numbers must not be used."""
        return not self.faults

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Estimates of all tasks, in order."""
        return tuple(one for task in self.record.tasks for one in task_estimates(task))

    @property
    def noise_floors(self) -> Mapping[str, NoiseFloor]:
        """Task → how far the model agreed with itself, of tasks a share of which was asked twice."""
        found = {task.task: noise_floor_of(task) for task in self.record.tasks}
        return {task: noise for task, noise in found.items() if noise is not None}

    @property
    def statuses(self) -> Mapping[str, Mapping[str, int]]:
        """Task → status → count."""
        return {task.task: self._statuses(task) for task in self.record.tasks}

    def _statuses(self, task: TaskRun) -> dict[str, int]:
        """Of the summary; of a task that was not summarised, what is kept so far."""
        if task.summary:
            return msgspec.convert(task.summary.get("statuses", {}), dict[str, int])
        return self.store.statuses(self.id, task.task)

    def each_sample(self) -> Iterator[Sample]:
        """Samples whole, task by task, in the order of the items; streamed."""
        for task in self.record.tasks:
            yield from self.store.samples(self.id, task.task)

    def samples(self) -> pa.Table:
        """One row a sample, as an Arrow table."""
        from probatum.runner.tables import sample_table  # noqa: PLC0415 - pyarrow takes 0.2 s to import

        return sample_table(self.each_sample())

    def _repr_html_(self) -> str:
        """What a notebook shows: estimates and statuses, every text escaped."""
        estimates = {task.task: task_estimates(task) for task in self.record.tasks}
        noise = {task: told_noise(found) for task, found in self.noise_floors.items()}
        return run_html(self.record, estimates, self.statuses, noise, self.faults)

    def plain(self) -> dict[str, Any]:
        """The object that `--json` prints (design §5)."""
        return {
            "run": self.id,
            "protocol": self.record.options.get("protocol_digest"),
            "model": f"{self.record.model.provider}/{self.record.model.name}",
            "state": self.record.state.value,
            "complete": self.complete,
            "valid": self.valid,
            "faults": list(self.faults),
            "tasks": [
                {
                    "task": task.task,
                    "protocol": task.protocol,
                    "planned": task.planned,
                    "estimates": [asdict(estimate) for estimate in task_estimates(task)],
                    "statuses": self._statuses(task),
                    "noise_floor": task.summary.get("noise_floor"),
                    "notes": list(_strings(task.summary.get("notes"))),
                }
                for task in self.record.tasks
            ],
        }


def _strings(value: object) -> list[str]:
    return msgspec.convert(value or [], list[str])


def load_run(store: str | Store, run: str = "latest") -> EvaluatedRun:
    """A run of a store, by its id, the beginning of it, or `latest`.

    Raises:
        StoreError: the store cannot be read.
        UsageError: there is no such run, or there are several.
    """
    opened = open_store(store) if isinstance(store, str) else store
    return EvaluatedRun(opened.run(run), opened)
