"""What surrounds code in an answer and is none: special tokens, marks of few-shot prompts, blanks of the web.

Positions stay: what is replaced is replaced by as many characters.
"""

from __future__ import annotations

import re

__all__ = ["plain_blanks", "unwrapped"]

_ENDS = re.compile(
    r"<\|(?:endoftext|im_end|eot_id|end_of_text|eom_id|end|eot|return|end_of_turn|file_separator)\|>"
    r"|<｜end▁of▁sentence｜>|</s>(?=\s*\Z)|<(?:eos|end_of_turn|file_sep|EOT)>(?=\s*\Z)"
)
"""Tokens that end a text; those that are tags of other languages too, only at its very end."""

_OPENS = re.compile(r"^[ \t]*(\[(?:BEGIN|PYTHON|CODE|ANSWER)\])[ \t]*$", re.MULTILINE)
_CLOSES = re.compile(r"^[ \t]*(\[(?:DONE|END|/PYTHON|/CODE|/ANSWER)\])[ \t]*$", re.MULTILINE)
"""Lines of their own between which MBPP's and other few-shot prompts have their code."""

_MARGIN = re.compile(r"^[ \t\u00a0\u2007\u202f\u3000]*[\u00a0\u2007\u202f\u3000][^\S\n]*", re.MULTILINE)
_ODD = "\u00a0\u2007\u202f\u3000"
_BLANKS = str.maketrans(dict.fromkeys(_ODD, " "))


def unwrapped(text: str) -> tuple[str, int]:
    r"""The text up to its first end token, with marks of few-shot prompts as fences; how much its front lost.

    >>> unwrapped("[BEGIN]\nx = 1\n[DONE]\n<|endoftext|>y")
    ('```    \nx = 1\n```   \n', 0)
    """
    start = 1 if text[:1] == "\ufeff" else 0
    end = _ENDS.search(text, start)
    shown = text[start : end.start() if end else len(text)]
    if any(each in shown for each in _ODD):
        shown = _MARGIN.sub(lambda match: match[0].translate(_BLANKS), shown)
    if "[" in shown and "```" not in shown and (_OPENS.search(shown) or _CLOSES.search(shown)):
        for mark in (_OPENS, _CLOSES):
            shown = mark.sub(lambda match: match[0].replace(match[1], "```".ljust(len(match[1]))), shown)
    return shown, start


def plain_blanks(code: str) -> str:
    """The code with the blanks that web pages have between words as plain ones."""
    return code.translate(_BLANKS)
