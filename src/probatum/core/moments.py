"""Moments as they are written down: in UTC, so that they sort and no clock change makes two of them equal."""

from __future__ import annotations

from datetime import UTC, datetime

from probatum.core.errors import UsageError

__all__ = ["now", "to_the_second", "utc_text"]


def utc_text(moment: datetime) -> str:
    """A moment as `2026-10-25T00:30:00Z`; with microseconds where it has them.

    Raises:
        UsageError: it has no time zone: which moment it is depends on who reads it.
    """
    if moment.utcoffset() is None:
        raise UsageError(f"the moment {moment.isoformat()} has no time zone; give one, such as UTC")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def now() -> str:
    """The present moment in UTC, to the microsecond: of two runs in a second one is the later."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def to_the_second(moment: str) -> str:
    """A moment as people read it, `2026-10-25T00:30:00Z`."""
    return moment.partition(".")[0].removesuffix("Z") + "Z" if moment else moment
