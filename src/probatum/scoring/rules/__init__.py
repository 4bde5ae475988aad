"""Rules that verify instructions without a model.

IFEval's 25 kinds, and those of its Spanish, French and Japanese sisters (M-IFEval). Two editions:
`official` for published verdicts, `probatum` with their faults mended.
"""

from __future__ import annotations

from probatum.scoring.rules.backends import require_backends
from probatum.scoring.rules.catalogue import find_rule, rule_ids
from probatum.scoring.rules.checking import check_instructions, instructions_of, loosened
from probatum.scoring.rules.following import FollowsInstructions, InstructionRate, unusable_instructions
from probatum.scoring.rules.linting import Flaw, lint_instructions
from probatum.scoring.rules.records import (
    Compliance,
    Edition,
    Finding,
    Instruction,
    InstructionError,
    Verdict,
)
from probatum.scoring.rules.replication import (
    Difference,
    PublishedRow,
    Replication,
    join_published,
    replicate,
)
from probatum.scoring.rules.sentences import (
    count_sentences,
    equal_sentences_of_different_words,
    sentences,
)
from probatum.scoring.rules.words import (
    count_words,
    first_letters,
    ngram_overlap,
    occurrences,
    word_span,
    words,
)

__all__ = [
    "Compliance",
    "Difference",
    "Edition",
    "Finding",
    "Flaw",
    "FollowsInstructions",
    "Instruction",
    "InstructionError",
    "InstructionRate",
    "PublishedRow",
    "Replication",
    "Verdict",
    "check_instructions",
    "count_sentences",
    "count_words",
    "equal_sentences_of_different_words",
    "find_rule",
    "first_letters",
    "instructions_of",
    "join_published",
    "lint_instructions",
    "loosened",
    "ngram_overlap",
    "occurrences",
    "replicate",
    "require_backends",
    "rule_ids",
    "sentences",
    "unusable_instructions",
    "word_span",
    "words",
]
