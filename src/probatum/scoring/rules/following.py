"""The scorer of instruction following, and the accuracy over instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from probatum import stats
from probatum.core.protocol import Task
from probatum.core.records import Estimate, Finish, Item, Mark, Outcome, Response
from probatum.core.status import Status
from probatum.extraction import strip_reasoning
from probatum.scoring.answers import invalid_item, unanswered
from probatum.scoring.rules.checking import check_instructions, instructions_of
from probatum.scoring.rules.linting import lint_instructions
from probatum.scoring.rules.records import Compliance, Edition, Instruction, InstructionError
from probatum.scoring.tally import CAPABILITY, Denominator, end_to_end

__all__ = ["FollowsInstructions", "InstructionRate", "unusable_instructions"]

SCORES: Final = (
    "prompt_strict",
    "prompt_loose",
    "followed_strict",
    "followed_loose",
    "instructions",
)


def unusable_instructions(item: Item, *, edition: Edition = "probatum") -> str | None:
    """Why an item's instructions cannot be checked; `None` where they can. For use when items load.

    The item has the fields `prompt`, `instruction_id_list` and `kwargs`. Items that no response can follow
    are unusable in our edition; the published checkers grade them.
    """
    try:
        instructions = _instructions(item)
    except InstructionError as error:
        return str(error)
    flaws = lint_instructions(str(item.fields["prompt"]), instructions, edition=edition)
    stopping = [flaw for flaw in flaws if flaw.stops and (edition != "official" or flaw.kind == "invalid")]
    return f"{stopping[0].kind}: {stopping[0].detail}" if stopping else None


def _instructions(item: Item) -> tuple[Instruction, ...]:
    ids = cast("Sequence[str]", item.fields["instruction_id_list"])
    arguments = cast("Sequence[Mapping[str, Any]]", item.fields["kwargs"])
    return instructions_of(ids, arguments)


@dataclass(frozen=True, kw_only=True)
class FollowsInstructions:
    """Which of an item's instructions a response follows.

    Scores: `prompt_strict` and `prompt_loose` (1 where all are followed), `followed_strict` and
    `followed_loose` (how many are), `instructions` (how many there are). Reasoning before the answer is
    put aside. An empty response follows none; one that ran out of tokens is `truncated`, since its end
    is not the model's. The reason of an outcome names each instruction that is not followed strictly.
    """

    edition: Edition = "probatum"
    """`official` for figures that can be compared with published ones: it grades truncated texts, too."""
    scores: tuple[str, ...] = field(default=SCORES, init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Checks every instruction of the item."""
        problem = unusable_instructions(item, edition=self.edition)
        if problem is not None:
            return invalid_item(item, sample, problem)
        nothing = unanswered(item, sample, responses)
        if nothing is not None:
            return nothing
        response = responses[-1]
        text = _answer(response.text)
        if self.edition != "official" and (response.finish is Finish.LENGTH or text is None):
            reason = "the text ran out of tokens" if text is not None else "the reasoning was never closed"
            return Outcome(item_id=item.id, sample=sample, status=Status.TRUNCATED, reason=reason)
        found = check_instructions(text or "", _instructions(item), edition=self.edition)
        return Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores=_scores(found),
            answer=text or "",
            rule=f"instructions:{self.edition}",
            reason=_reason(found),
        )


def _answer(text: str) -> str | None:
    """The response without its reasoning; as it stands where there is none, since blanks may count."""
    found = strip_reasoning(text)
    if found is None:
        return "" if not text.strip() else None
    return text if found.rule == "reasoning:none" else found.answer


def _scores(found: Compliance) -> dict[str, float]:
    return {
        "prompt_strict": float(found.strict),
        "prompt_loose": float(found.loose),
        "followed_strict": float(sum(verdict.strict for verdict in found.verdicts)),
        "followed_loose": float(sum(verdict.loose for verdict in found.verdicts)),
        "instructions": float(len(found.verdicts)),
    }


def _reason(found: Compliance) -> str | None:
    missed = [
        f"{verdict.id}: {verdict.reason}" + (f" (followed {verdict.loosened})" if verdict.loose else "")
        for verdict in found.verdicts
        if not verdict.strict
    ]
    return "; ".join(missed) or None


@dataclass(frozen=True, kw_only=True)
class InstructionRate:
    """Share of all instructions that are followed: IFEval's instruction-level accuracy.

    Every instruction counts once, whatever its prompt; the interval is over prompts (clusters, CR2), since
    instructions of one prompt share a response. Samples that count as wrong without a score (refused,
    truncated) have as many instructions as the mean of those that were scored.
    """

    score: str = "followed_strict"
    name: str = "inst_strict"

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """The end-to-end share, then the share among answers."""
        whole = end_to_end(task.policy)
        return (
            self._share(marks, self.name, whole, level),
            self._share(marks, f"{self.name} (answered)", CAPABILITY, level),
        )

    def _share(self, marks: Sequence[Mark], name: str, denominator: Denominator, level: float) -> Estimate:
        asked = [mark for mark in marks if mark.status is not Status.INVALID_ITEM]
        counted = [mark for mark in asked if mark.status in denominator.counted]
        scored = [mark for mark in counted if mark.status is Status.SCORED]
        coverage = len(counted) / len(asked) if asked else 0.0
        if not scored:
            why = "no sample was scored: how many instructions there are is not known"
            return Estimate.undefined(name, level, why, denominator=denominator.name, coverage=coverage)
        mean = sum(mark.scores["instructions"] for mark in scored) / len(scored)
        values: list[float] = []
        clusters: list[str] = []
        for mark in counted:
            followed, total = self._counts(mark, mean)
            values += [1.0] * followed + [0.0] * (total - followed)
            clusters += [mark.item_id if mark.cluster is None else mark.cluster] * total
        interval = stats.mean_interval(values, clusters=clusters, level=level, bounds=(0.0, 1.0))
        missing = sum(self._counts(mark, mean)[1] for mark in asked if mark.status not in denominator.counted)
        followed_in_all, total_in_all = sum(values), len(values) + missing
        return Estimate(
            name=name,
            value=interval.value,
            low=interval.low,
            high=interval.high,
            level=level,
            method=interval.method,
            n=len({mark.item_id for mark in counted}),
            clusters=interval.clusters,
            se=interval.se,
            df=interval.df,
            denominator=denominator.name,
            coverage=coverage,
            bounds=(followed_in_all / total_in_all, (followed_in_all + missing) / total_in_all),
            warnings=interval.warnings,
        )

    def _counts(self, mark: Mark, mean: float) -> tuple[int, int]:
        """How many instructions are followed, and how many there are."""
        if mark.status is Status.SCORED:
            return round(mark.scores[self.score]), round(mark.scores["instructions"])
        return 0, round(mean)
