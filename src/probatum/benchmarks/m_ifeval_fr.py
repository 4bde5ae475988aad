"""M-IFEval in French: 235 prompts with instructions that are verified without a model.

Dussolle et al. 2025, "M-IFEval: Multilingual Instruction-Following Evaluation", https://arxiv.org/abs/2502.04688
"""

from __future__ import annotations

from probatum.benchmarks._ifeval import task

TASK = task(
    name="m_ifeval_fr",
    summary="instructions in French that can be verified, strict and loose",
    local="ifeval/m_ifeval_fr_input_data.jsonl",
    language="fr",
    citation="Dussolle et al. 2025, arXiv:2502.04688",
)
