"""Options that only a search finds: a line of its own, a text in the last sentence, the only label."""

from __future__ import annotations

import itertools
import re

from probatum.extraction.characters import WORD, sentence_end
from probatum.extraction.choices import label_key, text_key
from probatum.extraction.labels import ARTICLE, TERMINATED, Candidate, LabelReader, read_at
from probatum.extraction.marked_options import Page

__all__ = ["edges", "named_text", "only_label"]

_LETTER = re.compile(r"[^\W_]")
_LABEL_ENDS = re.compile(r"[*_`\s]{0,3}[).,。．、]")


def edges(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """A line of its own at the beginning or at the end: `B`, `(B)`, `B. Because …`."""
    found = []
    listed = _listed(reader, page.folded)
    for place, (start, end) in enumerate(_first_and_last(page.folded)):
        candidate = read_at(reader, page.folded, start, end, "loose:line")
        if candidate is None or len(candidate.labels) > 1 or candidate.start in listed:
            continue
        if _LETTER.search(page.folded, start, candidate.start):
            continue
        rest = page.folded[candidate.end : end]
        stripped = rest.strip(" \t*_`$.,;:!?)]}>\"'”’。！，\\|")
        named = reader.by_text.get(text_key(stripped))
        if not stripped or named == candidate.labels[0] or (place == 0 and _LABEL_ENDS.match(rest)):
            found.append(candidate)
    return found or None


def _listed(reader: LabelReader, folded: str) -> frozenset[int]:
    """Where the labels of a list of options stand: each begins a line, and its neighbour is the next one."""
    order = {label_key(label): place for place, label in enumerate(reader.choices.labels)}
    lines = [
        (order[match["label"].casefold()], match.start("label")) for match in reader.listed.finditer(folded)
    ]
    inside: set[int] = set()
    for (place, start), (following, at) in itertools.pairwise(lines):
        if following == place + 1:
            inside |= {start, at}
    return frozenset(inside)


def _first_and_last(folded: str) -> list[tuple[int, int]]:
    """The first and the last line that are not empty."""
    start, end = len(folded) - len(folded.lstrip()), len(folded.rstrip())
    first_end = folded.find("\n", start, end)
    if first_end < 0:
        return [(start, end)]
    return [(start, first_end), (folded.rfind("\n", 0, end) + 1, end)]


def _last_line(folded: str) -> tuple[int, int]:
    """The last line that is not empty, or its last 400 characters: where conclusions stand."""
    end = len(folded.rstrip())
    return max(folded.rfind("\n", 0, end) + 1, end - 400), end


def named_text(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """The last sentence has the text of one option, as whole words."""
    start, end = _last_line(page.folded)
    if any(start <= at < end for at in _listed(reader, page.folded)):
        return None  # the options themselves, one by one
    while (stop := sentence_end(page.folded, start, end) + 1) < end:
        start = stop
    lowered = page.folded[start:end].lower()
    if not reader.by_text or len(lowered) != end - start:
        return None
    found = []
    for key, label in reader.by_text.items():
        at = lowered.find(key)
        while at >= 0:
            if _stands_alone(lowered, at, at + len(key)) and not _RULED_OUT.search(
                page.folded, max(0, start + at - 24), start + at
            ):
                found.append(Candidate((label,), start + at, start + at + len(key), "loose:text"))
                break
            at = lowered.find(key, at + 1)
    return _longest(found) or None


def _longest(found: list[Candidate]) -> list[Candidate]:
    """Without texts that are part of another one found (`42` in `42 km`)."""
    return [
        each
        for each in found
        if not any(
            other is not each and other.start <= each.start and each.end <= other.end for other in found
        )
    ]


def _stands_alone(text: str, start: int, end: int) -> bool:
    word = re.compile(WORD)
    before = start and word.match(text[start]) and word.match(text[start - 1])
    after = end < len(text) and word.match(text[end - 1]) and word.match(text[end])
    number = end < len(text) and text[end - 1].isdecimal() and re.match(r"[.,]\d", text[end : end + 2])
    return not (before or after or number)


_RULED_OUT = re.compile(
    r"(?:\b(?:not|cannot|never|neither|nor|than|except|excludes?|excluding|eliminat(?:e|es|ed|ing)"
    r"|ruled? out|ruling out|rejects?|reject(?:ed|ing))\b"
    r"|\b(?:wrong|incorrect|false)\s(?:answer|option|choice)s?\s(?:is|are|was)\b"
    r"|n['’]t\b|不|非|排除)[\s\w]{0,8}[\s(\[*_`$]{0,4}\Z",
    re.IGNORECASE,
)
"""Before a label that the text puts aside."""
_IS_WRONG = re.compile(
    r"[\s)\]*_`$]{0,6}(?:(?:is|are|was|were|seems?|would be|can be|must be)\b[^.!?\n]{0,20}?"
    r"\b(?:not|never|wrong|incorrect|false|out|eliminated|excluded|ruled|impossible|neither|invalid)\b"
    r"|(?:is|are|does|do)\s(?:too|as well|likewise)\b"
    r"|(?:is|are|was|were|does|do|ca|could|would|did)n['’]t\b|(?:does|do|did|can|could|would)\s?not\b|fails?\b"
    r"|(?:项|項|选项|選項)?(?:都|均|也|是|为|就)?(?:不|错|錯|排除|有误|无关))",
    re.IGNORECASE,
)
"""Behind a label, or behind several, that the text puts aside."""


def only_label(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """The last line names a label, in capitals or in brackets, and the text keeps no other one."""
    found: dict[str, Candidate] = {}
    aside = -1  # up to here labels are put aside
    for match in reader.label.finditer(page.folded):
        start, stop = match.span("label")
        if start < aside or not _stands_for_option(page.folded, match):
            continue
        last = _chain(reader, page.folded, match)
        if (through := reader.range.match(page.folded, stop)) is not None:  # among A through E
            aside = through.end()
            continue
        before = _RULED_OUT.search(page.folded, max(0, start - 24), start) is not None
        if before or _IS_WRONG.match(page.folded, last):
            aside = last
            continue
        name = reader.by_key[match["label"].casefold()]
        found[name] = Candidate((name,), start, stop, "loose:only_label")
    named = sorted(found.values(), key=lambda each: each.start)
    return named if named and named[-1].start >= _last_line(page.folded)[0] else None


def _stands_for_option(folded: str, match: re.Match[str]) -> bool:
    """In brackets, or a capital letter that is no word of the sentence."""
    start, stop = match.span("label")
    label = match["label"]
    if start and folded[start - 1] in "([（【" and folded[stop : stop + 1] in {")", "]", "】"}:
        return True
    if label[0].isdecimal() or label[0].islower() or _opens_line(folded, start, stop):
        return False
    if _NAMES.search(folded, max(0, start - 16), start) is not None:
        return False
    return label.casefold() not in ARTICLE or TERMINATED.match(folded, stop) is not None


_NAMES = re.compile(
    r"(?<![^\W_])(?:vitamins?|hepatitis|influenza|types?|group|class|grade|plan|fig(?:ure|\.)|table|appendix|section"
    r"|schedule|factor|protein|complex|points?|lines?|angles?|triangle|side|vertex|sets?|events?|matrix|node|team"
    r"|player|person|company|country|city|town|car|train|box|urn|bag|machine|pipe|gene|cells?)\s\Z",
    re.IGNORECASE,
)
"""Before a letter that is part of a name: vitamin D, point B."""


def _opens_line(folded: str, start: int, stop: int) -> bool:
    """`A: Let's think`: a mark, or an item of a list."""
    before = folded[max(0, start - 4) : start].rstrip(" *_")
    return folded[stop : stop + 2] == ": " and (before.endswith("\n") or not before)


def _chain(reader: LabelReader, folded: str, match: re.Match[str]) -> int:
    """Where the last of the labels ends that are named together with this one (`A, C and D`)."""
    end = match.end("label")
    for _ in range(_CHAINED):
        following = reader.next.match(folded, end)
        if following is None:
            break
        end = following.end("label")
    return end


_CHAINED = 30
"""Labels of one enumeration that are looked at."""
