"""Several samples a task: pass@k, pass^k, and problems without samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probatum import stats
from probatum.benchmarks import find_task
from probatum.core.records import Mark
from probatum.core.status import Status
from probatum.scoring.metrics import PassAtK
from tests.cases.frame import Given, Said, agree, begins, operation
from tests.cases.statistics import refused

UNDEFINED = ("null", "undefined", "error", "none")


def value_or_undefined(ours: Any, expected: Any) -> bool:
    """A value, or words for "there is none"; expected ``None`` is such a word."""
    if isinstance(ours, Said):
        return expected is None or (
            isinstance(expected, str) and any(begins(expected, word) for word in UNDEFINED)
        )
    if isinstance(ours, list):
        return len(ours) == len(expected) and all(map(value_or_undefined, ours, expected))
    if isinstance(ours, dict):
        return all(key in ours and value_or_undefined(ours[key], value) for key, value in expected.items())
    return agree(ours, expected)


TRIALS = ("trials", "runs", "results", "episodes")


def estimate(of: Callable[..., Any], given: Given) -> Any:
    ks = given["k"]
    listed = next((given[name] for name in TRIALS if name in given), None)
    if listed is not None:
        tasks = listed if isinstance(listed[0], list) else [listed]
        n, c = [len(task) for task in tasks], [sum(map(bool, task)) for task in tasks]
        whole = {stats.pass_at_k: stats.pass_at_k_interval, stats.pass_hat_k: stats.pass_hat_k_interval}[of]
        found = refused(lambda: whole(n, c, ks))
        if isinstance(found, Said):
            return found
        return Said("undefined", "; ".join(found.warnings)) if found.value is None else found.value
    if isinstance(ks, list):
        return [refused(lambda k=k: of(given["n"], given["c"], k)) for k in ks]
    return refused(lambda: of(given["n"], given["c"], ks))


@operation("pass_at_k", agrees=value_or_undefined)
def pass_at_k(given: Given) -> Any:
    return estimate(stats.pass_at_k, given)


@operation("pass_hat_k", "pass_power_k", agrees=value_or_undefined)
def pass_hat_k(given: Given) -> Any:
    return estimate(stats.pass_hat_k, given)


def over_tasks(of: Callable[..., Any], given: Given) -> Any:
    tasks = given["tasks"]
    n, c = [task[0] for task in tasks], [task[1] for task in tasks]
    found = refused(lambda: of(n, c, given["k"]))
    if isinstance(found, Said):
        return found
    return Said("undefined", "; ".join(found.warnings)) if found.value is None else found.value


@operation("pass_at_k_mean", agrees=value_or_undefined)
def pass_at_k_mean(given: Given) -> Any:
    return over_tasks(stats.pass_at_k_interval, given)


@operation("pass_hat_k_mean", agrees=value_or_undefined)
def pass_hat_k_mean(given: Given) -> Any:
    return over_tasks(stats.pass_hat_k_interval, given)


def denominator_is_stated(ours: dict[str, Any], expected: str) -> bool:
    """The right value names denominator and coverage: "denominator 19 stated, plus coverage 19/164"."""
    stated = f"denominator {ours['n']}" in expected or f"{ours['n']}/" in expected
    return (
        stated
        and f"{ours['n']}/{ours['problems']}" in expected
        and abs(ours["coverage"] - ours["share"]) < 1e-12
    )


@operation("pass_at_k_subset", agrees=denominator_is_stated)
def pass_at_k_subset(given: Given) -> dict[str, Any]:
    """Problems without samples through the metric that runs use: they lower the coverage, and are not wrong."""
    total, present = given["problems_total"], given["problems_with_samples"]
    marks = [Mark(str(place), 0, Status.SCORED, {"passed": 1.0}) for place in range(present)]
    marks += [Mark(str(place), 0, Status.INFRA_ERROR, {}) for place in range(present, total)]
    found = PassAtK(ks=(1,)).estimate(marks, find_task("mini_code"), 0.95)[0]
    return {"n": found.n, "problems": total, "coverage": found.coverage, "share": present / total}
