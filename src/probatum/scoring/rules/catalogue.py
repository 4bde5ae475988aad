"""Every rule: its id, the arguments it takes, and what checks it in each edition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from probatum.scoring.rules import official, official_regional, own, own_regional
from probatum.scoring.rules.arguments import Given, Parameter, usable
from probatum.scoring.rules.languages import LANGUAGES, Language
from probatum.scoring.rules.records import Edition, Finding, Instruction, InstructionError

__all__ = ["Check", "Rule", "find_rule", "prepare", "rule_ids"]

Check = Callable[[str, Given], Finding]


@dataclass(frozen=True)
class Rule:
    """One rule in one language."""

    id: str
    """As data sets write it, with the language before it where that is not English."""
    language: Language
    parameters: tuple[Parameter, ...]
    probatum: Check
    official: Check

    def check(self, edition: Edition) -> Check:
        """What checks it in that edition; its docstring says how."""
        return self.official if edition == "official" else self.probatum


def _counted(count: str, relation: str = "relation") -> tuple[Parameter, ...]:
    return (Parameter(count, "count"), Parameter(relation, "relation"))


def _bounded(count: str, relation: str | None = "relation") -> tuple[Parameter, ...]:
    """A least or an exact number; Spanish data sets write "al menos" beside it."""
    extra = (Parameter(relation, "relation", optional=True),) if relation is not None else ()
    return (Parameter(count, "count"), *extra)


_NOTHING: Final[tuple[Parameter, ...]] = ()
_PARAGRAPH: Final = (
    Parameter("num_paragraphs", "count"),
    Parameter("nth_paragraph", "count"),
    Parameter("first_word", "text"),
)
_KEYWORD: Final = (
    Parameter("keyword", "text"),
    Parameter("frequency", "count"),
    Parameter("relation", "relation"),
)
_LETTER: Final = (
    Parameter("letter", "character"),
    Parameter("let_frequency", "count"),
    Parameter("let_relation", "relation"),
)
_SECTIONS: Final = (Parameter("section_spliter", "text"), *_bounded("num_sections"))

_Row = tuple[tuple[Parameter, ...], Check, Check]

_COMMON: Final[Mapping[str, _Row]] = {
    "combination:repeat_prompt": (
        (Parameter("prompt_to_repeat", "text"),),
        own.repeat_prompt,
        official.repeat_prompt,
    ),
    "combination:two_responses": (_NOTHING, own.two_responses, official.two_responses),
    "detectable_content:number_placeholders": (
        _bounded("num_placeholders"),
        own.number_placeholders,
        official.number_placeholders,
    ),
    "detectable_content:postscript": (
        (Parameter("postscript_marker", "text"),),
        own.postscript,
        official.postscript,
    ),
    "detectable_format:constrained_response": (
        _NOTHING,
        own.constrained_response,
        official.constrained_response,
    ),
    "detectable_format:json_format": (_NOTHING, own.json_format, official.json_format),
    "detectable_format:multiple_sections": (_SECTIONS, own.multiple_sections, official.multiple_sections),
    "detectable_format:number_bullet_lists": (
        _bounded("num_bullets", None),
        own.number_bullets,
        official.number_bullets,
    ),
    "detectable_format:number_highlighted_sections": (
        _bounded("num_highlights"),
        own.highlighted_sections,
        official.highlighted_sections,
    ),
    "detectable_format:title": (_NOTHING, own.title, official.title),
    "keywords:existence": (
        (Parameter("keywords", "texts"),),
        own.keywords_exist,
        official.keywords_exist,
    ),
    "keywords:forbidden_words": (
        (Parameter("forbidden_words", "texts"),),
        own.forbidden_words,
        official.forbidden_words,
    ),
    "keywords:frequency": (_KEYWORD, own.keyword_frequency, official.keyword_frequency),
    "keywords:letter_frequency": (_LETTER, own.letter_frequency, official.letter_frequency),
    "language:response_language": (
        (Parameter("language", "language"),),
        own.response_language,
        official.response_language,
    ),
    "length_constraints:nth_paragraph_first_word": (
        _PARAGRAPH,
        own.nth_paragraph_first_word,
        official.nth_paragraph_first_word,
    ),
    "length_constraints:number_paragraphs": (
        _bounded("num_paragraphs", None),
        own.number_paragraphs,
        official.number_paragraphs,
    ),
    "length_constraints:number_sentences": (
        _counted("num_sentences"),
        own.number_sentences,
        official.number_sentences,
    ),
    "punctuation:no_comma": (_NOTHING, own.no_comma, official.no_comma),
    "startend:end_checker": ((Parameter("end_phrase", "text"),), own.end_phrase, official.end_phrase),
    "startend:quotation": (_NOTHING, own.quotation, official.quotation),
}
"""Rules of every language, though some languages check them in their own way."""

_WRITTEN: Final[Mapping[str, _Row]] = {
    "change_case:capital_word_frequency": (
        _counted("capital_frequency", "capital_relation"),
        own.capital_words,
        official.capital_words,
    ),
    "length_constraints:number_words": (_counted("num_words"), own.number_words, official.number_words),
}
"""Rules of the languages that have capitals, and blanks between words."""


def _cased(name: str, *, lowered: bool) -> Mapping[str, _Row]:
    capital = official.all_capital_lowered if lowered else official.all_capital
    return {
        f"change_case:{name}_capital": (_NOTHING, own.all_capital, capital),
        f"change_case:{name}_lowercase": (_NOTHING, own.all_lowercase, official.all_lowercase),
    }


_SPANISH: Final[Mapping[str, _Row]] = {
    "punctuation:exclamation_marks": (_NOTHING, official_regional.exclamation, official_regional.exclamation),
    "punctuation:question_marks": (_NOTHING, official_regional.question, official_regional.question),
    "special_character:dieresis": (
        _bounded("let_frequency", None),
        own_regional.dieresis,
        official_regional.dieresis,
    ),
    "special_character:enie": (_bounded("let_frequency", None), own_regional.enie, official_regional.enie),
    "special_character:tildes": (_counted("num_words"), own_regional.tildes, official_regional.tildes),
}
_FRENCH: Final[Mapping[str, _Row]] = {
    "detectable_content:informal_address": (
        _NOTHING,
        own_regional.informal_address,
        official_regional.informal_address,
    ),
    "detectable_content:no_digits": (_NOTHING, official_regional.no_digits, official_regional.no_digits),
    "special_character:accents": (
        (Parameter("word_to_accentuate", "mapping"),),
        own_regional.accents,
        official_regional.accents,
    ),
    "special_character:ethel_or_cedilla": (
        (Parameter("forbidden_char", "character"),),
        own_regional.forbidden_character,
        official_regional.forbidden_character,
    ),
    "special_character:no_accents": (_NOTHING, own_regional.no_accents, official_regional.no_accents),
}
_JAPANESE: Final[Mapping[str, _Row]] = {
    "detectable_format:multiple_sections": (
        _SECTIONS,
        own_regional.multiple_sections_japanese,
        official.multiple_sections,
    ),
    "detectable_format:nominal_ending": (
        _bounded("count", None),
        own_regional.nominal_ending,
        official_regional.nominal_ending,
    ),
    "detectable_format:number_bullet_lists": (
        _bounded("num_bullets", None),
        own_regional.number_bullets_japanese,
        official_regional.number_bullets_japanese,
    ),
    "detectable_format:number_highlighted_sections": (
        _bounded("num_highlights"),
        official_regional.highlighted_sections_japanese,
        official_regional.highlighted_sections_japanese,
    ),
    "detectable_format:number_numbered_lists": (
        _bounded("num_items", None),
        own_regional.numbered_list,
        official_regional.numbered_list,
    ),
    "keywords:existence": (
        (Parameter("keywords", "texts"),),
        own_regional.keywords_exist_japanese,
        official_regional.keywords_exist_japanese,
    ),
    "keywords:forbidden_words": (
        (Parameter("forbidden_words", "texts"),),
        own_regional.forbidden_words_japanese,
        official_regional.forbidden_words_japanese,
    ),
    "keywords:frequency": (
        _KEYWORD,
        own_regional.keyword_frequency_japanese,
        official_regional.keyword_frequency_japanese,
    ),
    "keywords:letter_frequency": (
        _LETTER,
        official_regional.letter_frequency_japanese,
        official_regional.letter_frequency_japanese,
    ),
    "length_constraints:number_letters": (
        _counted("num_letters"),
        own_regional.number_letters,
        official_regional.number_letters,
    ),
    "length_constraints:number_sentences": (
        _counted("num_sentences"),
        own.number_sentences,
        official_regional.number_sentences_japanese,
    ),
    "letters:furigana": (_NOTHING, own_regional.furigana, official_regional.furigana),
    "letters:hiragana_only": (_NOTHING, own_regional.hiragana_only, official_regional.hiragana_only),
    "letters:kanji": (_counted("kanji_limit"), own_regional.kanji, official_regional.kanji),
    "letters:kansuuji": (_NOTHING, official_regional.no_digits, official_regional.no_digits),
    "letters:katakana_only": (_NOTHING, own_regional.katakana_only, official_regional.katakana_only),
    "letters:no_hiragana": (_NOTHING, official_regional.no_hiragana, official_regional.no_hiragana),
    "letters:no_katakana": (_NOTHING, official_regional.no_katakana, official_regional.no_katakana),
    "punctuation:no_period": (_NOTHING, own_regional.no_full_stop, official_regional.no_full_stop),
    "startend:sentence_unified_end": (
        (Parameter("ending", "text"),),
        own_regional.unified_ending,
        official_regional.unified_ending,
    ),
}

_BY_LANGUAGE: Final[Mapping[str, Mapping[str, _Row]]] = {
    "en": {**_COMMON, **_WRITTEN, **_cased("english", lowered=False)},
    "es": {**_COMMON, **_WRITTEN, **_cased("spanish", lowered=True), **_SPANISH},
    "fr": {**_COMMON, **_WRITTEN, **_cased("french", lowered=True), **_FRENCH},
    "ja": {**_COMMON, **_JAPANESE},
}


@lru_cache(maxsize=1)
def _rules() -> Mapping[str, Rule]:
    rules: dict[str, Rule] = {}
    for code, rows in _BY_LANGUAGE.items():
        for name, (parameters, ours, published) in rows.items():
            identity = name if code == "en" else f"{code}:{name}"
            rules[identity] = Rule(identity, LANGUAGES[code], parameters, ours, published)
    return rules


def rule_ids() -> tuple[str, ...]:
    """Ids of all rules, sorted: the 25 of IFEval, then those of M-IFEval with their language before them."""
    return tuple(sorted(_rules(), key=lambda identity: (identity.count(":"), identity)))


def find_rule(identity: str) -> Rule:
    """The rule of that id; English ones may have `en:` before it.

    Raises:
        InstructionError: there is none.
    """
    rule = _rules().get(identity.removeprefix("en:"))
    if rule is None:
        raise InstructionError(f"unknown instruction id {identity!r}: no rule can check it; mend the item")
    return rule


@dataclass(frozen=True)
class Prepared:
    """An instruction whose rule is known and whose arguments are usable."""

    instruction: Instruction
    rule: Rule
    given: Given


def prepare(instruction: Instruction) -> Prepared:
    """Finds the rule and reads the arguments.

    Raises:
        InstructionError: the id is unknown, or an argument is missing, unknown or unusable.
    """
    rule = find_rule(instruction.id)
    return Prepared(
        instruction, rule, usable(instruction.id, instruction.arguments, rule.parameters, rule.language)
    )
