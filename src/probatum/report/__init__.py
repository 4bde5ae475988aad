"""Reports: evaluation cards. Pure: from what is written down of a run to text."""

from __future__ import annotations

from probatum.report.card import Card, make_card

__all__ = ["Card", "make_card"]
