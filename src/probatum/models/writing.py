"""The text that a model writes, as bytes arrive: stop strings, and characters that are not whole."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

__all__ = ["Writing"]


class Writing:
    """Generated text of one sample.

    A token may stand for part of a character, and a stop string may lie across tokens or begin in the
    middle of one: everything is done on bytes.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        """Stop strings must not be empty."""
        self._stops = [(stop, stop.encode("utf-8", "surrogatepass")) for stop in stops]
        self._longest = max((len(stop) for _, stop in self._stops), default=0)
        self._content = bytearray()
        self.stop: str | None = None
        """The stop string that was found; of several, the one that begins first."""

    def add(self, piece: bytes) -> bool:
        """Adds the bytes of a token; says whether a stop string is complete. Then nothing more may follow."""
        begin = max(0, len(self._content) - self._longest + 1)
        self._content += piece
        found = [
            (place, order, stop)
            for order, (stop, content) in enumerate(self._stops)
            if (place := self._content.find(content, begin)) >= 0
        ]
        if not found:
            return False
        place, _, self.stop = min(found)
        del self._content[place:]
        return True

    def text(self, *, complete: bool) -> tuple[str, str | None]:
        """The text, and a remark where bytes of it were no UTF-8.

        Args:
            complete: whether the model ended it. If not, the first bytes of a character that did not come to
                its end are left out.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        content = bytes(self._content)
        text = decoder.decode(content, final=complete)
        try:
            codecs.getincrementaldecoder("utf-8")("strict").decode(content, final=complete)
        except UnicodeDecodeError:
            return text, "the model wrote bytes that are no UTF-8; each is replaced by U+FFFD"
        return text, None
