"""Means, errors, intervals, tests and what must hold of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from probatum import stats
from probatum.benchmarks import find_task
from probatum.core.errors import ProbatumError
from probatum.core.records import Estimate, Mark
from probatum.core.status import Status
from probatum.runner.options import Options
from probatum.scoring.invariants import broken_counts, broken_scores
from probatum.scoring.metrics import Rate
from probatum.scoring.tally import answered_share, count_statuses
from tests.cases.frame import Given, NotMappedError, Said, agree, begins, operation


def refused(call: Callable[[], Any]) -> Any:
    """What `call` returns; where ours refuses, that it does."""
    try:
        return call()
    except (ValueError, ProbatumError) as error:
        return Said("error", str(error))


def value_or_null(ours: Any, expected: Any) -> bool:
    """A value by `agree`; where ours is undefined, words such as "null with n=1"."""
    if isinstance(ours, Said) or ours is None:
        words = ("null", "undefined", "error", "none", "not estimable")
        return expected is None or (
            isinstance(expected, str) and any(begins(expected, word) for word in words)
        )
    return agree(ours, expected)


def error_of(subtask: Mapping[str, Any]) -> float:
    if "stderr" in subtask:
        return float(subtask["stderr"])
    found = stats.bernoulli_standard_error(subtask["acc"], subtask["n"])
    if found is None:
        raise NotMappedError("a subtask of 1 item has no standard error")
    return found


@operation("group")
def group(given: Given) -> dict[str, Any]:
    parts = given["subtasks"]
    values, sizes = [part["acc"] for part in parts], [part["n"] for part in parts]
    errors = [error_of(part) for part in parts]
    micro, macro = (stats.combine_strata(values, errors, sizes, weights) for weights in ("size", "equal"))
    headline = micro if given["weight_by_size"] else macro
    return {"mean": headline.value, "stderr": headline.se, "weighted": micro.value, "simple": macro.value}


@operation("bootstrap_se")
def bootstrap_se(given: Given) -> dict[str, float]:
    return {"bootstrap": stats.ideal_bootstrap_error(given["values"])}


def rate_of(marks: list[Mark]) -> tuple[Estimate, Estimate]:
    """The end-to-end rate and the rate among answers, through the metric that runs use."""
    found = Rate(score="correct").estimate(marks, find_task("mini"), 0.95)
    return found[0], found[1]


def scored(values: list[float], status: Status = Status.SCORED, first: int = 0) -> list[Mark]:
    marks = []
    for place, value in enumerate(values, first):
        scores = {"correct": float(value)} if status is Status.SCORED else {}
        marks.append(Mark(str(place), 0, status, scores))
    return marks


@operation("mean")
def mean(given: Given) -> Any:
    if given["values"]:
        return refused(lambda: stats.mean_interval(given["values"]).value)
    whole, _ = rate_of([])
    return Said("null", f"n={whole.n}") if whole.value is None else whole.value


@operation("accuracy")
def accuracy(given: Given) -> dict[str, Any]:
    right, wrong, errored = given["correct"], given["incorrect"], given["errored"]
    marks = scored([1.0] * right + [0.0] * wrong) + scored([0.0] * errored, Status.MODEL_ERROR, right + wrong)
    whole, answered = rate_of(marks)
    statuses = count_statuses(marks)
    complete = answered_share(statuses) >= Options().minimum_answered
    return {
        "status": "complete" if complete else "incomplete",
        "scored": statuses.get(Status.SCORED, 0),
        "errored": statuses.get(Status.MODEL_ERROR, 0),
        "accuracy_scored": answered.value,
        "accuracy_all": whole.value,
        "coverage": answered.coverage,
    }


@operation("accuracy_values")
def accuracy_values(given: Given) -> Any:
    return refused(lambda: rate_of(scored(given["values"]))[0].value)


def errors_agree(ours: Any, expected: Any) -> bool:
    """Errors by name or the clustered one alone; where one cluster leaves none, words that say so."""
    if isinstance(ours, Said) or isinstance(expected, dict):
        return value_or_null(ours, expected)
    return value_or_null(ours["clustered_cr0"], expected) or value_or_null(ours["clustered_cr2"], expected)


@operation("clustered_se", agrees=errors_agree)
def clustered_se(given: Given) -> Any:
    def errors() -> dict[str, Any]:
        values, clusters = given["values"], given["clusters"]
        by = {f"clustered_{kind.casefold()}": kind for kind in ("CR0", "CR1", "CR2")}
        found = {name: stats.mean_interval(values, clusters, method=kind) for name, kind in by.items()}
        return {
            **{name: interval.se for name, interval in found.items()},
            "naive": stats.mean_interval(values).se,
            "clusters": found["clustered_cr0"].clusters,
        }

    return refused(errors)


@operation("mcnemar", "mcnemar_exact", unused=("both_right", "both_wrong"))
def mcnemar_exact(given: Given) -> dict[str, Any]:
    return {"p": stats.mcnemar(given["only_a_right"], given["only_b_right"]).p_value}


@operation("tied_groups")
def tied_groups(given: Given) -> Any:
    p_values = given["mcnemar_vs_top"] if "mcnemar_vs_top" in given else given["p_vs_top"]
    return stats.groups_from_leader("top", p_values, given["alpha"])


@operation("wilson")
def wilson(given: Given) -> Any:
    def limits() -> dict[str, Any]:
        found = stats.proportion_interval(
            given["successes"], given["n"], "wilson", given.get("conf", given.get("level", 0.95))
        )
        return {"low": found.low, "high": found.high, "value": found.value}

    return refused(limits)


@operation("standard_error", "stderr", "se", "mean_stderr", "mean_se", "sem", agrees=value_or_null)
def standard_error(given: Given) -> Any:
    if "values" in given:
        found = refused(lambda: stats.mean_interval(given["values"]))
        if isinstance(found, Said):
            return found
        return Said("null", "; ".join(found.warnings)) if found.se is None else found.se
    return stats.bernoulli_standard_error(given["p"], given["n"])


@operation("paired_difference", "paired_se", "paired_diff", "paired_stderr", agrees=value_or_null)
def paired(given: Given) -> Any:
    found = refused(lambda: stats.paired_difference(given["a"], given["b"]))
    if isinstance(found, Said):
        return found
    names = {"difference": found.value, "diff": found.value, "mean": found.value, "mean_diff": found.value}
    return {**names, "se": found.se, "stderr": found.se, "paired_se": found.se}


@operation("confidence_interval", "ci", "interval", agrees=value_or_null)
def confidence_interval(given: Given) -> Any:
    """Wilson's of a rate, by counts or by values that are 0 or 1; otherwise t over items."""
    level = given.get("conf", given.get("level", 0.95))
    values = given.get("values")

    def found() -> dict[str, Any]:
        if values is None:
            whole = stats.proportion_interval(given["successes"], given["n"], "wilson", level)
        elif set(values) <= {0, 1} and values:
            whole = stats.proportion_interval(int(sum(values)), len(values), "wilson", level)
        else:
            whole = stats.mean_interval(values, level=level)
        return {"low": whole.low, "high": whole.high, "value": whole.value, "se": whole.se, "n": whole.n}

    return refused(found)


@operation("sign_flip", "permutation_test")
def sign_flip(given: Given) -> Any:
    differences = [a - b for a, b in zip(given["a"], given["b"], strict=True)]
    return refused(lambda: {"p": stats.sign_flip_test(differences).p_value})


@operation("adjust_pvalues", "holm", "benjamini_hochberg")
def adjust(given: Given) -> Any:
    method = {"holm": "holm", "benjamini_hochberg": "bh"}.get(given["op"]) or given["method"]
    return refused(lambda: list(stats.adjust_pvalues(given["p_values"], method)))


@operation("invariant")
def invariant(given: Given) -> Said:
    scores = {name: given[name] for name in set(given) - {"op"}}
    broken = broken_scores(scores)
    return Said("error", "; ".join(broken)) if broken else Said("holds")


def says_whether_it_holds(ours: Any, expected: Any) -> bool:
    return ("holds" in expected) is (ours.word == "holds")


@operation("count_invariant", agrees=says_whether_it_holds)
def count_invariant(given: Given) -> Said:
    total = next((name for name in ("submitted", "total", "n") if name in given), None)
    if total is None:
        raise NotMappedError("no total is named")
    parts = {name: given[name] for name in sorted(set(given) - {"op", total})}
    broken = broken_counts(given[total], parts)
    return Said("error", "; ".join(broken)) if broken else Said("holds")
