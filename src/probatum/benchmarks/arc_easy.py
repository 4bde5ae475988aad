"""ARC-Easy: grade-school science questions. 2,376 test questions.

Clark et al. 2018, "Think you have Solved Question Answering?", https://arxiv.org/abs/1803.05457
"""

from __future__ import annotations

from probatum.benchmarks._arc import arc

TASK = arc("arc_easy", "grade-school science questions")
