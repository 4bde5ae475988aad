"""Finds the labels of one set of options in a text, as whole tokens, and tells them from words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from probatum.extraction.characters import WORD, sentence_end
from probatum.extraction.choices import Choices, label_key, text_key, unique_texts, unique_values
from probatum.extraction.numbers import parse_number

__all__ = ["ARTICLE", "TERMINATED", "Candidate", "LabelReader", "is_label", "read_at", "reader_of", "text_at"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Labels named in one place; several are an answer only where several may be right."""

    labels: tuple[str, ...]
    start: int
    end: int
    rule: str
    contrary: bool = False
    """The label of one option with the text of another."""


class LabelReader:
    """Finds labels of one set of choices. Patterns are compiled once a set."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.by_key = {label_key(label): label for label in choices.labels}
        self.by_text = unique_texts(choices)
        self.by_value = unique_values(choices)
        spelled = "|".join(re.escape(key) for key in sorted(self.by_key, key=len, reverse=True))
        alone = rf"(?!{WORD})(?![.,]\d|['’-](?!{_SUFFIX}){WORD}|[+#])"
        label = rf"(?<!{WORD})(?<!{WORD}['’-])(?<!\+)(?P<label>{spelled}){alone}"
        self.label = re.compile(label, re.IGNORECASE)
        self.opening = re.compile(rf"{_OPENING}{label}", re.IGNORECASE)
        self.listed = re.compile(rf"(?:^|\n)[\s*_(]{{0,6}}{label}[*_]{{0,3}}[).:、．]", re.IGNORECASE)
        self.judged = re.compile(
            rf"{label}[)\]*_`]{{0,3}}[ \t]?[.:：、]?[*_`]{{0,2}}[ \t]?[-–—]?[ \t]{{0,2}}{_MARK}",
            re.IGNORECASE,
        )
        self.next = re.compile(rf"{_BETWEEN}{label}", re.IGNORECASE)
        self.range = re.compile(rf"[)\]]?\s?(?:through|thru|to|[-–—~]|至|到)\s?[(\[]?{label}", re.IGNORECASE)
        letters = "".join(re.escape(each) for each in choices.labels if len(each) == 1 and each.isupper())
        self.joined = (
            re.compile(rf"{_OPENING}(?P<labels>[{letters}]{{2,26}})(?!{WORD}|['’-])") if letters else None
        )
        self.first = re.compile(
            rf"(?:(?P<named>\b(?:option|choice|answer|statement|letter)|选项|選項|只有)[\s*_]{{0,3}})?"
            rf"(?P<open>[(\[（*$]{{0,3}}){label}[)\]*$.]{{0,3}}{_IS_RIGHT}",
            re.IGNORECASE,
        )

    def ends_correction(self, folded: str, start: int, stop: int) -> bool:
        """Whether a label behind `wait` stands for an answer, and is not told more about (`C is wrong`)."""
        return _SAID.match(folded, stop) is not None or self.first.match(folded, start) is not None


_SAID = re.compile(
    r"[\s)\]}*_`$\"'”’\\]{0,6}(?:[.!?;。；！]|$|\n|,?\s?(?:\b(?:because|since|as|not|instead)\b)|[，,]?\s?(?:因为|而不是|不是))",
    re.IGNORECASE,
)
"""Behind a label that is all of what is said."""

_SUFFIX = r"[dt][iıuü]r\b"
"""Turkish `B'dir`: it is B."""

_OPENING = (
    r"(?:[\s*_~`$#\"'“‘«「『【《〈({\[<:：=>→-]|no\.(?=\s?\d)|\\[(\[]|\\(?:text|textbf|mathbf|mathrm|mathsf|boxed|fbox|bf|rm)\b"
    rf"|(?<!{WORD})(?:option|choice|answer|letter|number|clearly|definitely|probably|likely|most|simply|indeed"
    r"|actually|therefore|thus|then|only|the|is|are|correct|best|either|both|la|lettre|letra|lettera|opción|option"
    r"|buchstabe)\b|选项|選項|选|選|第|应|是|为|：){0,12}"
)
_BETWEEN = (
    r"[\s*_`$)\]}\"'”’.]{0,6}(?:\(?(?:,|;|/|&|\+|、|，|；|\b(?:and|or|und|oder|et|ou|y|o|e|nor)\b|和|或|与|及|跟)"
    r"(?:\s?(?:and|or)\b)?(?:\s?(?:maybe|perhaps|possibly|also|even)\b)?(?:\s?(?:option|choice)\b)?"
    r"[\s*_`$(\[{\"'“‘]{0,6}"
    r"|[ \u00a0]{1,2}[(*_`$]{0,3}(?=\w[)*_`$]{0,3}(?:[.,;。]|(?:[^\S\n]\w){0,9}[^\S\n]?(?:\n|$))))"
)
_IS_RIGHT = (
    r"(?:(?:\s(?:is|would be|must be|seems|appears to be)(?:\s(?:clearly|therefore|thus|probably|likely"
    r"|indeed|obviously|definitely))?\s(?:the\s)?(?:(?:only|most|best|single)\s)?"
    r"(?:(?:correct|right|best|appropriate|accurate|likely)(?:\s(?:answer|option|choice|one|statement))|answer"
    r"|(?:correct|right)(?=[\s]{0,3}(?:[.,;!)]|$|\n|because|since|as)))\b)"
    r"|\s?(?:项|項|选项|選項)?(?:才|就)?(?:是|为)?最?(?:正确|對|对|正確|合适|恰当|佳|符合)(?:的|答案|选项|選項)?)"
)
_MARK = (
    r"[*_`(]{0,3}(?:(?P<good>correct|right|✅|✓|✔|正确|正確|对|對)"
    r"|(?P<bad>incorrect|wrong|not correct|❌|✗|✘|错误|錯誤|错|錯|不正确|不正確|不对)"
    r"|(?P<other>true|false|yes|no))(?![^\W\d_]|[ \t](?:answer|option|choice))"
)
"""A verdict on an option, in a table of them; of `true` and `no` nobody can say which one is asked for."""
ARTICLE = {"a", "i", "o", "y", "e"}
"""Labels that are also words; alone in a sentence they are labels only where nothing goes on."""

TERMINATED = re.compile(
    rf"(?=\w)(?!{WORD})|[\s]{{0,2}}(?:[).,:;!?\]}}*$\"'”’»|\\<>。，；、：）】」』/=`_~&+(]|$|\n|\b(?:because|since|is|was|due|for|as|and|or|by)\b)",
    re.IGNORECASE,
)
_WRAPPED = "([{*$\"'“‘【「（`_"


@lru_cache(maxsize=4096)
def reader_of(choices: Choices) -> LabelReader:
    """The reader of a set of choices, made once."""
    return LabelReader(choices)


def read_at(reader: LabelReader, folded: str, start: int, end: int, rule: str) -> Candidate | None:
    """The label or labels that stand at `start`, behind decoration."""
    match = reader.opening.match(folded, start, end)
    if match is None:
        joined = _joined_at(reader, folded, (start, end), rule)
        return joined or text_at(reader, folded, start, end, rule)
    if not is_label(reader, folded, match, end):
        return None
    labels = [reader.by_key[match["label"].casefold()]]
    begin, at = match.start("label"), match.end("label")
    while (following := reader.next.match(folded, at, end)) is not None:
        if not is_label(reader, folded, following, end):
            break
        label = reader.by_key[following["label"].casefold()]
        labels += [label] if label not in labels else []
        at = following.end("label")
    if len(labels) == 1 and reader.by_text:
        other = text_at(reader, folded, at, end, rule)
        if other is not None and other.labels[0] != labels[0]:
            return Candidate((labels[0], other.labels[0]), begin, other.end, rule, contrary=True)
    return Candidate(tuple(labels), begin, at, rule)


def _joined_at(reader: LabelReader, folded: str, span: tuple[int, int], rule: str) -> Candidate | None:
    """Several labels without anything between them: `ABD`."""
    match = reader.joined.match(folded, *span) if reader.joined is not None else None
    if match is None or len(set(match["labels"])) != len(match["labels"]):
        return None
    labels = tuple(reader.by_key[each.casefold()] for each in match["labels"])
    return Candidate(labels, *match.span("labels"), rule)


def is_label(reader: LabelReader, folded: str, match: re.Match[str], end: int) -> bool:
    """Not an article, a pronoun or the first letter of a sentence that goes on."""
    start, stop = match.span("label")
    label = folded[start:stop]
    if label.isdecimal() or not label.isascii():
        return True
    if start and folded[start - 1] in _WRAPPED:
        return True
    if label[0].islower() or label.casefold() in ARTICLE:
        return (
            stop >= end
            or TERMINATED.match(folded, stop) is not None
            or reader.next.match(folded, stop, end) is not None
        )
    return True


def text_at(reader: LabelReader, folded: str, start: int, end: int, rule: str) -> Candidate | None:
    """A whole line or sentence that is the text of one option."""
    for stop in {sentence_end(folded, start, end), end}:
        label = reader.by_text.get(text_key(folded[start:stop]))
        if label is None and reader.by_value and stop - start < _LONGEST_NUMBER:
            value = parse_number(folded[start:stop].strip(" \t*_`$.。"))
            label = reader.by_value.get(value) if value is not None else None
        if label is not None:
            return Candidate((label,), start, stop, rule.partition(":")[0] + ":text")
    return None


_LONGEST_NUMBER = 40
"""Characters of a text that is read as a number, to find the option of that value."""
