"""Where a model lies, and the digests of what is in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from probatum.core.errors import ModelError, UsageError

__all__ = ["ModelFiles", "find_model"]

WEIGHTS: Final = ("*.safetensors", "*.bin")
"""The first form that is there is the one that is loaded."""

NO_WEIGHTS: Final = frozenset({"training_args.bin", "optimizer.bin", "scheduler.bin"})

TOKENIZER: Final = (
    "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "merges.txt", "vocab.txt",
    "special_tokens_map.json", "added_tokens.json", "spiece.model", "sentencepiece.bpe.model", "tekken.json",
)  # fmt: skip

PATTERNS: Final = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model", "*.py"]
"""What is fetched from the hub; `*.bin` only where there is nothing else."""


@dataclass(frozen=True)
class ModelFiles:
    """A model's directory."""

    directory: Path
    name: str
    revision: str | None
    """Commit of the hub."""
    weights: str
    """SHA-256 of the weight file; of names and digests, one to a line, where there are several."""
    tokenizer: str | None


def find_model(name: str) -> ModelFiles:
    """The model `DIRECTORY`, or `OWNER/NAME@REVISION` of the hub; the revision is resolved to a commit.

    Raises:
        UsageError: it is neither.
        ModelError: it cannot be had, or has no weights.
    """
    directory = Path(name).expanduser()
    if directory.is_dir():
        return _read(directory, directory.resolve().name, None)
    owner_and_name, at, revision = name.partition("@")
    if owner_and_name.count("/") != 1 or directory.exists() or (at and not revision):
        raise UsageError(
            f"'hf/{name}' is neither a directory nor a model of the hub: give 'hf/DIRECTORY' (with "
            "config.json and weights) or 'hf/OWNER/NAME@REVISION'"
        )
    fetched = _fetch(owner_and_name, revision or None)
    return _read(fetched, owner_and_name, fetched.name)


def _fetch(repository: str, revision: str | None) -> Path:
    hub = import_module("huggingface_hub")
    try:
        fetched = Path(hub.snapshot_download(repository, revision=revision, allow_patterns=PATTERNS))
        if not _matching(fetched, WEIGHTS[:1]):
            fetched = Path(
                hub.snapshot_download(repository, revision=revision, allow_patterns=[*PATTERNS, "*.bin"])
            )
    except Exception as error:  # the hub's client raises what its transport raises
        told = str(error).strip().split("\n")[0][:200]
        raise ModelError(
            f"model {repository!r} (revision {revision or 'main'}) cannot be had from the hub: "
            f"{type(error).__name__}: {told}; give a local directory as 'hf/DIRECTORY'"
        ) from error
    return fetched


def _read(directory: Path, name: str, revision: str | None) -> ModelFiles:
    if not (directory / "config.json").is_file():
        raise ModelError(f"{str(directory)!r} has no config.json: it is no model that transformers can load")
    weights = next((found for pattern in WEIGHTS if (found := _matching(directory, [pattern]))), [])
    if not weights:
        raise ModelError(f"{str(directory)!r} has no weights (*.safetensors or *.bin)")
    tokenizer = [directory / part for part in TOKENIZER if (directory / part).is_file()]
    try:
        return ModelFiles(
            directory, name, revision, _digest(weights), _digest(tokenizer) if tokenizer else None
        )
    except OSError as error:
        raise ModelError(f"model {str(directory)!r} cannot be read: {error.strerror or error}") from error


def _matching(directory: Path, patterns: Iterable[str]) -> list[Path]:
    found = {path for pattern in patterns for path in directory.glob(pattern)}
    return sorted(path for path in found if path.name not in NO_WEIGHTS)


def _digest(files: list[Path]) -> str:
    digests = []
    for path in files:
        with path.open("rb") as source:
            digests.append(hashlib.file_digest(source, "sha256").hexdigest())
    if len(files) == 1:
        return digests[0]
    lines = "".join(f"{path.name} {digest}\n" for path, digest in zip(files, digests, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()
