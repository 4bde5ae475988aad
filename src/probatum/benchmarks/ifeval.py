"""IFEval: 541 prompts with instructions of 25 kinds that are verified without a model.

Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models", https://arxiv.org/abs/2311.07911
Graded by our edition of the rules, in which the faults of the published checkers are mended
(docs/instruction-rules.md); `ifeval_official` gives figures that can be compared with published ones.
"""

from __future__ import annotations

from probatum.benchmarks._ifeval import task
from probatum.core.protocol import Hub

HUB = Hub(
    repository="google/IFEval",
    revision="966cd89545d6b6acfd7638bc708b98261ca58e84",
    files=("ifeval_input_data.jsonl",),
)

TASK = task(
    name="ifeval",
    summary="instructions that can be verified, strict and loose, faults of the published checkers mended",
    local="ifeval/input_data_541.jsonl",
    hub=HUB,
)
