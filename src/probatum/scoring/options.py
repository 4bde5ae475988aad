"""Multiple choice by likelihood: the option whose continuation the model finds likeliest.

Under each normalisation another option may win, so that all of them are scored and each has its name:

* `sum`: log-likelihood of the continuation (lm-eval's `acc`);
* `per_token`: divided by its scored tokens;
* `per_character`: by the characters of the option's text (lm-eval's `acc_norm`);
* `per_byte`: by its UTF-8 bytes;
* `pmi`: less the log-likelihood of the same continuation without the question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probatum.core.errors import ProtocolError
from probatum.core.records import Item, Outcome, Response
from probatum.core.status import Status
from probatum.prompting.forms import LABELS
from probatum.scoring.answers import invalid_item, unscorable

__all__ = ["Normalisation", "OptionLikelihood", "likeliest"]

Normalisation = Literal["sum", "per_token", "per_character", "per_byte", "pmi"]


@dataclass(frozen=True, kw_only=True)
class OptionLikelihood:
    """Scores of the likeliest option, under each normalisation; `correct` is the primary one.

    `probability` is the right option's share of exp(sum) over the options, `confidence` the largest such
    share, and `chance` what a blind guess scores. Options that tie share the credit: the expected score of
    a fair draw among them. An option with the right one's very text is as right.

    By the rules of lm-eval (0.4.13, `process_results`) the first of tied options wins, an option with the
    right one's text is wrong, and no item is broken: where the target is no option, every answer is wrong.
    """

    of: Literal["labels", "texts", "rest"] = "texts"
    """What the continuations are: labels, the options' texts, or the rest of a sentence, which is the same
    for all options, each standing before it. Only texts differ in length, and need a normalisation."""
    primary: Normalisation = "sum"
    unconditional: bool = False
    """Whether the prompt asks for the options without the question, too: then there is `pmi`."""
    labels: tuple[str, ...] = LABELS
    rules: Literal["probatum", "lm_eval"] = "probatum"

    def __post_init__(self) -> None:
        if self.primary not in self.normalisations:
            raise ProtocolError(
                f"primary {self.primary!r} is not scored here: there are {', '.join(self.normalisations)}"
            )

    @property
    def normalisations(self) -> tuple[Normalisation, ...]:
        """Those that are scored."""
        if self.of != "texts":
            return ("sum", "pmi") if self.unconditional else ("sum",)
        every: tuple[Normalisation, ...] = ("sum", "per_token", "per_character", "per_byte")
        return (*every, "pmi") if self.unconditional else every

    @property
    def scores(self) -> tuple[str, ...]:
        """`correct`, one for each normalisation, and the probabilities."""
        return ("correct", *self.normalisations, "probability", "confidence", "chance")

    def for_compat(self, compat: Literal["lm_eval"]) -> OptionLikelihood:
        """By the rules of that harness."""
        return replace(self, rules=compat)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """Compares the likelihoods of the options, which the responses hold in order."""
        broken = self._broken(item) if self.rules == "probatum" or not item.choices else None
        if broken is not None:
            return invalid_item(item, sample, broken)
        count = len(item.choices)
        wanted = 2 * count if self.unconditional else count
        nothing = unscorable(item, sample, responses, wanted)
        return self._scored(item, sample, responses) if nothing is None else nothing

    def _scored(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        count = len(item.choices)
        sums = [math.fsum(response.logprobs or ()) for response in responses]
        values = self._values(item, responses, sums)
        right = self._right(item)
        scores: dict[str, float] = {}
        for name, each in values.items():
            best = self._best(each)
            scores[name] = len(best & right) / len(best)
        shares = _shares(sums[:count])
        best = self._best(values[self.primary])
        tied = "" if len(best) == 1 else f"{len(best)} options are equally likely and share the credit"
        return Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores={
                "correct": scores[self.primary],
                **scores,
                "probability": min(1.0, math.fsum(shares[place] for place in right)),
                "confidence": max(shares),
                "chance": len(right) / count,
            },
            answer=",".join(self.labels[place] for place in sorted(best)),
            rule=f"likelihood:{self.primary}",
            reason=tied or None,
        )

    def _values(
        self, item: Item, responses: Sequence[Response], sums: Sequence[float]
    ) -> Mapping[Normalisation, Sequence[float]]:
        asked = [choice.strip() if self.rules == "probatum" else choice for choice in item.choices]
        options = list(zip(sums, responses, asked, strict=False))
        values: dict[Normalisation, Sequence[float]] = {"sum": [total for total, _, _ in options]}
        if self.of == "texts":
            values["per_token"] = [total / len(found.logprobs or (0.0,)) for total, found, _ in options]
            values["per_character"] = [_per(total, len(text)) for total, _, text in options]
            values["per_byte"] = [
                _per(total, len(text.encode("utf-8", "replace"))) for total, _, text in options
            ]
        if self.unconditional:
            count = len(item.choices)
            values["pmi"] = [_gained(sums[place], sums[count + place]) for place in range(count)]
        return values

    def _best(self, values: Sequence[float]) -> frozenset[int]:
        best = likeliest(values)
        return best if self.rules == "probatum" else frozenset({min(best)})

    def _right(self, item: Item) -> frozenset[int]:
        if self.rules == "lm_eval":
            named = (self._named(item, target) for target in item.targets)
            return frozenset(place for place in named if place is not None)
        places = {self.labels.index(target) for target in item.targets}
        if self.of != "labels":
            texts = {item.choices[place].strip() for place in places}
            places |= {place for place, text in enumerate(item.choices) if text.strip() in texts}
        return frozenset(places)

    def _named(self, item: Item, target: str) -> int | None:
        """The place of a target by lm-eval: a label, or the first option of that text, or none."""
        known = (*self.labels[: len(item.choices)], *item.choices)
        return known.index(target) % len(item.choices) if target in known else None

    def _broken(self, item: Item) -> str | None:
        """Why likelihoods cannot decide this item."""
        known = self.labels[: len(item.choices)]
        if len(item.choices) < 2:  # noqa: PLR2004 - a choice needs two
            return f"the item has {len(item.choices)} options, and a choice needs two"
        if not item.targets:
            return "the item has no target"
        for target in item.targets:
            if target not in known:
                return f"target {target!r} is none of the labels {', '.join(known)}"
        if any(not text.strip() for text in item.choices):
            return "an option is empty"
        texts = [text.strip() for text in item.choices]
        for target in item.targets:
            if self.of == "labels" and texts.count(texts[known.index(target)]) > 1:
                return f"option {target!r} is right, and another one has the same text"
        return None


def likeliest(values: Sequence[float]) -> frozenset[int]:
    """The places of the largest value: several where they tie exactly."""
    most = max(values)
    return frozenset(place for place, value in enumerate(values) if value == most)


def _per(total: float, size: int) -> float:
    """Of an empty option, which only lm-eval scores: the worst there is."""
    return total / size if size else -math.inf


def _gained(total: float, without: float) -> float:
    """What the question adds; nothing makes an impossible option likelier."""
    return total if total == -math.inf else total - without


def _shares(sums: Sequence[float]) -> list[float]:
    """exp(sum) of each over their total; equal shares where all are impossible."""
    most = max(sums)
    if math.isinf(most):
        return [1 / len(sums)] * len(sums)
    weights = [math.exp(value - most) for value in sums]
    total = math.fsum(weights)
    return [weight / total for weight in weights]
