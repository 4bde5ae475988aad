"""How fast: bounded concurrency that adapts, pauses that the server asks for, and backoff."""

from __future__ import annotations

import asyncio
import math
import random
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

__all__ = ["Gate", "backoff", "retry_after"]

FIRST: Final = 32
"""Requests in flight at the start, where more are allowed; it grows by one for each answer."""

SPREAD: Final = 0.1
"""After a pause requests start again spread over this share of it, rather than all at once."""


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that the server asks to wait, or `None`.

    Reads `retry-after-ms`, then `Retry-After` as seconds or as an HTTP date (RFC 9110, 10.2.3). A date
    is held against the server's own `Date` where it sends one, since clocks differ.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("Retry-After")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    here = _date(headers.get("Date")) or now or datetime.now(UTC)
    return max(0.0, (until - here).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _date(value: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value) if value is not None else None
    except ValueError:
        return None
    if date is None:
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def backoff(attempt: int, base: float, limit: float) -> float:
    """Seconds to wait after that many attempts: uniform in [0, min(limit, base · 2ᵃᵗᵗᵉᵐᵖᵗ⁻¹)].

    Full jitter: clients that failed together do not come back together (M. Brooker, "Exponential
    Backoff And Jitter", AWS Architecture Blog, 2015).
    """
    return random.uniform(0.0, min(limit, math.ldexp(base, min(attempt - 1, 60))))  # noqa: S311 - no secret


class Gate:
    """Lets at most `limit` requests through at once; the limit adapts as in TCP (AIMD).

    Each sign of congestion halves it, once for all requests that were in flight together; each answer
    adds 1/limit, so that a round of answers adds one. Until the first sign each answer adds one.
    Lives in one event loop.
    """

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.limit = float(min(maximum, FIRST))
        self.inside = 0
        self._congested = False
        self._cut_at = -math.inf
        self._resume_at = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Waits for the end of a pause and for room."""
        if self._resume_at == -math.inf and self.inside < int(self.limit) and not self._waiting:
            self.inside += 1
            return
        await self._queue()

    async def _queue(self) -> None:
        loop = asyncio.get_running_loop()
        again = False
        while True:
            pause = self._resume_at - loop.time()
            if pause > 0:
                await asyncio.sleep(pause + random.uniform(0.0, SPREAD * pause))  # noqa: S311 - no secret
                continue
            self._resume_at = -math.inf
            if self.inside < int(self.limit) and (again or not self._waiting):
                self.inside += 1
                return
            turn: asyncio.Future[None] = loop.create_future()
            (self._waiting.appendleft if again else self._waiting.append)(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # our turn came, and we do not take it
                    self._wake()
                raise
            again = True

    def leave(self) -> None:
        """The request has ended, however it did."""
        self.inside -= 1
        if self._waiting:
            self._wake()

    def answered(self) -> None:
        """The server coped."""
        if self.limit < self.maximum:
            self.limit = min(float(self.maximum), self.limit + (1 / self.limit if self._congested else 1))
            if self._waiting:
                self._wake()

    def congested(self, sent: float, now: float, wait: float | None) -> None:
        """The server says that it is too much, to a request sent at `sent` (seconds of the loop's clock)."""
        self._congested = True
        if sent >= self._cut_at:
            self._cut_at = now
            self.limit = max(1.0, self.limit / 2)
        if wait:
            self._resume_at = max(self._resume_at, now + wait)

    def _wake(self) -> None:
        room = int(self.limit) - self.inside
        while room > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                room -= 1
