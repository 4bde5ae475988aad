"""The one place where the libraries of the extra `[text]` are imported, when they are first needed."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from probatum.core.errors import UsageError

__all__ = ["english_words", "rouge_scorer", "sacrebleu"]


def _load(module: str, package: str, what: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            f"{what} needs {package!r}, which cannot be imported ({error}); "
            "install it with: pip install 'probatum[text]'"
        ) from error


@lru_cache(maxsize=1)
def sacrebleu() -> Any:
    """The module `sacrebleu.metrics` (Post 2018, arXiv:1804.08771).

    Raises:
        UsageError: it is not installed.
    """
    return _load("sacrebleu.metrics", "sacrebleu", "BLEU, chrF and TER")


@lru_cache(maxsize=8)
def rouge_scorer(kinds: tuple[str, ...], *, stemmer: bool) -> Any:
    """Scorer of rouge-score for these kinds of ROUGE (Lin 2004).

    Raises:
        UsageError: it is not installed.
    """
    module = _load("rouge_score.rouge_scorer", "rouge-score", "ROUGE")
    return module.RougeScorer(list(kinds), use_stemmer=stemmer)


@lru_cache(maxsize=1)
def english_words() -> Any:
    """Word tokenizer of nltk (the rules of the Penn Treebank), which needs no data files.

    Raises:
        UsageError: it is not installed.
    """
    return _load(
        "nltk.tokenize", "nltk", "CMRC 2018's segmentation of text that is not Chinese"
    ).NLTKWordTokenizer()
