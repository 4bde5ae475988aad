"""Waits that servers ask for, backoff, and the gate that adapts."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from probatum.models.openai.pacing import FIRST, Gate, backoff, retry_after

NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)

WAITS = {
    "none": ({}, None),
    "seconds": ({"Retry-After": "7"}, 7),
    "any case": ({"retry-AFTER": "7"}, 7),
    "fraction": ({"Retry-After": "0.5"}, 0.5),
    "zero": ({"Retry-After": "0"}, 0),
    "negative": ({"Retry-After": "-3"}, 0),
    "date": ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30),
    "date gone by": ({"Retry-After": "Wed, 21 Oct 2026 07:00:00 GMT"}, 0),
    "date in another zone": ({"Retry-After": "Wed, 21 Oct 2026 09:28:30 +0200"}, 30),
    "date without a zone": ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 -0000"}, 30),
    "old form of a date": ({"Retry-After": "Wednesday, 21-Oct-26 07:28:30 GMT"}, 30),
    "date against the server's clock": (
        {"Retry-After": "Wed, 21 Oct 2026 10:00:09 GMT", "Date": "Wed, 21 Oct 2026 10:00:00 GMT"},
        9,
    ),
    "server's clock unreadable": ({"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "today"}, 30),
    "milliseconds": ({"retry-after-ms": "250"}, 0.25),
    "milliseconds before seconds": ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
    "milliseconds unreadable": ({"retry-after-ms": "x", "Retry-After": "1"}, 1),
    "nonsense": ({"Retry-After": "soon"}, None),
    "empty": ({"Retry-After": ""}, None),
    "not a number": ({"Retry-After": "nan"}, None),
    "endless": ({"Retry-After": "inf"}, None),
    "no such day": ({"Retry-After": "Wed, 99 Oct 2026 07:28:30 GMT"}, None),
}


@pytest.mark.parametrize(("headers", "seconds"), WAITS.values(), ids=WAITS)
def test_wait_that_the_server_asks_for(headers, seconds):
    assert retry_after(CIMultiDict(headers), NOW) == seconds


@given(st.text(max_size=40))
def test_any_header_gives_a_wait_or_none(value):
    wait = retry_after(CIMultiDict({"Retry-After": value}), NOW)
    assert wait is None or 0 <= wait < float("inf")


@given(st.integers(1, 10_000), st.floats(0, 10), st.floats(0, 100))
def test_backoff_lies_between_nothing_and_the_limit(attempt, base, limit):
    assert 0 <= backoff(attempt, base, limit) <= limit


def test_backoff_doubles_and_is_spread_over_the_whole_interval():
    for attempt, top in [(1, 0.5), (2, 1.0), (3, 2.0), (9, 60.0)]:
        waits = [backoff(attempt, 0.5, 60.0) for _ in range(2000)]
        assert max(waits) <= top
        assert max(waits) > 0.9 * top
        assert min(waits) < 0.1 * top
        assert abs(sum(waits) / len(waits) - top / 2) < 0.1 * top


def run(work):
    return asyncio.run(asyncio.wait_for(work, 30))


def test_limit_starts_low_enough_and_grows_to_the_maximum():
    gate = Gate(1000)
    assert gate.limit == FIRST
    for _ in range(2000):
        gate.answered()
    assert gate.limit == 1000
    assert Gate(4).limit == 4


def test_congestion_halves_the_limit_once_for_all_that_were_in_flight_together():
    gate = Gate(32)
    for _ in range(10):
        gate.congested(sent=1.0, now=2.0, wait=None)
    assert gate.limit == 16
    gate.congested(sent=3.0, now=4.0, wait=None)
    assert gate.limit == 8
    for _ in range(20):
        gate.congested(sent=5.0 + _, now=5.5 + _, wait=None)
    assert gate.limit == 1


def test_after_congestion_a_round_of_answers_adds_one():
    gate = Gate(32)
    gate.congested(sent=1.0, now=2.0, wait=None)
    for _ in range(17):
        gate.answered()
    assert 16.9 < gate.limit < 17.1


def test_never_more_inside_than_the_limit_and_all_come_through():
    most = 0

    async def work():
        gate = Gate(3)

        async def one(number: int) -> None:
            nonlocal most
            await gate.enter()
            most = max(most, gate.inside)
            await asyncio.sleep(0)
            gate.leave()
            if number % 7 == 0:
                gate.congested(asyncio.get_running_loop().time(), asyncio.get_running_loop().time(), None)
            gate.answered()

        await asyncio.gather(*(one(number) for number in range(200)))
        assert gate.inside == 0

    run(work())
    assert most <= 3


def test_those_who_are_cancelled_while_they_wait_leave_the_way_free():
    async def work():
        gate = Gate(1)
        await gate.enter()
        waiting = [asyncio.create_task(gate.enter()) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        gate.leave()  # wakes somebody, who may be the one that is cancelled
        for task in waiting[1:4]:
            task.cancel()
        await asyncio.wait(waiting[4:], timeout=5)
        assert waiting[4].done()
        assert gate.inside == 1

    run(work())


def test_turn_that_comes_together_with_the_cancellation_is_passed_on():
    async def work():
        gate = Gate(1)
        await gate.enter()
        first, second = (asyncio.create_task(gate.enter()) for _ in range(2))
        await asyncio.sleep(0)
        gate.leave()  # first's turn …
        first.cancel()  # … which it does not live to take
        await asyncio.wait([first, second], timeout=5)
        assert first.cancelled()
        assert second.done()
        assert not second.cancelled()

    run(work())


def test_pause_holds_everybody():
    async def work():
        clock = asyncio.get_running_loop().time
        gate = Gate(4)
        until = clock() + 0.2
        gate.congested(clock(), clock(), 0.2)
        entered = []

        async def one() -> None:
            await gate.enter()
            entered.append(clock())
            gate.leave()

        await asyncio.gather(*(one() for _ in range(10)))
        assert min(entered) >= until - 0.001  # the loop's clock may wake us that early

    run(work())
