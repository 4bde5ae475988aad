"""Stop strings: literal, never empty, searched for in generated text only, cut at the earliest."""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.errors import ProtocolError
from probatum.extraction.reasoning import visible

__all__ = ["Cut", "check_stops", "cut_at_stop", "stops_within"]

_PARTIAL = 3
"""Characters of a stop string at the end of a text that are taken for its beginning."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A text up to its stop string."""

    text: str
    stop: str | None = None
    """The stop string found; `None` where there is none."""
    partial: bool = False
    """Only the beginning of `stop` was there: a server had removed the rest."""


def check_stops(stops: tuple[str, ...]) -> None:
    """Refuses stop strings that would empty every answer.

    Raises:
        ProtocolError: one is empty.
    """
    if "" in stops:
        raise ProtocolError(
            f"stop strings {stops!r}: an empty one ends every answer before it begins; leave it out"
        )


def stops_within(text: str, stops: tuple[str, ...]) -> tuple[str, ...]:
    r"""Those stop strings that a right answer holds: a model that gives it is cut short.

    What surrounds the answer is put aside, so that a line break at its end is none of them.

    >>> stops_within("a\nb\n", ("\n", "Q:"))
    ('\n',)
    """
    check_stops(stops)
    return tuple(stop for stop in stops if stop in text.strip())


def cut_at_stop(text: str, stops: tuple[str, ...], *, stopped: bool = False) -> Cut:
    r"""`text` before the earliest stop string; the longest of those that begin there.

    Stop strings end answers: in a model's reasoning, and between it and the answer, they are no more than
    text.

    Args:
        text: generated text, without the prompt.
        stops: literal strings.
        stopped: whether the server says that a stop string ended it; then a tail of at least three
            characters that begins one of them belongs to it too.

    Raises:
        ProtocolError: a stop string is empty.

    >>> cut_at_stop("    return 1\n\ndef g():", ("\nprint", "\ndef"))
    Cut(text='    return 1\n', stop='\ndef', partial=False)
    """
    check_stops(stops)
    begin = _answer_begins(text)
    found = [(at, -len(stop), stop) for stop in stops if (at := text.find(stop, begin)) >= 0]
    if found:
        at, _, stop = min(found)
        return Cut(text[:at], stop)
    if stopped:
        for stop in stops:
            for length in range(min(len(stop) - 1, len(text) - begin), _PARTIAL - 1, -1):
                if text.endswith(stop[:length]):
                    return Cut(text[: len(text) - length], stop, partial=True)
    return Cut(text)


def _answer_begins(text: str) -> int:
    """Behind the reasoning and the blanks that follow it; at the end where it was never closed."""
    seen = visible(text)
    if seen.truncated:
        return len(text)
    return 0 if seen.rule == "reasoning:none" else len(text) - len(text[seen.offset :].lstrip())
