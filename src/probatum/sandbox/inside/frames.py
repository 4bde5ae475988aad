"""Values as typed frames: how data crosses between the judge and a candidate it does not trust.

A frame is four bytes of length and JSON in ASCII. JSON's own forms stand for None, bool, int, float, str
and list; every other allowed type is an object of one key, its tag. Nothing is unpickled, no class of the
candidate's is named to the judge, and no method of the candidate's values is called: subclasses of plain
types cross as the plain type, read with the base type's own methods. `docs/sandbox.md` has the table.
"""

from __future__ import annotations

import builtins
import importlib
import json.decoder
import json.encoder
import re
import sys
from _socket import socket  # the module `socket` would cost memory in every candidate
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final

MAX_FRAME: Final = 16 << 20  # bytes; a larger value is not compared
MAX_BITS: Final = 1 << 22  # of an integer: arithmetic on larger ones takes the judge too long
MAX_DEPTH: Final = 100  # levels of nesting; deeper values are opaque
_SCALARS: Final = frozenset({int, float, str, bool, type(None)})
_LONG: Final = 1 << 62  # larger integers travel as hexadecimal: decimal digits cost quadratic time
_BIG_LIST: Final = 8  # lists of at least so many items are looked through by type at once
_HEAD: Final = 4  # bytes that hold a frame's length

_FRACTION: Final = re.compile(r"-?[0-9]+(/[0-9]+)?")
_CHUNK: Final = 1 << 14  # bytes asked for at once

_decoder: Final[Any] = json.decoder.JSONDecoder()
_encoders: Final[Any] = json.encoder  # what it has in C is missing from its published types
_scan: Final = _decoder.scan_once


def _encoder() -> Callable[[Any], str]:
    """JSON as text. The encoder in C is made once: `json.dumps` makes one for every call."""
    if getattr(_encoders, "c_make_encoder", None) is None:
        return json.encoder.JSONEncoder(check_circular=False).encode
    make = _encoders.c_make_encoder(
        None, None, _encoders.encode_basestring_ascii, None, ":", ",", False, False, True
    )
    return lambda data: "".join(make(data, 0))


_dumps: Final = _encoder()


class ProtocolViolationError(Exception):
    """A frame that no honest candidate sends."""


class GoneError(Exception):
    """The other side has closed the connection."""


class TooLargeError(Exception):
    """A value that has more bytes than a frame may have."""


class Opaque:
    """A value that has no plain form: equal to nothing, itself excepted."""

    def __init__(self, kind: str, *, truth: bool | None) -> None:
        self.kind = kind
        self._truth = truth

    def __bool__(self) -> bool:
        if self._truth is None:
            raise TypeError(f"the truth of a {self.kind} object cannot be told")
        return self._truth

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.kind} object of the program>"


class Peer:
    """What one side offers and accepts beyond plain data. This base offers and accepts nothing."""

    def remember(self, kind: str, value: Any) -> int | None:  # noqa: ARG002 - the interface
        """The number under which the other side may `call` a callable or ask an iterator for `next`."""
        return None

    def name(self, value: Any) -> list[str] | None:
        """Module and name by which the other side finds the same object; types of `builtins` only."""
        if isinstance(value, type):
            name = _name(value)
            if getattr(builtins, name, None) is value:
                return ["builtins", name]
        return None

    def reach(self, kind: str, number: int) -> Any:
        """The stand-in for a callable or an iterator of the other side."""
        raise ProtocolViolationError(f"a {kind} handle {number} where none can be")

    def find(self, module: str, name: str) -> Any:
        """The object that the other side named; types of `builtins` only."""
        found = getattr(builtins, name, None) if module == "builtins" else None
        if not isinstance(found, type):
            raise ProtocolViolationError(f"{module[:40]}.{name[:40]} is not a built-in type")
        return found


def encode(value: Any, peer: Peer, depth: int = 0) -> Any:  # noqa: PLR0911 - one return for each kind of value
    """`value` as JSON data. Plain data are read with the methods of the plain types alone."""
    kind = type(value)
    if kind in _SCALARS:
        if kind is int and not -_LONG < value < _LONG:
            if value.bit_length() > MAX_BITS:
                raise TooLargeError(f"an integer of {value.bit_length()} bits")
            return {"i": hex(value)}
        return value
    if depth > MAX_DEPTH:
        return {"o": ["deeply nested " + _name(kind), None]}
    writer = _WRITERS.get(kind)
    if writer is not None:
        return writer(value, peer, depth + 1)
    if _learn(kind):
        return encode(value, peer, depth)
    for base in kind.__mro__[1:]:
        writer = _WRITERS.get(base)
        if writer is not None:
            return writer(value, peer, depth + 1)
        if base in _SCALARS:
            return encode(_FLATTEN[base](value), peer, depth)
    return _encode_other(value, kind, peer)


def _name(kind: type) -> str:
    try:
        return str.__str__(type.__getattribute__(kind, "__name__"))[:80]
    except (AttributeError, TypeError):
        return "unknown"


def _encode_other(value: Any, kind: type, peer: Peer) -> Any:
    if (named := peer.name(value)) is not None:
        return {"n": named}
    number = None
    if hasattr(kind, "__next__"):
        number, tag = peer.remember("next", value), "g"
    elif hasattr(kind, "__call__"):  # noqa: B004 - asks the type, as a call would
        number, tag = peer.remember("call", value), "h"
    if number is not None:
        return {tag: number}
    try:
        truth = bool(value) is True
    except Exception:  # noqa: BLE001 - whatever the object does to us, it has no truth to tell
        return {"o": [_name(kind), None]}
    return {"o": [_name(kind), truth]}


def _encode_items(items: Iterable[Any], peer: Peer, depth: int) -> list[Any]:
    return [encode(item, peer, depth) for item in items]


def _encode_list(value: list[Any], peer: Peer, depth: int) -> Any:
    items = list.__iter__(value)
    if type(value) is list and len(value) >= _BIG_LIST:
        kinds = set(map(type, value))
        if kinds <= _SCALARS and (int not in kinds or _all_short(value, kinds)):
            return value
    return [encode(item, peer, depth) for item in items]


def _all_short(value: list[Any], kinds: set[type]) -> bool:
    if kinds == {int}:
        return bool(min(value) > -_LONG and max(value) < _LONG)
    return all(type(item) is not int or -_LONG < item < _LONG for item in value)


def _pairs(items: Iterable[tuple[Any, Any]], peer: Peer, depth: int) -> list[Any]:
    return [[encode(key, peer, depth), encode(item, peer, depth)] for key, item in items]


Writer = Callable[[Any, Peer, int], Any]

_FLATTEN: Final[dict[type, Callable[[Any], Any]]] = {
    int: lambda value: int.__add__(value, 0),
    float: float.__pos__,
    str: lambda value: "".join(str.__iter__(value)),
}

_WRITERS: Final[dict[type, Writer]] = {
    list: _encode_list,
    tuple: lambda value, peer, depth: {"t": _encode_items(tuple.__iter__(value), peer, depth)},
    set: lambda value, peer, depth: {"s": _encode_items(set.__iter__(value), peer, depth)},
    frozenset: lambda value, peer, depth: {"f": _encode_items(frozenset.__iter__(value), peer, depth)},
    dict: lambda value, peer, depth: {"d": _pairs(dict.items(value), peer, depth)},
    Counter: lambda value, peer, depth: {"C": _pairs(dict.items(value), peer, depth)},
    OrderedDict: lambda value, peer, depth: {"O": _pairs(OrderedDict.items(value), peer, depth)},
    defaultdict: lambda value, peer, depth: {"E": _pairs(dict.items(value), peer, depth)},
    deque: lambda value, peer, depth: {"q": _encode_items(deque.__iter__(value), peer, depth)},
    bytes: lambda value, _peer, _depth: {"b": bytes.hex(value)},
    bytearray: lambda value, _peer, _depth: {"a": bytearray.hex(value)},
    complex: lambda value, _peer, _depth: {
        "c": [complex.__dict__["real"].__get__(value), complex.__dict__["imag"].__get__(value)]
    },
    range: lambda value, _peer, _depth: {"r": [hex(value.start), hex(value.stop), hex(value.step)]},
    type({}.keys()): lambda value, peer, depth: {"K": _encode_items(value, peer, depth)},
    type({}.values()): lambda value, peer, depth: {"V": _encode_items(value, peer, depth)},
    type({}.items()): lambda value, peer, depth: {"I": _encode_items(value, peer, depth)},
    type(Ellipsis): lambda _value, _peer, _depth: {"e": 0},
    type(NotImplemented): lambda _value, _peer, _depth: {"e": 1},
    re.Match: lambda _value, _peer, _depth: {"o": ["Match", True]},
}


def _delta(value: Any) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


_LEARNT: Final[dict[tuple[str, str], tuple[str, str]]] = {
    ("decimal", "Decimal"): ("D", "__str__"),
    ("fractions", "Fraction"): ("Q", "__str__"),
    ("datetime", "datetime"): ("S", "isoformat"),
    ("datetime", "date"): ("Y", "isoformat"),
    ("datetime", "time"): ("T", "isoformat"),
    ("datetime", "timedelta"): ("L", ""),
}
"""Types of modules that are not loaded before a program loads them: tag, and how a value is written."""


def _learn(kind: type) -> bool:
    """Whether `kind` or a base of it is a type that had no writer yet, and has one now."""
    found = False
    for base in kind.__mro__:
        known = _LEARNT.get((base.__module__, base.__name__))
        if known is None or base in _WRITERS:
            continue
        if getattr(sys.modules.get(base.__module__), base.__name__, None) is not base:
            continue  # bears the name, and is not the type
        tag, method = known
        _WRITERS[base] = _writer(tag, getattr(base, method) if method else _delta)
        found = True
    return found and kind in _WRITERS


def _writer(tag: str, write: Callable[[Any], Any]) -> Writer:
    return lambda value, _peer, _depth: {tag: write(value)}


def decode(data: Any, peer: Peer) -> Any:
    """The value that `data` stands for.

    Raises:
        ProtocolViolationError: `data` is not what `encode` makes.
    """
    if type(data) in _SCALARS:
        return data
    try:
        return _decode(data, peer)
    except ProtocolViolationError:
        raise
    except (TypeError, ValueError, ArithmeticError, KeyError, RecursionError, AttributeError) as error:
        raise ProtocolViolationError(f"{type(error).__name__}: {error}") from None


def _decode(data: Any, peer: Peer) -> Any:
    kind = type(data)
    if kind is list:
        return [item if type(item) in _SCALARS else _decode(item, peer) for item in data]
    if kind is not dict:
        return data
    if len(data) != 1:
        raise ProtocolViolationError("a tagged value has one key")
    ((tag, body),) = data.items()
    reader = _READERS.get(tag)
    if reader is None:
        raise ProtocolViolationError(f"unknown tag {tag[:20]!r}")
    return reader(body, peer)


# Sets and dicts grow item by item here, never in one call: where keys collide on purpose, a call in C takes
# quadratic time and lets no timer in.


def _decode_pairs(body: Any, peer: Peer) -> dict[Any, Any]:
    return {_decode(key, peer): _decode(item, peer) for key, item in body}


def _filled(found: dict[Any, Any], body: Any, peer: Peer) -> dict[Any, Any]:
    for key, item in body:
        dict.__setitem__(found, _decode(key, peer), _decode(item, peer))
    return found


def _ordered(body: Any, peer: Peer) -> OrderedDict[Any, Any]:
    found: OrderedDict[Any, Any] = OrderedDict()
    for key, item in body:
        found[_decode(key, peer)] = _decode(item, peer)
    return found


def _set(body: Any, peer: Peer) -> set[Any]:
    return {item for item in _items(body, peer)}  # noqa: C416 - see above


def _fraction(body: Any, _peer: Peer) -> Any:
    if type(body) is not str or not _FRACTION.fullmatch(body):  # 1e999999999 would be computed
        raise ProtocolViolationError("a fraction is two integers")
    return _module("fractions").Fraction(body)


def _items(body: Any, peer: Peer) -> list[Any]:
    if type(body) is not list:
        raise ProtocolViolationError("items must be a list")
    return [item if type(item) in _SCALARS else _decode(item, peer) for item in body]


def _decode_named(body: Any, peer: Peer) -> Any:
    module, name = body
    if type(module) is not str or type(name) is not str:
        raise ProtocolViolationError("a name is two strings")
    return peer.find(module, name)


def _decode_opaque(body: Any, _peer: Peer) -> Opaque:
    kind, truth = body
    return Opaque(str(kind)[:100], truth=truth if isinstance(truth, bool) else None)


def _short(body: Any) -> str:
    if type(body) is not str or len(body) > MAX_BITS // 4 + 3:
        raise ProtocolViolationError("an integer too large")
    return body


def _number(body: Any) -> int:
    if type(body) is not int:
        raise ProtocolViolationError("a handle is a number")
    return body


def _module(name: str) -> Any:
    """A module of the standard library that few programs need, loaded when a value of it comes."""
    return importlib.import_module(name)


Reader = Callable[[Any, Peer], Any]

_READERS: Final[dict[str, Reader]] = {
    "i": lambda body, _peer: int(_short(body), 16),
    "t": lambda body, peer: tuple(_items(body, peer)),
    "s": _set,
    "f": lambda body, peer: frozenset(_set(body, peer)),
    "d": _decode_pairs,
    "C": lambda body, peer: _filled(Counter(), body, peer),
    "O": _ordered,
    "E": lambda body, peer: _filled(defaultdict(None), body, peer),
    "q": lambda body, peer: deque(_items(body, peer)),
    "b": lambda body, _peer: bytes.fromhex(body),
    "a": lambda body, _peer: bytearray.fromhex(body),
    "c": lambda body, _peer: complex(*map(float, body)),
    "r": lambda body, _peer: range(*(int(part, 16) for part in body)),
    "D": lambda body, _peer: _module("decimal").Decimal(body),
    "Q": _fraction,
    "S": lambda body, _peer: _module("datetime").datetime.fromisoformat(body),
    "Y": lambda body, _peer: _module("datetime").date.fromisoformat(body),
    "T": lambda body, _peer: _module("datetime").time.fromisoformat(body),
    "L": lambda body, _peer: _module("datetime").timedelta(*map(int, body)),
    "K": lambda body, peer: {item: None for item in _items(body, peer)}.keys(),  # noqa: C420 - see above
    "V": lambda body, peer: dict(enumerate(_items(body, peer))).values(),
    "I": lambda body, peer: {key: item for key, item in _items(body, peer)}.items(),  # noqa: C416 - see above
    "e": lambda body, _peer: NotImplemented if body == 1 else Ellipsis,
    "n": _decode_named,
    "o": _decode_opaque,
    "h": lambda body, peer: peer.reach("call", _number(body)),
    "g": lambda body, peer: peer.reach("next", _number(body)),
}


def exception(data: dict[str, Any]) -> Exception:
    """The nearest built-in exception to one that the other side described."""
    for base in data.get("bases", ()):
        kind = getattr(builtins, base, None) if isinstance(base, str) else None
        if isinstance(kind, type) and issubclass(kind, Exception):
            try:
                return kind(data.get("text", ""))
            except TypeError:  # UnicodeDecodeError and its kin take five arguments
                continue
    return RuntimeError(data.get("text", ""))


class Wire:
    """Frames over a connected stream socket."""

    def __init__(self, connection: socket, limit: int = MAX_FRAME) -> None:
        self.connection = connection
        self._send, self._receive = connection.sendall, connection.recv
        self._limit = limit
        self._buffer = b""

    def send(self, data: Any) -> None:
        """Sends one frame.

        Raises:
            GoneError: nobody is there.
            TooLargeError: nothing was sent.
        """
        body = _dumps(data)
        if len(body) > self._limit:
            raise TooLargeError(f"{len(body)} bytes")
        try:
            self._send(len(body).to_bytes(_HEAD, "little") + body.encode("ascii"))
        except OSError:
            raise GoneError from None

    def receive(self) -> Any:
        """Waits for one frame.

        Raises:
            GoneError: the other side has closed, perhaps in the middle of a frame.
            ProtocolViolationError: not a frame.
        """
        frame = self._buffer or self._more(_CHUNK)
        self._buffer = b""
        if len(frame) != _HEAD + int.from_bytes(frame[:_HEAD], "little"):  # as it is where both take turns
            frame = self._first(frame)
        try:
            data, _ = _scan(str(frame[_HEAD:], "ascii"), 0)
        except (ValueError, RecursionError, StopIteration) as error:
            raise ProtocolViolationError(f"{type(error).__name__} in a frame") from None
        return data

    def _first(self, buffer: bytes) -> bytes:
        """The first whole frame of what has come and what is still to come; the rest is kept."""
        if len(buffer) < _HEAD:
            buffer = self._fill(buffer, _HEAD)
        length = int.from_bytes(buffer[:_HEAD], "little")
        if length > self._limit:
            raise ProtocolViolationError(f"a frame of {length} bytes")
        end = _HEAD + length
        if len(buffer) < end:
            buffer = self._fill(buffer, end)
        self._buffer = buffer[end:]
        return buffer[:end]

    def _fill(self, buffer: bytes, count: int) -> bytes:
        chunks = [buffer]
        have = len(buffer)
        while have < count:
            chunk = self._more(max(_CHUNK, min(count - have, 1 << 20)))
            chunks.append(chunk)
            have += len(chunk)
        return b"".join(chunks)

    def _more(self, most: int) -> bytes:
        try:
            chunk = self._receive(most)
        except OSError:
            raise GoneError from None
        if not chunk:
            raise GoneError
        return chunk

    def pending(self) -> bool:
        """Whether bytes wait that nobody asked for."""
        return bool(self._buffer)

    def close(self) -> None:
        """Closes the socket."""
        self.connection.close()
