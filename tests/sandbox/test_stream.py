"""How programs are shared among the threads of a sandbox."""

from __future__ import annotations

import time

from probatum.core.records import Program
from probatum.sandbox.stream import Stream

PROGRAMS = [Program(code=f"# {number}", tests="pass") for number in range(6)]
PATIENCE = 30.0


def ready(stream: Stream) -> Program | None:
    """What is at hand once the source has had its time."""
    until = time.monotonic() + PATIENCE
    while (found := stream.pull_ready()) is None and time.monotonic() < until:
        time.sleep(0.01)
    return found


def test_nothing_is_sent_ahead_while_another_thread_is_free_to_run_it():
    stream = Stream(PROGRAMS, threads=2, ahead=8)
    assert stream.pull() is PROGRAMS[0]
    time.sleep(0.05)  # the next one is at hand now
    assert stream.pull_ready() is None
    assert stream.pull() is PROGRAMS[1]
    assert ready(stream) is PROGRAMS[2]
    stream.rest()
    assert stream.pull_ready() is None
    assert stream.pull() is PROGRAMS[3]
    stream.stop()


def test_one_thread_sends_ahead_as_soon_as_it_is_busy():
    stream = Stream(PROGRAMS, threads=1, ahead=8)
    assert stream.pull() is PROGRAMS[0]
    assert ready(stream) is PROGRAMS[1]
    stream.stop()
