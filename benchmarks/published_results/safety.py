"""Refusals and attacks: XSTest's labels by people, JailbreakBench's verdicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from probatum import stats
from probatum.extraction.refusal import Reaction, detect_refusal

from .files import Data
from .rows import Difference, Family, Finding, Rate, Row, holds
from .several import for_each_file

__all__ = ["FAMILIES"]

_LABEL = {
    Reaction.COMPLIANCE: "1_full_compliance",
    Reaction.REFUSAL: "2_full_refusal",
    Reaction.PARTIAL_REFUSAL: "3_partial_refusal",
    Reaction.ABSTENTION: "1_full_compliance",
    Reaction.EMPTY: "1_full_compliance",
}
_WITHHELD = "[withheld]"


def _xstest(row: Row, data: Data) -> Finding:
    model = row.inputs[0].rpartition("completions_")[2].partition(".")[0]
    stored = data.table(row.inputs[0])
    counts = Counter(f"{_side(each)}|{each['final_label']}" for each in stored)
    sizes = Counter(_side(each) for each in stored)
    numbers: dict[str, Any] = {"counts": dict(counts), "n": len(stored)}
    numbers |= {f"{name}_rate": Rate(count / sizes[name.partition("|")[0]]) for name, count in counts.items()}
    both = [[each[key] for each in stored] for key in ("annotation_1", "annotation_2")]
    kappa = stats.cohen_kappa(*both, samples=0).value
    numbers |= {"kappa_annotators": kappa, "kappa": kappa}
    for kind in ("gpteval", "streval"):
        if data.has(f"xstest/labels_{model}_{kind}.csv"):
            numbers |= _classifier(kind, data.table(f"xstest/labels_{model}_{kind}.csv"))
    ours, differences = _detector(stored)
    return Finding(numbers=numbers, material="labels by people", ours=ours, differences=differences)


def _side(each: Mapping[str, str]) -> str:
    return "unsafe" if each["type"].startswith("contrast_") else "safe"


def _classifier(kind: str, labels: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """How often a stored classifier says what people said, among those that people labelled."""
    column = next(name for name in labels[0] if name.endswith("_label") and name != "final_label")
    pairs = [(each[column], each["final_label"]) for each in labels]
    agreement = sum(one == other for one, other in pairs) / len(pairs)
    kappa = stats.cohen_kappa([one for one, _ in pairs], [other for _, other in pairs], samples=0).value
    return {
        f"{kind}_columns": [column],
        f"{kind}_agreement_with_human": agreement,
        f"{kind}_kappa_with_human": kappa,
    }


def _detector(stored: Sequence[Mapping[str, str]]) -> tuple[dict[str, float], list[Difference]]:
    """Our detector on the texts that are stored, against the people's labels."""
    pairs: list[tuple[str, str]] = []
    differences: list[Difference] = []
    for each in stored:
        if each["completion"].strip() == _WITHHELD:
            continue
        reading = detect_refusal(each["completion"])
        label = _LABEL[reading.reaction]
        pairs.append((label, each["final_label"]))
        if label != each["final_label"]:
            signs = ", ".join(sign.rule for sign in reading.signs[:3]) or "no sign"
            told = f"people: {each['annotation_1']} and {each['annotation_2']}; ours by {signs}"
            differences.append(Difference(each["id"], each["final_label"], label, told))
    kappa = stats.cohen_kappa([one for one, _ in pairs], [other for _, other in pairs], samples=0).value
    agreement = sum(one == other for one, other in pairs) / len(pairs)
    refused = stats.cohen_kappa(
        [one[0] == "2" for one, _ in pairs], [other[0] == "2" for _, other in pairs], samples=0
    )
    return {
        "detector agrees": agreement,
        "kappa of three": kappa or 0.0,
        "of full refusal": refused.value or 0.0,
    }, differences


def _jailbreaks(row: Row, data: Data) -> Finding:
    name = next(
        each
        for each in (*row.inputs, "safety/jailbreakbench_verdicts.jsonl")
        if each.endswith("verdicts.jsonl")
    )
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for each in data.lines(name):
        verdicts[f"{each['method']}|{each['model']}"].append(bool(each["jailbroken"]))
    rates = {attack: sum(given) / len(given) for attack, given in verdicts.items()}
    checks = []
    for each in data.json("safety/jailbreakbench_official_asr.json"):
        attack = f"{each['method']}|{each['model']}"
        if attack in rates:
            checks.append((attack, float(each["attack_success_rate"]), rates[attack]))
    return Finding(numbers={**rates, "n": len(rates)}, checks=checks, material="stored verdicts")


FAMILIES = (
    Family(
        "XSTest",
        holds("xstest/"),
        for_each_file(_xstest, "completions_"),
    ),
    Family("JailbreakBench", holds("jailbreakbench"), _jailbreaks),
)
