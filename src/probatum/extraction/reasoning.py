"""Takes a model's reasoning out of its answer.

Models mark reasoning with tags of their own training, and decoders lose some of the tags: the
opening one when the prompt ended with it, special tokens when they are skipped. The kinds known here
are listed in docs/extraction.md. Reasoning that was never closed means that the answer never came.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from probatum.extraction.evidence import Extraction

__all__ = ["Visible", "strip_reasoning", "visible"]

_TAG = (
    "think|thinking|thought|thoughts|thought_process|reason|reasoning|reasoning_content|reflection|"
    "rationale|analysis|scratchpad|scratch_pad|cot|chain_of_thought|inner_thoughts?|inner_monologue|"
    "internal_monologue|monologue|antthinking|longcat_think|seed:think|seed:cot_budget_reflect|m_think|"
    "redacted_thinking|redacted_reasoning|thinking_process"
)
_WORDS = "think|thinking|thought|thoughts|reasoning"


@dataclass(frozen=True, slots=True)
class Visible:
    """What is left for the reader: `source[offset:]`, blocks of reasoning inside it blanked."""

    text: str
    offset: int
    """Where `text` begins in the source; `text[i]` stands at `offset + i` there."""
    rule: str = "reasoning:none"
    truncated: bool = False
    """Reasoning was opened last and never closed: `text` is empty."""


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[str]:
    """One alternative a kind; the group's name is the kind, its last letter opens or closes."""
    return re.compile(
        rf"""(?P<tag_o><(?P<name>{_TAG})(?:\s[^<>\n]{{0,200}})?>)
        |(?P<tag_c></(?P<closed>{_TAG})\s{{0,4}}>)
        |(?P<bracket_o>\[(?:{_WORDS})\])
        |(?P<bracket_c>\[/(?:{_WORDS})\])
        |(?P<kimi_o>◁(?:{_WORDS})▷)
        |(?P<kimi_c>◁/(?:{_WORDS})▷)
        |(?P<token_o><\|(?:(?:begin|start)_(?:of_)?(?:{_WORDS})|(?:{_WORDS})(?:_start|_begin)?)\|>)
        |(?P<token_c><\|(?:end_(?:of_)?(?:{_WORDS})|/(?:{_WORDS})|(?:{_WORDS})_end)\|>)
        |(?P<unused_o><unused94>(?:thought)?)
        |(?P<unused_c><unused95>)
        |(?P<details_o><details\s[^<>\n]{{0,200}}type="reasoning"[^<>\n]{{0,200}}>)
        |(?P<details_c></details>)
        |(?P<gemma_o><\|channel>\s{{0,4}}thought\b)
        |(?P<gemma_c><channel\|>)
        |(?P<harmony_o>(?:<\|start\|>assistant)?<\|channel\|>\s{{0,4}}(?:analysis|commentary)[^<\n]{{0,200}}<\|message\|>)
        |(?P<final_c>(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>\s{{0,4}}final[^<\n]{{0,80}}<\|message\|>)
        """,
        re.VERBOSE | re.IGNORECASE,
    )


_QUOTED = frozenset("`\"'“”‘’«»")
"""A tag between two of these is talked about, not set."""

_BARE_HARMONY = re.compile(r"\s{0,8}analysis(?=[A-Z\"'“(])")
"""gpt-oss with its special tokens skipped: `analysisWe need…assistantfinalThe answer is 4`."""

_GRANITE = re.compile(r"\s{0,8}Here(?:'s| is) my thought process:", re.IGNORECASE)
_GRANITE_ANSWER = re.compile(r"Here(?:'s| is) my response:", re.IGNORECASE)


def visible(text: str) -> Visible:
    """The text without its reasoning, positions kept. Linear in the length of the text."""
    if "<" in text or "[" in text or "◁" in text:
        found = _without_marked(text)
        if found is not None:
            return found
    return _without_spoken(text)


class _Blocks:
    """Blocks of reasoning, as the marks of a text open and close them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = 0  # of what is visible
        self.closed: list[tuple[int, int]] = []
        self.opened: tuple[str, int] | None = None
        self.kind = ""

    def take(self, mark: re.Match[str]) -> None:
        name, _, side = (mark.lastgroup or "").rpartition("_")
        if name == "final":
            self._restart(mark, "harmony")
        elif side == "o":
            if self.opened is None:
                self.opened, self.kind = (name, mark.start()), _kind(mark, name)
        elif self.opened is None:
            # The opening tag stood in the prompt. A second closing tag at the very end is noise.
            if name != "details" and (not self.closed or self.text[mark.end() :].strip()):
                self._restart(mark, _kind(mark, name))
        elif self.opened[0] == name:
            self.closed.append((self.opened[1], mark.end()))
            self.opened = None

    def _restart(self, mark: re.Match[str], kind: str) -> None:
        self.start, self.closed, self.opened, self.kind = mark.end(), [], None, kind


def _without_marked(text: str) -> Visible | None:
    """Blocks between tags taken out; `None` where there is no tag."""
    blocks = _Blocks(text)
    for mark in _marks().finditer(text):
        quoted = (
            text[mark.start() - 1 : mark.start()] in _QUOTED and text[mark.end() : mark.end() + 1] in _QUOTED
        )
        if not quoted:
            blocks.take(mark)
    if not blocks.kind:
        return None
    rule = f"reasoning:{blocks.kind}"
    if blocks.opened is not None:
        return Visible("", len(text), rule, truncated=True)
    start, closed = blocks.start, deque(blocks.closed)
    while closed and not text[start : closed[0][0]].strip():
        start = closed.popleft()[1]
    return Visible(_blanked(text, start, closed), start, rule)


def _kind(mark: re.Match[str], name: str) -> str:
    return (mark["name"] or mark["closed"] or "think").lower() if name == "tag" else name


def _blanked(text: str, start: int, blocks: Iterable[tuple[int, int]]) -> str:
    """`text[start:]` with each block as a blank line of the same length."""
    parts: list[str] = []
    at = start
    for begin, end in blocks:
        parts += [text[at:begin], "\n", " " * (end - begin - 2), "\n"]
        at = end
    parts.append(text[at:])
    return "".join(parts)


def _without_spoken(text: str) -> Visible:
    """Reasoning that plain words introduce."""
    if _BARE_HARMONY.match(text):
        final = text.rfind("assistantfinal")
        if final < 0:
            return Visible("", len(text), "reasoning:harmony", truncated=True)
        start = final + len("assistantfinal")
        return Visible(text[start:], start, "reasoning:harmony")
    if _GRANITE.match(text):
        answer = _GRANITE_ANSWER.search(text)
        if answer is None:
            return Visible("", len(text), "reasoning:granite", truncated=True)
        return Visible(text[answer.end() :], answer.end(), "reasoning:granite")
    return Visible(text, 0)


def strip_reasoning(text: str) -> Extraction | None:
    r"""The text without its reasoning; `None` where reasoning is all there is.

    A block that was opened and never closed is reasoning to the end of the text: the answer was cut
    off, and what stands before it was a draft. The span runs from the first visible character to the
    last; blocks between them are not in `answer`.

    >>> strip_reasoning("<think>2 + 2, easy</think>\n4")
    Extraction(answer='4', rule='reasoning:think', span=(27, 28), complete=True)
    >>> strip_reasoning("<think>2 + 2 is") is None
    True
    """
    seen = visible(text)
    stripped = seen.text.strip()
    if not stripped:
        return None
    start = seen.offset + seen.text.index(stripped[0])
    return Extraction(stripped, seen.rule, (start, start + len(stripped)))
