"""How a response is laid out: marked spans and Japanese readings. All in time linear in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

__all__ = [
    "KANJI",
    "between",
    "is_bullet",
    "is_json",
    "kanji_runs",
    "parts",
    "widest_between",
    "without_between",
]

KANJI: Final = "\u4e00-\u9faf"
"""Of a character class: the unified ideographs that the published checkers count as kanji."""


def between(text: str, opening: str, closing: str) -> Iterator[str]:
    """What stands between an opening mark and the next closing one on the same line, in order.

    As the pattern `opening.*?closing` finds it, which takes quadratic time where nothing closes.
    """
    for line in text.split("\n"):
        place = 0
        while (start := line.find(opening, place)) >= 0:
            end = line.find(closing, start + len(opening))
            if end < 0:
                break
            yield line[start + len(opening) : end]
            place = end + len(closing)


def without_between(text: str, opening: str, closing: str) -> str:
    """The text without what `between` finds, and without its marks."""
    lines = []
    for line in text.split("\n"):
        kept = []
        place = 0
        while (start := line.find(opening, place)) >= 0:
            end = line.find(closing, start + len(opening))
            if end < 0:
                break
            kept.append(line[place:start])
            place = end + len(closing)
        lines.append("".join(kept) + line[place:])
    return "\n".join(lines)


def widest_between(text: str, opening: str, closing: str) -> Iterator[str]:
    """On each line what stands between the first opening mark and the last closing one."""
    for line in text.split("\n"):
        start, end = line.find(opening), line.rfind(closing)
        if start >= 0 and start + len(opening) < end:
            yield line[start + len(opening) : end]


def parts(text: str, divider: re.Pattern[str] | str) -> tuple[list[str], bool]:
    """The parts that dividers leave, those at the ends only if not blank; whether a blank one is between."""
    found = divider.split(text) if isinstance(divider, re.Pattern) else text.split(divider)
    blank_between = any(not part.strip() for part in found[1:-1])
    kept = [part for number, part in enumerate(found) if part.strip() or 0 < number < len(found) - 1]
    return kept, blank_between


def is_bullet(line: str) -> bool:
    """Whether a line is an item of a Markdown list (`*`, `-` or `+`, a blank, a text), not a rule."""
    line = line.strip()
    return line[:1] in {"*", "-", "+"} and line[1:2].isspace() and bool(line.strip("-*_+ \t"))


_FENCES: Final = ("```json", "```Json", "```JSON", "```")


def is_json(text: str) -> bool:
    """Whether the whole text is JSON, within a code fence or not."""
    text = text.strip()
    for fence in _FENCES:
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip(), parse_int=str)  # a number of any length is JSON
    except (ValueError, RecursionError):
        return False
    return True


_KANJI_RUN = re.compile(f"[{KANJI}]+")


def kanji_runs(text: str, reading: re.Pattern[str]) -> tuple[int, int]:
    """How many runs of kanji there are, and how many of them a reading follows at once."""
    ends = [run.end() for run in _KANJI_RUN.finditer(text)]
    return len(ends), sum(reading.match(text, end) is not None for end in ends)
