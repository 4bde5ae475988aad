"""Where is B better? B - A in slices of the items: by a field, a length, the number of options.

Slices are looked at because somebody may find one that differs, so their p-values are corrected for their
number. A slice that is too small to show anything at that correction is named and not tested; leaving it out
costs nothing, since what is left out follows from sizes alone (Tarone 1990, "A modified Bonferroni method for
discrete data", Biometrics 46).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

import numpy as np

from probatum import stats
from probatum.core.errors import UsageError
from probatum.core.records import Item
from probatum.core.run import Sample
from probatum.runner.comparing.pairing import Paired, Scores
from probatum.runner.comparing.pairs import Slice, Slicing, adjusted, contrast_of, fewest_units

__all__ = ["Label", "Labels", "label_items", "slice_pair", "smallest_slice", "vary"]

BINS: Final = 4
"""Quantile bins of numbers that have more values than this twice over; fewer of few items."""
IN_A_BIN: Final = 12
"""Items that a bin should have: fewer can hardly show anything."""
MOST_VALUES: Final = 200
"""Different values of a field; more are no slices."""
DRAWS: Final = 2000
"""Permutations of the test whether slices differ among each other."""
SEED: Final = 0

Value = str | float


@dataclass(frozen=True, kw_only=True)
class Label:
    """The slice of one item."""

    name: str
    order: tuple[int, float, str]
    """Where it stands among the others."""


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Items by one field."""

    by: str
    what: str
    of: Mapping[str, Label]
    """Item id → its slice; items without a value are left out."""
    edges: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Known:
    """What a slice can be by, of one item."""

    item: Item
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class _Attribute:
    what: str
    read: Callable[[_Known], object]
    notes: tuple[str, ...] = field(default=())


def _prompt_length(known: _Known) -> object:
    asked = [one for sample in known.samples[:1] for one in sample.requests[:1]]
    if not asked:
        return None
    prompt = asked[0].prompt
    return len(prompt) if isinstance(prompt, str) else sum(len(turn.content) for turn in prompt)


def _answer_length(known: _Known) -> object:
    lengths = [
        len(response.text)
        for sample in known.samples
        for response in sample.responses
        if response is not None
    ]
    generated = any(one.continuation is None for sample in known.samples for one in sample.requests)
    return sum(lengths) / len(lengths) if lengths and generated else None


_SELECTED: Final = (
    "answer_length is of A's own answers: a slice selects items by how A did, and part of the difference in "
    "it is that selection"
)

_ATTRIBUTES: Final[Mapping[str, _Attribute]] = {
    "stratum": _Attribute("stratum", lambda known: known.item.stratum),
    "cluster": _Attribute("cluster", lambda known: known.item.cluster),
    "options": _Attribute("number of options", lambda known: len(known.item.choices) or None),
    "gold_length": _Attribute(
        "length of the first gold answer, in characters",
        lambda known: len(known.item.targets[0]) if known.item.targets else None,
    ),
    "prompt_length": _Attribute("length of the prompt that A was asked, in characters", _prompt_length),
    "answer_length": _Attribute(
        "mean length of A's answers, in characters",
        _answer_length,
        (_SELECTED,),
    ),
}
_MEANS_STRATUM: Final = frozenset({"subject", "domain", "language", "category"})
"""Names under which people know the stratum, where the items have no field of that name."""


def label_items(scores: Scores, by: Sequence[str]) -> tuple[Labels, ...]:
    """The slices of a run's items, by each of the fields.

    Args:
        scores: of the first run, whose items and answers are read.
        by: `stratum`, `cluster`, `options`, `gold_length`, `prompt_length`, `answer_length`, the name of a
            field of the items (dots lead into nested ones), or `length(NAME)` of a text in one.

    Raises:
        UsageError: no item has the field, all have the same value, or there are too many values.
    """
    if not by:
        return ()
    samples = scores.run.store.samples(scores.run.id, scores.record.task)
    known = [
        _Known(same[0].item, tuple(same))
        for same in (list(group) for _, group in groupby(samples, key=lambda one: one.item.id))
        if same[0].item.id in scores.units
    ]
    return tuple(_labels(name, known, scores.record.task) for name in dict.fromkeys(by))


def _labels(name: str, known: Sequence[_Known], task: str) -> Labels:
    attribute = _attribute(name, known)
    values = {one.item.id: _plain(attribute.read(one)) for one in known}
    found = {item: value for item, value in values.items() if value is not None}
    if not found:
        fields = sorted({str(each) for one in known for each in one.item.fields})
        raise UsageError(
            f"no item of {task!r} has {name!r} to be sliced by; there are {', '.join(_ATTRIBUTES)}, the "
            f"fields {', '.join(fields) or '(none)'}, and length(FIELD)"
        )
    counts = Counter(found.values())
    if len(counts) == 1:
        (value,) = counts
        alike = _label(value).name
        raise UsageError(f"all items of {task!r} have {name!r} {alike!r}: there is nothing to slice by")
    numbers = all(isinstance(value, float) for value in counts)
    if numbers and len(counts) > 2 * BINS:
        return _binned(name, attribute, {item: float(value) for item, value in found.items()})
    if len(counts) > min(MOST_VALUES, len(found) // 2):
        raise UsageError(
            f"{name!r} has {len(counts)} values on {len(found)} items of {task!r}: that is no slicing; use a "
            f"field of fewer values, or length({name})"
        )
    labels = {item: _label(value) for item, value in found.items()}
    return Labels(by=name, what=attribute.what, of=labels, notes=attribute.notes)


def _attribute(name: str, known: Sequence[_Known]) -> _Attribute:
    if name.startswith("length(") and name.endswith(")"):
        inner = name[len("length(") : -1]
        return _Attribute(
            f"length of {inner}, in characters", lambda one: _length(_in_fields(one.item, inner))
        )
    if any(_in_fields(one.item, name) is not None for one in known):
        return _Attribute(f"the items' field {name}", lambda one: _in_fields(one.item, name))
    if name in _MEANS_STRATUM:
        return _Attribute(f"stratum, as {name}", lambda one: one.item.stratum)
    if name in _ATTRIBUTES:
        return _ATTRIBUTES[name]
    return _Attribute(name, lambda _: None)


def _in_fields(item: Item, path: str) -> object:
    if path in item.fields:
        return item.fields[path]
    found: Any = item.fields
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def _length(value: object) -> object:
    return None if value is None else len(value if isinstance(value, str) else json.dumps(value, default=str))


def _plain(value: object) -> Value | None:
    """A value as a slice can be named by: a number, or a text; blank texts are none."""
    if value is None or isinstance(value, str):
        return (value or "").strip() or None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else None
    return json.dumps(value, ensure_ascii=False, default=str)


def _label(value: Value) -> Label:
    if isinstance(value, float):
        return Label(name=f"{value:g}", order=(0, value, ""))
    return Label(name=value, order=(1, 0.0, value))


def _binned(name: str, attribute: _Attribute, values: Mapping[str, float]) -> Labels:
    """Quarters, or halves or thirds of few items. Edges are values that occur: no item lies between."""
    inside = np.array(list(values.values()))
    bins = max(2, min(BINS, len(inside) // IN_A_BIN))
    shares = [place / bins for place in range(1, bins)]
    cuts = np.unique(np.quantile(inside, shares, method="inverted_cdf"))
    cuts = cuts[cuts < inside.max()]
    places = np.searchsorted(cuts, inside)  # of a value at an edge the bin that the edge closes
    spans = {
        place: (inside[places == place].min(), inside[places == place].max())
        for place in range(len(cuts) + 1)
    }
    labels = {
        item: Label(name=_span(*spans[place]), order=(0, float(place), ""))
        for item, place in zip(values, places.tolist(), strict=True)
    }
    return Labels(
        by=name,
        what=attribute.what,
        of=labels,
        edges=tuple(float(cut) for cut in cuts),
        notes=attribute.notes,
    )


def _span(low: float, high: float) -> str:
    return f"{low:.6g}" if low == high else f"{low:.6g} … {high:.6g}"


def smallest_slice(units: Iterable[int], alpha: float) -> int:
    """Independent units from which on a slice is tested.

    If B were better in every one of n units, the exact sign test would give p = 2¹⁻ⁿ. A slice whose smallest
    p is above alpha / K, where K slices are tested, can show nothing; K is the least for which no more than K
    slices are left (Tarone 1990, §2).

    Args:
        units: independent units (clusters) of each slice.
        alpha: level of the tests together.
    """
    sizes = list(units)
    for tested in range(1, len(sizes) + 1):
        needed = fewest_units(alpha / tested)
        if sum(size >= needed for size in sizes) <= tested:
            return needed
    return fewest_units(alpha)


def slice_pair(scores: Scores, paired: Paired, labels: Sequence[Labels], level: float) -> tuple[Slicing, ...]:
    """B - A in every slice by every field, all p-values corrected together."""
    fields = [_positions(one, paired) for one in labels]
    clusters = np.array(paired.clusters)
    units = [len(set(clusters[chosen].tolist())) for named in fields for chosen in named.values()]
    smallest = smallest_slice(units, 1 - level)
    made = [
        contrast_of(name, paired, chosen, scores, level)
        if len(set(clusters[chosen].tolist())) >= smallest
        else None
        for named in fields
        for name, chosen in named.items()
    ]
    corrected = iter(adjusted([each for each in made if each is not None]))
    whole = iter([None if each is None else next(corrected) for each in made])
    found = [
        Slicing(
            by=one.by,
            what=one.what,
            slices=tuple(
                Slice(name=name, items=int(chosen.sum()), contrast=next(whole))
                for name, chosen in named.items()
            ),
            edges=one.edges,
            unlabelled=sum(1 for item in paired.ids if item not in one.of),
            smallest=smallest,
            p_vary=vary(paired, list(named.values())),
            notes=one.notes,
        )
        for one, named in zip(labels, fields, strict=True)
    ]
    known = [each.p_vary for each in found if each.p_vary is not None]
    varying = iter(stats.adjust_pvalues(known, "holm").tolist())
    return tuple(each if each.p_vary is None else replace(each, p_vary=next(varying)) for each in found)


def _positions(labels: Labels, paired: Paired) -> dict[str, Any]:
    """Slice → which of the paired items are in it, in order."""
    present = {label.name: label.order for item in paired.ids if (label := labels.of.get(item)) is not None}
    names = [labels.of[item].name if item in labels.of else None for item in paired.ids]
    return {
        name: np.array([each == name for each in names], dtype=bool)
        for name in sorted(present, key=lambda one: present[one])
    }


def vary(paired: Paired, slices: Sequence[Any]) -> float | None:
    """Whether slices differ among each other: Σ nₛ (d̄ₛ - d̄)² against permuted labels of clusters."""
    inside = np.flatnonzero(np.any(slices, axis=0)) if slices else np.array([], dtype=int)
    if len(slices) < 2:  # noqa: PLR2004 - to differ takes two
        return None
    label = np.argmax(slices, axis=0)[inside]
    differences = (paired.b - paired.a)[inside]
    clusters = np.unique(np.array(paired.clusters)[inside], return_inverse=True)[1]
    of_cluster = np.zeros(clusters.max() + 1, dtype=int)
    of_cluster[clusters] = label
    if (of_cluster[clusters] != label).any():
        return None
    sizes = np.bincount(clusters).astype(float)
    sums = np.bincount(clusters, weights=differences)
    observed = _between(of_cluster, sums, sizes, len(slices))
    generator = np.random.default_rng(SEED)
    drawn = [_between(generator.permutation(of_cluster), sums, sizes, len(slices)) for _ in range(DRAWS)]
    reached = sum(one >= observed * (1 - 1e-12) for one in drawn)
    return (1 + reached) / (1 + DRAWS)


def _between(label: Any, sums: Any, sizes: Any, count: int) -> float:
    totals = np.bincount(label, weights=sums, minlength=count)
    weights = np.bincount(label, weights=sizes, minlength=count)
    means = np.divide(totals, weights, out=np.zeros_like(totals), where=weights > 0)
    return float((weights * (means - sums.sum() / sizes.sum()) ** 2).sum())
