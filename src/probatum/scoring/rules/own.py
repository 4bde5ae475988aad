r"""The `probatum` edition: each rule as its instruction reads, with the faults of the published one mended.

Where a published checker does what its instruction says, this edition takes it over. Texts come with
`\n` line ends and in NFC (see `tidy`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

from probatum.scoring.rules import layout
from probatum.scoring.rules.arguments import Given
from probatum.scoring.rules.detection import is_in
from probatum.scoring.rules.official import at_least, compared, exactly
from probatum.scoring.rules.records import Finding
from probatum.scoring.rules.sentences import sentences
from probatum.scoring.rules.words import capital_words as words_in_capitals
from probatum.scoring.rules.words import count_words, occurrences

__all__ = ["tidy"]

_LINE_ENDS: Final = re.compile(r"\r\n?|\u2028|\u2029")
_STARS: Final = str.maketrans("", "", "*_#>")


def tidy(text: str) -> str:
    r"""Line ends as `\n`, characters composed (NFC): what rules of this edition see."""
    return unicodedata.normalize("NFC", _LINE_ENDS.sub("\n", text))


# Keywords


def keywords_exist(text: str, given: Given) -> Finding:
    """Every keyword occurs as whole words, in any case."""
    missing = [keyword for keyword in given.texts("keywords") if not occurrences(keyword, text)]
    return Finding(not missing, f"no {missing[0]!r}" if missing else "every keyword is there")


def keyword_frequency(text: str, given: Given) -> Finding:
    """How often the keyword occurs as whole words, in any case."""
    keyword = given.text("keyword").strip()
    return compared(occurrences(keyword, text), given, "frequency", unit=f"times {keyword!r}")


def forbidden_words(text: str, given: Given) -> Finding:
    """No forbidden word or phrase occurs as whole words, in any case."""
    found = [word for word in given.texts("forbidden_words") if occurrences(word, text)]
    return Finding(not found, f"{found[0]!r} occurs" if found else "no forbidden word")


def letter_frequency(text: str, given: Given) -> Finding:
    """How often the character occurs, in either case; any character may be asked for."""
    letter = given.text("letter").strip().lower()
    count = text.lower().count(letter)
    return compared(count, given, "let_frequency", "let_relation", unit=f"times {letter!r}")


# Language and case


def response_language(text: str, given: Given) -> Finding:
    """The text is in the language, see `detection.is_in`."""
    return is_in(text, given.text("language"))


def all_capital(text: str, given: Given) -> Finding:
    """No small letter, and the language of the text written small is the asked one."""
    return (
        is_in(text, given.language.code, unless_short=True)
        if text.isupper()
        else Finding(False, "not all capital")
    )


def all_lowercase(text: str, given: Given) -> Finding:
    """No capital letter, and the language is the asked one."""
    return (
        is_in(text, given.language.code, unless_short=True)
        if text.islower()
        else Finding(False, "not all lower case")
    )


def capital_words(text: str, given: Given) -> Finding:
    """Words in capitals, a contraction or a hyphenated one counting once (`words.capital_words`)."""
    count = len(words_in_capitals(text))
    return compared(count, given, "capital_frequency", "capital_relation", unit="capital words")


# Length


def number_words(text: str, given: Given) -> Finding:
    """Words by `words.words`."""
    return compared(count_words(text), given, "num_words", unit="words")


def number_sentences(text: str, given: Given) -> Finding:
    """Sentences by `sentences.sentences`."""
    return compared(len(sentences(text)), given, "num_sentences", unit="sentences")


_BOLD_ITALIC: Final = re.compile(r"(?<![\w*])\*{3}(?=[^\s*])[^*\n]+(?<=\S)\*{3}(?!\*)")
_DIVIDER: Final = re.compile(r"(?<!\*)\*{3}(?!\*)(?=\s|\Z)")


def number_paragraphs(text: str, given: Given) -> Finding:
    """Parts between dividers `***` with a blank or nothing after them; `***bold italics***` is none."""
    found, blank_between = layout.parts(_BOLD_ITALIC.sub("emphasis", text), _DIVIDER)
    if blank_between:
        return Finding(followed=False, reason="a paragraph is blank")
    return exactly(len(found), given, "num_paragraphs", "paragraphs")


_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")
_BEFORE_A_WORD: Final = re.compile(r"[\W_]+")


def nth_paragraph_first_word(text: str, given: Given) -> Finding:
    """Blank lines part paragraphs; blank ones are dropped once, then the rest is counted and looked at."""
    found = [part.strip() for part in _BLANK_LINE.split(text) if part.strip()]
    number, wanted = given.count("nth_paragraph"), given.text("first_word").strip().casefold()
    if number > len(found):
        return Finding(False, f"{len(found)} paragraphs; paragraph {number} is asked for")
    paragraph = found[number - 1]
    signs = _BEFORE_A_WORD.match(paragraph)
    begins = paragraph[signs.end() if signs else 0 :].casefold()
    following = begins[len(wanted) : len(wanted) + 1]
    whole = given.language.code == "ja" or not following.isalnum()
    followed = len(found) == given.count("num_paragraphs") and begins.startswith(wanted) and whole
    asked = f"asked {given.count('num_paragraphs')} and {wanted!r}"
    return Finding(followed, f"{len(found)} paragraphs, number {number} begins with {begins[:20]!r}; {asked}")


# Content and format


_BRACKETS: Final = re.compile(r"\[([^\[\]\n]*)\]")


def number_placeholders(text: str, given: Given) -> Finding:
    """Square brackets around a text with a letter, on one line; links, check boxes and notes are none."""
    count = 0
    for found in _BRACKETS.finditer(text):
        named = any(map(str.isalpha, found[1])) and found[1].strip().lower() != "x"
        count += named and text[found.end() : found.end() + 1] != "("
    return at_least(count, given, "num_placeholders", "placeholders")


def postscript(text: str, given: Given) -> Finding:
    """The marker begins a line or follows the end of a sentence, and something follows it.

    Blanks within the marker do not count ("P. S."), nor do case and emphasis.
    """
    marker = "".join(given.text("postscript_marker").split())
    body = r"\s?".join(re.escape(sign) for sign in marker.rstrip("."))
    last = r"\.?" if marker.endswith(".") or marker.upper() == "P.P.S" else ""
    pattern = (
        rf"(?:^|[.!?。！？…\"”»)]\s)[*_#> \t]*(?<!\w){body}{last}(?!\w)[*_]*(?P<rest>[^\n]*(?:\n[^\n]*)*)"
    )
    found = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
    said = found is not None and any(map(str.isalnum, found["rest"]))
    return Finding(said, f"{'a' if said else 'no'} postscript {marker!r}")


def number_bullets(text: str, given: Given) -> Finding:
    """Lines that begin with a Markdown bullet (`*`, `-` or `+`, then a blank) and have a text."""
    return exactly(sum(map(layout.is_bullet, text.split("\n"))), given, "num_bullets", "bullets")


def constrained_response(text: str, given: Given) -> Finding:
    """Exactly one of the options stands in the response; words around it pass, a second option does not."""
    found = [option for option in given.language.options if occurrences(option, text)]
    reason = f"holds {' and '.join(map(repr, found))}" if found else "none of the options"
    return Finding(len(found) == 1, reason)


_EMPHASIS: Final = re.compile(r"(?<![A-Za-z0-9*\\])(\*{1,3})(?![\s*])([^*\n]+)(?<![\s\\])\1(?![A-Za-z0-9*])")


def highlighted_sections(text: str, given: Given) -> Finding:
    """Text between equal runs of one to three asterisks that touch it: a bullet begins none."""
    return at_least(sum(1 for _ in _EMPHASIS.finditer(text)), given, "num_highlights", "highlighted sections")


_NUMBER: Final = r"(\d+|[IVXLCivxlc]+)(?!\w)"


def multiple_sections(text: str, given: Given) -> Finding:
    """The section word with an Arabic or Roman number, at the beginning of a line or of a sentence.

    Each number counts once: "SECTION X" at the head of every section numbers none of them. More sections
    than asked pass, as in the paper's checker.
    """
    word = re.escape(given.text("section_spliter").strip())
    before = r"(?:^|[.!?:。\"”»]\s)[*_#>\"“«'\[(\\ \t]*(?<!\w)"
    found = re.findall(rf"{before}{word}[^\S\n]*{_NUMBER}", text, re.IGNORECASE | re.MULTILINE)
    return at_least(len({number.upper() for number in found}), given, "num_sections", "numbered sections")


_FENCE: Final = re.compile(r"\A```[A-Za-z]*\n?(.*?)\n?```\Z", re.DOTALL)


def json_format(text: str, given: Given) -> Finding:
    """The whole text is strict JSON, in one code fence or not: `NaN` is none."""
    del given
    body = text.strip()
    fenced = _FENCE.match(body)
    try:
        json.loads(fenced[1] if fenced else body, parse_int=str, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return Finding(followed=False, reason=f"not JSON: {str(error)[:60]}")
    return Finding(followed=True, reason="JSON")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def title(text: str, given: Given) -> Finding:
    """A letter or digit stands between the marks of a title, on one line."""
    opening, closing = given.language.title
    for found in layout.widest_between(text, opening, closing):
        if any(map(str.isalnum, found)):
            return Finding(followed=True, reason=f"a title {found.strip()[:60]!r}")
    return Finding(followed=False, reason=f"no title between {opening} and {closing}")


# Combination, start and end, punctuation


_SIX: Final = re.compile(r"(?<!\*)\*{6}(?!\*)")


def two_responses(text: str, given: Given) -> Finding:
    """Two parts on the sides of exactly six asterisks, different in more than blanks, case and emphasis."""
    del given
    found, blank_between = layout.parts(text, _SIX)
    if blank_between:
        return Finding(followed=False, reason="a response is blank")
    different = len({" ".join(part.translate(_STARS).casefold().split()) for part in found})
    followed = len(found) == different == 2  # noqa: PLR2004 - two responses
    return Finding(followed, f"{len(found)} responses, {different} different; asked for two")


_QUOTES: Final = str.maketrans("“”„«»‘’", '"""""\'\'')


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())


def repeat_prompt(text: str, given: Given) -> Finding:
    """The response begins with the request; case, blanks and the form of quotation marks do not count."""
    followed = _plain(text).startswith(_plain(given.text("prompt_to_repeat")))
    return Finding(followed, "begins with the request" if followed else "does not begin with the request")


_CLOSING: Final = "\"”’»'」』"


def end_phrase(text: str, given: Given) -> Finding:
    """The response ends with the phrase as whole words.

    Quotation marks at its end are put aside, and a full stop after a phrase that has none: neither is a
    word. Case and blanks do not count.
    """
    phrase = _plain(given.text("end_phrase"))
    rest = text.strip()
    ends = {rest, rest.rstrip(_CLOSING).rstrip()}
    if phrase[-1:].isalnum():
        ends |= {end.removesuffix(".").removesuffix("。").rstrip(_CLOSING) for end in ends}
    followed = any(_ends_with(_plain(end[-4 * len(phrase) - 100 :]), phrase) for end in ends)
    return Finding(followed, f"{'ends' if followed else 'does not end'} with {phrase!r}")


def _ends_with(text: str, phrase: str) -> bool:
    before = text.removesuffix(phrase)
    if before == text and phrase:
        return False
    alphabetic = phrase[:1].isascii() and phrase[:1].isalnum()
    return not (alphabetic and before[-1:].isascii() and before[-1:].isalnum())


def quotation(text: str, given: Given) -> Finding:
    """The whole response stands between quotation marks of the language, straight or curly."""
    text = text.strip()
    followed = any(
        text.startswith(opening) and text.endswith(closing) and text[1:-1].strip() and len(text) > 2  # noqa: PLR2004 - two marks and something between
        for opening, closing in given.language.quotes
    )
    return Finding(followed, "in quotation marks" if followed else "not in quotation marks")


_COMMAS: Final = frozenset(",，﹐､、،")


def no_comma(text: str, given: Given) -> Finding:
    """No comma of any script, not even in a number. In Japanese the ASCII comma passes: it is no 読点."""
    commas = _COMMAS - {","} if given.language.code == "ja" else _COMMAS
    count = sum(sign in commas for sign in text)
    return Finding(count == 0, f"{count} commas")
