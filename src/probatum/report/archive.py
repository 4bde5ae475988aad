"""A ZIP archive of which every byte follows from the names and the contents of its files.

Files are stored as they are, in the order given, without times, extra fields or data descriptors. So the
archive can be built again from what it holds, and any byte that differs has been changed.

Source: PKWARE's APPNOTE, sections 4.3.7 (local header), 4.3.12 (central directory), 4.3.16 (end record).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Final

from probatum.core.errors import UsageError

__all__ = ["CHUNK", "archive"]

CHUNK: Final = 1 << 20
MOST: Final = (1 << 32) - 1
"""Bytes that a ZIP without 64-bit fields can hold."""
_VERSION: Final = 20
_UNIX: Final = (3 << 8) | _VERSION
_FIRST_DAY: Final = 0x21
"""1980-01-01, the earliest that the format knows."""
_READABLE: Final = 0o100644 << 16

Opener = Callable[[], BinaryIO]


def archive(files: Sequence[tuple[str, Opener]], comment: bytes) -> Iterator[bytes]:
    """The archive, piece by piece; each file is opened twice.

    Args:
        files: ASCII name, and how to open it.
        comment: of the archive, at most 65,535 bytes.

    Raises:
        UsageError: it would be larger than 4 GiB.
    """
    offset = 0
    directory = b""
    for name, opener in files:
        crc, size = _measure(opener)
        encoded = name.encode("ascii")
        header = struct.pack(
            "<IHHHHHIIIHH", 0x04034B50, _VERSION, 0, 0, 0, _FIRST_DAY, crc, size, size, len(encoded), 0
        )
        start = offset
        offset += len(header) + len(encoded) + size
        if offset > MOST:
            raise UsageError(
                f"the bundle would be larger than 4 GiB at {name!r}; export the samples alone, as .parquet"
            )
        yield header + encoded
        yield from _chunks(opener)
        directory += struct.pack(
            "<IHHHHHHIIIHHHHHII",
            *(0x02014B50, _UNIX, _VERSION, 0, 0, 0, _FIRST_DAY, crc, size, size),
            *(len(encoded), 0, 0, 0, 0, _READABLE, start),
        )
        directory += encoded
    yield directory
    count = len(files)
    yield struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), offset, len(comment))
    yield comment


def _chunks(opener: Opener) -> Iterator[bytes]:
    with opener() as stream:
        while piece := stream.read(CHUNK):
            yield piece


def _measure(opener: Opener) -> tuple[int, int]:
    crc = size = 0
    for piece in _chunks(opener):
        crc, size = zlib.crc32(piece, crc), size + len(piece)
    return crc, size
