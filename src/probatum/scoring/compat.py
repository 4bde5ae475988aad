"""Rules of published results, as they were: for making a number again, not for a new one.

Each reproduces a rule that is poorer than ours, and says where. docs/published.md holds the figures. As
components of a task they are declared in its protocol, so that such a score cannot be taken for another.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from probatum.core.errors import ProtocolError
from probatum.core.records import Item, Outcome, Response
from probatum.extraction.evidence import Extraction, Extractor, Found, Missing
from probatum.scoring.answers import invalid_item, judged, read

__all__ = [
    "GaokaoAnswer",
    "MmluProAnswer",
    "PercentNumberMatch",
    "RoundedNumberMatch",
    "TextAfter",
    "ZeroShotCotAnswer",
]


@dataclass(frozen=True, kw_only=True)
class TextAfter:
    """What stands behind a mark to the end of the text; without the mark the whole text.

    BIG-Bench Hard's rule with `answer is ` (Suzgun et al. 2022, arXiv:2210.09261), GSM8K's with `A:`.
    Poorer than `DeclaredLine`: whatever the model goes on to say belongs to the answer, and a text
    without the mark is an answer.
    """

    mark: str
    strip_stop: bool = True
    """Whether one final full stop is taken off."""

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """Behind the last mark."""
        place = text.rfind(self.mark)
        start = place + len(self.mark) if place >= 0 else 0
        answer = text[start:].strip()
        if self.strip_stop and answer.endswith("."):
            answer = answer[:-1]
        return Extraction(answer, "compat:after" if place >= 0 else "compat:whole", (start, len(text)))


Kind = Literal["number", "option", "yes_no", "text"]

_NUMBER = re.compile(r"-?\d+\.?\d*")
_BETWEEN_WORDS = re.compile(r"[\"'\n.\s:,]")
_QUOTES_AND_BLANKS = re.compile(r"[\"'\n.\s]")


@dataclass(frozen=True, kw_only=True)
class ZeroShotCotAnswer:
    """The first thing behind the trigger that looks like an answer (Kojima et al. 2022, arXiv:2205.11916).

    Numbers after commas are removed, capital letters wherever they stand ("A" of "Among"), `yes` or `no`
    as a word, or the whole text without quotes, stops and blanks. Poorer than ours: the first of two
    numbers wins, as does a letter within a word; grouping and decimals cannot be told apart.
    """

    kind: Kind
    options: str = "ABCDE"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ProtocolError(f"kind {self.kind!r} is none of {', '.join(map(repr, get_args(Kind)))}")

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The first candidate."""
        candidates = self._candidates(text)
        if not candidates:
            return Missing("nothing looks like an answer")
        return Extraction(candidates[0].removesuffix("."), "compat:first", (0, len(text)))

    def _candidates(self, text: str) -> list[str]:
        if self.kind == "number":
            return _NUMBER.findall(text.replace(",", ""))
        if self.kind == "option":
            return [each for each in text if each in self.options]
        if self.kind == "yes_no":
            return [
                each for each in _BETWEEN_WORDS.sub(" ", text.lower()).split(" ") if each in ("yes", "no")
            ]
        return [_QUOTES_AND_BLANKS.sub("", text)]


_MMLU_PRO = (
    ("answer_is", re.compile(r"answer is \(?([A-J])\)?")),
    ("answer_colon", re.compile(r".*[aA]nswer:\s*([A-J])")),
)
_LETTER = re.compile(r"\b[A-J]\b")


@dataclass(frozen=True, kw_only=True)
class MmluProAnswer:
    """MMLU-Pro's chain (Wang et al. 2024, arXiv:2406.01574): up to three patterns, the first that matches.

    "answer is (X)", the *first* one; then "Answer: X"; then the last capital A … J that stands alone, which
    is also the article "A" and the pronoun "I". Results of different months were made with one, two or
    three of them. Where none matches, some editions draw an option at random: here there is no answer. A
    letter beyond the item's own options is taken as well.
    """

    patterns: Literal[1, 2, 3] = 3

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The letter."""
        for name, pattern in _MMLU_PRO[: self.patterns]:
            match = pattern.search(text)
            if match is not None:
                return Extraction(match[1], f"compat:{name}", match.span(1))
        last = deque(_LETTER.finditer(text), maxlen=1) if self.patterns > len(_MMLU_PRO) else ()
        for match in last:
            return Extraction(match[0], "compat:last_letter", match.span())
        return Missing("no pattern matches")


GaokaoKind = Literal["single", "several_questions", "multiple", "five_of_seven"]

_MARKED = re.compile(r"【答案】\s*[:：]*\s*([A-Z])")
_TAIL = 10
"""Characters at the end that are read where the mark is missing."""


@dataclass(frozen=True, kw_only=True)
class GaokaoAnswer:
    """GAOKAO-Bench's rules by kind of question (Zhang et al. 2023, arXiv:2305.12474).

    `single`: the last letter A … D of the whole text, so that "B、D" answers D, as does "none of
    A, B, C, D". `several_questions`: the letters behind 【答案】, if they are as many as the item's field
    `questions` says, else the first letters of the text. `multiple`: all letters behind the first
    【答案】. Answers are joined by commas.
    """

    kind: GaokaoKind

    def __post_init__(self) -> None:
        if self.kind not in get_args(GaokaoKind):
            raise ProtocolError(f"kind {self.kind!r} is none of {', '.join(map(repr, get_args(GaokaoKind)))}")

    def extract(self, text: str, item: Item) -> Found:
        """The letters."""
        letters = self._letters(text, item)
        if not letters:
            return Missing("no letter")
        return Extraction(",".join(letters), f"compat:{self.kind}", (0, len(text)))

    def _letters(self, text: str, item: Item) -> list[str]:
        if self.kind == "single":
            return re.findall("[A-D]", text)[-1:]
        if self.kind == "five_of_seven":
            return re.findall("[A-G]", text)[:5]
        if self.kind == "several_questions":
            wanted = item.fields.get("questions")
            marked = _MARKED.findall(text)
            if len(marked) == wanted:
                return marked
            return re.findall("[A-Z]", text)[: wanted if isinstance(wanted, int) else 1]
        dense = re.sub(r"\s+", "", text)
        place = dense.find("【答案】")
        joined = "".join(re.findall("[A-D]", dense[place:] if place > 0 else dense[-_TAIL:]))
        return [joined] if joined else []


@dataclass(frozen=True)
class PercentNumberMatch:
    """Score `correct`: the number, its hundredth or its hundredfold is a target's, within 0.001.

    The rule of ToRA (Gou et al. 2023, arXiv:2309.17452) and of code that follows it, so that 0.05 answers 5,
    and 70 answers 0.7.
    """

    extractor: Extractor
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted number with every target that is one."""
        targets = [value for target in item.targets if (value := _float(target.replace(",", ""))) is not None]
        if not targets:
            return invalid_item(item, sample, f"no target among {item.targets!r} is a number")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        given = _float(found.answer.replace(",", ""))
        equal = given is not None and any(
            abs(given - target * factor) <= _NEAR for target in targets for factor in (0.01, 1, 100)
        )
        return judged(item, sample, found, {"correct": float(equal)})


_NEAR = 1e-3


@dataclass(frozen=True)
class RoundedNumberMatch:
    """Score `correct`: two numbers are equal when both are rounded to the fewer decimals of the two.

    Program-of-Thoughts' rule (Chen et al. 2023, arXiv:2211.12588): 2.04 answers 2.0. Binary floats, as there.
    """

    extractor: Extractor
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted number with every target that is one."""
        targets = [value for target in item.targets if (value := _float(target)) is not None]
        if not targets:
            return invalid_item(item, sample, f"no target among {item.targets!r} is a number")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        given = _float(found.answer)
        equal = given is not None and any(_rounded_equal(given, target) for target in targets)
        return judged(item, sample, found, {"correct": float(equal)})


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _rounded_equal(first: float, second: float) -> bool:
    digits = min(_decimals(first), _decimals(second))
    return round(first, digits) == round(second, digits)


def _decimals(value: float) -> int:
    text = str(value)
    return len(text.partition(".")[2]) if "." in text else 5
