"""Reads the option that an answer chooses: by its label, or by its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from probatum.extraction.boxes import box_stays_open
from probatum.extraction.characters import fold, sentence_end
from probatum.extraction.choices import Choices, Options, default_labels
from probatum.extraction.evidence import LOOSE, Ambiguous, Extraction, Found, Missing, answer_of
from probatum.extraction.labels import Candidate, LabelReader, is_label, read_at, reader_of
from probatum.extraction.loose_options import edges, named_text, only_label
from probatum.extraction.marked_options import Page, boxed, declared, phrased, table, verdicts, whole
from probatum.extraction.markers import ANSWER_MARKERS, own_turn
from probatum.extraction.phrases import corrected, corrections, names_choice, on_condition, renewed
from probatum.extraction.reasoning import Visible, visible

__all__ = ["Choices", "Options", "default_labels", "extract_option", "extract_options", "find_option"]


def extract_option(text: str, options: Options) -> Extraction | None:
    """The option that the text chooses, by its label in `options`; `None` without one.

    Read in this order: a line that begins with a mark (`Answer:`, `答案：` …; the last such line
    decides), the last box, the whole text, a phrase (`the answer is`, `选`), a search. Two different
    options where one should stand are no answer; `find_option` tells the reason.

    Raises:
        UsageError: `options` is empty, or has labels that cannot be told apart.

    >>> extract_option("B或C? 选B。", "ABCD").answer
    'B'
    >>> extract_option("It is 42.", {"A": "41", "B": "42"}).answer
    'B'
    >>> extract_option("Answer: A, B", "ABCD") is None
    True
    """
    return answer_of(find_option(text, Choices.of(options)))


def extract_options(text: str, options: Options) -> Extraction | None:
    """The options that the text chooses where several may be right: labels in their order, by commas.

    >>> extract_options("ANSWER: C, A.", "ABCD").answer
    'A,C'
    """
    return answer_of(find_option(text, Choices.of(options), multiple=True))


_Stage = Callable[["LabelReader", Page], "list[Candidate] | Missing | None"]

_MARKED: tuple[_Stage, ...] = (declared, boxed, whole, phrased, table, verdicts)
_SEARCHED: tuple[_Stage, ...] = (edges, named_text, only_label)


def find_option(
    text: str,
    choices: Choices,
    *,
    markers: tuple[str, ...] = ANSWER_MARKERS,
    loose: bool = True,
    multiple: bool = False,
) -> Found:
    """The option with what speaks against it; see `extract_option`."""
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    page = Page(seen, fold(seen.text), markers, multiple)
    if box_stays_open(seen):
        return Missing("the last box was never closed", truncated=True)
    if not page.folded.strip():
        return Missing("the answer is empty")
    reader = reader_of(choices)
    turn, several = own_turn(page.folded)
    if turn < len(page.folded):
        first = replace(page, seen=replace(seen, text=seen.text[:turn]), folded=page.folded[:turn])
        own = _staged(reader, first, loose=loose)
        if isinstance(own, Extraction) and (several or not own.loose):
            return own
    return _staged(reader, page, loose=loose)


def _staged(reader: LabelReader, page: Page, *, loose: bool) -> Found:
    """What the first stage says that finds something."""
    for stage in (*_MARKED, *(_SEARCHED if loose else ())):
        found = stage(reader, page)
        if isinstance(found, Missing):
            return found
        if found:
            return _decide(reader, page, found)
    return Missing("no option")


def _decide(reader: LabelReader, page: Page, found: list[Candidate]) -> Found:
    """The last candidate, if those before it agree or are corrected by it, and none corrects it."""
    last = _corrected_by(reader, page, found[-1]) or found[-1]
    if last is not found[-1]:
        found = [last]
    dissent = [each for each in found[:-1] if each.labels != last.labels]
    if dissent and not corrected(page.folded, dissent[-1].end, last.start + 1):
        named = [*dissent, last]
    elif last.contrary or (len(last.labels) > 1 and not page.multiple):
        named = [Candidate((label,), last.start, last.end, last.rule) for label in last.labels]
    else:
        order = [label for label in reader.choices.labels if label in last.labels]
        return _extraction(page.seen, last, ",".join(order))
    return Ambiguous(tuple(_extraction(page.seen, each, ",".join(each.labels)) for each in named))


def _corrected_by(reader: LabelReader, page: Page, last: Candidate) -> Candidate | None:
    """Another label, where words behind the candidate take it back (`The answer is A. No, wait, B.`)."""
    if last.rule.startswith("whole") or (last.rule.startswith(LOOSE) and last.rule != "loose:line"):
        return None
    another = None
    for start in corrections(page.folded, last.end):
        end = sentence_end(page.folded, start, start + 100)
        match = reader.opening.match(page.folded, start, end)
        if match is None or not is_label(reader, page.folded, match, end):
            continue
        if not reader.ends_correction(page.folded, match.start("label"), match.end("label")):
            continue
        label = reader.by_key[match["label"].casefold()]
        if (label,) != last.labels:
            another = Candidate((label,), *match.span("label"), "phrase:correction")
    for start in renewed(page.folded, last.end, lambda: names_choice(page.folded, strong=True)):
        end = sentence_end(page.folded, start, start + 300)
        again = read_at(reader, page.folded, start, end, "phrase:correction")
        if again is None or on_condition(page.folded, again.end):
            continue
        if another is None or again.start > another.start:
            another = again
    return another if another is not None and another.labels != last.labels else None


def _extraction(seen: Visible, candidate: Candidate, answer: str) -> Extraction:
    span = (seen.offset + candidate.start, seen.offset + candidate.end)
    goes_on = candidate.rule == "phrase:choice" and not seen.text[candidate.end :].strip()
    return Extraction(
        answer, candidate.rule, span, complete=not goes_on
    )  # `Option B` may become `Option B is wrong`
