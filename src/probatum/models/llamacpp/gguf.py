"""Reads the header of a GGUF file: what the model is, and whether the file holds all that it promises.

llama.cpp may abort the whole process on a file that is damaged, so that the file is checked first.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import hashlib
import math
import mmap
import re
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from probatum.core.errors import ModelError
from probatum.models.llamacpp.embedded import digest_file

__all__ = ["GgufModel", "Header", "read_header", "read_model"]

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)
STRING: Final = 8
ARRAY: Final = 9
DEFAULT_ALIGNMENT: Final = 32  # bytes; `general.alignment` may say otherwise

SCALARS: Final[Mapping[int, str]] = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
"""Type of a value → format of `struct`."""

TENSOR_TYPES: Final[Mapping[int, tuple[str, int, int]]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36), 10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292), 16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50), 20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8),
    28: ("F64", 1, 8), 29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
}  # fmt: skip
"""Type of a tensor → name, values of one block, bytes of one block. A type that is not here is newer than
this table: its size is not checked."""

FILE_TYPES: Final[Mapping[int, str]] = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL",
    26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
    36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
}  # fmt: skip
"""`general.file_type` → the name under which the quantisation is known."""

PART: Final = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")


@dataclass(frozen=True)
class Header:
    """What one file says of itself."""

    metadata: Mapping[str, object]
    """Numbers, flags and texts; an array is only its length."""
    tokenizer: str | None
    """SHA-256 over all `tokenizer.ggml.*` entries as they stand in the file; `None` without a tokenizer."""
    precision: str | None


@dataclass(frozen=True)
class GgufModel:
    """A whole model: one file, or all parts of a split one."""

    path: Path
    """What llama.cpp loads: the first part."""
    weights: str
    """SHA-256 of the file; of the parts' digests, one to a line, where there are several."""
    header: Header

    @property
    def template(self) -> str | None:
        """Source of the chat template, in Jinja."""
        template = self.header.metadata.get("tokenizer.chat_template")
        return template if isinstance(template, str) and template.strip() else None

    @property
    def experts(self) -> bool:
        """Whether it is a mixture of experts."""
        metadata = self.header.metadata
        count = metadata.get(f"{metadata.get('general.architecture')}.expert_count", 0)
        return isinstance(count, int) and count > 0


def read_model(path: Path) -> GgufModel:
    """Reads and checks a model, and digests its weights.

    Raises:
        ModelError: no such file, no GGUF, a part is missing, or a file is damaged or cut short.
    """
    header = read_header(path)
    count = header.metadata.get("split.count", 0)
    if not isinstance(count, int) or count <= 1:
        return GgufModel(path, digest_file(path), header)
    named = PART.fullmatch(path.name)
    if named is None or int(named["count"]) != count:
        raise ModelError(
            f"model file {str(path)!r} is one of {count} parts, and is not named like one: "
            "rename the parts to NAME-00001-of-0000N.gguf"
        )
    parts = [
        path.with_name(f"{named['stem']}-{number:05}-of-{count:05}.gguf") for number in range(1, count + 1)
    ]
    headers = [header if part == path else read_header(part) for part in parts]
    digests = "\n".join(digest_file(part) for part in parts)
    return GgufModel(parts[0], hashlib.sha256(digests.encode()).hexdigest(), headers[0])


def read_header(path: Path) -> Header:
    """Reads the header, and checks that every tensor lies within the file.

    Raises:
        ModelError: no such file, no GGUF, damaged or cut short.
    """
    try:
        with path.open("rb") as source:
            if source.read(4) != MAGIC:
                raise ModelError(f"model file {str(path)!r} is not a GGUF file: give a path to a .gguf file")
            with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(content).header()
    except OSError as error:
        raise ModelError(f"model file {str(path)!r} cannot be read: {error.strerror or error}") from error
    except _DamagedError as error:
        raise ModelError(
            f"model file {str(path)!r} is damaged or cut short ({error}): fetch it again"
        ) from error


class _DamagedError(Exception):
    """What is wrong, in a few words."""


class _Reader:
    """Goes through the header once, from its start."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._size = len(content)
        self._position = len(MAGIC)

    def header(self) -> Header:
        version = self._number("I")
        if version not in VERSIONS:
            raise _DamagedError(f"version {version} of the format; {VERSIONS[0]} and {VERSIONS[1]} are known")
        tensors, entries = self._number("Q"), self._number("Q")
        metadata: dict[str, object] = {}
        tokenizer: dict[str, bytes] = {}
        for _ in range(entries):
            key = self._text()
            start = self._position
            metadata[key] = self._value(self._number("I"))
            if key.startswith("tokenizer.ggml."):
                tokenizer[key] = self._content[start : self._position]
        digest = hashlib.sha256()
        for key in sorted(tokenizer):
            digest.update(f"{key}\0{len(tokenizer[key])}\0".encode("utf-8", "replace") + tokenizer[key])
        precision = self._tensors(tensors, metadata)
        return Header(metadata, digest.hexdigest() if tokenizer else None, precision)

    def _tensors(self, count: int, metadata: Mapping[str, object]) -> str | None:
        """Checks that all tensors lie within the file; returns the precision of most weights."""
        ends: list[tuple[int, str]] = []
        values: Counter[str] = Counter()
        for _ in range(count):
            name = self._text()
            shape = [self._number("Q") for _ in range(self._dimensions(name))]
            kind, offset = self._number("I"), self._number("Q")
            label, block_values, block_bytes = TENSOR_TYPES.get(kind, (f"type {kind}", 1, 0))
            elements = math.prod(shape)
            values[label] += elements
            ends.append((offset + elements // block_values * block_bytes, name))
        alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
        if not isinstance(alignment, int) or alignment <= 0:
            raise _DamagedError(f"alignment {alignment!r}")
        start = -(-self._position // alignment) * alignment
        end, name = max(ends, default=(0, ""))
        if start + end > self._size:
            raise _DamagedError(
                f"tensor {name!r} ends at byte {start + end:,} of a file of {self._size:,} bytes"
            )
        named = metadata.get("general.file_type")
        if isinstance(named, int) and named in FILE_TYPES:
            return FILE_TYPES[named]
        return values.most_common(1)[0][0] if values else None

    def _dimensions(self, name: str) -> int:
        dimensions = self._number("I")
        if dimensions > 4:  # noqa: PLR2004 - as many as ggml has
            raise _DamagedError(f"tensor {name!r} has {dimensions} dimensions")
        return dimensions

    def _value(self, kind: int) -> object:
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            return self._skip_array()
        if kind not in SCALARS:
            raise _DamagedError(f"a value of unknown type {kind}")
        return self._unpack(SCALARS[kind])

    def _skip_array(self) -> int:
        """Goes behind an array; returns its length."""
        kind, length = self._number("I"), self._number("Q")
        if kind == STRING:
            position, size, unpack = self._position, self._size - 8, struct.Struct("<Q").unpack_from
            for _ in range(length):  # hundreds of thousands of tokens: no method call for each
                if position > size:
                    raise _DamagedError("the header ends in the middle of a list")
                position += 8 + unpack(self._content, position)[0]
            self._position = position
        elif kind in SCALARS:
            self._position += length * struct.calcsize(f"<{SCALARS[kind]}")
        else:
            raise _DamagedError(f"a list of unknown type {kind}")
        self._within("a list")
        return length

    def _text(self) -> str:
        length = self._number("Q")
        start = self._position
        self._position += length
        self._within("a text")
        return self._content[start : self._position].decode("utf-8", "replace")

    def _number(self, form: str) -> int:
        return int(self._unpack(form))

    def _unpack(self, form: str) -> int | float | bool:
        start = self._position
        self._position += struct.calcsize(f"<{form}")
        self._within("a number")
        value: int | float | bool = struct.unpack_from(f"<{form}", self._content, start)[0]
        return value

    def _within(self, what: str) -> None:
        if self._position > self._size:
            raise _DamagedError(f"the header ends in the middle of {what}")
