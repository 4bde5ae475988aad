r"""Reads the mathematics that an answer gives: declared line, boxes, phrase, then the last formula.

What is found is a bare answer in the writing of the model; whether it equals another one is decided
elsewhere. Several boxes in one sentence that belong together (`\boxed{1} and \boxed{2}`) are one list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from probatum.core.records import Item
from probatum.extraction.boxes import find_boxes
from probatum.extraction.characters import fold, sentence_end
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing, answer_of
from probatum.extraction.markers import ANSWER_MARKERS, declared_lines, inline_marks
from probatum.extraction.phrases import answer_phrases, on_condition, renewed
from probatum.extraction.reasoning import Visible, visible
from probatum.extraction.short import ANSWER_TAG

__all__ = ["MathAnswer", "extract_math", "find_math"]

EDITION = 1
"""Raised whenever some text gives another answer than before: a digest of fields cannot see that."""

_ESCAPED = r"\\boxed"
"""A box in a text whose backslashes were escaped once more."""

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class MathAnswer:
    """A mathematical answer: a number, an expression, a set, an interval, an equation, a matrix, words."""

    declared: tuple[str, ...] = ANSWER_MARKERS
    """Marks of the answer line that the task asks for."""
    loose: bool = True
    """Whether the last formula or number counts where no mark, box or phrase names the answer."""
    edition: int = EDITION

    def extract(self, text: str, item: Item) -> Found:  # noqa: ARG002 - every extractor may read the item
        """The answer as the model wrote it."""
        return find_math(text, self.declared, loose=self.loose)


def extract_math(text: str) -> Extraction | None:
    r"""The mathematical answer of a text, as it is written there; `None` without one.

    >>> extract_math(r"So $x = \boxed{\frac{1}{2}}$.").answer
    '\\frac{1}{2}'
    >>> extract_math(r"The answer is $x = 3$, since $y = 2$.").answer
    'x = 3'
    """
    return answer_of(find_math(text))


def find_math(text: str, markers: tuple[str, ...] = ANSWER_MARKERS, *, loose: bool = True) -> Found:
    """The answer with what speaks against it; see `extract_math`."""
    seen = visible(text)
    if _ESCAPED in seen.text:
        seen = replace(seen, text=seen.text.replace(_ESCAPED, " \\boxed"))
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    boxes = find_boxes(seen.text)
    if boxes.unclosed:
        return Missing("the last box was never closed", truncated=True)
    folded = fold(seen.text)
    if not folded.strip():
        return Missing("the answer is empty")
    found = _marked(seen, folded, markers)
    if found is None and boxes.spans:
        found = _phrased(seen, folded, boxes.spans[-1][1]) or _boxed(seen, folded, boxes.spans)
    found = found or _whole(seen, folded) or _phrased(seen, folded)
    if found is None and loose:
        found = _last(seen, folded)
    return found or Missing("no mathematical answer")


def _marked(seen: Visible, folded: str, markers: tuple[str, ...]) -> Found | None:
    places = [(span, "declared:inline") for span in inline_marks(folded, markers)]
    places += [(span, "declared:line") for span in declared_lines(folded, markers)]
    places += [(match.span("inside"), "declared:tag") for match in ANSWER_TAG.finditer(folded)]
    for span, rule in reversed(places):
        found = _payload(seen, folded, span, rule)
        if isinstance(found, Extraction):
            return _corrected_by(seen, folded, found) or found
        if found is not None:
            return found
    return None


def _corrected_by(seen: Visible, folded: str, found: Extraction) -> Found | None:
    """Another answer, announced behind words that take this one back."""
    for start in reversed(renewed(folded, found.span[1] - seen.offset, lambda: answer_phrases(folded))):
        again = _payload(seen, folded, (start, _sentence_end(folded, start)), "phrase:correction")
        if isinstance(again, Extraction) and not on_condition(folded, again.span[1] - seen.offset):
            return again
    return None


_BETWEEN = re.compile(
    r"\s*(?:\\\)|\\\]|\$\$?)?(?P<words>(?:[^.。!?\n]|\.(?!\s)|\n(?!\n)){0,80}?)(?:\\\(|\\\[|\$\$?)?\s*",
    re.DOTALL,
)
_CONNECTED = re.compile(r",|;|&|、|；|和|或|及|与|\b(?:and|or)\b|\\(?:quad|qquad|cup)")
_FEW_WORDS = 5


def _belong(between: str) -> bool:
    """Whether what stands between two boxes joins them to one answer."""
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\\[a-zA-Z]+", " ", between))
    return len(words) <= _FEW_WORDS and (_CONNECTED.search(between) is not None or not words)


def _boxed(seen: Visible, folded: str, spans: tuple[Span, ...]) -> Found | None:
    """The last box, or the boxes of its sentence where they belong together."""
    filled = [span for each in spans if (span := _trimmed(folded, each))[0] < span[1]]
    if not filled:
        return None
    sentence = [filled[-1]]
    for span in reversed(filled[:-1]):
        begin, end = span[1] + 1, _box_start(folded, sentence[-1][0])
        if end - begin > _NEAR or (sentence_end(folded, begin, end) < end and "\n\n" in folded[begin:end]):
            break
        if sentence_end(folded, begin, end) < end and not _belong(folded[begin:end].replace("\n", " ")):
            break
        if re.search(r"[.。!?]\s", folded[begin:end]) is not None:
            break
        if len(sentence) == _MOST_BOXES:
            return Missing("too many boxes in one sentence")
        sentence.append(span)
    sentence.reverse()
    parts = [_extraction(seen, folded, span, "box") for span in sentence]
    if len({part.answer for part in parts}) == 1:
        return parts[-1]
    for one, two in pairwise(sentence):
        if not _belong(folded[one[1] + 1 : _box_start(folded, two[0])]):
            return Ambiguous(tuple(parts))
    return Extraction(
        ", ".join(part.answer for part in parts),
        "box:several",
        (parts[0].span[0], parts[-1].span[1]),
        parts[-1].complete,
    )


_MOST_BOXES = 100
"""Boxes of one answer; a text with more repeats itself."""
_NEAR = 120
"""Characters between boxes of one answer, at most."""


def _box_start(folded: str, inside: int) -> int:
    """Where the box begins whose content begins at `inside`."""
    start = folded.rfind("\\", 0, inside)
    return max(start, 0)


_SEGMENT = re.compile(
    r"(?<!\\)\$\$(?P<display>[^$]{1,2000})(?<!\\)\$\$"
    r"|(?<!\\)\$(?P<inline>(?:[^$\\]|\\.){1,1000})\$"
    r"|\\\((?P<round>(?:[^\\]|\\(?!\))){1,1000})\\\)"
    r"|\\\[(?P<square>(?:[^\\]|\\(?!\])){1,2000})\\\]",
    re.DOTALL,
)
_JOINING = re.compile(r"\s{0,3}(?:,|;|，|；|、|\band\b|\bor\b|,\s?and\b|,\s?or\b|和|或|与)\s{0,3}")
_AFTER = re.compile(
    r"\s?(?:\\?%|percent(?:age)?\b|pct\b|°|degrees?\b|(?!and\b|or\b|is\b|as\b|for\b|so\b|the\b)[a-z]{1,12}\b(?:/[a-zA-Z]{1,8}|\^?[23²³])?)"
    r"(?=\s{0,3}(?:[.。,;\"'*]|\n|$))"
)
"""A unit after a formula."""


def _segments(folded: str, start: int, end: int) -> list[Span]:
    """Formulas, those that belong together joined."""
    found: list[Span] = []
    for match in _SEGMENT.finditer(folded, start, end):
        span = match.span()
        if found and _JOINING.fullmatch(folded, found[-1][1], span[0]):
            found[-1] = (found[-1][0], span[1])
        else:
            found.append(span)
    return found


_WORD = re.compile(r"[^\W\d_]{2,}")
_FUNCTIONS = frozenset(
    [
        "and",
        "or",
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "log",
        "ln",
        "pi",
        "sqrt",
        "frac",
        "inf",
        "infinity",
        "exp",
        "arcsin",
        "arccos",
        "arctan",
        "gcd",
        "lcm",
        "max",
        "min",
        "union",
    ]
)
_HAN_SENTENCE = re.compile(r"[\u4e00-\u9fff]{2,}[^\d\u4e00-\u9fff]{0,6}\d+[^\d]{0,4}[\u4e00-\u9fff]")
"""小明有12元: a number between Chinese words."""
_MOST_WORDS = 3
"""Words of an answer that is no sentence: `12 red apples`."""
_TELLS = re.compile(
    r"\b(?:the|is|are|was|so|we|that|this|therefore|thus|hence|since|which|because|of|has|have|there|it|its|it's)\b"
    r"|是|为|所以|因此|解得",
    re.IGNORECASE,
)
_SHORT = 300
"""Characters of a text that is an answer and nothing else."""


def _is_prose(part: str) -> bool:
    """Whether a part of a text is a sentence, rather than an answer with a unit."""
    plain = re.sub(r"\\text[a-z]{0,6}\s?\{[^{}]*\}|\\[a-zA-Z]+", " ", _SEGMENT.sub(" ", part))
    if _TELLS.search(plain) or _HAN_SENTENCE.search(plain):
        return True
    return sum(each.lower() not in _FUNCTIONS for each in _WORD.findall(plain)) > _MOST_WORDS


def _whole(seen: Visible, folded: str) -> Found | None:
    """The text is an answer and nothing else."""
    span = _trimmed(folded, (0, len(folded)))
    part = folded[span[0] : span[1]]
    if not part or len(part) > _SHORT or "\n\n" in part or _is_prose(part) or _TELLS.search(part):
        return None
    segments = _segments(folded, *span)
    words = _WORD.findall(_SEGMENT.sub(" ", part))
    if segments and words and not _AFTER.fullmatch(folded, segments[-1][1], span[1]):
        return None
    begins = re.match(r"[-+\d.,$€£¥(\\{\[|]|[a-zA-Z](?![a-z])", part) is not None
    if words and not segments and not begins and re.search(r"\d", part):
        return None
    return _extraction(seen, folded, span, "whole:math")


def _phrased(seen: Visible, folded: str, behind: int = 0) -> Found | None:
    """The last phrase that names an answer, if it stands behind a place."""
    for start in reversed(answer_phrases(folded)):
        if start < behind:
            break
        found = _payload(seen, folded, (start, _sentence_end(folded, start)), "phrase:answer")
        if found is not None:
            return found
    return None


def _sentence_end(folded: str, start: int) -> int:
    """The end of the sentence, formulas passed over."""
    at = start
    limit = min(len(folded), start + 1000)
    while True:
        end = sentence_end(folded, at, limit)
        inside = next(
            (match for match in _SEGMENT.finditer(folded, at, limit) if match.start() < end < match.end()),
            None,
        )
        if inside is None:
            return end
        at = inside.end()


_SAYS = re.compile(
    r"(?:\b(?:is|are|equals?|be|becomes?)\b(?! (?:the|a|an|that|in|equal)\b)|\bequal to\b|是|为|等于)"
    r"[\s:：]{0,3}",
    re.IGNORECASE,
)
_REASON = re.compile(r"[,，]?\s?\b(?:since|because|as|which|where|when|given|after)\b|因为", re.IGNORECASE)


def _payload(seen: Visible, folded: str, span: Span, rule: str) -> Found | None:
    """The answer in what stands behind a mark."""
    start, end = span
    inside = find_boxes(folded[start:end]).spans
    if inside:
        return _boxed(seen, folded, tuple((a + start, b + start) for a, b in inside))
    if rule != "declared:line" or _is_prose(folded[start:end]):
        end = min(end, _sentence_end(folded, start))
    start, end = _trimmed(folded, (start, end))
    if start >= end:
        return None
    if _is_prose(folded[start:end]):
        place = _in_sentence(folded, (start, end), declared=rule.startswith("declared"))
    else:
        place = _without_reason(folded, (start, end))
    return _extraction(seen, folded, place, rule) if place is not None else None


def _in_sentence(folded: str, span: Span, *, declared: bool) -> Span | None:
    """Where the answer stands in a sentence that gives it."""
    start, end = span
    segments = _segments(folded, start, end)
    if segments and segments[0][0] - start <= 2:  # noqa: PLR2004 - a quotation mark before it
        return _with_unit(folded, segments[0], end)
    for said in reversed(list(_SAYS.finditer(folded, start, end))):
        rest = _trimmed(folded, _without_reason(folded, (said.end(), end)))
        if rest[0] < rest[1] and not _is_prose(folded[rest[0] : rest[1]]):
            return rest
    if segments:
        return _with_unit(folded, segments[-1], end)
    numbers = list(_numbers(folded, start, end))
    if len(numbers) == 1:
        return numbers[0]
    return span if not numbers and end - start <= _SHORT and declared else None


def _without_reason(folded: str, span: Span) -> Span:
    """Without a clause that gives the reason."""
    for match in _REASON.finditer(folded, *span):
        kept = _trimmed(folded, (span[0], match.start()))
        if kept[0] < kept[1] and not any(
            segment.start() < match.start() < segment.end() for segment in _SEGMENT.finditer(folded, *span)
        ):
            return kept
    return span


def _with_unit(folded: str, span: Span, limit: int) -> Span:
    after = _AFTER.match(folded, span[1], min(len(folded), max(limit, span[1]) + 3))
    return (span[0], after.end()) if after is not None else span


_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,\\])(?:[$€£¥]\s?)?[-+]?\d+(?:[.,]\d+)*(?:\s?/\s?\d+)?(?:\s?(?:%|\$|€|£|¥|°|[a-zA-Z]{1,3}[²³]|percent\b))?(?![A-Za-z0-9_])"
)


def _numbers(folded: str, start: int, end: int) -> Iterator[Span]:
    for match in _NUMBER.finditer(folded, start, end):
        yield match.span()


def _last(seen: Visible, folded: str) -> Found | None:
    """The last formula, or the last number where it stands behind it."""
    segments = _segments(folded, max(0, len(folded) - _TAIL), len(folded))
    numbers = list(_numbers(folded, max(0, len(folded) - _TAIL), len(folded)))
    outside = [each for each in numbers if not segments or each[0] >= segments[-1][1]]
    if outside and (not segments or _NEW_SENTENCE.search(folded[segments[-1][1] - 2 : outside[-1][0]])):
        bare = _bare_formula(folded, outside[-1])
        if bare is not None:
            return _extraction(seen, folded, bare, "loose:last_formula")
        counted = [each for each in outside if folded[each[0] - 1 : each[0]] not in ("^", "_")]
        return _extraction(seen, folded, (counted or outside)[-1], "loose:last_number")
    if segments:
        span = _with_unit(folded, segments[-1], len(folded))
        return _extraction(seen, folded, span, "loose:last_formula")
    return None


_CHUNK = re.compile(
    r"(?:\\[a-zA-Z]+|\\.|[^\s\\{}<>*$()（）]|\((?=[^()\n]{0,60},)[^()\n]{1,80}\)"
    r"|\{(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]{0,80}\}){0,80}\}){0,200}\}){1,300}"
)
"""Signs without a blank between them; blanks within braces, and in a tuple, do not part."""
_WRITTEN = re.compile(r"\\[a-zA-Z]|\^|√|π|^\([^()]*,[^()]*\)$")
"""What tells a formula without dollars from a number."""


def _bare_formula(folded: str, number: Span) -> Span | None:
    r"""The formula without dollars that the number is a part of: `\frac{3}{4}`, `x^2+1`, `(1, 2)`."""
    line = max(folded.rfind("\n", 0, number[0]) + 1, number[0] - _SHORT)
    for match in _CHUNK.finditer(folded, line, min(len(folded), number[1] + _SHORT)):
        if match.end() < number[1]:
            continue
        start, end = match.span()
        start = folded.rfind("=", start, number[0]) + 1 or start
        start, end = _trimmed(folded, (start, end))
        words = _WORD.findall(re.sub(r"\\[a-zA-Z]+", " ", folded[start:end]))
        formula = start <= number[0] and _WRITTEN.search(folded[start:end]) is not None
        return (start, end) if formula and all(each.lower() in _FUNCTIONS for each in words) else None
    return None


_NEW_SENTENCE = re.compile(r"\n|[.。!?]\s|^(?:\$\$|\\\])")
"""Between the last formula and a number behind it: a displayed formula ends its sentence."""
_TAIL = 4000
"""Characters of the end in which the last formula is looked for."""
_DRESS = " \t\n\u00a0*`\"'“”"


_GOES_ON = re.compile(
    r"\.(?=\d{3})\d{0,200}?(?P<period>\d{1,20}?)(?P=period)+(?:\.{3,9}|…)(?=[\s.,;:!?*`\"'”$)}\]\\]*\Z)"
)
"""A decimal that shows its period and goes on (`0.333...`): the dots are part of it."""
_PRIMED = re.compile(r"[A-Za-z)}](?P<primes>'{1,3})(?=[\s.,;:!?*`”]*\Z)")
"""A derivative, unless a quotation ends there."""


def _kept_end(folded: str, start: int, end: int) -> int:
    """Up to where nothing at the end of an answer is decoration."""
    tail = folded[max(start, end - 260) : end]
    if (goes_on := _GOES_ON.search(tail)) is not None:
        return end - len(tail) + goes_on.end()
    primed = _PRIMED.search(tail)
    quoted = "'" in folded[max(0, start - 4) : start] or "'" in tail[: primed.start()] if primed else True
    return start if primed is None or quoted else end - len(tail) + primed.end("primes")


def _trimmed(folded: str, span: Span) -> Span:
    start, end = span
    while start < end and (folded[start] in _DRESS + ":：" or folded.startswith('\\"', start)):
        start += 2 if folded[start] == "\\" else 1
    if folded.endswith('\\"', start, end):
        end -= 2
    kept = _kept_end(folded, start, end)
    while end > kept and folded[end - 1] in _DRESS + ".。,，;；:：":
        if folded[end - 1] != " " and end - 2 >= start and folded[end - 2] == "\\":
            break
        end -= 1
    return start, end


def _extraction(seen: Visible, folded: str, span: Span, rule: str) -> Extraction:
    start, end = _trimmed(folded, span)
    complete = bool(folded[end:].strip(" "))
    formula = _SEGMENT.fullmatch(folded, start, end)
    if formula is not None and formula.lastgroup is not None:
        inside = _trimmed(folded, formula.span(formula.lastgroup))
        start, end = inside if inside[0] < inside[1] else (start, end)
    return Extraction(seen.text[start:end], rule, (seen.offset + start, seen.offset + end), complete)
