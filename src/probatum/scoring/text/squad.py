"""SQuAD's report: exact match and token F1 over questions, with "no answer" and its thresholds.

By the rules of the official scripts: Rajpurkar et al. 2016, arXiv:1606.05250 (v1.1); Rajpurkar et al.
2018, arXiv:1806.03822 (v2.0). The scores of one answer are `squad_exact` and `token_f1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from probatum.core.errors import UsageError
from probatum.core.records import Item, Outcome, Response
from probatum.extraction import Extractor
from probatum.scoring.answers import invalid_item, judged, read
from probatum.scoring.exact import squad_text
from probatum.scoring.text.whole import WholeText
from probatum.scoring.tokens import Tokens, squad_exact, token_f1

__all__ = [
    "BestThreshold",
    "SquadMatch",
    "SquadQuestion",
    "SquadReport",
    "squad_best_threshold",
    "squad_report",
    "usable_targets",
]

Version = Literal[1, 2]


@dataclass(frozen=True)
class SquadQuestion:
    """One question: its accepted answers, none of which means that the text does not answer it."""

    id: str
    targets: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SquadReport:
    """Shares of 100. What concerns questions with or without an answer is `None` where there are none."""

    questions: int
    missing: tuple[str, ...]
    """Questions without a prediction; in `exact` and `f1` they count as wrong (v1.1's rule)."""
    exact: float
    f1: float
    answered_exact: float | None = None
    """Over the questions that have an answer; `HasAns_exact` of the official script."""
    answered_f1: float | None = None
    unanswerable_exact: float | None = None
    """Over the questions that have none; `NoAns_exact`. F1 is the same."""
    per_question: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """Question → exact, F1; each 0 … 1."""


def usable_targets(targets: Sequence[str], version: Version) -> tuple[str, ...]:
    """The targets as that version compares with them.

    v2.0 leaves out those that normalise to nothing ("The"), and where none is left the answer is the
    empty one.
    """
    if version == 1:
        return tuple(targets)
    return tuple(target for target in targets if squad_text(target)) or ("",)


def squad_report(
    questions: Sequence[SquadQuestion],
    predictions: Mapping[str, str],
    *,
    version: Version = 2,
    no_answer: Mapping[str, float] | None = None,
    threshold: float = 1.0,
    tokens: Tokens = "words",
) -> SquadReport:
    """Exact match and F1 of predictions, in 0 … 100.

    Args:
        questions: with their accepted answers.
        predictions: question → text; the empty text is "no answer".
        version: 1 for v1.1, where each question has an answer; 2 for v2.0.
        no_answer: question → probability that there is no answer (v2.0). Where it is above `threshold`,
            the prediction counts as "no answer", whatever its text.
        threshold: see above; 1 changes nothing.
        tokens: how F1 splits text, see `token_f1`.

    The official script of v2.0 leaves questions without a prediction out of the mean, so that a system
    gains by not predicting; here they count as wrong in both versions, and are listed.

    Raises:
        UsageError: there is no question, two have one id, or (v1.1) one has no answer.
    """
    _check(questions, version)
    scores: dict[str, tuple[float, float]] = {}
    missing = tuple(each.id for each in questions if each.id not in predictions)
    for each in questions:
        targets = usable_targets(each.targets, version)
        if each.id not in predictions:
            scores[each.id] = (0.0, 0.0)
        elif no_answer is not None and no_answer.get(each.id, 0.0) > threshold:
            right = float(targets == ("",))
            scores[each.id] = (right, right)
        else:
            said = predictions[each.id]
            scores[each.id] = (float(squad_exact(said, targets)), token_f1(said, targets, tokens))
    answerable = [each.id for each in questions if usable_targets(each.targets, version) != ("",)]
    others = sorted(scores.keys() - set(answerable))
    return SquadReport(
        questions=len(questions),
        missing=missing,
        exact=_share([scores[each.id][0] for each in questions]) or 0.0,
        f1=_share([scores[each.id][1] for each in questions]) or 0.0,
        answered_exact=_share([scores[each][0] for each in answerable]),
        answered_f1=_share([scores[each][1] for each in answerable]),
        unanswerable_exact=_share([scores[each][0] for each in others]),
        per_question=scores,
    )


def _check(questions: Sequence[SquadQuestion], version: Version) -> None:
    if not questions:
        raise UsageError("there is no question to score")
    if len({each.id for each in questions}) < len(questions):
        raise UsageError("two questions have one id, and predictions are found by id; make them different")
    for each in questions:
        if version == 1 and not each.targets:
            raise UsageError(f"question {each.id!r} has no answer, as in SQuAD 2.0; score with version=2")


def _share(values: Sequence[float]) -> float | None:
    return 100 * sum(values) / len(values) if values else None


@dataclass(frozen=True)
class BestThreshold:
    """The threshold of "no answer" under which the score is highest: an upper bound, read off the golds."""

    value: float
    """Best score, 0 … 100."""
    threshold: float
    """Predictions whose probability of "no answer" is above it count as "no answer"."""


def squad_best_threshold(
    questions: Sequence[SquadQuestion],
    predictions: Mapping[str, str],
    no_answer: Mapping[str, float],
    *,
    score: Literal["exact", "f1"],
    ties: Literal["together", "official"] = "together",
) -> BestThreshold:
    """`best_exact` or `best_f1` of SQuAD 2.0: the threshold is chosen on the same questions.

    Args:
        questions: with their accepted answers.
        predictions: question → text.
        no_answer: question → probability that there is no answer.
        score: which one to maximise.
        ties: `together` moves questions of equal probability over the threshold together, as a threshold
            does; `official` moves them one by one in the order given, as the official script does, which
            can report a score that no threshold reaches.

    Raises:
        UsageError: a question has no prediction or no probability.
    """
    report = squad_report(questions, predictions, version=2)
    for each in questions:
        if each.id not in predictions or each.id not in no_answer:
            raise UsageError(
                f"question {each.id!r} has no prediction or no probability of 'no answer'; give both"
            )
    unanswerable = {each.id for each in questions if usable_targets(each.targets, 2) == ("",)}
    place = 0 if score == "exact" else 1
    order = sorted((each.id for each in questions if each.id in no_answer), key=no_answer.__getitem__)
    if ties == "official":
        given = {name: number for number, name in enumerate(no_answer)}
        order.sort(key=lambda name: (no_answer[name], given[name]))
    now = best = float(len(unanswerable))
    threshold = 0.0
    for number, name in enumerate(order):
        if name in unanswerable:
            now -= bool(predictions[name])
        else:
            now += report.per_question[name][place]
        goes_on = number + 1 < len(order) and no_answer[order[number + 1]] == no_answer[name]
        if now > best and (ties == "official" or not goes_on):
            best, threshold = now, no_answer[name]
    return BestThreshold(100 * best / len(questions), threshold)


@dataclass(frozen=True)
class SquadMatch:
    """Scores `exact` and `f1` by SQuAD's rules. An item without targets is one that has no answer (v2.0)."""

    extractor: Extractor = field(default_factory=WholeText)
    version: Version = 2
    tokens: Tokens = "words"
    abstains: tuple[str, ...] = ("no answer", "unanswerable")
    """What a model may say for "no answer", besides nothing: compared after SQuAD's normalisation."""
    scores: tuple[str, ...] = field(default=("exact", "f1"), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the extracted answer with the targets."""
        if self.version == 1 and not item.targets:
            return invalid_item(item, sample, "the item has no target")
        found = read(item, sample, responses, self.extractor)
        if isinstance(found, Outcome):
            return found
        targets = usable_targets(item.targets, self.version)
        said = found.answer
        if self.version == 2 and squad_text(said) in {squad_text(each) for each in self.abstains}:  # noqa: PLR2004 - the version's name
            said = ""
        values = {
            "exact": float(squad_exact(said, targets)),
            "f1": token_f1(said, targets, self.tokens),
        }
        return judged(item, sample, found, values)
