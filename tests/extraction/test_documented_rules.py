"""The page on extraction lists every rule that can stand in a record."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGES = "reasoning|declared|box|whole|phrase|loose|fence|bare"


def test_every_rule_is_documented() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "src/probatum/extraction").glob("*.py"))
    rules = set(re.findall(rf'"((?:{STAGES}):[a-z_]+)"', sources))
    page = (ROOT / "docs/extraction.md").read_text("utf-8")
    shown = set(re.findall(rf"`((?:{STAGES}):[a-z_]+)`", page))
    assert len(rules) > 20
    assert rules - shown - {"reasoning:harmony", "reasoning:granite", "reasoning:none"} == set()
