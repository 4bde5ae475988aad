"""Names of files from names of models, tasks and runs: safe everywhere, and never equal."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePath
from typing import Final

from probatum.core.errors import UsageError

__all__ = ["file_name", "label_of_path"]

_SAFE = re.compile(r"[a-z0-9][a-z0-9._-]*")
_MARKED = re.compile(r".*-[0-9a-f]{12}")
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10)}
)
"""Names that Windows gives to devices."""
_LONGEST: Final = 80


def file_name(name: str, suffix: str = "") -> str:
    """A file's name for `name`, and another one for every other name.

    A name of lower-case ASCII letters, digits, points, underscores and hyphens is kept. Any other is made
    safe, and twelve digits of its SHA-256 are added, so that `org/model:v1` and `org_model_v1` do not meet,
    nor do `A` and `a` on a disk that knows no case.

    Raises:
        UsageError: the name is empty.

    >>> file_name("org_model_v1"), file_name("org/model:v1", ".json")
    ('org_model_v1', 'org_model_v1-a123334b7b39.json')
    """
    if not name:
        raise UsageError("a file cannot be named after nothing; give the name of a model, task or run")
    stem = name.split(".", maxsplit=1)[0]
    plain = _SAFE.fullmatch(name) and not _MARKED.fullmatch(name) and stem not in _RESERVED
    if plain and len(name) <= _LONGEST and not name.endswith("."):
        return name + suffix
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    kept = re.sub(r"[^a-z0-9.-]+", "_", folded).strip("._-")[:_LONGEST] or "name"
    return f"{kept}-{digest}{suffix}"


def label_of_path(path: str | PurePath) -> str:
    """What a file or folder is called: its last part, with or without a slash behind it.

    Raises:
        UsageError: the path has no last part (`/`, `..`, nothing).

    >>> label_of_path("out/run1"), label_of_path("out/run1/"), label_of_path("out//run1/.")
    ('run1', 'run1', 'run1')
    """
    name = PurePath(path).name
    if name in ("", ".."):
        raise UsageError(f"path {str(path)!r} names no file or folder; give one")
    return name
