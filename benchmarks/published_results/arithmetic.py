"""Word problems with stored solutions: GSM8K, ToRA, Program of Thoughts, zero-shot CoT, Qwen's votes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from probatum.core.protocol import Scorer
from probatum.core.records import Item, Outcome
from probatum.core.status import Status
from probatum.extraction import FinalNumber, OptionLetter, ShortAnswer
from probatum.extraction.evidence import Extraction
from probatum.extraction.mathematics import find_math
from probatum.extraction.numbers import parse_number
from probatum.scoring import ChoiceMatch, ExactMatch, NumberMatch, Tolerance, best_of_k, majority_at_k
from probatum.scoring.compat import PercentNumberMatch, RoundedNumberMatch, TextAfter, ZeroShotCotAnswer
from probatum.scoring.exact import verbatim
from probatum.scoring.math import Conventions, MathMatch, compare_answers, math_equal
from probatum.scoring.text import WholeText

from . import execution
from .files import Data
from .grading import Answer, grade, held_against, score_of
from .rows import Difference, Family, Finding, NoMaterial, Prose, Rate, Row, holds
from .several import for_each_file

__all__ = ["FAMILIES"]

_SOLVERS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


def _gsm8k_openai(row: Row, data: Data) -> Finding:
    solver = next((each for each in _SOLVERS if row.id.endswith(each)), None)
    if solver is None:
        raise NoMaterial(f"{row.id!r} names none of {', '.join(_SOLVERS)}")
    behind = TextAfter(mark="A:", strip_stop=False)
    answers, stored = [], []
    for number, each in enumerate(data.lines(row.inputs[0])):
        gold = behind.extract(each["ground_truth"], Item(id="", fields={}))
        item = Item(id=f"test/{number}", fields={}, targets=(getattr(gold, "answer", ""),))
        answers.append(Answer(item, each[solver]["solution"]))
        stored.append(bool(each[solver]["is_correct"]))
    graded = held_against(answers, NumberMatch(behind), NumberMatch(FinalNumber(declared=("A:",))))
    disagree = sum(bool(score) != verdict for score, verdict in zip(graded.published, stored, strict=True))
    right = round(sum(graded.published))
    return Finding(
        numbers={"n": len(answers), "accuracy": Rate(graded.mean), "correct": right, "": Rate(graded.mean)},
        material="raw outputs",
        checks=(("solutions whose is_correct is another", 0, disagree),),
        ours={"accuracy": 100 * graded.our_mean},
        differences=graded.differences,
    )


def _tora(row: Row, data: Data) -> Finding:
    """Answers that ToRA's programs printed; the published rule takes hundredths and hundredfolds as equal."""
    if not row.inputs[0].endswith(("jsonl", "jsonl.gz")):
        return _tora_types(row, data)
    answers = []
    for each in data.lines(row.inputs[0]):
        item = Item(id=f"gsm8k/{each['idx']}", fields={}, targets=(each["gt"].replace(",", ""),))
        answers.append(Answer(item, each["pred"][0] if each["pred"] else ""))
    ours = NumberMatch(WholeText(), Tolerance(absolute="0.001"))
    graded = held_against(answers, PercentNumberMatch(WholeText()), ours)
    rate = Rate(graded.mean)
    return Finding(
        numbers={"": rate, "accuracy": rate, "mean": rate, "score": rate, "n": len(answers)},
        material="printed answers",
        ours={"accuracy": 100 * graded.our_mean},
        differences=graded.differences,
    )


_MATH_ITEMS = {
    "Algebra": 1187,
    "Counting & Probability": 474,
    "Geometry": 479,
    "Intermediate Algebra": 903,
    "Number Theory": 540,
    "Prealgebra": 871,
    "Precalculus": 546,
}
"""Items of MATH's test set by type (Hendrycks et al. 2021)."""


def _tora_types(row: Row, data: Data) -> Finding:
    """No outputs of MATH: only whether the mean follows from the scores of the types."""
    text = data.text(row.inputs[0])
    types = {name: float(value) for name, value in re.findall(r"'([^']+)': ([\d.]+)", text)}
    if not types.keys() <= _MATH_ITEMS.keys() or not types:
        raise NoMaterial("the file holds totals and no outputs")
    total = sum(types[name] * _MATH_ITEMS[name] for name in types) / sum(_MATH_ITEMS[name] for name in types)
    return Finding(
        numbers={"": Rate(total / 100), "mean": Rate(total / 100), "accuracy": Rate(total / 100), **types},
        material="scores of the types",
        tolerance=0.1,
        notes=("no outputs are stored: the mean is made again from the scores of the types",),
    )


def _pot(row: Row, data: Data) -> Finding:
    stored = [each for each in data.lines(row.inputs[0]) if "answer" in each]
    name = row.inputs[0].rpartition("/")[2].partition("_s0")[0]
    if "prediction" in stored[0]:
        return _pot_options(row, name, stored)
    answers = []
    for number, each in enumerate(stored):
        item = Item(id=f"{name}/{number}", fields={}, targets=(str(each["answer"]),))
        answers.append(Answer(item, "" if each["executed"] is None else str(each["executed"])))
    ours = NumberMatch(WholeText(), Tolerance(absolute="0.001"))
    graded = held_against(answers, RoundedNumberMatch(WholeText()), ours)
    told = "within 1 of the answer, and wrong by both rules"
    near = [
        Difference(answer.item.id, answer.text, answer.item.targets[0], told)
        for answer, score, own in zip(answers, graded.published, graded.ours, strict=True)
        if not score and not own and _near(answer.text, answer.item.targets[0])
    ]  # fmt: skip
    again, moved = _executed_again(name, stored)
    return Finding(
        numbers=_em(graded.mean, len(stored)),
        material="printed answers",
        ours={"accuracy": 100 * graded.our_mean, **again},
        differences=[*graded.differences, *near, *moved],
        explained=_which_counts(row, graded.mean, len(stored), len(near)),
    )


_UNUSED_NUMPY = re.compile(r"^import numpy as np$", re.MULTILINE)


def _executed_again(
    name: str, stored: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, float], list[Difference]]:
    """The share of programs that print the answer when executed here, and those that printed otherwise.

    The sandbox has the standard library: where numpy is imported and never used, the import is left out.
    """
    if not execution.is_allowed():
        return {}, []
    codes = [_runnable(each["generated"]) for each in stored]
    tests = [f"assert {_close('answer()', each['answer'])}\n" for each in stored]
    found = execution.run_programs(list(zip(codes, tests, strict=True)))
    moved = []
    for number, (each, ended) in enumerate(zip(stored, found, strict=True)):
        printed, gold = each["executed"], each["answer"]
        if (printed is not None and abs(printed - gold) <= _ROOM * max(1.0, abs(gold))) != ended.passed:
            moved.append(number)
    signless = [(codes[n], f"assert {_close('abs(answer())', stored[n]['answer'])}\n") for n in moved]
    reasons = [
        "the stored output is the absolute value of what the program gives"
        if again.passed
        else f"executed here: {found[number].how}"
        for number, again in zip(moved, execution.run_programs(signless), strict=True)
    ]
    differences = [
        Difference(f"{name}/{n}", f"printed {stored[n]['executed']}", str(found[n].passed), told)
        for n, told in zip(moved, reasons, strict=True)
    ]
    return {"executed here": 100 * sum(each.passed for each in found) / len(found)}, differences


def _runnable(generated: str | Sequence[str]) -> str:
    """The program, with a function that gives its `ans`."""
    code = generated if isinstance(generated, str) else generated[0]
    code = code if "np." in code else _UNUSED_NUMPY.sub("", code)
    return f"import math\n{code}\n\ndef answer():\n    return float(ans)\n"


_ROOM = 0.001


def _close(said: str, gold: float) -> str:
    return f"abs({said} - {float(gold)!r}) <= {_ROOM * max(1.0, abs(gold))!r}"


def _pot_options(row: Row, name: str, stored: Sequence[Mapping[str, Any]]) -> Finding:
    """AQuA: the option that was chosen for the printed number is stored; choosing it is not published."""
    right = [each["prediction"] == each["answer"] for each in stored]
    mean = sum(right) / len(right)
    near = [
        Difference(f"{name}/{number}", str(each["prediction"]), each["answer"], "no option was chosen")
        for number, each in enumerate(stored)
        if each["prediction"] not in ("A", "B", "C", "D", "E")
    ]
    return Finding(
        numbers=_em(mean, len(stored)),
        material="extracted answers",
        ours={"accuracy": 100 * mean},
        differences=near,
        explained=_which_counts(row, mean, len(stored), len(near)),
    )


def _em(mean: float, count: int) -> dict[str, Any]:
    return {"n": count, "em": Rate(mean), "accuracy": Rate(mean), "": Rate(mean)}


def _near(text: str, target: str) -> bool:
    value, gold = parse_number(text), parse_number(target)
    return value is not None and gold is not None and abs(value - gold) < 1


def _which_counts(row: Row, mean: float, count: int, near: int) -> str | None:
    """Which counts of right items the published figure of three decimals allows."""
    figure = row.value.get("em") if isinstance(row.value, Mapping) else row.value
    if not isinstance(figure, float) or abs(figure - mean) > 2 / count:
        return None
    room = Fraction(1, 2000)
    allowed = [n for n in range(count + 1) if abs(Fraction(n, count) - Fraction(str(figure))) <= room]
    found = round(mean * count)
    if not allowed:
        return (
            f"no count of right answers among the {count} stored items gives {figure}: {found} are right; "
            f"the published figure is of other items. The {near} listed items have no answer"
        )
    return (
        f"{figure} is {allowed[0]} of {count} items, and {found} are right here; the {near} listed items are "
        "those that another tolerance, or another way to print, would count"
    )


def _zero_shot_cot(row: Row, data: Data) -> Finding:
    name = row.inputs[0].rpartition("/")[2].partition(".")[0]
    kind, options = _trigger(name)
    stored = data.lines(row.inputs[0])
    answers = [
        Answer(
            Item(
                id=f"{name}/{number}",
                fields={},
                targets=(each["gold"],),
                choices=_choices(each["text"], options),
            ),
            each["pred_before"],
        )
        for number, each in enumerate(stored)
    ]
    rule = ZeroShotCotAnswer(kind=kind, options=options or "ABCDE")
    graded = held_against(answers, ExactMatch(rule, verbatim), _zero_shot_ours(kind, options))
    disagree = sum(
        bool(score) != (each["pred"] == each["gold"])
        for score, each in zip(graded.published, stored, strict=True)
    )
    right = round(sum(graded.published))
    rate = Rate(graded.mean)
    return Finding(
        numbers={
            "n": len(stored),
            "accuracy": rate,
            "acc": rate,
            "": rate,
            "correct": right,
            "total": len(stored),
        },
        prose=(Prose(r"accuracy\D*([\d.]+)", 100 * graded.mean), Prose(r"([\d.]+) ?%", 100 * graded.mean)),
        material="raw outputs",
        checks=(("items whose logged answer is judged otherwise", 0, disagree),),
        ours={"accuracy": 100 * graded.our_mean},
        differences=graded.differences,
    )


_CHOICE = re.compile(r"\(([A-F])\) ?(.*?)(?= \([A-F]\)|\n|$)")


def _choices(text: str, options: str) -> tuple[str, ...]:
    """The texts of the options that stand in the question; empty where they cannot be read."""
    asked = text.partition("Answer Choices:")[2].partition("\nA:")[0]
    texts = dict(_CHOICE.findall(asked))
    given = tuple(texts.get(label, "").strip() for label in options)
    return given if len(set(given)) == len(given) else ("",) * len(options)


_NUMBERS = ("gsm8k", "addsub", "multiarith", "svamp", "singleeq")
_SETS = (("date", "ABCDEF"), ("shuffled", "ABC"), ("aqua", "ABCDE"), ("common", "ABCDE"))


def _trigger(name: str) -> tuple[Any, str]:
    if name.startswith(_NUMBERS):
        return "number", ""
    if name.startswith(("strategyqa", "coin")):
        return "yes_no", ""
    options = next((labels for part, labels in _SETS if name.startswith(part)), "")
    return ("option", options) if options else ("text", "")


def _zero_shot_ours(kind: str, options: str) -> Scorer:
    if kind == "number":
        return NumberMatch(FinalNumber())
    if kind == "option":
        return ChoiceMatch(OptionLetter(labels=tuple(options)))
    if kind == "yes_no":
        return _YesNo()
    return ExactMatch(ShortAnswer())


class _YesNo:
    """Two options named `yes` and `no`."""

    scores = ("correct",)

    def grade(self, item: Item, sample: int, responses: Any) -> Outcome:
        labels = ("yes", "no")
        bare = Item(id=item.id, fields={}, targets=item.targets, choices=("", ""))
        return ChoiceMatch(OptionLetter(labels=labels)).grade(bare, sample, responses)


def _qwen_majority(row: Row, data: Data) -> Finding:
    """Eight samples an item with their verdicts and rewards: pass@8, maj@8 and the best by reward."""
    outcomes: list[Outcome] = []
    rewards: dict[tuple[str, int], float] = {}
    stored = data.lines(row.inputs[0])
    for each in stored:
        for sample, (answer, right, reward) in enumerate(
            zip(each["pred"], each["score"], each["pred_score"], strict=True)
        ):
            item = str(each["idx"])
            scores = {"correct": float(right)}
            outcomes.append(
                Outcome(item_id=item, sample=sample, status=Status.SCORED, scores=scores, answer=answer)
            )
            rewards[item, sample] = reward[0] if isinstance(reward, list) else reward
    samples = len(stored[0]["pred"])
    raw = majority_at_k(outcomes, samples, ties="first")
    best = best_of_k(outcomes, rewards, samples)
    passed = [any(each["score"]) for each in stored]
    values = [each.scores["correct"] for each in outcomes]
    numbers = {
        "n": len(stored),
        "mean": Rate(sum(values) / len(values)),
        f"pass{samples}": Rate(sum(passed) / len(passed)),
        f"maj{samples}_raw": Rate(raw.value or 0.0),
        f"maj{samples}": Rate(raw.value or 0.0),
        f"rm{samples}": Rate(best.value or 0.0),
    }
    graded, differences = _graded_again(stored)
    own = majority_at_k(graded, samples, equal=_same_value)
    return Finding(
        numbers=numbers,
        material="outputs and verdicts",
        ours={
            "mean": 100 * sum(each.scores.get("correct", 0.0) for each in graded) / len(graded),
            f"maj@{samples}, equal values": 100 * (own.value or 0.0),
            f"rm@{samples}": 100 * (best_of_k(graded, rewards, samples).value or 0.0),
        },
        differences=[*differences, *_votes_that_differ(outcomes, samples)],
        notes=own.warnings,
    )


def _graded_again(stored: Sequence[Mapping[str, Any]]) -> tuple[list[Outcome], list[Difference]]:
    """Every sample by our extraction and equivalence, and those whose stored verdict is another."""
    outcomes: list[Outcome] = []
    differences: list[Difference] = []
    scorer = MathMatch()
    for each in stored:
        item = Item(id=str(each["idx"]), fields={}, targets=(str(each["answer"]),))
        for sample, (text, theirs) in enumerate(zip(each["response"], each["score"], strict=True)):
            found = replace(grade(scorer, Answer(item, text)), sample=sample)
            outcomes.append(found)
            if bool(score_of(found)) != bool(theirs):
                told = found.reason or f"{found.answer!r:.80} by {found.rule}; gold {item.targets[0]!r}"
                differences.append(
                    Difference(f"{item.id}#{sample}", str(theirs), str(bool(score_of(found))), told)
                )
    return outcomes, differences


def _same_value(first: str, second: str) -> bool:
    return first == second or bool(math_equal(first, second))


def _votes_that_differ(outcomes: Sequence[Outcome], samples: int) -> list[Difference]:
    items = dict.fromkeys(each.item_id for each in outcomes)
    found = []
    for item in items:
        own = [each for each in outcomes if each.item_id == item]
        raw = majority_at_k(own, samples, ties="first").value
        ours = majority_at_k(own, samples, equal=_same_value).value
        if raw != ours:
            answers = ", ".join(str(each.answer) for each in own)[:160]
            found.append(
                Difference(item, f"score {raw}", f"score {ours}", f"ties and equal values among: {answers}")
            )
    return found


def _equivalences(row: Row, data: Data) -> Finding:
    """Pairs of a gold and an answer of other tools' suites, with whether they are the same mathematics."""
    stored = data.lines(row.inputs[0])
    differences = []
    for number, each in enumerate(stored):
        verdict, reason = _same_answer(each)
        if verdict != bool(each["expected"]):
            differences.append(
                Difference(str(number), f"equal: {each['expected']}", f"equal: {verdict}", reason)
            )
    agree = len(stored) - len(differences)
    rate = Rate(agree / len(stored))
    numbers = {"n": len(stored), "agree": agree, "agreement": rate, "accuracy": rate, "": rate}
    ours = {"agree": float(agree)}
    return Finding(numbers=numbers, material="pairs", ours=ours, differences=differences)


def _same_answer(each: Mapping[str, Any]) -> tuple[bool, str]:
    """Our verdict on a pair of texts, under what its suite takes for granted, and why."""
    gold, answer = find_math(str(each["gold"])), find_math(str(each["answer"]))
    if not isinstance(gold, Extraction) or not isinstance(answer, Extraction):
        return False, "no answer was found in one of the texts"
    decimals = (each.get("params") or {}).get("precision")
    conventions = Conventions(decimals=decimals, ordered=str(each.get("source", "")).startswith("hendrycks"))
    found = compare_answers(gold.answer, answer.answer, conventions)
    return bool(found.verdict), f"{found.rule}: {found.reason}"


FAMILIES = (
    Family("equivalences", holds("equivalence_cases"), _equivalences),
    Family(
        "GSM8K, OpenAI",
        holds("example_model_solutions"),
        _gsm8k_openai,
    ),
    Family("ToRA", holds("tora_"), for_each_file(_tora, "_outputs.")),
    Family(
        "Program of Thoughts",
        holds("pot/"),
        for_each_file(_pot, "pot/"),
    ),
    Family(
        "zero-shot CoT",
        holds("zero_shot_cot/"),
        for_each_file(_zero_shot_cot, "zero_shot_cot/"),
    ),
    Family("majority and reward", holds("rm_maj"), _qwen_majority),
)
