"""From two runs to a decision: may they be compared, what differs, and how sure is it."""

from __future__ import annotations

from probatum.runner.comparing.comparison import Comparison, compare
from probatum.runner.comparing.explaining import Explanation, Parting, Path, Share, Stage, Step, explain
from probatum.runner.comparing.gating import Gate, GateVerdict, gate
from probatum.runner.comparing.leaderboard import Leaderboard, leaderboards
from probatum.runner.comparing.naming import find_run, find_runs, items_said
from probatum.runner.comparing.pairs import Bridge, Contrast, Decision, PairComparison, Slice, Slicing
from probatum.runner.comparing.ranking import Ranked, Ranking

__all__ = [
    "Bridge",
    "Comparison",
    "Contrast",
    "Decision",
    "Explanation",
    "Gate",
    "GateVerdict",
    "Leaderboard",
    "PairComparison",
    "Parting",
    "Path",
    "Ranked",
    "Ranking",
    "Share",
    "Slice",
    "Slicing",
    "Stage",
    "Step",
    "compare",
    "explain",
    "find_run",
    "find_runs",
    "gate",
    "items_said",
    "leaderboards",
]
