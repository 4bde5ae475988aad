"""Number match: the answer's value equals a target's, exactly or within a declared tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from probatum.core.errors import ProtocolError
from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor, FinalNumber
from probatum.extraction.numbers import parse_number
from probatum.scoring.answers import invalid_item, judged, read

__all__ = ["NumberMatch", "Tolerance", "numbers_equal"]


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How far an answer may be from the target; the wider of the two counts."""

    absolute: str = "0"
    """As a decimal, so that it is exact: "0.01"."""
    relative: str = "0"
    """Share of the target's size."""

    def __post_init__(self) -> None:
        for name, value in (("absolute", self.absolute), ("relative", self.relative)):
            parsed = parse_number(value)
            if parsed is None or parsed < 0:
                raise ProtocolError(f"{name} tolerance {value!r}: give a decimal that is not negative")

    def allows(self, answer: Fraction, target: Fraction) -> bool:
        """Whether the two are near enough."""
        room = max(_exact(self.absolute), _exact(self.relative) * abs(target))
        return abs(answer - target) <= room


@lru_cache(maxsize=65536)
def _value(text: str) -> Fraction | None:
    return parse_number(text)


def _exact(text: str) -> Fraction:
    value = _value(text)
    if value is None:
        raise ProtocolError(f"{text!r} is no number: give a decimal")
    return value


def numbers_equal(answer: str, target: str, tolerance: Tolerance | None = None) -> bool | None:
    """Whether two texts are the same number; `None` where the target is none.

    >>> numbers_equal("31.00", "31"), numbers_equal("1/3", "0.333"), numbers_equal("3", "three")
    (True, False, None)
    """
    wanted, given = _value(target), _value(answer)
    if wanted is None:
        return None
    if given is None:
        return False
    return given == wanted if tolerance is None else tolerance.allows(given, wanted)


@dataclass(frozen=True)
class NumberMatch:
    """Score `correct`: 1 where the answer's value is a target's, else 0. Exact rational by default."""

    extractor: Extractor = field(default_factory=FinalNumber)
    tolerance: Tolerance | None = None
    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted number with every target that is one."""
        targets = [target for target in item.targets if _value(target) is not None]
        if not targets:
            return invalid_item(item, sample, f"no target among {item.targets!r} is a number")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        equal = any(numbers_equal(found.answer, target, self.tolerance) for target in targets)
        return judged(item, sample, found, {"correct": float(equal)})
