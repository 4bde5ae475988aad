"""Makes every row again, and tells how each came out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .comparing import Comparison, compare
from .families import FAMILIES
from .files import Data
from .rows import Difference, Finding, NoMaterial, Row
from .several import with_files

__all__ = ["STATUSES", "Result", "make_again", "print_table", "write_differences"]

STATUSES = ("reproduced", "explained", "differs", "not mapped")
_LINE = "{:58} {:11} {:20} {:26} {:>9}  {}"


@dataclass(frozen=True)
class Result:
    """How one row came out."""

    row: Row
    status: str
    material: str
    published: str
    ours: str
    differences: Sequence[Difference] = ()
    notes: Sequence[str] = ()
    without_material: bool = False


def make_again(rows: Iterable[Row], data: Data) -> Iterator[Result]:
    """One result a row, in their order."""
    for row in rows:
        yield _one(row, data)


def _one(row: Row, data: Data) -> Result:
    family = next((each for each in FAMILIES if each.fits(row)), None)
    if family is None:
        return Result(row, "not mapped", "", "", "", notes=("no family makes such a row again",))
    try:
        finding = family.find(with_files(row, data), data)
    except NoMaterial as error:
        return Result(row, "explained", "none", _short(row), "", notes=(str(error),), without_material=True)
    except Exception as error:  # noqa: BLE001 - a row of another form must not end the table; it is told
        told = f"{family.name}: the row's files cannot be read so ({type(error).__name__}: {error})"
        return Result(row, "not mapped", "", _short(row), "", notes=(told,))
    return _judged(row, finding, compare(row, finding))


def _judged(row: Row, finding: Finding, done: Comparison) -> Result:
    notes = [*finding.notes, *done.unequal]
    if done.not_computed:
        notes.append(f"not computed: {'; '.join(done.not_computed[:8])}")
    if not done.equal and not done.unequal:
        return Result(
            row, "not mapped", finding.material, _short(row), "", notes=[*notes, "no number was compared"]
        )
    if not done.unequal:
        status = "reproduced"
    elif finding.explained is not None:
        status = "explained"
        notes.append(finding.explained)
    else:
        status = "differs"
    ours = "; ".join(f"{name} {value:.6g}" for name, value in finding.ours.items())
    equal = f"{len(done.equal)} of {len(done.equal) + len(done.unequal)} numbers equal"
    return Result(row, status, finding.material, equal, ours, finding.differences, notes)


def _short(row: Row) -> str:
    text = json.dumps(row.value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


def print_table(results: Iterable[Result]) -> dict[str, int]:
    """A line a row, then its notes; returns the counts of the last line."""
    counts: Counter[str] = Counter()
    print(_LINE.format("id", "status", "made again from", "published numbers", "differing", "our own rule"))
    for each in results:
        counts[each.status] += 1
        counts["without_raw_outputs"] += each.without_material
        differing = str(len(each.differences)) if each.ours else "-"
        line = (each.row.id[:58], each.status, each.material, each.published[:26], differing, each.ours)
        print(_LINE.format(*line).rstrip(), flush=True)
        for note in each.notes:
            print(f"    {note[:400]}")
    figures = {status.replace(" ", "_"): counts[status] for status in STATUSES}
    return {**figures, "without_raw_outputs": counts["without_raw_outputs"]}


def write_differences(results: Iterable[Result], path: Path) -> int:
    """Every differing item with its reason, one JSON object a line."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for result in results:
            for each in result.differences:
                line = {
                    "row": result.row.id,
                    "item": each.item,
                    "published": each.published,
                    "ours": each.ours,
                }
                file.write(json.dumps({**line, "reason": each.reason}, ensure_ascii=False) + "\n")
                count += 1
    return count
