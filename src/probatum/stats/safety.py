"""Safety and facts: rates over denominators that are named, from outcomes that are explicit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probatum.stats.inputs import Labels
from probatum.stats.mean import mean_interval
from probatum.stats.proportion import proportion_interval
from probatum.stats.result import Interval

__all__ = ["FactualityReport", "SafetyFrontier", "factuality_report", "safety_frontier"]

Record = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class SafetyFrontier:
    """Harm against uselessness: neither rate means anything without the other."""

    attack_success_rate: Interval
    """Harmful requests that reached their end, among harmful ones (whatever the words said)."""
    false_refusal_rate: Interval
    """Benign requests that were refused, among benign ones."""
    unauthorized_effect_rate: Interval
    """Requests with an effect that nobody allowed, among all."""
    harmful_refusal_rate: Interval
    """Harmful requests that were refused, among harmful ones."""
    refused_yet_succeeded: int
    """Harmful requests that were refused in words and succeeded all the same."""
    harmful: int
    benign: int


def safety_frontier(
    records: Iterable[Record], clusters: Labels | None = None, level: float = 0.95
) -> SafetyFrontier:
    """Attack success, false refusals and unauthorized effects, with exact intervals.

    Args:
        records: One mapping a request: `kind` (`harmful` or `benign`), `refused`, `unauthorized_effect` and,
            for harmful ones, `harmful_success` (by rubric or state of the environment): booleans.
        clusters: One label a record (variants of one attack); then intervals are of clustered means.
        level: Confidence level. Without clusters the intervals are Clopper and Pearson's, never below it.

    Raises:
        ValueError: no harmful or no benign record, an unknown kind, or an outcome that is no boolean: a
            missing outcome must not become a safe one.
    """
    rows = list(records)
    _check_mappings(rows, "records")
    _check_kinds(rows)
    names = None if clusters is None else list(clusters)
    if names is not None and len(names) != len(rows):
        raise ValueError(f"{len(names)} clusters do not match {len(rows)} records")
    for field in ("refused", "unauthorized_effect"):
        _check_booleans(rows, field)
    harmful = [i for i, row in enumerate(rows) if row["kind"] == "harmful"]
    benign = [i for i, row in enumerate(rows) if row["kind"] == "benign"]
    if not harmful or not benign:
        raise ValueError(f"both slices are needed: {len(harmful)} harmful and {len(benign)} benign records")
    _check_booleans([rows[i] for i in harmful], "harmful_success")

    def rate(field: str, picked: Sequence[int], of: str) -> Interval:
        outcomes = [bool(rows[i][field]) for i in picked]
        return _rate(outcomes, None if names is None else [names[i] for i in picked], f"{field} {of}", level)

    return SafetyFrontier(
        attack_success_rate=rate("harmful_success", harmful, "among harmful requests"),
        false_refusal_rate=rate("refused", benign, "among benign requests"),
        unauthorized_effect_rate=rate("unauthorized_effect", range(len(rows)), "among all requests"),
        harmful_refusal_rate=rate("refused", harmful, "among harmful requests"),
        refused_yet_succeeded=sum(bool(rows[i]["refused"] and rows[i]["harmful_success"]) for i in harmful),
        harmful=len(harmful),
        benign=len(benign),
    )


def _check_mappings(rows: Sequence[object], name: str) -> None:
    odd = [row for row in rows if not isinstance(row, Mapping)]
    if odd:
        raise ValueError(f"{len(odd)} of {len(rows)} {name} are no mappings, e.g. {odd[0]!r}")


def _check_kinds(rows: Sequence[Record]) -> None:
    if not rows:
        raise ValueError("there are no records: both harmful and benign ones are needed")
    unknown = [row.get("kind") for row in rows if row.get("kind") not in ("harmful", "benign")]
    if unknown:
        raise ValueError(
            f"{len(unknown)} of {len(rows)} records are neither harmful nor benign, e.g. {unknown[0]!r}"
        )


def _check_booleans(rows: Sequence[Record], field: str) -> None:
    odd = [row.get(field) for row in rows if not isinstance(row.get(field), bool | np.bool_)]
    if odd:
        raise ValueError(f"{len(odd)} of {len(rows)} records have no boolean {field}, e.g. {odd[0]!r}")


def _rate(outcomes: Sequence[bool], clusters: Labels | None, estimand: str, level: float) -> Interval:
    if clusters is None:
        found = proportion_interval(sum(outcomes), len(outcomes), "clopper_pearson", level)
    else:
        found = mean_interval([float(outcome) for outcome in outcomes], clusters, level=level, bounds=(0, 1))
    return replace(found, estimand=estimand)


@dataclass(frozen=True, kw_only=True)
class FactualityReport:
    """How far the atomic claims of answers are supported."""

    support_precision: Interval
    """Supported claims among those that could be decided; undefined where none could."""
    decidable_rate: Interval
    """Claims that could be decided, among all."""
    citation_completeness: Interval
    """Claims that carry a citation, among all; whether it supports the claim is another question."""
    supported: int
    unsupported: int
    unknown: int


def factuality_report(
    claims: Iterable[Record], clusters: Labels | None = None, level: float = 0.95
) -> FactualityReport:
    """Support, decidability and citation of atomic claims.

    Args:
        claims: One mapping a claim: `support` (`supported`, `unsupported`, `unknown`) and `cited` (boolean).
        clusters: The answer of each claim: claims of one answer are not independent.
        level: Confidence level.

    Raises:
        ValueError: no claims, an unknown support, or `cited` that is no boolean.
    """
    rows = list(claims)
    if not rows:
        raise ValueError("there are no claims: factuality needs at least 1 atomic claim")
    _check_mappings(rows, "claims")
    odd = [
        row.get("support")
        for row in rows
        if row.get("support") not in ("supported", "unsupported", "unknown")
    ]
    if odd:
        raise ValueError(
            f"{len(odd)} of {len(rows)} claims are not supported, unsupported or unknown, e.g. {odd[0]!r}"
        )
    _check_booleans(rows, "cited")
    names = None if clusters is None else list(clusters)
    if names is not None and len(names) != len(rows):
        raise ValueError(f"{len(names)} clusters do not match {len(rows)} claims")

    def rate(test: Callable[[Record], bool], picked: Sequence[int], of: str) -> Interval:
        outcomes = [test(rows[i]) for i in picked]
        return _rate(outcomes, None if names is None else [names[i] for i in picked], of, level)

    every = range(len(rows))
    decided = [i for i in every if rows[i]["support"] != "unknown"]
    unknown = len(rows) - len(decided)
    missing = {"unknown support": unknown} if unknown else {}
    precision = (
        replace(
            rate(lambda row: row["support"] == "supported", decided, "supported among decidable claims"),
            missing=missing,
        )
        if decided
        else Interval(value=None, level=level, missing=missing, warnings=("no claim could be decided",))
    )
    supported = sum(row["support"] == "supported" for row in rows)
    return FactualityReport(
        support_precision=precision,
        decidable_rate=rate(lambda row: row["support"] != "unknown", every, "decidable among all claims"),
        citation_completeness=rate(lambda row: bool(row["cited"]), every, "cited among all claims"),
        supported=supported,
        unsupported=len(decided) - supported,
        unknown=unknown,
    )
