"""What an audit of a corpus says of a run's items, and how the run scores on each kind of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from probatum import stats
from probatum.contamination import Overlap
from probatum.core.errors import DataError
from probatum.report.page.means import score_interval
from probatum.scoring.tally import Unit

__all__ = ["Contamination", "CorpusAudit", "Overlapping", "read_audit", "scores_by_overlap"]


@dataclass(frozen=True, kw_only=True)
class AuditedItem:
    """One item, as `probatum audit --json` writes it; what else stands there is left."""

    item_id: str
    overlap: Overlap


@dataclass(frozen=True, kw_only=True)
class CorpusAudit:
    """One task of an audit."""

    task: str
    n: int
    unit: str
    documents: int
    items: tuple[AuditedItem, ...]


@dataclass(frozen=True)
class AuditFile:
    """What `probatum audit --json` writes."""

    tasks: tuple[CorpusAudit, ...]


@dataclass(frozen=True)
class Overlapping:
    """Items of one kind, and the run's score on them."""

    kind: Overlap
    items: int
    estimate: stats.Interval | None
    """`None` where no item of the kind has a score."""


@dataclass(frozen=True)
class Contamination:
    """A run's score on items that a corpus holds, and on those that it does not."""

    audit: CorpusAudit
    rows: tuple[Overlapping, ...]
    unknown: int
    """Items of the run that the audit does not have."""

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "n": self.audit.n,
            "unit": self.audit.unit,
            "documents": self.audit.documents,
            "rows": self.rows,
            "unknown": self.unknown,
        }


def read_audit(path: Path) -> dict[str, CorpusAudit]:
    """Task → audit, from a file that `probatum audit CORPUS --task T --json` wrote.

    Raises:
        DataError: the file cannot be read, or is no such audit.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=AuditFile)
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}; give another file") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f"{str(path)!r} is no audit of a corpus ({error}); "
            "`probatum audit CORPUS --task T --json` makes one"
        ) from None
    return {one.task: one for one in found.tasks}


def scores_by_overlap(audit: CorpusAudit, units: Sequence[Unit], level: float) -> Contamination:
    """The run's items by what the corpus holds of them, with the mean score of each kind.

    Args:
        audit: of the same task.
        units: of the run, one an item.
        level: of the intervals.
    """
    kinds: Mapping[str, Overlap] = {item.item_id: item.overlap for item in audit.items}
    rows = []
    for kind in Overlap:
        here = [unit for unit in units if kinds.get(unit.item_id) is kind]
        scored = [unit for unit in here if unit.counted]
        estimate = None
        if scored and all(0 <= unit.mean <= 1 for unit in scored):
            estimate = score_interval(
                [unit.mean for unit in scored], [unit.cluster for unit in scored], level
            )
        rows.append(Overlapping(kind, len(here), estimate))
    return Contamination(audit, tuple(rows), sum(1 for unit in units if unit.item_id not in kinds))
