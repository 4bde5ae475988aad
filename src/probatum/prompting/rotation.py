"""The options of a question in every cyclic order, so that each stands in each place once.

Models prefer places ("A") whatever stands there (Zheng et al. 2023, arXiv:2309.03882). The mean over the
rotations is free of that preference; an item that is right in every order was not right by its place.
"""

from __future__ import annotations

from dataclasses import replace

from probatum.core.records import Item
from probatum.prompting.forms import LABELS

__all__ = ["MARK", "of_rotation", "rotations"]

MARK = "~"
"""Between an item's id and the number of its rotation."""


def rotations(item: Item) -> tuple[Item, ...]:
    """The item once for each of its options; the first is its own order. Without two options, itself.

    All are of one cluster. Fields are as they were: an option that speaks of others ("both A and B") or of
    its place ("all of the above") means something else in another order.
    """
    count = len(item.choices)
    if count < 2:  # noqa: PLR2004 - an order needs two
        return (item,)
    return tuple(
        replace(
            item,
            id=f"{item.id}{MARK}{turn}",
            choices=item.choices[turn:] + item.choices[:turn],
            targets=tuple(_turned(target, turn, count) for target in item.targets),
            cluster=item.cluster or item.id,
        )
        for turn in range(count)
    )


def _turned(target: str, turn: int, count: int) -> str:
    """A label, or several by commas, after the options moved."""
    labels = [label.strip() for label in target.split(",")]
    if not all(label in LABELS[:count] for label in labels):
        return target
    return ",".join(sorted(LABELS[(LABELS.index(label) - turn) % count] for label in labels))


def of_rotation(item_id: str) -> str:
    """The id of the item that was rotated."""
    return item_id.rpartition(MARK)[0] or item_id
