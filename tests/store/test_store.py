"""What a store does, on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import NullPool, create_engine, event, func, make_url, select, text

from probatum.core.errors import StoreError, UsageError
from probatum.core.records import (
    Execution,
    ExecutionStatus,
    Finish,
    Message,
    Program,
    Request,
    Response,
    Sampling,
)
from probatum.core.run import RunState
from probatum.core.status import Status
from probatum.store import open_store
from probatum.store.schema import metadata, schema_version
from probatum.store.sql import MARKS_PER_PAGE, SAMPLES_PER_PAGE
from tests.store import rows
from tests.store.postgres import empty_schema

MODEL = rows.MODEL.digest
FAILED = [finish for finish in Finish if not Response(request="", finish=finish).answered]


def count(store, table: str) -> int:
    with store._reading() as connection:
        return connection.execute(select(func.count()).select_from(metadata.tables[table])).scalar()


def test_importing_probatum_and_the_seam_loads_no_database():
    code = "import probatum.store, sys; sys.exit('sqlalchemy' in sys.modules or 'sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Responses


def test_only_what_was_asked_for_and_answered_by_that_model_is_a_hit(store):
    first, second, third = (Request(item_id="a", prompt=f"p{n}") for n in range(3))
    store.keep_responses(MODEL, [rows.answer(first), rows.answer(second)])
    store.keep_responses("other model", [rows.answer(third)])
    assert store.responses(MODEL, [first.key, third.key]) == {first.key: rows.answer(first)[1]}
    assert store.responses("third model", [first.key]) == {}
    assert store.responses(MODEL, []) == {}


@pytest.mark.parametrize("finish", FAILED)
def test_a_failure_is_never_a_hit(store, finish):
    request = Request(item_id="a", prompt="p")
    store.keep_responses(MODEL, [rows.answer(request, "", finish=finish, reason="why")])
    assert store.responses(MODEL, [request.key]) == {}
    store.keep_responses(MODEL, [rows.answer(request, "at last")])
    assert store.responses(MODEL, [request.key])[request.key].text == "at last"


def test_samples_of_one_request_are_kept_apart(store):
    asked = [Request(item_id="a", sample=n, prompt="p", sampling=Sampling(temperature=1.0)) for n in range(3)]
    store.keep_responses(MODEL, [rows.answer(request, f"answer {request.sample}") for request in asked])
    found = store.responses(MODEL, [request.key for request in asked])
    assert [found[request.key].text for request in asked] == ["answer 0", "answer 1", "answer 2"]
    assert count(store, "requests") == 1


def test_of_two_answers_the_first_stands_and_the_second_caller_is_told(store, url):
    asked = [Request(item_id="a", prompt=f"p{n}") for n in range(3)]
    with open_store(url) as other:
        assert other.keep_responses(MODEL, [rows.answer(asked[1], "first")]) == {}
    kept = store.keep_responses(MODEL, [rows.answer(request, "second") for request in asked])
    assert {key: response.text for key, response in kept.items()} == {asked[1].key: "first"}
    found = store.responses(MODEL, [request.key for request in asked])
    assert [found[request.key].text for request in asked] == ["second", "first", "second"]


def test_a_response_that_names_another_request_is_refused(store):
    request, other = Request(item_id="a", prompt="p"), Request(item_id="a", prompt="q")
    with pytest.raises(ValueError, match="was given as one to"):
        store.keep_responses(MODEL, [(request, rows.answer(other)[1])])
    assert count(store, "responses") == 0


def test_more_keys_than_fit_into_one_query_are_found(store):
    asked = [Request(item_id="a", prompt=f"p{n}") for n in range(1300)]
    store.keep_responses(MODEL, [rows.answer(request) for request in asked])
    assert len(store.responses(MODEL, [request.key for request in asked])) == 1300


def test_responses_are_read_in_other_threads_while_one_writes(store):
    asked = [Request(item_id="a", prompt=f"p{n}") for n in range(200)]
    keys = [request.key for request in asked]
    seen: list[int] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                seen.append(len(store.responses(MODEL, keys)))
        except BaseException as error:  # noqa: BLE001 - told below
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for start in range(0, 200, 10):
        store.keep_responses(MODEL, [rows.answer(request) for request in asked[start : start + 10]])
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert all(number % 10 == 0 for number in seen), "a reader saw half a transaction"
    assert len(store.responses(MODEL, keys)) == 200


# Executions


def executed(code: str, status: ExecutionStatus = ExecutionStatus.PASSED) -> tuple[Program, Execution]:
    program = Program(code=code, tests="check(f)  # and more\n" * 40)
    return program, Execution(program=program.digest, status=status, cpu_seconds=0.25)


def test_executions_are_hits_in_their_environment_alone(store):
    program, execution = executed("def f(): pass")
    store.keep_executions("environment", [(program, execution)])
    assert store.executions("environment", [program.digest, "0" * 64]) == {program.digest: execution}
    assert store.executions("another", [program.digest]) == {}


def test_a_sandbox_error_is_never_a_hit(store):
    program, execution = executed("f", ExecutionStatus.SANDBOX_ERROR)
    store.keep_executions("environment", [(program, execution)])
    assert store.executions("environment", [program.digest]) == {}


def test_tests_of_many_programs_are_kept_once(store):
    store.keep_executions("environment", [executed(f"def f(): return {n}") for n in range(10)])
    assert (count(store, "programs"), count(store, "texts")) == (10, 1)


def test_an_execution_that_names_another_program_is_refused(store):
    with pytest.raises(ValueError, match="was given as of"):
        store.keep_executions("environment", [(executed("a")[0], executed("b")[1])])


# Runs


def test_a_run_that_is_opened_again_is_the_same_run_running(store):
    first = rows.run_of(tasks=(rows.task_of(),), options={"limit": 20}, environment={"probatum": "0.1"})
    opened = store.open_run(first)
    assert opened == first
    ended = replace(
        opened,
        state=RunState.INTERRUPTED,
        tasks=(rows.task_of(requests="r", planned=20, summary={"n": 3}, origin={"kind": "local"}),),
    )
    store.close_run(ended)
    assert store.run("abc123") == ended
    again = store.open_run(replace(first, created="2027-01-01", updated="2027-01-01", options={"limit": 40}))
    assert again == replace(ended, state=RunState.RUNNING, updated="2027-01-01", options={"limit": 40})
    assert store.open_run(replace(first, created="2028-01-01", updated="2027-01-01", options={})) == again
    assert store.runs() == [again]


def test_what_was_known_of_a_task_is_forgotten_when_its_recipe_or_its_items_change(store):
    store.open_run(
        rows.run_of(tasks=(rows.task_of("a", summary={"n": 1}), rows.task_of("b", summary={"n": 2})))
    )
    again = store.open_run(rows.run_of(tasks=(rows.task_of("a", items="other"),)))
    assert again.tasks == (rows.task_of("a", items="other"), rows.task_of("b", summary={"n": 2}))


def test_runs_come_newest_first(store):
    for day in (3, 1, 2):
        store.open_run(rows.run_of(f"run{day}", created=f"2026-11-0{day}"))
    assert [run.id for run in store.runs()] == ["run3", "run2", "run1"]


def test_a_run_is_found_by_the_beginning_of_its_id(store):
    for id_, updated in (("abc", "2026-11-03"), ("abcd", "2026-11-05"), ("xyz", "2026-11-04")):
        store.open_run(rows.run_of(id_, updated=updated))
    assert store.run("x").id == "xyz"
    assert store.run("abc").id == "abc"
    assert store.run("abcd").id == "abcd"
    assert store.run("latest").id == "abcd"


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        ("ab", "'ab' is the beginning of several runs: abd .model, .; abc .model, .; give more of the id"),
        ("q", "no run 'q' in .*; there is: abd .model, .; abc .model, ."),
        ("", "no run ''"),
        ("%", "no run '%'"),
    ],
)
def test_an_ambiguous_or_unknown_run_is_refused_with_what_there_is(store, prefix, message):
    store.open_run(rows.run_of("abc", created="1"))
    store.open_run(rows.run_of("abd", created="2"))
    with pytest.raises(UsageError, match=message):
        store.run(prefix)


def test_an_error_names_ten_runs_and_counts_the_others(store):
    for number in range(13):
        store.open_run(rows.run_of(f"run{number:02}", created=f"{number:02}"))
    with pytest.raises(UsageError, match=r"there is: run12 \(.*; run03 \(model, \); and 3 more$"):
        store.run("q")


@pytest.mark.parametrize("key", ["", "abc", "zz:0", "00:x", "00:-1"])
def test_what_is_no_key_is_named(store, key):
    with pytest.raises(ValueError, match=f"'{key}' is not the key of a request"):
        store.responses(MODEL, [key])


@pytest.mark.parametrize("prefix", ["latest", "abc"])
def test_in_an_empty_store_there_is_no_run(store, prefix):
    with pytest.raises(UsageError, match="holds no run yet"):
        store.run(prefix)


def test_what_is_not_plain_data_is_refused(store):
    with pytest.raises(StoreError, match=r"<object object at .*> \(object\) cannot be kept"):
        store.open_run(rows.run_of(options={"x": object()}))


# Outcomes


def test_outcomes_are_counted_by_status(store):
    several = [rows.graded(n) for n in range(5)]
    broken = [(p, i, r, replace(o, status=Status.NO_ANSWER, scores={})) for p, i, r, o in several[:2]]
    store.keep_outcomes("run", "t", several[2:] + broken)
    store.keep_outcomes("run", "other", several[:1])
    assert store.statuses("run", "t") == {"no_answer": 2, "scored": 3}
    assert store.statuses("run", "other") == {"scored": 1}
    assert store.statuses("nothing", "t") == {}


def test_a_later_outcome_of_the_same_sample_replaces_the_earlier(store):
    store.open_run(rows.run_of("run"))
    position, item, asked, outcome = rows.graded(1)
    store.keep_outcomes("run", "t", [(position, item, asked, replace(outcome, status=Status.INFRA_ERROR))])
    other = replace(item, fields={"question": "mended"})
    store.keep_outcomes("run", "t", [(5, other, (*asked, *asked), outcome), (5, other, asked, outcome)])
    [sample] = store.samples("run", "t")
    assert (sample.position, sample.item, sample.requests, sample.outcome) == (5, other, asked, outcome)
    assert store.statuses("run", "t") == {"scored": 1}


def test_samples_carry_the_answers_of_the_model_of_their_run(store):
    store.open_run(rows.run_of("run"))
    _, item, (asked,), outcome = rows.graded(1)
    failed = Request(item_id=item.id, part=1, prompt=(Message("user", "never answered " * 20),))
    store.keep_responses(MODEL, [rows.answer(asked), rows.answer(failed, finish=Finish.TIMEOUT)])
    store.keep_responses("other", [rows.answer(failed)])
    store.keep_outcomes("run", "t", [(0, item, (asked, failed), replace(outcome, status=Status.TIMEOUT))])
    [sample] = store.samples("run", "t")
    assert sample.requests == (asked, failed)
    assert sample.responses == (rows.answer(asked)[1], None)


def test_samples_may_be_read_with_answers_that_are_kept_under_another_digest(store):
    store.open_run(rows.run_of("run"))
    _, item, (asked,), outcome = rows.graded(1)
    first, second = rows.answer(asked, text="first"), rows.answer(asked, text="second")
    store.keep_responses(MODEL, [first])
    store.keep_responses("second answers", [second])
    store.keep_outcomes("run", "t", [(0, item, (asked,), outcome)])
    assert [one.responses for one in store.samples("run", "t")] == [(first[1],)]
    found = store.samples("run", "t", answers="second answers")
    assert [one.responses for one in found] == [(second[1],)]


def test_digests_of_items_come_in_the_order_of_the_items(store):
    store.open_run(rows.run_of("run"))
    everything = [rows.graded(number, sample) for number in (3, 0, 2, 1) for sample in range(2)]
    store.keep_outcomes("run", "t", everything)
    items = {position: item for position, item, _, _ in everything}
    expected = [(items[position].id, items[position].digest) for position in range(4)]
    assert list(store.item_digests("run", "t").items()) == expected
    assert store.item_digests("nowhere", "t") == {}


def test_samples_of_an_unknown_run_are_an_error_and_marks_are_none(store):
    with pytest.raises(UsageError, match="no run 'nowhere'"):
        next(store.samples("nowhere", "t"))
    assert list(store.marks("nowhere", "t")) == []


def test_marks_and_samples_come_by_position_and_sample_whatever_the_order_of_keeping(store):
    store.open_run(rows.run_of("run"))
    everything = [rows.graded(number, sample) for number in range(12) for sample in range(3)]
    for start in range(0, 36, 5):
        store.keep_outcomes("run", "t", everything[::-1][start : start + 5])
    expected = [(f"item-{number}", sample) for number in range(12) for sample in range(3)]
    assert [(mark.item_id, mark.sample) for mark in store.marks("run", "t")] == expected
    assert [(s.item.id, s.outcome.sample) for s in store.samples("run", "t")] == expected


def test_items_at_the_same_position_are_all_streamed(store, monkeypatch):
    monkeypatch.setattr("probatum.store.sql.MARKS_PER_PAGE", 2)
    same = [(0, *rows.graded(number)[1:]) for number in range(7)]
    store.keep_outcomes("run", "t", same)
    assert Counter(mark.item_id for mark in store.marks("run", "t")) == Counter(i.id for _, i, _, _ in same)


def test_streaming_fetches_a_page_at_a_time(store):
    fetched: list[int] = []
    size = 2 * MARKS_PER_PAGE + 1
    store.open_run(rows.run_of("run"))
    for start in range(0, size, 500):
        store.keep_outcomes("run", "t", [rows.graded(n) for n in range(start, min(start + 500, size))])

    @event.listens_for(store._writer, "after_cursor_execute")
    def count_rows(connection, cursor, statement, *_):
        if "LIMIT" in statement:
            fetched.append(1)

    marks = store.marks("run", "t")
    for _ in range(MARKS_PER_PAGE):
        next(marks)
    assert len(fetched) == 1
    assert sum(1 for _ in marks) == size - MARKS_PER_PAGE
    assert len(fetched) == 3
    fetched.clear()
    samples = store.samples("run", "t")
    for _ in range(SAMPLES_PER_PAGE + 1):
        next(samples)
    assert len(fetched) == 2


def test_keeping_goes_on_while_samples_are_streamed(store):
    store.open_run(rows.run_of("run"))
    store.keep_outcomes("run", "t", [rows.graded(n) for n in range(SAMPLES_PER_PAGE + 1)])
    for sample in store.samples("run", "t"):
        store.keep_outcomes("run", "rescored", [rows.graded(sample.position)])
    assert store.statuses("run", "rescored") == {"scored": SAMPLES_PER_PAGE + 1}


def test_keeping_nothing_writes_nothing(store):
    store.keep_responses(MODEL, [])
    store.keep_executions("environment", [])
    store.keep_outcomes("run", "t", [])
    assert {
        name: count(store, name) for name in metadata.tables if name != "probatum_schema"
    } == dict.fromkeys(metadata.tables.keys() - {"probatum_schema"}, 0)


# Opening and closing


def test_what_one_store_kept_another_reads(store, url):
    store.open_run(rows.run_of("run"))
    store.keep_outcomes("run", "t", [rows.graded(1)])
    with open_store(url) as other:
        assert other.runs() == store.runs()
        assert list(other.samples("run", "t")) == list(store.samples("run", "t"))


def test_a_shared_row_that_another_process_wrote_is_no_conflict(store, url):
    several = [rows.graded(n, prompt="long " * 100) for n in range(3)]
    with open_store(url) as other:
        other.keep_outcomes("run", "t", several)
    store.keep_outcomes("run", "t", several)
    store.keep_outcomes("second run", "t", several)
    assert (count(store, "items"), count(store, "requests"), count(store, "texts")) == (3, 3, 3)


def test_what_was_rolled_back_is_written_again(store):
    position, item, asked, outcome = rows.graded(1, prompt="long " * 100)
    unkeepable = replace(outcome, scores={"exact": object()})
    with pytest.raises(StoreError, match="cannot be kept"):
        store.keep_outcomes("run", "t", [(position, item, asked, unkeepable)])
    assert (count(store, "items"), count(store, "texts"), count(store, "tasks")) == (0, 0, 0)
    store.keep_outcomes("run", "t", [(position, item, asked, outcome)])
    assert (count(store, "items"), count(store, "texts"), count(store, "tasks")) == (1, 1, 1)


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        store.runs()


def test_a_newer_schema_is_refused(store, url):
    with store._writing() as transaction:
        transaction.connection.execute(schema_version.insert(), [{"version": 99}])
    store.close()
    with pytest.raises(
        StoreError, match=r"^store .* has schema 99, and this probatum reads 1: upgrade probatum"
    ):
        open_store(url)


def test_a_lost_connection_to_postgresql_is_made_again(postgres):
    with empty_schema(postgres) as url, open_store(url) as store:
        store.open_run(rows.run_of("run"))
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = :name"
        with create_engine(postgres, poolclass=NullPool).begin() as connection:
            assert connection.execute(text(end), {"name": make_url(url).query["application_name"]}).all()
        store.keep_outcomes("run", "t", [rows.graded(1)])
        assert store.statuses("run", "t") == {"scored": 1}
