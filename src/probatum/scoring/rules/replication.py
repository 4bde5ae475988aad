"""Published verdicts made again: rows of a data set, responses with verdicts, and what differs.

The published checkers are not wholly determined by their inputs: their language detector was not seeded,
and a letter that is none from a to z was replaced by a random one. Prompts and arguments were changed
after some verdicts had been published. Each difference is given its reason where it is one of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, cast

from probatum.core.errors import DataError
from probatum.scoring.rules.backends import detect_language
from probatum.scoring.rules.checking import check_instructions, instructions_of, loosened
from probatum.scoring.rules.records import Compliance, Edition, Instruction

__all__ = ["Difference", "PublishedRow", "Replication", "join_published", "replicate"]


@dataclass(frozen=True)
class PublishedRow:
    """A prompt with its instructions, a response, and the verdicts that were published on it."""

    key: str
    instructions: tuple[Instruction, ...]
    response: str
    strict: tuple[bool, ...] | None = None
    """Published verdicts in the order of the instructions; `None` where none were."""
    loose: tuple[bool, ...] | None = None
    reworded: bool = False
    """Whether the prompt was changed after the verdicts, so that the arguments may be other ones, too."""


@dataclass(frozen=True)
class Difference:
    """One instruction of one row whose published verdict is not ours."""

    key: str
    id: str
    reading: str
    """`strict` or `loose`."""
    published: bool
    ours: bool
    reason: str | None
    """Why, where it is known; `None` is a fault of ours, or of theirs that nobody knows."""


@dataclass(frozen=True)
class Replication:
    """Verdicts on every row, with their accuracies in percent as IFEval defines them."""

    edition: Edition
    rows: tuple[PublishedRow, ...]
    verdicts: tuple[Compliance, ...]

    @cached_property
    def accuracies(self) -> dict[str, float]:
        """`n`, and in percent: `prompt_strict`, `prompt_loose`, `inst_strict`, `inst_loose`.

        A prompt counts where every instruction is followed; an instruction counts wherever it stands.
        """
        every = [verdict for compliance in self.verdicts for verdict in compliance.verdicts]
        return {
            "n": len(self.rows),
            "prompt_strict": _percent([compliance.strict for compliance in self.verdicts]),
            "prompt_loose": _percent([compliance.loose for compliance in self.verdicts]),
            "inst_strict": _percent([verdict.strict for verdict in every]),
            "inst_loose": _percent([verdict.loose for verdict in every]),
        }

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every instruction whose published verdict is not ours, with the reason where it is known."""
        return tuple(self._differences())

    def _differences(self) -> Iterable[Difference]:
        for row, compliance in zip(self.rows, self.verdicts, strict=True):
            for place, verdict in enumerate(compliance.verdicts):
                for reading, published, ours in (
                    ("strict", row.strict, verdict.strict),
                    ("loose", row.loose, verdict.loose),
                ):
                    if published is not None and published[place] != ours:
                        reason = _reason(row, row.instructions[place], self.edition)
                        yield Difference(row.key, verdict.id, reading, published[place], ours, reason)


def _percent(values: Sequence[bool]) -> float:
    return 100 * sum(values) / len(values) if values else 0.0


def join_published(
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[Mapping[str, Any]],
    *,
    reading: Literal["strict", "loose"] = "strict",
) -> tuple[PublishedRow, ...]:
    """Joins a data set's rows with published outputs: by prompt, and by place where a prompt was changed.

    Args:
        inputs: `key`, `prompt`, `instruction_id_list`, `kwargs`.
        outputs: `prompt`, `response`, and verdicts under `strict` and `loose`, or one of them under
            `follow_instruction_list`; or no verdicts at all. In any order.
        reading: which of the two `follow_instruction_list` is.

    Raises:
        DataError: an output whose prompt is in no row, with no row left at its place that asks the same.
    """
    by_prompt = {str(row["prompt"]).strip(): row for row in inputs}
    answered = {str(row["prompt"]).strip() for row in outputs}
    left: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in inputs:
        if str(row["prompt"]).strip() not in answered:
            left[_kinds(row)].append(row)
    joined = []
    for output in outputs:
        found = by_prompt.get(str(output["prompt"]).strip())
        same = left[_kinds(output)] if found is None else []
        if found is None and not same:
            raise DataError(f"no row asks {str(output['prompt'])[:80]!r}; name the data set it is from")
        row = same.pop(0) if found is None else found
        joined.append(_joined(row, output, reading, reworded=found is None))
    return tuple(joined)


def _kinds(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(identity.removeprefix("en:") for identity in row["instruction_id_list"])


def _joined(
    row: Mapping[str, Any], output: Mapping[str, Any], reading: str, *, reworded: bool
) -> PublishedRow:
    verdicts = {**output, reading: output.get(reading, output.get("follow_instruction_list"))}
    return PublishedRow(
        key=str(row["key"]),
        instructions=instructions_of(row["instruction_id_list"], row["kwargs"]),
        response=str(output["response"]),
        strict=_verdicts(verdicts.get("strict")),
        loose=_verdicts(verdicts.get("loose")),
        reworded=reworded,
    )


def _verdicts(given: object) -> tuple[bool, ...] | None:
    return None if given is None else tuple(bool(each) for each in cast("Sequence[object]", given))


def replicate(rows: Iterable[PublishedRow], *, edition: Edition = "official") -> Replication:
    """Grades the rows again.

    Raises:
        InstructionError: an instruction that no rule can check.
        UsageError: a tokenizer is not installed (extra `ifeval`).
    """
    kept = tuple(rows)
    return Replication(
        edition,
        kept,
        tuple(check_instructions(row.response, row.instructions, edition=edition) for row in kept),
    )


CHANGED: Final[Mapping[tuple[str, str], str]] = {
    (
        "172",
        "ja:keywords:existence",
    ): "the keyword was タンパク質 when the verdict was made; the prompt has たんぱく質",
}
"""Arguments that their authors corrected after the verdicts: key and id → what was changed."""
SEEDS: Final = 40
"""With which the language is asked for again: a verdict that they do not share was a matter of chance."""


def _reason(row: PublishedRow, asked: Instruction, edition: Edition) -> str | None:
    if row.reworded:
        return "the prompt, and with it the argument, was changed after the verdict"
    if (row.key, asked.id) in CHANGED:
        return CHANGED[row.key, asked.id]
    if edition != "official":
        return "the edition mends the published rule"
    letter = asked.arguments.get("letter")
    if isinstance(letter, str) and not ("a" <= letter.lower() <= "z") and letter.isascii():
        return f"for {letter!r} the published checker counts a letter that it draws at random"
    if asked.id.endswith(("response_language", "_capital", "_lowercase")) and _depends_on_chance(
        row.response
    ):
        return "the published language detector was not seeded, and other seeds find other languages"
    return None


def _depends_on_chance(response: str) -> bool:
    """Whether seeds of the language detector disagree on some form of the response."""
    forms = {form for form in loosened(response).values() if form.strip()}
    return any(len({detect_language(form, seed) for seed in range(SEEDS)}) > 1 for form in sorted(forms))
