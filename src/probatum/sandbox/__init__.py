"""Runs untrusted programs: programs in, executions out, each in isolation that a self-test has proven.

Importing this package starts nothing. `docs/sandbox.md` says what it protects from, and what not.
"""

from __future__ import annotations

from probatum.sandbox.calibration import calibrated_cpu_seconds, reference_limits
from probatum.sandbox.ladder import IsolationReport, Rung, isolation_report
from probatum.sandbox.sandbox import PROTOCOL, Sandbox

__all__ = [
    "PROTOCOL",
    "IsolationReport",
    "Rung",
    "Sandbox",
    "calibrated_cpu_seconds",
    "isolation_report",
    "reference_limits",
]
