"""Few-shot choice: never the item itself, and the same whatever else is asked.

The choice depends on the run seed, the task's version and the item's id alone, so that `--limit`,
sharding and concurrency change no prompt. An item is kept from its own prompt by its id *and* by its
content, since data sets hold the same question twice under two ids.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from probatum.core.errors import UsageError
from probatum.core.protocol import Prompt
from probatum.core.records import Item
from probatum.core.seeds import derive_seed

__all__ = ["ShotPool", "content_key"]

_WORD = re.compile(r"\w+")

SPARE: Final = 8
"""Drawn beyond the asked number: duplicates of the item are rare, a full permutation is the last resort."""


def content_key(text: str) -> tuple[str, ...]:
    """The words of a question, folded and sorted.

    Equal for questions that differ in case, width, punctuation, spacing or order of their options.
    Two different questions of the same words (a−b and b−a) are equal too: then a shot too many is
    left out, which harms nothing.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return tuple(sorted(_WORD.findall(folded)))


def _asked(prompt: Prompt, item: Item) -> str:
    rendered = prompt.render(item, (), None)
    return rendered if isinstance(rendered, str) else rendered[-1].content


@dataclass(frozen=True)
class ShotPool:
    """Items that may be shown, with their content keys."""

    prompt: Prompt
    fixed: tuple[Item, ...] = ()
    """Shown first, in this order."""
    drawn: tuple[Item, ...] = ()
    """What is missing after the fixed ones is drawn from here, without replacement."""
    by_stratum: bool = False
    """Whether an item is shown only shots of its own stratum (its subject, its language)."""
    _keys: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)
    _strata: dict[str | None, ShotPool] = field(default_factory=dict, compare=False, repr=False)

    def choose(self, item: Item, count: int, *, seed: int, version: int) -> tuple[Item, ...]:
        """`count` shots for `item`.

        Raises:
            UsageError: the pool has fewer than `count` items besides the asked one.
        """
        if count == 0:
            return ()
        if self.by_stratum:
            return self._of(item.stratum).choose(item, count, seed=seed, version=version)
        own = content_key(_asked(self.prompt, item))
        shots = [shot for shot in self.fixed if not self._same(shot, item, own)][:count]
        derived = derive_seed(seed, "shots", version, item.id)
        if len(shots) < count and self.drawn:
            shots += self._draw(item, [own, *map(self._key, shots)], count - len(shots), derived)
        if len(shots) < count:
            raise UsageError(
                f"{count} shots asked for, and only {len(shots)} can be shown beside item {item.id!r}; "
                f"use --shots {len(shots)}" + (" or fewer" if shots else "")
            )
        return tuple(shots)

    def _of(self, stratum: str | None) -> ShotPool:
        """The pool of one stratum."""
        if stratum not in self._strata:
            fixed, drawn = (
                tuple(shot for shot in shots if shot.stratum == stratum) for shots in (self.fixed, self.drawn)
            )
            self._strata[stratum] = ShotPool(self.prompt, fixed, drawn, _keys=self._keys)
        return self._strata[stratum]

    def check(self, items: Iterable[Item], count: int, *, seed: int, version: int) -> None:
        """Finds out before anything is asked whether an item is left with too few shots.

        Looks at the items only where the pool is so small that it can happen.

        Raises:
            UsageError: there is such an item.
        """
        if self.by_stratum and count > 0:
            of: dict[str | None, list[Item]] = {}
            for item in items:
                of.setdefault(item.stratum, []).append(item)
            for stratum, part in of.items():
                self._of(stratum).check(part, count, seed=seed, version=version)
        elif count > 0 and len(self.fixed) + len(self.drawn) <= count + SPARE:
            for item in items:
                self.choose(item, count, seed=seed, version=version)

    def _draw(self, item: Item, shown: Sequence[tuple[str, ...]], count: int, seed: int) -> list[Item]:
        generator = random.Random(seed)  # noqa: S311 - reproducible by design, nothing secret
        size = len(self.drawn)
        order = generator.sample(range(size), min(size, count + SPARE))
        shots = self._fresh(order, item, shown, count)
        if len(shots) < count and len(order) < size:
            tried = set(order)
            rest = [place for place in range(size) if place not in tried]
            generator.shuffle(rest)
            shots = self._fresh([*order, *rest], item, shown, count)
        return shots

    def _fresh(
        self, order: Sequence[int], item: Item, shown: Sequence[tuple[str, ...]], count: int
    ) -> list[Item]:
        shots: list[Item] = []
        seen = set(shown)
        for place in order:
            shot = self.drawn[place]
            if shot.id == item.id or self._key(shot) in seen:
                continue
            seen.add(self._key(shot))
            shots.append(shot)
            if len(shots) == count:
                break
        return shots

    def _same(self, shot: Item, item: Item, own: tuple[str, ...]) -> bool:
        return shot.id == item.id or self._key(shot) == own

    def _key(self, shot: Item) -> tuple[str, ...]:
        if shot.digest not in self._keys:
            self._keys[shot.digest] = content_key(_asked(self.prompt, shot))
        return self._keys[shot.digest]
