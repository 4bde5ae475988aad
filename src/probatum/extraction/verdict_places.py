"""Where a verdict may stand in a judge's reply, and how much each place says.

Positions are those of the text after `characters.fold`. Every pattern is bounded, so that the time
grows with the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from probatum.extraction.characters import CLOSERS, fold, fold_width, sentence_end

__all__ = [
    "SCORE_MARKS",
    "VERDICT_MARKS",
    "Place",
    "numbers_in",
    "places",
    "read_number",
    "sole_lines",
    "stated",
    "unclosed_tag",
]

SCORE_MARKS: Final = (
    *("score:", "scores:", "rating:", "ratings:", "grade:", "points:", "final score:", "final rating:"),
    *("overall score:", "overall rating:", "[RESULT]"),
    *("评分：", "得分：", "分数：", "打分：", "总分：", "综合评分：", "最终评分：", "最终得分：", "評分："),
    *("Note finale :", "Bewertung:", "Punktzahl:", "Gesamtpunktzahl:", "Puntuación:", "Calificación:"),
    *("Pontuação:", "Punteggio:", "Оценка:", "評価：", "スコア：", "点数：", "점수:", "평점:"),
)
"""Marks of a score's line where a task declares none. "Note:" is not among them: it begins remarks."""

VERDICT_MARKS: Final = (
    *("verdict:", "final verdict:", "decision:", "final decision:", "judgement:", "judgment:"),
    *("final judgement:", "final judgment:", "winner:", "answer:", "final answer:", "choice:", "my choice:"),
    *("final choice:", "grade:", "final grade:", "label:", "result:", "conclusion:", "preference:"),
    *("better answer:", "better response:", "[RESULT]"),
    *("裁决：", "最终裁决：", "判决：", "结论：", "判断：", "最终判断：", "评判：", "评判结果：", "裁決："),
    *("Urteil:", "Ergebnis:", "Veredicto:", "Verdetto:", "Verdict final :", "Вердикт:"),
    *("判定：", "最終判定：", "판정:", "최종 판정:"),
)
"""Marks of a verdict's line where a task declares none."""

_FINAL = re.compile(r"final|overall|conclu|my choice|最终|最終|综合|总|최종|gesamt|finale", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:[\W_\d]|\b(?:so|therefore|thus|hence|overall|finally|final|my|the|in|conclusion|summary|and|then|i|we|give|it"
    r"|a|an|is|as|for|with|now|based|on|this|all|here|own|therefore)\b){0,24}$",
    re.IGNORECASE,
)
"""What may stand between the beginning of a sentence and its mark."""

_SENTENCE = re.compile(r"[.!?;。！？；](?=\s|$|[\"'”’)\]*_])|[。！？；]")
_KEPT: Final = 1000
"""Tags and marks looked at, from the end: a reply with more of them repeats itself."""
_NEAR: Final = 200
"""Characters before and behind a place that are looked at."""
_LONGEST_QUOTE: Final = 500
_LONGEST_TAG: Final = 80
_FIRST_SENTENCE = re.compile(rf"{_SENTENCE.pattern}|[ \t][–—-][ \t]")
_TAG = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]|\\\[\\\[([^\[\]\\\n]{1,80})\\\]\\\]")
"""Also with the brackets escaped, as Markdown has them."""
_BOX = re.compile(r"\\boxed\{[ ]?(?:\\(?:text|textbf|mathrm|mathbf)\{)?([^{}\n]{1,80})\}{1,2}")
_PUT_ASIDE = re.compile(r"(?:\b(?:not|instead of|rather than)|n['’]t|不是|而非)[\s*_`]{0,4}\Z", re.IGNORECASE)
"""Before a tag that the judge does not mean (`[[A]], not [[B]]`)."""
_XML = re.compile(
    r"<(?P<name>(?:final[_-]?)?(?:score|rating|grade|verdict|answer|winner|choice|decision|judge?ment|label|preference))>"
    r"(?P<content>[^<>\n]{1,80})</(?P=name)>",
    re.IGNORECASE,
)
"""A verdict between tags of XML: marked, and last where its name says so."""
_TAG_ENDS = re.compile(r"[\]\n]")
_DECORATION: Final = " \t*_`~>#"
_TAIL: Final = CLOSERS + "\n\r-—"

_QUOTES = re.compile(
    r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|«[^»\n]{1,2000}»|「[^」\n]{1,2000}」|『[^』\n]{1,2000}』"
    r"|`[^`\n]{1,500}`|^[ \t]{0,3}>[^\n]{1,2000}",
    re.MULTILINE,
)
_OPEN_SINGLE = re.compile(r"(?<![\w'’])['‘](?=\S)")
_CLOSE_SINGLE = re.compile(r"['’](?!\w)")
"""Single quotes; an apostrophe stands between letters, or ends a word (the students' work)."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place that may hold the verdict."""

    start: int
    end: int
    answer: str | None
    """`None` where a verdict should stand, and what stands there is none."""
    rank: int
    """3 behind a final mark, 2 behind a mark that begins its sentence, 1 alone in its line, 0 elsewhere."""
    tagged: bool = False
    quoted: bool = False
    ends: bool = False
    """Whether it ends the reply."""

    @property
    def marked(self) -> bool:
        """Whether a mark that begins its sentence announces it."""
        return self.rank >= 2  # noqa: PLR2004 - see `rank`

    @property
    def final(self) -> bool:
        """Whether that mark calls it the last word."""
        return self.rank == 3  # noqa: PLR2004 - see `rank`

    @property
    def rule(self) -> str:
        """`judge:…`, as docs/judging.md lists them."""
        where = ("prose", "alone", "mark", "final")[self.rank]
        return f"judge:{where}_tag" if self.tagged else f"judge:{where}"


Reader = Callable[[str, bool], str | None]
"""(what stands at a place, whether in a tag) → the verdict."""


def places(folded: str, declared: tuple[str, ...], read: Reader) -> list[Place]:
    """Tags, and what follows the declared marks; where the judge's own words hold a tag, tags alone."""
    quotes = _Quotes(folded)
    marks = _Marks(folded, declared)
    tags = []
    tail = len(folded.rstrip(_TAIL))
    for match in deque(_TAG.finditer(folded), _KEPT):
        start, end = match.span()
        if _PUT_ASIDE.search(folded, max(0, start - 20), start):
            continue
        tags.append(
            Place(
                start=start,
                end=end,
                answer=read(match[1] or match[2], True),
                rank=marks.rank_of_tag(start, end),
                tagged=True,
                quoted=quotes.hold(start, end),
                ends=end >= tail,
            )
        )
    for match in deque(_XML.finditer(folded), _KEPT):
        start, end = match.span("content")
        tags.append(
            Place(
                start=start,
                end=end,
                answer=read(match["content"], True),
                rank=3 if _FINAL.search(match["name"]) else 2,
                tagged=True,
                quoted=quotes.hold(match.start(), match.end()),
                ends=match.end() >= tail,
            )
        )
    if any(not tag.quoted for tag in tags):
        return tags
    marked = [place for place in marks.read(read, quotes) if place is not None]
    return [*tags, *marked] or list(_boxes(folded, read, tail))


def _boxes(folded: str, read: Reader, tail: int) -> Iterator[Place]:
    """The box that ends a reply without tags and marks; one elsewhere may be that of the answer judged."""
    for match in deque(_BOX.finditer(folded), 1):
        if match.end() >= tail:
            answer = read(match[1], True)
            yield Place(*match.span(), answer, rank=1, tagged=True, ends=True)


def sole_lines(folded: str, read: Callable[[str], str | None]) -> list[Place]:
    """A verdict that is the whole of the first or last line, or of the first or last sentence."""
    spans = dict.fromkeys(_edges(folded))
    found = []
    tail = len(folded.rstrip(_TAIL))
    for start, end in spans:
        answer = read(folded[start:end])
        if answer is not None:
            found.append(Place(start, end, answer, rank=1, ends=end >= tail))
    return found


def _edges(folded: str) -> Iterator[tuple[int, int]]:
    start, end = len(folded) - len(folded.lstrip()), len(folded.rstrip())
    if start >= end:
        return
    line_end = folded.find("\n", start, end)
    first = (start, line_end if line_end >= 0 else end)
    last = (folded.rfind("\n", start, end) + 1 or start, end)
    yield first
    yield last
    stop = _FIRST_SENTENCE.search(folded, *first)
    if stop is not None and folded[stop.start()] not in "?？":  # a question is no verdict
        yield first[0], stop.start()
    before = folded.rstrip(_TAIL)
    stops = list(_SENTENCE.finditer(folded, last[0], min(last[1], len(before))))
    if stops:
        yield stops[-1].end(), last[1]


def stated(
    folded: str, patterns: Iterable[re.Pattern[str]], read: Callable[[str], str | None]
) -> list[Place]:
    """Verdicts in whole sentences ("I rate it 7/10", "A is better"): the group `verdict` of each match."""
    quotes = _Quotes(folded)
    tail = len(folded.rstrip(_TAIL))
    found = []
    for pattern in patterns:
        for match in deque(pattern.finditer(folded), _KEPT):
            start, end = match.span("verdict")
            answer = read(folded[start:end])
            if answer is not None:
                quoted = quotes.hold_mark(start)
                found.append(Place(start, end, answer, rank=1, quoted=quoted, ends=match.end() >= tail))
    return found


def unclosed_tag(folded: str) -> int | None:
    """Where the reply ends inside a tag."""
    at = folded.rfind("[[")
    open_tag = at >= 0 and len(folded) - at <= _LONGEST_TAG and not _TAG_ENDS.search(folded, at)
    return at if open_tag else None


def _single_quotes(folded: str) -> Iterator[tuple[int, int]]:
    closers = [match.end() for match in _CLOSE_SINGLE.finditer(folded)]
    behind = 0
    for match in _OPEN_SINGLE.finditer(folded):
        start = match.start()
        if start < behind:
            continue
        place = bisect_right(closers, start + 2)
        end = closers[place] if place < len(closers) else -1
        if 0 <= end - start <= _LONGEST_QUOTE and folded.find("\n", start, end) < 0:
            behind = end
            yield start, end


_CALLED = re.compile(r"answer[\s*_`]{1,4}(?:is|was)[\s*_`]{0,4}", re.IGNORECASE)
"""`The answer is supported …`: what a judge says of an answer weighs less than its marked verdict."""


class _Quotes:
    """Quotations of a text."""

    def __init__(self, folded: str) -> None:
        self._text = folded
        self._spans: list[tuple[int, int]] = []
        spans = [match.span() for match in _QUOTES.finditer(folded)]
        for span in sorted([*spans, *_single_quotes(folded)]):
            if not self._spans or span[0] >= self._spans[-1][1]:
                self._spans.append(span)
        self._starts = [start for start, _ in self._spans]

    def hold_mark(self, start: int) -> bool:
        """Whether a mark stands in a quotation, rather than in a reply that is quoted whole."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 or self._spans[index][1] <= start:
            return False
        first, last = self._spans[index]
        return bool((self._text[:first] + self._text[last:]).strip(_TAIL + _DECORATION))

    def hold(self, start: int, end: int) -> bool:
        """Whether the place stands in a quotation that holds more than the place itself."""
        index = bisect_right(self._starts, start) - 1
        if index < 0 or self._spans[index][1] < end:
            return False
        first, last = self._spans[index]
        around = self._text[first:start] + self._text[end:last]
        return bool(around.strip(" \t*_.,:;!?\"'“”‘’«»「」『』`>[]"))


class _Marks:
    """Marks of a text: where each begins and where what it announces begins."""

    def __init__(self, folded: str, declared: tuple[str, ...]) -> None:
        self._text = folded
        matches = deque(_pattern(declared).finditer(folded) if declared else (), _KEPT)
        self._tail = len(folded.rstrip(_TAIL))
        self._found = [(match.start(), match.end(), self._rank(match)) for match in matches]
        self._ends = [end for _, end, _ in self._found]

    def _rank(self, match: re.Match[str]) -> int:
        lead = self._lead(match.start())
        if lead is None:
            return (
                1 if self._text[max(0, match.start() - 60) : match.start()].strip(_DECORATION + "\n") else 2
            )
        if _FINAL.search(match[0]) or _FINAL.search(lead):
            return 3
        return 1 if _CALLED.fullmatch(match[0]) else 2

    def _lead(self, start: int) -> str | None:
        """What stands between the sentence's beginning and `start`, if that is nothing but a lead-in."""
        line = self._text.rfind("\n", max(0, start - _NEAR), start) + 1 or max(0, start - _NEAR)
        before = self._text[line:start]
        stop = 0
        for each in _SENTENCE.finditer(before):
            stop = each.end()
        lead = before[stop:]
        return lead if _LEAD.fullmatch(lead) else None

    def rank_of_tag(self, start: int, end: int) -> int:
        """The rank of a tag, by what stands before it."""
        index = bisect_right(self._ends, start) - 1
        if (
            index >= 0
            and start - self._ends[index] <= _NEAR
            and not self._text[self._ends[index] : start].strip(_DECORATION + "\n\"'“‘(")
        ):
            return max(1, self._found[index][2])
        line = self._text.rfind("\n", max(0, start - _NEAR), start) + 1 or max(0, start - _NEAR)
        stop = self._text.find("\n", end, end + _NEAR)
        around = self._text[line:start] + self._text[end : stop if stop >= 0 else end + _NEAR]
        if not around.strip(_DECORATION + ".。\"'`"):
            return 1
        lead = self._lead(start)
        return 2 if lead is not None and _FINAL.search(lead) else 0

    def read(self, read: Reader, quotes: _Quotes) -> Iterator[Place | None]:
        """What each mark announces."""
        for start, end, rank in self._found:
            first, last = self._payload(end)
            answer = read(self._text[first:last], False)
            if answer is None and rank < 2:  # noqa: PLR2004 - a mark in mid-sentence announces nothing
                continue
            yield Place(
                start=first,
                end=last,
                answer=answer,
                rank=rank,
                quoted=quotes.hold_mark(start),
                ends=last >= self._tail,
            )

    def _payload(self, end: int) -> tuple[int, int]:
        """From behind the mark to the end of its sentence; a mark alone on its line takes the next one."""
        first = end
        while first < len(self._text) and self._text[first] in " \t*_`~\n\"'“‘":
            first += 1
        return first, max(first, sentence_end(self._text, first, first + 300))


@lru_cache(maxsize=64)
def _pattern(declared: tuple[str, ...]) -> re.Pattern[str]:
    spelled = sorted(
        {fold_width(each).strip() for each in declared if each.strip(" :：")}, key=len, reverse=True
    )
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(map(_spell, spelled)) or '(?!)'})", re.IGNORECASE)


def _spell(mark: str) -> str:
    """A mark with emphasis, a remark or "is" between its words and its colon."""
    body = mark.rstrip(": ")
    words = r"[ \t]{1,3}".join(re.escape(word) for word in body.split())
    if body == mark:
        return words + (r"(?![^\W\d_])" if body[-1:].isalpha() else "")
    verb = r"[ \t]{1,3}(?:is|was|ist|est|es|é|è)\b[ \t*_`]{0,3}:?|(?:是|为|為|は):?"
    dash = r"[ \t*_`]{1,4}[–—-](?=[ \t])"
    joint = rf"(?:[ \t*_`]{{0,4}}[:=]|{dash}|{verb})"
    return rf"{words}[ \t*_`]{{0,4}}(?:\([^()\n]{{0,40}}\)|\[[^\[\]\n]{{0,40}}\])?{joint}"


_NUMBER = re.compile(
    r"(?<![\w.,])(?<!\w[-–])[-+]?(?:\d{1,30}(?:[.,]\d{1,30})?|\.\d{1,30})(?![\w]|[.,]\d|\s?[-–]\s?\d)"
    r"(?:\s?(?P<percent>[%％]))?"
)
"""Not part of a word (GPT-4) and no end of a range (4-5)."""


def numbers_in(part: str, *, comma: bool = True) -> list[str]:
    """The numbers of a short text in plain decimals; percentages are none.

    With `comma` a comma between digits is a decimal sign, unless three digits follow it.
    """
    text = fold(part)
    if not comma:
        text = text.replace(",", " ")
    return [shown for m in _NUMBER.finditer(text) if not m["percent"] and (shown := _shown(m[0])) is not None]


def read_number(text: str) -> str | None:
    """The number that a text is, in plain decimals; `None` where it is anything else."""
    stripped = fold(text).strip(" \t\n*_`\"'()")
    match = _NUMBER.fullmatch(stripped)
    return _shown(stripped) if match and not match["percent"] else None


def _shown(digits: str) -> str | None:
    whole, sign, rest = digits.partition(",")
    plain = whole + rest if sign and len(rest) == 3 and whole.strip("+-") != "0" else digits.replace(",", ".")  # noqa: PLR2004 - a group
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return None
    shown = format(number.normalize(), "f")
    return "0" if shown in ("-0", "") else shown
