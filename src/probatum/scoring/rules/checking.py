"""Whether a response follows its instructions: strictly, and in the paper's loose reading.

Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models", arXiv:2311.07911, §3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from probatum.scoring.rules.catalogue import Prepared, prepare
from probatum.scoring.rules.own import tidy
from probatum.scoring.rules.records import (
    Compliance,
    Edition,
    Finding,
    Instruction,
    InstructionError,
    Verdict,
)

__all__ = ["check_instructions", "instructions_of", "loosened"]

_EMPTY: Final = Finding(followed=False, reason="the response is empty, which follows no instruction")


def instructions_of(
    ids: Sequence[str], arguments: Sequence[Mapping[str, object] | None]
) -> tuple[Instruction, ...]:
    """Instructions from a data set's two columns, `instruction_id_list` and `kwargs`. Ids may recur.

    Raises:
        InstructionError: the columns are not equally long.
    """
    if len(ids) != len(arguments):
        raise InstructionError(
            f"{len(ids)} instruction ids and {len(arguments)} sets of arguments: each id needs its own; "
            "mend the item"
        )
    return tuple(
        Instruction(identity, dict(given or {})) for identity, given in zip(ids, arguments, strict=True)
    )


def loosened(text: str) -> dict[str, str]:
    """The eight forms of a response of the loose reading, by name; the response itself comes first.

    Without asterisks, without its first line, its last line, both, and each of these without asterisks:
    a phrase like "Sure, here it is:" and Markdown's emphasis do not count against a model then.
    """
    lines = text.split("\n")
    cut = {
        "without its first line": "\n".join(lines[1:]).strip(),
        "without its last line": "\n".join(lines[:-1]).strip(),
        "without its first and last line": "\n".join(lines[1:-1]).strip(),
    }
    forms = {"as it stands": text, "without asterisks": text.replace("*", ""), **cut}
    return forms | {f"{name}, without asterisks": form.replace("*", "") for name, form in cut.items()}


def check_instructions(
    text: str, instructions: Iterable[Instruction], *, edition: Edition = "probatum"
) -> Compliance:
    """A verdict on each instruction, in order; an empty response follows none.

    Args:
        text: the response.
        instructions: what it was asked to follow.
        edition: `official` for the published checkers' verdicts, faults included.

    Raises:
        InstructionError: an instruction that no rule can check. It is never taken as followed.
        UsageError: a tokenizer that the rule needs is not installed (extra `ifeval`).

    >>> asked = Instruction("keywords:frequency", {"keyword": "art", "frequency": 2, "relation": "at least"})
    >>> verdict = check_instructions("Start each part with art.", [asked]).verdicts[0]
    >>> verdict.strict, verdict.reason
    (False, "1 times 'art'; asked >= 2")
    """
    prepared = [prepare(instruction) for instruction in instructions]
    forms = loosened(text)
    if edition == "probatum":
        forms = {name: tidy(form) for name, form in forms.items()}
    forms = {name: form for name, form in forms.items() if form.strip()}
    return Compliance(tuple(_verdict(each, forms, edition) for each in prepared))


def _verdict(asked: Prepared, forms: Mapping[str, str], edition: Edition) -> Verdict:
    check = asked.rule.check(edition)
    first = _EMPTY
    tried: set[str] = set()
    for name, form in forms.items():
        if form in tried:
            continue
        tried.add(form)
        try:
            found = check(form, asked.given)
        except re.error as error:
            raise InstructionError(
                f"instruction {asked.instruction.id!r}: the published checker takes a keyword as a regular "
                f"expression, and one is none ({error}); mend the item, or use the edition 'probatum'"
            ) from None
        if name == "as it stands":
            first = found
            if found.followed:
                return Verdict(asked.instruction.id, strict=True, loose=True, reason=found.reason)
        if found.followed:
            return Verdict(asked.instruction.id, strict=False, loose=True, reason=first.reason, loosened=name)
    return Verdict(asked.instruction.id, strict=False, loose=False, reason=first.reason)
