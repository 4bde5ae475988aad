r"""Files of rows: opening, decompressing, and telling early what a file is not.

Text is UTF-8. Lines end at `\n` alone (a `\r` before it is white space to JSON and CSV), because
U+2028, U+2029, U+0085 and others are ordinary characters inside JSON strings.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeAlias, cast

__all__ = ["DataFile", "UnreadableError", "byte_lines", "decode", "not_utf8", "open_bytes", "reading"]

_HEADS = (
    (codecs.BOM_UTF32_LE, "is UTF-32, not UTF-8; convert it: iconv -f UTF-32 -t UTF-8"),
    (codecs.BOM_UTF16_LE, "is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8"),
    (codecs.BOM_UTF16_BE, "is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8"),
    (b"\x1f\x8b", "is compressed by gzip, and its name does not say so; add .gz to the name"),
    (b"\x28\xb5\x2f\xfd", "is compressed by Zstandard; decompress it: zstd -d"),
    (b"PK\x03\x04", "is a zip archive; unpack it first"),
    (b"PAR1", "is Parquet, and its name does not say so; end the name in .parquet"),
    (b"version https://git-lfs", "is a pointer of Git LFS, not the rows; fetch them: git lfs pull"),
    (b"<!DOCTYPE", "is a web page, not rows; download the file itself"),
    (b"<html", "is a web page, not rows; download the file itself"),
)
"""How files begin that are not what their name says."""

_LONGEST_HEAD = max(len(head) for head, _ in _HEADS)


class UnreadableError(Exception):
    """A file cannot be read on from here."""

    def __init__(self, problem: str, *, line: int | None = None, row: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line
        self.row = row


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of rows, in a directory or in a package."""

    name: str
    """As it is told to people, and as it counts in `origin`."""
    content: Traversable

    def signature(self) -> tuple[int, ...] | None:
        """Changes whenever the file does; `None` where the file is part of an archive."""
        if not isinstance(self.content, Path):
            return None
        try:
            status = self.content.stat()
        except OSError:  # it is gone
            return ()
        return (status.st_size, status.st_mtime_ns, status.st_ino)

    def fingerprint(self) -> dict[str, object]:
        """Name, SHA-256 and size of the bytes as stored.

        Raises:
            UnreadableError: it cannot be read.
        """
        with reading(), self.content.open("rb") as stream:
            hashed = hashlib.file_digest(cast("io.BufferedReader", stream), "sha256")
            size = stream.tell()
        return {"path": self.name, "sha256": hashed.hexdigest(), "bytes": size}

    @property
    def suffix(self) -> str:
        """`jsonl`, `csv`, …, in lower case and without `.gz`."""
        return self.name.lower().removesuffix(".gz").rpartition(".")[2]

    @property
    def compressed(self) -> bool:
        """Whether the name says that it is compressed by gzip."""
        return self.name.lower().endswith(".gz")


@contextmanager
def reading() -> Iterator[None]:
    """Turns what operating system and decompressor raise into `UnreadableError`."""
    try:
        yield
    except EOFError as error:
        raise UnreadableError("is cut short: the gzip stream has no end; fetch the file again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableError(f"is not sound gzip ({error}); fetch the file again") from error
    except OSError as error:
        reason = error.strerror or str(error).partition("\n")[0]
        raise UnreadableError(f"cannot be read: {reason}") from error


ByteStream: TypeAlias = "io.BufferedReader[io.RawIOBase]"
"""Bytes of a text file, decompressed."""


@contextmanager
def open_bytes(file: DataFile) -> Iterator[ByteStream]:
    """The bytes of a text file, decompressed, after a UTF-8 byte-order mark.

    Raises:
        UnreadableError: it is not there, is cut short, or is not UTF-8 text at all.
    """
    with reading(), file.content.open("rb") as stored:
        raw = cast("io.RawIOBase", gzip.GzipFile(fileobj=stored) if file.compressed else stored)
        stream = io.BufferedReader(raw)
        head = stream.peek(_LONGEST_HEAD)[:_LONGEST_HEAD]
        for start, problem in _HEADS:
            if head[: len(start)].lower() == start.lower():
                raise UnreadableError(problem)
        if b"\0" in head[:4]:
            raise UnreadableError(
                "is UTF-16 or UTF-32 by its NUL bytes; convert it to UTF-8 with iconv", line=1
            )
        if head.startswith(codecs.BOM_UTF8):
            stream.read(len(codecs.BOM_UTF8))
        yield stream


def byte_lines(stream: ByteStream) -> Iterator[tuple[int, int, bytes]]:
    """Number of the line, its offset in bytes, and its bytes with the line feed."""
    offset = stream.tell()
    number = 0
    while line := stream.readline():
        number += 1
        yield number, offset, line
        offset += len(line)


def decode(line: bytes, number: int, offset: int) -> str:
    """A line as text.

    Raises:
        UnreadableError: a byte of it is not UTF-8; says which.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(error, number, offset) from None


def not_utf8(error: UnicodeDecodeError, line: int, offset: int) -> UnreadableError:
    """`error`, which arose in bytes that begin at `offset` of the file."""
    byte = error.object[error.start]
    return UnreadableError(
        f"byte 0x{byte:02x} at offset {offset + error.start} is not UTF-8 ({error.reason}); "
        "convert the file: iconv -f LATIN1 -t UTF-8 (or what it is in)",
        line=line,
    )
