"""Reports and evaluation cards. Pure: from what is written down of a run to text."""

from __future__ import annotations

from probatum.report.card import Card, make_card
from probatum.report.page import Report, make_report

__all__ = ["Card", "Report", "make_card", "make_report"]
