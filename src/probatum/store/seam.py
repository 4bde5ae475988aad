"""What the runner needs of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol as Interface

from probatum.core.records import Execution, Item, Mark, Outcome, Program, Request, Response
from probatum.core.run import Run, Sample

__all__ = ["Store"]


class Store(Interface):
    """Keeps what was paid for.

    Every `keep_…` call is one transaction: when it returns, the rows are with the operating system,
    and survive the death of this process.
    """

    def responses(self, model: str, keys: Sequence[str]) -> dict[str, Response]:
        """Those of `keys` (`Request.key`) that this model (identity digest) has answered."""
        ...

    def keep_responses(self, model: str, answered: Sequence[tuple[Request, Response]]) -> dict[str, Response]:
        """Keeps answers; a response that is not `answered` is left out: failures are never hits.

        Returns:
            By key, what another process had kept before under the same key, where it differs: that
            stands, and is what to grade. Empty as a rule.
        """
        ...

    def executions(self, environment: str, programs: Sequence[str]) -> dict[str, Execution]:
        """Those of `programs` (`Program.digest`) that ran in this environment (digest)."""
        ...

    def keep_executions(self, environment: str, executed: Sequence[tuple[Program, Execution]]) -> None:
        """Keeps executions; a `sandbox_error` is left out."""
        ...

    def programs(self, digests: Sequence[str]) -> dict[str, Program]:
        """Those of `digests` (`Program.digest`) that were executed, whole."""
        ...

    def open_run(self, run: Run) -> Run:
        """Writes the run down as running; merges it with the one of that id, whose `created` stays."""
        ...

    def close_run(self, run: Run) -> None:
        """Writes state, summaries and digests of a run that ended, however it ended."""
        ...

    def runs(self) -> list[Run]:
        """All runs, newest first."""
        ...

    def run(self, prefix: str) -> Run:
        """The run whose id begins so; `latest` is the one last updated.

        Raises:
            UsageError: none, or several.
        """
        ...

    def keep_outcomes(
        self, run: str, task: str, graded: Sequence[tuple[int, Item, tuple[Request, ...], Outcome]]
    ) -> None:
        """Keeps outcomes with the item, its position and the requests asked; replaces earlier ones."""
        ...

    def statuses(self, run: str, task: str) -> dict[str, int]:
        """Status → count."""
        ...

    def marks(self, run: str, task: str) -> Iterator[Mark]:
        """Outcomes as summarising needs them, by position and sample."""
        ...

    def item_digests(self, run: str, task: str) -> dict[str, str]:
        """Item id → digest of the item, in the order of the items."""
        ...

    def unanswered(self, run: str, task: str) -> list[tuple[str, int]]:
        """Item id and sample of each scored sample of which a response is not kept."""
        ...

    def misnamed(self, run: str, task: str) -> list[tuple[str, str]]:
        """Item id of a sample and that of the item kept with it, of each sample where they differ."""
        ...

    def samples(self, run: str, task: str, *, answers: str | None = None) -> Iterator[Sample]:
        """Samples whole, by position and sample, streamed.

        `answers` is the digest under which their responses are kept; `None`: that of the run's model.
        """
        ...

    def close(self) -> None:
        """Brings everything to the disk."""
        ...
