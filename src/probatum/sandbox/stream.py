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
    """Pulls programs one at a time, never more than `ahead` that were not yet taken as executions.

    The programs' iterator is advanced by the threads, one at a time.
    """

    def __init__(self, programs: Iterable[Program], threads: int, ahead: int) -> None:
        self._programs = iter(programs)
        self._pulling = threading.Lock()
        self._room = threading.Semaphore(ahead)
        self._out: queue.SimpleQueue[Execution | _Done] = queue.SimpleQueue()
        self._threads = threads
        self.stopped = False

    def pull(self) -> Program | None:
        """The next program; `None` when there are no more, or nobody wants them."""
        self._room.acquire()
        with self._pulling:
            if self.stopped:
                return None
            program = next(self._programs, None)
            if program is None:
                self.stopped = True
                self._room.release()
            return program

    def put(self, execution: Execution) -> None:
        """Hands an execution to whoever iterates."""
        self._out.put(execution)

    def leave(self, error: BaseException | None = None) -> None:
        """One thread ends."""
        self._room.release()
        self._out.put(_Done(error))

    def stop(self) -> None:
        """No program is pulled any more."""
        self.stopped = True
        self._room.release(self._threads)

    def executions(self) -> Iterator[Execution]:
        """Until every thread has ended.

        Raises:
            BaseException: what ended a thread, after the executions that came before it.
        """
        left = self._threads
        while left:
            found = self._out.get()
            if isinstance(found, Execution):
                self._room.release()
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
