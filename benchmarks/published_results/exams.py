"""Exams and puzzles with stored answers: BIG-Bench Hard, MMLU, MMLU-Pro, GAOKAO-Bench, BBQ."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from probatum.core.protocol import Scorer
from probatum.core.records import Item
from probatum.extraction import FinalNumber, OptionLetter, ShortAnswer
from probatum.extraction.evidence import Extraction
from probatum.scoring import ChoiceMatch, ExactMatch, NumberMatch
from probatum.scoring.compat import GaokaoAnswer, MmluProAnswer, TextAfter
from probatum.scoring.exact import verbatim
from probatum.scoring.text import WholeText

from .files import Data
from .grading import Answer, Graded, held_against
from .rows import Difference, Family, Finding, NoMaterial, Rate, Row, holds
from .several import for_each_file

__all__ = ["FAMILIES"]

_OPTION = re.compile(r"^\(([A-Z])\) ?(.*)$", re.MULTILINE)


def _bbh(row: Row, data: Data) -> Finding:
    match = re.match(r"bbh-codex-(cot|direct)-(\w+)$", row.id)
    if match is None:
        raise NoMaterial(f"{row.id!r} names no task of BIG-Bench Hard")
    kind, task = match.groups()
    stored = [each for each in data.lines(row.inputs[0]) if (each["task"], each["kind"]) == (task, kind)]
    if not stored:
        raise NoMaterial(_consistent(row, task, data))
    questions = data.json(f"bbh/{task}.json")["examples"]
    answers = [
        Answer(_bbh_item(task, each, questions[each["i"]]["input"]), each["prediction"] or "")
        for each in stored
    ]
    rule = TextAfter(mark="answer is ") if kind == "cot" else WholeText()
    graded = held_against(answers, ExactMatch(rule, verbatim), _bbh_ours(answers))
    numbers: dict[str, Any] = {"accuracy": Rate(graded.mean), "n": len(stored), "": Rate(graded.mean)}
    notes = []
    calculated = _with_calculator(task, stored, graded)
    if calculated is not None:
        numbers["accuracy_with_calc"] = Rate(calculated)
    else:
        notes.append("accuracy_with_calc: which steps the calculator was run over is not published")
    return Finding(
        numbers=numbers,
        material="raw outputs",
        ours={"accuracy": 100 * graded.our_mean},
        differences=graded.differences,
        notes=notes,
    )


def _consistent(row: Row, task: str, data: Data) -> str:
    """No outputs: then only whether the figure can be a share of the task's items."""
    n = len(data.json(f"bbh/{task}.json")["examples"])
    share = row.value["accuracy"] if isinstance(row.value, Mapping) else row.value
    count = round(share * n / 100)
    fits = abs(100 * count / n - share) < 1e-9
    told = f"it is {count} of {n} items" if fits else f"it is no share of the {n} items"
    return f"none of the task's {n} outputs of this kind is stored, so that nothing is made again; {told}"


_SUM = re.compile(r"\d+(?: \+ \d+)+")


def _with_calculator(task: str, stored: Sequence[Mapping[str, Any]], graded: Graded) -> float | None:
    """Accuracy with the steps' arithmetic done by a calculator; elsewhere there is nothing to calculate."""
    if task == "multistep_arithmetic_two":
        return None
    if task != "object_counting":
        return graded.mean
    right = 0
    for each, score in zip(stored, graded.published, strict=True):
        sums = _SUM.findall(each["prediction"] or "")
        total = sum(map(int, sums[-1].split(" + "))) if sums else None
        right += bool(score) if total is None else str(total) == each["target"]
    return right / len(stored)


def _bbh_item(task: str, stored: Mapping[str, Any], question: str) -> Item:
    options = _OPTION.findall(question)
    target = stored["target"]
    choices = tuple(text or label for label, text in options) if re.fullmatch(r"\([A-Z]\)", target) else ()
    return Item(id=f"{task}/{stored['i']}", fields={}, targets=(target,), choices=choices)


class _Bracketed:
    """Labels in brackets as targets, for a scorer of labels."""

    scores = ("correct",)

    def grade(self, item: Item, sample: int, responses: Any) -> Any:
        bare = Item(id=item.id, fields={}, targets=(item.targets[0].strip("()"),), choices=item.choices)
        return ChoiceMatch(OptionLetter()).grade(bare, sample, responses)


def _bbh_ours(answers: Sequence[Answer]) -> Scorer:
    if answers[0].item.choices:
        return _Bracketed()
    if all(re.fullmatch(r"-?\d+", each.item.targets[0]) for each in answers):
        return NumberMatch(FinalNumber())
    return ExactMatch(ShortAnswer())


def _mmlu_helm(row: Row, data: Data) -> Finding:
    cells: dict[str, list[Answer]] = defaultdict(list)
    for each in data.lines(row.inputs[0]):
        cell = f"{each['model']}|{each['subject']}"
        item = Item(id=f"{cell}|{each['id']}", fields={}, targets=(each["gold"],), choices=("",) * 4)
        cells[cell].append(Answer(item, each["output"] or ""))
    numbers: dict[str, Any] = {}
    whole = Graded()
    models: dict[str, Graded] = defaultdict(Graded)
    for cell, answers in cells.items():
        graded = held_against(answers, ExactMatch(WholeText(), verbatim), ChoiceMatch(OptionLetter()))
        numbers[cell] = Rate(graded.mean)
        for sums in (whole, models[cell.partition("|")[0]]):
            sums.published += graded.published
            sums.ours += graded.ours
        whole.differences += graded.differences
    numbers |= {model: Rate(sums.mean) for model, sums in models.items()}
    return Finding(
        numbers={**numbers, "n": len(whole.published), "accuracy": Rate(whole.mean)},
        material="raw outputs",
        ours={"accuracy": 100 * whole.our_mean},
        differences=whole.differences,
    )


def _mmlu_redux(row: Row, data: Data) -> Finding:
    """Shares of the errors that experts found, and each model's accuracy on the stored letters."""
    stored = data.table(row.inputs[0])
    kinds = Counter(each["error_type"] for each in stored)
    models = [
        name for name in stored[0] if re.match(r"(anthropic|meta|openai|qwen|google|writer|mistralai)_", name)
    ]
    sound = [each for each in stored if each["error_type"] == "ok"]
    numbers: dict[str, Any] = {
        "n": len(stored),
        **{kind: Rate(count / len(stored)) for kind, count in kinds.items()},
    }
    numbers["counts"] = dict(kinds)
    numbers["error_rate"] = Rate(1 - kinds["ok"] / len(stored))
    for model in models:
        numbers[model] = Rate(_letters_right(stored, model))
        numbers[f"{model}|ok"] = Rate(_letters_right(sound, model))
    return Finding(numbers=numbers, material="extracted answers")


def _letters_right(rows: Sequence[Mapping[str, str]], model: str) -> float:
    return sum(each[model] == "ABCD"[int(each["groundtruth_answer"])] for each in rows) / len(rows)


_MMLU_PRO_TEXT = ("_subset_outputs.jsonl.gz", "_subset.jsonl.gz")


def _mmlu_pro(row: Row, data: Data) -> Finding:
    name = row.inputs[0]
    stored = data.lines(name)
    right = sum(each["pred"] == each["answer"] for each in stored) / len(stored)
    by_category: dict[str, list[bool]] = defaultdict(list)
    for each in stored:
        by_category[each.get("category", "all")].append(each["pred"] == each["answer"])
    numbers = {"n": len(stored), "acc": Rate(right), "accuracy": Rate(right), "": Rate(right)}
    numbers |= {category: Rate(sum(values) / len(values)) for category, values in by_category.items()}
    texts = [f"{name.partition('_all_preds')[0]}{end}" for end in _MMLU_PRO_TEXT]
    outputs = next((each for each in texts if data.has(each)), None)
    if outputs is None:
        return Finding(numbers=numbers, material="extracted answers")
    sizes = {each["question_id"]: each["n_options"] for each in stored}
    return _mmlu_pro_outputs(numbers, data.lines(outputs), sizes)


def _mmlu_pro_outputs(
    numbers: dict[str, Any], outputs: Sequence[Mapping[str, Any]], sizes: Mapping[int, int]
) -> Finding:
    """Reads the raw outputs that are stored (every 12th) by the published chain, and by ours."""
    texts = {
        each["question_id"]: each.get("generated_text") or each.get("model_outputs") or "" for each in outputs
    }
    patterns, disagree = min(
        ((count, _chain_differs(outputs, texts, count)) for count in (1, 2, 3)), key=lambda each: len(each[1])
    )
    scorer = ChoiceMatch(OptionLetter())
    right = published = 0.0
    differences: list[Difference] = []
    for each in outputs:
        name = each["question_id"]
        choices = tuple(each.get("options", ("",) * sizes.get(name, 10)))
        item = Item(id=str(name), fields={}, targets=(each["answer"],), choices=choices)
        outcome = scorer.grade(item, 0, [_response(texts[name])])
        ours, theirs = outcome.scores.get("correct", 0.0), float(each["pred"] == each["answer"])
        right, published = right + ours, published + theirs
        if ours != theirs:
            why = outcome.reason or f"rule {outcome.rule}"
            told = "drawn at random" if name in disagree else f"chain of {patterns}"
            theirs_told = f"{each['pred']} ({told})"
            reason = f"{why}; gold {each['answer']}"
            differences.append(Difference(str(name), theirs_told, str(outcome.answer), reason))
    kept = len(outputs) - len(disagree)
    note = f"{patterns} patterns of the chain read {kept} of {len(outputs)} stored outputs as published"
    if disagree:
        note += "; the others match no pattern, and were drawn at random"
    return Finding(
        numbers=numbers,
        material=f"answers; {len(outputs)} outputs",
        ours={
            "published rule there": 100 * published / len(outputs),
            "ours there": 100 * right / len(outputs),
        },
        differences=differences,
        notes=(note,),
    )


def _chain_differs(
    outputs: Sequence[Mapping[str, Any]], texts: Mapping[int, str], patterns: Any
) -> frozenset[int]:
    """Items whose stored letter is not the one that so many patterns read."""
    chain = MmluProAnswer(patterns=patterns)
    found = set()
    for each in outputs:
        read = chain.extract(texts[each["question_id"]], Item(id="", fields={}))
        letter = read.answer if isinstance(read, Extraction) else None
        if letter != each["pred"]:
            found.add(each["question_id"])
    return frozenset(found)


def _response(text: str) -> Any:
    return Answer(Item(id="", fields={}), text).response()


_GAOKAO_KIND = (
    ("Physics", "multiple"),
    ("Cloze", "five_of_seven"),
    ("Geography", "several_questions"),
    ("Chinese", "several_questions"),
    ("Reading", "several_questions"),
    ("Fill_in", "several_questions"),
)


def _gaokao(row: Row, data: Data) -> Finding:
    files = [
        name for pattern in row.inputs for name in data.matching(pattern) if "MCQs" in name or "Cloze" in name
    ]
    every = list(data.matching("gaokao_bench/gpt*.json"))
    files = files or [name for name in every if _subject(name) in row.id] or every
    official = {
        kind: scores
        for subject in data.json("gaokao_bench/correction_score.json")["subject"].values()
        for kind, scores in subject["type"].items()
    }
    numbers: dict[str, Any] = {}
    checks: list[tuple[str, float, float]] = []
    differences: list[Difference] = []
    total = correct = questions = 0.0
    for name in files:
        paper = data.json(name)
        scored = _gaokao_paper(paper)
        differences += scored.pop("differences")
        numbers[paper["keyword"]] = scored
        theirs = official.get(paper["keyword"], {})
        checks += [
            (f"{paper['keyword']}/{key}", value, scored[key])
            for key, value in theirs.items()
            if key in scored
        ]
        total, correct = total + scored["total_score"], correct + scored["correct_score"]
        questions += scored["question_num"]
    whole = {"total_score": total, "correct_score": correct, "question_num": questions, "n": int(questions)}
    numbers |= {**whole, "scoring_rate": Rate(correct / total), "accuracy": Rate(correct / total)}
    numbers["types"] = numbers["files"] = len(files)
    return Finding(
        numbers=numbers,
        material="raw outputs",
        checks=checks,
        ours={"items read otherwise": float(len(differences))},
        differences=differences,
    )


def _subject(name: str) -> str:
    return re.sub(r".*_\d{4}-\d{4}_|_MCQs|\.json", "", name)


def _gaokao_paper(paper: Mapping[str, Any]) -> dict[str, Any]:
    """Score of one paper by the published rule, from the letters that it reads in the raw outputs."""
    kind: Any = next((kind for part, kind in _GAOKAO_KIND if part in paper["keyword"]), "single")
    extractor = GaokaoAnswer(kind=kind)
    total = correct = count = 0.0
    differences: list[Difference] = []
    for each in paper["example"]:
        golds = each["standard_answer"]
        read = extractor.extract(each["model_output"], Item(id="", fields={"questions": len(golds)}))
        answers = read.answer.split(",") if isinstance(read, Extraction) else []
        total, count = total + each["score"] * len(golds), count + len(golds)
        if len(answers) == len(golds):
            correct += sum(
                each["score"] * _gaokao_share(a, g, kind) for a, g in zip(answers, golds, strict=True)
            )
        if kind == "single":
            own = ChoiceMatch(OptionLetter(declared=("【答案】",), labels=tuple("ABCD")))
            item = Item(id=f"{paper['keyword']}/{each['index']}", fields={}, targets=(golds[0],))
            outcome = own.grade(item, 0, [_response(re.sub(r"<eo[ae]>", "\n", each["model_output"]))])
            if outcome.scores.get("correct", 0.0) != float(answers == golds):
                why = outcome.reason or f"rule {outcome.rule}"
                differences.append(
                    Difference(item.id, ",".join(answers), str(outcome.answer), f"{why}; gold {golds[0]}")
                )
    return {
        "": Rate(correct / total),
        "n": int(count),
        "score": correct,
        "total_score": total,
        "correct_score": correct,
        "question_num": count,
        "scoring_rate": Rate(correct / total),
        "differences": differences,
    }


def _gaokao_share(answer: str, gold: str, kind: str) -> float:
    """Half of the points for some of several right options, and no wrong one."""
    if answer == gold:
        return 1.0
    return 0.5 if kind == "multiple" and answer and set(answer) < set(gold) else 0.0


def _bbq(row: Row, data: Data) -> Finding:
    """Accuracy of UnifiedQA's two models by condition (Parrish et al. 2022, arXiv:2110.08193)."""
    numbers: dict[str, Any] = {}
    for name in [each for pattern in row.inputs for each in data.matching(pattern)]:
        stored = data.lines(name)
        for model in ("pred_race", "pred_arc"):
            for condition in ("ambig", "disambig"):
                part = [each for each in stored if each["condition"] == condition]
                right = [_plain(each[model]) == _plain(each["ans"][each["label"]]) for each in part]
                numbers[f"{stored[0]['category']}|{model}|{condition}"] = Rate(sum(right) / len(right))
            whole = [_plain(each[model]) == _plain(each["ans"][each["label"]]) for each in stored]
            numbers[model] = numbers[f"{stored[0]['category']}|{model}"] = Rate(sum(whole) / len(whole))
        numbers["n"] = len(stored)
    return Finding(numbers=numbers, material="raw outputs")


def _plain(text: str) -> str:
    return text.strip().strip(".").lower()


FAMILIES = (
    Family("BIG-Bench Hard", lambda row: row.id.startswith("bbh"), _bbh),
    Family("MMLU of HELM", holds("helm_predictions"), _mmlu_helm),
    Family("MMLU-Redux", holds("mmlu_redux"), _mmlu_redux),
    Family(
        "MMLU-Pro",
        holds("mmlu_pro/"),
        for_each_file(_mmlu_pro, "_all_preds"),
    ),
    Family("GAOKAO-Bench", holds("gaokao_bench/"), _gaokao),
    Family("BBQ", holds("bbq/"), _bbq),
)
