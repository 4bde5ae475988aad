"""Runs that are cut short, by Ctrl-C and by kill -9, in processes of their own."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from probatum import evaluate
from probatum.core.errors import Interrupted
from probatum.runner import Progress
from probatum.store import open_store
from tests.conftest import ROOT
from tests.fakes import FakeModel, answer_sums, sums_task, write_sums
from tests.runner.runs import carry_out, kept, outcomes, statuses

TASK = sums_task()
ITEMS = 100
PLANNED = 2 * ITEMS
DELAY = 0.004
PATIENCE = 100.0


def start(store: Path, data: Path, log: Path, delay: float = DELAY) -> subprocess.Popen[str]:
    log.touch()
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runner.killed", str(store), str(data), str(log), str(delay)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(process: subprocess.Popen[str], log: Path, count: int) -> None:
    """Until that many requests are logged, or the process has ended."""
    until = time.monotonic() + PATIENCE
    while len(log.read_text().splitlines()) < count and process.poll() is None:
        assert time.monotonic() < until, "the run makes no progress"
        time.sleep(0.002)


def answered(store: Path, model_digest: str) -> set[str]:
    """The requests, as the log names them, whose answers the store has."""
    if not store.exists():
        return set()
    with open_store(str(store), create=False) as opened:
        plan = opened.responses(model_digest, [request.key for request in requests()])
        return {f"{one.item_id} {one.sample}" for one in requests() if one.key in plan}


def requests():
    """All requests of the run: what a fake in this process is asked."""
    if not REQUESTS:
        raise AssertionError("ask for the fixture `unbroken`")
    return REQUESTS


REQUESTS: list = []


@pytest.fixture
def unbroken(tmp_path, data):
    """Outcomes of a run that nobody cut short; and what it asks."""
    model = FakeModel()
    with open_store(str(tmp_path / "unbroken.db")) as store:
        run = carry_out(TASK, model, store, data, samples=2, temperature=0.5)
        REQUESTS[:] = model.asked
        return outcomes(store, run.id)


def test_a_run_that_is_killed_five_times_ends_as_an_unbroken_one(tmp_path, data, unbroken):
    store, generator = tmp_path / "killed.db", random.Random(0)
    logs, model = [], None
    for attempt in range(5):
        log = tmp_path / f"log-{attempt}"
        logs.append(log)
        had = answered(store, model) if model else set()
        process = start(store, data, log)
        wait_for_lines(process, log, generator.randrange(1, PLANNED // 4))
        time.sleep(generator.random() * 2 * DELAY)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        with open_store(str(store), create=False) as opened:
            run = opened.run("latest")
            model = run.model.digest
            assert run.state == "running"
        again = set(log.read_text().splitlines())
        assert not again & had, "an answer that was kept was asked for again"
        assert had <= answered(store, model)
    had = answered(store, model)
    log = tmp_path / "log-last"
    process = start(store, data, log, 0.0)
    out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    assert out.split() == [run.id, "complete", "[]"]
    last = log.read_text().splitlines()
    assert set(last) == {f"{one.item_id} {one.sample}" for one in requests()} - had
    assert len(last) == len(set(last)) == PLANNED - len(had)
    with open_store(str(store), create=False) as opened:
        assert outcomes(opened, run.id) == unbroken


def test_ctrl_c_finishes_what_is_in_flight_keeps_it_and_ends_with_130(tmp_path, data, unbroken):
    store, log = tmp_path / "stopped.db", tmp_path / "log"
    process = start(store, data, log)
    wait_for_lines(process, log, 30)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    asked = log.read_text().splitlines()
    assert 30 <= len(asked) < PLANNED
    (line,) = error.splitlines()
    assert line.startswith(f"interrupted: {len(asked)} of {PLANNED} samples of sums are kept;")
    with open_store(str(store), create=False) as opened:
        run = opened.run("latest")
        assert run.state == "interrupted"
        assert kept(opened, run.id) == len(asked)
    rest = tmp_path / "rest"
    out, _ = start(store, data, rest, 0.0).communicate(timeout=PATIENCE)
    assert out.split() == [run.id, "complete", "[]"]
    assert len(rest.read_text().splitlines()) == PLANNED - len(asked)
    with open_store(str(store), create=False) as opened:
        assert outcomes(opened, run.id) == unbroken


def test_ctrl_c_twice_stops_at_once_and_what_had_arrived_is_kept(tmp_path, data):
    store, log = tmp_path / "stopped.db", tmp_path / "log"
    process = start(store, data, log, 60.0)  # seconds an answer: longer than anybody waits
    wait_for_lines(process, log, 1)
    process.send_signal(signal.SIGINT)
    for _ in range(10):  # two that come too close together are one
        try:
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=10.0)
            break
        except subprocess.TimeoutExpired:
            continue
    assert process.returncode not in (0, None)
    with open_store(str(store), create=False) as opened:
        assert opened.run("latest").state == "interrupted"


# ── in this process ─────────────────────────────────────────────────────────────────────────────────


def stopping_at(count: int) -> tuple[FakeModel, threading.Event]:
    """A model at whose answer number `count` somebody asks to stop."""
    stop = threading.Event()

    def reply(request):
        if len(model.asked) == count:
            stop.set()
        return answer_sums(request)

    model = FakeModel(reply=reply)
    return model, stop


@pytest.mark.parametrize("count", [1, 31, 32, 33, 99])
def test_a_stop_asks_nothing_new_and_keeps_what_is_in_flight(store, data, count):
    model, stop = stopping_at(count)
    with pytest.raises(Interrupted, match=f"{count} of 100 samples of sums are kept"):
        carry_out(TASK, model, store, data, stop=stop)
    assert len(model.asked) == count
    (run,) = store.runs()
    assert (run.state, kept(store, run.id)) == ("interrupted", count)
    again = FakeModel()
    assert statuses(carry_out(TASK, again, store, data)) == {"scored": 100}
    assert len(again.asked) == 100 - count


def test_a_stop_at_the_last_answer_ends_a_complete_run(store, data):
    model, stop = stopping_at(100)
    assert carry_out(TASK, model, store, data, stop=stop).complete


def test_a_stop_in_the_first_of_two_tasks_does_not_begin_the_second(store, data):
    model, stop = stopping_at(10)
    with pytest.raises(Interrupted):
        carry_out([TASK, sums_task("second")], model, store, data, stop=stop)
    (run,) = store.runs()
    assert (kept(store, run.id), kept(store, run.id, "second")) == (10, 0)


def test_a_stop_before_the_first_answer_asks_nothing(store, data):
    model, stop = FakeModel(), threading.Event()
    stop.set()
    with pytest.raises(Interrupted, match="0 of 100"):
        carry_out(TASK, model, store, data, stop=stop)
    assert model.asked == []


def test_progress_says_that_it_is_stopping_and_the_handler_is_given_back(tmp_path, data):
    progress = Progress()

    def reply(request):
        if len(model.asked) == 5:
            os.kill(os.getpid(), signal.SIGINT)
            until = time.monotonic() + PATIENCE
            while not progress.stopping and time.monotonic() < until:
                time.sleep(0.001)
        return answer_sums(request)

    model = FakeModel(reply=reply)
    with pytest.raises(Interrupted):
        evaluate(TASK, model=model, store=str(tmp_path / "s.db"), data_directory=data, progress=progress)
    assert progress.stopping
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_callers_stays_in_place(tmp_path, data):
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        handler = signal.getsignal(signal.SIGINT)

        def reply(request):
            assert signal.getsignal(signal.SIGINT) is handler
            return answer_sums(request)

        run = evaluate(
            TASK, model=FakeModel(reply=reply), store=str(tmp_path / "s.db"), data_directory=data, limit=3
        )
        run.store.close()
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_run_works_in_another_thread_than_the_main_one(tmp_path, data):
    found = []

    def work():
        run = evaluate(TASK, model=FakeModel(), store=str(tmp_path / "s.db"), data_directory=data)
        found.append(statuses(run))
        run.store.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE)
    assert found == [{"scored": 100}]


def test_runs_may_go_on_side_by_side_in_one_store(store, tmp_path):
    """Each with its own model, and rows of its own."""
    found: dict[int, dict[str, int]] = {}

    def work(number: int) -> None:
        rows = write_sums(tmp_path / f"data-{number}", 60, first=1000 * number)
        found[number] = statuses(carry_out(TASK, FakeModel(), store, rows))

    together = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join(PATIENCE)
    assert found == {number: {"scored": 60} for number in range(4)}
    assert len(store.runs()) == 4
