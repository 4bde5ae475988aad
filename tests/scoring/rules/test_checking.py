"""Strict and loose readings; what cannot be checked is an error, never a pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probatum.scoring.rules import (
    Instruction,
    InstructionError,
    check_instructions,
    find_rule,
    instructions_of,
    loosened,
    rule_ids,
)

COMMA = Instruction("punctuation:no_comma")


def test_the_loose_reading_tries_eight_forms() -> None:
    assert list(loosened("a*\nb*\nc*").values()) == [
        "a*\nb*\nc*",
        "a\nb\nc",
        "b*\nc*",
        "a*\nb*",
        "b*",
        "b\nc",
        "a\nb",
        "b",
    ]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Sure, here it is:\nTea is warm.", "without its first line"),
        ("Tea is warm.\nBye, now.", "without its last line"),
        ("Sure, here:\nTea is warm.\nBye, now.", "without its first and last line"),
    ],
)
def test_a_loose_verdict_names_the_form_that_follows(text: str, form: str) -> None:
    verdict = check_instructions(text, [COMMA]).verdicts[0]
    assert (verdict.strict, verdict.loose, verdict.loosened) == (False, True, form)
    assert "commas" in verdict.reason


def test_the_same_kind_twice_has_two_verdicts() -> None:
    asked = instructions_of(
        ["length_constraints:number_words"] * 2,
        [{"relation": "at least", "num_words": 5}, {"relation": "less than", "num_words": 10}],
    )
    found = check_instructions("red blue green gray pink gold lime teal navy rust plum jade", asked)
    assert [verdict.strict for verdict in found.verdicts] == [True, False]
    assert found.strict is found.loose is False


@pytest.mark.parametrize("edition", ["probatum", "official"])
@pytest.mark.parametrize("text", ["", "  \n\n ", "***"])
def test_an_empty_response_follows_no_instruction(text: str, edition: Any) -> None:
    blank = not text.strip()
    found = check_instructions(text, [COMMA], edition=edition)
    assert found.strict is not blank


@pytest.mark.parametrize(
    ("identity", "arguments", "message"),
    [
        ("made_up:rule", {}, "unknown instruction id 'made_up:rule'"),
        ("de:keywords:existence", {"keywords": ["a"]}, "unknown instruction id"),
        ("keywords:existence", {}, "lacks its argument 'keywords'"),
        ("keywords:existence", {"keywords": None}, "lacks its argument 'keywords'"),
        ("keywords:existence", {"keywords": "word"}, "must be a list of texts"),
        ("keywords:existence", {"keywords": []}, "must be a list of texts"),
        ("keywords:existence", {"keywords": ["a", " "]}, "must be a list of texts"),
        ("punctuation:no_comma", {"num_words": 3}, "takes no argument 'num_words'"),
        (
            "length_constraints:number_words",
            {"num_words": 3, "relation": "about"},
            "'less than' or 'at least'",
        ),
        ("length_constraints:number_words", {"num_words": -1, "relation": "at least"}, "not negative"),
        ("length_constraints:number_words", {"num_words": True, "relation": "at least"}, "not negative"),
        ("length_constraints:number_words", {"num_words": 2.5, "relation": "at least"}, "not negative"),
        (
            "keywords:letter_frequency",
            {"letter": "ab", "let_frequency": 1, "let_relation": "at least"},
            "one character",
        ),
        ("language:response_language", {"language": "German"}, "ISO 639-1"),
        ("fr:special_character:accents", {"word_to_accentuate": {"a": 1}}, "texts"),
        (
            "es:length_constraints:number_words",
            {"num_words": 3, "relation": "at least"},
            "'al menos' or 'como máximo'",
        ),
    ],
)
def test_what_no_rule_can_check_is_an_error(identity: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InstructionError, match=message) as raised:
        check_instructions("x", [Instruction(identity, arguments)])
    assert "\n" not in str(raised.value)


def test_padding_with_none_and_whole_floats_are_what_data_sets_write() -> None:
    arguments = {"num_words": 2.0, "relation": "at least", "keyword": None, "letter": None}
    assert check_instructions("One two", [Instruction("length_constraints:number_words", arguments)]).strict


def test_ids_without_arguments_of_their_own_are_an_error() -> None:
    with pytest.raises(InstructionError, match="2 instruction ids and 1 sets"):
        instructions_of(["punctuation:no_comma"] * 2, [{}])


def test_a_keyword_that_is_no_regular_expression_fails_only_where_it_is_taken_for_one() -> None:
    asked = [Instruction("keywords:existence", {"keywords": ["C++ (new"]})]
    assert check_instructions("I use C++ (new).", asked).strict
    with pytest.raises(InstructionError, match="regular expression"):
        check_instructions("I use C++ (new).", asked, edition="official")


def test_english_ids_may_have_their_language_before_them() -> None:
    assert find_rule("en:punctuation:no_comma") is find_rule("punctuation:no_comma")


ARGUMENTS: dict[str, Any] = {
    "count": 2,
    "text": "abc",
    "texts": ["abc", "de"],
    "language": "en",
    "mapping": {"ete": "été"},
}


def usable(identity: str) -> Instruction:
    rule = find_rule(identity)
    chosen: dict[str, Any] = {**ARGUMENTS, "relation": list(rule.language.relations)[-1]}
    chosen["character"] = "か" if rule.language.code == "ja" else "x"
    return Instruction(identity, {each.name: chosen[each.kind] for each in rule.parameters})


SLOW = frozenset(
    f"ja:{name}"
    for name in (
        "keywords:existence",
        "keywords:frequency",
        "keywords:forbidden_words",
        "detectable_format:nominal_ending",
    )
)
"""Janome reads 10,000 characters a second."""


@settings(max_examples=40, deadline=None)
@given(
    text=st.text(st.characters(codec=None), max_size=80), edition=st.sampled_from(["probatum", "official"])
)
def test_no_text_raises_and_what_is_followed_strictly_is_followed_loosely(text: str, edition: Any) -> None:
    pytest.importorskip("langdetect")
    pytest.importorskip("punkt")
    pytest.importorskip("nltk")
    for identity in rule_ids():
        if identity in SLOW:
            continue
        verdict = check_instructions(text, [usable(identity)], edition=edition).verdicts[0]
        assert verdict.loose or not verdict.strict
        assert (verdict.loosened is not None) == (verdict.loose and not verdict.strict)
        assert verdict.reason


HOSTILE = [
    "\n",
    "*",
    "* ",
    "[",
    "「",
    "漢",
    "¿",
    "<<",
    ". ",
    "e.g. ",
    "{",
    "a\u0301",
    "#",
    "**a ",
    "（",
    "の\n",
    "\n ",
]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("edition", ["probatum", "official"])
def test_long_texts_take_linear_time(edition: Any) -> None:
    """At 50,000 characters a rule of quadratic time would take minutes for each of these texts."""
    pytest.importorskip("langdetect")
    pytest.importorskip("punkt")
    pytest.importorskip("nltk")
    for identity in rule_ids():
        if identity in SLOW or "language" in identity or "_case" in identity:
            continue
        for part in HOSTILE:
            check_instructions(part * (50_000 // len(part)), [usable(identity)], edition=edition)
