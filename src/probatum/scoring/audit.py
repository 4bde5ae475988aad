"""How much of a score hangs on how answers were read: each response read again by every other rule.

A right answer that the parser loses is a wrong answer in the score, and nothing else shows it. The audit
says how often the task's own reading failed, which rule decided how often, where other rules read another
answer, and what the score would be in each case: bounds that show at once what a parser may have cost.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, Literal

from probatum.core.protocol import ProgramScorer, Scorer
from probatum.core.records import Finish, Item, Outcome, Response
from probatum.core.run import Sample
from probatum.core.status import END_TO_END, Status
from probatum.extraction import Extraction, Extractor
from probatum.extraction.alternatives import Alternative, alternatives
from probatum.scoring.answers import STATUS_OF
from probatum.scoring.exact import loose_text
from probatum.scoring.number import numbers_equal

__all__ = ["Example", "ExtractionAudit", "ReadingAudit", "RuleAudit", "audit_extraction"]

UNREAD: Final = (Status.NO_ANSWER, Status.TRUNCATED)
"""Statuses of a text in which the task's own rules found no answer."""
SHOWN: Final = 5  # examples of each kind
TAIL: Final = 240  # characters of a text's end that an example shows


@dataclass(frozen=True, kw_only=True)
class RuleAudit:
    """Samples in which one rule of the task's own extraction decided."""

    rule: str
    samples: int
    value: float | None
    """Mean score of those that were scored; a rule far below the others reads wrongly, or guesses."""


@dataclass(frozen=True, kw_only=True)
class ReadingAudit:
    """What one other reading makes of the same responses."""

    name: str
    kind: str
    """`marked`: it reads what the model marks as its answer. `search`: what stands first or last."""
    same: int
    """Both read the same answer."""
    different: int
    """Both read an answer, and not the same."""
    found: int
    """It reads an answer where the task's own reading failed."""
    lost: int
    """It fails where the task's own reading found an answer."""
    gained: int
    """Samples that are right by it and were not by the task's own reading."""
    value: float
    """The score by this reading; what it cannot read is wrong."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """One response that shows a failure or a disagreement."""

    kind: Literal["failure", "disagreement"]
    item_id: str
    sample: int
    targets: tuple[str, ...]
    status: str
    answer: str | None
    rule: str | None
    reason: str | None
    readings: Mapping[str, str]
    """Other reading → what it reads; those that agree with the task's own are left out."""
    right: tuple[str, ...]
    """Which of them are right."""
    text: str
    """The end of the response."""


@dataclass(frozen=True, kw_only=True)
class ExtractionAudit:
    """The audit of one task of a run. Scores are means over items, as the task's policy counts them."""

    task: str
    score: str
    """Which score is meant."""
    items: int
    samples: int
    """Samples that the policy counts."""
    statuses: Mapping[str, int]
    value: float | None
    """The score as it was reported; `None` where no sample counts."""
    rules: tuple[RuleAudit, ...] = ()
    readings: tuple[ReadingAudit, ...] = ()
    disagreements: int = 0
    """Samples in which a marked reading has another answer than the task's own."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """`no_answer_right`, `failures_right`: the score if every `no_answer` (and every `truncated`) were
    right. `failures_reread`: if each were what the best marked reading makes of it. `disagreements_low`,
    `disagreements_high`: if marked readings were followed where that is worse, or better. `low`, `high`:
    the worst and the best of all."""
    examples: tuple[Example, ...] = ()
    left_out: str | None = None
    """Why responses were not read again."""

    @property
    def failures(self) -> int:
        """Samples in which the task's own reading found no answer."""
        return sum(self.statuses.get(status.value, 0) for status in UNREAD)

    @property
    def failure_rate(self) -> float | None:
        """Their share of the samples that count."""
        return self.failures / self.samples if self.samples else None

    @property
    def at_stake(self) -> float | None:
        """By how much the score could be too low, at most, through failures of reading and disagreement."""
        return None if self.value is None else self.bounds.get("high", self.value) - self.value

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            **asdict(self),
            "failures": self.failures,
            "failure_rate": self.failure_rate,
            "at_stake": self.at_stake,
        }


def audit_extraction(
    samples: Iterable[Sample],
    scorer: Scorer | ProgramScorer | None,
    *,
    task: str,
    score: str | None = None,
    counted: frozenset[Status] = END_TO_END,
) -> ExtractionAudit:
    """Reads every response of a task again, by every other rule that fits its items.

    Args:
        samples: of one task, with their outcomes; streamed.
        scorer: the task's, for the form that was asked. Responses are read again where it has an
            extractor, or chooses among scorers that have one; `None` leaves that out.
        task: name of the task.
        score: which score is meant; the scorer's first by default.
        counted: statuses that the task's policy counts.
    """
    key = score or (scorer.scores[0] if scorer is not None and scorer.scores else "correct")
    tally = _Tally(key, counted)
    for sample in samples:
        tally.add(sample, _Reader.of(scorer, sample.item))
    return tally.audit(task, _why_not(scorer, tally))


def _why_not(scorer: Scorer | ProgramScorer | None, tally: _Tally) -> str | None:
    if tally.readings:
        return None
    if not tally.statuses:
        return "there is no sample"
    if scorer is None:
        return "the task is not at hand, so that its scorer is not known"
    if isinstance(scorer, ProgramScorer):
        return "programs are graded by running them"
    if not tally.readable:
        return "the scorer has no extractor to exchange"
    return "no response could be read again"


@dataclass(frozen=True)
class _Reader:
    """The scorer that reads an item's answers, and its extractor."""

    scorer: Scorer
    extractor: Extractor

    @classmethod
    def of(cls, scorer: object, item: Item) -> _Reader | None:
        """The innermost scorer with an extractor: wrappers name theirs `scorer`, choices `scorers`."""
        for _ in range(4):  # wrappers within wrappers
            names = {each.name for each in fields(scorer)} if is_dataclass(scorer) else set()
            if "extractor" in names and isinstance(scorer, Scorer):
                return cls(scorer, getattr(scorer, "extractor"))  # noqa: B009 - not every scorer has one
            if {"field", "scorers"} <= names:
                kind = item.fields.get(getattr(scorer, "field"))  # noqa: B009 - the same
                scorer = getattr(scorer, "scorers").get(kind)  # noqa: B009 - the same
            elif "scorer" in names:
                scorer = getattr(scorer, "scorer")  # noqa: B009 - the same
            else:
                return None
        return None

    def graded(self, other: Alternative, sample: Sample, responses: Sequence[Response]) -> Outcome | None:
        """The outcome if the other reading were the task's; `None` where it cannot take its place."""
        own = sample.outcome
        if own.status is Status.SCORED and responses[-1].finish is not Finish.LENGTH:
            found = other.extractor.extract(responses[-1].text, sample.item)
            if not isinstance(found, Extraction):
                return replace(own, status=Status.NO_ANSWER, scores={}, answer=None, reason=found.reason)
            if found.answer == own.answer:
                return own  # most readings of most texts: nothing to grade
        try:
            scorer = replace(self.scorer, extractor=other.extractor)  # type: ignore[type-var]
            return scorer.grade(sample.item, sample.outcome.sample, responses)
        except Exception:  # noqa: BLE001 - a scorer that needs its own kind of extractor says so in many ways
            return None


@dataclass
class _Counts:
    """One other reading, counted."""

    kind: str
    same: int = 0
    different: int = 0
    found: int = 0
    lost: int = 0
    gained: int = 0


class _Sums:
    """Sums of differences to the score as it was reported, an item at a time."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()
        self._own: dict[str, float] = {}
        self._more: dict[str, dict[str, float]] = {}

    def add(self, item: str, own: float, values: Mapping[str, float]) -> None:
        """One sample of an item: its score, and what it would be otherwise."""
        self.samples[item] += 1
        self._own[item] = self._own.get(item, 0.0) + own
        for name, value in values.items():
            more = self._more.setdefault(name, {})
            if value != own:
                more[item] = more.get(item, 0.0) + value - own

    def value(self, name: str | None = None) -> float | None:
        """The mean over items of the mean over samples; `None` without any."""
        more = self._more.get(name, {}) if name is not None else {}
        means = [(own + more.get(item, 0.0)) / self.samples[item] for item, own in self._own.items()]
        return math.fsum(means) / len(means) if means else None


class _Tally:
    """Counts over samples, as they are streamed."""

    def __init__(self, key: str, counted: frozenset[Status]) -> None:
        self.key, self.counted = key, counted
        self.statuses: Counter[str] = Counter()
        self.rules: dict[str, list[float]] = {}
        self.readings: dict[str, _Counts] = {}
        self.sums = _Sums()
        self.disagreements = 0
        self.readable = False
        self.examples: dict[tuple[str, bool], list[Example]] = {}

    def add(self, sample: Sample, reader: _Reader | None) -> None:
        """Counts one sample, and what every other reading makes of it."""
        outcome = sample.outcome
        self.statuses[outcome.status.value] += 1
        if outcome.status not in self.counted:
            return
        own = outcome.scores.get(self.key, 0.0)
        if outcome.rule is not None:
            scores = self.rules.setdefault(outcome.rule, [])
            scores += [own] if outcome.status is Status.SCORED else [math.nan]
        others = _others(sample, reader) if reader is not None else {}
        self.readable |= reader is not None
        self.sums.add(outcome.item_id, own, self._values(outcome, own, others))
        self._compare(sample, own, others)

    def _values(
        self, outcome: Outcome, own: float, others: Mapping[Alternative, Outcome]
    ) -> dict[str, float]:
        """Every score that the audit tells, for one sample."""
        failed = outcome.status in UNREAD
        scores = {other: others[other].scores.get(self.key, 0.0) for other in others}
        marked = [score for other, score in scores.items() if other.kind == "marked"]
        apart = [scores[each] for each in others if each.kind == "marked" and _apart(outcome, others[each])]
        low, high = min([own, *apart]), max([own, *apart])
        return {
            "no_answer_right": 1.0 if outcome.status is Status.NO_ANSWER else own,
            "failures_right": 1.0 if failed else own,
            "failures_reread": max([own, *marked]) if failed else own,
            "disagreements_low": low,
            "disagreements_high": high,
            "low": low,
            "high": 1.0 if failed else high,
            **{f"reading:{other.name}": score for other, score in scores.items()},
        }

    def _compare(self, sample: Sample, own: float, others: Mapping[Alternative, Outcome]) -> None:
        outcome = sample.outcome
        apart: dict[str, str] = {}
        right = []
        disagrees = False
        for other, read in others.items():
            counts = self.readings.setdefault(other.name, _Counts(other.kind))
            score = read.scores.get(self.key, 0.0)
            counts.gained += score > own
            if read.status is not Status.SCORED:
                counts.lost += outcome.status is Status.SCORED
                continue
            if outcome.status is not Status.SCORED:
                counts.found += 1
            elif _apart(outcome, read):
                counts.different += 1
                disagrees |= other.kind == "marked"
            else:
                counts.same += 1
                continue
            apart[other.name] = read.answer or ""
            right += [other.name] if score > own else []
        self.disagreements += disagrees
        if outcome.status in UNREAD or disagrees:
            kind: Literal["failure", "disagreement"] = "disagreement" if disagrees else "failure"
            self._show(sample, kind, apart, tuple(right))

    def _show(
        self,
        sample: Sample,
        kind: Literal["failure", "disagreement"],
        apart: Mapping[str, str],
        right: tuple[str, ...],
    ) -> None:
        """Keeps the first examples of each kind, apart by whether another reading is right."""
        kept = self.examples.setdefault((kind, bool(right)), [])
        if len(kept) < SHOWN:
            outcome = sample.outcome
            texts = [response.text for response in sample.responses if response is not None]
            example = Example(
                kind=kind,
                item_id=outcome.item_id,
                sample=outcome.sample,
                targets=sample.item.targets,
                status=outcome.status.value,
                answer=outcome.answer,
                rule=outcome.rule,
                reason=outcome.reason,
                readings=dict(apart),
                right=right,
                text=texts[-1][-TAIL:] if texts else "",
            )
            kept.append(example)

    def audit(self, task: str, left_out: str | None) -> ExtractionAudit:
        """What was counted."""
        names = ["no_answer_right", "failures_right"]
        if self.readings:
            names += ["failures_reread", "disagreements_low", "disagreements_high", "low", "high"]
        else:
            names += ["high"]
        bounds = {name: value for name in names if (value := self.sums.value(name)) is not None}
        examples = [
            each
            for kind in ("failure", "disagreement")
            for each in [*self.examples.get((kind, True), ()), *self.examples.get((kind, False), ())][:SHOWN]
        ]
        return ExtractionAudit(
            task=task,
            score=self.key,
            items=len(self.sums.samples),
            samples=self.sums.samples.total(),
            statuses={each.value: self.statuses[each.value] for each in Status if self.statuses[each.value]},
            value=self.sums.value(),
            rules=tuple(
                _rule(rule, scores)
                for rule, scores in sorted(self.rules.items(), key=lambda each: (-len(each[1]), each[0]))
            ),
            readings=tuple(
                ReadingAudit(name=name, value=self.sums.value(f"reading:{name}") or 0.0, **asdict(counts))
                for name, counts in self.readings.items()
            ),
            disagreements=self.disagreements,
            bounds=bounds,
            examples=tuple(examples),
            left_out=left_out,
        )


def _rule(rule: str, scores: Sequence[float]) -> RuleAudit:
    scored = [score for score in scores if not math.isnan(score)]
    value = math.fsum(scored) / len(scored) if scored else None
    return RuleAudit(rule=rule, samples=len(scores), value=value)


def _others(sample: Sample, reader: _Reader) -> dict[Alternative, Outcome]:
    """What every other reading makes of the responses; nothing where there is no text to read."""
    responses = [response for response in sample.responses if response is not None]
    if not responses or any(response.finish in STATUS_OF for response in responses):
        return {}
    if any(request.continuation is not None for request in sample.requests):
        return {}
    graded = {
        other: reader.graded(other, sample, responses)
        for other in alternatives(reader.extractor, sample.item)
    }
    return {other: outcome for other, outcome in graded.items() if outcome is not None}


def _apart(own: Outcome, other: Outcome) -> bool:
    """Whether both read an answer, and not the same one."""
    if own.status is not Status.SCORED or other.status is not Status.SCORED:
        return False
    if own.answer is None or other.answer is None or own.answer == other.answer:
        return False
    same = loose_text(own.answer) == loose_text(other.answer)
    return not same and not numbers_equal(own.answer, other.answer)
