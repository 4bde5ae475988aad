"""Reads a short answer in words: declared line, box, phrase, or the one line that there is."""

from __future__ import annotations

import re

from probatum.extraction.boxes import box_stays_open, boxed_in
from probatum.extraction.characters import fold, sentence_end, trim
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing
from probatum.extraction.markers import ANSWER_MARKERS, declared_lines, inline_marks, is_mark
from probatum.extraction.phrases import answer_phrases
from probatum.extraction.reasoning import Visible, visible

__all__ = ["find_declared", "find_short"]

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
    found = find_declared(text, markers)
    if not isinstance(found, Missing) or found.truncated:
        return found
    seen = visible(text)
    folded = fold(seen.text)
    box = boxed_in(seen)
    if isinstance(box, Extraction):
        span = (box.span[0] - seen.offset, box.span[1] - seen.offset)
        return _clean(seen, folded, span, "box") or box
    if isinstance(box, Ambiguous):
        return box
    return _phrased(seen, folded) or _line(seen, folded, markers, loose=loose)


def _phrased(seen: Visible, folded: str) -> Found | None:
    """What phrases announce, if they announce the same."""
    places = [(start, sentence_end(folded, start, start + 300)) for start in answer_phrases(folded)]
    found = [each for span in places if (each := _clean(seen, folded, span, "phrase:answer")) is not None]
    if not found:
        return None
    same = len({each.answer.casefold() for each in found}) == 1
    return found[-1] if same else Ambiguous(tuple(found))


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


def _clean(seen: Visible, folded: str, span: tuple[int, int], rule: str) -> Extraction | None:
    """The words of a part of the text, without emphasis, quotes, and a full stop at the end."""
    tail = _TAIL.search(folded, max(span[0], span[1] - 400), span[1])
    end = tail.start() if tail else span[1]
    start, stop = trim(folded, span[0], end, " \t\u00a0*_`~\"'“‘«「『$:：", " \t\u00a0*_`~\"'”’»」』$.。!！")
    if start >= stop:
        return None
    answer = seen.text[start:stop]
    if "\\" in answer:
        answer = _TEXT.sub(r"\1", answer)
    complete = bool(folded[stop:].strip(" "))
    return Extraction(answer.strip(), rule, (seen.offset + start, seen.offset + stop), complete)
