"""Instructions that rules verify."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from probatum.scoring.rules import (
    Compliance,
    Instruction,
    check_instructions,
    instructions_of,
    lint_instructions,
)
from probatum.scoring.rules.sentences import count_sentences as sentences_in
from probatum.scoring.rules.sentences import equal_sentences_of_different_words, sentences
from probatum.scoring.rules.words import count_words as words_in
from probatum.scoring.rules.words import first_letters as letters_of
from probatum.scoring.rules.words import ngram_overlap, word_at, word_span
from tests.cases.frame import Given, NotMappedError, Said, agree, operation, refusal


def same_compliance(ours: Any, expected: Any) -> bool:
    """One verdict, or all of them with both levels; strict, unless the right value says `loose`."""
    if not isinstance(ours, Compliance):
        return agree(ours, expected)
    strict = [verdict.strict for verdict in ours.verdicts]
    if not isinstance(expected, Mapping):
        return agree(ours.strict, expected)
    counted = {
        "per_instruction": strict,
        "prompt_level": ours.strict,
        "instruction_level": [sum(strict), len(strict)],
        "strict": ours.strict,
        "loose": ours.loose,
    }
    return agree(counted, expected)


@operation("ifeval", unused=("prompt",), agrees=same_compliance)
def ifeval(given: Given) -> Compliance | Said:
    def check() -> Compliance:
        asked = instructions_of(given["instruction_ids"], given["kwargs"])
        return check_instructions(given["response"], asked)

    checked: Compliance | Said = refusal(check)
    return checked


def finds(ours: list[str], expected: Any) -> bool:
    """A fault is found that names every number and every quoted word that the right value names."""
    kind, _, said = str(expected).partition(":")
    if kind != "lint":
        return not ours and kind in ("ok", "no lint")
    named = re.findall(r"\d+|'[^']+'", said)
    return any(all(each.strip("'") in detail for each in named) for detail in ours)


@operation("lint_ifeval", agrees=finds)
def lint_ifeval(given: Given) -> list[str]:
    asked = instructions_of(given["instruction_ids"], given["kwargs"])
    return [flaw.detail for flaw in lint_instructions(given["prompt"], asked)]


@operation("count_words")
def count_words(given: Given) -> int:
    return words_in(given["text"], given.get("tokenizer"))


@operation("count_sentences")
def count_sentences(given: Given) -> Any:
    if "text" in given:
        return sentences_in(given["text"])
    return [sentences_in(text) for text in given["texts"]]


@operation("three_equal_sentences_distinct_words")
def three_equal_sentences(given: Given) -> bool:
    return equal_sentences_of_different_words(given["text"], 3)


@operation("repeat_same")
def repeat_same(given: Given) -> Said:
    """The same check as often as asked; how many verdicts were equal to the first."""
    rule, _, language = given["check"].partition(" ")
    if rule != "language":
        raise NotMappedError(f"check {given['check']!r}")
    asked = [Instruction("language:response_language", {"language": language})]
    verdicts = [check_instructions(given["text"], asked).strict for _ in range(given["times"])]
    return Said(f"{verdicts.count(verdicts[0])} equal verdicts")


@operation("repeat_span")
def repeat_span(given: Given) -> bool:
    return word_span(given["text"], given["start"], given["end"]) == given["response"].strip()


@operation("word_at", "word_position", "words_position", "nth_word", "keyword_position")
def word_position(given: Given) -> Any:
    """The word at a place counted from 1, or from the end with a negative one; or whether it is the one named."""
    text = given["text"] if "text" in given else given["response"]
    place = next((given[name] for name in ("n", "position", "index", "m") if name in given), None)
    if place is None:
        raise NotMappedError("no place is named")
    found = word_at(text, place)
    wanted = next((given[name] for name in ("word", "keyword") if name in given), None)
    return found if wanted is None else found is not None and found.casefold() == wanted.casefold()


@operation("trigram_overlap")
def trigram_overlap(given: Given) -> float | None:
    return ngram_overlap(given["response"], given["reference"], 3)


@operation("ngram_overlap")
def any_overlap(given: Given) -> float | None:
    return ngram_overlap(given["response"], given["reference"], given["n"])


@operation("first_letters")
def first_letters(given: Given) -> list[str]:
    return letters_of(sentences(given["text"]))
