"""Verdicts that are counted: several judges of one answer, wins with ties, and label probabilities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from probatum.stats.inputs import check_level, whole
from probatum.stats.mean import mean_interval
from probatum.stats.result import Interval

__all__ = ["JuryVerdict", "LabelPreference", "jury_verdict", "label_preference", "win_rate"]


@dataclass(frozen=True, kw_only=True)
class JuryVerdict:
    """What several judges of one answer, or of one pair, say together."""

    verdict: str
    """The label with most votes; `tie` where sides A and B have equally many; `inconclusive` where the quorum
    is missed or no label leads."""
    counts: Mapping[str, int]
    """Label → valid votes."""
    failed: int
    """Judges without a valid verdict."""
    quorum: int

    @property
    def conclusive(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict != "inconclusive"


def jury_verdict(
    votes: Sequence[str | None], quorum: int, labels: Sequence[str] = ("A", "B", "tie")
) -> JuryVerdict:
    """One verdict from the votes of several judges.

    Args:
        votes: One label a judge; anything that is none of the labels is a judge that failed. It is no vote.
        quorum: Valid votes that are needed.
        labels: What a judge may vote.

    Raises:
        ValueError: no judge, a quorum that is no positive whole number, or one above the number of judges.
    """
    needed = whole(quorum, "quorum", minimum=1)
    if not votes:
        raise ValueError("there is no judge: 0 votes")
    if needed > len(votes):
        raise ValueError(f"a quorum of {needed} can never be met by {len(votes)} judges")
    counts = Counter(vote for vote in votes if vote is not None and vote in labels)
    valid = counts.total()
    leaders = [label for label, count in counts.items() if count == max(counts.values())]
    verdict = "inconclusive"
    if valid >= needed and len(leaders) == 1:
        verdict = leaders[0]
    elif valid >= needed and "tie" in labels and counts["A"] == counts["B"]:
        verdict = "tie"
    return JuryVerdict(verdict=verdict, counts=dict(counts), failed=len(votes) - valid, quorum=needed)


def win_rate(wins: int, ties: int, losses: int, level: float = 0.95) -> Interval:
    """Wins and half of the ties among all battles: (w + t/2)/n, with an interval over battles.

    Raises:
        ValueError: a count that is no whole number, or no battle at all.
    """
    counts = [whole(count, name) for count, name in ((wins, "wins"), (ties, "ties"), (losses, "losses"))]
    if not sum(counts):
        raise ValueError("there are no battles: 0 wins, 0 ties and 0 losses")
    scores = np.repeat([1.0, 0.5, 0.0], counts)
    if len(scores) == 1:
        note = "1 battle has no interval"
        return Interval(
            value=float(scores[0]), level=check_level(level), method="none", n=1, warnings=(note,)
        )
    found = mean_interval(scores, level=level, bounds=(0, 1))
    return replace(found, estimand="score against the opponents met, ties count half")


@dataclass(frozen=True, kw_only=True)
class LabelPreference:
    """How far a judge prefers one label to another, by the probabilities of its next token."""

    value: float
    """P(of) / (P(of) + P(against)); a label that is not listed has probability 0 here."""
    low: float
    high: float
    """The range that the value could have where a label is not listed: all that the list leaves could be
    its, up to the least probability listed."""
    other: float
    """Probability of everything else: where it is large, the judge does not answer in these labels."""


def label_preference(top_logprobs: Mapping[str, float], of: str, against: str) -> LabelPreference:
    """Preference for `of` over `against` from the log-probabilities of the first token.

    Labels are compared as they stand, in their case. Source: Dubois et al. 2024, arXiv:2404.04475 (the
    weighted win rate of AlpacaEval).

    Args:
        top_logprobs: Token → natural log of its probability, as servers list the likeliest tokens.
        of: The label that is preferred where the value is above ½.
        against: The other label.

    Raises:
        ValueError: equal labels, neither of them is listed, or a log-probability above 0 or not a number.
    """
    if of == against:
        raise ValueError(f"the two labels are the same: {of!r}")
    odd = {token: value for token, value in top_logprobs.items() if not value <= 1e-9}  # noqa: PLR2004 - rounding
    if odd:
        raise ValueError(f"log-probabilities cannot be above 0 or undefined: {odd!r}")
    first, second = (top_logprobs.get(label) for label in (of, against))
    if first is None and second is None:
        raise ValueError(
            f"neither {of!r} nor {against!r} is among {', '.join(map(repr, top_logprobs)) or 'no tokens'}"
        )
    listed = {token: math.exp(value) for token, value in top_logprobs.items()}
    spare = min(max(0.0, 1 - math.fsum(listed.values())), *listed.values())
    p, q = listed.get(of, 0.0), listed.get(against, 0.0)
    if p + q == 0:
        raise ValueError(f"{of!r} and {against!r} both have probability 0")
    value = p / (p + q)
    low = value if second is not None else p / (p + spare) if p + spare else value
    high = value if first is not None else spare / (spare + q) if spare + q else value
    return LabelPreference(value=value, low=low, high=high, other=max(0.0, 1 - p - q))
