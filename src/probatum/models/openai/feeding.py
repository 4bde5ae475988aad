"""Pulls requests in a thread of its own.

An iterable may take its time: the runner plans items, reads its store, and waits while it has too much
to grade. Answers that have arrived must not wait for that, nor may requests that it has given already.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from probatum.core.records import Request

__all__ = ["Feeder"]

END_SECONDS: Final = 1.0
"""Longest that stopping waits for an iterable that is in the middle of something."""


class Feeder:
    """Hands on requests as there is room for them."""

    def __init__(
        self,
        requests: Iterable[Request],
        room: int,
        put: Callable[[Request], object],
        ended: Callable[[int, BaseException | None], object],
    ) -> None:
        """Starts at once.

        Args:
            requests: pulled in this thread alone.
            room: most requests that may be outstanding.
            put: takes each request.
            ended: told at the end how many requests there were, and the exception of the iterable.
        """
        self._requests = requests
        self._room = room
        self._put = put
        self._ended = ended
        self._stopped = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="openai requests", daemon=True)
        self._thread.start()

    def make_room(self, count: int) -> None:
        """So many responses have been taken."""
        with self._changed:
            self._room += count
            self._changed.notify()

    def stop(self) -> None:
        """Pulls no more; an iterable that does not return is left behind."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(END_SECONDS)

    def _run(self) -> None:
        total = 0
        try:
            for request in self._requests:
                if self._stopped:
                    return
                total += 1
                self._put(request)
                if total >= self._room and not self._wait(total):
                    return
        except BaseException as error:  # noqa: BLE001 - the iterable is foreign; the caller's thread raises it
            self._ended(total, error)
        else:
            self._ended(total, None)

    def _wait(self, total: int) -> bool:
        """Waits for room for one more; `False` where none is wanted."""
        with self._changed:
            self._changed.wait_for(lambda: total < self._room or self._stopped)
            return not self._stopped
