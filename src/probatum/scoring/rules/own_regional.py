"""The `probatum` edition of the rules that only some languages have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from probatum.scoring.rules import layout
from probatum.scoring.rules.arguments import Given
from probatum.scoring.rules.backends import morphemes
from probatum.scoring.rules.official import at_least, compared, exactly
from probatum.scoring.rules.records import Finding
from probatum.scoring.rules.words import occurrences, words

__all__: list[str] = []

# Spanish


def enie(text: str, given: Given) -> Finding:
    """Words with an ñ, exactly so many."""
    return exactly(_with("ñ", text), given, "let_frequency", "words with ñ")


def dieresis(text: str, given: Given) -> Finding:
    """Words with a ü, exactly so many."""
    return exactly(_with("ü", text), given, "let_frequency", "words with ü")


def tildes(text: str, given: Given) -> Finding:
    """Words with an acute accent."""
    return compared(_with("áéíóú", text), given, "num_words", unit="words with an accent")


def _with(letters: str, text: str) -> int:
    wanted = frozenset(letters)
    return sum(not wanted.isdisjoint(word) for word in words(text.lower()))


# French


def forbidden_character(text: str, given: Given) -> Finding:
    """The character does not occur, in either case."""
    character = given.text("forbidden_char").strip().lower()
    found = character in text.lower()
    return Finding(not found, f"{character!r} {'occurs' if found else 'does not occur'}")


_TU: Final = re.compile(r"\b(?:tu|te|toi|ton|ta|tes|t(?=['’]\w))\b", re.IGNORECASE)
_VOUS: Final = re.compile(r"\b(?:vous|votre|vos)\b", re.IGNORECASE)


def informal_address(text: str, given: Given) -> Finding:
    """Pronouns of the second person singular occur, and more often than those of the plural."""
    del given
    tu, vous = len(_TU.findall(text)), len(_VOUS.findall(text))
    return Finding(tu > vous, f"tu and its forms {tu} times, vous {vous} times")


def no_accents(text: str, given: Given) -> Finding:
    """No letter with a mark: accents, diaeresis, cedilla, of any alphabet."""
    del given
    found = next((sign for sign in text if not sign.isascii() and _marked(sign)), None)
    return Finding(found is None, "no accented letter" if found is None else f"{found!r} occurs")


def _marked(sign: str) -> bool:
    return any(unicodedata.category(part) == "Mn" for part in unicodedata.normalize("NFD", sign))


def accents(text: str, given: Given) -> Finding:
    """Each listed word occurs with its accents, and none of them without."""
    wanted = given.mapping("word_to_accentuate")
    found = set(words(text.lower()))
    for plain, accented in wanted.items():
        if plain != accented and plain.lower() in found:
            return Finding(followed=False, reason=f"{plain!r} for {accented!r}")
        if not occurrences(accented, text):
            return Finding(followed=False, reason=f"no {accented!r}")
    return Finding(followed=True, reason="every listed word has its accents")


# Japanese


def number_letters(text: str, given: Given) -> Finding:
    """Characters without white space."""
    count = sum(not sign.isspace() for sign in text)
    return compared(count, given, "num_letters", unit="characters")


_NUMBERED: Final = re.compile(r"^[^\S\n]*\d+[.．)）、][^\S\n]*\S", re.MULTILINE)


def number_bullets_japanese(text: str, given: Given) -> Finding:
    """Lines that begin with ・ or •, or with a Markdown bullet and a text."""
    lines = text.split("\n")
    count = sum(line.lstrip().startswith(("・", "•")) or layout.is_bullet(line) for line in lines)
    return exactly(count, given, "num_bullets", "bullets")


def numbered_list(text: str, given: Given) -> Finding:
    """Lines that begin with a number and a full stop, a bracket or 、, and have a text."""
    return exactly(sum(1 for _ in _NUMBERED.finditer(text)), given, "num_items", "numbered lines")


def multiple_sections_japanese(text: str, given: Given) -> Finding:
    """第1章 and its like at the beginning of a line, the number in any digits."""
    word = re.escape(given.text("section_spliter").strip())
    pattern = rf"^[*_#> \t「『【]*第([\d一二三四五六七八九十百]+){word}"
    count = len(set(re.findall(pattern, text, re.MULTILINE)))
    return at_least(count, given, "num_sections", "sections")


def keywords_exist_japanese(text: str, given: Given) -> Finding:
    """Every keyword occurs; Japanese has no blanks between words, so that compounds hold them, too."""
    folded = text.casefold()
    missing = [keyword for keyword in given.texts("keywords") if keyword.strip().casefold() not in folded]
    return Finding(not missing, f"no {missing[0]!r}" if missing else "every keyword is there")


def keyword_frequency_japanese(text: str, given: Given) -> Finding:
    """How often the keyword occurs, within compounds, too."""
    keyword = given.text("keyword").strip()
    count = text.casefold().count(keyword.casefold())
    return compared(count, given, "frequency", unit=f"times {keyword!r}")


def forbidden_words_japanese(text: str, given: Given) -> Finding:
    """No forbidden word occurs, within compounds neither."""
    folded = text.casefold()
    found = [word for word in given.texts("forbidden_words") if word.strip().casefold() in folded]
    return Finding(not found, f"{found[0]!r} occurs" if found else "no forbidden word")


_FULL_STOPS: Final = frozenset("。｡．")


def no_full_stop(text: str, given: Given) -> Finding:
    """No 句点, full or half width."""
    del given
    count = sum(sign in _FULL_STOPS for sign in text)
    return Finding(count == 0, f"{count} full stops")


_KANJI: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANJI_RUN: Final = re.compile(f"[{_KANJI}][{_KANJI}々〆ヶ]*")
_READING: Final = re.compile(r"（[ぁ-ゖー・\s]+）")


def furigana(text: str, given: Given) -> Finding:
    """Every run of kanji (々 and ヶ within it) is followed by hiragana in full-width brackets."""
    del given
    ends = [run.end() for run in _KANJI_RUN.finditer(text)]
    read = sum(_READING.match(text, end) is not None for end in ends)
    return Finding(len(ends) == read, f"{read} of {len(ends)} runs of kanji have a reading")


def kanji(text: str, given: Given) -> Finding:
    """How many kanji there are, of every block of Unicode's."""
    count = len(re.findall(f"[{_KANJI}]", text))
    return compared(count, given, "kanji_limit", unit="kanji")


def _hiragana(sign: str) -> bool:
    return "\u3041" <= sign <= "\u3096" or sign in "ーゝゞ"


def _katakana(sign: str) -> bool:
    return (
        "\u30a1" <= sign <= "\u30fa"
        or sign in "ー・ヽヾ"
        or "\u31f0" <= sign <= "\u31ff"
        or "ｦ" <= sign <= "ﾟ"
    )


def hiragana_only(text: str, given: Given) -> Finding:
    """Every letter is hiragana, and there is one."""
    del given
    return _only(text, _hiragana, "hiragana")


def katakana_only(text: str, given: Given) -> Finding:
    """Every letter is katakana, wide or narrow, and there is one."""
    del given
    return _only(text, _katakana, "katakana")


def _only(text: str, belongs: Callable[[str], bool], name: str) -> Finding:
    letters = [sign for sign in text if unicodedata.category(sign).startswith("L")]
    other = next((sign for sign in letters if not belongs(sign)), None)
    if other is not None:
        return Finding(followed=False, reason=f"{other!r} is no {name}")
    return Finding(bool(letters), f"only {name}" if letters else f"no {name}")


_SENTENCE_ENDS: Final = re.compile(r"[。！？!?\n]")


def _unquoted(text: str) -> str:
    return layout.without_between(layout.without_between(text, "「", "」"), "『", "』")


def unified_ending(text: str, given: Given) -> Finding:
    """Every sentence ends with the ending; a line break ends one, too; quotations are left out."""
    ending = given.text("ending").strip()
    found = [part.strip() for part in _SENTENCE_ENDS.split(_unquoted(text))]
    spoken = [part for part in found if any(map(str.isalnum, part))]
    other = next((part for part in spoken if not part.rstrip("*_）) ").endswith(ending)), None)
    if other is not None:
        return Finding(followed=False, reason=f"{other[-20:]!r} does not end with {ending!r}")
    return Finding(bool(spoken), f"all sentences end with {ending!r}" if spoken else "no sentence")


def nominal_ending(text: str, given: Given) -> Finding:
    """Sentences whose last morpheme is a noun (Janome), at least so many; a line break ends one, too."""
    count = 0
    for part in _SENTENCE_ENDS.split(_unquoted(text)):
        tokens = [(surface, kind) for surface, kind in morphemes(part) if any(map(str.isalnum, surface))]
        count += bool(tokens) and tokens[-1][1].startswith("名詞")
    return at_least(count, given, "count", "nominal endings")
