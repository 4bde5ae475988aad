"""Rows of MBPP+, and what its files do not say: types of arguments, rules of comparison, slow references.

By number of the problem; types and rules as in EvalPlus 0.3.1 (`data/mbpp.py`, `eval/_special_oracle.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probatum.benchmarks._mbpp import tested
from probatum.scoring.differential import Rule, published

RULES: Mapping[int, Rule] = {
    **dict.fromkeys((2, 7, 111, 140, 232, 249, 579, 769), "set"),
    **dict.fromkeys((737, 787, 794), "something"),
}
"""Problems whose results compare otherwise than by value: order and number are not asked for; or the
reference returns a match, and MBPP asks only whether there is one."""

READINGS: Mapping[int, str] = {
    295: "def sum_div(number):\n    return 0\n",
    558: (
        "def digit_distance_nums(num1, num2):\n"
        "    one, other = str(num1), str(num2)\n"
        "    width = max(len(one), len(other))\n"
        "    return sum(abs(int(a) - int(b)) for a, b in zip(one.zfill(width), other.zfill(width)))\n"
    ),
    581: (
        "import math\n"
        "def surface_Area(base_edge, height):\n"
        "    slant = math.sqrt((base_edge / 2) ** 2 + height ** 2)\n"
        "    return round(base_edge ** 2 + 2 * base_edge * slant)\n"
    ),
}
"""Second readings of a problem that are right, too: on each input a function agrees with either."""

CPU_SECONDS: Mapping[int, float] = {
    **dict.fromkeys((84, 123, 255, 271, 389, 392, 583, 589, 592, 603, 630), 30.0),
    599: 120.0,
}
"""Limits of the problems whose reference takes longer than half a second (599: eight): ten times as long."""

MOST_ITEMS = 50_000
"""Combinations that problem 255 may ask for; for some inputs of the set the right answer is gigabytes."""


def fits(number: int, arguments: Sequence[Any]) -> bool:
    """Whether the right answer can be compared at all."""
    if number != 255:  # noqa: PLR2004 - combinations with replacement
        return True
    colours, length = arguments
    return math.comb(len(colours) + length - 1, length) <= MOST_ITEMS if colours else True


Convert = Callable[[Any], Any]


def same(value: Any) -> Any:
    """As it stands."""
    return value


def tuples(value: list[list[Any]]) -> list[tuple[Any, ...]]:
    """A list of tuples."""
    return [tuple(each) for each in value]


def tuple_of_tuples(value: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    """A tuple of tuples."""
    return tuple(tuples(value))


def lists_as_tuples(value: list[Any]) -> tuple[Any, ...]:
    """A tuple of tuples and other things."""
    return tuple(tuple(each) if isinstance(each, list) else each for each in value)


def all_tuples(value: Any) -> Any:
    """Tuples at every depth."""
    return tuple(map(all_tuples, value)) if isinstance(value, list) else value


def values_as_tuples(value: dict[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    """A dictionary of tuples."""
    return {key: tuple(each) for key, each in value.items()}


def sets(value: list[Any]) -> list[Any]:
    """A list of sets, in which the empty set was written as an empty dictionary."""
    return [(set(each) if each else {}) if isinstance(each, list) else {} for each in value]


ARGUMENTS: Mapping[int, tuple[Convert, Convert]] = {
    **dict.fromkeys(
        (
            2,
            116,
            132,
            143,
            222,
            261,
            273,
            394,
            399,
            421,
            424,
            429,
            470,
            560,
            579,
            596,
            616,
            630,
            726,
            740,
            744,
            809,
        ),
        (tuple, tuple),
    ),
    **dict.fromkeys(
        (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780), (tuples, tuples)
    ),
    **dict.fromkeys((75, 413, 444, 753), (tuples, same)),
    **dict.fromkeys((106, 750), (same, tuple)),
    **dict.fromkeys((250, 307, 405, 446, 617, 720, 763, 808), (tuple, same)),
    **dict.fromkeys((259, 401, 445), (tuple_of_tuples, tuple_of_tuples)),
    **dict.fromkeys((580, 615, 791), (all_tuples, all_tuples)),
    115: (sets, same),
    124: (float, complex),
    252: (complex, same),
    278: (lists_as_tuples, same),
    722: (values_as_tuples, same),
}
"""Problem → what its first argument is, and what its others are; where it is not listed, what JSON says."""


def restored(number: int, inputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Lists of arguments with the types that the reference takes."""
    first, others = ARGUMENTS.get(number, (same, same))
    return [[first(one[0]), *map(others, one[1:])] if one else [] for one in inputs if fits(number, one)]


@dataclass(frozen=True)
class Row:
    """A problem of a release, or of the table on the hub."""

    task_id: int | str
    prompt: str
    entry_point: str | None = None
    canonical_solution: str | None = None
    base_input: tuple[list[Any], ...] = ()
    plus_input: tuple[list[Any], ...] | dict[str, Any] = ()
    """Release 0.1.0 writes none as an empty object."""
    atol: float = 0.0
    code: str | None = None
    test: str | None = None
    test_list: tuple[str, ...] = ()


def released(row: Row) -> Row:
    """A row of the hub in the form of a release: there the inputs stand in a program, and are typed.

    Raises:
        ValueError: it has no reference solution, or no inputs.
    """
    if row.test is None or row.code is None or not row.test_list:
        raise ValueError(
            f"problem {row.task_id!r} has no reference solution or no inputs; take a whole edition"
        )
    found = published(row.test)
    return Row(
        task_id=row.task_id,
        prompt=f'"""\n{row.prompt.strip()}\n{row.test_list[0].strip()}\n"""\n',
        entry_point=tested(row.code, row.test_list[0]),
        canonical_solution=row.code,
        plus_input=found.inputs,
        atol=found.tolerance or 0.0,
        test=row.test,
    )
