"""The sandbox as a run needs it: opened when the first program is to run, closed with the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from probatum.core.canonical import digest_json
from probatum.core.records import Execution, Program
from probatum.sandbox import IsolationReport, Sandbox, isolation_report
from probatum.sandbox.ladder import WEAK

__all__ = ["LazySandbox", "consent_message", "describe_isolation", "weakness"]


def consent_message(tasks: Sequence[str]) -> str:
    """Why the run is refused, what would run, and what this machine would hold it with."""
    return (
        f"{', '.join(tasks)} would execute code that the model writes, and nothing allows it. "
        f"Isolation of this machine: {describe_isolation(isolation_report(until_proven=True))}. "
        "To allow it, add --allow-code-execution (or set PROBATUM_ALLOW_CODE_EXECUTION=1)"
    )


def describe_isolation(report: IsolationReport) -> str:
    """One line: the level that was proven, or why there is none."""
    if report.level is not None:
        rung = next(rung for rung in report.rungs if rung.proven)
        held = sum(check.held for check in rung.checks)
        left_open = f"; not held: {'; '.join(rung.not_held)}" if rung.not_held else ""
        return f"{report.level}, proven by {held} checks{left_open}"
    return "none (" + "; ".join(f"{rung.name}: {rung.reason}" for rung in report.rungs) + ")"


def weakness(isolation: object) -> str | None:
    """What whoever reads a result must know of the isolation that its record carries; `None`: nothing."""
    if not (isinstance(isolation, str) and isolation.endswith(WEAK)):
        return None
    return f"code was executed under {isolation}: `probatum doctor` tells what that does not hold"


class LazySandbox:
    """A sandbox that costs nothing until a program is to run."""

    def __init__(self, workers: int | None) -> None:
        self._workers = workers
        self._sandbox: Sandbox | None = None

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, opened at the first call.

        Raises:
            SandboxError: this machine offers no isolation.
        """
        if self._sandbox is None:
            self._sandbox = Sandbox(workers=self._workers)
        return self._sandbox

    @property
    def isolation(self) -> str:
        """The level of isolation that was proven."""
        return self.sandbox.isolation

    @property
    def proven(self) -> str | None:
        """The level of isolation, if the sandbox was opened: nothing is opened to find out."""
        return None if self._sandbox is None else self._sandbox.isolation

    @property
    def environment_digest(self) -> str:
        """Digest of what an execution depends on besides its program."""
        return digest_json(dict(self.environment))

    @property
    def environment(self) -> Mapping[str, object]:
        """What an execution depends on besides its program."""
        return self.sandbox.environment

    def execute(self, programs: Iterable[Program]) -> Iterator[Execution]:
        """Runs each program once, in any order."""
        return self.sandbox.execute(programs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sandbox is not None:
            self._sandbox.close()
