"""Where a model lies, and the digests of what is in it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from probatum.core.errors import ModelError, UsageError

__all__ = ["ModelFiles", "find_model"]

WEIGHTS: Final = ("model.safetensors", "pytorch_model.bin")
"""The first that is there, whole or in the parts that an index names, is the one that is loaded."""

ADAPTER: Final = "adapter_config.json"

VOCABULARY: Final = (
    "tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "sentencepiece.bpe.model",
    "tekken.json",
)  # fmt: skip
"""Files of a tokenizer, of which there must be one: without any, transformers makes some up for itself."""

TOKENIZER: Final = (
    *VOCABULARY, "tokenizer_config.json", "merges.txt", "special_tokens_map.json", "added_tokens.json",
)  # fmt: skip

PATTERNS: Final = ["model*.safetensors", "*.json", "*.jinja", "*.txt", "*.model", "*.tiktoken", "*.py"]
"""What is fetched from the hub; `pytorch_model*.bin` only where there is nothing else."""

ELSEWHERE: Final = ["*/*"]
"""The same weights in another form, in folders of their own: nothing there is loaded."""


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
    code: str | None = None
    """Of the Python files that come with the model."""

    @property
    def has_vocabulary(self) -> bool:
        """Whether there is a tokenizer that needs no code of its own."""
        return any((self.directory / name).is_file() for name in VOCABULARY)


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
    chosen = {"revision": revision, "ignore_patterns": ELSEWHERE}
    try:
        fetched = Path(hub.snapshot_download(repository, allow_patterns=PATTERNS, **chosen))
        if not any(fetched.glob("model*.safetensors")):
            patterns = [*PATTERNS, "pytorch_model*.bin"]
            fetched = Path(hub.snapshot_download(repository, allow_patterns=patterns, **chosen))
    except Exception as error:  # the hub's client raises what its transport raises
        told = str(error).strip().split("\n")[0][:200]
        raise ModelError(
            f"model {repository!r} (revision {revision or 'main'}) cannot be had from the hub: "
            f"{type(error).__name__}: {told}; give a local directory as 'hf/DIRECTORY'"
        ) from error
    return fetched


def _read(directory: Path, name: str, revision: str | None) -> ModelFiles:
    place = str(directory)
    if (directory / ADAPTER).is_file():
        raise ModelError(
            f"{place!r} holds an adapter ({ADAPTER}): merge it into its base model (merge_and_unload of "
            "peft), save both as one, and give that directory"
        )
    if not (directory / "config.json").is_file():
        raise ModelError(f"{place!r} has no config.json: it is no model that transformers can load")
    weights = _weights(directory)
    if not weights:
        raise ModelError(
            f"{place!r} has no weights: it needs {' or '.join(WEIGHTS)}, whole or in parts with an index"
        )
    tokenizer = [directory / part for part in TOKENIZER if (directory / part).is_file()]
    code = sorted(directory.glob("*.py"))
    try:
        return ModelFiles(
            directory,
            name,
            revision,
            _digest(weights),
            _digest(tokenizer) if tokenizer else None,
            _digest(code) if code else None,
        )
    except OSError as error:
        raise ModelError(
            f"model {place!r} cannot be read: {error.strerror or error}: {error.filename!r}"
        ) from error


def _weights(directory: Path) -> list[Path]:
    """The files that are loaded; those that an index names need not be there."""
    for name in WEIGHTS:
        if (directory / name).is_file():
            return [directory / name]
        index = directory / f"{name}.index.json"
        if not index.is_file():
            continue
        try:
            parts = {str(part) for part in json.loads(index.read_bytes())["weight_map"].values()}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"{str(index)!r} is no index of weights: save the model anew") from error
        return sorted(directory / part for part in parts)
    return []


def _digest(files: list[Path]) -> str:
    digests = []
    for path in files:
        with path.open("rb") as source:
            digests.append(hashlib.file_digest(source, "sha256").hexdigest())
    if len(files) == 1:
        return digests[0]
    lines = "".join(f"{path.name} {digest}\n" for path, digest in zip(files, digests, strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()
