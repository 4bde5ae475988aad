"""Reading answers: numbers, options, boxes, declared lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from probatum.core.records import Finish, Item, Outcome, Response
from probatum.extraction import (
    DeclaredLine,
    Extraction,
    FinalNumber,
    OptionLetter,
    PatternAnswer,
    extract_boxed,
    extract_option,
    extract_options,
    strip_reasoning,
)
from probatum.extraction.boxes import find_boxed
from probatum.extraction.characters import fold_width
from probatum.extraction.evidence import Found
from probatum.extraction.numbers import parse_number
from probatum.extraction.options import Choices, Options, default_labels, find_option
from probatum.scoring import ChoiceMatch, NumberMatch
from probatum.scoring.free_answers import answer_overlap, includes_answer
from tests.cases.frame import Given, NotMappedError, Said, agree, begins, operation, refusal

ITEM = Item(id="case", fields={})


def answer(found: Extraction | None) -> str | None:
    return found.answer if found else None


def many(name: str, single: Callable[[Given], Any], key: str = "text") -> None:
    """An operation over several texts, as the one over a single text."""

    def run(given: Given) -> list[Any]:
        shared = {field: given[field] for field in given if field not in ("op", f"{key}s")}
        read = [Given({**shared, key: text}) for text in given[f"{key}s"]]
        return [single(each) for each in read]

    operation(name, unused=("gold", "golds", "lang"))(run)


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────


def finish(given: Given) -> Finish:
    return Finish(given.get("finish_reason", "stop"))


def same_outcome(ours: Outcome, expected: Any) -> bool:
    """The number, with "/ correct" behind it or not; or that there is no answer."""
    if expected is None or (isinstance(expected, str) and begins(expected, "no answer")):
        wanted = ("truncated",) if "truncated" in str(expected) else ("no_answer", "truncated")
        return ours.status in wanted
    text = str(expected)
    value, _, verdict = text.partition("/") if re.search(r"/\s*(?:in)?correct", text) else (text, "", "")
    if ours.status != "scored" or ours.answer is None:
        return False
    right = Fraction(str(value).strip()) if _plain(value.strip()) else parse_number(value)
    if verdict.strip() and (ours.scores["correct"] == 1.0) != (verdict.strip() == "correct"):
        return False
    return right is not None and Fraction(ours.answer) == right


def _plain(text: str) -> bool:
    return re.fullmatch(r"-?\d+(?:\.\d+|/\d+)?", text) is not None


def marks_of(given: Given) -> tuple[str, ...]:
    """The marks of an answer line that a case declares."""
    named = next((given[name] for name in ("marker", "markers", "declared") if name in given), ())
    return (named,) if isinstance(named, str) else tuple(named)


@operation("extract_final_number", "extract_number", "final_number", agrees=same_outcome)
def extract_final_number(given: Given) -> Outcome:
    settings: dict[str, Any] = {}
    if given.get("lang") == "zh":
        settings["chinese_numerals"] = True
    if "decimal" in given:
        settings["decimal"] = {",": "comma", ".": "point"}.get(given["decimal"], given["decimal"])
    if "percent" in given:
        settings["percent"] = given["percent"]
    if marks := marks_of(given):
        settings["declared"] = marks
    gold = str(given.get("gold", "0"))
    response = Response(request="", text=given["text"], finish=finish(given))
    item = Item(id="case", fields={}, targets=(gold,))
    return NumberMatch(FinalNumber(**settings)).grade(item, 0, [response])


@operation("parse_gold")
def parse_gold(given: Given) -> Any:
    if given["format"] in ("math", "boxed"):
        return answer(extract_boxed(given["gold_field"]))
    if given["format"] != "gsm8k":
        raise NotMappedError(f"format {given['format']!r}")
    found = FinalNumber(declared=("####",)).extract(given["gold_field"], ITEM)
    return answer(found) if isinstance(found, Extraction) else None


# ── boxes, reasoning, patterns, widths ──────────────────────────────────────────────────────────────


def no_answer_or_text(ours: Any, expected: Any) -> bool:
    if agree(ours, expected):
        return True
    words = ("no answer", "ambiguous", "unscored", "not an answer")
    return ours is None and isinstance(expected, str) and any(word in expected for word in words)


@operation("extract_boxed", unused=("gold",), agrees=no_answer_or_text)
def boxed(given: Given) -> Any:
    found, ended = find_boxed(given["text"]), finish(given)
    if getattr(found, "truncated", False) or (ended is Finish.LENGTH and answer_of(given) is None):
        return Said("no answer (truncated)")
    return answer_of(given)


def answer_of(given: Given) -> str | None:
    return answer(extract_boxed(given["text"]))


@operation("strip_reasoning", unused=("gold",), agrees=no_answer_or_text)
def reasoning(given: Given) -> Any:
    return answer(strip_reasoning(given["text"]))


@operation("pattern_score", agrees=lambda ours, expected: ours == expected)
def pattern_score(given: Given) -> str:
    found = PatternAnswer(pattern=given["pattern"]).extract(given["text"], ITEM)
    if not isinstance(found, Extraction):
        return "no answer"
    return f"{found.answer} / {'correct' if found.answer == given['target'] else 'incorrect'}"


@operation("width_fold_equal")
def width_fold_equal(given: Given) -> list[bool]:
    return [fold_width(left) == fold_width(right) for left, right in given["pairs"]]


@operation("extract_declared", "declared_line", unused=("gold",), agrees=no_answer_or_text)
def declared(given: Given) -> Any:
    markers = (given["marker"],) if "marker" in given else tuple(given["markers"])
    found = DeclaredLine(declared=markers).extract(given["text"], ITEM)
    return answer(found) if isinstance(found, Extraction) else None


# ── options ─────────────────────────────────────────────────────────────────────────────────────────


def options_of(given: Given) -> Options:
    options: Options = given["options"]
    return options


@operation("extract_option", "extract_letter", unused=("gold", "lang"), agrees=no_answer_or_text)
def option(given: Given) -> Any:
    if finish(given) is Finish.LENGTH:
        return graded_option(given)
    if given.get("multiple"):
        return several(given)
    if marks := marks_of(given):
        return answer_in(find_option(given["text"], Choices.of(options_of(given)), markers=marks))
    return answer(extract_option(given["text"], options_of(given)))


def answer_in(found: Found) -> str | None:
    return found.answer if isinstance(found, Extraction) else None


def graded_option(given: Given) -> Any:
    """Through the scorer, which knows what the end of the tokens means."""
    options = options_of(given)
    labels = tuple(options)
    texts = tuple(options.values()) if isinstance(options, dict) else ()
    item = Item(id="case", fields={}, choices=texts, targets=(str(given.get("gold", labels[0])),))
    response = Response(request="", text=given["text"], finish=finish(given))
    graded = ChoiceMatch(OptionLetter(labels=labels)).grade(item, 0, [response])
    return graded.answer if graded.status == "scored" else Said(f"no answer ({graded.status})")


many("extract_option_many", option)
many("extract_final_number_many", lambda given: extract_final_number(given).answer)
many("extract_boxed_many", answer_of)


@operation("extract_options", unused=("gold", "lang"))
def several(given: Given) -> Any:
    found = extract_options(given["text"], options_of(given))
    return found.answer.split(",") if found else None


@operation("extract_options_many")
def options_many(given: Given) -> list[Any]:
    def read(text: str, settings: dict[str, bool]) -> list[str] | None:
        reader = extract_options if settings["multiple"] else extract_option
        found = reader(text, given["options"])
        return found.answer.split(",") if found else None

    return [read(text, settings) for text, settings in given["cases"]]


@operation("score_choice")
def score_choice(given: Given) -> bool:
    count = given["n_options"]
    numbered = str(given["target"]).isdecimal()
    labels = tuple(map(str, range(1, count + 1))) if numbered else default_labels(count)
    item = Item(id="case", fields={}, targets=(str(given["target"]),))
    response = Response(request="", text=f"Answer: {given['label']}")
    graded = ChoiceMatch(OptionLetter(labels=labels)).grade(item, 0, [response])
    return graded.scores.get("correct") == 1.0


# ── free answers ────────────────────────────────────────────────────────────────────────────────────


@operation("fuzzy_match")
def fuzzy_match(given: Given) -> Any:
    golds = given["gold"] if isinstance(given["gold"], list) else [given["gold"]]
    return refusal(lambda: includes_answer(given["pred"] or "", [gold or "" for gold in golds]))


def overlap(pred: str | None, gold: list[str | None] | str) -> Any:
    golds = [gold] if isinstance(gold, str) else gold
    return refusal(lambda: answer_overlap(pred or "", [each or "" for each in golds]))


@operation("qa_f1_many")
def qa_f1_many(given: Given) -> list[Any]:
    scored = [overlap(pred, gold) for pred, gold in given["cases"]]
    return [each if isinstance(each, Said) else each.f1 for each in scored]


@operation("qa_f1_em", "qa_f1")
def qa_f1_em(given: Given) -> Any:
    gold = given["gold"] if isinstance(given["gold"], list) else [given["gold"]]
    scored = overlap(given["pred"], gold)
    return scored if isinstance(scored, Said) else {"em": scored.exact, "f1": scored.f1}


@operation("scale_check")
def scale_check(given: Given) -> dict[str, float]:
    scored = [answer_overlap(pred, [gold]) for pred, gold in zip(given["preds"], given["golds"], strict=True)]
    return {
        "exact_match": sum(each.exact for each in scored) / len(scored),
        "f1": sum(each.f1 for each in scored) / len(scored),
    }
