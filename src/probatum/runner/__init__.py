"""Plan → answer → grade → summarise: windows, retries, resume, limits."""

from __future__ import annotations

from probatum.runner.evaluation import DEFAULT_STORE, evaluate
from probatum.runner.grading import Completions, grade
from probatum.runner.options import Options
from probatum.runner.progress import Progress
from probatum.runner.rescoring import rescore
from probatum.runner.result import EvaluatedRun, load_run
from probatum.runner.validation import Validation, validate

__all__ = [
    "DEFAULT_STORE",
    "Completions",
    "EvaluatedRun",
    "Options",
    "Progress",
    "Validation",
    "evaluate",
    "grade",
    "load_run",
    "rescore",
    "validate",
]
