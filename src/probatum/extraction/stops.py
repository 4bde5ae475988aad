"""Stop strings: literal, never empty, searched for in generated text only, cut at the earliest."""

from __future__ import annotations

from dataclasses import dataclass

from probatum.core.errors import ProtocolError

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
    found = [(at, -len(stop), stop) for stop in stops if (at := text.find(stop)) >= 0]
    if found:
        at, _, stop = min(found)
        return Cut(text[:at], stop)
    if stopped:
        for stop in stops:
            for length in range(min(len(stop) - 1, len(text)), _PARTIAL - 1, -1):
                if text.endswith(stop[:length]):
                    return Cut(text[: len(text) - length], stop, partial=True)
    return Cut(text)
