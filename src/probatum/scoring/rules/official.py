"""The `official` edition: each rule as the published checkers apply it, faults included.

For figures that can be compared with published ones. Zhou et al. 2023, "Instruction-Following Evaluation
for Large Language Models" (arXiv:2311.07911) for English; Dussolle et al. 2025, "M-IFEval"
(arXiv:2502.04688) for Spanish, French and Japanese. What is wrong with a rule stands in its docstring.
Nothing is copied from those programs; patterns whose time grows with the square of the text are replaced
by equal ones that do not.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from probatum.scoring.rules import layout
from probatum.scoring.rules.arguments import Given
from probatum.scoring.rules.backends import (
    detect_language,
    punkt_sentences,
    treebank_words,
)
from probatum.scoring.rules.records import Finding
from probatum.scoring.rules.spanish import spanish_sentences, spanish_words

__all__: list[str] = []

WORD: Final = re.compile(r"\w+")


def compared(count: int, given: Given, bound: str, relation: str = "relation", unit: str = "") -> Finding:
    """Whether a count stands in the relation that the instruction words."""
    comparison, limit = given.relation(relation), given.count(bound)
    asked = f"asked {comparison.sign} {limit}"
    return Finding(comparison.holds(count, limit), f"{count} {unit}; {asked}".replace(" ;", ";"))


def at_least(count: int, given: Given, bound: str, unit: str) -> Finding:
    """Whether a count reaches its bound, or stands in a relation where the instruction words one."""
    if "relation" in given.values:
        return compared(count, given, bound, unit=unit)
    return Finding(count >= given.count(bound), f"{count} {unit}; asked >= {given.count(bound)}")


def exactly(count: int, given: Given, bound: str, unit: str) -> Finding:
    """Whether a count equals its bound."""
    return Finding(count == given.count(bound), f"{count} {unit}; asked == {given.count(bound)}")


# Keywords


def keywords_exist(text: str, given: Given) -> Finding:
    """Each keyword is a regular expression that is searched for, so that "art" is found in "start"."""
    for keyword in sorted(given.texts("keywords")):
        if not re.search(keyword, text, re.IGNORECASE):
            return Finding(followed=False, reason=f"no {keyword!r}")
    return Finding(followed=True, reason="every keyword is there")


def keyword_frequency(text: str, given: Given) -> Finding:
    """The keyword is a regular expression, and counts within other words."""
    count = len(re.findall(given.text("keyword").strip(), text, re.IGNORECASE))
    return compared(count, given, "frequency", unit=f"times {given.text('keyword')!r}")


def forbidden_words(text: str, given: Given) -> Finding:
    r"""Each word is a regular expression between `\b`, so that one that ends in a sign is never found."""
    for word in sorted(set(given.texts("forbidden_words"))):
        if re.search(rf"\b{word}\b", text, re.IGNORECASE):
            return Finding(followed=False, reason=f"{word!r} occurs")
    return Finding(followed=True, reason="no forbidden word")


def letter_frequency(text: str, given: Given) -> Finding:
    """Counts the letter in the lower-cased text.

    For a sign that is no letter from a to z the published checker draws a random letter; here the sign
    itself is counted.
    """
    letter = given.text("letter").strip().lower()
    count = Counter(text.lower())[letter]
    return compared(count, given, "let_frequency", "let_relation", unit=f"times {letter!r}")


# Language and case


def response_language(text: str, given: Given) -> Finding:
    """The language that langdetect finds in the whole text; where it cannot say, the rule passes."""
    found = detect_language(text)
    if found is None:
        return Finding(followed=True, reason="the language cannot be told, which passes")
    return Finding(found == given.text("language"), f"language {found!r}; asked {given.text('language')!r}")


def _cased(shown: str, given: Given, *, right_case: bool, name: str) -> Finding:
    """`shown` is what the language detector sees."""
    if not right_case:
        return Finding(followed=False, reason=f"not all {name}")
    found = detect_language(shown)
    if found is None:
        return Finding(followed=True, reason=f"all {name}; the language cannot be told, which passes")
    return Finding(found == given.language.code, f"all {name}; language {found!r}")


def all_capital(text: str, given: Given) -> Finding:
    """All cased letters are capital, and langdetect finds the language, which capitals mislead."""
    return _cased(text, given, right_case=text.isupper(), name="capital")


def all_capital_lowered(text: str, given: Given) -> Finding:
    """All cased letters are capital, and langdetect finds the language of the lower-cased text."""
    return _cased(text.lower(), given, right_case=text.isupper(), name="capital")


def all_lowercase(text: str, given: Given) -> Finding:
    """All cased letters are lower case, and langdetect finds the language."""
    return _cased(text, given, right_case=text.islower(), name="lower case")


def capital_words(text: str, given: Given) -> Finding:
    """Tokens of `nltk.word_tokenize` without a lower-case letter: "I'M" counts twice."""
    count = sum(word.isupper() for word in _words(text, given))
    return compared(count, given, "capital_frequency", "capital_relation", unit="capital words")


def _words(text: str, given: Given) -> list[str]:
    """English Punkt for French too, as published; Spanish in the manner of spaCy."""
    return spanish_words(text) if given.language.code == "es" else treebank_words(text)


# Length


def number_words(text: str, given: Given) -> Finding:
    r"""Runs of `\w`: "don't" and "well-known" are two words each. Spanish in the manner of spaCy."""
    found = spanish_words(text) if given.language.code == "es" else WORD.findall(text)
    return compared(len(found), given, "num_words", unit="words")


def number_sentences(text: str, given: Given) -> Finding:
    """Sentences of Punkt, which do not end at a line break: a list without full stops is one sentence."""
    if given.language.code == "es":
        count = len(spanish_sentences(text))
    else:
        count = len(punkt_sentences(text, given.language.punkt or "english"))
    return compared(count, given, "num_sentences", unit="sentences")


_DIVIDER: Final = re.compile(r"\s?\*\*\*\s?")


def number_paragraphs(text: str, given: Given) -> Finding:
    """Parts between `***`, wherever it stands: bold italics are dividers, too."""
    found, blank_between = layout.parts(text, _DIVIDER)
    if blank_between:
        return Finding(followed=False, reason="a paragraph is blank")
    return exactly(len(found), given, "num_paragraphs", "paragraphs")


_FIRST_WORD_ENDS: Final = frozenset(".,?!'\"")


def nth_paragraph_first_word(text: str, given: Given) -> Finding:
    """Paragraphs are parted by an empty line.

    They are counted without the blank ones, but found with them: after a run of empty lines the wrong
    one is looked at.
    """
    chunks = text.split("\n\n")
    count = sum(1 for chunk in chunks if chunk.strip())
    number = given.count("nth_paragraph")
    if number > count:
        return Finding(followed=False, reason=f"{count} paragraphs; paragraph {number} is asked for")
    paragraph = chunks[number - 1].strip()
    if not paragraph:
        return Finding(followed=False, reason=f"paragraph {number} is blank")
    wanted = given.text("first_word").lower()
    if given.language.code == "ja":
        first = paragraph.lstrip("「").lstrip("『")[: len(wanted)]
    elif given.language.code == "es" and " " in wanted:  # there a phrase may be asked for
        first = paragraph.lower()[: len(wanted)]
    else:
        first = _first_word(paragraph)
    followed = count == given.count("num_paragraphs") and first == wanted
    asked = f"asked {given.count('num_paragraphs')} and {wanted!r}"
    return Finding(followed, f"{count} paragraphs, number {number} begins with {first!r}; {asked}")


def _first_word(paragraph: str) -> str:
    word = paragraph.split(maxsplit=1)[0].lstrip("'").lstrip('"')
    for place, sign in enumerate(word):
        if sign in _FIRST_WORD_ENDS:
            return word[:place].lower()
    return word.lower()


# Content and format


def number_placeholders(text: str, given: Given) -> Finding:
    """Square brackets on one line, empty ones, links and check boxes included."""
    return at_least(sum(1 for _ in layout.between(text, "[", "]")), given, "num_placeholders", "placeholders")


_POSTSCRIPTS: Final = {
    "P.P.S": re.compile(r"p\.\s?p\.\s?s"),
    "P.S.": re.compile(r"p\.\s?s\."),
    "P.D.": re.compile(r"p\.\s?d\."),
}


def postscript(text: str, given: Given) -> Finding:
    """The marker is somewhere in the lower-cased text, in the midst of a line, too."""
    marker = given.text("postscript_marker").strip()
    pattern = _POSTSCRIPTS.get(marker)
    if pattern is None:
        lowered = marker.lower()
        pattern = re.compile(re.escape(lowered) if given.language.code == "ja" else lowered)
    found = pattern.search(text.lower())
    return Finding(found is not None, f"{'a' if found else 'no'} postscript {marker!r}")


_STARS: Final = re.compile(r"^[^\S\n]*\*[^*].*$", re.MULTILINE)
_DASHES: Final = re.compile(r"^[^\S\n]*-.*$", re.MULTILINE)


def number_bullets(text: str, given: Given) -> Finding:
    """Lines that begin with one `*`, or with `-`: a rule `---` and a line `*in italics*` count, too."""
    stars = sum(1 for _ in _STARS.finditer(text))
    return exactly(stars + sum(1 for _ in _DASHES.finditer(text)), given, "num_bullets", "bullets")


def constrained_response(text: str, given: Given) -> Finding:
    """One of the options stands somewhere in the response: naming all of them passes."""
    for option in given.language.options:
        if option in text:
            return Finding(followed=True, reason=f"holds {option!r}")
    return Finding(followed=False, reason="none of the options")


_SINGLE: Final = re.compile(r"\*[^\n*]*\*")
_DOUBLE: Final = re.compile(r"\*\*[^\n*]*\*\*")


def highlighted_sections(text: str, given: Given) -> Finding:
    """Text between single and between double asterisks; a bullet and a later asterisk make one, too."""
    count = sum(bool(found.strip("*").strip()) for found in _SINGLE.findall(text))
    count += sum(bool(found.removeprefix("**").removesuffix("**").strip()) for found in _DOUBLE.findall(text))
    return at_least(count, given, "num_highlights", "highlighted sections")


def multiple_sections(text: str, given: Given) -> Finding:
    """The section word, a blank at most, and a number, wherever they stand; more sections pass, too."""
    word = given.text("section_spliter").strip()
    marker = rf"第[\d\uFF10-\uFF19]+{word}" if given.language.code == "ja" else rf"{word}\s?\d+"
    count = sum(1 for _ in re.finditer(marker, text))
    return at_least(count, given, "num_sections", "sections")


def json_format(text: str, given: Given) -> Finding:
    """The whole text is JSON, in a code fence or not."""
    del given
    good = layout.is_json(text)
    return Finding(good, "JSON" if good else "not JSON")


def title(text: str, given: Given) -> Finding:
    """Something stands between the marks of a title, on one line."""
    opening, closing = given.language.title
    for found in layout.widest_between(text, opening, closing):
        if found.strip(opening[0] + closing[0]).strip():
            return Finding(followed=True, reason=f"a title {found.strip()!r}")
    return Finding(followed=False, reason=f"no title between {opening} and {closing}")


# Combination, start and end, punctuation


def two_responses(text: str, given: Given) -> Finding:
    """Two different parts on the sides of `******`."""
    del given
    found, blank_between = layout.parts(text, "******")
    if blank_between:
        return Finding(followed=False, reason="a response is blank")
    followed = len(found) == 2 and found[0].strip() != found[1].strip()  # noqa: PLR2004 - two responses
    return Finding(followed, f"{len(found)} responses" + ("" if followed else "; asked for two different"))


def repeat_prompt(text: str, given: Given) -> Finding:
    """The response begins with the request; case does not count (in Japanese it does)."""
    wanted, text = given.text("prompt_to_repeat").strip(), text.strip()
    if given.language.code != "ja":
        wanted, text = wanted.lower(), text.lower()
    followed = text.startswith(wanted)
    return Finding(followed, "begins with the request" if followed else "does not begin with the request")


def end_phrase(text: str, given: Given) -> Finding:
    """The response ends with the phrase, after straight double quotes are put aside at its end.

    In Spanish a full stop may follow, since the published verdicts let it.
    """
    phrase = given.text("end_phrase").strip()
    if given.language.code == "ja":
        followed = text.strip().strip("」』").endswith(phrase.strip("」』"))
    else:
        rest = text.strip().strip('"').lower()
        if given.language.code == "es":
            rest = rest.removesuffix(".")
        followed = rest.endswith(phrase.lower())
    return Finding(followed, f"{'ends' if followed else 'does not end'} with {phrase!r}")


def quotation(text: str, given: Given) -> Finding:
    """The whole response stands between quotation marks that the published checker knows."""
    text = text.strip()
    followed = len(text) > 1 and any(
        text.startswith(opening) and text.endswith(closing)
        for opening, closing in given.language.official_quotes
    )
    return Finding(followed, "in quotation marks" if followed else "not in quotation marks")


def no_comma(text: str, given: Given) -> Finding:
    """No `,` (in Japanese no `、`); commas of other scripts pass."""
    sign = "、" if given.language.code == "ja" else ","
    return Finding(sign not in text, f"{text.count(sign)} commas")
