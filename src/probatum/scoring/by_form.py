"""A scorer for each form: a text that is generated is graded otherwise than likelihoods are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Form, ProgramScorer, Scorer

__all__ = ["ByForm"]


@dataclass(frozen=True, kw_only=True)
class ByForm:
    """Grades each form of a task by its own scorer."""

    scorers: Mapping[Form, Scorer]
    scores: tuple[str, ...] = ("correct",)
    """What all of them score; some score more."""

    def __post_init__(self) -> None:
        for form, scorer in self.scorers.items():
            if isinstance(scorer, ProgramScorer):
                raise ProtocolError(
                    f"the scorer of form {form!r} runs programs; give the task that one alone"
                )
            if missing := set(self.scores) - set(scorer.scores):
                raise ProtocolError(
                    f"the scorer of form {form!r} does not score {', '.join(sorted(missing))}"
                )

    def for_form(self, form: Form) -> Scorer:
        """The scorer of that form.

        Raises:
            ProtocolError: there is none.
        """
        if form not in self.scorers:
            raise ProtocolError(f"no scorer is given for form {form!r}; there are {', '.join(self.scorers)}")
        return self.scorers[form]
