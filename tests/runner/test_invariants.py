"""A stored run that somebody broke, row by row: it is found, it is named, and no command shows it as sound."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import probatum as pb
from probatum.core.errors import StoreError
from probatum.core.run import Run
from probatum.report.card import make_card
from probatum.report.page import make_report
from probatum.runner import EvaluatedRun
from probatum.runner.comparing import GateVerdict, compare, explain, gate
from probatum.runner.invariants import mark_faults, task_faults
from probatum.scoring import MacroRate, PassAtK, Rate
from probatum.store import open_store
from probatum.store.encoding import pack, unpack
from tests.report.reported import EVERY_ENDING, made_run, right

Broken = Callable[[sqlite3.Connection, int], int]
"""Changes one row; gives how many it changed."""


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """A file with runs of every ending: one sample an item, and three."""
    directory = tmp_path_factory.mktemp("invariants")
    strata = ["a", "b", "c"] * 6
    replies = [*EVERY_ENDING, *(right(number) if number % 2 else "7" for number in range(9, 18))]
    metrics = (Rate(), MacroRate())
    made_run(directory, replies, "single", strata=strata, metrics=metrics).store.close()
    passing = (Rate(), PassAtK(score="correct", ks=(1, 2, 3)))
    made_run(directory, replies, "several", metrics=passing, samples=3, temperature=0.7).store.close()
    return directory / "s.db"


@pytest.fixture
def copied(store, tmp_path) -> Path:
    shutil.copy(store, tmp_path / "s.db")
    return tmp_path / "s.db"


def loaded(path: Path) -> list[EvaluatedRun]:
    opened = open_store(f"sqlite:///{path}")
    return [EvaluatedRun(run, opened) for run in opened.runs()]


def changed(path: Path, change: Broken, row: int) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert change(connection, row) == 1


def row_of(connection: sqlite3.Connection, table: str, row: int, where: str = "1") -> int:
    ids = [each[0] for each in connection.execute(f"select rowid from {table} where {where} order by rowid")]
    return ids[row % len(ids)]


def outcome(change: str, where: str = "1") -> Broken:
    def broken(connection, row):
        one = row_of(connection, "outcomes", row, where)
        return connection.execute(f"update outcomes set {change} where rowid = ?", (one,)).rowcount

    return broken


def deleted(table: str, where: str = "1") -> Broken:
    def broken(connection, row):
        one = row_of(connection, table, row, where)
        return connection.execute(f"delete from {table} where rowid = ?", (one,)).rowcount

    return broken


def doubled(item: str, sample: str) -> Broken:
    columns = "task, position, status, item, requests, scores, body"

    def broken(connection, row):
        one = row_of(connection, "outcomes", row)
        return connection.execute(
            f"insert into outcomes ({columns}, item_id, sample) select {columns}, {item}, {sample} "
            "from outcomes where rowid = ?",
            (one,),
        ).rowcount

    return broken


def scored(change: Callable[[dict[str, float]], dict[str, float]]) -> Broken:
    def broken(connection, row):
        one = row_of(connection, "outcomes", row, "status = 'scored'")
        (body,) = connection.execute("select scores from outcomes where rowid = ?", (one,)).fetchone()
        scores = change(unpack(dict[str, float], body))
        query = "update outcomes set scores = ? where rowid = ?"
        return connection.execute(query, (pack(scores), one)).rowcount

    return broken


def record(change: Callable[[dict], None]) -> Broken:
    """A change of the summary of the run's task."""

    def broken(connection, row):
        one = row_of(connection, "runs", row)
        (body,) = connection.execute("select body from runs where rowid = ?", (one,)).fetchone()
        run = unpack(Run, body)
        (task,) = run.tasks
        summary = json.loads(json.dumps(dict(task.summary)))
        change(summary)
        body = pack(replace(run, tasks=(replace(task, summary=summary),)))
        return connection.execute("update runs set body = ? where rowid = ?", (body, one)).rowcount

    return broken


SCORED = "status = 'scored'"
ROWS: dict[str, Broken] = {
    "a row deleted": deleted("outcomes"),
    "a row doubled under another item": doubled("item_id || '-2'", "0"),
    "a row doubled as another sample": doubled("item_id", "sample + 7"),
    "an item renamed": outcome("item_id = item_id || 'x'"),
    "a sample renumbered": outcome("sample = sample + 5"),
    "a scored sample called unanswered": outcome("status = 'no_answer'", SCORED),
    "a failure called scored": outcome("status = 'scored'", "status <> 'scored'"),
    "a failure called another one": outcome("status = 'judge_error'", "status <> 'scored'"),
    "a status that there is not": outcome("status = 'splendid'"),
    "a score turned round": scored(lambda scores: {**scores, "correct": 1 - scores["correct"]}),
    "a score above 1": scored(lambda scores: {**scores, "correct": 1.5}),
    "a score below 0": scored(lambda scores: {**scores, "correct": -1.0}),
    "a score that is infinite": scored(lambda scores: {**scores, "other": float("inf")}),
    "scores taken away": scored(lambda _: {}),
    "exact above F1": scored(lambda scores: {**scores, "exact": 1.0, "f1": 0.5}),
    "a score renamed": scored(lambda scores: {"right": scores["correct"]}),
    "scores of garbage": outcome("scores = x'00ffff'"),
    "scores of nothing": outcome("scores = x''"),
    "requests of garbage": outcome("requests = x'00c1'", SCORED),
    "a response deleted": deleted("responses"),
    "an item deleted": deleted("items"),
}
SUMMARIES: dict[str, Broken] = {
    "a count raised": record(lambda summary: summary["statuses"].update(scored=99)),
    "a count moved": record(lambda summary: _move(summary["statuses"])),
    "a value raised": record(lambda summary: summary["estimates"][0].update(value=0.99, high=1.0)),
    "a value above 1": record(lambda summary: summary["estimates"][0].update(value=1.2, high=1.3)),
    "an interval beside its value": record(
        lambda summary: summary["estimates"][0].update(low=0.98, high=0.99)
    ),
    "coverage raised": record(lambda summary: summary["estimates"][0].update(coverage=1.0)),
    "n raised": record(lambda summary: summary["estimates"][0].update(n=18)),
    "bounds narrowed": record(lambda summary: summary["estimates"][0].update(bounds=[0.3, 0.3])),
    "a p-value below 0": record(lambda summary: summary["estimates"][0].update(p_chance=-1.0)),
    "items taken away": record(lambda summary: summary.update(units=3)),
    "estimates of garbage": record(lambda summary: summary.update(estimates=[{"name": 1}])),
    "the last estimate raised": record(lambda summary: summary["estimates"][-1].update(value=0.97, high=1.0)),
}


def _move(statuses: dict[str, int]) -> None:
    statuses["scored"] += 1
    statuses["refused"] -= 1


def test_what_nobody_touched_breaks_nothing(copied):
    for run in loaded(copied):
        assert run.faults == ()
        assert run.valid
        assert run.plain()["valid"] is True
    run.store.close()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(ROWS)), row=st.integers(0, 10_000))
def test_any_broken_row_is_found(store, tmp_path, name, row):
    path = tmp_path / "s.db"
    shutil.copy(store, path)
    changed(path, ROWS[name], row)
    runs = loaded(path)
    broken = [run for run in runs if run.faults]
    runs[0].store.close()
    if name == "an item deleted":
        assert broken  # both runs asked the same items
    elif name == "a response deleted":
        assert len(broken) <= 1  # the answer of a sample that was not scored is missed by nobody
    else:
        assert len(broken) == 1, name
        assert all("sums: " in fault for fault in broken[0].faults)


@pytest.mark.parametrize("name", ROWS)
def test_each_kind_is_found_in_the_first_rows_and_named_in_a_line(store, tmp_path, name):
    for row in range(2):
        path = tmp_path / f"{row}.db"
        shutil.copy(store, path)
        changed(path, ROWS[name], row)
        runs = loaded(path)
        faults = [fault for run in runs for fault in run.faults]
        runs[0].store.close()
        assert faults
        assert not any("\n" in fault for fault in faults)


@pytest.mark.parametrize("name", SUMMARIES)
@pytest.mark.parametrize("row", [0, 1])
def test_any_broken_summary_is_found(copied, name, row):
    changed(copied, SUMMARIES[name], row)
    runs = loaded(copied)
    assert len([run for run in runs if run.faults]) == 1
    runs[0].store.close()


def test_a_scored_sample_whose_answer_is_gone_is_named(copied):
    with closing(sqlite3.connect(copied)) as connection, connection:
        connection.execute("delete from responses")
    for run in loaded(copied):
        (fault,) = run.faults
        assert "scored, and a response of theirs is not kept" in fault
    run.store.close()


def test_every_way_to_show_a_run_marks_one_that_is_broken(copied):
    changed(copied, ROWS["a score turned round"], 0)
    runs = loaded(copied)
    broken = next(run for run in runs if run.faults)
    sound = next(run for run in runs if not run.faults)
    (fault,) = [each for each in broken.faults if "is told as" in each][:1]
    assert broken.plain()["faults"] == list(broken.faults)
    assert "INVALID" in broken._repr_html_()
    assert "INVALID" not in sound._repr_html_()
    assert (
        make_card(broken.record, faults=broken.faults)
        .sections["Validity"]["invariants"]
        .startswith("INVALID")
    )
    assert not make_report(broken).valid
    assert "INVALID" in make_report(broken).markdown()
    found = compare(sound, broken)
    assert not found.decided
    assert f"B is INVALID: {fault.removeprefix('sums: ')}" in found.verdict
    assert found.pairs[0].contrast is None
    assert compare(sound, broken, anyway=True).pairs[0].anyway
    (told,) = explain(sound, broken)
    assert told.plain()["valid"] is False
    assert all(fault.startswith("B is INVALID: ") for fault in told.faults)
    let = gate(broken, sound, 0.5)
    assert let.verdict is GateVerdict.CANNOT_TELL
    assert "INVALID" in let.tasks[0].reason
    sound.store.close()


def test_a_run_that_did_not_end_claims_nothing_and_breaks_nothing(copied):
    run = loaded(copied)[0]
    unfinished = replace(run.record, tasks=tuple(replace(task, summary={}) for task in run.record.tasks))
    assert EvaluatedRun(unfinished, run.store).faults == ()
    assert mark_faults(unfinished.tasks[0], []) == []
    assert task_faults(unfinished.tasks[0]) == ()
    run.store.close()


def test_faults_are_known_after_the_store_is_closed_only_if_they_were_asked_for(copied):
    first, second = loaded(copied)
    assert first.faults == ()
    first.store.close()
    assert first.valid
    with pytest.raises(StoreError, match="was closed"):
        _ = second.faults


def test_what_evaluate_returns_was_looked_at_already(tmp_path):
    run = pb.evaluate("mini", model="random/1", limit=4, store=f"sqlite:///{tmp_path}/s.db")
    run.store.close()
    assert run.plain()["valid"] is True


def test_a_summary_of_other_code_is_held_to_its_values_alone(copied):
    """The source of a metric is in the recipe: what older code told of coverage and bounds is its own."""
    run = next(each for each in loaded(copied) if each.record.model.name == "single")
    (task,) = run.record.tasks
    form = json.loads(json.dumps(dict(task.recipe)))
    form["protocol"]["fields"]["task"]["fields"]["metrics"][0]["source"] = "older"
    marks = list(run.store.marks(run.id, task.task))
    for changes, faults in (({"coverage": 1.0}, 0), ({"value": 0.99, "high": 1.0}, 1)):
        summary = json.loads(json.dumps(dict(task.summary)))
        summary["estimates"][0].update(changes)
        assert len(mark_faults(replace(task, recipe=form, summary=summary), marks)) == faults
        assert len(mark_faults(replace(task, summary=summary), marks)) == 1
    run.store.close()
