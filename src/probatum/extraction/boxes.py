r"""Boxed answers: `\boxed{…}` and `\fbox{…}`, braces matched, nested boxes unwrapped."""

from __future__ import annotations

import re
from dataclasses import dataclass

from probatum.extraction.characters import fold, sentence_end
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing, answer_of
from probatum.extraction.phrases import corrected
from probatum.extraction.reasoning import Visible, visible

__all__ = ["Boxes", "box_stays_open", "boxed_in", "extract_boxed", "find_boxed", "find_boxes"]

_BRACE = re.compile(r"\\(?:boxed|fbox)[ \t\n]{0,4}\{|\\.|[{}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Boxes:
    """Complete boxes in order, as spans of what is inside; a box that only holds boxes gives way."""

    spans: tuple[tuple[int, int], ...]
    unclosed: bool
    """A box was opened after the last complete one, and the text ended inside it."""


def find_boxes(text: str) -> Boxes:
    """All complete boxes of `text`. One pass, however deep the braces."""
    closed: list[tuple[int, int]] = []
    stack: list[int] = []  # positions behind a box's brace; -1 for any other brace
    open_boxes: list[int] = []
    for match in _BRACE.finditer(text):
        token = match[0]
        if token == "}":  # noqa: S105 - a brace, not a password
            if not stack:
                continue
            start = stack.pop()
            if start >= 0:
                open_boxes.pop()
                if not closed or closed[-1][0] < start:  # else it holds a box, which stands for it
                    closed.append((start, match.start()))
        elif token == "{":  # noqa: S105 - a brace, not a password
            stack.append(-1)
        elif token[-1] == "{" and len(token) > 2:  # noqa: PLR2004 - `\{` is an escaped brace
            stack.append(match.end())
            open_boxes.append(match.end())
    last = closed[-1][0] if closed else -1
    return Boxes(tuple(closed), bool(open_boxes) and open_boxes[-1] > last)


def find_boxed(text: str) -> Found:
    """The boxed answer with what speaks against it; see `extract_boxed`."""
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    return boxed_in(seen)


def box_stays_open(seen: Visible) -> bool:
    """Whether the text ends within its last box: then what it says before was a draft."""
    return ("\\boxed" in seen.text or "\\fbox" in seen.text) and find_boxes(seen.text).unclosed


def boxed_in(seen: Visible) -> Found:
    r"""The deciding box of a text whose reasoning is out.

    The last box decides, since a model that goes on corrects itself; but different boxes in one
    sentence (`x = \boxed{3} or \boxed{4}`) are several answers, unless words between take one back.
    """
    boxes = find_boxes(seen.text)
    if boxes.unclosed:
        return Missing("the last box was never closed", truncated=True)
    found = [each for span in boxes.spans if (each := _read(seen, span)) is not None]
    if not found:
        return Missing("no box")
    last = found[-1]
    folded = fold(seen.text)
    sentence = [last]
    for each in reversed(found[:-1]):
        begin, end = each.span[1] - seen.offset, sentence[-1].span[0] - seen.offset
        if sentence_end(folded, begin, end) < end or corrected(folded, begin, end):
            break
        sentence.append(each)
    if any(each.answer != last.answer for each in sentence):
        return Ambiguous(tuple(reversed(sentence)))
    return last


def _read(seen: Visible, span: tuple[int, int]) -> Extraction | None:
    start, end = span
    answer = seen.text[start:end].strip()
    if not answer:
        return None
    start += seen.text[start:end].index(answer[0])
    return Extraction(answer, "box", (seen.offset + start, seen.offset + start + len(answer)))


def extract_boxed(text: str) -> Extraction | None:
    r"""What the last `\boxed{…}` of the answer holds; `None` without one.

    Also `None`: the last box was cut off (an earlier one was a draft), the reasoning was, or one
    sentence holds different boxes.

    >>> extract_boxed(r"so $x = \boxed{\frac{1}{2}}$.").answer
    '\\frac{1}{2}'
    """
    return answer_of(find_boxed(text))
