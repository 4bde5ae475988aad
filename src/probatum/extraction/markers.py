"""Declared answer lines: the mark that a task asks for, and where the answer after it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from probatum.extraction.characters import LINE

__all__ = ["ANSWER_MARKERS", "Payload", "declared_lines"]

ANSWER_MARKERS = (
    "Final answer:",
    "The final answer is",
    "Answer:",
    "####",
    "最终答案：",
    "正确答案：",
    "参考答案：",
    "答案：",
    "答案是",
    "答案为",
    "答：",
    "答え：",
    "解答：",
    "正解：",
    "回答：",
    "정답：",
    "답：",
    "Antwort:",
    "Réponse :",
    "Respuesta:",
    "Resposta:",
    "Risposta:",
    "Ответ:",
    "Відповідь:",
    "Antwoord:",
    "Odpowiedź:",
    "Cevap:",
    "Jawaban:",
    "Đáp án:",
    "Câu trả lời:",
    "الإجابة:",
    "الجواب:",
    "उत्तर:",
    "উত্তর:",
    "คำตอบ:",
    "Jibu:",
    "Ìdáhùn:",
)
"""Marks of an answer line where a task declares none of its own."""

Payload = tuple[int, int]
"""From behind the mark to the end of the line."""

_DECORATION = r"[ \t>*_#`~\-•\d.)]{0,12}"
"""What may stand before the mark on its line: quotation, emphasis, heading, bullet, number."""


@lru_cache(maxsize=128)
def _line_pattern(markers: tuple[str, ...]) -> re.Pattern[str]:
    spelled = sorted({marker.strip() for marker in markers if marker.strip()}, key=len, reverse=True)
    return re.compile(
        rf"(?:{'|'.join(_spell(marker) for marker in spelled)})",
        re.IGNORECASE,
    )


def _spell(marker: str) -> str:
    """One mark as a pattern: any width, blanks before a colon, emphasis between."""
    body = marker.rstrip(":： ")
    words = r"[ \t]{1,3}".join(re.escape(word) for word in body.split())
    if body == marker:
        tail = r"(?![^\W\d_])" if body[-1:].isascii() and body[-1:].isalpha() else ""
        return words + tail + r"[ \t*_]{0,4}[:：]?"
    return words + r"[ \t*_`]{0,6}(?:\([^()\n]{0,40}\)[ \t*_]{0,4})?[:：]"


@lru_cache(maxsize=128)
def _anchored(markers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|\n){_DECORATION}(?P<mark>{_line_pattern(markers).pattern})(?P<rest>[^\n]*)", re.IGNORECASE
    )


def declared_lines(folded: str, markers: tuple[str, ...]) -> Iterator[Payload]:
    """What follows each mark that begins a line, in order; a mark alone on its line takes the next.

    `folded` is the text after `characters.fold`.
    """
    pattern = _anchored(markers)
    for match in pattern.finditer(folded):
        start, end = match.span("rest")
        if not folded[start:end].strip(" \t*_`~"):
            following = LINE.search(folded, end)
            while following is not None and not following[0].strip(" \t*_`~$\\[]"):
                following = LINE.search(folded, following.end())
            if following is None or pattern.match(folded, following.start() - 1):
                continue
            start, end = following.span()
        yield start, end
