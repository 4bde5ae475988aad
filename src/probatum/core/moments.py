"""Moments as they are written down: in UTC, so that they sort and no clock change makes two of them equal."""

from __future__ import annotations

from datetime import UTC, datetime

from probatum.core.errors import UsageError

__all__ = ["now", "utc_text"]


def utc_text(moment: datetime) -> str:
    """A moment as `2026-10-25T00:30:00Z`; with microseconds where it has them.

    Raises:
        UsageError: it has no time zone: which moment it is depends on who reads it.
    """
    if moment.utcoffset() is None:
        raise UsageError(f"the moment {moment.isoformat()} has no time zone; give one, such as UTC")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def now() -> str:
    """The present moment in UTC, to the second."""
    return utc_text(datetime.now(UTC).replace(microsecond=0))
