"""CMRC 2018's two scores: exact match without punctuation, and F1 of the longest common run.

Cui et al. 2019, arXiv:1810.07366, and the official script. Chinese text has no blanks between words, so
that a score must say what its tokens are. Here each Chinese character is one token, and other text is
split into words by the rules of the Penn Treebank (mixed segmentation).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor
from probatum.scoring.answers import invalid_item, judged, read
from probatum.scoring.text.backends import english_words
from probatum.scoring.text.whole import WholeText

__all__ = ["Cmrc2018Match", "cmrc2018_exact", "cmrc2018_f1", "cmrc2018_tokens"]

_IGNORED = frozenset("-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』") | {"……"}
"""The punctuation that the official script puts aside; not all there is (`.`, `,` and `‘` stay).

`……` is in its list too, and never met, because the script compares one character at a time."""


def cmrc2018_tokens(text: str) -> list[str]:
    """Mixed segmentation, without the punctuation that the official script ignores.

    The script splits other text into sentences before words; that step, which needs a trained model, is
    left out. It differs where a sentence ends with a full stop within one run of Latin text.

    Raises:
        UsageError: there is text that is not Chinese, and nltk is not installed.
    """
    tokens: list[str] = []
    run: list[str] = []
    for each in text.lower().strip():
        if each in _IGNORED:
            continue
        if "\u4e00" <= each <= "\u9fa5":
            tokens += _words("".join(run))
            run.clear()
            tokens.append(each)
        else:
            run.append(each)
    return tokens + _words("".join(run))


def _words(run: str) -> list[str]:
    if not run or run.isspace():
        return []
    return list(_split_short(run) if len(run) <= _SHORT else _split(run))


_SHORT = 64
"""Characters of a run that is worth remembering: numbers and names come again."""


@lru_cache(maxsize=4096)
def _split_short(run: str) -> tuple[str, ...]:
    return tuple(_split(run))


def _split(run: str) -> list[str]:
    if run.isalnum() and run not in _SPLIT_WORDS:
        return [run]
    return list(english_words().tokenize(run))


_SPLIT_WORDS = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))
"""Words without any other sign that the Penn Treebank takes apart."""


def _longest_common_run(wanted: Sequence[str], said: Sequence[str]) -> int:
    """Length of the longest run of tokens that both have; the script calls it LCS.

    Only places where tokens are equal are visited, so that a long answer costs what it shares.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, token in enumerate(wanted):
        places[token].append(place)
    best = 0
    before: dict[int, int] = {}
    for token in said:
        before = {place: before.get(place - 1, 0) + 1 for place in places.get(token, ())}
        best = max(best, *before.values()) if before else best
    return best


def cmrc2018_f1(prediction: str, targets: Sequence[str]) -> float:
    """Best F1 over the targets, of the longest run of tokens that prediction and target share; 0 … 1.

    >>> cmrc2018_f1("村雨城", ["任天堂游戏谜之村雨城"])
    0.46153846153846156

    Raises:
        ValueError: there is no target.
        UsageError: there is text that is not Chinese, and nltk is not installed.
    """
    if not targets:
        raise ValueError("there is no target to compare with")
    said = cmrc2018_tokens(prediction)
    best = 0.0
    for target in dict.fromkeys(targets):
        wanted = cmrc2018_tokens(target)
        run = _longest_common_run(wanted, said)
        if run:
            precision, recall = run / len(said), run / len(wanted)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


def cmrc2018_exact(prediction: str, targets: Sequence[str]) -> bool:
    """Whether the prediction equals a target without case and the ignored punctuation.

    Raises:
        ValueError: there is no target.
    """
    if not targets:
        raise ValueError("there is no target to compare with")
    return _plain(prediction) in {_plain(target) for target in targets}


def _plain(text: str) -> str:
    return "".join(each for each in text.lower().strip() if each not in _IGNORED)


@dataclass(frozen=True)
class Cmrc2018Match:
    """Scores `exact` and `f1` by the rules of CMRC 2018."""

    extractor: Extractor = field(default_factory=WholeText)
    scores: tuple[str, ...] = field(default=("exact", "f1"), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted answer with the targets."""
        if not any(_plain(target) for target in item.targets):
            return invalid_item(item, sample, f"no usable target among {item.targets!r}")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        values = {
            "exact": float(cmrc2018_exact(found.answer, item.targets)),
            "f1": cmrc2018_f1(found.answer, item.targets),
        }
        return judged(item, sample, found, values)
