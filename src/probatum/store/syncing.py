"""Brings a write-ahead log to the disk, at most every half second."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

__all__ = ["Syncer"]

INTERVAL: Final = 0.5
"""Seconds; what a power cut may cost."""


class Syncer:
    """A thread that waits for the disk, so that no transaction has to.

    After a commit the log's pages are with the operating system: they survive the death of the process,
    but not a power cut until they are synced. Checkpoints are SQLite's own matter, and synced by it.
    """

    def __init__(self, log: Path, interval: float = INTERVAL) -> None:
        self._log = log
        self._interval = interval
        self._dirty = threading.Event()
        self._closed = threading.Event()
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None

    def written(self) -> None:
        """Tells that a transaction was committed; the caller sees to it that calls do not overlap.

        Raises:
            OSError: an earlier sync failed.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="probatum-store-sync", daemon=True)
            self._thread.start()
        if not self._dirty.is_set():  # waking the thread each time would cost more than the transaction
            self._dirty.set()

    def sync(self) -> None:
        """Syncs now.

        Raises:
            OSError: the sync failed.
        """
        try:
            descriptor = os.open(self._log, os.O_RDWR)
        except FileNotFoundError:  # the last checkpoint took it away, and synced it
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Syncs what is left, and ends the thread.

        Raises:
            OSError: a sync failed.
        """
        if self._thread is None:  # nothing was written
            return
        self._closed.set()
        self._dirty.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        self.sync()

    def _run(self) -> None:
        while True:
            self._dirty.wait()
            # Whatever is committed while this waits is synced with the rest.
            if self._closed.wait(self._interval):  # `close` syncs the rest itself
                return
            self._dirty.clear()  # before the sync: what comes meanwhile may have missed it
            if self._closed.is_set():  # `close` came after the wait: its wake-up was cleared just now
                return
            try:
                self.sync()
            except OSError as error:
                self._failure = error
