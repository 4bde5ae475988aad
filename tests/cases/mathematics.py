"""Mathematical equivalence."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from probatum.extraction import Extraction
from probatum.extraction.mathematics import find_math
from probatum.scoring.math import Conventions, compare_answers, gold_problem, math_equal
from probatum.scoring.math.reading import read_answer
from probatum.scoring.math.values import Text
from tests.cases.frame import Given, Said, operation

NOTES = ("context", "assume", "answer_type", "why", "note", "lang")
"""What a case says for people: the question's context, which ours does not need."""


def bare(text: str) -> str:
    """The answer of a text that marks one; any other text is an answer itself."""
    found = find_math(text, loose=False)
    return found.answer if isinstance(found, Extraction) else text


def conventions(given: Given) -> Conventions:
    chosen: dict[str, Any] = {}
    if "ordered" in given:
        chosen["ordered"] = bool(given["ordered"])
    for name in ("decimals", "precision"):
        if name in given:
            chosen["decimals"] = int(given[name])
    return Conventions(**chosen)


def verdict(given: Given, one: str, two: str) -> bool | None:
    return math_equal(bare(one), bare(two), conventions(given))


def same(ours: Any, expected: Any) -> bool:
    """An undecided verdict is not equal; prose begins with the verdict, and may allow the other."""
    if isinstance(expected, list):
        return isinstance(ours, list) and len(ours) == len(expected) and all(map(same, ours, expected))
    if isinstance(expected, dict):
        return isinstance(ours, dict) and all(same(ours.get(key), value) for key, value in expected.items())
    if isinstance(expected, bool):
        return bool(ours) is expected
    words = str(expected).lower()
    said = "undecided" if ours is None else str(bool(ours)).lower()
    return words.startswith(said) or f"'{said}'" in words or f"or {said}" in words


@operation("math_equal", unused=NOTES, agrees=same)
def equal(given: Given) -> bool | None:
    start = time.monotonic()
    found = verdict(given, given["gold"], given["pred"])
    within = time.monotonic() - start <= float(given.get("limit_s", "inf"))
    return found if within else not found


@operation("math_equal_many", unused=NOTES, agrees=same)
def equal_many(given: Given) -> list[bool | None]:
    return [verdict(given, given["gold"], each) for each in given["preds"]]


@operation("pairs_equal", unused=NOTES, agrees=same)
def pairs_equal(given: Given) -> list[bool | None]:
    return [verdict(given, one, two) for one, two in given["pairs"]]


@operation("math_equal_symmetry", unused=NOTES, agrees=same)
def symmetry(given: Given) -> dict[str, bool | None]:
    a, b = given["a"], given["b"]
    return {"a_b": verdict(given, a, b), "b_a": verdict(given, b, a)}


def all_came(ours: list[bool | None], expected: Any) -> bool:
    count = re.match(r"(\d+) results", str(expected))
    return count is not None and len(ours) == int(count[1]) and not any(ours)


@operation("math_equal_in_thread", unused=NOTES, agrees=all_came)
def in_threads(given: Given) -> list[bool | None]:
    """From several threads at once; afterwards each of them compares something else."""
    threads = given["threads"]
    limit = 2 * float(given["limit_s"])
    start = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda _: verdict(given, given["gold"], given["pred"]), range(threads)))
        usable = all(pool.map(lambda n: math_equal(str(n), f"{n}.0"), range(threads)))
    return found if usable and time.monotonic() - start <= limit else []


@operation("parse_prediction")
def parse_prediction(given: Given) -> Said:
    """Text that is code is words: its value is never worked out."""
    text = given["text"]
    evaluated = math_equal(text, str(Path.cwd())) or not isinstance(read_answer(text).readings[0], Text)
    return Said("evaluated" if evaluated else "not evaluated")


@operation("gold_equals_itself", unused=NOTES, agrees=same)
def gold_equals_itself(given: Given) -> bool:
    return gold_problem(given["gold"]) is None and bool(compare_answers(given["gold"], given["gold"]).verdict)
