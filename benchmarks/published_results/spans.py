"""Spans and free text: SQuAD, CMRC 2018, TruthfulQA."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from probatum import stats
from probatum.scoring import token_f1
from probatum.scoring.text import (
    SquadQuestion,
    cmrc2018_exact,
    cmrc2018_f1,
    squad_report,
    truthful_overlap,
)
from probatum.scoring.text.reference_pairs import SCORES
from probatum.scoring.tokens import Tokens

from .files import Data
from .rows import Difference, Family, Finding, Rate, Row, holds

__all__ = ["FAMILIES"]


def _squad(row: Row, data: Data) -> Finding:
    name = next(each for each in row.inputs if "predictions" in each)
    source = next((each for each in row.inputs if each != name), "squad/squad_dev_docs_1000.jsonl.gz")
    predictions: Mapping[str, str] = data.json(name)
    questions = _questions(source, data)
    report = squad_report(questions, predictions, version=1)
    differences = [
        Difference(each, "the official script skips it in v2.0, and counts 0 in v1.1", "0", "no prediction")
        for each in report.missing
    ]
    subset = (
        "xquad.en (single reference)" if "xquad" in source else source.rpartition("/")[2].partition(".")[0]
    )
    numbers = {
        "n": report.questions,
        "missing": len(report.missing),
        "exact_match": report.exact,
        "exact": report.exact,
        "em": report.exact,
        "f1": report.f1,
        "subset": subset,
    }
    characters = squad_report(questions, predictions, version=1, tokens="characters")
    return Finding(
        numbers=numbers,
        checks=_per_item(name, report.per_question, data) if "xquad" not in source else (),
        material="raw outputs",
        ours={"EM": report.exact, "F1": report.f1, "F1 of characters": characters.f1},
        differences=differences,
    )


def _questions(source: str, data: Data) -> list[SquadQuestion]:
    if ".jsonl" in source:
        return [SquadQuestion(each["id"], tuple(each["answers_text"])) for each in data.lines(source)]
    return [
        SquadQuestion(each["id"], tuple(answer["text"] for answer in each["answers"]))
        for article in data.json(source)["data"]
        for paragraph in article["paragraphs"]
        for each in paragraph["qas"]
    ]


def _per_item(
    name: str, scores: Mapping[str, tuple[float, float]], data: Data
) -> list[tuple[str, float, float]]:
    """Official scores of single items are stored for one system."""
    if "BERT" not in name or not data.has("squad/expected_per_item_BERT.jsonl"):
        return []
    official = data.lines("squad/expected_per_item_BERT.jsonl")
    wrong = sum(
        max(abs(each["em"] - scores[each["id"]][0]), abs(each["f1"] - scores[each["id"]][1])) > 1e-9
        for each in official
        if each["id"] in scores
    )
    return [("items whose official scores are others", 0, wrong)]


def _cmrc(row: Row, data: Data) -> Finding:
    stored = data.lines(next(each for each in row.inputs if "predictions" in each))
    exact = [float(cmrc2018_exact(each["prediction"], each["golds"])) for each in stored]
    f1 = [cmrc2018_f1(each["prediction"], each["golds"]) for each in stored]
    wrong = sum(
        abs(each["f1"] - one) > 1e-9 or each["em"] != other
        for each, one, other in zip(stored, f1, exact, strict=True)
    )
    size = 100 / len(stored)
    kinds: tuple[Tokens, ...] = ("words", "characters", "mixed")
    ways = {
        kind: size * sum(token_f1(each["prediction"], each["golds"], kind) for each in stored)
        for kind in kinds
    }
    return Finding(
        numbers={"n": len(stored), "em": size * sum(exact), "f1": size * sum(f1)},
        checks=(("items whose official scores are others", 0, wrong),),
        material="raw outputs",
        ours={f"token F1, {kind}": value for kind, value in ways.items()},
    )


def _truthful(row: Row, data: Data) -> Finding:
    stored = data.lines(row.inputs[0])
    sums: dict[str, list[float]] = defaultdict(list)
    differences: list[Difference] = []
    for each in stored:
        doc = each["doc"]
        text = each["filtered_resps"][0]
        found = truthful_overlap(text, doc["correct_answers"], doc["incorrect_answers"])
        for name in SCORES:
            sums[name].append(found[name])
        off = [name for name in SCORES if name in each and abs(found[name] - each[name]) > 1e-6]
        if off:
            told = "; ".join(f"{name} {each[name]:.6g} against {found[name]:.6g}" for name in off[:4])
            differences.append(Difference(str(each["doc_id"]), "logged", "made again", told))
    numbers: dict[str, Any] = {"n": len(stored)}
    for name, values in sums.items():
        numbers[name] = Rate(sum(values) / len(values)) if name.endswith("acc") else sum(values) / len(values)
        numbers[f"{name}_stderr"] = stats.mean_interval(values).se if len(set(values)) > 1 else 0.0
    return Finding(
        numbers=numbers,
        checks=(("items whose logged scores are others", 0, len(differences)),),
        material="raw outputs",
        differences=differences,
    )


FAMILIES = (
    Family("SQuAD", holds("squad/predictions"), _squad),
    Family("CMRC 2018", holds("cmrc2018/"), _cmrc),
    Family("TruthfulQA", holds("truthfulqa_gen"), _truthful),
)
