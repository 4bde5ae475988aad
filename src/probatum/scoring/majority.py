"""maj@k and best-of-k: one answer of an item out of its first k samples.

maj@k (self-consistency, Wang et al. 2023, arXiv:2203.11171) lets the samples vote. Which answers are the
same vote is the task's to say (`equal`): "1/2" and "0.5" are one answer or two. Ties are the common case
at small k, and three rules for them give three scores, so the rule is named.

Marks carry no answers: these work on outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from probatum import stats
from probatum.core.errors import UsageError
from probatum.core.records import Estimate, Outcome
from probatum.core.status import Status

__all__ = ["Ballot", "Equivalence", "Ties", "best_of_k", "majority_at_k", "majority_vote", "same_text"]

Equivalence = Callable[[str, str], bool]
"""Whether two answers are the same vote."""

Ties = Literal["expected", "first"]
"""`expected`: the mean score of the tied answers, as if one were drawn; `first`: the one seen first."""


@dataclass(frozen=True)
class Ballot:
    """How the samples of one item voted."""

    winners: tuple[int, ...]
    """Index of the first vote for each answer that has most votes, in the order seen; empty without votes."""
    votes: int
    """Votes for each of the winners."""
    cast: int
    """Votes for any answer."""
    answers: int
    """Different answers."""

    @property
    def tied(self) -> bool:
        """Whether several answers have most votes."""
        return len(self.winners) > 1


def same_text(first: str, second: str) -> bool:
    """Whether two answers are the same characters: the poorest equivalence, and the commonest."""
    return first == second


def majority_vote(answers: Sequence[str | None], equal: Equivalence = same_text) -> Ballot:
    """Counts votes; `None` is no vote.

    An answer joins the first answer seen that it equals, so that `equal` should be an equivalence.

    >>> majority_vote(["7", "8", "8", None, "7"])
    Ballot(winners=(0, 1), votes=2, cast=4, answers=2)
    """
    counts: dict[int, int] = {}
    known: dict[str, int] = {}
    for index, answer in enumerate(answers):
        if answer is None:
            continue
        place = known.get(answer)
        if place is None:
            place = next((first for first in counts if equal(str(answers[first]), answer)), index)
            known[answer] = place
        counts[place] = counts.get(place, 0) + 1
    most = max(counts.values(), default=0)
    winners = tuple(place for place, count in counts.items() if count == most)
    return Ballot(winners, most, sum(counts.values()), len(counts))


_LEFT_OUT = frozenset({Status.JUDGE_UNKNOWN, Status.JUDGE_ERROR, Status.GRADER_ERROR, Status.INFRA_ERROR})
"""Our own failures: an item with one among its k samples has no known vote."""


def majority_at_k(
    outcomes: Iterable[Outcome],
    k: int,
    *,
    equal: Equivalence = same_text,
    score: str = "correct",
    ties: Ties = "expected",
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Estimate:
    """maj@k over items: the score of the answer that most of an item's first k samples gave.

    Args:
        outcomes: of any number of items; each sample once, with the answer that was extracted.
        k: samples that vote: those numbered 0 … k−1.
        equal: whether two answers are the same vote; `math_equal` for mathematics.
        score: the key of the score.
        ties: what counts where several answers have most votes.
        clusters: item → cluster, where items are not independent.
        level: of the interval.

    Samples without an answer (no answer, refused, truncated, …) cast no vote; where no sample has one,
    the item is wrong. An item of which a sample failed on our side, or that has fewer than k samples, is
    missing and widens the bounds; broken items are left out.

    Raises:
        UsageError: k is below 1, `ties` is unknown, a scored outcome lacks the score, or a sample comes
            twice.
    """
    if k < 1:
        raise UsageError(f"maj@{k} needs a k of 1 or more")
    if ties not in get_args(Ties):
        raise UsageError(f"ties {ties!r} is none of {', '.join(map(repr, get_args(Ties)))}")
    values: dict[str, float] = {}
    missing: list[str] = []
    tied = silent = 0
    for item, samples in _by_item(outcomes, k).items():
        if len(samples) < k or any(each.status in _LEFT_OUT for each in samples):
            missing.append(item)
            continue
        ballot = majority_vote([_vote(each) for each in samples], equal)
        tied += ballot.tied
        silent += not ballot.winners
        winners = ballot.winners if ties == "expected" else ballot.winners[:1]
        given = [_score_of(samples[place], score) for place in winners]
        values[item] = sum(given) / len(given) if given else 0.0
    notes = (
        f"{tied} items are tied; rule: {ties}",
        *((f"{silent} items have no vote, and count as wrong",) if silent else ()),
    )
    return _estimate(f"maj@{k}", values, missing, clusters, level, notes)


def best_of_k(
    outcomes: Iterable[Outcome],
    rewards: Mapping[tuple[str, int], float],
    k: int,
    *,
    score: str = "correct",
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Best-of-k by a reward model (rm@k): the score of that of the first k samples with most reward.

    Args:
        outcomes: of any number of items; each sample once.
        rewards: (item, sample) → reward; among equal rewards the earlier sample counts.
        k: samples to choose from: those numbered 0 … k−1.
        score: the key of the score.
        clusters: item → cluster, where items are not independent.
        level: of the interval.

    A sample without an answer can be chosen, and is wrong.

    Raises:
        UsageError: k is below 1, a reward is missing, or a scored outcome lacks the score.
    """
    if k < 1:
        raise UsageError(f"best of {k} needs a k of 1 or more")
    values: dict[str, float] = {}
    missing: list[str] = []
    for item, samples in _by_item(outcomes, k).items():
        if len(samples) < k or any(each.status in _LEFT_OUT for each in samples):
            missing.append(item)
            continue
        for each in samples:
            if (item, each.sample) not in rewards:
                raise UsageError(f"there is no reward for sample {each.sample} of item {item!r}")
        chosen = max(samples, key=lambda each: (rewards[each.item_id, each.sample], -each.sample))
        values[item] = _score_of(chosen, score) if chosen.status is Status.SCORED else 0.0
    return _estimate(f"best-of-{k}", values, missing, clusters, level, ())


def _by_item(outcomes: Iterable[Outcome], k: int) -> dict[str, list[Outcome]]:
    """The first k samples of each valid item, in their order."""
    found: dict[str, dict[int, Outcome]] = {}
    for each in outcomes:
        if each.status is Status.INVALID_ITEM:
            continue
        samples = found.setdefault(each.item_id, {})
        if each.sample in samples:
            raise UsageError(f"sample {each.sample} of item {each.item_id!r} comes twice")
        if each.sample < k:
            samples[each.sample] = each
    return {item: [samples[number] for number in sorted(samples)] for item, samples in found.items()}


def _vote(outcome: Outcome) -> str | None:
    return outcome.answer if outcome.status is Status.SCORED else None


def _score_of(outcome: Outcome, score: str) -> float:
    if score not in outcome.scores:
        given = ", ".join(map(repr, outcome.scores)) or "none"
        raise UsageError(f"item {outcome.item_id!r} has no score {score!r}, but {given}; name one of these")
    return outcome.scores[score]


def _estimate(
    name: str,
    values: Mapping[str, float],
    missing: Sequence[str],
    clusters: Mapping[str, str] | None,
    level: float,
    notes: tuple[str, ...],
) -> Estimate:
    items = len(values) + len(missing)
    if not values:
        return Estimate.undefined(
            name, level, "no item has the samples that this needs", *notes, coverage=0.0
        )
    total = sum(values.values())
    names = [(clusters or {}).get(item, item) for item in values]
    if len(set(names)) == len(names) and all(value in (0.0, 1.0) for value in values.values()):
        interval = stats.proportion_interval(round(total), len(values), level=level)
    else:
        interval = stats.mean_interval(list(values.values()), clusters=names, level=level, bounds=(0.0, 1.0))
    return Estimate(
        name=name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        level=level,
        method=interval.method,
        n=len(values),
        clusters=len(set(names)) if clusters else None,
        coverage=len(values) / items,
        bounds=(total / items, (total + len(missing)) / items),
        warnings=(*interval.warnings, *notes),
    )
