"""JSON as RFC 8259 has it, read strictly: what two readers could read differently is refused.

Refused are a name twice in one object (RFC 8259, section 4: behaviour is unpredictable), `NaN` and
`Infinity` (not JSON), numbers beyond the range of a double (they would become infinite) and text
after the value. Integers keep all their digits.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterator

from probatum.datasets.faults import listed, shown
from probatum.datasets.files import ByteStream, UnreadableError, not_utf8

__all__ = ["JsonStream", "NotJsonError", "parse_json"]

_EXCERPT_CHARACTERS = 24
_SPACE = " \t\n\r"
_OF_NUMBERS = "0123456789.eE+-"


class NotJsonError(ValueError):
    """A text is not the JSON that it should be; `position` (0-based) is known for slips of syntax."""

    def __init__(self, problem: str, position: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJsonError(f"name {shown(twice)} stands twice in one object; keep one of them")
    return found


def _refused_constant(literal: str) -> object:
    raise NotJsonError(f"{literal} is not JSON; write null, or leave the field out")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise NotJsonError(f"number {shown(literal)} is beyond the range of a double; write it as a string")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refused_constant, parse_float=_finite, strict=True
)
_NONFINITE_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, strict=True)
"""Reads `NaN`, `Infinity` and `-Infinity`, for sources that declare them."""


def _decode(text: str, start: int, *, nonfinite: bool) -> tuple[object, int]:
    try:
        return (_NONFINITE_DECODER if nonfinite else _DECODER).raw_decode(text, start)
    except json.JSONDecodeError as error:
        excerpt = text[max(0, error.pos - _EXCERPT_CHARACTERS) : error.pos + _EXCERPT_CHARACTERS]
        raise NotJsonError(f"not JSON: {error.msg} near {shown(excerpt)}", error.pos) from None
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("nested too deeply to be read; flatten it") from None
    except ValueError:  # the limit of int(): 4,300 digits by default
        raise NotJsonError("an integer has too many digits to be read; write it as a string") from None


def parse_json(text: str, *, nonfinite: bool = False) -> object:
    """The value of `text`, which is one line; with `nonfinite`, `NaN` and `Infinity` are numbers.

    Raises:
        NotJsonError: it is not exactly one JSON value, or one of those that this module refuses.
    """
    start = len(text) - len(text.lstrip(_SPACE))
    value, end = _decode(text, start, nonfinite=nonfinite)
    if text[end:].strip(_SPACE):
        raise NotJsonError(f"text after the value: {shown(text[end:].strip(_SPACE))}; one value a line", end)
    return value


class JsonStream:
    """The rows of one JSON text that may be larger than memory: an array, or an object with one of rows.

    Holds about one row at a time. Does not read JSON lines.
    """

    def __init__(self, stream: ByteStream, chunk_bytes: int = 1 << 16, *, nonfinite: bool = False) -> None:
        self._stream = stream
        self._nonfinite = nonfinite
        self._chunk_bytes = chunk_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._read_bytes = stream.tell()
        self._text = ""
        self._at = 0
        self._lines_before = 0  # complete lines that were dropped from the front of the text
        self._ended = False

    def rows(self) -> Iterator[tuple[int, object]]:
        """Line on which each element of the array begins, and the element.

        Raises:
            UnreadableError: not JSON, not UTF-8, or neither an array nor an object with exactly one.
        """
        first = self._peek()
        if first == "[":
            self._take("[")
            yield from self._elements()
        elif first == "{":
            yield from self._list_in_object()
        else:
            raise self._slip(
                "holds no rows: it is empty" if not first else "is neither an array nor an object"
            )
        if self._peek():
            raise self._slip("goes on after its end; name it .jsonl if it is JSON lines")

    def _list_in_object(self) -> Iterator[tuple[int, object]]:
        """The elements of the one list of rows; lists of texts and numbers (key words) are none."""
        names: dict[str, None] = {}
        lists: list[str] = []
        for name in self._names():
            if name in names:
                raise self._slip(f"name {shown(name)} stands twice in one object; keep one of them")
            names[name] = None
            if self._peek() != "[":
                self._value()
                continue
            self._take("[")
            if self._peek() not in {"{", "["}:
                for _ in self._elements():
                    pass
                continue
            lists.append(name)
            if len(lists) > 1:
                raise self._slip(f"has several lists of rows ({listed(lists)}); keep one of them")
            yield from self._elements()
        if not lists:
            raise self._slip(f"is an object without a list of rows; its names: {listed(names)}")

    def _names(self) -> Iterator[str]:
        """Names of the object that begins here, each with its colon taken."""
        self._take("{")
        while self._peek() != "}":
            name = self._value()
            if not isinstance(name, str):
                raise self._slip(f"not JSON: a name must be a string, and is {shown(name)}")
            self._take(":")
            yield name
            if self._peek() != "}":
                self._take(",")
                if self._peek() == "}":
                    raise self._slip("not JSON: a comma before the closing brace")
        self._take("}")

    def _elements(self) -> Iterator[tuple[int, object]]:
        """What stands in the array whose bracket was taken, each with the line on which it begins."""
        while self._peek() != "]":
            line = self._line()
            yield line, self._value()
            if self._peek() != "]":
                self._take(",")
                if self._peek() == "]":
                    raise self._slip("not JSON: a comma before the closing bracket")
        self._take("]")

    def _value(self) -> object:
        self._peek()
        while True:
            try:
                value, end = _decode(self._text, self._at, nonfinite=self._nonfinite)
            except NotJsonError as error:
                # A text cut by the end of the buffer is a slip of syntax, too: read on until it is whole.
                if error.position is None or not self._fill(len(self._text)):
                    raise self._slip(error.problem, error.position) from None
                continue
            # A number at the end of the buffer may go on: "1", "1.", "1.5e".
            if isinstance(value, (int, float)) and not self._text[end:].strip(_OF_NUMBERS) and self._fill(1):
                continue
            self._at = end
            return value

    def _peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if (character := self._text[self._at]) not in _SPACE:
                    return character
                self._at += 1
            if not self._fill(1):
                return ""

    def _take(self, wanted: str) -> None:
        found = self._peek()
        if found != wanted:
            end = f"found {found!r}" if found else "and the file ends: it is cut short"
            raise self._slip(f"not JSON: {wanted!r} expected, {end}")
        self._at += 1

    def _fill(self, least: int) -> bool:
        """Reads at least so many bytes on, and drops what was used; `False` at the end of the file."""
        if self._ended:
            return False
        chunk = self._stream.read(max(least, self._chunk_bytes))
        self._ended = not chunk
        pending = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            ahead = self._text.count("\n") + error.object[: error.start].count(b"\n")
            raise not_utf8(error, self._lines_before + ahead + 1, self._read_bytes - pending) from None
        self._read_bytes += len(chunk)
        self._lines_before += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + text
        self._at = 0
        return not self._ended

    def _line(self, position: int | None = None) -> int:
        at = self._at if position is None else position
        return self._lines_before + self._text.count("\n", 0, at) + 1

    def _slip(self, problem: str, position: int | None = None) -> UnreadableError:
        return UnreadableError(problem, line=self._line(position))
