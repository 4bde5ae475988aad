"""An evaluation as a test of pytest: it asserts by intervals, and says when it cannot tell.

    def test_the_model_still_adds(evaluation):
        run = evaluation("mini", model="llamacpp/gemma-3-270m")
        evaluation.at_least(run, 0.2)

    def test_the_new_model_is_no_worse(evaluation):
        evaluation.no_worse(evaluation.load("new-model"), evaluation.load("old-model"), max_drop=0.02)

Installed with probatum; pytest's own `--junitxml` has the numbers as properties of the test. A threshold on
the point estimate alone fails by chance, or passes by chance: here a claim is shown, refuted, or undecided.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pytest

import probatum as pb
from probatum.core.errors import UsageError

if TYPE_CHECKING:
    from probatum.core.records import Estimate
    from probatum.runner import EvaluatedRun
    from probatum.runner.comparing import Gate
    from probatum.store import Store

__all__ = ["Evaluation", "evaluation", "pytest_addoption"]

Undecided = Literal["fail", "skip"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--probatum-store`, also as `probatum_store` of the configuration."""
    words = "Store of the fixture `evaluation`; by default PROBATUM_STORE, then a temporary one."
    parser.getgroup("probatum").addoption("--probatum-store", metavar="URL", help=words)
    parser.addini("probatum_store", words)


@dataclass(frozen=True)
class Evaluation:
    """What a test evaluates and asserts with; called, it evaluates."""

    store: Store
    properties: list[tuple[str, object]]
    """Of the test: what `--junitxml` writes beside it."""

    def __call__(self, tasks: Any, *, model: Any, **choices: Any) -> EvaluatedRun:
        """`probatum.evaluate` with the store of the session: what was asked before is not asked again."""
        return pb.evaluate(tasks, model=model, store=self.store, **choices)

    def load(self, run: str) -> EvaluatedRun:
        """A run of the store: its id, the beginning of it, `latest`, or the name of its model."""
        comparing = importlib.import_module("probatum.runner.comparing")
        return pb.EvaluatedRun(comparing.find_run(self.store, run), self.store)

    def at_least(
        self,
        run: EvaluatedRun,
        floor: float,
        *,
        metric: str | None = None,
        undecided: Undecided = "fail",
    ) -> Estimate:
        """Passes if the interval lies above the floor, whatever the missing samples would have been.

        Args:
            run: what was evaluated.
            floor: what the true value must not be below.
            metric: name of an estimate of the run; `None`: its first.
            undecided: what a test becomes whose interval holds the floor.

        Raises:
            UsageError: the run has no such estimate.
        """
        estimate = _estimate(run, metric)
        low, high = _limits(estimate)
        shown = f"{estimate.name} {_number(estimate.value)} [{_number(low)}, {_number(high)}]"
        self.properties.append((f"probatum {estimate.name}", f"{shown} n {estimate.n} floor {floor:g}"))
        about = f"{shown}, {100 * estimate.level:g}% of {estimate.n} items, coverage {estimate.coverage:.4f}"
        if high is not None and high < floor:
            _fail(f"shown to be below {floor:g}: {about}")
        if low is None or low < floor:
            _undecided(f"cannot tell whether it is at least {floor:g}: {about}", undecided)
        return estimate

    def no_worse(
        self,
        run: EvaluatedRun,
        baseline: EvaluatedRun,
        max_drop: float,
        *,
        undecided: Undecided = "fail",
        **choices: Any,
    ) -> Gate:
        """Passes if the run is shown to be no worse than the baseline by `max_drop`: see `probatum gate`.

        Args:
            run: what is to be let through.
            baseline: what it is held against, on the same items.
            max_drop: the loss that would matter.
            undecided: what a test becomes where neither is shown.
            choices: other arguments of `probatum.gate`.

        Raises:
            UsageError: what `gate` raises.
        """
        found = pb.gate(run, baseline, max_drop, **choices)
        told = "; ".join(f"{task.task}: {task.verdict.value}, {task.reason}" for task in found.tasks)
        for task in found.tasks:
            numbers = f"{_number(task.difference)} [{_number(task.low)}, {_number(task.high)}]"
            self.properties.append(
                (f"probatum {task.task} run - baseline", f"{numbers} max_drop {max_drop:g}")
            )
        if found.verdict.value == "fail":
            _fail(told)
        if found.verdict.value != "pass":
            _undecided(told, undecided)
        return found


@pytest.fixture(scope="session")
def _probatum_store(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The store of all tests of the session."""
    named = pytestconfig.getoption("--probatum-store") or pytestconfig.getini("probatum_store")
    named = named or os.environ.get("PROBATUM_STORE")
    opened = pb.store.open_store(named or f"sqlite:///{tmp_path_factory.mktemp('probatum') / 'probatum.db'}")
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
def evaluation(request: pytest.FixtureRequest, _probatum_store: Store) -> Evaluation:
    """Evaluates models, and asserts by intervals."""
    return Evaluation(_probatum_store, request.node.user_properties)


def _estimate(run: EvaluatedRun, metric: str | None) -> Estimate:
    estimates = run.estimates
    for estimate in estimates:
        if metric in (None, estimate.name):
            return estimate
    listed = ", ".join(repr(each.name) for each in estimates) or "none"
    raise UsageError(f"run {run.id} has no estimate {metric!r}; it has {listed}")


def _limits(estimate: Estimate) -> tuple[float | None, float | None]:
    """The interval, widened by what the missing samples could change."""
    low, high, value, bounds = estimate.low, estimate.high, estimate.value, estimate.bounds
    if low is None or high is None or value is None or bounds is None:
        return low, high
    return low - (value - bounds[0]), high + (bounds[1] - value)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _fail(reason: str) -> NoReturn:
    pytest.fail(reason, pytrace=False)


def _undecided(reason: str, undecided: Undecided) -> NoReturn:
    if undecided == "skip":
        pytest.skip(reason)
    _fail(reason)
