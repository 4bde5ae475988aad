"""What one attempt at one request came to."""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.records import Finish

__all__ = ["Adapt", "Answer", "Rejected", "Transient", "Unusable", "Verdict", "one_line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The model answered."""

    text: str
    finish: Finish
    stop: str | None = None
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reason: str | None = None
    model: str | None = None
    """Name under which the server answered."""
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transient:
    """It may work later."""

    reason: str
    finish: Finish = Finish.INFRA_ERROR
    """What it is if all attempts end like this."""
    wait: float | None = None
    """Seconds that the server asks to wait."""
    congested: bool = False
    """The server has too much to do: everybody waits, and fewer are sent."""
    away: bool = False
    """No connection: nobody is there."""
    attempts: int | None = None
    """Most attempts for this kind of failure, where fewer than usual make sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """This request will never work; others may."""

    reason: str
    finish: Finish = Finish.MODEL_ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """No request will work."""

    reason: str
    certain: bool = True
    """Otherwise a server that has answered before is believed to mean this request alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapt:
    """The server wants the same said in another way."""

    field: str
    """`max_completion_tokens`, `max_tokens` or `stop`."""
    reason: str


Verdict = Answer | Transient | Rejected | Unusable | Adapt

LINE = 300
"""Characters of a server's message that are kept."""


def one_line(text: str) -> str:
    """`text` as one printable line of bounded length: it comes from a server and ends on a terminal."""
    head = text[: 4 * LINE]
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in head).split())
    return line if len(line) <= LINE else line[: LINE - 1] + "…"
