"""The comparison of two runs or more: every task that they share, and what the whole says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from probatum.core.comparability import Comparability, comparability
from probatum.core.errors import UsageError
from probatum.runner.comparing.bridging import bridged, load_ends
from probatum.runner.comparing.naming import items_said, letter
from probatum.runner.comparing.pairing import Paired, Scores, load_scores, pair
from probatum.runner.comparing.pairs import Decision, PairComparison, adjusted, compare_pair, decide
from probatum.runner.comparing.protocols import protocol_differences
from probatum.runner.comparing.ranking import Ranking, rank
from probatum.runner.comparing.slicing import Labels, label_items, slice_pair
from probatum.runner.noise import noise_floor_of
from probatum.runner.result import EvaluatedRun

__all__ = ["Compared", "Comparison", "common_tasks", "compare"]

RANKED: Final = 3
"""So many runs are ranked; two are a pair."""
_OF_A_PAIR: Final = (
    "score",
    "higher_is_better",
    "difference",
    "p_value",
    "p_adjusted",
    "method",
    "wins",
    "losses",
    "ties",
    "detectable",
    "items",
    "differences",
)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A run, and the letter that it has in a comparison."""

    letter: str
    run: str
    model: str
    updated: str

    @classmethod
    def of(cls, sign: str, run: EvaluatedRun) -> Compared:
        """The run as comparisons name it."""
        model = f"{run.record.model.provider}/{run.record.model.name}"
        return cls(letter=sign, run=run.id, model=model, updated=run.record.updated)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs against the first of them, task by task."""

    runs: tuple[Compared, ...]
    pairs: tuple[PairComparison, ...]
    """Each other run against A, for each task that both have."""
    rankings: tuple[Ranking, ...]
    """Of three runs or more, one a task."""
    level: float
    anyway: bool
    notes: tuple[str, ...] = ()

    @property
    def comparability(self) -> Comparability:
        """The worst of the pairs."""
        order = list(Comparability)
        return max((each.comparability for each in self.pairs), key=order.index)

    @property
    def decided(self) -> bool:
        """Whether every pair could be compared."""
        return all(each.decision is not Decision.CANNOT for each in self.pairs)

    @property
    def verdict(self) -> str:
        """In words: of one pair its own, of several how many say what."""
        if len(self.pairs) == 1:
            return self.pairs[0].verdict
        return "; ".join(f"{_where(each, self)}{each.verdict}" for each in self.pairs)

    def plain(self) -> dict[str, Any]:
        """As JSON data. What belongs to one pair stands at the top where there is one; else in `pairs`."""
        pairs = [each.plain() for each in self.pairs]
        only = pairs[0] if len(pairs) == 1 else dict.fromkeys(_OF_A_PAIR)
        return {
            "verdict": self.verdict,
            "comparability": self.comparability.value,
            "anyway": self.anyway,
            "bridged": any(pair.bridge is not None for pair in self.pairs),
            "level": self.level,
            "runs": list(self.runs),
            **{name: only[name] for name in _OF_A_PAIR},
            "pairs": pairs,
            "rankings": [each.plain() for each in self.rankings],
            "notes": list(self.notes),
        }


def compare(
    *runs: EvaluatedRun,
    task: str | Sequence[str] | None = None,
    score: str | None = None,
    answered: bool = False,
    level: float = 0.95,
    anyway: bool = False,
    by: Sequence[str] = (),
    bridge: tuple[EvaluatedRun, EvaluatedRun] | None = None,
) -> Comparison:
    """Compares runs with the first of them, paired by item id and clustered as the task declares.

    Differences are B - A on the items that both have, with CR2 intervals; p is McNemar's exact test for
    independent 0/1 scores, else of the sign-flip test over clusters, and is corrected by Holm for all pairs
    of the comparison. Runs that are not comparable get no numbers, unless `anyway` asks for them.

    Args:
        runs: two or more, each with its store.
        task: compares these tasks alone; `None`: all that the first run shares with another one.
        score: which score; `None`: that of each task's first metric.
        answered: counts answers alone, rather than what the task's policy counts.
        level: of the intervals; 1 - level is the level of the tests.
        anyway: compares what is not comparable, and marks it.
        by: slices of the items to compare in as well (see `slicing.label_items`), corrected together.
        bridge: of two runs that are not comparable: two runs of one model, asked as A was and as B was. The
            protocols' difference that they show is taken off, and its uncertainty added.

    Raises:
        UsageError: fewer than two runs, one run twice, no common task, no such task, score or field, or a
            bridge that does not join the two.
    """
    chosen = common_tasks(runs, task, level)
    if bridge is not None and (len(runs) > 2 or anyway):  # noqa: PLR2004 - a bridge has two ends
        other = "--anyway takes the protocols' difference in" if anyway else f"there are {len(runs)} runs"
        raise UsageError(f"a bridge joins two runs and takes the protocols' difference off, and {other}")
    named = [(letter(place), run) for place, run in enumerate(runs)]
    pairs: list[PairComparison] = []
    rankings: list[Ranking] = []
    for name in chosen:
        loaded = [
            (sign, load_scores(run, name, score, answered=answered))
            for sign, run in named
            if name in _names(run)
        ]
        first, *others = loaded
        wanted = _Wanted(level, answered, anyway, label_items(first[1], by), bridge)
        made = [_compared(first, other, wanted) for other in others]
        pairs += [one for one, _ in made]
        if len(loaded) >= RANKED:
            changed = frozenset(item for one, _ in made for item in one.changed)
            worst = _all_comparable(loaded)
            ranking = rank(loaded, changed, level) if anyway or worst is not Comparability.REFUSED else None
            if ranking is not None:
                rankings.append(replace(ranking, anyway=worst is Comparability.REFUSED))
    return Comparison(
        runs=tuple(Compared.of(sign, run) for sign, run in named),
        pairs=_decided(pairs, level),
        rankings=tuple(rankings),
        level=level,
        anyway=anyway,
        notes=tuple(_not_shared(named, chosen) if task is None else ()),
    )


def common_tasks(runs: Sequence[EvaluatedRun], task: str | Sequence[str] | None, level: float) -> list[str]:
    """The tasks that the first run shares with another one, or those of them that are asked for.

    Raises:
        UsageError: fewer than two runs, one run twice, a level out of range, no common task or no such task.
    """
    _check(runs, level)
    return _tasks(runs, task)


def _check(runs: Sequence[EvaluatedRun], level: float) -> None:
    if len(runs) < 2:  # noqa: PLR2004 - a comparison
        raise UsageError(f"{len(runs)} run to compare: give two or more")
    if not 0 < level < 1:
        raise UsageError(f"level {level!r} is out of range: use a share between 0 and 1, such as 0.95")
    ids = [run.id for run in runs]
    for run in ids:
        if ids.count(run) > 1:
            raise UsageError(f"run {run} is given twice: a run equals itself; give two different runs")


def _names(run: EvaluatedRun) -> list[str]:
    return [task.task for task in run.record.tasks]


def _tasks(runs: Sequence[EvaluatedRun], task: str | Sequence[str] | None) -> list[str]:
    """The tasks that the first run shares with another one, or those that are asked for."""
    first, *others = runs
    elsewhere = {name for run in others for name in _names(run)}
    shared = [name for name in _names(first) if name in elsewhere]
    if task is None:
        if not shared:
            listed = "; ".join(f"{run.id} has {', '.join(_names(run))}" for run in runs)
            raise UsageError(f"the runs have no task in common ({listed}): compare runs of the same task")
        return shared
    wanted = [task] if isinstance(task, str) else list(task)
    for name in wanted:
        if name not in shared:
            raise UsageError(f"task {name!r} is not in both runs; in common: {', '.join(shared) or 'none'}")
    return list(dict.fromkeys(wanted))


def _not_shared(named: Sequence[tuple[str, EvaluatedRun]], chosen: Sequence[str]) -> list[str]:
    alone = {sign: [name for name in _names(run) if name not in chosen] for sign, run in named}
    return [
        f"not compared, since A has no partner for it: {', '.join(names)} of {sign}"
        for sign, names in alone.items()
        if names
    ]


@dataclass(frozen=True)
class _Wanted:
    """What a comparison is asked for, on one task."""

    level: float
    answered: bool
    anyway: bool
    labels: tuple[Labels, ...]
    bridge: tuple[EvaluatedRun, EvaluatedRun] | None


def _compared(
    first: tuple[str, Scores], second: tuple[str, Scores], wanted: _Wanted
) -> tuple[PairComparison, Paired]:
    """One pair, without the verdict: that waits for the other pairs' p-values."""
    (a, left), (b, right) = first, second
    differences = protocol_differences(left.run.record, left.record, right.run.record, right.record)
    paired = pair(left, right)
    faults = [f"{sign} is INVALID: {fault}" for sign, scores in (first, second) for fault in scores.faults]
    kind = Comparability.REFUSED if faults else comparability(differences)
    if kind is Comparability.SAME and (paired.only_a or paired.only_b or paired.changed):
        kind = Comparability.NOTED
    found = PairComparison(
        task=left.record.task,
        a=a,
        b=b,
        score=left.score,
        higher_is_better=left.higher_is_better,
        comparability=kind if paired.ids else Comparability.REFUSED,
        differences=differences,
        notes=(*faults, *_notes(a, left, b, right, paired)),
        anyway=wanted.anyway and kind is Comparability.REFUSED,
        common=paired.common,
        paired=len(paired.ids),
        only_a=paired.only_a,
        only_b=paired.only_b,
        changed=paired.changed,
        missing={_lettered(reason, a, b): count for reason, count in paired.missing.items()},
    )
    if faults and not wanted.anyway:
        return replace(found, verdict=f"{Decision.CANNOT}: {faults[0]}"), paired
    if not paired.ids:
        why = "no item of both runs has a score" if paired.common else "the runs have no item in common"
        return replace(found, verdict=f"{Decision.CANNOT}: {why}"), paired
    if wanted.bridge is not None:
        ends = load_ends(left, right, wanted.bridge, answered=wanted.answered)
        contrast, joined = bridged(left, right, ends, wanted.level)
        return replace(found, contrast=contrast, bridge=joined), paired
    if kind is Comparability.REFUSED and not wanted.anyway:
        worst = next(each for each in differences if each.kind is kind)
        return replace(found, verdict=f"{Decision.CANNOT}: {worst.meaning} ({worst.field})"), paired
    contrast, strata = compare_pair(left, paired, wanted.level)
    slicings = slice_pair(left, paired, wanted.labels, wanted.level)
    return replace(found, contrast=contrast, strata=strata, slicings=slicings), paired


def _lettered(reason: str, a: str, b: str) -> str:
    return reason.replace(" of A ", f" of {a} ").replace(" of B ", f" of {b} ")


def _notes(a: str, left: Scores, b: str, right: Scores, paired: Paired) -> list[str]:
    """What the numbers do not show by themselves."""
    notes = []
    for sign, names in ((a, paired.only_a), (b, paired.only_b)):
        if names:
            verb = "is" if len(names) == 1 else "are"
            notes.append(f"{items_said(len(names))} {verb} only in {sign}, and not compared: {_some(names)}")
    if paired.changed:
        verb, plural = ("has", "is") if len(paired.changed) == 1 else ("have", "are")
        notes.append(
            f"{items_said(len(paired.changed))} {verb} one id and two contents, and {plural} not compared: "
            f"{_some(paired.changed)}"
        )
    notes += [
        f"{_lettered(reason, a, b)} for {count} common {'item' if count == 1 else 'items'}: "
        "in no difference, and in its bounds"
        for reason, count in paired.missing.items()
    ]
    for sign, scores in ((a, left), (b, right)):
        if scores.graded < scores.record.planned:
            state = scores.run.record.state.value
            notes.append(f"{sign} is {state}: {scores.graded} of {scores.record.planned} samples are graded")
        noise = noise_floor_of(scores.record)
        if noise is not None and noise.score_name == scores.score and noise.noise_high is not None:
            notes.append(
                f"asking {sign} again moves its {scores.score} by {noise.noise:.4f}, at most "
                f"{noise.noise_high:.4f} (noise floor); the intervals include it"
            )
    return notes


def _some(names: Sequence[str], most: int = 3) -> str:
    listed = ", ".join(repr(name) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def _all_comparable(loaded: Sequence[tuple[str, Scores]]) -> Comparability:
    """The worst class among all pairs; a run that breaks an invariant can be compared with none."""
    scores = [one for _, one in loaded]
    if any(one.faults for one in scores):
        return Comparability.REFUSED
    found = [
        each
        for place, one in enumerate(scores)
        for other in scores[place + 1 :]
        for each in protocol_differences(one.run.record, one.record, other.run.record, other.record)
    ]
    return comparability(tuple(found))


def _decided(pairs: Sequence[PairComparison], level: float) -> tuple[PairComparison, ...]:
    """All pairs with their verdicts, their p-values corrected for each other."""
    contrasts = [each.contrast for each in pairs if each.contrast is not None]
    corrected = iter(adjusted(contrasts))
    return tuple(
        each
        if each.contrast is None
        else decide(replace(each, contrast=next(corrected)), level, len(contrasts))
        for each in pairs
    )


def _where(pair: PairComparison, comparison: Comparison) -> str:
    several = len({each.task for each in comparison.pairs}) > 1
    runs = f"{pair.b} against {pair.a}" if len(comparison.runs) >= RANKED else ""
    return "".join(f"{part}: " for part in (pair.task if several else "", runs) if part)
