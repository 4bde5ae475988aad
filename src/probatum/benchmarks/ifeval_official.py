"""IFEval as its authors grade it: the verdicts of the published checkers, faults included.

Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models", https://arxiv.org/abs/2311.07911
"""

from __future__ import annotations

from probatum.benchmarks._ifeval import task
from probatum.benchmarks.ifeval import HUB

TASK = task(
    name="ifeval_official",
    summary="instructions that can be verified, graded as the published checkers do",
    local="ifeval/input_data_541.jsonl",
    hub=HUB,
    edition="official",
)
