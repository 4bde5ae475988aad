"""Files of the Hugging Face hub at a pinned revision. The only place that imports huggingface_hub."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from probatum.core.errors import DataError
from probatum.core.protocol import Hub
from probatum.datasets.files import DataFile

__all__ = ["HubAccess", "check_pinned", "fetch"]

_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True, kw_only=True)
class HubAccess:
    """How the hub is reached. What is `None` comes from the environment (HF_ENDPOINT, HF_HOME, HF_TOKEN)."""

    endpoint: str | None = None
    """Address of the server."""
    cache_directory: Path | None = None
    """Where files are kept."""


def check_pinned(hub: Hub) -> None:
    """Refuses a revision that can move.

    Raises:
        DataError: it is not the 40 hex digits of a commit, or no file is named.
    """
    if not _COMMIT.fullmatch(hub.revision):
        raise DataError(
            f"revision {hub.revision!r} of {hub.repository!r} is not a commit: rows could change under its "
            "name; give the 40 hex digits (lower case) that the hub shows under 'History'"
        )
    if not hub.files:
        raise DataError(
            f"the hub source {hub.repository!r} names no files; list their paths in the repository"
        )


def fetch(hub: Hub, access: HubAccess) -> tuple[DataFile, ...] | str:
    """The files, or why they cannot be had."""
    raise NotImplementedError
