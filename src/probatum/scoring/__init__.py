"""From responses to outcomes, and from outcomes to rates.

Scorers are frozen components of a task. Modules load when one of their names is first used, so that
grading text brings no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probatum.scoring.answers_by_field import ByField
    from probatum.scoring.by_form import ByForm
    from probatum.scoring.calibrated import Calibration
    from probatum.scoring.choice import ChoiceMatch
    from probatum.scoring.code import PassesTests
    from probatum.scoring.exact import ExactMatch, exact_match, loose_text, squad_text, verbatim
    from probatum.scoring.free_answers import AnswerIncluded, AnswerOverlap, answer_overlap, includes_answer
    from probatum.scoring.majority import best_of_k, majority_at_k, majority_vote
    from probatum.scoring.math import Conventions, Equivalence, MathMatch, compare_answers, math_equal
    from probatum.scoring.metrics import MacroRate, PassAtK, Rate
    from probatum.scoring.number import NumberMatch, Tolerance, numbers_equal
    from probatum.scoring.options import OptionLikelihood
    from probatum.scoring.refusal import ReactionMatch, RefusalAware, RefusalRules, Refusals
    from probatum.scoring.rotated import EveryRotation
    from probatum.scoring.rules import (
        FollowsInstructions,
        Instruction,
        InstructionRate,
        check_instructions,
        lint_instructions,
    )
    from probatum.scoring.stdio import OutputComparison, OutputRules, PassesExamples, compare_output
    from probatum.scoring.text import (
        Cmrc2018Match,
        CorpusBleu,
        CorpusTer,
        DropMatch,
        NgramOverlap,
        SquadMatch,
        TruthfulOverlap,
        WholeText,
        squad_report,
    )
    from probatum.scoring.texts import Perplexity, TextLikelihood
    from probatum.scoring.tokens import squad_exact, token_f1

__all__ = [
    "AnswerIncluded",
    "AnswerOverlap",
    "ByField",
    "ByForm",
    "Calibration",
    "ChoiceMatch",
    "Cmrc2018Match",
    "Conventions",
    "CorpusBleu",
    "CorpusTer",
    "DropMatch",
    "Equivalence",
    "EveryRotation",
    "ExactMatch",
    "FollowsInstructions",
    "Instruction",
    "InstructionRate",
    "MacroRate",
    "MathMatch",
    "NgramOverlap",
    "NumberMatch",
    "OptionLikelihood",
    "OutputComparison",
    "OutputRules",
    "PassAtK",
    "PassesExamples",
    "PassesTests",
    "Perplexity",
    "Rate",
    "ReactionMatch",
    "RefusalAware",
    "RefusalRules",
    "Refusals",
    "SquadMatch",
    "TextLikelihood",
    "Tolerance",
    "TruthfulOverlap",
    "WholeText",
    "answer_overlap",
    "best_of_k",
    "check_instructions",
    "compare_answers",
    "compare_output",
    "exact_match",
    "includes_answer",
    "lint_instructions",
    "loose_text",
    "majority_at_k",
    "majority_vote",
    "math_equal",
    "numbers_equal",
    "squad_exact",
    "squad_report",
    "squad_text",
    "token_f1",
    "verbatim",
]

_HOMES = {
    "answers_by_field": ("ByField",),
    "by_form": ("ByForm",),
    "calibrated": ("Calibration",),
    "choice": ("ChoiceMatch",),
    "code": ("PassesTests",),
    "exact": ("ExactMatch", "exact_match", "loose_text", "squad_text", "verbatim"),
    "free_answers": ("AnswerIncluded", "AnswerOverlap", "answer_overlap", "includes_answer"),
    "majority": ("best_of_k", "majority_at_k", "majority_vote"),
    "math": ("Conventions", "Equivalence", "MathMatch", "compare_answers", "math_equal"),
    "metrics": ("MacroRate", "PassAtK", "Rate"),
    "options": ("OptionLikelihood",),
    "texts": ("Perplexity", "TextLikelihood"),
    "number": ("NumberMatch", "Tolerance", "numbers_equal"),
    "rotated": ("EveryRotation",),
    "refusal": ("ReactionMatch", "RefusalAware", "RefusalRules", "Refusals"),
    "rules": (
        "FollowsInstructions",
        "Instruction",
        "InstructionRate",
        "check_instructions",
        "lint_instructions",
    ),
    "stdio": ("OutputComparison", "OutputRules", "PassesExamples", "compare_output"),
    "text": (
        "Cmrc2018Match",
        "CorpusBleu",
        "CorpusTer",
        "DropMatch",
        "NgramOverlap",
        "SquadMatch",
        "TruthfulOverlap",
        "WholeText",
        "squad_report",
    ),
    "tokens": ("squad_exact", "token_f1"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"probatum.scoring.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
