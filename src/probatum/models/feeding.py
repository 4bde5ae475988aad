"""Pulls requests in a thread of its own, so that what is being computed never waits for planning."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import Final

from probatum.core.records import Request

__all__ = ["Feeder"]

AHEAD: Final = 4  # requests pulled before there is room for them
END_SECONDS: Final = 1.0  # longest that stopping waits for an iterable that is in the middle of something


class Feeder:
    """Holds a few requests ready."""

    def __init__(self, requests: Iterable[Request], *, name: str, ahead: int = AHEAD) -> None:
        """Starts to pull at once.

        Args:
            requests: what is pulled.
            name: of the thread.
            ahead: requests held ready at most.
        """
        self._requests = requests
        self._ahead = ahead
        self._ready: deque[Request] = deque()
        self._ended = self._stopped = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def take(self, *, wait: bool, seconds: float | None = None) -> Request | None:
        """The next request; `None` if there is none now, or with `wait` if there will be none at all.

        Args:
            wait: until there is one.
            seconds: longest wait; `None` is for ever.
        """
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._ready or self._ended, seconds)
            if not self._ready:
                return None
            self._changed.notify_all()
            return self._ready.popleft()

    def raise_failure(self) -> None:
        """Raises what the iterable raised, if it did."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Pulls no more; an iterable that does not return is left behind."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        try:
            for request in self._requests:
                with self._changed:
                    self._ready.append(request)
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: len(self._ready) < self._ahead or self._stopped)
                    if self._stopped:
                        return
        except BaseException as error:  # noqa: BLE001 - the iterable is foreign; the caller's thread raises it
            self._failure = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
