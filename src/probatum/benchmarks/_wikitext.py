"""WikiText's articles, and the text that lm-eval makes of them before it scores it."""

from __future__ import annotations

import re
from collections.abc import Iterator

HEADING = re.compile(r"^ = [^=\n]+ = ?$", re.MULTILINE)
"""The title of an article: one equals sign on each side; sections have two and more."""

LM_EVAL = (
    (r"s '", "s'"),
    *((f" @{re.escape(sign)}@ ", sign) for sign in "-,."),
    *((f" {re.escape(sign)} ", f"{sign} ") for sign in ":;.!?,"),
    (r"\(\s*([^)]*?)\s*\)", r"(\1)"),
    (r"\[\s*([^\]]*?)\s*\]", r"[\1]"),
    (r"\{\s*([^}]*?)\s*\}", r"{\1}"),
    (r'"\s*([^"]*?)\s*"', r'"\1"'),
    (r"'\s*([^']*?)\s*'", r"'\1'"),
    (r"= = = =", "===="),
    (r"= = =", "==="),
    (r"= =", "=="),
    (r" ° ", "°"),
    (r" \n", "\n"),
    (r"\n ", "\n"),
    (r" N ", " 1 "),
    (r" 's", "'s"),
)
"""Its changes, one after the other: patterns, and what stands in their place."""


def pages(text: str) -> Iterator[str]:
    """The articles as they stand, each up to the line before the next title."""
    starts = [match.start() for match in HEADING.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text) + 1], strict=True):
        yield text[start : end - 1]


def cleaned(page: str) -> str:
    """An article without the blanks of its tokenisation, as lm-eval scores it."""
    for pattern, instead in LM_EVAL:
        page = re.sub(pattern, instead, page)
    return page
