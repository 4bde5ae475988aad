"""ARC-Challenge: grade-school science questions that look-ups and co-occurrence miss. 1,172 test questions.

Clark et al. 2018, "Think you have Solved Question Answering?", https://arxiv.org/abs/1803.05457
"""

from __future__ import annotations

from probatum.benchmarks._arc import arc

TASK = arc("arc_challenge", "grade-school science questions that look-ups and co-occurrence miss")
