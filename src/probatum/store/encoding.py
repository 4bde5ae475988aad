"""Records to bytes and back, exactly.

A body is MessagePack: a map of the record's fields, those left out that are `None` by default. Its
first byte says how to read it: whether it is compressed, and whether it has escapes.

MessagePack and UTF-8 have no lone surrogates and no integers beyond 64 bits, and JSON's escapes
would join two lone halves into one character. Model output and data sets hold all of these. They are
rare, so a body is first tried as it is, and rewritten with extension types only when that fails.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec.msgpack import Decoder, Encoder, Ext

from probatum.core.errors import StoreError

__all__ = ["pack", "pack_text", "text_digest", "unpack", "unpack_text"]

T = TypeVar("T")

COMPRESSED: Final = 1
ESCAPED: Final = 2

WORTH_COMPRESSING: Final = 256
"""Bytes; below that zlib saves little."""

TEXT, INTEGER, MAPPING = 1, 2, 3
"""Extension types of what MessagePack cannot say."""


def pack(value: object, **instead: object) -> bytes:
    """The body of a record (a dataclass) or of plain data; `instead` replaces fields of a record.

    Raises:
        StoreError: a value in it is not plain data.
    """
    plain = _sparse(value)
    if instead:
        plain = {**plain, **instead}
    try:
        data, flags = _ENCODER.encode(plain), 0
    except (UnicodeEncodeError, OverflowError):
        data, flags = _ENCODER.encode(_escape(plain)), ESCAPED
    return _wrap(data, flags)


def unpack(kind: type[T], body: bytes) -> T:
    """The record of type `kind` whose body this is."""
    data, flags = _unwrap(body)
    if flags & ESCAPED:
        return msgspec.convert(_ESCAPED.decode(data), kind)
    decoder: Decoder[T] = _decoder(cast("Any", kind))
    return decoder.decode(data)


def pack_text(text: str) -> bytes:
    """The body of a long text."""
    return _wrap(text.encode("utf-8", "surrogatepass"), 0)


def unpack_text(body: bytes) -> str:
    """The text whose body this is."""
    return _unwrap(body)[0].decode("utf-8", "surrogatepass")


def text_digest(text: str) -> bytes:
    """SHA-256 of the text, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _wrap(data: bytes, flags: int) -> bytes:
    if len(data) >= WORTH_COMPRESSING:
        compressed = _compress(data)
        if len(compressed) < 0.9 * len(data):
            return bytes([flags | COMPRESSED]) + compressed
    return bytes([flags]) + data


def _compress(data: bytes) -> bytes:
    """At zlib's fastest: level 6 takes six times as long for 7 % less.

    With the default window it would take 256 KiB of fresh memory for every short text, which costs more
    than compressing it.
    """
    window = min(15, max(9, len(data).bit_length()))
    compressor = zlib.compressobj(1, zlib.DEFLATED, window, min(8, window - 5))
    return compressor.compress(data) + compressor.flush()


def _unwrap(body: bytes) -> tuple[bytes, int]:
    flags = body[0]
    data = memoryview(body)[1:]
    return (zlib.decompress(data) if flags & COMPRESSED else bytes(data)), flags


def _refuse(value: object) -> object:
    raise StoreError(f"{value!r} ({type(value).__name__}) cannot be kept: only plain JSON data can")


_ENCODER: Final = Encoder(enc_hook=_refuse)


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> Decoder[Any]:
    return Decoder(kind)


@lru_cache(maxsize=64)
def _fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Name, and whether `None` is the default: then it need not be written."""
    return tuple(
        (field.name, field.default is None and field.default_factory is MISSING) for field in fields(kind)
    )


def _sparse(value: object) -> Any:
    if not is_dataclass(value):
        return value
    sparse = {}
    for name, optional in _fields(cast("Any", type(value))):
        part = getattr(value, name)
        if part is not None or not optional:
            sparse[name] = part
    return sparse


def _escape(value: object) -> object:  # noqa: PLR0911 - one line a type, read as a table
    """`value` with extension types in place of what MessagePack cannot say."""
    if is_dataclass(value):
        return _escape(_sparse(value))
    if isinstance(value, msgspec.Struct):
        return _escape(msgspec.structs.asdict(value))
    if isinstance(value, str):
        return Ext(TEXT, value.encode("utf-8", "surrogatepass")) if _broken(value) else value
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return Ext(INTEGER, str(value).encode("ascii"))
    if isinstance(value, Mapping):
        if any(isinstance(key, str) and _broken(key) for key in value):
            pairs = [[_escape(key), _escape(part)] for key, part in value.items()]
            return Ext(MAPPING, _ENCODER.encode(pairs))
        return {key: _escape(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escape(part) for part in value]
    return value


def _broken(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _restore(code: int, data: memoryview) -> Any:
    if code == TEXT:
        return bytes(data).decode("utf-8", "surrogatepass")
    if code == INTEGER:
        return int(bytes(data))
    if code == MAPPING:
        return dict(_ESCAPED.decode(data))
    raise StoreError(f"extension type {code!r} in the store is unknown: a newer probatum may have written it")


_ESCAPED: Final[Decoder[Any]] = Decoder(ext_hook=_restore)
