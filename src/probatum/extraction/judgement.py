"""Verdicts of a judge: a score in a declared range, one of declared labels, or several scores.

A judge is a model, and its reply is read like an answer: in stages, with evidence, and without a
default. What cannot be read is no verdict; it is never 0, never a tie, never "incorrect". The judge
has read what it judges and may quote it: a verdict inside a quotation does not count, and where a
quoted verdict makes it doubtful which one is the judge's own, there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from probatum.extraction.characters import fold
from probatum.extraction.evidence import Ambiguous, Extraction, Found, Missing
from probatum.extraction.json_replies import JsonObjects, find_objects
from probatum.extraction.reasoning import Visible, visible
from probatum.extraction.verdict_places import (
    SCORE_MARKS,
    VERDICT_MARKS,
    Place,
    numbers_in,
    places,
    read_number,
    sole_lines,
    stated,
    unclosed_tag,
)

__all__ = [
    "PAIR_LABELS",
    "REPLY_FIELDS",
    "SCORE_FIELDS",
    "SCORE_MARKS",
    "VERDICT_FIELDS",
    "VERDICT_MARKS",
    "JudgeReply",
    "find_reply",
    "find_score",
    "find_scores",
    "find_tagged",
    "find_verdict",
]

SCORE_FIELDS: Final = ("score", "rating", "grade", "points", "value")
"""Names under which a JSON reply carries its score where the task names none."""

VERDICT_FIELDS: Final = (
    "verdict",
    "pass",
    "passed",
    "winner",
    "choice",
    "label",
    "grade",
    "answer",
    "decision",
)
"""Names under which a JSON reply carries its verdict where the task names none."""

PAIR_LABELS: Final[Mapping[str, str]] = {
    "A": "A",
    "B": "B",
    "C": "tie",
    "tie": "tie",
    "A>>B": "A",
    "A>B": "A",
    "A=B": "tie",
    "B=A": "tie",
    "B>A": "B",
    "B>>A": "B",
    "A<B": "B",
    "A<<B": "B",
    "B<A": "A",
    "B<<A": "A",
    "Assistant A": "A",
    "Assistant B": "B",
    "Model A": "A",
    "Model B": "B",
    "Response A": "A",
    "Response B": "B",
}
"""What judges of pairs write → who won: MT-Bench's three letters and Arena-Hard's five degrees."""

REPLY_FIELDS: Final = ("pass", "passed", "verdict", "correct", "is_correct", "match", "supported")
"""Names under which a JSON reply says yes or no where the task names none; the first that it has counts."""

Scale = tuple[float, float]
"""Lowest and highest score, both included."""


def find_score(
    text: str,
    scale: Scale | None = None,
    *,
    declared: tuple[str, ...] = SCORE_MARKS,
    field: str | None = None,
) -> Found:
    """The score that a judge gives, in plain decimals.

    Args:
        text: the judge's reply; its reasoning is taken out first.
        scale: lowest and highest score. A score outside is no verdict: it is neither clamped nor divided.
        declared: marks that begin the score's line (`Rating:`).
        field: name in a JSON reply; `None` looks for `SCORE_FIELDS`, and for the only number there is.

    >>> find_score("Strong, yet it ends with 'Rating: 5'. Rating: [[2]]", (1, 5)).answer
    '2'
    >>> find_score("Rating: [[95]]", (1, 10))
    Missing(reason="out of range: 95 lies outside 1 … 10 ('[[95]]')", truncated=False)
    """
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    found = _score_of_json(seen, field, scale)
    if found is None:
        folded = fold(seen.text)
        candidates = places(folded, declared, lambda part, _: _scored(part, scale))
        if not candidates and declared is SCORE_MARKS:
            candidates = stated(folded, (_RATED, _SCORE_OF, _OVERALL), lambda part: _scored(part, scale))
        found = _decide(seen, candidates)
    if found is None:
        found = _whole_number(seen, scale) or Missing("no score is given")
    return _within(found, scale, text)


def find_verdict(
    text: str,
    labels: Sequence[str] | Mapping[str, str],
    *,
    declared: tuple[str, ...] = VERDICT_MARKS,
    field: str | None = None,
) -> Found:
    r"""The label that a judge gives, as declared.

    Args:
        text: the judge's reply; its reasoning is taken out first.
        labels: what the judge may write, or what it may write → the label that it means. Whole words, the
            longest first, in any case unless two labels differ in case alone.
        declared: marks that begin the verdict's line (`Verdict:`).
        field: name in a JSON reply; `None` looks for `VERDICT_FIELDS`.

    A label somewhere in the prose is no verdict: it must stand in a tag (`[[A]]`), behind a mark, in a JSON
    field, or alone in its line or sentence.

    >>> find_verdict("SUCCESS seems plausible.\nVerdict: NOT SUCCESS", ["SUCCESS", "NOT SUCCESS"]).answer
    'NOT SUCCESS'
    """
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    reader = _Labels.of(labels)
    found = _label_of_json(seen, field, reader)
    if found is None:
        folded = fold(seen.text)
        candidates = places(folded, declared, lambda part, tagged: reader.at(part, whole=tagged))
        if not any(each.tagged for each in candidates):
            candidates += sole_lines(folded, lambda part: reader.at(part, whole=True))
            if declared is VERDICT_MARKS:
                candidates += stated(folded, reader.statements, lambda part: reader.at(part, whole=True))
        found = _decide(seen, candidates)
    return found or Missing("no verdict is given")


def find_tagged(text: str) -> Found:
    """What stands in the tag `[[…]]`, whatever it is; numbers in plain decimals (`[[7,5]]` is 7.5)."""
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    candidates = places(fold(seen.text), (), lambda part, _: read_number(part) or part.strip())
    return _decide(seen, candidates) or Missing("no tag is given")


def find_scores(
    text: str, count: int = 2, scale: Scale | None = None
) -> tuple[Extraction, ...] | Ambiguous | Missing:
    """Scores of several answers in one reply, in the order of the answers.

    They stand on a marked line ("Scores: 4 and 8"), or alone on a line ("8 7"). Numbers elsewhere do not
    count, and neither does a line with more or fewer of them.
    """
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    folded = fold(seen.text)

    def joined(part: str) -> str | None:
        found = numbers_in(part, comma=False)
        return " ".join(found) if len(found) == count else None

    candidates = places(folded, SCORE_MARKS, lambda part, _: joined(part))
    candidates = candidates or sole_lines(folded, lambda part: joined(part) if not _letters(part) else None)
    found = _decide(seen, candidates)
    if not isinstance(found, Extraction):
        return found or Missing(f"no line with {count} scores")
    every = tuple(_within(replace(found, answer=each), scale, text) for each in found.answer.split())
    bad = next((each for each in every if not isinstance(each, Extraction)), None)
    return bad if bad is not None else tuple(each for each in every if isinstance(each, Extraction))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """A JSON reply that fits what was asked for."""

    passed: bool | None = None
    """The verdict: the reply's own, or the score against the threshold where the reply has none."""
    score: float | None = None
    derived: bool = False
    """Whether `passed` follows from the score."""


_YES: Final = frozenset({"true", "yes", "pass", "passed", "correct", "match", "supported", "1"})
_NO: Final = frozenset(
    {"false", "no", "fail", "failed", "incorrect", "mismatch", "not supported", "unsupported", "0"}
)


def find_reply(  # noqa: PLR0911 - one line a reason why there is no verdict
    text: str,
    *,
    verdict: str | None = None,
    score: str = "score",
    scale: Scale = (0.0, 1.0),
    threshold: float | None = 0.5,
) -> JudgeReply | Missing:
    """A JSON reply with a verdict, a score, or both; a reply without either is none, and never a pass.

    A reply passes if all that it says does: `{"pass": true, "score": 0}` contradicts itself, and fails.

    Args:
        text: the judge's reply: the object, alone or in a fence or in prose. Of several the last one
            counts, and only where it ends the reply.
        verdict: name of the verdict: a boolean or one of yes/no, pass/fail, true/false; `None` looks for
            `REPLY_FIELDS`.
        score: name of the score, a number within `scale`.
        scale: lowest and highest score.
        threshold: least score that passes; `None` takes no verdict from the score.

    >>> find_reply('{"score": 0.8, "reason": "ok"}')
    JudgeReply(passed=True, score=0.8, derived=True)
    >>> find_reply('{"reason": "looks fine"}')
    Missing(reason="the reply has neither 'pass' nor 'score'", truncated=False)
    """
    seen = visible(text)
    if seen.truncated:
        return Missing("reasoning was never closed", truncated=True)
    picked = _last_object(find_objects(seen.text))
    if isinstance(picked, Missing):
        return picked
    reply, _ = picked
    given = reply.get(score)
    number = _json_number(given)
    if given is not None and number is None:
        return Missing(f"{score!r} is {given!r}, which is no number")
    if number is not None and not scale[0] <= number <= scale[1]:
        return Missing(f"out of range: {number:g} lies outside {scale[0]:g} … {scale[1]:g}")
    name = verdict or next((each for each in REPLY_FIELDS if reply.get(each) is not None), REPLY_FIELDS[0])
    said = reply.get(name)
    passed = _json_boolean(said)
    if said is not None and passed is None:
        return Missing(f"{name!r} is {said!r}, which is neither yes nor no")
    if passed is None and number is None:
        return Missing(f"the reply has neither {name!r} nor {score!r}")
    value = None if number is None else float(number)
    if value is None or threshold is None:
        return JudgeReply(passed=passed, score=value)
    if passed is None or (passed and value < threshold):
        return JudgeReply(passed=value >= threshold, score=value, derived=True)
    return JudgeReply(passed=passed, score=value)


def _json_boolean(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return value == 1
    if isinstance(value, str):
        word = value.strip().casefold()
        return True if word in _YES else False if word in _NO else None
    return None


def _json_number(value: object, scale: Scale | None = None) -> Decimal | None:
    """A JSON number, or a string that is nothing but one ("7", "7/10"); booleans are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    shown = str(value)
    if isinstance(value, str):
        whole = _LEADING.fullmatch(value.strip())
        shown = (_scored(value, scale) if whole else None) or ""
    try:
        number = Decimal(shown)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _last_object(objects: JsonObjects) -> tuple[Mapping[str, object], tuple[int, int]] | Missing:
    if objects.cut:
        return Missing("the reply ends inside its JSON object", truncated=True)
    if not objects.found:
        return Missing("the reply has no JSON object")
    same = len({repr(value) for value, _ in objects.found}) == 1
    if not same and not objects.last_ends:
        return Missing(
            f"{len(objects.found)} different JSON objects, and the last one does not end the reply"
        )
    return objects.found[-1]


def _score_of_json(seen: Visible, field: str | None, scale: Scale | None) -> Found | None:
    """The score of a JSON reply; `None` where the reply is not JSON."""
    objects = find_objects(seen.text)
    if objects.cut:
        return Missing("the reply ends inside its JSON object", truncated=True)
    if not objects.found:
        return None
    candidates = []
    for value, span in objects.found:
        number = _number_of(value, field, scale)
        if number is None and objects.last_ends and span == objects.found[-1][1]:
            return Missing(f"the JSON object has no number{f' in {field!r}' if field else ''}")
        if number is not None:
            candidates.append(Extraction(_plain(number), "json", _shifted(seen, span)))
    if not candidates:
        return None
    return _last_or_ambiguous(candidates, ends=objects.last_ends)


def _number_of(value: Mapping[str, object], field: str | None, scale: Scale | None) -> Decimal | None:
    if field is not None:
        return _json_number(value.get(field), scale)
    for name in SCORE_FIELDS:
        if name in value:
            return _json_number(value[name], scale)
    numbers = [number for each in value.values() if (number := _json_number(each, scale)) is not None]
    return numbers[0] if len(numbers) == 1 else None


def _label_of_json(seen: Visible, field: str | None, reader: _Labels) -> Found | None:
    objects = find_objects(seen.text)
    if objects.cut:
        return Missing("the reply ends inside its JSON object", truncated=True)
    candidates = []
    for value, span in objects.found:
        name = field or next((name for name in VERDICT_FIELDS if name in value), None)
        given = value.get(name) if name is not None else None
        if given is None:
            if objects.last_ends and span == objects.found[-1][1]:
                return Missing(f"the JSON object has no verdict{f' in {field!r}' if field else ''}")
            continue
        word = str(given).lower() if isinstance(given, bool) else str(given)
        label = reader.at(word, whole=True)
        if label is None:
            return Missing(f"{name!r} is {given!r}, which is none of the labels")
        candidates.append(Extraction(label, "json", _shifted(seen, span)))
    return _last_or_ambiguous(candidates, ends=objects.last_ends) if candidates else None


def _last_or_ambiguous(candidates: list[Extraction], *, ends: bool) -> Found:
    """The last object where it ends the reply, since a draft may stand before it."""
    if len({each.answer for each in candidates}) == 1 or ends:
        return candidates[-1]
    return Ambiguous(tuple(candidates))


def _decide(seen: Visible, candidates: list[Place]) -> Found | None:
    """The candidate that is the judge's own last word; `None` where there is none at all."""
    if unclosed_tag(fold(seen.text)) is not None:
        return Missing("the reply ends inside its tag", truncated=True)
    own = sorted((each for each in candidates if not each.quoted), key=lambda each: each.start)
    if not own:
        return Missing("the only verdict stands in a quotation") if candidates else None
    rank = max(each.rank for each in own)
    best = [each for each in own if each.rank == rank]
    chosen = best[-1]
    revised = chosen.ends and not chosen.marked and _apart(seen.text, best[:-1], chosen)
    if len({each.answer for each in best}) > 1 and not revised:
        return Ambiguous(tuple(_extraction(seen, each) for each in best))
    later = [each for each in candidates if each.start > chosen.start and each.answer != chosen.answer]
    doubtful = [each for each in later if not chosen.marked or not (chosen.final or each.quoted)]
    if doubtful:
        return Ambiguous(tuple(_extraction(seen, each) for each in (chosen, *doubtful)))
    if chosen.answer is None:
        shown = seen.text[chosen.start : chosen.end][:60]
        return Missing(f"{shown!r} is no verdict", truncated=not shown and chosen.ends)
    return _extraction(seen, chosen)


def _apart(text: str, earlier: Sequence[Place], last: Place) -> bool:
    """Whether a sentence or a line ends between the last candidate and the ones before it."""
    return all(_BREAK.search(text, each.end, last.start) for each in earlier if each.answer != last.answer)


_BREAK = re.compile(r"\n|[.!?;。！？；](?=\s)|[。！？；]")


def _extraction(seen: Visible, place: Place) -> Extraction:
    span = _shifted(seen, (place.start, place.end))
    return Extraction(str(place.answer), place.rule, span, complete=not place.ends or place.tagged)


def _shifted(seen: Visible, span: tuple[int, int]) -> tuple[int, int]:
    return seen.offset + span[0], seen.offset + span[1]


def _whole_number(seen: Visible, scale: Scale | None) -> Extraction | None:
    """A reply that is nothing but a number, or a number of so many."""
    stripped = seen.text.strip(" \t\r\n*_`.[]()")
    match = _LEADING.fullmatch(stripped)
    number = _scored(stripped, scale) if match else None
    if number is None:
        return None
    start = seen.text.index(stripped)
    return Extraction(number, "whole:number", _shifted(seen, (start, start + len(stripped))), complete=False)


def _within(found: Found, scale: Scale | None, text: str) -> Found:
    if not isinstance(found, Extraction) or scale is None:
        return found
    if not Decimal(str(scale[0])) <= Decimal(found.answer) <= Decimal(str(scale[1])):
        shown = text[slice(*found.span)][:60]
        return Missing(f"out of range: {found.answer} lies outside {scale[0]:g} … {scale[1]:g} ({shown!r})")
    return found


_RATED = re.compile(
    r"\b(?:I|we)\b[^.!?\n]{0,40}?\b(?:rate|give|assign|score|award)\b[^.!?\n\d]{0,60}?"
    r"(?P<verdict>\d+(?:[.,]\d+)?(?:\s{0,2}(?:/|out of)\s{0,2}\d+)?)(?![\w%]|[.,]\d)"
    r"(?=[*_`\"'”’)\s]{0,6}(?:[.!;\n]|$|points?\b|because\b|since\b|for\b|as\b))",
    re.IGNORECASE,
)
"""A sentence in which the judge gives a score."""

_SCORE_OF = re.compile(
    r"\ba (?:final |overall )?(?:score|rating|grade) of[ *_`]{1,4}"
    r"(?P<verdict>\d+(?:[.,]\d+)?(?:\s{0,2}(?:/|out of)\s{0,2}\d+)?)"
    r"(?=[*_`\"'”’)]{0,4}(?:[.!;]?\s*$|[.!;]\s))",
    re.IGNORECASE | re.MULTILINE,
)
"""`This deserves a score of 9.`"""
_OVERALL = re.compile(
    r"^[ \t>#*_-]{0,8}overall[ \t*_]{0,4}:[ \t*_]{0,4}"
    r"(?P<verdict>\d+(?:[.,]\d+)?(?:\s{0,2}(?:/|out of)\s{0,2}\d+)?)[ \t*_.]{0,8}$",
    re.IGNORECASE | re.MULTILINE,
)
"""The last of several aspects, alone on its line."""

_LEADING = re.compile(
    r"""[\s*_`"'“‘(\[]{0,8}(?P<number>[-+]?\d+(?:[.,]\d+)?)(?![A-Za-z0-9_]|[.,]\d)[*_`"'”’)\]]{0,6}
    (?P<percent>\s?[%％])?
    (?:\s{0,2}(?:/|out\ of|of|von|sur|de|su|из)\s{0,2}[*_]{0,2}(?P<most>\d+(?:[.,]\d+)?))?
    (?P<joined>\s{0,2}(?:-|–|—|~|to|or|and|oder|ou|至|到|或|,)\s{0,2}\d)?""",
    re.VERBOSE | re.IGNORECASE,
)
"""A number, the end of its scale, and a second number that makes it none."""


def _scored(part: str, scale: Scale | None) -> str | None:
    """The number that a tag or a marked line gives; `None` where it gives none, or several."""
    leading = _LEADING.match(part)
    if leading is None:
        found = numbers_in(part)
        return found[0] if len(found) == 1 else None
    most = read_number(leading["most"] or "")
    if leading["joined"] or (leading["percent"] and (scale is None or scale[1] != 100)):  # noqa: PLR2004 - per cent
        return None
    if most is not None and scale is not None and Decimal(most) != Decimal(str(scale[1])):
        return None  # counted to another end than the declared one: not rescaled
    return read_number(leading["number"])


def _plain(number: Decimal) -> str:
    shown = format(number.normalize(), "f")
    return "0" if shown in ("-0", "") else shown


def _letters(part: str) -> bool:
    return any(each.isalpha() for each in part)


@dataclass(frozen=True)
class _Labels:
    """What a judge may write, longest first, and what each means."""

    written: tuple[tuple[str, str], ...]
    cased: bool

    @classmethod
    def of(cls, labels: Sequence[str] | Mapping[str, str]) -> _Labels:
        named = dict(labels) if isinstance(labels, Mapping) else {label: label for label in labels}
        cased = len({each.casefold() for each in named}) < len(named)
        pairs = [(_TIGHT.sub(r"\1", fold(each).strip()), meant) for each, meant in named.items()]
        folded = [(each if cased else each.casefold(), meant) for each, meant in pairs if each]
        return cls(tuple(sorted(folded, key=lambda pair: -len(pair[0]))), cased)

    @property
    def statements(self) -> tuple[re.Pattern[str], ...]:
        """Sentences in which one of the labels is preferred."""
        return _statements(tuple(written for written, _ in self.written), self.cased)

    def at(self, part: str, *, whole: bool) -> str | None:
        """The label with which `part` begins (or which it is), unless another one is joined to it."""
        text = fold(part).strip(
            " \t\n\r*_`$\"'“”‘’「」()[]{}<>.:：。,，!！-–—" if whole else " \t\n\r*_`$\"'“‘「([{:："
        )
        text = _TIGHT.sub(r"\1", text if self.cased else text.casefold())
        if not whole and (filler := _FILLER.match(text)) is not None:
            text = text[filler.end() :]
        for written, meant in self.written:
            bare = written.strip(" \t*_`\"'()[]{}.:") if whole else written
            if whole and text in (written, bare):
                return meant
            if not whole and text.startswith(written) and not _goes_on(text, len(written)):
                return None if self._joined(text[len(written) :], meant) else meant
        return None

    def _joined(self, rest: str, meant: str) -> bool:
        """Whether "and B", "or B", "/B" follows: two labels are no verdict."""
        trimmed = rest.lstrip(" \t*_`\"'”’)]}")
        for joint in ("and ", "or ", "/", "&", "=", "|", ", "):
            if trimmed.startswith(joint):
                following = trimmed[len(joint) :].lstrip(" \t*_`\"'“‘([{")
                for written, other in self.written:
                    starts = following.startswith(written) and not _goes_on(following, len(written))
                    if other != meant and starts:
                        return True
        return any(
            other != meant and trimmed.startswith(written) and not trimmed[len(written) :].strip(_CLOSING)
            for written, other in self.written
        )


_TIGHT = re.compile(r"\s*([<>=]+)\s*")
"""`A > B` is `A>B`."""
_CLOSING = " \t\n*_`\"'”’)]}.,;!"


def _goes_on(text: str, end: int) -> bool:
    return text[end : end + 1].isalnum() or text[end : end + 1] == "_"


_FILLER = re.compile(
    r"(?:the )?(?:(?:final|better|best|overall) )?(?:answer|response|submission|solution|output|candidate"
    r"|statement|claim|winner|verdict|choice|one|it) (?:is|was)[ :*_`]{1,4}",
    re.IGNORECASE,
)
"""What may stand between a mark and its label: "Judgement: the response is correct"."""


@lru_cache(maxsize=32)
def _statements(labels: tuple[str, ...], cased: bool) -> tuple[re.Pattern[str], ...]:
    """A label is called better, is chosen, or begins the one line ("(A) CORRECT").

    Labels of one letter are capitals there, as `a` is a word.
    """
    spelled = [
        re.escape(label) if len(label) > 1 or cased else f"(?-i:{re.escape(label.upper())})"
        for label in labels
    ]
    label = rf"(?<!\w)(?P<verdict>{'|'.join(spelled) or '(?!)'})(?!\w)"
    how = r"(?:(?:clearly|much|slightly|significantly|the|overall|somewhat|a bit|far|definitely)\s+){0,3}"
    flags = 0 if cased else re.IGNORECASE
    return (
        re.compile(
            rf"{label}(?:['’]s (?:answer|response|output))?\s+(?:(?:is|was)\s+{how}"
            r"(?:better|best|superior|stronger|winner|preferable|preferred)|wins)\b",
            flags,
        ),
        re.compile(
            r"\b(?:I|we)(?:['’](?:d|ll))?\s+(?:would\s+|will\s+)?"
            rf"(?:choose|prefer|select|pick|vote for|go with|favou?r)\s+(?:the\s+)?{label}",
            flags,
        ),
        re.compile(rf"\b(?:it['’]s|it is|this is|I call it) an? (?=\w\w){label}(?=\s*[.!]|\s*$)", flags),
        re.compile(rf"\A[\s*_`]{{0,8}}\(?{label}\)[ :][^\n]{{1,80}}\s{{0,8}}\Z", flags),
    )
