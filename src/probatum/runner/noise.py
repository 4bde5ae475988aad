"""The noise floor: how far a model agrees with itself when the same is asked twice.

Whatever the sample of items, a score is no more repeatable than the answers are. Kernels whose additions
change their order with the batch, servers that route to other machines and seeds that are not honoured all
move a score between two runs of one recipe. Asking a share of the samples twice shows by how much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import msgspec

from probatum import stats
from probatum.core.errors import StoreError
from probatum.core.protocol import SCORED_FORMS, Protocol
from probatum.core.records import Estimate, Response
from probatum.core.run import Sample, TaskRun
from probatum.core.status import Status
from probatum.scoring.tally import end_to_end

__all__ = ["LogProbabilities", "NoiseFloor", "noise_floor", "noise_floor_of", "told_noise"]

NAMED: Final = 20
"""Items that changed are named up to this number."""


@dataclass(frozen=True, kw_only=True)
class LogProbabilities:
    """Log-probabilities of the same continuations, twice; natural logarithms, of whole continuations."""

    requests: int
    max_difference: float
    """The largest absolute difference."""
    median_difference: float
    top: Estimate | None
    """How often the likeliest continuation of a sample stays so; `None` where samples have one alone."""


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """What asking a share of the samples a second time showed. None of it is in any score."""

    share: float
    """Of the answered samples, as it was asked for."""
    samples: int
    """Asked again."""
    of: int
    """Samples that they were chosen from."""
    answered: int
    """Those of `samples` that were answered the second time as well: all estimates are over them."""
    requests: int
    completion_tokens: int
    """That the second answers took."""
    decoding: str
    """`greedy`, `sampled`, or `scored`: nothing is generated."""
    reproducible: bool
    """Whether the backend claims that the same request is answered alike whatever else is asked."""
    conditions: str
    """Under which the model might have answered alike, in words."""
    text: Estimate | None
    """How often the whole text is the same; `None` where nothing is generated."""
    answer: Estimate | None
    """How often the extracted answer is the same."""
    score: Estimate | None
    """How often the score is the same; what is counted as wrong has the score 0."""
    change: Estimate | None
    """Score of the second answers minus that of the first: 0, but for noise."""
    score_name: str | None
    noise: float | None
    """Standard deviation that asking alone gives to the score of the whole run."""
    noise_high: float | None
    """Its upper limit, from that of the mean squared change."""
    standard_error: float | None
    """Of the run's score: what the choice of the items gives to it, and asking."""
    log_probabilities: LogProbabilities | None
    changed: tuple[str, ...]
    """Ids of items whose text, answer or score changed; up to 20."""
    level: float

    @property
    def something_changed(self) -> bool:
        """Whether the second answers score otherwise than the first, more than chance explains."""
        change = self.change
        if change is None or change.low is None or change.high is None:
            return False
        return not change.low <= 0 <= change.high


@dataclass(frozen=True)
class _Twice:
    """One sample and its second self."""

    first: Sample
    second: Sample

    @property
    def item(self) -> str:
        return self.first.item.id


def noise_floor(
    first: Iterable[Sample],
    second: Iterable[Sample],
    protocol: Protocol,
    *,
    share: float,
    of: int,
    reproducible: bool,
    estimate: Estimate | None,
    level: float,
) -> NoiseFloor:
    """Holds second answers against the first.

    Args:
        first: samples of the run; streamed.
        second: those that were asked again, with their second answers and outcomes.
        protocol: whose first metric names the score.
        share: of the samples, as it was asked for.
        of: samples that they were chosen from.
        reproducible: whether the backend claims that a seed gives one text.
        estimate: the run's first, whose standard error is held beside the noise.
        level: of the intervals.
    """
    again = {(one.position, one.outcome.sample): one for one in second}
    both = [
        _Twice(one, other)
        for one in first
        if (other := again.get((one.position, one.outcome.sample))) is not None
    ]
    pairs = [pair for pair in both if None not in (*pair.first.responses, *pair.second.responses)]
    scored = protocol.form in SCORED_FORMS
    name = _score_name(protocol)
    rated = [] if name is None else _rated(pairs, protocol, name)
    squares = _squares(rated, level)
    total = 0 if estimate is None else round(estimate.n * protocol.samples)
    shown = estimate if name is not None else None
    return NoiseFloor(
        share=share,
        samples=len(again),
        of=of,
        answered=len(pairs),
        requests=sum(len(one.requests) for one in again.values()),
        completion_tokens=sum(map(_completion_tokens, again.values())),
        decoding=_decoding(protocol),
        reproducible=reproducible,
        conditions=_conditions(protocol, reproducible=reproducible),
        text=None if scored else _agreement("text the same", [(p.item, _same_text(p)) for p in pairs], level),
        answer=_answers(pairs, level),
        score=_agreement(f"{name} the same", [(item, a == b) for item, a, b in rated], level),
        change=_change(f"{name}: second - first", rated, level),
        score_name=name,
        noise=_deviation(None if squares is None else squares.value, total),
        noise_high=_deviation(None if squares is None else squares.high, total),
        standard_error=None if shown is None else shown.se,
        log_probabilities=_log_probabilities(pairs, level) if scored else None,
        changed=_changed(pairs, name, scored=scored),
        level=level,
    )


def _completion_tokens(sample: Sample) -> int:
    return sum(response.completion_tokens or 0 for response in sample.responses if response is not None)


def noise_floor_of(task: TaskRun) -> NoiseFloor | None:
    """The noise floor that stands in a task's summary; `None` where nothing was asked twice.

    Raises:
        StoreError: it is not of the form that this version writes.
    """
    found = task.summary.get("noise_floor")
    try:
        return None if found is None else msgspec.convert(found, NoiseFloor)
    except msgspec.ValidationError as error:
        raise StoreError(
            f"the noise floor of task {task.task!r} cannot be read ({error}): another version wrote it; start"
            " the run again: what was asked is kept"
        ) from None


def told_noise(found: NoiseFloor) -> tuple[str, ...]:
    """The noise floor in lines that people read."""
    what = "generated" if found.log_probabilities is None else "scored"
    tokens = f", {found.completion_tokens} tokens {what}" if found.completion_tokens else ""
    asked = f"asked again: {found.samples} of {found.of} samples ({found.requests} requests{tokens})"
    lines = [f"{asked}, in no score; {found.conditions}"]
    if found.answered < found.samples:
        lines.append(f"{found.samples - found.answered} of them were not answered the second time")
    same = [each for each in (found.text, found.answer, found.score) if each is not None]
    lines += [f"{each.name}: {_shown(each)}" for each in same]
    if (likely := found.log_probabilities) is not None:
        lines.append(
            f"log-probabilities of {likely.requests} continuations differ by {likely.median_difference:.2g} "
            f"(median), {likely.max_difference:.2g} at most"
        )
        if likely.top is not None:
            lines.append(f"{likely.top.name}: {_shown(likely.top)}")
    if found.noise is not None and found.noise_high is not None:
        beside = (
            "" if found.standard_error is None else f", beside a standard error of {_4(found.standard_error)}"
        )
        lines.append(
            f"noise floor: asking again moves {found.score_name} by {_4(found.noise)} "
            f"(standard deviation; at most {_4(found.noise_high)}){beside}"
        )
    if found.something_changed and found.change is not None:
        change = found.change
        limits = f"[{change.low:+.4f}, {change.high:+.4f}]"
        lines.append(
            f"the second answers score otherwise: {change.value:+.4f} {limits}; something changed between "
            "the two"
        )
    return tuple(lines)


def _4(value: float) -> str:
    return f"{value:.4f}"


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "cannot tell"
    limits = (
        "" if estimate.low is None or estimate.high is None else f" [{_4(estimate.low)}, {_4(estimate.high)}]"
    )
    return f"{_4(estimate.value)}{limits} of {estimate.n}"


def _decoding(protocol: Protocol) -> str:
    if protocol.form in SCORED_FORMS:
        return "scored"
    return "greedy" if protocol.sampling.temperature == 0 else "sampled"


def _conditions(protocol: Protocol, *, reproducible: bool) -> str:
    if _decoding(protocol) == "scored":
        return "nothing is sampled"
    if _decoding(protocol) == "greedy":
        claim = "claims" if reproducible else "does not claim"
        return f"greedy; the backend {claim} to answer the same whatever else is asked"
    if reproducible:
        return "sampled with the same seeds; the backend claims that a seed gives one text"
    return (
        "sampled with the same seeds; the backend does not claim that a seed gives one text, so each may "
        "be another draw"
    )


def _score_name(protocol: Protocol) -> str | None:
    """The score of the first metric, where it is a mean of scores from 0 to 1."""
    name = next((getattr(metric, "score", None) for metric in protocol.task.metrics), None)
    return name if isinstance(name, str) and name in protocol.scorer.scores else None


def _rated(pairs: Sequence[_Twice], protocol: Protocol, name: str) -> list[tuple[str, float, float]]:
    """Item, first and second score, where both are in the denominator."""
    counted = end_to_end(protocol.task.policy).counted

    def value(sample: Sample) -> float | None:
        outcome = sample.outcome
        if outcome.status not in counted:
            return None
        return outcome.scores.get(name) if outcome.status is Status.SCORED else 0.0

    found = [(pair.item, value(pair.first), value(pair.second)) for pair in pairs]
    return [
        (item, a, b)
        for item, a, b in found
        if a is not None and b is not None and 0 <= a <= 1 and 0 <= b <= 1
    ]


def _same_text(pair: _Twice) -> bool:
    return _said(pair.first.responses) == _said(pair.second.responses)


def _said(responses: Sequence[Response | None]) -> list[tuple[str, str]]:
    return [(one.text, one.finish.value) for one in responses if one is not None]


def _answers(pairs: Sequence[_Twice], level: float) -> Estimate | None:
    """Agreement of what was extracted; `None` of tasks that extract nothing."""
    read = [(pair.item, pair.first.outcome.answer, pair.second.outcome.answer) for pair in pairs]
    if not any(a is not None or b is not None for _, a, b in read):
        return None
    return _agreement("answer the same", [(item, a == b) for item, a, b in read], level)


def _agreement(name: str, same: Sequence[tuple[str, bool]], level: float) -> Estimate | None:
    if not same:
        return None
    items = [item for item, _ in same]
    return _estimate(name, _interval([float(one) for _, one in same], items, level), level)


def _interval(values: Sequence[float], items: Sequence[str], level: float) -> stats.Interval:
    """Wilson where every item has one sample and all is 0 or 1; else the mean over items."""
    if len(set(items)) == len(items) and all(value in (0, 1) for value in values):
        return stats.proportion_interval(round(sum(values)), len(values), level=level)
    return stats.mean_interval(values, clusters=items, level=level, bounds=(0.0, 1.0))


def _change(name: str, rated: Sequence[tuple[str, float, float]], level: float) -> Estimate | None:
    if not rated:
        return None
    items = [item for item, _, _ in rated]
    changes = [b - a for _, a, b in rated]
    return _estimate(
        name, stats.mean_interval(changes, clusters=items, level=level, bounds=(-1.0, 1.0)), level
    )


def _squares(rated: Sequence[tuple[str, float, float]], level: float) -> stats.Interval | None:
    """Mean squared change: twice the variance that asking gives to one sample."""
    if not rated:
        return None
    return _interval([(b - a) ** 2 for _, a, b in rated], [item for item, _, _ in rated], level)


def _deviation(square: float | None, samples: int) -> float | None:
    return None if square is None or not samples else math.sqrt(square / 2 / samples)


def _estimate(name: str, found: stats.Interval, level: float) -> Estimate:
    return Estimate(
        name=name,
        value=found.value,
        low=found.low,
        high=found.high,
        level=level,
        method=found.method,
        n=found.n,
        clusters=found.clusters,
        se=found.se,
        df=found.df,
        denominator="asked again",
        warnings=found.warnings,
    )


def _log_probabilities(pairs: Sequence[_Twice], level: float) -> LogProbabilities | None:
    sums = [
        (pair.item, _likelihoods(pair.first.responses), _likelihoods(pair.second.responses)) for pair in pairs
    ]
    differences = [
        abs(a - b)
        for _, first, second in sums
        for a, b in zip(first, second, strict=True)
        if a is not None and b is not None
    ]
    if not differences:
        return None
    tops = [
        (item, _top(first) == _top(second))
        for item, first, second in sums
        if len(first) > 1 and None not in (*first, *second)
    ]
    return LogProbabilities(
        requests=len(differences),
        max_difference=max(differences),
        median_difference=median(differences),
        top=_agreement("likeliest continuation the same", tops, level),
    )


def _likelihoods(responses: Sequence[Response | None]) -> list[float | None]:
    return [
        None if response is None or response.logprobs is None else math.fsum(response.logprobs)
        for response in responses
    ]


def _top(likelihoods: Sequence[float | None]) -> frozenset[int]:
    """The likeliest, several where they tie."""
    known = [-math.inf if one is None else one for one in likelihoods]
    return frozenset(place for place, one in enumerate(known) if one == max(known))


def _changed(pairs: Sequence[_Twice], name: str | None, *, scored: bool) -> tuple[str, ...]:
    def seen(sample: Sample) -> tuple[Any, ...]:
        outcome = sample.outcome
        score = outcome.scores.get(name) if name is not None else None
        return outcome.status, outcome.answer, score, [] if scored else _said(sample.responses)

    found: Mapping[str, None] = dict.fromkeys(
        pair.item for pair in pairs if seen(pair.first) != seen(pair.second)
    )
    return tuple(found)[:NAMED]
