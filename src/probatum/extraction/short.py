"""Reads a short answer in words: declared line, box, phrase, or the one line that there is."""

from __future__ import annotations

import re

from probatum.extraction.boxes import box_stays_open, boxed_in
from probatum.extraction.characters import fold, sentence_end, trim
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing
from probatum.extraction.json_replies import find_objects
from probatum.extraction.markers import ANSWER_MARKERS, declared_lines, inline_marks, is_mark
from probatum.extraction.phrases import answer_phrases, corrected
from probatum.extraction.reasoning import Visible, visible

__all__ = ["ANSWER_TAG", "find_declared", "find_short"]

_TAIL = re.compile(r"(?:<\|[\w ]{1,40}\|>|</s>|<eos>|<end_of_turn>|\s){0,20}$")
_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|operatorname)\s?\{([^{}]*)\}")


def find_declared(text: str, markers: tuple[str, ...] = ANSWER_MARKERS, take: str = "last") -> Found:
    """What follows the declared mark on its line; without the decoration around it.

    Args:
        text: a model's answer.
        markers: marks, any of which begins the line.
        take: `last` or `first` line, or `only`: different lines are ambiguous.
    """
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    if box_stays_open(seen):
        return Missing("the last box was never closed", truncated=True)
    folded = fold(seen.text)
    found = [
        each
        for span in declared_lines(folded, markers) or inline_marks(folded, markers)
        if (each := _clean(seen, folded, span, "declared:line")) is not None
    ]
    if not found:
        return Missing("no declared answer line")
    if take == "only" and len({each.answer for each in found}) > 1:
        return Ambiguous(tuple(found))
    return found[0] if take == "first" else found[-1]


def find_short(text: str, markers: tuple[str, ...] = ANSWER_MARKERS, *, loose: bool = False) -> Found:
    """A short answer: the declared line, the box, the phrase, or the text where it is one line."""
    seen = visible(text)
    folded = fold(seen.text)
    tagged = None if seen.truncated else _tagged(seen, folded) or _field(seen, folded)
    if tagged is not None:
        return tagged
    found = find_declared(text, markers)
    if not isinstance(found, Missing) or found.truncated:
        return found
    box = boxed_in(seen)
    if isinstance(box, Extraction):
        span = (box.span[0] - seen.offset, box.span[1] - seen.offset)
        return _clean(seen, folded, span, "box") or box
    if isinstance(box, Ambiguous):
        return box
    return _phrased(seen, folded) or _line(seen, folded, markers, loose=loose)


ANSWER_TAG = re.compile(
    r"<(?:final_?)?answer>(?P<inside>(?:(?!</?(?:final_?)?answer>)[\s\S]){0,2000})</(?:final_?)?answer>",
    re.IGNORECASE,
)


def _tagged(seen: Visible, folded: str) -> Extraction | None:
    """What the last `<answer>…</answer>` holds."""
    found = None
    for match in ANSWER_TAG.finditer(folded):
        start, end = match.span("inside")
        start += len(folded[start:end]) - len(folded[start:end].lstrip())
        marked = declared_lines(folded[start:end], ANSWER_MARKERS)
        if marked:
            start, end = start + marked[-1][0], start + marked[-1][1]
        found = _clean(seen, folded, (start, end), "declared:tag") or found
    return found


_FIELDS = ("answer", "final_answer", "correct_answer", "short_answer", "Answer", "final answer")


def _field(seen: Visible, folded: str) -> Extraction | Missing | None:
    """The answer's field of the JSON object that ends the reply; `null` says that there is none."""
    if "{" not in folded:
        return None
    objects = find_objects(seen.text)
    if not objects.found or not objects.last_ends:
        return None
    last, (start, end) = objects.found[-1]
    values = [last[name] for name in _FIELDS if name in last]
    if len(values) != 1 or isinstance(values[0], (dict, list)):
        return None
    if values[0] is None:
        return Missing("the field of the answer is null")
    answer = str(values[0]).strip()
    return Extraction(answer, "declared:field", (seen.offset + start, seen.offset + end)) if answer else None


_NEGATED = re.compile(r"\s{0,3}(?:not|neither|n['’]t)\b|不是", re.IGNORECASE)


def _phrased(seen: Visible, folded: str) -> Found | None:
    """What phrases announce, if they announce the same, or the later ones correct the others."""
    starts = [start for start in answer_phrases(folded) if not _NEGATED.match(folded, start)]
    places = [(start, sentence_end(folded, start, start + 300)) for start in starts]
    found = [each for span in places if (each := _clean(seen, folded, span, "phrase:answer")) is not None]
    if not found:
        return None
    last = found[-1]
    dissent = [each for each in found if each.answer.casefold() != last.answer.casefold()]
    if dissent:
        begin, end = dissent[-1].span[1] - seen.offset, last.span[0] - seen.offset
        if not corrected(folded, begin, end):
            return Ambiguous(tuple(found))
    return last


def _line(seen: Visible, folded: str, markers: tuple[str, ...], *, loose: bool) -> Found:
    """The only line; the first one of several counts as found by search."""
    start, end = len(folded) - len(folded.lstrip()), len(folded.rstrip())
    if start >= end or is_mark(folded, start, end, markers):
        return Missing("the answer is empty")
    line_end = folded.find("\n", start, end)
    if line_end < 0:
        return _clean(seen, folded, (start, end), "whole:line") or Missing("the answer is empty")
    if not loose:
        return Missing("several lines, and none declared")
    return _clean(seen, folded, (start, line_end), "loose:first_line") or Missing("no short answer")


_AMOUNT = re.compile(r"(?<!\$)\$\d")
"""The sign of dollars, rather than of a formula that another one ends."""


def _clean(seen: Visible, folded: str, span: tuple[int, int], rule: str) -> Extraction | None:
    """The words of a part of the text, without emphasis, quotes, and a full stop at the end."""
    tail = _TAIL.search(folded, max(span[0], span[1] - 400), span[1])
    end = tail.start() if tail else span[1]
    start, stop = trim(folded, span[0], end, " \t\u00a0*_`~\"'“‘«「『$:：", " \t\u00a0*_`~\"'”’»」』$.。!！")
    if start >= stop:
        return None
    if _AMOUNT.match(folded, start - 1) and span[0] < start and "$" not in folded[stop:end]:
        start -= 1
    answer = seen.text[start:stop]
    if "\\" in answer:
        answer = _TEXT.sub(r"\1", answer)
    complete = bool(folded[stop:].strip(" "))
    return Extraction(answer.strip(), rule, (seen.offset + start, seen.offset + stop), complete)
