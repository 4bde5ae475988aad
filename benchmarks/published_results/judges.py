"""Verdicts of judges, stored: AlpacaEval, Vicuna, LLMBar, JudgeBench, PandaLM, FairEval, MT-Bench."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probatum import stats

from .files import Data
from .rows import Difference, Family, Finding, NoMaterial, Prose, Rate, Row, holds
from .several import for_each_file

__all__ = ["FAMILIES"]

_LEADERBOARDS = {
    "preferences_by_model": "data_AlpacaEval_2_weighted_alpaca_eval_gpt4_turbo_leaderboard.csv",
    "v1_preferences_by_model": "data_AlpacaEval_alpaca_eval_gpt4_leaderboard.csv",
}
_ROUNDED = 1e-4
"""How far preferences stored to six decimals can move a rate of 100."""


def _alpaca(row: Row, data: Data) -> Finding:
    name = next((each for each in row.inputs if "preferences_by_model" in each), None)
    if name is None:
        raise NoMaterial("no preferences are stored for this leaderboard")
    stem = name.rpartition("/")[2].partition(".")[0]
    board = next((each for each in row.inputs if each.endswith(".csv")), f"alpaca_eval/{_LEADERBOARDS[stem]}")
    published = {each[""]: each for each in data.table(board)}
    checks: list[tuple[str, float, float]] = []
    numbers: dict[str, Any] = {}
    matched = compared = 0
    differences: list[Difference] = []
    for each in data.lines(name):
        own = _win_rate(each["pref"])
        numbers[each["model"]] = own
        official = published.get(each["model"])
        if official is None:
            continue
        compared += 1
        pairs = [(key, float(official[key]), own[key]) for key in own if official.get(key)]
        good = all(abs(theirs - ours) <= _ROUNDED for _, theirs, ours in pairs)
        matched += good
        checks += [(f"{each['model']}/{key}", theirs, ours) for key, theirs, ours in pairs]
        if not good:
            told = "; ".join(
                f"{key} {theirs} against {ours}"
                for key, theirs, ours in pairs
                if abs(theirs - ours) > _ROUNDED
            )
            differences.append(Difference(each["model"], "leaderboard", "stored preferences", told))
    return Finding(
        numbers={**numbers, "models": matched, "n": compared},
        prose=(Prose(r"(\d+) (?:of \d+ )?models", matched),),
        checks=checks,
        material="stored verdicts",
        differences=differences,
        tolerance=_ROUNDED,
        notes=(
            f"{matched} of {compared} models equal the leaderboard in every number",
            "length-controlled rates need the authors' regression data, which is not stored",
        ),
    )  # fmt: skip


def _win_rate(preferences: Sequence[float | None]) -> dict[str, float]:
    """1: the baseline won, 2: the model won, 0 or 1.5: a draw; without one there was no verdict."""
    scores = [(each or 1.5) - 1 for each in preferences if each is not None]
    wins = sum(each > 0.5 for each in scores)
    losses = sum(each < 0.5 for each in scores)
    draws = len(scores) - wins - losses
    found = stats.mean_interval(np.clip(scores, 0, 1))
    return {
        "win_rate": 100 * (found.value or 0.0),
        "standard_error": 100 * (found.se or 0.0),
        "n_wins": wins,
        "n_wins_base": losses,
        "n_draws": draws,
        "n_total": len(scores),
        "discrete_win_rate": 100 * (wins + draws / 2) / len(scores),
    }


_NUMBER = r"(\d+(?:\.\d+)?)"
_LINE = re.compile(rf"^\s*{_NUMBER}[\s,/]+{_NUMBER}\s*$")
_LATER = (
    re.compile(rf"\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)"),
    re.compile(rf"Assistant 1:?\s*{_NUMBER}\b.*?Assistant 2:?\s*{_NUMBER}\b", re.DOTALL),
)


def _vicuna(row: Row, data: Data) -> Finding:
    """Sums of the two scores in each review.

    The published sums are of the stored scores; beside them stand the sums of what the reviews say. Three
    reviews of each file give their scores at the end, and some of these were changed by hand.
    """
    stored = data.lines(row.inputs[0])
    sums, said = [0.0, 0.0], [0.0, 0.0]
    differences: list[Difference] = []
    for each in stored:
        pair = _scores_in(each["text"]) or (0.0, 0.0)
        scores = tuple(float(value) for value in each["score"])
        if pair != scores:
            told = "the review's text gives other scores than were published"
            differences.append(Difference(str(each["question_id"]), str(scores), str(pair), told))
        sums = [one + other for one, other in zip(sums, scores, strict=True)]
        said = [one + other for one, other in zip(said, pair, strict=True)]
    return Finding(
        numbers={"0": sums[0], "1": sums[1], "n": len(stored)},
        material="reviews and scores",
        ours={"first, by the texts": said[0], "second": said[1]},
        differences=differences,
    )


def _scores_in(text: str) -> tuple[float, float] | None:
    """Two numbers alone on the first line; else the last pair in brackets or behind the two names."""
    lines = text.strip().splitlines()
    first = _LINE.match(lines[0]) if lines else None
    if first is not None:
        return float(first[1]), float(first[2])
    alone = [match for line in lines if (match := _LINE.match(line)) is not None]
    pairs = [match for pattern in _LATER for match in pattern.finditer(text)]
    if not pairs and not alone:
        return None
    last = max(pairs, key=lambda match: match.end()) if pairs else alone[-1]
    return float(last[1]), float(last[2])


def _llmbar(row: Row, data: Data) -> Finding:
    files = [each for each in row.inputs if "_verdicts" in each]
    processed = bool(files) and all("processed_" in each for each in files)
    groups = _llmbar_processed(row, data) if processed else _llmbar_subsets(data)
    checks: list[tuple[str, float, float]] = []
    numbers: dict[str, Any] = {}
    for name, (official, verdicts) in groups.items():
        own = _both_orders(verdicts)
        numbers[name] = own
        for key, value in official.items():
            if key in own:
                theirs = float(str(value).rpartition("= ")[2].rstrip("%"))
                checks.append((f"{name}/{key}", theirs, own[key]))
    return Finding(
        numbers={**numbers, "n": len(groups)},
        checks=checks,
        prose=(Prose(r"(\d+) evaluator", len(groups)),),
        material="stored verdicts",
        notes=(f"{len(groups)} pairs of judge and subset, {len(checks)} published numbers",),
    )


Verdicts = list[Mapping[str, Any]]


def _llmbar_subsets(data: Data) -> dict[str, tuple[Mapping[str, Any], Verdicts]]:
    official = data.json("llmbar/official_statistics.json")
    stored: dict[tuple[str, str, str], Verdicts] = defaultdict(list)
    for subset in {each["subset"] for each in official}:
        for each in data.lines(f"llmbar/{subset.replace('/', '_')}_verdicts.jsonl.gz"):
            stored[subset, each["evaluator"], each["strategy"]].append(each)
    names = [(each["subset"], each["evaluator"], each["strategy"]) for each in official]
    return {
        "|".join(name): (each["official"], stored[name]) for name, each in zip(names, official, strict=True)
    }


def _llmbar_processed(row: Row, data: Data) -> dict[str, tuple[Mapping[str, Any], Verdicts]]:
    found = {}
    for name in [each for pattern in row.inputs for each in data.matching(pattern) if "_verdicts" in each]:
        stored: dict[str, Verdicts] = defaultdict(list)
        for each in data.lines(name):
            stored[each["evaluator"]].append(each)
        prefix = name.rpartition("/")[2].removeprefix("processed_").partition("_verdicts")[0]
        for each in data.json(name.replace("_verdicts.jsonl.gz", "_statistics.json")):
            evaluator = each["path"].removesuffix("/statistics.json")
            found[f"{prefix}|{evaluator}"] = (each["official"], stored[evaluator])
    return found


def _both_orders(verdicts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Accuracy in each order, agreement of the orders, and Cohen's kappas as the authors compute them."""
    first = [str(each["winner"]) == str(each["label"]) for each in verdicts]
    second = [str(each["winner_swapped"]) == str(each["label"]) for each in verdicts]
    same = [each["winner"] == each["winner_swapped"] for each in verdicts]
    percent = 100 / len(verdicts)
    ones = [[each[key] == "1" for each in verdicts] for key in ("winner", "winner_swapped")]
    return {
        "correct_False": percent * sum(first),
        "correct_True": percent * sum(second),
        "correct_average": percent * (sum(first) + sum(second)) / 2,
        "correct_both": percent * sum(one and other for one, other in zip(first, second, strict=True)),
        "equal": percent * sum(same),
        "kappa_agreement": _kappa(*ones),
    }


def _kappa(first: Sequence[Any], second: Sequence[Any]) -> float:
    """0 where it is undefined, as sklearn's callers print it."""
    value = stats.cohen_kappa(list(first), list(second), samples=0).value
    return 0.0 if value is None else value


_GROUPS = ("mmlu-pro", "livebench-reasoning", "livebench-math", "livecodebench")


def _judgebench(row: Row, data: Data) -> Finding:
    """A judge asked in both orders must win on balance; a reward model is read once."""
    once = "reward_model" in row.inputs[0]
    groups: dict[str, list[bool]] = defaultdict(list)
    first: list[bool] = []
    for each in data.lines(row.inputs[0]):
        right = _judged_right(each, once=once)
        first.append(each["d"][0] == each["label"])
        for name in _GROUPS:
            if each["source"].startswith(name):
                groups[name].append(right)
        groups["overall"].append(right)
    numbers = {name: 100 * sum(values) / len(values) for name, values in groups.items()}
    return Finding(
        numbers={**numbers, "n": len(groups["overall"]), "": numbers["overall"]},
        material="stored verdicts",
        ours={"first game only": 100 * sum(first) / len(first)},
    )


_OTHER_SIDE = {"A>B": "B>A", "B>A": "A>B"}


def _judged_right(each: Mapping[str, Any], *, once: bool) -> bool:
    """The second game was played with the sides changed, and is told from the first one's side."""
    label = each["label"]
    if once:
        return bool(each["d"][0] == label)
    total = 0
    for place, verdict in enumerate(each["d"]):
        told = _OTHER_SIDE.get(verdict, verdict) if place else verdict
        total += (told == label) - (told == _OTHER_SIDE[label])
    return total > 0


_RATERS = ("annotator1", "annotator2", "annotator3")


def _pandalm(row: Row, data: Data) -> Finding:
    """Agreement of three annotators, and of two judges with their majority."""
    name = next((each for each in row.inputs if "labels" in each), "pandalm/testset_v1_labels.jsonl")
    stored = data.lines(name)
    labels = {name: [str(each[name]) for each in stored] for name in _RATERS}
    judges = {"gpt35": [{"Tie": "0"}.get(str(each["gpt35"]), str(each["gpt35"])) for each in stored]}
    judges["pandalm7b"] = [str(each["pandalm7b"]) for each in stored]
    numbers: dict[str, Any] = {"n": len(stored)}
    everyone = {**labels, **judges}
    for one, two in itertools.combinations(everyone, 2):
        kappa = _kappa(everyone[one], everyone[two])
        for name in (f"{one}|{two}", f"{one}-{two}", f"kappa_{one}_{two}", f"{one}_{two}"):
            numbers[name] = kappa
    majority = [_most(votes) for votes in zip(*labels.values(), strict=True)]
    for name, given in judges.items():
        clear = [(said, wanted) for said, wanted in zip(given, majority, strict=True) if wanted is not None]
        numbers[name] = Rate(sum(said == wanted for said, wanted in clear) / len(clear))
        numbers[f"{name}_accuracy"] = Rate(
            sum(s == w for s, w in zip(given, majority, strict=True)) / len(given)
        )
    table = [
        [Counter(votes)[label] for label in ("0", "1", "2")] for votes in zip(*labels.values(), strict=True)
    ]
    numbers["fleiss_kappa"] = stats.fleiss_kappa(table, samples=0).value
    return Finding(numbers=numbers, material="stored verdicts")


def _most(votes: Sequence[str]) -> str | None:
    (first, count), *others = Counter(votes).most_common()
    return None if others and others[0][1] == count else first


def _faireval(row: Row, data: Data) -> Finding:
    name = next(
        (each for each in row.inputs if "human" in each), "faireval/review_gpt35_vicuna-13b_human.txt"
    )
    verdicts = Counter(data.text(name).split())
    total = sum(verdicts.values())
    numbers: dict[str, Any] = {**verdicts, "n": total, "counts": dict(verdicts)}
    numbers |= {f"{name}_rate": Rate(count / total) for name, count in verdicts.items()}
    return Finding(numbers=numbers, material="labels by people")


_RATINGS = (re.compile(r"\[\[(\d+\.?\d*)\]\]"), re.compile(r"\[(\d+\.?\d*)\]"))


def _mt_bench(row: Row, data: Data) -> Finding:
    """Mean score of each model, parsed out of the judge's text; failed judgments are left out."""
    stored = data.lines(row.inputs[0])
    scores: dict[str, list[float]] = defaultdict(list)
    disagree = failed = 0
    for each in stored:
        match = next(filter(None, (pattern.search(each["judgment"]) for pattern in _RATINGS)), None)
        score = float(match[1]) if match is not None else -1.0
        disagree += score != float(each["score"])
        if score == -1:
            failed += 1
            continue
        scores[each["model"]].append(score)
        scores[f"{each['model']}|{each['turn']}"].append(score)
    numbers: dict[str, Any] = {name: sum(values) / len(values) for name, values in scores.items()}
    return Finding(
        numbers={**numbers, "n": len(stored), "failed": failed, "errors": failed},
        checks=(("judgments whose stored score is another", 0, disagree),),
        material="raw outputs",
    )


FAMILIES = (
    Family("AlpacaEval", holds("alpaca_eval/"), for_each_file(_alpaca, "preferences_by_model")),
    Family("Vicuna's reviews", holds("vicuna_reviews/"), for_each_file(_vicuna, "review_")),
    Family("LLMBar", holds("llmbar/"), _llmbar),
    Family("JudgeBench", holds("judgebench/verdicts"), for_each_file(_judgebench, "verdicts_")),
    Family("PandaLM", holds("pandalm/"), _pandalm),
    Family("FairEval", holds("faireval/"), _faireval),
    Family("MT-Bench", holds("mt_bench/"), _mt_bench),
)
