"""The report: one page of HTML, Markdown or JSON from what the store holds of runs."""

from __future__ import annotations

from probatum.report.page.report import Report, make_report

__all__ = ["Report", "make_report"]
