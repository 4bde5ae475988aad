"""An event loop in a thread of its own, so that the outside stays synchronous."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from probatum.core.errors import ModelError

__all__ = ["Background"]

Result = TypeVar("Result")

STOP_SECONDS = 5.0
"""Longest that stopping waits for the thread."""


class Background:
    """Starts at once, and ends with `stop`, when it is collected, or at the end of the process."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.at_end: list[Callable[[], Coroutine[Any, Any, None]]] = []
        """What runs in the loop before it ends, however that comes about."""
        self._thread = threading.Thread(target=_run, args=(self.loop, self.at_end), name=name, daemon=True)
        self._thread.start()
        self._finalizer = weakref.finalize(self, _stop, self.loop, self._thread, os.getpid())

    @property
    def alive(self) -> bool:
        """Whether the loop still runs; not in a process that was forked from ours."""
        return self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs a coroutine in the loop and waits for it; Ctrl-C cancels it."""
        if not self.alive:
            work.close()
            raise ModelError("the model was closed, or this process was forked from its owner: load it again")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except CancelledError:
            raise ModelError("the model was closed while it was asked") from None
        finally:
            future.cancel()

    def call(self, function: Callable[..., object], *arguments: object) -> bool:
        """Calls a function in the loop, soon; `False` where the loop has ended."""
        if not self.alive:
            return False
        try:
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop was closed between the two lines
            return False
        return True

    def stop(self) -> None:
        """Ends the loop and its thread."""
        self._finalizer()


def _run(loop: asyncio.AbstractEventLoop, at_end: list[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(asyncio.gather(*(end() for end in at_end), return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())  # name look-ups run there
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, owner: int) -> None:
    if os.getpid() != owner or not thread.is_alive():
        return
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():
        thread.join(STOP_SECONDS)
