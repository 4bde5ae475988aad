"""One call of `answer`: requests go into the event loop, responses come out of it, in batches both ways.

A thread switch costs more than a request on a fast server, so neither side wakes the other for each.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final

from probatum.core.errors import ProbatumError
from probatum.core.records import Request, Response

if TYPE_CHECKING:
    from probatum.models.openai.asking import Asker

__all__ = ["Exchange", "Exhausted"]

FLUSH_SECONDS: Final = 0.002
"""Longest that a response waits for company."""

FLUSH_COUNT: Final = 16
"""Responses that are handed over at once."""

GRACE_SECONDS: Final = 10.0
"""When the model turns out unusable, what the server is already working on may still arrive."""

POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Exhausted:
    """There are no more requests."""

    total: int
    """How many there were."""
    error: BaseException | None = None
    """What the iterable raised."""


Arrived = list[Response] | Exhausted | BaseException


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
        self._asking = 0
        self._called = False
        """`_admit` is on its way."""
        self._ready: list[Response] = []
        self._timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    def put(self, request: Request) -> None:
        """Takes a request in; called from one other thread.

        The loop is woken only where somebody in it has nothing to do: the others look for themselves.
        """
        self._waiting.append(request)
        if not self._called and (self._idle or len(self._workers) < self._concurrency):
            self._called = True
            with suppress(RuntimeError):  # the loop has ended, which the caller's thread is told
                self._loop.call_soon_threadsafe(self._admit)

    def _admit(self) -> None:
        self._called = False  # first: what is put from here on calls again
        if self._closing is not None:
            return
        for _ in range(len(self._waiting)):
            if self._idle:
                self._idle.popleft().set_result(None)
            elif len(self._workers) < self._concurrency:
                self._workers.add(self._loop.create_task(self._work()))
            else:
                break

    async def _work(self) -> None:
        try:
            while self._closing is None:
                if self._waiting:
                    request = self._waiting.popleft()
                    self._asking += 1
                    self._deliver(await self._asker.ask(request))
                else:
                    await self._rest()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller's thread must not wait for ever
            self.close(error, GRACE_SECONDS if isinstance(error, ProbatumError) else 0.0)

    async def _rest(self) -> None:
        turn: asyncio.Future[None] = self._loop.create_future()
        self._idle.append(turn)
        if self._waiting:  # came after we had looked, from somebody who did not see us rest
            self._idle.remove(turn)
            return
        await turn

    def _deliver(self, response: Response) -> None:
        self._asking -= 1
        self._ready.append(response)
        if len(self._ready) >= FLUSH_COUNT or not (self._asking or self._waiting):
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
