"""Results for places outside: trackers of experiments, and cards of models."""

from __future__ import annotations

from probatum.report.sending.hub import hub_text
from probatum.report.sending.trackers import PROJECT, TRACKERS, Sent, send

__all__ = ["PROJECT", "TRACKERS", "Sent", "hub_text", "send"]
