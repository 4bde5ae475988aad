"""Numbers of numbers: rankings, forecasts, reliability, contamination, logs with likelihoods."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probatum import stats
from probatum.core.records import Item, Response
from probatum.prompting.forms import LABELS
from probatum.scoring import OptionLikelihood

from .files import Data
from .rows import Family, Finding, NoMaterial, Prose, Rate, Row, holds
from .several import for_each_file

__all__ = ["FAMILIES"]

_OUTCOME = {"left": "a", "right": "b", "tie": "tie"}


def _rankings(row: Row, data: Data) -> Finding:
    """Evalica's golden scores, of every algorithm of which we have one."""
    name = next(
        (each for each in row.inputs if re.search(r"(llmfao|food|simple)\.csv", each)), "evalica/llmfao.csv"
    )
    battles = [each for each in data.table(name) if each["winner"] in _OUTCOME]
    given = stats.Battles.of_triples(
        (each["left"], each["right"], _OUTCOME[each["winner"]]) for each in battles
    )
    golden: dict[str, dict[str, float]] = defaultdict(dict)
    for each in data.table(f"{name.partition('.csv')[0]}-golden.csv"):
        golden[each["algorithm"]][each["item"]] = float(each["score"])
    own = _scores_of(given, golden)
    checks = [
        (f"{algorithm}/{item}", theirs, own[algorithm][item])
        for algorithm, scores in golden.items()
        for item, theirs in scores.items()
        if algorithm in own
    ]
    apart = max(abs(theirs - ours) for _, theirs, ours in checks)
    count = len(given.models)
    return Finding(
        numbers={**own, "n": len(given), "items": count},
        checks=checks,
        prose=(Prose(r"(\d+) items", count),),
        material="stored votes",
        notes=(f"{', '.join(sorted(own))}: {len(checks)} scores, the furthest {apart:.1e} apart",),
        tolerance=1e-9,
    )


def _scores_of(
    given: stats.Battles, golden: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    names = [str(model) for model in given.models]
    strengths = np.exp(np.asarray(stats.bradley_terry(given).strengths))
    davidson = np.exp(np.asarray(stats.bradley_terry(given, ties="davidson").strengths))
    scores = {
        "bradley_terry": strengths / strengths.sum(),
        "counting": stats.win_points(given),
        "average_win_rate": stats.average_win_rates(given),
        "eigen": stats.eigenvector_scores(given, "losses"),
        "pagerank": stats.pagerank_scores(given),
        "elo": stats.elo(given).ratings,
    }
    if "newman" in golden:  # of another scale: its geometric mean is taken from the golden scores
        level = math.exp(sum(math.log(golden["newman"][name]) for name in names) / len(names))
        scores["newman"] = davidson / math.exp(float(np.log(davidson).mean())) * level
    return {kind: dict(zip(names, np.asarray(each).tolist(), strict=True)) for kind, each in scores.items()}


def _alpha(row: Row, data: Data) -> Finding:
    numbers: dict[str, Any] = {}
    for name in (*row.inputs, "evalica/codings.csv", "evalica/gcl.csv"):
        table = [[label or None for label in each] for each in csv.reader(io.StringIO(data.text(name)))]
        numbers[name.rpartition("/")[2].partition(".")[0]] = stats.krippendorff_alpha(table, samples=0).value
    return Finding(numbers=numbers, material="labels by people")


def _forecasts(row: Row, data: Data) -> Finding:
    played = [each for each in data.table(row.inputs[0]) if _outcome(each["prob1_outcome"]) is not None]
    p = [float(each["prob1"]) for each in played]
    y = [_outcome(each["prob1_outcome"]) for each in played]
    return Finding(numbers=_calibration(p, [int(each or 0) for each in y]), material="forecasts")


def _outcome(text: str) -> int | None:
    """1 or 0; a draw, and what was not played, is neither."""
    return {"0": 0, "0.0": 0, "1": 1, "1.0": 1}.get(text.strip())


def _calibration(p: Sequence[float], y: Sequence[int]) -> dict[str, Any]:
    return {
        "n": len(p),
        "brier": stats.brier_score(p, y).value,
        "logloss": stats.negative_log_likelihood(p, y).value,
        "log_loss": stats.negative_log_likelihood(p, y).value,
        "auc": stats.auroc(p, y).value,
        "ece10": stats.expected_calibration_error(p, y, bins=10, edges="[lo,hi)").value,
        "ece": stats.expected_calibration_error(p, y, bins=10, edges="[lo,hi)").value,
        "base_rate": Rate(sum(y) / len(y)),
    }


def _reliability(row: Row, data: Data) -> Finding:
    """τ-bench: pass^k over tasks with four trials each."""
    name = next((each for each in row.inputs if "rewards" in each), None)
    if name is None:
        return _tau2(row, data)
    rewards: dict[int, list[bool]] = defaultdict(list)
    for each in data.lines(name):
        rewards[each["task_id"]].append(each["reward"] == 1.0)
    trials = [len(each) for each in rewards.values()]
    passed = [sum(each) for each in rewards.values()]
    numbers: dict[str, Any] = {"tasks": len(trials), "n": len(trials), "trials": sum(trials)}
    for k in range(1, min(trials) + 1):
        hat = stats.pass_hat_k_interval(trials, passed, k).value
        numbers |= {f"pass^{k}": hat, f"pass_hat_{k}": hat, f"pass_{k}": hat}
        numbers[f"pass@{k}"] = stats.pass_at_k_interval(trials, passed, k).value
    return Finding(numbers=numbers, material="stored rewards")


def _tau2(row: Row, data: Data) -> Finding:
    """Submissions hold totals alone: whether they fall with k, as pass^k must."""
    checked = wrong = 0
    for each in data.lines(row.inputs[0]):
        for scores in filter(None, each["results"].values()):
            values = [scores.get(f"pass_{k}") for k in (1, 2, 3, 4)]
            known = [value for value in values if value is not None]
            checked += 1
            wrong += known != sorted(known, reverse=True)
    return Finding(
        numbers={"n": len(data.lines(row.inputs[0])), "domains": checked, "rising": wrong},
        material="totals",
        notes=(
            f"{checked} results of domains hold totals and no trials; {wrong} rise with k, as pass^k cannot",
        ),
    )


def _trials(row: Row, data: Data) -> Finding:
    """Reflexion on ALFWorld: the share of environments solved after each trial."""
    numbers: dict[str, Any] = {}
    for each in data.lines(row.inputs[0]):
        share = Rate(sum(each["success"]) / len(each["success"]))
        for name in (f"{each['kind']}|{each['trial']}", f"{each['kind']}_{each['trial']}"):
            numbers[name] = share
        for name in (each["kind"], each["kind"].removesuffix("_run_logs")):
            numbers.setdefault(name, {})[str(each["trial"])] = share
        numbers["n"] = len(each["success"])
    return Finding(numbers=numbers, material="stored verdicts")


def _contamination(row: Row, data: Data) -> Finding:
    name = row.inputs[0]
    if "CodeAlpacaDB" in name:
        hits = [any(each["results"]) for each in data.lines(name)]
        prose = (Prose(r"^(\d+) of", sum(hits)), Prose(r"of (\d+)", len(hits)))
        numbers = {"": sum(hits), "n": len(hits), "contaminated": sum(hits)}
        return Finding(numbers=numbers, prose=prose, material="stored verdicts")
    stored = data.json(name)
    first = next(iter(stored.values()))
    if not isinstance(first, list):
        raise NoMaterial("the file holds perplexities of texts that are not stored")
    kinds = Counter(each[0] for each in stored.values())
    numbers = {kind: round(100 * count / len(stored), 10) for kind, count in kinds.items()}
    return Finding(numbers={**numbers, "n": len(stored), "counts": dict(kinds)}, material="labels by overlap")


def _loglikelihoods(row: Row, data: Data) -> Finding:
    """Multiple choice by likelihood, from the logged log-probabilities."""
    stored = data.lines(row.inputs[0])
    pairs = [
        [(float(each[0]), str(each[1]) == "True") for each in _flat(row["filtered_resps"])] for row in stored
    ]
    if len(pairs[0]) == 1:
        right = [float(each[0][1]) for each in pairs]
        logged = sum(bool(score) != bool(row["acc"]) for score, row in zip(right, stored, strict=True))
        checks = (("items logged otherwise", 0, logged),)
        return Finding(numbers=_accuracy(right), checks=checks, material="logged likelihoods")
    asked = [_asked(row, len(each)) for row, each in zip(stored, pairs, strict=True)]
    scorer = OptionLikelihood().for_compat("lm_eval")
    scores = [
        scorer.grade(item, 0, [Response(request="", logprobs=(value,), greedy=best) for value, best in each])
        for item, each in zip(asked, pairs, strict=True)
    ]
    right = [each.scores["sum"] for each in scores]
    numbers = _accuracy(right)
    wanted = {"acc": "sum", "acc_norm": "per_character", "acc_bytes": "per_byte"}
    for name, score in wanted.items():
        found = stats.mean_interval([each.scores[score] for each in scores])
        numbers |= {name: Rate(found.value or 0.0), f"{name}_stderr": found.se}
    both = list(zip(stored, scores, strict=True))
    named = [(name, score) for name, score in wanted.items() if name in stored[0]]
    others = [
        (
            f"items logged otherwise, {name}",
            0,
            sum(float(row[name]) != each.scores[score] for row, each in both),
        )
        for name, score in named
    ]
    if all(len(item.choices) == 2 for item in asked):
        p = [1 / (1 + math.exp(each[0][0] - each[1][0])) for each in pairs]
        gold = [LABELS.index(item.targets[0]) for item in asked]
        numbers |= _calibration(p, gold)
        numbers["f1"] = _f1([LABELS.index(str(each.answer)) for each in scores], gold)
    return Finding(numbers=numbers, checks=others, material="logged likelihoods")


def _asked(row: Mapping[str, Any], count: int) -> Item:
    """Options and gold of a logged item: the gold is a place, a label, or the text of an option."""
    doc = row["doc"]
    given = doc.get("choices")
    texts = given.get("text") if isinstance(given, Mapping) else given
    if not isinstance(texts, list) or len(texts) != count:
        arguments = [row["arguments"][f"gen_args_{place}"]["arg_1"] for place in range(count)]
        texts = [text.removeprefix(" ") for text in arguments]
    gold = row["target"] if str(row.get("target", "")).strip() else doc.get("gold", doc.get("answerKey"))
    place = _place(str(gold), [str(text) for text in texts])
    if place is None:
        raise NoMaterial(f"the gold {gold!r} of item {row['doc_id']} is none of its options")
    return Item(id=str(row["doc_id"]), fields={}, choices=tuple(map(str, texts)), targets=(LABELS[place],))


def _place(gold: str, texts: Sequence[str]) -> int | None:
    if gold in texts:
        return texts.index(gold)
    if gold.isdigit() and int(gold) < len(texts):
        return int(gold)
    return LABELS.index(gold) if gold in LABELS[: len(texts)] else None


def _flat(responses: Any) -> Any:
    """One (log-probability, greedy) an option, however deep the log nests them."""
    return responses if isinstance(responses[0], list) else [responses]


def _accuracy(right: Sequence[float]) -> dict[str, Any]:
    found = stats.mean_interval(right)
    rate = Rate(found.value or 0.0)
    return {"n": len(right), "acc": rate, "accuracy": rate, "acc_stderr": found.se, "stderr": found.se}


def _f1(chosen: Sequence[int], gold: Sequence[int]) -> float:
    """Of the second option, as the positive one."""
    hits = sum(one == other == 1 for one, other in zip(chosen, gold, strict=True))
    return 2 * hits / (sum(chosen) + sum(gold))


_TEST_ITEMS = {"arc_challenge": 1172, "arc_easy": 2376, "sciq": 1000, "piqa": 1838, "winogrande": 1267}
"""Items that lm-evaluation-harness evaluates."""


def _standard_errors(row: Row, data: Data) -> Finding:
    """Standard errors of an accuracy, from the accuracy and the number of items."""
    name = row.value.get("file") if isinstance(row.value, Mapping) and row.value.get("file") else None
    name = name or next(data.matching(row.inputs[0]))
    stored = data.json(name)
    sizes = {task: each["effective"] for task, each in stored.get("n-samples", {}).items()} or _TEST_ITEMS
    checks: list[tuple[str, float, float]] = []
    for task, scores in stored["results"].items():
        for key in ("acc", "acc_norm"):
            acc = scores.get(key, scores.get(f"{key},none"))
            error = scores.get(f"{key}_stderr", scores.get(f"{key}_stderr,none"))
            if task in sizes and isinstance(acc, float) and isinstance(error, float):
                checks.append((f"{task}/{key}_stderr", error, math.sqrt(acc * (1 - acc) / (sizes[task] - 1))))
    task = next((each for each in stored["results"] if each in row.id), "arc_challenge")
    scores = stored["results"].get(task, {})
    acc = scores.get("acc", scores.get("acc,none"))
    numbers: dict[str, Any] = {"file": name}
    if acc is not None and task in sizes:
        error = math.sqrt(acc * (1 - acc) / (sizes[task] - 1))
        numbers |= {"acc": Rate(acc), "acc_stderr": error, "formula": error, "n": sizes[task]}
    return Finding(
        numbers=numbers,
        checks=checks,
        material="accuracies",
        notes=(f"{len(checks)} standard errors of tasks whose number of items is known",),
    )


def _eqbench(row: Row, data: Data) -> Finding:
    stored = data.lines(row.inputs[0])
    parsed = [float(each["percent_parseable"]) for each in stored]
    scores = [float(each["eqbench"]) for each in stored if each["percent_parseable"]]
    mean = sum(float(each["eqbench"]) for each in stored) / len(stored)
    shares = {"percent_parseable": sum(parsed) / len(parsed), "eqbench": mean, "parsed": len(scores)}
    return Finding(numbers={"n": len(stored), **shares}, material="logged scores")


FAMILIES = (
    Family("Krippendorff's alpha", holds("evalica/codings", "evalica/gcl"), _alpha),
    Family("rankings of evalica", holds("evalica/"), _rankings),
    Family("forecasts", holds("calibration/538"), for_each_file(_forecasts, "538_")),
    Family("tau-bench", holds("tau_bench/"), _reliability),
    Family("Reflexion", holds("agents/"), _trials),
    Family("contamination", holds("contamination/"), for_each_file(_contamination, "annotations")),
    Family("EQ-Bench", holds("eqbench"), _eqbench),
    Family("likelihood logs", holds("samples_bias", "samples_asdiv"), _loglikelihoods),
    Family("standard errors", holds("pythia_evals/", "lm_eval_logs/results"), _standard_errors),
)
