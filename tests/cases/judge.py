"""Judges: replies, structured replies, grades, and a judge that fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from multidict import CIMultiDict

from probatum.core.records import Finish, Item, Response
from probatum.core.status import FAULTS, Status
from probatum.extraction import PatternAnswer
from probatum.extraction.evidence import Ambiguous, Found, Missing
from probatum.extraction.judgement import (
    JudgeReply,
    find_reply,
    find_score,
    find_scores,
    find_tagged,
    find_verdict,
)
from probatum.extraction.short import find_declared
from probatum.models.openai.failures import read_failure
from probatum.models.openai.verdicts import Transient
from probatum.prompting.judging import neutralise, show_answer
from probatum.prompting.templates import render
from probatum.scoring.judged import claim_support, grade_values, judged_outcome
from tests.cases.frame import Given, NotMappedError, Said, agree, operation, refusal

NO_VERDICT = (
    "unscored",
    "parse failure",
    "grader error",
    "judge error",
    "error",
    "failure",
    "null",
    "no verdict",
)
"""How right values say that a reply holds none."""


@dataclass(frozen=True)
class NoVerdict:
    reason: str
    truncated: bool = False

    def __str__(self) -> str:
        return f"no verdict ({self.reason})"


def same_verdict(ours: Any, expected: Any) -> bool:
    """A verdict by value; none where the right value says so, for the reason that it names."""
    if isinstance(ours, list) and isinstance(expected, list):
        return len(ours) == len(expected) and all(map(same_verdict, ours, expected))
    if not isinstance(expected, str):
        return expected is None if isinstance(ours, NoVerdict) else agree(ours, expected)
    offered = [part.strip(" (") for part in re.split(r"[;,(]|\bor\b|\belse\b", expected)]
    if isinstance(ours, NoVerdict):
        for word, said in (("out of range", "out of range" in ours.reason), ("truncated", ours.truncated)):
            if word in expected and not said:
                return False
        return any(part.startswith(NO_VERDICT) for part in offered)
    if isinstance(ours, int | float):
        return any(re.match(rf"{ours:g}(?![\d.])", part) for part in offered)
    return bool(ours == expected)


def value_of(found: Found | JudgeReply, given: Given | None = None) -> Any:
    if isinstance(found, JudgeReply):
        return "pass" if found.passed else "fail"
    if isinstance(found, Missing | Ambiguous):
        return NoVerdict(found.reason, isinstance(found, Missing) and found.truncated)
    if given is not None and given.get("finish_reason") == "length" and not found.complete:
        return NoVerdict("the reply ran out of tokens in its verdict", truncated=True)
    return plain(found.answer)


def plain(answer: str) -> Any:
    if re.fullmatch(r"-?\d+", answer):
        return int(answer)
    return float(answer) if re.fullmatch(r"-?\d+\.\d+", answer) else answer


def scale_of(given: Given) -> tuple[float, float] | None:
    return tuple(given["scale"]) if "scale" in given else None


def reader_of(given: Given) -> Callable[[str], Found]:
    """How a case wants its replies read: by labels, by a mark or pattern, on a scale, or by the tag alone."""
    scale, labels, pattern = scale_of(given), given.get("labels"), given.get("pattern")
    if labels is not None:
        marks = {"declared": (pattern,)} if pattern else {}
        return lambda text: find_verdict(text, labels, field=given.get("field"), **marks)
    if pattern is not None and re.search(r"[\\(\[]", pattern):
        answer = PatternAnswer(pattern=pattern, take="only")
        return lambda text: answer.extract(text, Item(id="", fields={}))
    if pattern is not None:
        return lambda text: find_declared(text, (pattern,), "only")
    return lambda text: find_score(text, scale, field=given.get("field"))


@operation("parse_judge", unused=("candidate", "answer", "prompt"), agrees=same_verdict)
def parse_judge(given: Given) -> Any:
    text = given["text"] or ""
    if given.get("two_scores"):
        found = find_scores(text, 2, scale_of(given))
        if isinstance(found, tuple):
            return dict(zip("ab", (plain(each.answer) for each in found), strict=True))
        return value_of(found)
    return value_of(reader_of(given)(text), given)


@operation("parse_judge_many", agrees=same_verdict)
def parse_judge_many(given: Given) -> list[Any]:
    known = {"labels", "pattern", "scale", "field"} & set(given)
    read = reader_of(given) if known else find_tagged
    return [value_of(read(text or "")) for text in given["texts"]]


@operation("parse_judge_json", "parse_judge_json_many", agrees=same_verdict)
def parse_judge_json_many(given: Given) -> Any:
    need, scale = given.get("need"), scale_of(given) or (0.0, 1.0)
    if need is None:
        options = {"threshold": given["threshold"]} if "threshold" in given else {}
        read: Callable[[str], Any] = lambda text: find_reply(text, scale=scale, **options)  # noqa: E731 - one of two
    else:
        read = lambda text: find_score(text, scale, field=need)  # noqa: E731 - one of two
    if "text" in given:
        return value_of(read(given["text"]))
    return [value_of(read(text)) for text in given["texts"]]


@operation("render_candidate")
def render_candidate(given: Given) -> str:
    return neutralise(show_answer(given["output"])).text


def no_verdict_is_left(ours: str, expected: Any) -> bool:
    """The text itself, or prose that says that its verdict tokens no longer are any."""
    words = r"neutrali[sz]ed|escaped|delimited|no verdict|not parsed"
    said = isinstance(expected, str) and re.search(words, expected)
    return isinstance(find_tagged(ours), Missing) if said else agree(ours, expected)


@operation("neutralise", "neutralize", "sanitise_candidate", "judge_prompt", agrees=no_verdict_is_left)
def neutralised(given: Given) -> str:
    answer = next((given[name] for name in ("candidate", "output", "answer", "text") if name in given), None)
    return neutralise(show_answer(answer), given.get("tokens", ())).text


@operation("faithfulness", "claim_support")
def faithfulness(given: Given) -> Any:
    asked = given["statements"] if "statements" in given else given["claims"]
    count = asked if isinstance(asked, int) else len(asked)
    return refusal(lambda: claim_support(count, given["verdicts"]).rate)


@operation("judge_outcome")
def judge_outcome(given: Given) -> Said:
    """Every attempt failed with a status; what the last one means is the outcome."""
    statuses: Sequence[int] = given["http"]
    if any(200 <= status < 300 for status in statuses):
        raise NotMappedError("an attempt that succeeded has no body here")
    failures = [read_failure(status, CIMultiDict(), b"", None) for status in statuses]
    finish = failures[-1].finish if isinstance(failures[-1], Transient) else Finish.MODEL_ERROR
    outcome = judged_outcome("item", 0, Response(request="r", finish=finish), None, {})
    if outcome.status is Status.JUDGE_ERROR and outcome.status in FAULTS and not outcome.scores:
        return Said("judge_failed", f"asked again: {outcome.reason}")
    return Said(outcome.status.value)


@operation("grade_to_float")
def grade_to_float(given: Given) -> Any:
    named = next((name for name in ("map", "values", "mapping") if name in given), None)
    values: Mapping[str, Mapping[str, float]] = {} if named is None else {"values": given[named]}
    return refusal(lambda: grade_values(given["labels"], **values))


@operation("render_rubric", "render_template", "render_prompt", "fill_template")
def render_rubric(given: Given) -> Any:
    """A prompt with a name that nothing fills is an error, never sent as it stands."""
    template = next((given[name] for name in ("template", "prompt", "rubric") if name in given), None)
    values = next((given[name] for name in ("values", "vars", "variables", "fields") if name in given), {})
    if template is None:
        raise NotMappedError("no template is given")
    return refusal(lambda: render(template, values))
