"""From the score of A to that of B, one change at a time.

The first steps change how A's kept responses are counted: the items that both runs have, B's gold answers,
B's extraction and scoring, B's denominator. No model is asked. What still differs is what the models said;
the next steps take B's responses in place of A's, class by class of items. Each step is the difference of two
scores, so that all of them add up.

The order is that of this list. What a step adds may hang on it: where two changes act on the same items, the
earlier one is given what both do together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from probatum import stats
from probatum.core.comparability import Difference
from probatum.core.errors import ProtocolError
from probatum.core.protocol import Task
from probatum.core.records import Item, Mark, Outcome
from probatum.core.run import Sample
from probatum.core.status import Status
from probatum.runner.comparing.pairing import Scores
from probatum.runner.comparing.parting import Parting, Trace
from probatum.runner.comparing.regrading import Rules, regraded, rules_of
from probatum.scoring.tally import Denominator, units

__all__ = ["Pair", "Path", "Stage", "walk", "within"]

_LEFT: Final = "read or graded otherwise, beyond what could be graded again"
_CONTENT: Final = "another question under the same id"

Values = Mapping[str, "float | None"]
"""Item → its mean score; `None` where it is in no denominator."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One change on the way from A's score to B's."""

    name: str
    score: float
    """After it."""
    change: float
    """What it adds."""
    items: int
    """Items whose score it changes, or that it leaves out or brings in."""
    low: float | None = None
    high: float | None = None
    """Of `change`, over items; `None` where items come or go."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """The stages in order; the first is A's own score, with a change of 0."""

    stages: tuple[Stage, ...]
    rest: float
    """B - A less the sum of all changes: 0 but for rounding."""
    notes: tuple[str, ...] = ()
    """What could not be graded again, and why."""


@dataclass(frozen=True)
class Pair:
    """What is known of two runs of one task, stage by stage."""

    first: Scores
    second: Scores
    traces: Mapping[str, Trace]
    """Of A, by item."""
    others: Mapping[str, Trace]
    """Of B."""
    recipe: Sequence[Difference] = ()
    definition: Task | None = None
    """The task, where it is no benchmark of the package."""
    asked: bool = True
    """Whether it is known what was asked in both; of answers made elsewhere it is not."""

    @property
    def common(self) -> list[str]:
        """Ids that are in a denominator or a bound of both."""
        return [name for name in self.first.units if name in self.second.units]

    def same_requests(self, item: str) -> bool:
        """Whether both runs asked the same for an item, byte for byte, as far as is known."""
        return not self.asked or self.traces[item].requests == self.others[item].requests

    def other_content(self, item: str) -> bool:
        """Whether one id has two contents."""
        return self.traces[item].content != self.others[item].content


@dataclass(frozen=True)
class _Graded:
    """A's responses on the common items, by more and more of B's rules."""

    golds: Values
    rules: Values
    counted: Values
    statuses: Mapping[str, Counter[Status]]
    """Item → statuses of its samples, by B's rules."""
    notes: tuple[str, ...]


def walk(pair: Pair, level: float) -> Path | None:
    """The way from A's score to B's; `None` where one of them has no score, or no item is common.

    Args:
        pair: the two runs.
        level: of the intervals.
    """
    first, second = pair.first, pair.second
    common = pair.common
    a, b = _values(first), _values(second)
    if first.mean is None or second.mean is None or not common:
        return None
    here = {name: a[name] for name in common}
    graded = _graded(pair, here)
    walking = _Walking(pair, level, first.mean, a)
    walking.stages.append(Stage(name="A", score=first.mean, change=0.0, items=len(a)))
    walking.step("without the items that only A has", here)
    walking.step("gold answers of B, on A's responses", graded.golds)
    walking.step("extraction and scoring of B, on A's responses", graded.rules)
    walking.step("denominator of B", graded.counted)
    for name, chosen in _classes(pair, graded.statuses):
        walking.step(name, {**walking.values, **{item: b[item] for item in chosen}})
    walking.step("with the items that only B has", b)
    total = second.mean - first.mean
    return Path(
        stages=tuple(walking.stages),
        rest=total - math.fsum(stage.change for stage in walking.stages),
        notes=graded.notes,
    )


@dataclass
class _Walking:
    """Where the walk stands."""

    pair: Pair
    level: float
    score: float
    values: Values
    stages: list[Stage] = field(default_factory=list)

    def step(self, name: str, after: Values) -> None:
        """Takes these values in place of the present ones; a step that changes none is left out."""
        before, score = self.values, self._mean(after)
        score = (
            self.score if score is None else score
        )  # nothing is counted on the way: the next step has it all
        came = before.keys() ^ after.keys()
        changed = [item for item in before.keys() & after.keys() if before[item] != after[item]]
        if came or changed:
            low, high = (None, None) if came else self._limits(before, after)
            self.stages.append(
                Stage(
                    name=name,
                    score=score,
                    change=score - self.score,
                    items=len(came) + len(changed),
                    low=low,
                    high=high,
                )
            )
        self.values, self.score = after, score

    def _weight(self, item: str) -> float:
        for scores in (self.pair.first, self.pair.second):
            if scores.weights is not None and item in scores.weights:
                return scores.weights[item]
        return 1.0

    def _mean(self, values: Values) -> float | None:
        counted = {item: value for item, value in values.items() if value is not None}
        if not counted:
            return None
        return float(np.average(list(counted.values()), weights=[self._weight(item) for item in counted]))

    def _limits(self, before: Values, after: Values) -> tuple[float | None, float | None]:
        pairs = [(item, before[item], after[item]) for item in before]
        counted = [(item, one, other) for item, one, other in pairs if one is not None and other is not None]
        if len(counted) < sum(one is not None or other is not None for _, one, other in pairs):
            return None, None
        changes = np.array([other - one for _, one, other in counted])
        weights = np.array([self._weight(item) for item, _, _ in counted])
        clusters = [self.pair.first.units[item].cluster for item, _, _ in counted]
        found = stats.mean_interval(changes * weights / weights.mean(), clusters=clusters, level=self.level)
        rates = all(0 <= value <= 1 for _, one, other in counted for value in (one, other))
        return within(found.low, found.high, rates=rates)


def within(low: float | None, high: float | None, *, rates: bool) -> tuple[float | None, float | None]:
    """Limits of a change: of rates it is from -1 to 1, which t at few clusters does not know.

    >>> within(-6.9, 5.9, rates=True), within(-6.9, None, rates=False)
    ((-1.0, 1.0), (-6.9, None))
    """
    if not rates or low is None or high is None:
        return low, high
    return max(low, -1.0), min(high, 1.0)


def _values(scores: Scores) -> dict[str, float | None]:
    return {name: unit.mean if unit.counted else None for name, unit in scores.units.items()}


def _graded(pair: Pair, here: Values) -> _Graded:
    """A's responses under B's golds, rules and denominator, as far as today's code has them."""
    first, second = pair.first, pair.second
    ours, theirs = (rules_of(one.record, pair.definition) for one in (first, second))
    golds = {item for item in here if pair.same_requests(item) and pair.other_content(item)}
    reread = ours.recipe != theirs.recipe
    notes = _not_applied(ours, theirs, golds=len(golds), reread=reread)
    regold = bool(golds) and ours.scorer is not None
    reread = reread and theirs.scorer is not None and ours.form == theirs.form
    if first.weights is not None or not (regold or reread):
        return _unchanged(pair, here, notes)
    items = _items(second, golds)
    marks: tuple[list[Mark], list[Mark]] = ([], [])
    unknown = 0
    for sample in first.run.store.samples(first.run.id, first.record.task):
        if sample.item.id not in here:
            continue
        item = items.get(sample.item.id, sample.item)
        with_golds: Outcome | None = sample.outcome
        if regold and ours.scorer is not None and sample.item.id in golds:
            with_golds = regraded(sample, item, ours.scorer, first.run.store)
        with_rules = with_golds
        if reread and theirs.scorer is not None:
            with_rules = regraded(sample, item, theirs.scorer, first.run.store)
        unknown += with_golds is None or with_rules is None
        marks[0].append(_mark(sample, with_golds or sample.outcome))
        marks[1].append(_mark(sample, with_rules or with_golds or sample.outcome))
    if unknown:
        notes.append(
            f"{unknown} samples of A would have to be executed to be graded so, and stay as they are; "
            "`probatum rescore` executes them"
        )
    name = second.score if reread else first.score
    try:
        return _Graded(
            golds=_means(marks[0], first.score, first.denominator, here),
            rules=_means(marks[1], name, first.denominator, here),
            counted=_means(marks[1], name, second.denominator, here),
            statuses=_statuses(marks[1]),
            notes=tuple(notes),
        )
    except ProtocolError as error:
        return _unchanged(
            pair, here, [*notes, f"A's responses could not be graded by the rules of B: {error}"]
        )


def _unchanged(pair: Pair, here: Values, notes: Sequence[str]) -> _Graded:
    """Where nothing is graded again: B's denominator alone."""
    first, second = pair.first, pair.second
    marks = list(first.run.store.marks(first.run.id, first.record.task))
    counted = here
    if first.denominator != second.denominator and first.weights is None:
        counted = _means(marks, first.score, second.denominator, here)
    return _Graded(here, here, counted, _statuses(marks), tuple(notes))


def _not_applied(ours: Rules, theirs: Rules, *, golds: int, reread: bool) -> list[str]:
    notes = []
    if golds and ours.scorer is None:
        notes.append(f"A was not graded against the gold answers of B: {ours.missing}")
    if reread and ours.form != theirs.form:
        notes.append("asked in two forms: what A said cannot be read as B is")
    elif reread and theirs.scorer is None:
        notes.append(f"A was not graded by the rules of B: {theirs.missing}")
    return notes


def _items(scores: Scores, wanted: set[str]) -> dict[str, Item]:
    if not wanted:
        return {}
    samples = scores.run.store.samples(scores.run.id, scores.record.task)
    return {sample.item.id: sample.item for sample in samples if sample.item.id in wanted}


def _mark(sample: Sample, outcome: Outcome) -> Mark:
    item = sample.item
    return Mark(item.id, outcome.sample, outcome.status, outcome.scores, item.cluster, item.stratum)


def _means(marks: Sequence[Mark], score: str, denominator: Denominator, here: Values) -> Values:
    found = {unit.item_id: unit for unit in units(marks, score, denominator)}
    return {
        item: unit.mean if (unit := found.get(item)) is not None and unit.counted else None for item in here
    }


def _statuses(marks: Sequence[Mark]) -> dict[str, Counter[Status]]:
    found: dict[str, Counter[Status]] = {}
    for mark in marks:
        found.setdefault(mark.item_id, Counter())[mark.status] += 1
    return found


def _classes(pair: Pair, graded: Mapping[str, Counter[Status]]) -> Iterator[tuple[str, list[str]]]:
    """Common items by why their responses differ, and by what became of these."""
    second = pair.second
    theirs = _statuses(list(second.run.store.marks(second.run.id, second.record.task)))
    found: dict[tuple[int, int], list[str]] = {}
    names: dict[tuple[int, int], str] = {}
    for item in pair.common:
        place, name = _why(pair, item)
        kind, words = _became(graded[item], theirs[item]) if name != _LEFT else (0, "")
        found.setdefault((place, kind), []).append(item)
        names[place, kind] = f"{name}: {words}" if words else name
    for key in sorted(found):
        yield names[key], found[key]


def _why(pair: Pair, item: str) -> tuple[int, str]:
    one, other = pair.traces[item], pair.others[item]
    if pair.same_requests(item):
        return (3, Parting.ANSWER.value) if one.responses != other.responses else (4, _LEFT)
    if pair.other_content(item):
        return 0, _CONTENT
    if one.prompts != other.prompts:
        return 1, Parting.PROMPT + _fields(pair.recipe, "prompts differ")
    return 2, Parting.SAMPLING + _fields(pair.recipe, "decoding differs", "the sample budgets differ")


def _fields(recipe: Sequence[Difference], *meanings: str) -> str:
    named = [each.field for each in recipe if each.meaning.startswith(meanings)]
    return f" ({', '.join(dict.fromkeys(named))})" if named else ""


def _became(one: Counter[Status], other: Counter[Status]) -> tuple[int, str]:
    samples, others = one.total(), other.total()  # shares, since the two may differ in samples an item
    differ = [status for status in one | other if one[status] * others != other[status] * samples]
    if Status.TRUNCATED in differ:
        return 1, "truncated in one run"
    if not differ:
        return 3, "" if set(one) <= {Status.SCORED} else "the same status"
    return 2, "another status"
