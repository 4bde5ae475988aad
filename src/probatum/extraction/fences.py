"""Fenced code blocks, as models write them: unclosed, indented, nested, in quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Block", "find_blocks"]

_FENCE = re.compile(
    r"(?:^|\n)(?P<indent>[ \t>]{0,40}(?:[-*+\d.)]{1,4}[ \t]{1,4})?)(?P<ticks>`{3,40}|~{3,40})"
    r"[ \t]{0,8}\{?\.?(?P<info>[\w+#./-]{0,40})(?P<rest>[^\n`]{0,200})(?=\n|$)"
)


_CODE_BEHIND = re.compile(
    r"[ \t](?=(?:def|class|async def) [A-Za-z_]\w*[ ]?[(:]|from [\w.]+ import |import \w|@[A-Za-z_]|return )"
)
"""Code on the line of its fence, behind the language."""
_WORDS = frozenset({"def", "class", "import", "from", "async", "return"})
"""What a line of code begins with, and no language is called."""

_MARKDOWN = frozenset({"", "markdown", "md", "text", "txt"})


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two fences, or between a fence and an end of the text."""

    start: int
    end: int
    language: str
    """Lower-case info string; empty where there is none."""
    fenced: bool
    """Between an opening and a closing fence; else it is what fences leave over."""
    closed: bool
    """Whether a fence ends it."""


def find_blocks(text: str) -> list[Block]:
    """Every part of the text between fence lines, in order, those outside of fences too.

    A fence with an info string always opens. One without opens or closes by turns, as CommonMark has
    it (a closing fence is of the same sign and no shorter). What comes before the first fence and
    after the last are parts as well: the opening fence may have stood in the prompt.
    """
    blocks: list[Block] = []
    at = 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        begin = fence.start() + (1 if text[fence.start() : fence.start() + 1] == "\n" else 0)
        if opened is None:
            blocks.append(Block(at, begin, "", fenced=False, closed=True))
        elif not _closes(opened, fence):
            if not _nests(opened, fence):
                continue
            blocks.append(Block(at, begin, _language(opened), fenced=True, closed=False))
        else:
            blocks.append(Block(at, begin, _language(opened), fenced=True, closed=True))
            opened, at = None, min(fence.end() + 1, len(text))
            continue
        opened, at = fence, _begin(fence, len(text))
    language = _language(opened) if opened is not None else ""
    blocks.append(Block(at, len(text), language, fenced=opened is not None, closed=False))
    return [block for block in blocks if text[block.start : block.end].strip()]


def _language(fence: re.Match[str]) -> str:
    info = fence["info"].lower()
    return "" if info in _WORDS else info


def _begin(fence: re.Match[str], length: int) -> int:
    """Where the block of an opening fence begins: on the next line, or behind its language."""
    if fence["info"] in _WORDS:
        return fence.start("info")
    behind = _CODE_BEHIND.match(fence["rest"])
    return min(fence.end() + 1, length) if behind is None else fence.start("rest") + behind.end()


def _closes(opened: re.Match[str], fence: re.Match[str]) -> bool:
    same = fence["ticks"][0] == opened["ticks"][0] and len(fence["ticks"]) >= len(opened["ticks"])
    return same and not fence["info"] and not fence["rest"].strip()


def _nests(opened: re.Match[str], fence: re.Match[str]) -> bool:
    """Another block begins: the first one was not closed, or holds Markdown with a block in it.

    In code of a longer fence, a shorter one is part of the code.
    """
    longer = len(opened["ticks"]) > len(fence["ticks"])
    return bool(fence["info"]) and not (longer and opened["info"].lower() not in _MARKDOWN)
