"""Mathematical equivalence of answers: typed, exact, and without an end that a clock decides.

Answers are read into types (number or expression, tuple, set, list, set of reals, equation, inequality,
matrix, ratio, time, words) and compared by type: rationals exactly, expressions by a canonical form,
and what that leaves open by values to a hundred digits. Every step is counted, so that no answer can
make a comparison run long, and the same two answers have the same verdict on every machine.
"""

from probatum.scoring.math.equivalence import Conventions, Equivalence, compare_answers, math_equal
from probatum.scoring.math.match import MathMatch, gold_problem

__all__ = ["Conventions", "Equivalence", "MathMatch", "compare_answers", "gold_problem", "math_equal"]
