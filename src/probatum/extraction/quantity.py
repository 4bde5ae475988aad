"""Reads the number that an answer gives: declared line, box, phrase, then the last number."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from probatum.extraction.boxes import box_stays_open, boxed_in
from probatum.extraction.characters import fold, sentence_end
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing, answer_of
from probatum.extraction.markers import ANSWER_MARKERS, declared_lines, inline_marks, own_turn
from probatum.extraction.numbers import Decimal, Number, is_compound, scan_numbers, show
from probatum.extraction.numerals import leading_words
from probatum.extraction.phrases import corrected, corrections, number_phrases, on_condition, renewed
from probatum.extraction.reasoning import Visible, visible

__all__ = ["Reading", "extract_number", "find_number"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How numbers are read."""

    markers: tuple[str, ...] = ANSWER_MARKERS
    decimal: Decimal = "point"
    percent: Literal["unit", "fraction"] = "unit"
    """Whether 25% is 25 (the question asks for a percentage) or 1/4."""
    chinese: bool = False
    """Whether Chinese numerals are numbers."""
    loose: bool = True
    """Whether the last number of the text counts where nothing is marked as the answer."""


DEFAULT = Reading()


def extract_number(text: str) -> Extraction | None:
    """The number that the text gives as its answer, in plain decimals; `None` without one.

    Read in this order: a line that begins with a mark (`Answer:`, `####`, `答案：` …; the last such
    line decides), the last box, a phrase (`the answer is`), the last number of the text. Two
    different numbers where one should stand are no answer; `find_number` tells the reason.

    >>> extract_number("She pays $31.00 in all.").answer
    '31'
    >>> extract_number("Answer: 3 or 4") is None
    True
    """
    return answer_of(find_number(text))


def find_number(text: str, reading: Reading = DEFAULT) -> Found:
    """The number with what speaks against it; see `extract_number`."""
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    folded = fold(seen.text)
    if box_stays_open(seen):
        return Missing("the last box was never closed", truncated=True)
    if not folded.strip():
        return Missing("the answer is empty")
    turn, several = own_turn(folded)
    if turn < len(folded):
        own = _find(seen, folded[:turn], reading)
        if isinstance(own, Extraction) and (several or not own.loose):
            return own
    return _find(seen, folded, reading)


def _find(seen: Visible, folded: str, reading: Reading) -> Found:
    """The stages one by one; `folded` is the text, or the beginning of it."""
    marked = [("declared:inline", span) for span in inline_marks(folded, reading.markers)]
    marked += [("declared:line", span) for span in declared_lines(folded, reading.markers)]
    found = _declared(seen, folded, marked, reading) or _boxed(seen, folded, reading)
    found = found or _whole(seen, folded, reading) or _phrase(seen, folded, reading)
    if isinstance(found, Extraction) and found.rule in _STATED:
        return _corrected_by(seen, folded, found, reading) or found
    if found is None and reading.loose:
        begin = max((span[0] for _, span in marked), default=0)
        found = _last(seen, _without_programs(folded), begin, reading) or _last(seen, folded, begin, reading)
    return found or Missing("no number")


_STATED = frozenset({"declared:inline", "declared:line", "box", "phrase:answer", "phrase:is_right"})
"""Rules whose number later words may take back."""

_Mark = tuple[str, tuple[int, int]]
"""Rule, and what follows the mark."""


def _declared(seen: Visible, folded: str, marked: list[_Mark], reading: Reading) -> Found | None:
    for rule, span in reversed(marked):
        deciding = _payload(seen, folded, span, rule, reading)
        if deciding is not None:
            return deciding
    return None


def _boxed(seen: Visible, folded: str, reading: Reading) -> Found | None:
    if "\\boxed" not in folded and "\\fbox" not in folded:
        return None
    box = boxed_in(replace(seen, text=seen.text[: len(folded)]))
    if isinstance(box, Missing):
        return box if box.truncated else None
    if isinstance(box, Ambiguous):
        return box
    start, end = box.span[0] - seen.offset, box.span[1] - seen.offset
    if (signed := _BLANK_SIGN.match(folded, start, end)) is not None:  # `- 18` in a box is no item of a list
        folded = f"{folded[: signed.start('sign')]} -{folded[signed.end() :]}"
    if folded[start:end].endswith("!"):
        return Missing("what is marked as the answer is no plain number")
    return _payload(seen, folded, (start, end), "box", reading)


_BLANK_SIGN = re.compile(r"\s{0,4}(?P<sign>- )(?=[0-9.$\\])")
_DRESS = " \t\n\u00a0*_~`$\"'“”‘’()[]{}\\<>.。:：="


def _whole(seen: Visible, folded: str, reading: Reading) -> Found | None:
    """The text is a number and nothing else."""
    body = folded.strip(_DRESS)
    if len(body) > _LONGEST or len(_SPELLED.findall(body)) > _WORDS:
        return None
    numbers = _scan(folded, 0, len(folded), reading)
    if not numbers and body[:1].isascii():
        start = folded.index(body)
        return _worded(seen, folded, (start, start + len(body)), "whole:number") if body else None
    if len(numbers) != 1 or (folded[: numbers[0].start] + folded[numbers[0].end :]).strip(_DRESS):
        return None
    return _extraction(seen, folded, numbers[0], "whole:number", reading)


_SPELLED = re.compile(r"[^\W\d_]{2,}")
_WORDS = 4
"""Words (`minus`, `USD`, `million`, LaTeX commands) that a number alone may have."""
_LONGEST = 500
"""Characters; a longer text is no number alone."""


def _phrase(seen: Visible, folded: str, reading: Reading) -> Found | None:
    found: list[Found] = []
    for start in number_phrases(folded):
        end = sentence_end(folded, start, start + 400)
        each = _payload(seen, folded, (start, end), "phrase:answer", reading)
        if each is not None:
            found.append(each)
    if not found:
        return _is_answer(seen, folded, reading)
    last = found[-1]
    if not isinstance(last, Extraction):
        return last
    dissent = [each for each in found if isinstance(each, Extraction) and each.answer != last.answer]
    if dissent:
        begin, end = dissent[-1].span[1] - seen.offset, last.span[0] - seen.offset
        if not corrected(folded, begin, end):
            return Ambiguous((*dissent, last))
    return last


_SAYS_SO = re.compile(
    r"(?:\s[^\W\d]{1,20}){0,2}[*_`$)\]}\\]{0,4}\s(?:is|are|would be|must be)"
    r"\s(?:(?:therefore|thus|hence)\s)?(?:the|our|my)\s(?:(?:final|correct|right)\s)?answer\b",
    re.IGNORECASE,
)


def _is_answer(seen: Visible, folded: str, reading: Reading) -> Found | None:
    """`5 apples is the answer`, where no phrase announces another."""
    if "answer" not in folded:
        return None
    for number in reversed(_scan(folded, 0, len(folded), reading)):
        if number.exact and _SAYS_SO.match(folded, number.end):
            return _extraction(seen, folded, number, "phrase:is_right", reading)
    return None


def _corrected_by(seen: Visible, folded: str, found: Extraction, reading: Reading) -> Extraction | None:
    """Another number, where words behind the answer take it back (`Answer: 6. Wait, it should be 5.`)."""
    another: Extraction | None = None
    for start in corrections(folded, found.span[1] - seen.offset):
        end = sentence_end(folded, start, start + 200)
        numbers = _scan(folded, start, end, reading, marked=True)
        direct = _DIRECT.match(folded, start)
        if (
            not numbers
            or direct is None
            or direct.end() < numbers[0].start
            or _GOES_ON.match(folded, numbers[0].end)
        ):
            continue
        each = _payload(seen, folded, (start, end), "phrase:correction", reading)
        if isinstance(each, Extraction) and each.answer != found.answer:
            another = each
    for start in renewed(folded, found.span[1] - seen.offset, lambda: number_phrases(folded)):
        end = sentence_end(folded, start, start + 400)
        again = _payload(seen, folded, (start, end), "phrase:correction", reading)
        if not isinstance(again, Extraction) or on_condition(folded, again.span[1] - seen.offset):
            continue
        if another is None or again.span > another.span:
            another = again
    return another if another is not None and another.answer != found.answer else None


_GOES_ON = re.compile(
    r"\s(?:\w{1,12}\s)?(?:more|less|fewer|times|o['’]?clock|of the|percent of|% of)\b", re.IGNORECASE
)
"""Behind a number that is only a part of what is said."""


_REASON = re.compile(
    r"\b(?:because|since|as|which(?! (?:equals|gives|makes)\b)|where|after|if|when|given|so)\b"
    r"|\b(?:with|at) (?:\w+ ){0,3}?[0-9.]{1,6}\s?%? (?:confidence|certainty)\b"
    r"|\bi\.e\.|\brounded\b|\bto the nearest\b|\bto \d{1,2} (?:significant|decimal|s\.?f|d\.?p)|因为"
    r"|\((?![0-9.]{1,20}\)\s?[=*+/-])|\[(?!\\)",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"=|≈|\\approx\b|\\equiv\b|→|\\Rightarrow\b|\b(?:equals|which (?:gives|makes))\b")
_ALTERNATIVE = re.compile(
    r"\b(?:or|and|to|und|oder|et|ou|y|o)\b|[,/+*×±~–—、或和到至·;-]|\\(?:pm|times|cdot|text\{ ?(?:or|and))"
    r"|^[^\S\n]?[^\W\d]+\.?[^\S\n]?$",
    re.IGNORECASE,
)
"""Between two numbers: they are two answers, a sum that was not worked out, or 3 hours 20 minutes."""
_ANOTHER = re.compile(r"(?:[,;、，；]|\b(?:and|or)\b|和|或)\s?[^\W\d]{1,12}\s?=$", re.IGNORECASE)
"""Between a number and an equals sign: another variable begins."""
_DIRECT = re.compile(
    r"[\s*_~`$\\({\[:：=≈<>\"'“]{0,20}(?:(?:about|approximately|exactly|only|just|约|大约)\s)?"
)
_NEGATED = re.compile(
    r"\s{0,3}(?:definitely |clearly |certainly )?(?:(?:not|never|neither|n't)\b|不)", re.IGNORECASE
)
_BUT = re.compile(r"\b(?:but|rather|instead|sondern|mais|sino)\b|而是", re.IGNORECASE)
_PUT_ASIDE = re.compile(
    r"(?:\b(?:not|neither|nor|never|rather than|instead of)\b|n['’]t\b|不是|而非|并非)"
    r"(?:\s(?:be|equal(?: to)?|just|exactly|about|simply))?[\s$\\(*\"“]{0,6}\Z",
    re.IGNORECASE,
)
"""Before a number that the text says is not meant."""


def _kept(folded: str, numbers: list[Number]) -> list[Number]:
    """Without the numbers that are said not to be meant (`5, not 6`)."""
    return [each for each in numbers if not _PUT_ASIDE.search(folded, max(0, each.start - 24), each.start)]


def _payload(seen: Visible, folded: str, span: tuple[int, int], rule: str, reading: Reading) -> Found | None:
    """What stands behind a mark: the number, two of them, or `None` where there is none."""
    start, end = span
    if _NEGATED.match(folded, start) and not _BUT.search(folded, start, sentence_end(folded, start, end)):
        return None
    numbers = _kept(folded, _scan(folded, start, end, reading, marked=True))
    if not numbers:
        return _worded(seen, folded, span, rule)
    end = sentence_end(folded, numbers[0].end, end)
    if (reason := _REASON.search(folded, numbers[0].end, end)) is not None:
        end = reason.start()
    numbers = [each for each in numbers if each.end <= end] or numbers[:1]
    start, numbers = _after_equals(folded, (start, end), numbers)
    if not all(each.exact for each in numbers):
        return Missing("what is marked as the answer is no plain number")
    if len({each.value for each in numbers}) == 1:
        return _extraction(seen, folded, numbers[-1], rule, reading)
    direct = _DIRECT.match(folded, start)
    if direct is not None and direct.end() >= numbers[0].start:
        between = folded[numbers[0].end : numbers[1].start]
        after = folded[numbers[1].end : numbers[1].end + 20]
        if _ALTERNATIVE.search(between) is None and not is_compound(between, after):
            return _extraction(seen, folded, numbers[0], rule, reading)
    return Ambiguous(tuple(_extraction(seen, folded, each, rule, reading) for each in numbers))


_COUNTED = re.compile(
    r"(?:\s(?!(?:of|or|and|to|that|which|more|less|point|half|halves|quarters?|dozens?|percent|per|pairs?)\b"
    r"|\w*(?:th|third|fifth)s?\b)[^\W\d_]{1,20}){0,2}",
    re.IGNORECASE,
)
"""What may follow a number in words: what is counted."""


def _worded(seen: Visible, folded: str, span: tuple[int, int], rule: str) -> Extraction | None:
    """A number in English words that is all of what is marked, but for what it counts (`five red apples`)."""
    direct = _DIRECT.match(folded, *span)
    start = span[0] if direct is None else direct.end()
    end = sentence_end(folded, start, span[1])
    found = leading_words(folded[start:end])
    if found is None:
        return None
    value, length = found
    counted = _COUNTED.match(folded, start + length, end)
    rest = folded[start + length if counted is None else counted.end() : end]
    if rest.strip(_DRESS) or (value == 1 and counted is not None and counted[0]):
        return None
    number = Number(Fraction(value), start, start + length)
    return _extraction(seen, folded, number, rule, DEFAULT)


def _after_equals(folded: str, span: tuple[int, int], numbers: list[Number]) -> tuple[int, list[Number]]:
    """Numbers behind the last equals sign that has some, and where that part begins."""
    for equal in reversed([each.end() for each in _EQUALS.finditer(folded, *span)]):
        after = [each for each in numbers if each.start >= equal]
        if not after:
            continue
        before = numbers[: len(numbers) - len(after)]
        if before and _ANOTHER.search(folded, before[-1].end, equal):
            break  # x = 3, y = 4
        return equal, after
    return span[0], numbers


_EITHER = re.compile(
    r"(?:^|[^\w])(?:or|oder|ou|maybe|perhaps|could be|might be)(?:[^\w]|$)|或|可能|^,$|^\s?[~至到]\s?$",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"(?:\b(?:steps?|equations?|eqs?\.?|lines?|figures?|fig\.|tables?|cases?|parts?|questions?|problems?|sections?"
    r"|chapters?|pages?|examples?|methods?|notes?|options?|rules?|lemmas?|theorems?|no\.|number)"
    r"[\s*_]?[(#]{0,2}|步骤|第|题|式|例)\s?\Z",
    re.IGNORECASE,
)
"""Before a number that names a part of the text, and counts nothing."""


def _last(seen: Visible, folded: str, begin: int, reading: Reading) -> Found | None:
    """The last number of the last line that has one, none of them before `begin`.

    After the line's last equals sign, if it has one. A number that is said not to be meant does not
    count; one that names a step or a source does where there is no other.
    """
    named: list[Number] = []
    numbers: list[Number] = []
    end = len(folded)
    while end >= begin and not numbers:
        start = max(folded.rfind("\n", 0, end) + 1, begin)
        found = _kept(folded, _scan(folded, start, end, reading))
        numbers = [each for each in found if not _is_name(folded, each)]
        named = named or found
        end = start - 1
    numbers = numbers or named
    if not numbers:
        return None
    if not numbers[-1].exact:
        return Missing("the last number is part of an expression")
    if _said_as_percent(folded, numbers):
        numbers.pop()
    last = _extraction(seen, folded, numbers[-1], "loose:last_number", reading)
    if len(numbers) > 1 and numbers[-2].value != numbers[-1].value:
        between = folded[numbers[-2].end : numbers[-1].start]
        after = folded[numbers[-1].end : numbers[-1].end + 20]
        either = len(between) < 60 and _EITHER.search(between)  # noqa: PLR2004 - one short phrase
        if either or _ANOTHER.search(between) or is_compound(between, after):
            before = _extraction(seen, folded, numbers[-2], "loose:last_number", reading)
            return Ambiguous((before, last))
    return last


_PROGRAM = re.compile(
    r"```(?:python|py|javascript|js|typescript|ts|java|c|cpp|c\+\+|c#|go|rust|r|julia|matlab|sql|bash|sh|ruby|php)"
    r"[ \t]*\n(?:[^`]|`(?!``))*(?:```|\Z)",
    re.IGNORECASE,
)


def _without_programs(folded: str) -> str:
    """Blanks in place of programs in fences, line by line: their last number answers nothing."""
    if "```" not in folded:
        return folded
    return _PROGRAM.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), folded)


def _said_as_percent(folded: str, numbers: list[Number]) -> bool:
    """`0.25 (25%)`: the last number says the one before it once more."""
    if len(numbers) < 2 or not numbers[-1].percent or numbers[-2].percent:  # noqa: PLR2004 - of two, the last
        return False
    same = numbers[-1].value == numbers[-2].value * 100
    return same and folded[numbers[-2].end : numbers[-1].start].strip(" *_`$\\") == "("


def _is_name(folded: str, number: Number) -> bool:
    """The number of a step, of an equation or of a source (`[1]`)."""
    cited = folded[number.start - 1 : number.start] == "[" and folded[number.end : number.end + 1] == "]"
    return cited or _TITLE.search(folded, max(0, number.start - 16), number.start) is not None


_BLANK_GROUPS = re.compile(r"(?<![\w.,])[0-9]{1,3}(?: [0-9]{3})+(?![\w,]|\.[0-9])")
"""`20 000`: one number where an answer is marked, perhaps two elsewhere."""


def _scan(folded: str, start: int, end: int, reading: Reading, *, marked: bool = False) -> list[Number]:
    """Numbers of a part of the text, at positions of the text."""
    part = folded[start:end]
    if marked and start and folded[start - 1] != "\n" and (signed := _BLANK_SIGN.match(part)) is not None:
        part = f"{part[: signed.start('sign')]} -{part[signed.end() :]}"  # `Answer: - 5` begins no list
    if marked:
        part = _BLANK_GROUPS.sub(lambda match: match[0].replace(" ", "\u00a0"), part)
    found = scan_numbers(part, reading.decimal, chinese=reading.chinese)
    if not start:
        return found
    return [Number(n.value, n.start + start, n.end + start, n.percent, n.exact) for n in found]


def _extraction(seen: Visible, folded: str, number: Number, rule: str, reading: Reading) -> Extraction:
    value = number.value / 100 if number.percent and reading.percent == "fraction" else number.value
    span = (seen.offset + number.start, seen.offset + number.end)
    return Extraction(show(value), rule, span, complete=bool(folded[number.end :].strip(" ")))
