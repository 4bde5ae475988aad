"""A bridge: two runs under two protocols, joined by one model that was run under both.

B - A holds what the models differ in and what the protocols differ in. The bridge's runs C, asked as A was,
and D, asked as B was, estimate the second part, so that (B - A) - (D - C) is left for the first. It stands on
an assumption that no bridge can show: that the protocols move the other models as they move that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from probatum.core.comparability import Comparability, comparability
from probatum.core.errors import UsageError
from probatum.core.records import Estimate, Identity
from probatum.runner.comparing.pairing import Floats, Paired, Scores, load_scores, pair
from probatum.runner.comparing.pairs import Bridge, Contrast
from probatum.runner.comparing.protocols import protocol_differences
from probatum.runner.result import EvaluatedRun
from probatum.stats.quantiles import t_quantile

__all__ = ["ClusteredMean", "Ends", "bridged", "less", "load_ends"]


@dataclass(frozen=True)
class Ends:
    """The two runs of a bridge on one task, each at the protocol that it belongs to."""

    c: Scores
    """Asked as A was."""
    d: Scores
    """Asked as B was."""
    turned: bool
    """Whether they were given the other way round."""


def load_ends(a: Scores, b: Scores, bridge: tuple[EvaluatedRun, EvaluatedRun], *, answered: bool) -> Ends:
    """The runs of a bridge between the protocols of A and B.

    Raises:
        UsageError: A and B need no bridge, or these two runs are none between them: other models, another
            protocol, no such task.
    """
    task = a.record.task
    if _refusal(a, b) is None:
        raise UsageError(f"{task!r}: A and B are comparable as they are; leave --bridge out")
    for run in bridge:
        if not any(one.task == task for one in run.record.tasks):
            raise UsageError(f"bridge run {run.id} has no task {task!r}: give runs of one model on {task!r}")
    one, other = (load_scores(run, task, a.score, answered=answered) for run in bridge)
    if one.run.id == other.run.id:
        raise UsageError(
            f"both ends of the bridge are run {one.run.id}: give two runs of one model by their ids, one "
            "asked as A was and one asked as B was"
        )
    if not _same_model(one.run.record.model, other.run.record.model):
        raise UsageError(
            f"the bridge's runs are of two models, {_named(one)} and {_named(other)}: a bridge is one model, "
            "run under both protocols"
        )
    for end in (one, other):
        if end.faults:
            raise UsageError(
                f"bridge run {end.run.id} is INVALID, and its numbers must not be used: {end.faults[0]}"
            )
    reasons = (_refusal(a, one), _refusal(b, other))
    if not any(reasons):
        return Ends(one, other, turned=False)
    if not _refusal(a, other) and not _refusal(b, one):
        return Ends(other, one, turned=True)
    end, place, why = (one, "A", reasons[0]) if reasons[0] else (other, "B", reasons[1])
    raise UsageError(
        f"bridge run {end.run.id} was not asked as {place} was: {why}; run its model with the options of "
        f"{place}"
    )


def _refusal(one: Scores, other: Scores) -> str | None:
    """What makes two runs not comparable; `None` where nothing does."""
    found = protocol_differences(one.run.record, one.record, other.run.record, other.record)
    if comparability(found) is not Comparability.REFUSED:
        return None
    worst = next(each for each in found if each.kind is Comparability.REFUSED)
    return str(worst)


def _same_model(one: Identity, other: Identity) -> bool:
    if one.weights is not None and other.weights is not None:
        return one.weights == other.weights
    return (one.provider, one.name, one.revision) == (other.provider, other.name, other.revision)


def _named(scores: Scores) -> str:
    model = scores.run.record.model
    return f"{model.provider}/{model.name}"


def bridged(a: Scores, b: Scores, ends: Ends, level: float) -> tuple[Contrast, Bridge]:
    """B - A less what the protocols differ by, with the uncertainty of both.

    The variance is that of the influence of each item on both means together, summed over clusters: the items
    are the same, so the two differences are not independent. The degrees of freedom of t are the clusters of
    the smaller of the two, less one.

    Raises:
        UsageError: A and B have no item in common; the bridge has none of theirs, or one cluster alone.
    """
    whole, through = pair(a, b), pair(ends.c, ends.d)
    if not whole.ids:
        raise UsageError(
            f"{a.record.task!r}: A and B have no item in common, and a bridge joins protocols alone"
        )
    inside, labels = _inside(a, ends, whole, through)
    raw = ClusteredMean.of(whole.b - whole.a, whole.clusters, whole.weights)
    effect = ClusteredMean.of(
        (through.b - through.a)[inside], labels, None if through.weights is None else through.weights[inside]
    )
    adjusted = less(raw, effect)
    name = f"{a.score}: B - A"
    estimate = adjusted.estimate(
        f"{name}, bridged", "paired, less the bridge's effect, cluster t", level, a.denominator.name
    )
    bounds = None
    if whole.rates and through.rates:
        worst = float(through.worst.mean()), float(through.best.mean())
        bounds = float(whole.worst.mean()) - worst[1], float(whole.best.mean()) - worst[0]
    estimate = replace(estimate, bounds=bounds)
    contrast = Contrast(
        name="bridged",
        estimate=estimate,
        mean_a=float(np.average(whole.a, weights=whole.weights)),
        mean_b=float(np.average(whole.b, weights=whole.weights)),
        p_value=adjusted.p_value,
        test="t over the bridge",
        wins=int((whole.b > whole.a).sum()),
        losses=int((whole.b < whole.a).sum()),
        ties=int((whole.b == whole.a).sum()),
    )
    found = Bridge(
        c=ends.c.run.id,
        d=ends.d.run.id,
        model=_named(ends.c),
        raw=raw.estimate(name, "paired, cluster t", level, a.denominator.name),
        effect=effect.estimate(f"{a.score}: D - C", "paired, cluster t", level, a.denominator.name),
        items=int(inside.sum()),
        clusters=len(set(labels)),
        assumption=(
            f"that the protocols differ for these models by as much as for {_named(ends.c)}; no bridge shows "
            "that"
        ),
        notes=tuple(_notes(a, b, ends, len(whole.ids), inside)),
    )
    return contrast, found


def _inside(a: Scores, ends: Ends, whole: Paired, through: Paired) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Which of the bridge's items A and B share, with the same content, and the clusters of these."""
    contents = a.run.store.item_digests(a.run.id, a.record.task)
    theirs = ends.c.run.store.item_digests(ends.c.run.id, ends.c.record.task)
    shared = set(whole.ids)
    inside = np.array([one in shared and contents[one] == theirs[one] for one in through.ids], dtype=bool)
    labels = [cluster for cluster, kept in zip(through.clusters, inside.tolist(), strict=True) if kept]
    if not inside.any():
        raise UsageError(
            f"{a.record.task!r}: the bridge has no item that A and B share, so that it says nothing about "
            "them; run it on items of theirs"
        )
    if len(set(labels)) < 2:  # noqa: PLR2004 - a spread needs two
        raise UsageError(
            f"{a.record.task!r}: the bridge stands on one cluster of items; two are needed at least"
        )
    return inside, labels


def _notes(a: Scores, b: Scores, ends: Ends, items: int, inside: npt.NDArray[np.bool_]) -> list[str]:
    notes = []
    if ends.turned:
        notes.append("the bridge's runs were given the other way round, and turned")
    count = int(inside.sum())
    if count < items:
        notes.append(
            f"the bridge stands on {count} of the {items} items: it speaks for all if these are like them"
        )
    if count < len(inside):
        notes.append(f"{len(inside) - count} items of the bridge are not shared by A and B, and left out")
    models = [scores.run.record.model for scores in (a, b)]
    own = [
        sign for sign, model in zip("AB", models, strict=True) if _same_model(model, ends.c.run.record.model)
    ]
    if own:
        other = "BA"["AB".index(own[0])]
        notes.append(
            f"the bridge's model is that of {own[0]}; on the bridge's own items, comparing its run under the "
            f"protocol of {other} with {other} needs no assumption"
        )
    return notes


@dataclass(frozen=True)
class ClusteredMean:
    """A mean over items, with what each cluster adds to its error."""

    value: float
    influence: dict[str, float]
    """Cluster → sum over its items of their influence on the mean."""
    clusters: int
    """Those that the degrees of freedom are counted from."""
    n: int

    @classmethod
    def of(cls, values: Floats, clusters: Sequence[str], weights: Floats | None) -> ClusteredMean:
        """Of values, one an item, of which items of one cluster are not independent."""
        shares = np.ones(len(values)) if weights is None else weights
        shares = shares / shares.sum()
        value = float((shares * values).sum())
        found: dict[str, float] = {}
        for cluster, part in zip(clusters, (shares * (values - value)).tolist(), strict=True):
            found[cluster] = found.get(cluster, 0.0) + part
        return cls(value, found, len(found), len(values))

    @property
    def se(self) -> float | None:
        """Cluster-robust; `None` where it is undefined, or nothing varies."""
        if self.clusters < 2:  # noqa: PLR2004 - a spread needs two
            return None
        factor = self.clusters / (self.clusters - 1)
        return float(np.sqrt(factor * sum(part**2 for part in self.influence.values()))) or None

    @property
    def p_value(self) -> float | None:
        """Two-sided, of no difference."""
        if self.se is None:
            return None
        return float(2 * stdtr(self.clusters - 1, -abs(self.value) / self.se))

    def estimate(self, name: str, method: str, level: float, denominator: str) -> Estimate:
        """As a report prints it."""
        df = self.clusters - 1
        half = None if self.se is None else t_quantile(df, (1 + level) / 2) * self.se
        return Estimate(
            name=name,
            value=self.value,
            low=None if half is None else self.value - half,
            high=None if half is None else self.value + half,
            level=level,
            method=method,
            n=self.n,
            clusters=self.clusters,
            se=self.se,
            df=float(df),
            denominator=denominator,
            warnings=() if half is not None else ("nothing varies: there is no standard error",),
        )


def less(raw: ClusteredMean, effect: ClusteredMean) -> ClusteredMean:
    """Of two means over the same items, or some of them."""
    clusters = dict.fromkeys([*raw.influence, *effect.influence])
    influence = {one: raw.influence.get(one, 0.0) - effect.influence.get(one, 0.0) for one in clusters}
    return ClusteredMean(raw.value - effect.value, influence, min(raw.clusters, effect.clusters), raw.n)
