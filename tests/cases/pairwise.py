"""Pairs: verdicts, both orders, juries, win rates and ratings."""

from __future__ import annotations

import re
from typing import Any

from probatum import stats
from probatum.extraction.judgement import PAIR_LABELS, find_verdict
from tests.cases.frame import Given, NotMappedError, Said, agree, operation
from tests.cases.judge import same_verdict, value_of

SEATS = {"A": "B", "B": "A", "tie": "tie", "C": "tie", None: "error", "error": "error"}
"""Verdict by seat in the swapped game → the same in the labels of the first game."""


@operation("parse_pairwise", agrees=same_verdict)
def parse_pairwise(given: Given) -> Any:
    labels = {text: name for name, text in given["labels"].items()} if "labels" in given else PAIR_LABELS
    return value_of(find_verdict(given["text"], labels))


@operation("parse_pairwise_many", agrees=same_verdict)
def parse_pairwise_many(given: Given) -> Any:
    labels = {text: name for name, text in given["labels"].items()} if "labels" in given else PAIR_LABELS
    return [value_of(find_verdict(text, labels)) for text in given["texts"]]


@operation("swap_consistency")
def swap_consistency(given: Given) -> Any:
    first = given["first_order"]
    second = given["second_order_label"] if "second_order_label" in given else given["second_order"]
    if first not in SEATS or second not in SEATS:
        raise NotMappedError(f"labels {first!r} and {second!r}")
    first = SEATS[SEATS[first]]
    winner = stats.combine_swapped(first, SEATS[second])
    if winner == "error":
        return Said("judge error")
    report = stats.judge_swap_report([(first, SEATS[SEATS[second]])])
    return {"winner": winner, "inconsistent": report.outcomes["inconsistent"].value == 1}


@operation("win_rate")
def win_rate(given: Given) -> Any:
    def rate(counts: dict[str, int]) -> float:
        return float(stats.win_rate(counts["w"], counts.get("t", 0), counts["l"]))

    if "w" in given:
        return rate({name: given[name] for name in ("w", "t", "l") if name in given})
    rates = {name: rate(given[name]) for name in sorted(set(given) - {"op"})}
    best = max(rates, key=lambda name: rates[name])
    return {**rates, "better": best if list(rates.values()).count(rates[best]) == 1 else "tie"}


@operation("weighted_preference")
def weighted_preference(given: Given) -> Any:
    """`M` is the model under test, `m` the baseline, unless the case names its labels."""
    of, against = given.get("labels") or ("M", "m")
    try:
        return stats.label_preference(given["top_logprobs"], of, against).value
    except ValueError as refused:
        return Said("error", str(refused))


@operation("jury")
def jury(given: Given) -> Any:
    labels = {"labels": tuple(given["labels"])} if "labels" in given else {}
    quorum = next((given[name] for name in ("min_successful", "quorum", "min_votes") if name in given), 1)
    try:
        return stats.jury_verdict(given["votes"], quorum, **labels).verdict
    except ValueError as refused:
        return Said("error", str(refused))


def estimable(ours: Any, expected: Any) -> bool:
    if isinstance(ours, dict) and isinstance(expected, str):
        return "finite interval" in expected and bool(ours["inside"])
    return "not estimable" in expected if isinstance(ours, Said) else agree(ours, expected)


@operation("bt_bootstrap", agrees=estimable)
def bt_bootstrap(given: Given) -> Any:
    """A model of a few battles, all of one result, beside two models that have met in both ways."""
    note = re.fullmatch(r"model with (\d+) battles?, (?:both|all|each|none) (won|lost)", given["note"])
    if note is None:
        raise NotMappedError(f"the note {given['note']!r}")
    result = "a" if note[2] == "won" else "b"
    known = [("p", "q", "a"), ("p", "q", "b"), ("q", "p", "tie")] * 5
    battles = known + [("new", "p", result)] * int(note[1])
    try:
        fit = stats.bradley_terry(battles, samples=100, seed=0)
    except ValueError as refused:
        return Said("not estimable", str(refused))
    inside = [each.low is not None and each.low <= each.value <= each.high for each in fit.intervals]
    return {"inside": all(inside)}


def battles_of(given: Given) -> list[tuple[str, str, str]]:
    """(first, second, outcome) from lists of three; the outcome may be the winner's name."""
    rows = []
    for first, second, outcome in given["battles"]:
        named = {first: "a", second: "b", "A": "a", "B": "b", "a": "a", "b": "b", "tie": "tie"}
        if outcome not in named:
            raise NotMappedError(f"outcome {outcome!r}")
        rows.append((first, second, named[outcome]))
    return rows


@operation("bradley_terry", "bt")
def bradley_terry(given: Given) -> Any:
    try:
        fit = stats.bradley_terry(battles_of(given))
    except ValueError as refused:
        return Said("not estimable", str(refused))
    return dict(zip(fit.models, fit.strengths.tolist(), strict=True))


def shuffles(battles: list[tuple[str, str, str]]) -> list[list[tuple[str, str, str]]]:
    """The same battles in another order, with the seats swapped, and under other names."""
    swapped = {"a": "b", "b": "a", "tie": "tie"}
    seats = [(second, first, swapped[outcome]) for first, second, outcome in battles]
    renamed = [(f"z{first}", f"z{second}", outcome) for first, second, outcome in battles]
    return [battles[::-1], seats, renamed]


@operation("rating_invariance", "bt_invariance", "order_invariance")
def rating_invariance(given: Given) -> Any:
    battles = battles_of(given)
    try:
        fits = [stats.bradley_terry(each) for each in (battles, *shuffles(battles))]
    except ValueError as refused:
        return Said("not estimable", str(refused))
    names = [[str(name).removeprefix("z") for name in fit.models] for fit in fits]
    rated = [dict(zip(each, fit.strengths, strict=True)) for each, fit in zip(names, fits, strict=True)]
    return all(abs(each[name] - rated[0][name]) < 1e-6 for each in rated for name in rated[0])


@operation("swap_report", "position_bias")
def swap_report(given: Given) -> Any:
    """Pairs of verdicts by seat, of the original and of the swapped order."""
    pairs = [(SEATS[SEATS[first]], SEATS[SEATS[second]]) for first, second in given["pairs"]]
    report = stats.judge_swap_report(pairs)
    rates = {"consistency": report.consistency.value, "win_rate": report.win_rate.value}
    return rates | {name: found.value for name, found in report.outcomes.items()}
