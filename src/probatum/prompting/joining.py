"""Where a prompt ends and what follows it begins: blanks belong to what follows, never one too many."""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["join_answer", "move_blanks"]

_NO_BLANK_BEHIND: Final = frozenset("([{<\"'“‘«「『【《$/@#-–—_")
"""A text that ends in one of these goes on without a blank."""


def move_blanks(prompt: str, continuation: str) -> tuple[str, str]:
    """Prompt and continuation with the blanks between them at the head of the continuation.

    Tokenizers join a blank to the word behind it: "A: " + "4" has other tokens than "A:" + " 4", and models
    have learnt the second. Line ends stay where they are.

    >>> move_blanks("Q: 2+2? A: ", "4")
    ('Q: 2+2? A:', ' 4')
    """
    kept = prompt.rstrip(" \t\u00a0")
    return kept, prompt[len(kept) :] + continuation


def join_answer(prompt: str, answer: str, delimiter: str = " ") -> str:
    r"""A prompt and its answer with exactly one delimiter between them, or with none where none belongs.

    None belongs behind a line end or another blank (a chat template has set its own), before an answer that
    brings its blank, and behind scripts and signs that set none (答案：A, not 答案： A).

    >>> join_answer("Capital of France?\nAnswer:", "Paris")
    'Capital of France?\nAnswer: Paris'
    >>> join_answer("<|assistant|>\n", "B"), join_answer("答案：", "A")
    ('<|assistant|>\nB', '答案：A')
    """
    if not prompt or not answer:
        return prompt + answer
    last, first = prompt[-1], answer[0]
    bare = last.isspace() or first.isspace() or last in _NO_BLANK_BEHIND or _wide(last)
    return prompt + ("" if bare and delimiter.isspace() else delimiter) + answer


def _wide(sign: str) -> bool:
    """Whether a sign is of a script that sets no blanks between words."""
    return unicodedata.east_asian_width(sign) in ("W", "F")
