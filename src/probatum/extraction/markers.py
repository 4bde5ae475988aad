"""Declared answer lines: the mark that a task asks for, and where the answer after it stands."""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache

from probatum.extraction.characters import LINE, fold_width

__all__ = ["ANSWER_MARKERS", "Payload", "declared_lines", "inline_marks", "is_mark", "own_turn"]

ANSWER_MARKERS = (
    "Final answer:",
    "The final answer is",
    "Answer:",
    "####",
    "【答案】",
    "【正确答案】",
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
    "Ans:",
    "Svar:",
    "Vastaus:",
    "Odpověď:",
    "Odgovor:",
    "Răspuns:",
    "Válasz:",
    "Απάντηση:",
    "Отговор:",
    "תשובה:",
    "پاسخ:",
    "جواب:",
    "பதில்:",
    "సమాధానం:",
    "Sagot:",
)
"""Marks of an answer line where a task declares none of its own."""

Payload = tuple[int, int]
"""From behind the mark to the end of the line."""

_DECORATION = r"[ \t>*_#`~\-•\d.)]{0,12}"
"""What may stand before the mark on its line: quotation, emphasis, heading, bullet, number."""


_KEPT = 1000
"""Marks looked at, from the end: a text with more of them repeats itself."""


def _spell(marker: str) -> str:
    """One mark as a pattern: blanks between its words, emphasis and a remark before its colon."""
    body = marker.rstrip(":： ")
    words = r"[ \t]{1,3}".join(re.escape(word) for word in body.split())
    if body == marker:
        word_goes_on = r"(?![^\W\d_])" if body[-1:].isascii() and body[-1:].isalpha() else ""
        return words + word_goes_on + r"[ \t*_]{0,4}[:：]?"
    return words + r"[ \t*_`]{0,6}(?:\([^()\n]{0,40}\)[ \t*_]{0,4})?[:：]"


@lru_cache(maxsize=128)
def _pattern(markers: tuple[str, ...], *, anchored: bool) -> re.Pattern[str]:
    spelled = sorted(
        {fold_width(each).strip() for each in markers if each.strip(" :：")}, key=len, reverse=True
    )
    mark = "|".join(_spell(each) for each in spelled) or r"(?!)"
    before = rf"(?:^|\n){_DECORATION}" if anchored else r"(?<![^\W\d_])"
    return re.compile(
        rf"{before}(?:{mark})(?P<rest>[^\n]*)" if anchored else rf"{before}(?:{mark})", re.IGNORECASE
    )


@lru_cache(maxsize=128)
def _heading(markers: tuple[str, ...]) -> re.Pattern[str]:
    """A mark without its colon that is a heading of its own: `### Answer`, `**Final Answer**`."""
    bodies = {fold_width(each).strip(" :：") for each in markers if each.strip().endswith((":", "："))}
    spelled = [r"[ \t]{1,3}".join(map(re.escape, body.split())) for body in bodies if body]
    mark = "|".join(sorted(spelled, key=len, reverse=True)) or r"(?!)"
    return re.compile(
        rf"(?:^|\n)[ \t]{{0,3}}(?:\#{{1,6}}[ \t*_]{{0,4}}|\*\*|__)(?:{mark})[ \t*_]{{0,4}}(?=\n)(?P<rest>)",
        re.IGNORECASE,
    )


def declared_lines(folded: str, markers: tuple[str, ...]) -> list[Payload]:
    """What follows each mark that begins a line, in order; a mark alone on its line takes the next.

    `folded` is the text after `characters.fold`.
    """
    pattern = _pattern(markers, anchored=True)
    found: deque[Payload] = deque(maxlen=_KEPT)
    matches = list(pattern.finditer(folded))
    if "\n#" in folded or "**" in folded or folded[:1] == "#":
        headings = [each for each in _heading(markers).finditer(folded) if each["rest"] is not None]
        matches = sorted([*matches, *headings], key=lambda each: each.start()) if headings else matches
    for match in matches:
        start, end = match.span("rest")
        if not folded[start:end].strip(" \t*_`~"):
            following = LINE.search(folded, end)
            while following is not None and not following[0].strip(" \t*_`~$\\[]"):
                following = LINE.search(folded, following.end())
            if following is None or pattern.match(folded, following.start() - 1):
                continue
            start, end = following.span()
        found.append((start, end))
    return _before_next_question(folded, list(found))


_QUESTION = re.compile(
    r"\n[ \t>*_#]{0,6}(?:question|problem|q|user|human|问题|题目|问|問題|질문|Frage|Pregunta|Вопрос)"
    r"(?: ?\d{1,4})?[ *_]{0,4}[:：]",
    re.IGNORECASE,
)


def _before_next_question(folded: str, found: list[Payload]) -> list[Payload]:
    """Without the answers to questions that the model went on to ask itself."""
    if len(found) < 2:  # noqa: PLR2004 - nothing comes after the only answer
        return found
    question = _QUESTION.search(folded, found[0][1])
    return found if question is None else [each for each in found if each[0] < question.start()]


_REPLY = re.compile(
    r"\n[ \t>*_#]{0,6}(?:A|answer|答案|答|回答|Antwort|Respuesta|Ответ)[ *_]{0,4}[:：]", re.IGNORECASE
)


def own_turn(folded: str) -> tuple[int, bool]:
    """Where the model stops to answer, and begins to ask questions of its own and to answer them.

    Returns:
        The end of its first turn (the length of the text where there is only one), and whether it asked
        more than one question: one alone may be the question said again.
    """
    start = len(folded) - len(folded.lstrip())
    if folded.find("\n", start) < 0:
        return len(folded), False
    echoed = _QUESTION.match(f"\n{folded[start : start + 80]}") is not None
    asked = [match.start() for _, match in zip(range(2), _QUESTION.finditer(folded, start), strict=False)]
    if not asked or _REPLY.search(folded, asked[0]) is None:
        return len(folded), False
    return asked[0], echoed or len(asked) > 1


def is_mark(folded: str, start: int, end: int, markers: tuple[str, ...]) -> bool:
    """Whether that part of the text is a mark with nothing behind it."""
    match = _pattern(markers, anchored=False).match(folded, start, end)
    return match is not None and not folded[match.end() : end].strip(" *_`")


def inline_marks(folded: str, markers: tuple[str, ...]) -> list[Payload]:
    """What follows a mark of the task's own in the midst of a line, up to the end of the line.

    The general marks are left to phrases, which know how people put them.
    """
    if markers is ANSWER_MARKERS:
        return []
    pattern = _pattern(markers, anchored=False)
    ends = [match.end() for match in deque(pattern.finditer(folded), _KEPT)]
    return [(end, _line_end(folded, end)) for end in ends]


def _line_end(folded: str, start: int) -> int:
    end = folded.find("\n", start, start + 400)
    return end if end >= 0 else min(len(folded), start + 400)
