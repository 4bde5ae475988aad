"""What the instruction rules read and write: instructions, findings and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from probatum.core.errors import ProbatumError

__all__ = ["Compliance", "Edition", "Finding", "Instruction", "InstructionError", "Verdict"]

Edition = Literal["probatum", "official"]
"""`official` gives the verdicts of the published checkers, faults included; `probatum` mends the faults."""


class InstructionError(ProbatumError):
    """An instruction that no rule can check: an unknown id, or arguments that do not fit it."""


@dataclass(frozen=True)
class Instruction:
    """One instruction that can be verified without a model, as a data set writes it."""

    id: str
    """`group:kind`, with the language before it where that is not English: `es:keywords:frequency`."""
    arguments: Mapping[str, object] = field(default_factory=dict)
    """By the names of the data set; `None` counts as not given."""


@dataclass(frozen=True)
class Finding:
    """What one rule found in one text."""

    followed: bool
    reason: str
    """What was counted or seen, in a few words."""


@dataclass(frozen=True)
class Verdict:
    """Whether one response follows one instruction."""

    id: str
    strict: bool
    """The response as it stands follows it."""
    loose: bool
    """The response or one of its seven loosened forms follows it."""
    reason: str
    """What the rule saw in the response as it stands."""
    loosened: str | None = None
    """The form that follows it where the response itself does not."""


@dataclass(frozen=True)
class Compliance:
    """Whether one response follows each of its instructions; in their order, repeated ids included."""

    verdicts: tuple[Verdict, ...]

    @property
    def strict(self) -> bool:
        """Whether the response as it stands follows all of them."""
        return all(verdict.strict for verdict in self.verdicts)

    @property
    def loose(self) -> bool:
        """Whether every instruction is followed by some form of the response (not always the same one)."""
        return all(verdict.loose for verdict in self.verdicts)
