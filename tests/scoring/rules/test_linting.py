"""Items whose instructions contradict each other, cannot be followed or do not fit their prompt."""

from __future__ import annotations

from typing import Any

import pytest

from probatum.scoring.rules import instructions_of, lint_instructions

WORDS = "length_constraints:number_words"
REPEAT = "combination:repeat_prompt"


def kinds(prompt: str, *asked: tuple[str, dict[str, Any]], edition: Any = "probatum") -> list[str]:
    instructions = instructions_of([each[0] for each in asked], [each[1] for each in asked])
    return [flaw.kind for flaw in lint_instructions(prompt, instructions, edition=edition)]


def test_a_number_that_the_prompt_does_not_have_is_named() -> None:
    asked = instructions_of([WORDS], [{"relation": "at least", "num_words": 336}])
    (flaw,) = lint_instructions("Write at least 400 words about rain.", asked)
    assert (flaw.kind, flaw.stops) == ("mismatch", False)
    assert flaw.detail == "number 336 is not in the prompt (400 is)"


@pytest.mark.parametrize(
    "prompt",
    [
        "Write at least 12 words.",
        "Write twelve words or more.",
        "Write a dozen words.",
        "Write more than 11 words.",
        "Write 1,012 and 12.",
        "Write on.",
    ],
)
def test_a_number_may_be_worded_otherwise(prompt: str) -> None:
    assert kinds(prompt, (WORDS, {"relation": "at least", "num_words": 12})) == []


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ([("made_up:rule", {})], "invalid"),
        ([(WORDS, {"relation": "at least"})], "invalid"),
        ([], "invalid"),
        ([("language:response_language", {"language": "xx"})], "invalid"),
        (
            [
                (
                    "length_constraints:nth_paragraph_first_word",
                    {"num_paragraphs": 2, "nth_paragraph": 3, "first_word": "a"},
                )
            ],
            "impossible",
        ),
        (
            [
                (
                    "length_constraints:nth_paragraph_first_word",
                    {"num_paragraphs": 2, "nth_paragraph": 0, "first_word": "a"},
                )
            ],
            "impossible",
        ),
        ([(WORDS, {"relation": "less than", "num_words": 0})], "impossible"),
        (
            [
                (WORDS, {"relation": "at least", "num_words": 9}),
                (WORDS, {"relation": "less than", "num_words": 9}),
            ],
            "contradiction",
        ),
        ([("change_case:english_capital", {}), ("change_case:english_lowercase", {})], "contradiction"),
        (
            [
                ("language:response_language", {"language": "de"}),
                ("language:response_language", {"language": "fr"}),
            ],
            "contradiction",
        ),
        (
            [
                ("keywords:existence", {"keywords": ["a bad one"]}),
                ("keywords:forbidden_words", {"forbidden_words": ["bad"]}),
            ],
            "contradiction",
        ),
        ([(REPEAT, {"prompt_to_repeat": "a, b"}), ("punctuation:no_comma", {})], "contradiction"),
        (
            [
                (REPEAT, {"prompt_to_repeat": "a a"}),
                ("keywords:frequency", {"keyword": "a", "frequency": 2, "relation": "less than"}),
            ],
            "contradiction",
        ),
        (
            [(REPEAT, {"prompt_to_repeat": "a poem"}), ("language:response_language", {"language": "hi"})],
            "contradiction",
        ),
        ([("ja:letters:hiragana_only", {}), ("ja:letters:no_hiragana", {})], "contradiction"),
    ],
)
def test_what_cannot_be_graded_stops_an_item(asked: list[tuple[str, dict[str, Any]]], kind: str) -> None:
    prompt = "a a poem a, b a bad one 9 0 2 3"
    found = lint_instructions(
        prompt, instructions_of([each[0] for each in asked], [each[1] for each in asked])
    )
    assert [flaw.kind for flaw in found if flaw.stops][:1] == [kind]


@pytest.mark.parametrize(
    "asked",
    [
        [
            (WORDS, {"relation": "at least", "num_words": 2}),
            (WORDS, {"relation": "less than", "num_words": 9}),
        ],
        [
            ("keywords:existence", {"keywords": ["badge"]}),
            ("keywords:forbidden_words", {"forbidden_words": ["bad"]}),
        ],
        [
            (REPEAT, {"prompt_to_repeat": "a a"}),
            ("keywords:frequency", {"keyword": "a", "frequency": 2, "relation": "at least"}),
        ],
        [(REPEAT, {"prompt_to_repeat": "a poem"}), ("language:response_language", {"language": "de"})],
        [("ja:letters:hiragana_only", {}), ("ja:letters:no_katakana", {})],
        [
            (WORDS, {"relation": "less than", "num_words": 9}),
            ("length_constraints:number_sentences", {"relation": "at least", "num_sentences": 9}),
        ],
    ],
)
def test_what_can_be_followed_together_is_no_contradiction(asked: list[tuple[str, dict[str, Any]]]) -> None:
    assert [kind for kind in kinds("badge a a poem bad 2 9", *asked) if kind != "mismatch"] == []


def test_a_keyword_that_is_no_regular_expression_stops_the_published_edition_only() -> None:
    asked = ("keywords:existence", {"keywords": ["C++ ("]})
    assert kinds("Use C++ (.", asked) == []
    assert kinds("Use C++ (.", asked, edition="official") == ["invalid"]
