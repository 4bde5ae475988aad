"""Options that a text marks as its answer: a declared line, a box, the whole text, a phrase, a table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from probatum.extraction.boxes import boxed_in
from probatum.extraction.characters import sentence_end
from probatum.extraction.choices import text_key
from probatum.extraction.evidence import Extraction, Missing
from probatum.extraction.labels import Candidate, LabelReader, read_at
from probatum.extraction.markers import declared_lines, inline_marks
from probatum.extraction.phrases import names_choice, on_condition
from probatum.extraction.reasoning import Visible

__all__ = ["Page", "boxed", "declared", "phrased", "table", "verdicts", "whole"]


@dataclass(frozen=True, slots=True)
class Page:
    """A text as it is read: without reasoning, folded."""

    seen: Visible
    folded: str
    markers: tuple[str, ...]
    multiple: bool = False


def declared(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """What the last line says that begins with a mark and names an option."""
    places = [("declared:inline", span) for span in inline_marks(page.folded, page.markers)]
    places += [("declared:line", span) for span in declared_lines(page.folded, page.markers)]
    for rule, (start, end) in reversed(places):
        last = read_at(reader, page.folded, start, end, rule)
        if last is not None and not _echoes(reader, page, last):
            return [last]
    return None


def _echoes(reader: LabelReader, page: Page, candidate: Candidate) -> bool:
    """`Answer: A/B/C/D` repeats the instruction, as does `[A, B, C, D]`."""
    if len(candidate.labels) < 3 or len(candidate.labels) < len(reader.choices.labels):  # noqa: PLR2004 - of two, both
        return False
    shown = page.folded[max(0, candidate.start - 2) : candidate.end + 1]
    return not page.multiple or "/" in shown or "|" in shown or "[" in shown


def boxed(reader: LabelReader, page: Page) -> list[Candidate] | Missing | None:
    """What the last box holds, if it is a label; boxed formulas are none."""
    if "\\boxed" not in page.folded and "\\fbox" not in page.folded:
        return None
    box = boxed_in(page.seen)
    if isinstance(box, Missing):
        return box if box.truncated else None
    found: list[Candidate] = []
    for each in (box,) if isinstance(box, Extraction) else box.candidates:
        start, end = each.span[0] - page.seen.offset, each.span[1] - page.seen.offset
        candidate = read_at(reader, page.folded, start, end, "box:label")
        if candidate is not None and candidate.end >= end - 12:
            found.append(candidate)
    return found or None


_FENCED = re.compile(r"```\w{0,12}[ \t]*\n\s*(?P<line>[^\n]{1,400}?)\s*\n```")
"""One line in a fence of its own."""


def whole(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """The whole text is a label, a label with its text, or the text of one option."""
    start = len(page.folded) - len(page.folded.lstrip())
    end = len(page.folded.rstrip())
    if "\n" in page.folded[start:end]:
        if (fenced := _FENCED.fullmatch(page.folded, start, end)) is None:
            return None
        start, end = fenced.span("line")
    if (named := reader.by_text.get(text_key(page.folded[start:end]))) is not None:
        return [Candidate((named,), start, end, "whole:text")]
    candidate = read_at(reader, page.folded, start, end, "whole:label")
    if candidate is None or candidate.rule != "whole:label":
        return None
    rest = page.folded[candidate.end : end].strip(" \t*_`$.,;:!?)]}>\"'”’。！，\\|")
    if not rest:
        return [candidate]
    if len(candidate.labels) == 1 and reader.by_text.get(text_key(rest)) == candidate.labels[0]:
        return [candidate]
    return None


def phrased(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """Choices that a phrase calls the answer; those it merely chooses, where they come later or alone."""
    strong = _announced(reader, page, strong=True)
    strong = [each for each in strong if not on_condition(page.folded, each.end)] or strong
    weak = _announced(reader, page, strong=False)
    last = strong[-1].end if strong else 0
    return [*strong, *(each for each in weak if each.start >= last)] or None


def _announced(reader: LabelReader, page: Page, *, strong: bool) -> list[Candidate]:
    found: list[Candidate] = []
    folded = page.folded
    rule = "phrase:answer" if strong else "phrase:choice"
    for start in names_choice(folded, strong=strong):
        end = max(start, sentence_end(folded, start, start + 300))
        candidate = read_at(reader, folded, start, end, rule)
        if candidate is None or _echoes(reader, page, candidate):
            continue
        if not found or candidate.start > found[-1].start:
            found.append(candidate)
    return found


def table(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """`A: wrong, B: correct, C: wrong`: the one option that is called right, where several are judged."""
    rows = [
        (match, reader.by_key[match["label"].casefold()]) for match in reader.judged.finditer(page.folded)
    ]
    if len({label for _, label in rows}) < 2:  # noqa: PLR2004 - a table has two rows
        return None
    good = [(match, label) for match, label in rows if match["good"]]
    if not good or any(match["other"] for match, _ in rows):
        return [Candidate((label,), *match.span("label"), "phrase:is_right") for match, label in rows]
    return [
        Candidate(
            tuple(dict.fromkeys(label for _, label in good)), *good[-1][0].span("label"), "phrase:is_right"
        )
    ]


_ARE_RIGHT = re.compile(
    r"[)\]*_`$]{0,4}\s?(?:(?:are|were) (?:both |all )?(?:the )?(?:only )?(?:correct|right)\b"
    r"|(?:都|均|是)(?:正确|对))",
    re.IGNORECASE,
)


def _together(reader: LabelReader, page: Page) -> Candidate | None:
    """`A and C are correct`: the last enumeration that is called right."""
    last = None
    at = 0
    for match in reader.label.finditer(page.folded):
        if match.start() < at:
            continue
        each = read_at(
            reader, page.folded, match.start(), min(len(page.folded), match.start() + 300), "phrase:is_right"
        )
        at = each.end if each is not None else match.end()
        if each is not None and len(each.labels) > 1 and _ARE_RIGHT.match(page.folded, each.end):
            last = each
    return last


def verdicts(reader: LabelReader, page: Page) -> list[Candidate] | None:
    """`(B) is the correct answer`, `只有选项C是对的`."""
    found: list[Candidate] = []
    if page.multiple and (together := _together(reader, page)) is not None:
        return [together]
    for match in reader.first.finditer(page.folded):
        label = match["label"]
        if not (match["named"] or match["open"]) and label[0].islower():
            continue
        found.append(Candidate((reader.by_key[label.casefold()],), *match.span("label"), "phrase:is_right"))
    return found or None
