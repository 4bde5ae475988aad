"""What a user may choose for a run, with every default in sight."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from probatum.core.errors import UsageError

SECRET: Final = re.compile(r"(api_?key|secret|password|authorization|headers)", re.IGNORECASE)
"""Settings whose value is written down nowhere."""

__all__ = ["Options"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of a run; `None` leaves the choice to the task (or, for `form`, to the model)."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Of the model, as `-M key=value` gives them."""
    limit: int | None = None
    """Only the first so many items of each task."""
    samples: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    shots: int | None = None
    form: str | None = None
    """`completion` or `chat`."""
    system: str | None = None
    seed: int = 0
    level: float = 0.95
    """Confidence level of the intervals."""
    minimum_answered: float = 0.99
    """Share of samples without a fault below which a run is incomplete (exit status 3)."""
    allow_code_execution: bool = False
    workers: int | None = None
    """Programs that run at the same time; `None` is the number of cores."""
    deduplicate: bool = True
    """Execute equal programs once, and take from the store what ran before."""
    data_directory: Path | None = None
    """Where data sets lie; `None` is `PROBATUM_DATA`."""

    def __post_init__(self) -> None:
        for name in ("temperature", "top_p", "level", "minimum_answered"):
            value = getattr(self, name)
            if value is not None:  # 0 and 0.0 are the same choice, and must be the same recipe
                object.__setattr__(self, name, float(value))
        for name, least in (("limit", 1), ("samples", 1), ("max_tokens", 1), ("shots", 0), ("workers", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} {value!r} is out of range: use {least} or more")
        for name, low, high in (
            ("temperature", 0.0, math.inf),
            ("top_p", 0.0, 1.0),
            ("top_k", 0, math.inf),
            ("level", 0.0, 1.0),
            ("minimum_answered", 0.0, 1.0),
        ):
            value = getattr(self, name)
            if value is not None and not (low <= value <= high and math.isfinite(value)):
                raise UsageError(f"{name} {value!r} is out of range: use a number from {low:g} to {high:g}")
        if self.level in (0.0, 1.0) or self.top_p == 0.0:
            name = "top_p" if self.top_p == 0.0 else "level"
            raise UsageError(f"{name} {getattr(self, name)!r} is out of range: use a number between 0 and 1")
        if self.form not in (None, "completion", "chat"):
            raise UsageError(f"form {self.form!r} is unknown: use 'completion' or 'chat'")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all options."""
        return tuple(option.name for option in fields(cls))

    def plain(self) -> dict[str, Any]:
        """As JSON data, defaults included; settings that look like secrets are left out."""
        plain = asdict(self)
        plain["data_directory"] = None if self.data_directory is None else str(self.data_directory)
        plain["settings"] = {name: _shown(name, value) for name, value in self.settings.items()}
        return plain


def _shown(name: str, value: object) -> object:
    """A setting as it may be written down: no secret, and no user or query of an address."""
    if SECRET.search(name):
        return "(withheld)"
    if isinstance(value, str) and "://" in value:
        parts = urlsplit(value)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    if isinstance(value, Mapping):
        return {str(key): _shown(str(key), inner) for key, inner in value.items()}
    return value
