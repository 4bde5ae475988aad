"""The `official` edition of the rules that only some languages have, see `official`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from probatum.scoring.rules import layout
from probatum.scoring.rules.arguments import Given
from probatum.scoring.rules.backends import morphemes
from probatum.scoring.rules.official import WORD, at_least, compared, exactly
from probatum.scoring.rules.records import Finding
from probatum.scoring.rules.sentences import japanese_lines
from probatum.scoring.rules.spanish import spanish_words

__all__: list[str] = []

# Spanish


def _marked(text: str, opening: str, closing: str) -> bool:
    place = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start + 1)
        if end < 0:
            return False
        if text[start:end].strip(opening).strip():
            return True
        place = end + 1
    return False


def question(text: str, given: Given) -> Finding:
    """Something stands between ¿ and ?."""
    del given
    found = _marked(text, "¿", "?")
    return Finding(found, "a question" if found else "no question between ¿ and ?")


def exclamation(text: str, given: Given) -> Finding:
    """Something stands between ¡ and !."""
    del given
    found = _marked(text, "¡", "!")
    return Finding(found, "an exclamation" if found else "no exclamation between ¡ and !")


def enie(text: str, given: Given) -> Finding:
    """Words with an ñ, exactly so many."""
    count = sum("ñ" in word.lower() for word in spanish_words(text))
    return exactly(count, given, "let_frequency", "words with ñ")


def dieresis(text: str, given: Given) -> Finding:
    """Words with a ü, exactly so many."""
    count = sum("ü" in word.lower() for word in spanish_words(text))
    return exactly(count, given, "let_frequency", "words with ü")


_ACUTE: Final = frozenset("áéíóúÁÉÍÓÚ")


def tildes(text: str, given: Given) -> Finding:
    """Words with an acute accent."""
    count = sum(not _ACUTE.isdisjoint(word) for word in spanish_words(text))
    return compared(count, given, "num_words", unit="words with an accent")


# French


def forbidden_character(text: str, given: Given) -> Finding:
    """The character does not occur, in either case."""
    character = given.text("forbidden_char")
    found = re.search(re.escape(character), text, re.IGNORECASE) is not None
    return Finding(not found, f"{character!r} {'occurs' if found else 'does not occur'}")


_TU: Final = re.compile(r"\b(?:tu|te|toi|ton|ta|tes)\b|\bt'\b", re.IGNORECASE)


def informal_address(text: str, given: Given) -> Finding:
    """A pronoun of the second person singular occurs; "vous" beside it passes."""
    del given
    found = _TU.search(text)
    return Finding(found is not None, f"{found[0]!r} occurs" if found else "no pronoun of tutoiement")


_ACCENTED: Final = frozenset("àáâãäåçèéêëìíîïñòóôõöùúûüýÿÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝ")


def no_accents(text: str, given: Given) -> Finding:
    """None of a list of accented letters occurs; ç and ñ are on it."""
    del given
    found = next((sign for sign in text if sign in _ACCENTED), None)
    return Finding(found is None, "no accented letter" if found is None else f"{found!r} occurs")


def accents(text: str, given: Given) -> Finding:
    """Each listed word that occurs has its accents; a text without any of them passes."""
    wanted = given.mapping("word_to_accentuate")
    for word in WORD.findall(text.lower()):
        plain = "".join(
            sign for sign in unicodedata.normalize("NFD", word) if unicodedata.category(sign) != "Mn"
        )
        if plain in wanted and word != wanted[plain]:
            return Finding(followed=False, reason=f"{word!r} for {wanted[plain]!r}")
    return Finding(followed=True, reason="no listed word lacks its accents")


def no_digits(text: str, given: Given) -> Finding:
    """No decimal digit of any script occurs."""
    del given
    found = re.search(r"\d", text)
    return Finding(found is None, "no digit" if found is None else f"{found[0]!r} occurs")


# Japanese


_DOTS: Final = re.compile(r"^[^\S\n]*・[^・].*$", re.MULTILINE)
_NUMBERS: Final = re.compile(r"^[^\S\n]*\d+\.\s.*$", re.MULTILINE)


def number_sentences_japanese(text: str, given: Given) -> Finding:
    """Every line ends a sentence, and so does `。`, `!` or `?` outside of brackets."""
    return compared(len(japanese_lines(text)), given, "num_sentences", unit="sentences")


def number_letters(text: str, given: Given) -> Finding:
    """Every character counts, blanks and line breaks too."""
    return compared(len(text), given, "num_letters", unit="characters")


def number_bullets_japanese(text: str, given: Given) -> Finding:
    """Lines that begin with one `・`; Markdown's bullets do not count."""
    return exactly(sum(1 for _ in _DOTS.finditer(text)), given, "num_bullets", "bullets")


def numbered_list(text: str, given: Given) -> Finding:
    """Lines that begin with a number, a full stop and a blank."""
    return exactly(sum(1 for _ in _NUMBERS.finditer(text)), given, "num_items", "numbered lines")


_ANGLES: Final = re.compile(r"《[^\n《》]*》")


def highlighted_sections_japanese(text: str, given: Given) -> Finding:
    """Text between 《 and 》."""
    count = sum(bool(found.strip("《》").strip()) for found in _ANGLES.findall(text))
    return at_least(count, given, "num_highlights", "highlighted sections")


def keywords_exist_japanese(text: str, given: Given) -> Finding:
    """Each keyword is one morpheme of Janome's: a compound that Janome parts is never found."""
    surfaces = {surface for surface, _ in morphemes(text)}
    missing = [keyword for keyword in given.texts("keywords") if keyword not in surfaces]
    return Finding(not missing, f"no {missing[0]!r}" if missing else "every keyword is there")


def keyword_frequency_japanese(text: str, given: Given) -> Finding:
    """Morphemes of Janome's that equal the keyword."""
    keyword = given.text("keyword").strip()
    count = sum(surface == keyword for surface, _ in morphemes(text))
    return compared(count, given, "frequency", unit=f"times {keyword!r}")


def forbidden_words_japanese(text: str, given: Given) -> Finding:
    """No morpheme of Janome's equals a forbidden word: within a compound it passes."""
    surfaces = {surface for surface, _ in morphemes(text)}
    found = [word for word in given.texts("forbidden_words") if word in surfaces]
    return Finding(not found, f"{found[0]!r} occurs" if found else "no forbidden word")


_TO_KATAKANA: Final = 96  # code points between a hiragana letter and the katakana letter of that sound


def letter_frequency_japanese(text: str, given: Given) -> Finding:
    """Counts a hiragana letter and its katakana."""
    letter = given.text("letter").strip()
    count = text.count(letter)
    if "ぁ" <= letter <= "ん":
        count += text.count(chr(ord(letter) + _TO_KATAKANA))
    return compared(count, given, "let_frequency", "let_relation", unit=f"times {letter!r}")


def no_full_stop(text: str, given: Given) -> Finding:
    """No `。`."""
    del given
    return Finding("。" not in text, f"{text.count('。')} full stops")


_READING: Final = re.compile(r"（[ぁ-ん]+）")


def furigana(text: str, given: Given) -> Finding:
    """Every run of kanji is followed by hiragana in full-width brackets."""
    del given
    runs, read = layout.kanji_runs(text, _READING)
    return Finding(runs == read, f"{read} of {runs} runs of kanji have a reading")


def kanji(text: str, given: Given) -> Finding:
    """How many kanji there are."""
    count = len(re.findall(f"[{layout.KANJI}]", text))
    return compared(count, given, "kanji_limit", unit="kanji")


def no_hiragana(text: str, given: Given) -> Finding:
    """No hiragana letter."""
    del given
    found = next((sign for sign in text if "ぁ" <= sign <= "ゖ"), None)
    return Finding(found is None, "no hiragana" if found is None else f"{found!r} occurs")


def hiragana_only(text: str, given: Given) -> Finding:
    """Every letter is hiragana."""
    del given
    return _only(text, lambda sign: "ぁ" <= sign <= "ん" or sign == "ー", "hiragana")


def no_katakana(text: str, given: Given) -> Finding:
    """No katakana letter, wide or narrow."""
    del given
    found = next((sign for sign in text if "ァ" <= sign <= "ヺ" or "ｦ" <= sign <= "ﾟ"), None)
    return Finding(found is None, "no katakana" if found is None else f"{found!r} occurs")


def katakana_only(text: str, given: Given) -> Finding:
    """Every letter is katakana, wide or narrow."""
    del given
    return _only(text, lambda sign: "ァ" <= sign <= "ン" or sign in "ー・" or "ｦ" <= sign <= "ﾟ", "katakana")


def _only(text: str, belongs: Callable[[str], bool], name: str) -> Finding:
    found = next(
        (sign for sign in text if unicodedata.category(sign).startswith("L") and not belongs(sign)), None
    )
    return Finding(found is None, f"only {name}" if found is None else f"{found!r} is no {name}")


def _unquoted(text: str) -> str:
    return layout.without_between(layout.without_between(text, "「", "」"), "『", "』")


def unified_ending(text: str, given: Given) -> Finding:
    """Every part before `。`, `！` or `？` ends with the ending; a line break after one spoils the next."""
    ending = given.text("ending")
    for sentence in re.split("[。！？]", _unquoted(text)):
        if sentence and not sentence.endswith(ending):
            return Finding(followed=False, reason=f"{sentence.strip()[-20:]!r} does not end with {ending!r}")
    return Finding(followed=True, reason=f"all sentences end with {ending!r}")


def nominal_ending(text: str, given: Given) -> Finding:
    """Nouns (by Janome) right before a full stop, at least so many; one at the end of a line counts not."""
    tokens = morphemes(_unquoted(text))
    count = sum(
        surface in "。！？" and before.startswith("名詞") for (_, before), (surface, _) in pairwise(tokens)
    )
    return at_least(count, given, "count", "nominal endings")
