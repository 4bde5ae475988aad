"""Finds Python among prose: statements at the left margin, each parsed once.

Every line is looked at a bounded number of times and handed to the parser at most twice, so that
time grows with the length of the text, whatever it holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from probatum.extraction.python_source import Source, parse

__all__ = ["Region", "find_regions"]

_START = re.compile(
    r"""(?:async[ ]{1,4}def|def|class|import|if|for|while|with|assert|raise|del|global)\b[ (]
    |from[ ][\w.]{1,200}[ ]import\b|(?:try|pass)\b|@[A-Za-z_]|\"\"\"|'''
    |[A-Za-z_][\w.\[\],\ '"*]{0,120}(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)
    |[A-Za-z_][\w.]{0,120}\(
    |[A-Za-z_]\w{0,60}[ ]?:[ ]?[\w\[\],\ .|"']{1,120}=""",
    re.VERBOSE,
)
_GOES_ON = re.compile(r"[ \t]|[)\]}]|(?:else|elif|except|finally)\b")
_TOKEN = re.compile(
    r"""\\.|\"\"\"|'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*|[(\[{]|[)\]}]""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Region:
    """Statements that follow each other with nothing but blank lines and comments between."""

    start: int
    end: int
    source: Source


class _Text:
    """Lines with their places, and how many lines may still be read ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.at = [0]
        for line in self.lines:
            self.at.append(self.at[-1] + len(line) + 1)
        self.ahead = 2 * len(self.lines) + 200

    def part(self, first: int, last: int) -> str:
        return self.text[self.at[first] : self.at[last] - 1]


def find_regions(text: str) -> list[Region]:
    """Regions of `text` that are Python, in order."""
    lines = _Text(text)
    chunks: list[tuple[int, int]] = []  # lines from, to (excluded), that parse
    regions: list[tuple[int, int]] = []
    number = 0
    while number < len(lines.lines):
        line = lines.lines[number]
        if not line.strip() or line.startswith("#"):
            number += 1
            continue
        end = _statement(lines, number) if _START.match(line) else None
        if end is None:
            if chunks:
                regions.append((chunks[0][0], chunks[-1][1]))
            chunks = []
            number += 1
        else:
            chunks.append((number, end))
            number = end
    if chunks:
        regions.append((chunks[0][0], chunks[-1][1]))
    found = []
    for first, last in regions:
        source = parse(lines.part(first, last))
        if source is not None and source.substantial:
            found.append(Region(lines.at[first], lines.at[last] - 1, source))
    return found


def _statement(lines: _Text, first: int) -> int | None:
    """The line behind the statement that begins on `first`; `None` if none does."""
    last = _margin(lines, first)
    whole = _balanced(lines, first, last)
    if whole is not None and parse(lines.part(first, whole)) is not None:
        return whole
    if whole != last and parse(lines.part(first, last)) is not None:
        return last
    return None


def _margin(lines: _Text, first: int) -> int:
    """The statement by its indentation alone: up to the next line at the left margin."""
    last = first + 1
    decorated = lines.lines[first].startswith("@")
    for number in range(first + 1, len(lines.lines)):
        line = lines.lines[number]
        if not line.strip():
            continue
        if decorated and lines.ahead > 0:
            lines.ahead -= 1
            decorated = line.startswith("@")
        elif not _GOES_ON.match(line):
            break
        last = number + 1
    return last


def _balanced(lines: _Text, first: int, last: int) -> int | None:
    """The same with brackets and long strings that go over the margin; `None` if they stay open."""
    depth, quote = 0, ""
    for number in range(first, len(lines.lines)):
        if number >= last:
            if not depth and not quote:
                following = _margin(lines, number - 1) if number - 1 > first else last
                if following <= number:
                    return number
                last = following
            elif lines.ahead <= 0:
                return None
            lines.ahead -= 1
        depth, quote = _after(lines.lines[number], depth, quote)
    return None if depth > 0 or quote else len(lines.lines)


def _after(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Open brackets and open long string behind a line."""
    at = 0
    if quote:
        at = line.find(quote)
        if at < 0:
            return depth, quote
        at, quote = at + 3, ""
    while (token := _TOKEN.search(line, at)) is not None:
        sign, at = token[0], token.end()
        if sign in ('"""', "'''"):
            close = line.find(sign, at)
            if close < 0:
                return depth, sign
            at = close + 3
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth = max(0, depth - 1)
    return depth, ""
