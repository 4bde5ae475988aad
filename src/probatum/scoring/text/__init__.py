"""Scores of free text: shared tokens, spans, n-grams. Each says how it splits text into tokens.

Modules load when one of their names is first used. BLEU, chrF and TER come from sacrebleu, ROUGE from
rouge-score and the words of CMRC 2018 from nltk: the extra `[text]`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probatum.scoring.text.chinese import Cmrc2018Match, cmrc2018_exact, cmrc2018_f1
    from probatum.scoring.text.corpus import CorpusBleu, CorpusTer
    from probatum.scoring.text.drop import DropMatch, drop_scores
    from probatum.scoring.text.ngrams import (
        CorpusScore,
        NgramOverlap,
        corpus_bleu,
        corpus_chrf,
        corpus_ter,
        rouge,
        sentence_bleu,
    )
    from probatum.scoring.text.reference_pairs import TruthfulOverlap, truthful_overlap
    from probatum.scoring.text.squad import (
        BestThreshold,
        SquadMatch,
        SquadQuestion,
        SquadReport,
        squad_best_threshold,
        squad_report,
    )
    from probatum.scoring.text.whole import WholeText

_HOMES = {
    "chinese": ("Cmrc2018Match", "cmrc2018_exact", "cmrc2018_f1"),
    "corpus": ("CorpusBleu", "CorpusTer"),
    "drop": ("DropMatch", "drop_scores"),
    "ngrams": (
        "CorpusScore",
        "NgramOverlap",
        "corpus_bleu",
        "corpus_chrf",
        "corpus_ter",
        "rouge",
        "sentence_bleu",
    ),
    "reference_pairs": ("TruthfulOverlap", "truthful_overlap"),
    "squad": (
        "BestThreshold",
        "SquadMatch",
        "SquadQuestion",
        "SquadReport",
        "squad_best_threshold",
        "squad_report",
    ),
    "whole": ("WholeText",),
}

__all__ = [
    "BestThreshold",
    "Cmrc2018Match",
    "CorpusBleu",
    "CorpusScore",
    "CorpusTer",
    "DropMatch",
    "NgramOverlap",
    "SquadMatch",
    "SquadQuestion",
    "SquadReport",
    "TruthfulOverlap",
    "WholeText",
    "cmrc2018_exact",
    "cmrc2018_f1",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "drop_scores",
    "rouge",
    "sentence_bleu",
    "squad_best_threshold",
    "squad_report",
    "truthful_overlap",
]


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
