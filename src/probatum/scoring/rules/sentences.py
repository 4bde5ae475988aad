"""Sentences: the splitter of every rule that counts them in our edition.

A sentence ends at `.`, `!`, `?`, `…` and their like in other scripts, with the quotation marks and
brackets that close after it; at a blank line; and at the end of an item of a list. A heading is no
sentence, nor is a part without a letter or digit, nor one of fewer than four words that nothing ends
("Dear Anna,"), unless there is no other. What stands between 「 and 」 is part of the sentence around it. A
full stop does not end one within a number or a name (`3.14`, `example.com`), after a title or an
abbreviation (`Dr.`, `e.g.`), after the number of a list item, or where a small letter follows. A single
capital letter before it is an initial where a name stands before or after it ("John F. Kennedy"), and
ends the sentence otherwise ("vitamin C. It helps").
"""

from __future__ import annotations

import re
from typing import Final

from probatum.scoring.rules.words import words

__all__ = ["count_sentences", "equal_sentences_of_different_words", "japanese_lines", "sentences"]


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BLOCK: Final = re.compile(r"\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•・]\s|#{1,6}\s|\d{1,3}[.)]\s))")
_HEADING: Final = re.compile(
    r"^[^\S\n]*(?:#{1,6}[^\S\n][^\n]*|\*\*[^*\n]*[^*\n.!?。！？]\*\*[^\S\n]*)$", re.MULTILINE
)
LEAST_WORDS: Final = 4  # of a part that no terminator ends
_LIST_NUMBER: Final = re.compile(r"^\s*(?:[-*+•・]\s+)?\(?\d{1,3}[.)](?=\s)")
_END: Final = re.compile(r"(?P<sign>[.!?…]+|[。！？｡؟।॥۔]+)(?P<closing>[\"'”’»)\]}」』）*_]*)")
_QUOTED: Final = re.compile(r"「[^「」]*」")
_WIDE: Final = frozenset("。！？｡؟।॥۔")
SEEN: Final = 200  # characters before a terminator that are looked at
_NEVER: Final = _words_of(
    "dr mr mrs ms mx prof st mt sr sra srta dra d jr messrs mme mmes mlle m rev hon gen col lt sgt capt cpt "
    "gov sen rep pres vs e.g i.e cf no nos fig figs vol ch pp p ed eds approx ca al ex p.ej núm art"
)
"""Titles and abbreviations after which a sentence goes on, whatever follows."""
_MAYBE: Final = _words_of(
    "etc inc ltd co corp llc u.s u.s.a u.k u.n e.u a.m p.m a.d b.c ph.d m.d b.a m.a bros dept est ave "
    "blvd rd jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun min max"
)
"""Abbreviations that may end a sentence: they do where a capital letter follows."""
_NO_NAMES: Final = _words_of(
    "a an and as at but by for from he her his how i if in it its my no not of on or our she so that the "
    "their then there these they this those to we what when where which who why with yes you your"
)
"""Words that begin sentences and are no surnames, so that "C. Then" parts sentences and "F. Kennedy" not."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, without white space at their ends. Takes linear time.

    >>> sentences("Dr. Lee arrived. It rained."), len(sentences("Read parts A through L. Then stop."))
    (['Dr. Lee arrived.', 'It rained.'], 2)
    """
    text = _HEADING.sub("\n\n", text.replace("\r\n", "\n"))
    parts = [each for block in _BLOCK.split(text) for each in _of_block(block)]
    whole = [part for part in parts if _END.search(part) or len(words(part)) >= LEAST_WORDS]
    return whole or parts


def count_sentences(text: str) -> int:
    """How many sentences there are."""
    return len(sentences(text))


def _of_block(block: str) -> list[str]:
    found = []
    start = 0
    number = _LIST_NUMBER.match(block)
    spoken = _QUOTED.sub(_masked, block) if "「" in block else block
    for end in _END.finditer(spoken, number.end() if number else 0):
        if _ends(block, start, end):
            found.append(block[start : end.end()])
            start = end.end()
    found.append(block[start:])
    return [each.strip() for each in found if any(map(str.isalnum, each))]


def _ends(block: str, start: int, end: re.Match[str]) -> bool:
    """Whether a terminator ends the sentence that began at `start`."""
    sign = end["sign"]
    if sign[0] in _WIDE:
        return True
    after = block[end.end() : end.end() + 40]
    if not after.strip():
        return True
    if not after[0].isspace():  # 3.14, example.com; "stop.Next" is a slip that no one can tell from a name
        return sign[0] in "!?" and not after[0].isalnum() and not end["closing"]
    following = after.split(maxsplit=1)[0].lstrip("\"'“‘«([{*_¿¡—-")
    before = block[max(start, end.start() - SEEN) : end.start()]
    if following[:1].islower() and (sign != "." or not _ends_in_lower_text(before)):
        return False
    return sign != "." or not _abbreviates(before, following)


def _ends_in_lower_text(before: str) -> bool:
    """A text written in small letters throughout: there a small letter does not show that it goes on."""
    return before.islower() and len(_last(before)) > 3  # noqa: PLR2004 - shorter ones may be abbreviations


def _last(before: str) -> str:
    found = before[-40:].split()
    return found[-1].lstrip("\"'“‘«([{*_") if found else ""


def _abbreviates(before: str, following: str) -> bool:
    """Whether the full stop after `before` belongs to an abbreviation, rather than ending a sentence."""
    last = _last(before)
    lowered = last.lower()
    if lowered in _NEVER and (last[:1].isupper() or lowered not in {"no", "d", "m", "p", "ex", "art", "ed"}):
        return lowered != "no" or following[:1].isdigit()
    if len(last) == 1 and last.isupper():
        return _is_initial(before, following)
    if lowered in _MAYBE:
        return not following[:1].isupper()
    return lowered in {"p", "pp", "ex", "art", "ed"} and following[:1].isdigit()


def _is_initial(before: str, following: str) -> bool:
    """Whether a single capital letter before a full stop stands for a name."""
    if not following[:1].isupper() or following.rstrip(",.;:").lower() in _NO_NAMES:
        return False
    previous = before[-80:].split()[:-1]
    if not previous:
        return True
    name = previous[-1].lstrip("\"'“‘«([{*_")
    return name[:1].isupper() or name.lower() in {"by", "and", "with", "from", "de", "von", "van"}


def equal_sentences_of_different_words(text: str, count: int = 3) -> bool:
    """Whether there are `count` sentences, equally long in characters, and no word occurs twice.

    >>> equal_sentences_of_different_words("Dogs run. Cats sit. Bees hum.")
    True
    >>> equal_sentences_of_different_words("Dog. Dog. Dog.")
    False
    """
    found = sentences(text)
    every = [word.casefold() for sentence in found for word in words(sentence)]
    return (
        len(found) == count
        and len({len(sentence) for sentence in found}) == 1
        and 0 < len(every) == len(set(every))
    )


_BRACKETED: Final = re.compile(r"[（(][^（()）]*[)）]")
_JAPANESE_END: Final = re.compile(r"[。!?！？]")


def japanese_lines(text: str) -> list[str]:
    """Lines, parted at `。`, `!` and `?` outside of 「 」 and round brackets; one that ends with の goes on.

    As the published Japanese checker counts sentences (ja_sentence_segmenter).
    """
    lines: list[str] = []
    goes_on = False
    for line in map(str.rstrip, text.strip().splitlines()):
        if goes_on:
            lines[-1] += line
        else:
            lines.append(line)
        goes_on = len(line) > 1 and line.endswith("の")
    found = []
    for line in lines:
        masked = line
        for held in (_QUOTED, _BRACKETED):
            masked = held.sub(_masked, masked)
        start = 0
        for end in _JAPANESE_END.finditer(masked):
            found.append(line[start : end.end()])
            start = end.end()
        if line[start:].strip():
            found.append(line[start:])
    return found


def _masked(held: re.Match[str]) -> str:
    return "_" * len(held[0])
