"""BLEU, chrF and TER through sacrebleu, ROUGE through rouge-score (the extra `[text]`).

What is a score of a corpus and what a score of an item is told apart by name. BLEU and TER of a corpus
are ratios of sums, not means of the items' scores: `corpus_bleu` and `corpus_ter`, or the metrics
`CorpusBleu` and `CorpusTer` for a task. chrF of a corpus is likewise computed from summed counts. ROUGE
is a mean over items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from probatum.core.errors import UsageError
from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor
from probatum.scoring.answers import invalid_item, judged, read
from probatum.scoring.text.backends import rouge_scorer, sacrebleu
from probatum.scoring.text.whole import WholeText

__all__ = [
    "BLEU_COUNTS",
    "ORDER",
    "TER_COUNTS",
    "BleuTokens",
    "CorpusScore",
    "NgramOverlap",
    "RougeKind",
    "bleu_metric",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "rouge",
    "sentence_bleu",
]

BleuTokens = Literal["13a", "intl", "zh", "char", "none"]
"""sacrebleu's tokenizers: `13a` as in WMT, `intl` for any script with blanks, `zh` for Chinese, `char`."""

RougeKind = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]

ORDER = 4
"""BLEU counts n-grams of up to four tokens."""


@dataclass(frozen=True)
class CorpusScore:
    """A score of a whole corpus, with what another person needs to compute the same."""

    name: str
    value: float
    """BLEU and chrF: 0 … 100, more is better. TER: edits of 100 words, less is better."""
    signature: str
    """sacrebleu's: tokenizer, smoothing, case, number of references, version."""
    items: int


@lru_cache(maxsize=16)
def bleu_metric(tokens: BleuTokens, *, lower_case: bool, effective: bool) -> Any:
    """BLEU of sacrebleu; `effective`: of short texts, only the orders that they have."""
    return sacrebleu().BLEU(tokenize=tokens, lowercase=lower_case, effective_order=effective)


def corpus_bleu(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokens: BleuTokens = "13a",
    lower_case: bool = False,
) -> CorpusScore:
    """BLEU of a corpus (Papineni et al. 2002), by sacrebleu.

    Args:
        predictions: one text an item.
        references: for each item its references; items may have different numbers of them.
        tokens: sacrebleu's tokenizer. 13a leaves Chinese text one word: take `zh` there.
        lower_case: whether case is put aside.

    Raises:
        UsageError: the two do not fit, an item has no reference, or sacrebleu is not installed.
    """
    return _corpus(
        "BLEU", bleu_metric(tokens, lower_case=lower_case, effective=False), predictions, references
    )


def corpus_chrf(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, word_order: Literal[0, 2] = 0
) -> CorpusScore:
    """Score chrF of a corpus (Popović 2015); `word_order=2` is chrF++. By characters, in any language.

    Raises:
        UsageError: the two do not fit, an item has no reference, or sacrebleu is not installed.
    """
    name = "chrF++" if word_order else "chrF"
    return _corpus(name, sacrebleu().CHRF(word_order=word_order), predictions, references)


def corpus_ter(
    predictions: Sequence[str], references: Sequence[Sequence[str]], *, asian: bool = False
) -> CorpusScore:
    """Translation edit rate of a corpus (Snover et al. 2006), in percent; less is better.

    Args:
        predictions: one text an item.
        references: for each item its references.
        asian: whether each Chinese, Japanese or Korean character is a word of its own.

    Raises:
        UsageError: the two do not fit, an item has no reference, or sacrebleu is not installed.
    """
    metric = sacrebleu().TER(normalized=asian, asian_support=asian)
    return _corpus("TER", metric, predictions, references)


def _corpus(
    name: str, metric: Any, predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> CorpusScore:
    if len(predictions) != len(references) or not predictions:
        raise UsageError(
            f"{len(predictions)} predictions and {len(references)} lists of references: "
            "give one list for each prediction, and at least one"
        )
    for number, each in enumerate(references):
        if not each:
            raise UsageError(
                f"item {number} has no reference to compare with; give one or leave the item out"
            )
    streams = [
        [each[place] if place < len(each) else None for each in references]
        for place in range(max(map(len, references)))
    ]
    found = metric.corpus_score(list(predictions), streams)
    return CorpusScore(name, float(found.score), str(metric.get_signature()), len(predictions))


def sentence_bleu(prediction: str, references: Sequence[str], *, tokens: BleuTokens = "13a") -> float:
    """BLEU of one item, 0 … 100, with n-grams only as long as the texts (effective order).

    For an item's own sake: the mean of these over items is not the BLEU of the corpus.

    Raises:
        UsageError: sacrebleu is not installed.
        ValueError: there is no reference.
    """
    _some(references)
    metric = bleu_metric(tokens, lower_case=False, effective=True)
    return float(metric.sentence_score(prediction, list(references)).score)


def rouge(
    prediction: str,
    references: Sequence[str],
    kinds: Sequence[RougeKind] = ("rouge1", "rouge2", "rougeL"),
    *,
    stemmer: bool = False,
) -> dict[str, float]:
    """ROUGE F-measures of one item, 0 … 1; of several references the best for each kind (Lin 2004).

    Tokens are runs of ASCII letters and digits in lower case: other scripts, Chinese among them, have
    none, and are refused rather than scored 0. `rougeLsum` takes line breaks as ends of sentences.

    Raises:
        UsageError: rouge-score is not installed, or a reference has no token.
        ValueError: there is no reference.
    """
    _some(references)
    for reference in references:
        if reference.strip() and not any(each.isascii() and each.isalnum() for each in reference):
            raise UsageError(
                f"ROUGE has no token in the reference {reference[:40]!r}: its tokenizer knows ASCII "
                "letters and digits only; take chrF, or token_f1 with tokens='characters'"
            )
    scorer = rouge_scorer(tuple(kinds), stemmer=stemmer)
    found = [scorer.score(reference, prediction) for reference in references]
    return {kind: max(float(each[kind].fmeasure) for each in found) for kind in kinds}


def _some(references: Sequence[str]) -> None:
    if not references:
        raise ValueError("there is no reference to compare with")


@dataclass(frozen=True)
class NgramOverlap:
    """Scores `bleu` (of the item, 0 … 1) and the ROUGE kinds asked for, with what a corpus score sums.

    `bleu_matches_n`, `bleu_ngrams_n` (n = 1 … 4), `bleu_length`, `bleu_reference_length`, and, where
    `ter` is asked for, `ter_edits` and `ter_words`: counts, from which `CorpusBleu` and `CorpusTer` make the
    scores of the corpus. A rate of `bleu` is a mean of items' BLEU, and is not BLEU.
    """

    extractor: Extractor = field(default_factory=WholeText)
    tokens: BleuTokens = "13a"
    lower_case: bool = False
    rouge: tuple[RougeKind, ...] = ()
    stemmer: bool = False
    ter: bool = False

    @property
    def scores(self) -> tuple[str, ...]:
        """Keys of the scores."""
        return ("bleu", *BLEU_COUNTS, *(TER_COUNTS if self.ter else ()), *self.rouge)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the answer with every reference at once (BLEU), or with the best (ROUGE, TER)."""
        if not any(target.strip() for target in item.targets):
            return invalid_item(item, sample, f"no usable reference among {item.targets!r}")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        return judged(item, sample, found, self.compare(found.answer, item.targets))

    def compare(self, prediction: str, references: Sequence[str]) -> dict[str, float]:
        """The scores of one text."""
        metric = bleu_metric(self.tokens, lower_case=self.lower_case, effective=True)
        score = metric.sentence_score(prediction, list(references))
        counts = (*score.counts, *score.totals, score.sys_len, score.ref_len)
        values = {"bleu": min(score.score / 100, 1.0)}  # sacrebleu can be one rounding above 100
        values |= {name: float(count) for name, count in zip(BLEU_COUNTS, counts, strict=True)}
        if self.ter:
            edits = sacrebleu().TER().sentence_score(prediction, list(references))
            values |= {"ter_edits": float(edits.num_edits), "ter_words": float(edits.ref_length)}
        if self.rouge:
            values |= rouge(prediction, references, self.rouge, stemmer=self.stemmer)
        return values


BLEU_COUNTS = (
    *(f"bleu_matches_{order}" for order in range(1, ORDER + 1)),
    *(f"bleu_ngrams_{order}" for order in range(1, ORDER + 1)),
    "bleu_length",
    "bleu_reference_length",
)
TER_COUNTS = ("ter_edits", "ter_words")
