"""One call of `answer`: requests go into the event loop, responses come out of it, in batches both ways.

A thread switch costs more than a request on a fast server, so neither side wakes the other for each.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Final

from probatum.core.errors import ProbatumError
from probatum.core.records import Request, Response
from probatum.models.openai.asking import Asker

__all__ = ["Exchange"]

FLUSH_SECONDS: Final = 0.002
"""Longest that a response waits for company."""

FLUSH_COUNT: Final = 16
"""Responses that are handed over at once."""

GRACE_SECONDS: Final = 10.0
"""When the model turns out unusable, what the server is already working on may still arrive."""

POLL_SECONDS: Final = 0.05

Arrived = list[Response] | BaseException


class Exchange:
    """The event loop's side. Methods are called inside the loop, unless they say otherwise."""

    def __init__(self, loop: asyncio.AbstractEventLoop, asker: Asker, concurrency: int) -> None:
        self.arrived: SimpleQueue[Arrived] = SimpleQueue()
        """Read by the caller's thread: responses, or the exception that ended it."""
        self.ended = threading.Event()
        """Set when no task is left."""
        self._loop = loop
        self._asker = asker
        self._concurrency = concurrency
        self._waiting: deque[Request] = deque()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._ready: list[Response] = []
        self._unanswered = 0
        self._timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    def admit(self, requests: Sequence[Request]) -> None:
        """Takes requests in."""
        if self._closing is not None:
            return
        self._waiting.extend(requests)
        self._unanswered += len(requests)
        for _ in requests:
            if self._idle:
                self._idle.popleft().set_result(None)
            elif len(self._workers) < self._concurrency:
                self._workers.add(self._loop.create_task(self._work()))
            else:
                break

    async def _work(self) -> None:
        try:
            while self._closing is None:
                while not self._waiting:
                    turn: asyncio.Future[None] = self._loop.create_future()
                    self._idle.append(turn)
                    await turn
                self._deliver(await self._asker.ask(self._waiting.popleft()))
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller's thread must not wait for ever
            self.close(error, GRACE_SECONDS if isinstance(error, ProbatumError) else 0.0)

    def _deliver(self, response: Response) -> None:
        self._unanswered -= 1
        self._ready.append(response)
        if len(self._ready) >= FLUSH_COUNT or not self._unanswered:
            self._flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(FLUSH_SECONDS, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._ready:
            ready, self._ready = self._ready, []
            self.arrived.put(ready)

    def close(self, error: BaseException | None, grace: float = 0.0) -> None:
        """Ends it: drops what is in flight, and tells the caller's thread `error`, if there is one.

        Args:
            error: what went wrong; `None` where nobody listens any more.
            grace: seconds that attempts which are with the server may still take.
        """
        if self._closing is None:
            self._closing = self._loop.create_task(self._end(error, grace))

    async def _end(self, error: BaseException | None, grace: float) -> None:
        self._waiting.clear()
        if grace:
            await self._last_answers(grace)
        for task in self._workers:
            task.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self._flush()
        if error is not None:
            self.arrived.put(error)
        self.ended.set()

    async def _last_answers(self, grace: float) -> None:
        """Waits for the attempts that are with the server; what would be asked again is not waited for."""
        until = self._loop.time() + grace
        for task in self._workers - self._asker.sending:
            task.cancel()
        while self._loop.time() < until and (sending := self._workers & self._asker.sending):
            await asyncio.wait(sending, timeout=POLL_SECONDS)
