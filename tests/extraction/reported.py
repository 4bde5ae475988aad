"""Where the reported faults and the real data lie, if they are at hand."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("PROBATUM_DATA") or BESIDE)
CASES = DATA.parent / "cases" / "cases-open.jsonl"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a JSON lines file, compressed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
