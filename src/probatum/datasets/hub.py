"""The Hugging Face hub as a source: what is asked for, and how it is reached. Opens nothing itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from probatum.core.errors import DataError
from probatum.core.protocol import Hub

__all__ = ["HubAccess", "check_pinned"]

_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True, kw_only=True)
class HubAccess:
    """How the hub is reached. `None` leaves it to the environment, as `huggingface_hub` reads it."""

    endpoint: str | None = None
    """Address of the server; else HF_ENDPOINT."""
    cache_directory: Path | None = None
    """Where files are kept; else HF_HUB_CACHE or HF_HOME."""
    waits: tuple[float, ...] = (1.0, 3.0)
    """Seconds before each further try when the server is overloaded or fails (408, 429, 5xx)."""


def check_pinned(hub: Hub) -> None:
    """Refuses a source that can change under its name.

    Raises:
        DataError: the revision is not the 40 hex digits of a commit, or no file is named.
    """
    if not _COMMIT.fullmatch(hub.revision):
        raise DataError(
            f"revision {hub.revision!r} of {hub.repository!r} is not a commit, so rows could change under "
            "it; give the 40 hex digits (lower case) that the hub shows under 'History'"
        )
    if not hub.files:
        raise DataError(
            f"the hub source {hub.repository!r} names no files; list their paths in the repository"
        )
