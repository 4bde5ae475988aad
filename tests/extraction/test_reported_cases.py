"""Faults reported of other tools: the cases of extraction, stop strings and code assembly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from probatum.core.errors import ProbatumError
from probatum.core.records import Finish, Item, Response
from probatum.core.status import Status
from probatum.extraction import (
    DeclaredLine,
    Extraction,
    assemble_answer,
    extract_boxed,
    extract_code,
    extract_number,
    extract_option,
    extract_options,
)
from probatum.extraction.boxes import find_boxed
from probatum.extraction.characters import fold_width
from probatum.extraction.components import OptionLetter, PatternAnswer
from probatum.extraction.stops import check_stops, cut_at_stop
from probatum.scoring import ChoiceMatch, numbers_equal
from tests.extraction.reported import CASES, rows

if not CASES.exists():
    pytest.skip("the reported cases are not at hand", allow_module_level=True)


def answer(found: Extraction | None) -> str | None:
    return found.answer if found else None


def number(given: dict[str, Any], expected: Any) -> None:
    found = extract_number(given["text"])
    assert found is not None
    assert numbers_equal(found.answer, given["gold"])


def gold(given: dict[str, Any], expected: Any) -> None:
    found = DeclaredLine(declared=("####",)).extract(given["gold_field"], Item(id="i", fields={}))
    assert isinstance(found, Extraction)
    assert found.answer == expected


def boxed(given: dict[str, Any], expected: Any) -> None:
    assert expected == "no answer (truncated) -> incorrect"
    assert find_boxed(given["text"]).truncated
    assert extract_boxed(given["text"]) is None


def option(given: dict[str, Any], expected: Any) -> None:
    wanted = None if str(expected).startswith("no answer") else expected
    assert answer(extract_option(given["text"], given["options"])) == wanted


def option_many(given: dict[str, Any], expected: Any) -> None:
    assert [answer(extract_option(text, given["options"])) for text in given["texts"]] == expected


def options_many(given: dict[str, Any], expected: Any) -> None:
    for (text, settings), wanted in zip(given["cases"], expected, strict=True):
        read = extract_options if settings["multiple"] else extract_option
        joined = ",".join(wanted) if wanted else None
        assert answer(read(text, given["options"])) == joined


def choice(given: dict[str, Any], expected: Any) -> None:
    labels = tuple(str(label) for label in range(1, given["n_options"] + 1))
    item = Item(id="i", fields={}, targets=(given["target"],))
    scorer = ChoiceMatch(OptionLetter(labels=labels))
    outcome = scorer.grade(item, 0, [Response(request="", text=f"Answer: {given['label']}")])
    assert (outcome.status, outcome.scores) == (Status.SCORED, {"correct": float(expected)})


def pattern(given: dict[str, Any], expected: Any) -> None:
    found = PatternAnswer(pattern=given["pattern"]).extract(given["text"], Item(id="i", fields={}))
    assert isinstance(found, Extraction)
    assert found.answer == given["target"]


def width(given: dict[str, Any], expected: Any) -> None:
    assert [fold_width(left) == fold_width(right) for left, right in given["pairs"]] == expected


def stops(given: dict[str, Any], expected: Any) -> None:
    text = given.get("text", given.get("generation"))
    wanted = expected["text"] if isinstance(expected, dict) else expected
    stopped = given.get("finish_reason") == Finish.STOP
    cut = cut_at_stop(text, tuple(given["stops"] or ()), stopped=stopped)
    assert cut.text == wanted
    if isinstance(expected, dict) and "flag" in expected:
        assert cut.partial
    if isinstance(expected, dict) and "stripped" in expected:
        assert cut.text.strip() == expected["stripped"]


def refused_stops(given: dict[str, Any], expected: Any) -> None:
    with pytest.raises(ProbatumError):
        check_stops(tuple(given["stops"]))


def code(given: dict[str, Any], expected: Any) -> None:
    language = given.get("language", "python")
    assert answer(extract_code(given["text"], given.get("entry"), language=language)) == expected


def code_many(given: dict[str, Any], expected: Any) -> None:
    assert [answer(extract_code(text)) for text in given["texts"]] == expected


def assembled(given: dict[str, Any], expected: Any) -> None:
    assert expected == "pass for f([1])==1"
    names: dict[str, Any] = {}
    exec(assemble_answer(given["prompt"], given["completion"]), names)
    assert names["f"]([1]) == 1


OPERATIONS: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "extract_final_number": number,
    "parse_gold": gold,
    "extract_boxed": boxed,
    "extract_option": option,
    "extract_option_many": option_many,
    "extract_options_many": options_many,
    "score_choice": choice,
    "pattern_score": pattern,
    "width_fold_equal": width,
    "apply_stops": stops,
    "apply_stops_to_generation": stops,
    "validate_stops": refused_stops,
    "extract_code": code,
    "extract_code_many": code_many,
    "assemble_python": assembled,
}
MAPPED = [case for case in rows(CASES) if case["input"]["op"] in OPERATIONS]


def test_the_operations_of_this_package_are_all_mapped() -> None:
    assert len(MAPPED) >= 50


@pytest.mark.parametrize("case", MAPPED, ids=lambda case: str(case["id"]))
def test_a_reported_fault_is_none_of_ours(case: dict[str, Any]) -> None:
    OPERATIONS[case["input"]["op"]](case["input"], case["expected"]["value"])
