"""What was kept stays: real files, real processes, a real full disk."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from probatum.core.errors import StoreError
from probatum.store import open_store
from probatum.store.syncing import Syncer
from tests.store import rows
from tests.store.postgres import empty_schema

ROOT = Path(__file__).parents[2]


def writer(*arguments: object, **options) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.writer", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def whole(path: Path) -> bool:
    """What SQLite itself says of the file."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def kept_positions(path: Path, run: str) -> list[int]:
    """Positions of the outcomes in the store; every one with its request and its answer."""
    positions = []
    with open_store(str(path)) as store:
        for sample in store.samples(run, "t"):
            assert (sample.position, sample.item, sample.requests, sample.outcome) == rows.graded(
                sample.position, prompt="a long prompt " * 50
            )
            assert sample.responses[0] is not None
            positions.append(sample.position)
    return positions


def test_what_was_acknowledged_survives_kill_9_at_any_moment(tmp_path):
    path = tmp_path / "store.db"
    randomness = random.Random(20261130)
    acknowledged = 0
    for _ in range(6):
        process = writer(path, "run", acknowledged, 7)
        lines = iter(process.stdout.readline, "")
        for _ in range(randomness.randint(1, 30)):
            acknowledged = int(next(lines))
        time.sleep(randomness.random() / 50)  # somewhere inside a transaction
        process.kill()
        for line in lines:  # what it had said before it died
            if line.endswith("\n"):
                acknowledged = int(line)
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
        positions = kept_positions(path, "run")
        # At most the batch that was kept but not yet told is there besides.
        assert positions in (list(range(acknowledged)), list(range(acknowledged + 7)))
        assert whole(path)
        acknowledged = len(positions)


def test_two_processes_write_into_one_store_at_once(tmp_path):
    path = tmp_path / "store.db"
    processes = [writer(path, run, 0, 5, 60) for run in ("one", "two")]
    for process in processes:
        out, _ = process.communicate(timeout=240)
        assert (process.returncode, out.splitlines()[-1]) == (0, "300")
    for run in ("one", "two"):
        assert kept_positions(path, run) == list(range(300))
    with open_store(str(path)) as store:
        keys = [rows.graded(n, prompt="a long prompt " * 50)[2][0].key for n in range(300)]
        assert {response.text for response in store.responses(rows.MODEL.digest, keys).values()} <= {
            "one ",
            "two ",
        }
    assert whole(path)


def test_many_processes_may_make_the_store_at_once(tmp_path):
    path = tmp_path / "store.db"
    code = (
        "import sys; from probatum.store import open_store; sys.stdin.read(); open_store(sys.argv[1]).close()"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(6)
    ]
    for process in processes:
        process.stdin.close()  # go
        process.stdin = None
    for process in processes:
        _, error = process.communicate(timeout=120)
        assert (process.returncode, error) == (0, b"")
    assert kept_positions_of_nothing(path)


def test_many_threads_may_make_the_store_at_once(url):
    together = threading.Barrier(8, timeout=60)
    failures: list[BaseException] = []

    def make() -> None:
        together.wait()
        try:
            open_store(url).close()
        except BaseException as error:  # noqa: BLE001 - told below
            failures.append(error)

    makers = [threading.Thread(target=make) for _ in range(8)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert failures == []


def kept_positions_of_nothing(path: Path) -> bool:
    with open_store(str(path)) as store:
        return store.runs() == []


def test_writers_of_the_same_rows_in_other_orders_do_not_block_each_other_in_postgresql(postgres):
    batches = [
        [rows.graded(n, prompt=f"a long prompt {n} " * 50) for n in range(start, start + 80)]
        for start in range(0, 800, 80)
    ]
    together = threading.Barrier(2, timeout=60)
    failures: list[BaseException] = []

    def write(run: str, step: int) -> None:
        try:
            with open_store(url) as store:
                for batch in batches:
                    together.wait()
                    store.keep_outcomes(run, "t", batch[::step])
                    together.wait()
                    answered = [rows.answer(request) for _, _, asked, _ in batch for request in asked]
                    store.keep_responses(rows.MODEL.digest, answered[::step])
        except BaseException as error:  # noqa: BLE001 - told below
            failures.append(error)
            together.abort()

    with empty_schema(postgres) as url:
        writers = [threading.Thread(target=write, args=arguments) for arguments in (("one", 1), ("two", -1))]
        for thread in writers:
            thread.start()
        for thread in writers:
            thread.join()
        assert failures == []
        with open_store(url) as store:
            assert store.statuses("one", "t") == store.statuses("two", "t") == {"scored": 800}


def test_a_log_cut_short_by_a_power_cut_loses_its_end_alone(tmp_path):
    path, copied = tmp_path / "store.db", tmp_path / "copied.db"
    with open_store(str(path)) as store:
        for start in range(0, 60, 3):
            several = [rows.graded(n, prompt="a long prompt " * 50) for n in range(start, start + 3)]
            store.keep_outcomes("run", "t", several)
        database, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    counts = []
    for size in [*range(len(log) // 2, len(log), 50_000), len(log)]:
        copied.write_bytes(database)
        Path(f"{copied}-wal").write_bytes(log[:size])
        with open_store(str(copied)) as store:
            counts.append(store.statuses("run", "t").get("scored", 0))
            assert [mark.item_id for mark in store.marks("run", "t")] == [
                f"item-{n}" for n in range(counts[-1])
            ]
        assert whole(copied)
    assert all(count % 3 == 0 for count in counts)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 60


# When the disk is waited for


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Moments of the syncs, which do happen."""
    moments: list[float] = []
    really = os.fsync

    def spy(descriptor: int) -> None:
        really(descriptor)
        moments.append(time.monotonic())

    monkeypatch.setattr(os, "fsync", spy)
    return moments


def wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "nothing happened for a minute"
        time.sleep(0.01)


def test_a_burst_of_transactions_waits_for_the_disk_at_most_twice_a_second(tmp_path, synced):
    with open_store(str(tmp_path / "store.db")) as store:
        start = time.monotonic()
        for number in range(200):
            store.keep_outcomes("run", "t", [rows.graded(number)])
        elapsed = time.monotonic() - start
        assert len(synced) <= elapsed / 0.5 + 1


def test_what_was_kept_last_is_synced_though_nothing_follows(tmp_path, synced):
    with open_store(str(tmp_path / "store.db")) as store:
        store.keep_outcomes("run", "t", [rows.graded(1)])
        before = len(synced)
        wait_for(lambda: len(synced) > before)


def test_closing_syncs_and_leaves_one_file(tmp_path, synced):
    store = open_store(str(tmp_path / "store.db"))
    store.keep_outcomes("run", "t", [rows.graded(1)])
    before = len(synced)
    store.close()
    assert len(synced) > before
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]


def test_sqlite_itself_waits_for_the_disk_at_checkpoints_only(tmp_path):
    with open_store(str(tmp_path / "store.db")) as store, store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1


def test_a_sync_that_fails_is_told_once_at_the_next_call(tmp_path, monkeypatch):
    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with open_store(str(tmp_path / "store.db")) as store:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            store.keep_outcomes("run", "t", [rows.graded(1)])
            wait_for(lambda: store._syncer._failure is not None)
        with pytest.raises(StoreError, match="Input/output error"):
            store.keep_outcomes("run", "t", [rows.graded(2)])
        store.keep_outcomes("run", "t", [rows.graded(3)])
        assert store.statuses("run", "t") == {"scored": 3}


def test_a_syncer_without_its_log_has_nothing_to_do(tmp_path):
    syncer = Syncer(tmp_path / "no.db-wal", interval=0.01)
    syncer.written()
    syncer.close()


# When there is no room


def fill(store, first: int = 0) -> tuple[int, str]:
    """Keeps outcomes until it fails: how many there are then, and what the error says."""
    for number in range(first, 100_000):
        position, item, asked, outcome = rows.graded(number, prompt=os.urandom(2000).hex())
        try:
            store.keep_outcomes("run", "t", [(position, item, asked, outcome)])
        except StoreError as error:
            return number, str(error)
    pytest.fail("the disk is never full")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root; the next test limits a file's size instead")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def test_on_a_full_disk_what_was_kept_stands_and_more_is_kept_when_there_is_room(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 700_000)
    path = small_disk / "store.db"
    with open_store(str(path)) as store:
        kept, message = fill(store)
        assert kept > 10
        assert message == (
            f"store '{path}' cannot grow, the disk is full: make room and start again; what was kept stands"
        )
        assert store.statuses("run", "t") == {"scored": kept}
        ballast.unlink()
        more, _ = fill(store, kept)
        assert more > kept
    with open_store(str(path)) as store:
        assert [mark.item_id for mark in store.marks("run", "t")] == [f"item-{n}" for n in range(more)]
    assert whole(path)


def test_a_disk_that_is_full_from_the_start_is_one_line(small_disk):
    (small_disk / "ballast").write_bytes(b"x" * (2 << 20))
    with pytest.raises(StoreError, match=r"^store '.*store.db' cannot grow, the disk is full: [^\n]*$"):
        open_store(str(small_disk / "store.db"))


def test_where_a_file_may_not_grow_what_was_kept_stands(tmp_path):
    path = tmp_path / "store.db"
    process = writer(
        path, "run", 0, 5, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (800_000, 800_000))
    )
    out, _ = process.communicate(timeout=240)
    *numbers, last = out.splitlines()
    assert process.returncode == 1
    assert last.startswith(f"StoreError: store '{path}' cannot ")
    assert int(numbers[-1]) > 50
    assert kept_positions(path, "run") == list(range(int(numbers[-1])))
    assert whole(path)
