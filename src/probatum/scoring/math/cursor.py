"""A place among tokens, and the ways forward from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from probatum.scoring.math.lexer import Token, Unreadable
from probatum.scoring.math.values import Value

__all__ = ["END", "Cursor"]

END: Final = Token("end of text", "")
_DEEPEST: Final = 40
"""Nesting of brackets and functions."""
_CLOSING: Final = frozenset(
    (END.kind, ",", ";", "join", ")", "]", "\\}", "}", "relation", "&", "row", "end", "+", "-")
)
"""Kinds of tokens behind which nothing belongs to the value before them."""


class Cursor:
    """Tokens with a place among them."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0
        self.bars = 0
        """Open bars of absolute values: then the next bar closes."""
        self.brackets = 0
        """Open square brackets: then the next one may close."""
        self.sign = 1
        """Which of two signs ± stands for at present."""
        self.doubled = False
        """Whether a ± was read."""
        self.indices: list[str] = []
        """Indices of the sums that are open: there, i is no imaginary unit."""

    @property
    def token(self) -> Token:
        """The next one."""
        return self.tokens[self.at] if self.at < len(self.tokens) else END

    def next_is(self, *kinds: str) -> bool:
        """Whether the next token is of one of the kinds."""
        return self.token.kind in kinds

    def after(self, ahead: int = 1) -> Token:
        """A later one."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else END

    def take(self, *kinds: str) -> Token | None:
        """The next token if it is of one of the kinds."""
        if self.token.kind in kinds:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def expect(self, *kinds: str) -> Token:
        """The next token.

        Raises:
            Unreadable: it is of another kind.
        """
        found = self.take(*kinds)
        if found is None:
            raise Unreadable(f"{self.token.text[:20]!r} is not expected here")
        return found

    def ends(self) -> bool:
        """Whether the value before this place is complete."""
        return self.token.kind in _CLOSING

    def nested(self, read: Callable[[], Value]) -> Value:
        """Reads something one level deeper.

        Raises:
            Unreadable: it is too deep.
        """
        self.deeper()
        value = read()
        self.depth -= 1
        return value

    def deeper(self) -> None:
        """Goes one level down.

        Raises:
            Unreadable: it is too deep.
        """
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("nested too deeply")
