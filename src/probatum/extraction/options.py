"""Reads the option that an answer chooses: by its label, or by its text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from probatum.core.errors import UsageError
from probatum.extraction.boxes import box_stays_open, boxed_in
from probatum.extraction.characters import WORD, fold, sentence_end
from probatum.extraction.evidence import LOOSE, Ambiguous, Extraction, Found, Missing, answer_of
from probatum.extraction.markers import ANSWER_MARKERS, declared_lines, inline_marks, own_turn
from probatum.extraction.numbers import parse_number
from probatum.extraction.phrases import corrected, corrections, names_choice
from probatum.extraction.reasoning import Visible, visible

__all__ = ["Choices", "Options", "default_labels", "extract_option", "extract_options", "find_option"]

Options = str | Sequence[str] | Mapping[str, str]
"""Labels as one string ("ABCD"), the options' texts (labelled A, B, C, …), or label → text."""


def default_labels(count: int) -> tuple[str, ...]:
    """Letters A … Z, then AA, AB, … as labels of so many options.

    >>> default_labels(28)[-3:]
    ('Z', 'AA', 'AB')
    """
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pairs = (first + second for first in alphabet for second in alphabet)
    return tuple(alphabet[:count]) + tuple(next(pairs) for _ in range(count - len(alphabet)))


@dataclass(frozen=True, slots=True)
class Choices:
    """Labels with their texts, as they are searched for."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    """One for each label; empty where only the label is known."""

    @classmethod
    def of(cls, options: Options) -> Choices:
        """From what the caller has.

        Raises:
            UsageError: no option, an empty label, or two labels that differ in case or width alone.
        """
        if isinstance(options, str):
            return _choices(tuple(options), ("",) * len(options))
        if isinstance(options, Mapping):
            return _choices(tuple(options), tuple(options.values()))
        return _choices(default_labels(len(options)), tuple(options))


@lru_cache(maxsize=4096)
def _choices(labels: tuple[str, ...], texts: tuple[str, ...]) -> Choices:
    """Checked once, however many answers are read by them."""
    keys = [_key(label) for label in labels]
    if not labels or not all(keys) or len(set(keys)) != len(keys):
        raise UsageError(
            f"options with labels {labels!r}: give at least one, none empty, no two that differ in case only"
        )
    return Choices(labels, texts)


def _key(label: str) -> str:
    return fold(label).strip().casefold()


def extract_option(text: str, options: Options) -> Extraction | None:
    """The option that the text chooses, by its label in `options`; `None` without one.

    Read in this order: a line that begins with a mark (`Answer:`, `答案：` …; the last such line
    decides), the last box, the whole text, a phrase (`the answer is`, `选`), a search. Two different
    options where one should stand are no answer; `find_option` tells the reason.

    Raises:
        UsageError: `options` is empty, or has labels that cannot be told apart.

    >>> extract_option("B或C? 选B。", "ABCD").answer
    'B'
    >>> extract_option("It is 42.", {"A": "41", "B": "42"}).answer
    'B'
    >>> extract_option("Answer: A, B", "ABCD") is None
    True
    """
    return answer_of(find_option(text, Choices.of(options)))


def extract_options(text: str, options: Options) -> Extraction | None:
    """The options that the text chooses where several may be right: labels in their order, by commas.

    >>> extract_options("ANSWER: C, A.", "ABCD").answer
    'A,C'
    """
    return answer_of(find_option(text, Choices.of(options), multiple=True))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Labels named in one place; several are an answer only where several may be right."""

    labels: tuple[str, ...]
    start: int
    end: int
    rule: str
    contrary: bool = False
    """The label of one option with the text of another."""


class _Reader:
    """Finds labels of one set of choices. Patterns are compiled once a set."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.by_key = {_key(label): label for label in choices.labels}
        self.by_text = _unique_texts(choices)
        self.by_value = _unique_values(choices)
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
_ARTICLE = {"a", "i", "o", "y", "e"}
"""Labels that are also words; alone in a sentence they are labels only where nothing goes on."""

_TERMINATED = re.compile(
    rf"(?=\w)(?!{WORD})|[\s]{{0,2}}(?:[).,:;!?\]}}*$\"'”’»|\\<>。，；、：）】」』/=`_~&+(]|$|\n|\b(?:because|since|is|was|due|for|as|and|or|by)\b)",
    re.IGNORECASE,
)
_WRAPPED = "([{*$\"'“‘【「（`_"


def _unique_texts(choices: Choices) -> dict[str, str]:
    """Normalised text → label, for texts that name one option only."""
    keys = [_text_key(text) for text in choices.texts]
    return {
        key: label for key, label in zip(keys, choices.labels, strict=True) if key and keys.count(key) == 1
    }


def _unique_values(choices: Choices) -> dict[Fraction, str]:
    """Value → label, where every text is a number and no two are equal: `42.0` names the option `42`."""
    values = [parse_number(text) for text in choices.texts if text]
    if len(values) < len(choices.texts) or None in values or len(set(values)) < len(values):
        return {}
    return {value: label for value, label in zip(values, choices.labels, strict=True) if value is not None}


def _text_key(text: str) -> str:
    return " ".join(fold(text).casefold().split()).strip(" .,;:!?。，；：！？\"'“”‘’()[]{}$*_`")


@lru_cache(maxsize=4096)
def _reader(choices: Choices) -> _Reader:
    return _Reader(choices)


@dataclass(frozen=True, slots=True)
class _Page:
    """A text as it is read: without reasoning, folded."""

    seen: Visible
    folded: str
    markers: tuple[str, ...]
    multiple: bool = False


_Stage = Callable[["_Reader", _Page], "list[_Candidate] | Missing | None"]


def find_option(
    text: str,
    choices: Choices,
    *,
    markers: tuple[str, ...] = ANSWER_MARKERS,
    loose: bool = True,
    multiple: bool = False,
) -> Found:
    """The option with what speaks against it; see `extract_option`."""
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    page = _Page(seen, fold(seen.text), markers, multiple)
    if box_stays_open(seen):
        return Missing("the last box was never closed", truncated=True)
    if not page.folded.strip():
        return Missing("the answer is empty")
    reader = _reader(choices)
    turn, several = own_turn(page.folded)
    if turn < len(page.folded):
        first = replace(page, seen=replace(seen, text=seen.text[:turn]), folded=page.folded[:turn])
        own = _staged(reader, first, loose=loose)
        if isinstance(own, Extraction) and (several or not own.loose):
            return own
    return _staged(reader, page, loose=loose)


def _staged(reader: _Reader, page: _Page, *, loose: bool) -> Found:
    """What the first stage says that finds something."""
    for stage in (*_MARKED, *(_SEARCHED if loose else ())):
        found = stage(reader, page)
        if isinstance(found, Missing):
            return found
        if found:
            return _decide(reader, page, found)
    return Missing("no option")


def _decide(reader: _Reader, page: _Page, found: list[_Candidate]) -> Found:
    """The last candidate, if those before it agree or are corrected by it, and none corrects it."""
    last = _corrected_by(reader, page, found[-1]) or found[-1]
    if last is not found[-1]:
        found = [last]
    dissent = [each for each in found[:-1] if each.labels != last.labels]
    if dissent and not corrected(page.folded, dissent[-1].end, last.start + 1):
        named = [*dissent, last]
    elif last.contrary or (len(last.labels) > 1 and not page.multiple):
        named = [_Candidate((label,), last.start, last.end, last.rule) for label in last.labels]
    else:
        order = [label for label in reader.choices.labels if label in last.labels]
        return _extraction(page.seen, last, ",".join(order))
    return Ambiguous(tuple(_extraction(page.seen, each, ",".join(each.labels)) for each in named))


def _corrected_by(reader: _Reader, page: _Page, last: _Candidate) -> _Candidate | None:
    """Another label, where words behind the candidate take it back (`The answer is A. No, wait, B.`)."""
    if last.rule.startswith(LOOSE) or last.rule.startswith("whole"):
        return None
    another = None
    for start in corrections(page.folded, last.end):
        end = sentence_end(page.folded, start, start + 100)
        match = reader.opening.match(page.folded, start, end)
        if match is None or not _is_label(reader, page.folded, match, end):
            continue
        if _TERMINATED.match(page.folded, match.end("label")) is None:
            continue
        label = reader.by_key[match["label"].casefold()]
        if (label,) != last.labels:
            another = _Candidate((label,), *match.span("label"), "phrase:correction")
    return another


def _extraction(seen: Visible, candidate: _Candidate, answer: str) -> Extraction:
    span = (seen.offset + candidate.start, seen.offset + candidate.end)
    return Extraction(answer, candidate.rule, span)


def _read_at(reader: _Reader, folded: str, start: int, end: int, rule: str) -> _Candidate | None:
    """The label or labels that stand at `start`, behind decoration."""
    match = reader.opening.match(folded, start, end)
    if match is None:
        joined = _joined_at(reader, folded, (start, end), rule)
        return joined or _text_at(reader, folded, start, end, rule)
    if not _is_label(reader, folded, match, end):
        return None
    labels = [reader.by_key[match["label"].casefold()]]
    begin, at = match.start("label"), match.end("label")
    while (following := reader.next.match(folded, at, end)) is not None:
        if not _is_label(reader, folded, following, end):
            break
        label = reader.by_key[following["label"].casefold()]
        labels += [label] if label not in labels else []
        at = following.end("label")
    if len(labels) == 1 and reader.by_text:
        other = _text_at(reader, folded, at, end, rule)
        if other is not None and other.labels[0] != labels[0]:
            return _Candidate((labels[0], other.labels[0]), begin, other.end, rule, contrary=True)
    return _Candidate(tuple(labels), begin, at, rule)


def _joined_at(reader: _Reader, folded: str, span: tuple[int, int], rule: str) -> _Candidate | None:
    """Several labels without anything between them: `ABD`."""
    match = reader.joined.match(folded, *span) if reader.joined is not None else None
    if match is None or len(set(match["labels"])) != len(match["labels"]):
        return None
    labels = tuple(reader.by_key[each.casefold()] for each in match["labels"])
    return _Candidate(labels, *match.span("labels"), rule)


def _is_label(reader: _Reader, folded: str, match: re.Match[str], end: int) -> bool:
    """Not an article, a pronoun or the first letter of a sentence that goes on."""
    start, stop = match.span("label")
    label = folded[start:stop]
    if label.isdecimal() or not label.isascii():
        return True
    if start and folded[start - 1] in _WRAPPED:
        return True
    if label[0].islower() or label.casefold() in _ARTICLE:
        return (
            stop >= end
            or _TERMINATED.match(folded, stop) is not None
            or reader.next.match(folded, stop, end) is not None
        )
    return True


def _text_at(reader: _Reader, folded: str, start: int, end: int, rule: str) -> _Candidate | None:
    """A whole line or sentence that is the text of one option."""
    for stop in {sentence_end(folded, start, end), end}:
        label = reader.by_text.get(_text_key(folded[start:stop]))
        if label is None and reader.by_value and stop - start < _LONGEST_NUMBER:
            value = parse_number(folded[start:stop].strip(" \t*_`$.。"))
            label = reader.by_value.get(value) if value is not None else None
        if label is not None:
            return _Candidate((label,), start, stop, rule.partition(":")[0] + ":text")
    return None


_LONGEST_NUMBER = 40
"""Characters of a text that is read as a number, to find the option of that value."""


def _declared(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    places = [("declared:inline", span) for span in inline_marks(page.folded, page.markers)]
    places += [("declared:line", span) for span in declared_lines(page.folded, page.markers)]
    for rule, (start, end) in reversed(places):
        last = _read_at(reader, page.folded, start, end, rule)
        if last is not None and not _echoes(reader, page, last):
            return [last]
    return None


def _echoes(reader: _Reader, page: _Page, candidate: _Candidate) -> bool:
    """`Answer: A/B/C/D` repeats the instruction, as does `[A, B, C, D]`."""
    if len(candidate.labels) < 3 or len(candidate.labels) < len(reader.choices.labels):  # noqa: PLR2004 - of two, both
        return False
    shown = page.folded[max(0, candidate.start - 2) : candidate.end + 1]
    return not page.multiple or "/" in shown or "|" in shown or "[" in shown


def _boxed(reader: _Reader, page: _Page) -> list[_Candidate] | Missing | None:
    if "\\boxed" not in page.folded and "\\fbox" not in page.folded:
        return None
    box = boxed_in(page.seen)
    if isinstance(box, Missing):
        return box if box.truncated else None
    found: list[_Candidate] = []
    for each in (box,) if isinstance(box, Extraction) else box.candidates:
        start, end = each.span[0] - page.seen.offset, each.span[1] - page.seen.offset
        candidate = _read_at(reader, page.folded, start, end, "box:label")
        if candidate is not None and candidate.end >= end - 12:
            found.append(candidate)
    return found or None


_FENCED = re.compile(r"```\w{0,12}[ \t]*\n\s*(?P<line>[^\n]{1,400}?)\s*\n```")
"""One line in a fence of its own."""


def _whole(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """The whole text is a label, a label with its text, or the text of one option."""
    start = len(page.folded) - len(page.folded.lstrip())
    end = len(page.folded.rstrip())
    if "\n" in page.folded[start:end]:
        if (fenced := _FENCED.fullmatch(page.folded, start, end)) is None:
            return None
        start, end = fenced.span("line")
    if (named := reader.by_text.get(_text_key(page.folded[start:end]))) is not None:
        return [_Candidate((named,), start, end, "whole:text")]
    candidate = _read_at(reader, page.folded, start, end, "whole:label")
    if candidate is None or candidate.rule != "whole:label":
        return None
    rest = page.folded[candidate.end : end].strip(" \t*_`$.,;:!?)]}>\"'”’。！，\\|")
    if not rest:
        return [candidate]
    if len(candidate.labels) == 1 and reader.by_text.get(_text_key(rest)) == candidate.labels[0]:
        return [candidate]
    return None


def _phrases(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """Choices that a phrase calls the answer; those it merely chooses, where they come later or alone."""
    strong = _phrased(reader, page, strong=True)
    weak = _phrased(reader, page, strong=False)
    last = strong[-1].end if strong else 0
    return [*strong, *(each for each in weak if each.start >= last)] or None


def _phrased(reader: _Reader, page: _Page, *, strong: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    folded = page.folded
    rule = "phrase:answer" if strong else "phrase:choice"
    for start in names_choice(folded, strong=strong):
        end = max(start, sentence_end(folded, start, start + 300))
        candidate = _read_at(reader, folded, start, end, rule)
        if candidate is None or _echoes(reader, page, candidate):
            continue
        if not found or candidate.start > found[-1].start:
            found.append(candidate)
    return found


def _table(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """`A: wrong, B: correct, C: wrong`: the one option that is called right, where several are judged."""
    rows = [
        (match, reader.by_key[match["label"].casefold()]) for match in reader.judged.finditer(page.folded)
    ]
    if len({label for _, label in rows}) < 2:  # noqa: PLR2004 - a table has two rows
        return None
    good = [(match, label) for match, label in rows if match["good"]]
    if not good or any(match["other"] for match, _ in rows):
        return [_Candidate((label,), *match.span("label"), "phrase:is_right") for match, label in rows]
    return [
        _Candidate(
            tuple(dict.fromkeys(label for _, label in good)), *good[-1][0].span("label"), "phrase:is_right"
        )
    ]


def _verdicts(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """`(B) is the correct answer`, `只有选项C是对的`."""
    found = []
    for match in reader.first.finditer(page.folded):
        label = match["label"]
        if not (match["named"] or match["open"]) and label[0].islower():
            continue
        found.append(_Candidate((reader.by_key[label.casefold()],), *match.span("label"), "phrase:is_right"))
    return found or None


_LETTER = re.compile(r"[^\W_]")
_LABEL_ENDS = re.compile(r"[*_`\s]{0,3}[).,。．、]")


def _edges(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """A line of its own at the beginning or at the end: `B`, `(B)`, `B. Because …`."""
    found = []
    listed = _listed(reader, page.folded)
    for place, (start, end) in enumerate(_first_and_last(page.folded)):
        candidate = _read_at(reader, page.folded, start, end, "loose:line")
        if candidate is None or len(candidate.labels) > 1 or candidate.start in listed:
            continue
        if _LETTER.search(page.folded, start, candidate.start):
            continue
        rest = page.folded[candidate.end : end]
        stripped = rest.strip(" \t*_`$.,;:!?)]}>\"'”’。！，\\|")
        named = reader.by_text.get(_text_key(stripped))
        if not stripped or named == candidate.labels[0] or (place == 0 and _LABEL_ENDS.match(rest)):
            found.append(candidate)
    return found or None


def _listed(reader: _Reader, folded: str) -> frozenset[int]:
    """Where the labels of a list of options stand: each begins a line, and its neighbour is the next one."""
    order = {_key(label): place for place, label in enumerate(reader.choices.labels)}
    lines = [
        (order[match["label"].casefold()], match.start("label")) for match in reader.listed.finditer(folded)
    ]
    inside: set[int] = set()
    for (place, start), (following, at) in itertools.pairwise(lines):
        if following == place + 1:
            inside |= {start, at}
    return frozenset(inside)


def _first_and_last(folded: str) -> list[tuple[int, int]]:
    """The first and the last line that are not empty."""
    start, end = len(folded) - len(folded.lstrip()), len(folded.rstrip())
    first_end = folded.find("\n", start, end)
    if first_end < 0:
        return [(start, end)]
    return [(start, first_end), (folded.rfind("\n", 0, end) + 1, end)]


def _last_line(folded: str) -> tuple[int, int]:
    """The last line that is not empty, or its last 400 characters: where conclusions stand."""
    end = len(folded.rstrip())
    return max(folded.rfind("\n", 0, end) + 1, end - 400), end


def _named_text(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """The last sentence has the text of one option, as whole words."""
    start, end = _last_line(page.folded)
    if any(start <= at < end for at in _listed(reader, page.folded)):
        return None  # the options themselves, one by one
    while (stop := sentence_end(page.folded, start, end) + 1) < end:
        start = stop
    lowered = page.folded[start:end].lower()
    if not reader.by_text or len(lowered) != end - start:
        return None
    found = []
    for key, label in reader.by_text.items():
        at = lowered.find(key)
        while at >= 0:
            if _stands_alone(lowered, at, at + len(key)):
                found.append(_Candidate((label,), start + at, start + at + len(key), "loose:text"))
                break
            at = lowered.find(key, at + 1)
    return _longest(found) or None


def _longest(found: list[_Candidate]) -> list[_Candidate]:
    """Without texts that are part of another one found (`42` in `42 km`)."""
    return [
        each
        for each in found
        if not any(
            other is not each and other.start <= each.start and each.end <= other.end for other in found
        )
    ]


def _stands_alone(text: str, start: int, end: int) -> bool:
    word = re.compile(WORD)
    before = start and word.match(text[start]) and word.match(text[start - 1])
    after = end < len(text) and word.match(text[end - 1]) and word.match(text[end])
    number = end < len(text) and text[end - 1].isdecimal() and re.match(r"[.,]\d", text[end : end + 2])
    return not (before or after or number)


_RULED_OUT = re.compile(
    r"(?:\b(?:not|cannot|never|neither|nor|than|except|excludes?|excluding|eliminat(?:e|es|ed|ing)"
    r"|ruled? out|ruling out|rejects?|reject(?:ed|ing))\b"
    r"|\b(?:wrong|incorrect|false)\s(?:answer|option|choice)s?\s(?:is|are|was)\b"
    r"|n['’]t\b|不|非|排除)[\s\w]{0,8}[\s(\[*_`$]{0,4}\Z",
    re.IGNORECASE,
)
"""Before a label that the text puts aside."""
_IS_WRONG = re.compile(
    r"[\s)\]*_`$]{0,6}(?:(?:is|are|was|were|seems?|would be|can be|must be)\b[^.!?\n]{0,20}?"
    r"\b(?:not|never|wrong|incorrect|false|out|eliminated|excluded|ruled|impossible|neither|invalid)\b"
    r"|(?:is|are|was|were|does|do|ca|could|would|did)n['’]t\b|(?:does|do|did|can|could|would)\s?not\b|fails?\b"
    r"|(?:项|項|选项|選項)?(?:都|均|也|是|为|就)?(?:不|错|錯|排除|有误|无关))",
    re.IGNORECASE,
)
"""Behind a label, or behind several, that the text puts aside."""


def _only(reader: _Reader, page: _Page) -> list[_Candidate] | None:
    """The last line names a label, in capitals or in brackets, and the text keeps no other one."""
    found: dict[str, _Candidate] = {}
    aside = -1  # up to here labels are put aside
    for match in reader.label.finditer(page.folded):
        start, stop = match.span("label")
        if start < aside or not _stands_for_option(page.folded, match):
            continue
        last = _chain(reader, page.folded, match)
        if (through := reader.range.match(page.folded, stop)) is not None:  # among A through E
            aside = through.end()
            continue
        before = _RULED_OUT.search(page.folded, max(0, start - 24), start) is not None
        if before or _IS_WRONG.match(page.folded, last):
            aside = last
            continue
        name = reader.by_key[match["label"].casefold()]
        found[name] = _Candidate((name,), start, stop, "loose:only_label")
    named = sorted(found.values(), key=lambda each: each.start)
    return named if named and named[-1].start >= _last_line(page.folded)[0] else None


def _stands_for_option(folded: str, match: re.Match[str]) -> bool:
    """In brackets, or a capital letter that is no word of the sentence."""
    start, stop = match.span("label")
    label = match["label"]
    if start and folded[start - 1] in "([（【" and folded[stop : stop + 1] in {")", "]", "】"}:
        return True
    if label[0].isdecimal() or label[0].islower() or _opens_line(folded, start, stop):
        return False
    return label.casefold() not in _ARTICLE or _TERMINATED.match(folded, stop) is not None


def _opens_line(folded: str, start: int, stop: int) -> bool:
    """`A: Let's think`: a mark, or an item of a list."""
    before = folded[max(0, start - 4) : start].rstrip(" *_")
    return folded[stop : stop + 2] == ": " and (before.endswith("\n") or not before)


def _chain(reader: _Reader, folded: str, match: re.Match[str]) -> int:
    """Where the last of the labels ends that are named together with this one (`A, C and D`)."""
    end = match.end("label")
    for _ in range(_CHAINED):
        following = reader.next.match(folded, end)
        if following is None:
            break
        end = following.end("label")
    return end


_CHAINED = 30
"""Labels of one enumeration that are looked at."""


_MARKED: tuple[_Stage, ...] = (_declared, _boxed, _whole, _phrases, _table, _verdicts)
_SEARCHED: tuple[_Stage, ...] = (_edges, _named_text, _only)
