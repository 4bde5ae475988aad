"""What is written down of a run, so that its numbers can be made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from probatum.core.records import Identity, Item, Outcome, Request, Response

__all__ = ["Run", "RunState", "Sample", "TaskRun"]


class RunState(StrEnum):
    """Where a run stands. `running` in a store that nobody writes to means that it was killed."""

    RUNNING = "running"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    """Every sample has an outcome, but too many of them are failures."""
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class TaskRun:
    """One task of a run: its recipe, its rows, and what came out."""

    task: str
    protocol: str
    """Digest of the protocol."""
    recipe: Mapping[str, object]
    """Canonical form of the protocol: every field, as plain JSON data."""
    items: str
    """Digest of the items as parsed, in order."""
    requests: str | None = None
    """Digest of what the model was asked, in order; `None` until all is planned."""
    planned: int = 0
    """Samples: items × samples an item."""
    origin: Mapping[str, object] = field(default_factory=dict)
    """Where the rows came from: kind, location, revision, digests of the files."""
    summary: Mapping[str, object] = field(default_factory=dict)
    """Estimates, status counts and notes, as plain JSON data."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One model on some tasks.

    The id follows from the digests, so that a run that is started again is the same run.
    """

    id: str
    model: Identity
    tasks: tuple[TaskRun, ...]
    state: RunState
    created: str
    """UTC, ISO 8601."""
    updated: str
    options: Mapping[str, object] = field(default_factory=dict)
    """The effective options, defaults included."""
    environment: Mapping[str, object] = field(default_factory=dict)
    """Versions of probatum and of what it stands on, platform, isolation level, commit."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One sample whole: for reports, exports and grading again without a model."""

    task: str
    position: int
    """Place of the item in the data set."""
    item: Item
    requests: tuple[Request, ...]
    responses: tuple[Response | None, ...]
    """`None` where no answer is kept: it failed, and will be asked again."""
    outcome: Outcome
