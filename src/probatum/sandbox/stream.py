"""A stream of programs shared by several threads, and the stream of executions that comes back."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from probatum.core.records import Execution, Program

__all__ = ["Gate", "Stream"]


@dataclass(frozen=True)
class _Done:
    """A thread has nothing more to do; `error` is why, where that is not the end of the programs."""

    error: BaseException | None = None


class Stream:
    """Pulls programs in a thread of its own, never more than `ahead` that were not yet given back.

    A source that waits for its next program thus holds back nothing that is done.
    """

    def __init__(self, programs: Iterable[Program], threads: int, ahead: int) -> None:
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()  # a semaphore, without its cost in Python
        for _ in range(ahead):
            self._room.put(None)
        self._in: queue.SimpleQueue[Program | None] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Execution | _Done] = queue.SimpleQueue()
        self._threads = threads
        self._busy = 0
        self._counting = threading.Lock()
        self.stopped = False
        threading.Thread(target=self._feed, args=(programs,), name="sandbox-source", daemon=True).start()

    def _feed(self, programs: Iterable[Program]) -> None:
        error = None
        try:
            for program in programs:
                if self.stopped:
                    break
                self._in.put(program)
                self._room.get()
        except BaseException as raised:  # noqa: BLE001 - raised again where the stream is iterated
            error = raised
        for _ in range(self._threads):
            self._in.put(None)
        self._out.put(_Done(error))

    def pull(self) -> Program | None:
        """Waits for the next program; `None` when there are no more, or nobody wants them.

        Whoever got one is busy until it says `rest`.
        """
        program = self._in.get()
        if program is None or self.stopped:
            return None
        with self._counting:
            self._busy += 1
        return program

    def rest(self) -> None:
        """The thread that pulled a program is free for another."""
        with self._counting:
            self._busy -= 1

    def pull_ready(self) -> Program | None:
        """The next program if it is at hand, and no other thread is free to run it at once."""
        if self._busy < self._threads:
            return None
        try:
            program = self._in.get_nowait()
        except queue.Empty:
            return None
        if program is None:
            self._in.put(None)  # the end is for `pull` to see
        return None if self.stopped else program

    def put(self, execution: Execution) -> None:
        """Hands an execution to whoever iterates."""
        self._out.put(execution)

    def leave(self, error: BaseException | None = None) -> None:
        """One thread ends."""
        self._out.put(_Done(error))

    def stop(self) -> None:
        """No program is pulled any more."""
        self.stopped = True
        self._room.put(None)
        for _ in range(self._threads):
            self._in.put(None)

    def executions(self) -> Iterator[Execution]:
        """Until the source and every thread have ended.

        Raises:
            BaseException: what ended one of them, after the executions that came before it.
        """
        left = self._threads + 1
        while left:
            found = self._out.get()
            if isinstance(found, Execution):
                self._room.put(None)
                yield found
                continue
            left -= 1
            if found.error is not None:
                raise found.error


class Gate:
    """Many may pass together, or one alone."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0
        self._alone = 0

    @property
    def wanted(self) -> bool:
        """Whether somebody waits to be alone: then those inside should leave soon."""
        return bool(self._alone)

    def enter(self) -> None:
        """Waits until nobody wants to be alone."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._inside += 1

    def leave(self) -> None:
        """Undoes `enter`."""
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    def enter_alone(self) -> None:
        """Keeps others from entering, and waits until all have left."""
        with self._condition:
            self._condition.wait_for(lambda: not self._alone)
            self._alone = 1
            self._condition.wait_for(lambda: not self._inside)

    def leave_alone(self) -> None:
        """Undoes `enter_alone`."""
        with self._condition:
            self._alone = 0
            self._condition.notify_all()
