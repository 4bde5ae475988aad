"""Leaderboards: only what was asked the same stands in one table, and ties are groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from probatum.core.records import Identity, Sampling
from probatum.runner.comparing import leaderboards
from probatum.store import open_store
from tests.runner.stored import PROTOCOL, stored_run


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 's.db'}") as opened:
        yield opened


def bits(text: str) -> dict[str, float]:
    return {f"i{place}": float(sign) for place, sign in enumerate(text)}


def at(run, minute: int):
    return replace(run, record=replace(run.record, updated=f"2026-11-30T10:{minute:02}:00Z"))


def test_models_are_ranked_with_ties_as_groups(store):
    runs = [
        stored_run(store, name, bits(text))
        for name, text in {"a": "1000" * 25, "b": "1110" * 25, "c": "1110" * 24 + "1101"}.items()
    ]
    (board,) = leaderboards(runs)
    ids = {name: run.id for name, run in zip("abc", runs, strict=True)}
    assert {row.run: (row.low, row.high) for row in board.ranking.rows} == {
        ids["a"]: (3, 3),
        ids["b"]: (1, 2),
        ids["c"]: (1, 2),
    }
    assert [set(group) for group in board.ranking.groups] == [{ids["b"], ids["c"]}, {ids["a"]}]
    assert (board.apart, board.older) == (None, 0)


def test_what_was_asked_otherwise_or_about_other_items_stands_apart_and_says_why(store):
    a = at(stored_run(store, "a", bits("10" * 20)), 9)
    b = stored_run(store, "b", bits("11" * 20))
    fewer = stored_run(store, "c", bits("11" * 10))
    other = stored_run(store, "d", bits("11" * 20), protocol=replace(PROTOCOL, samples=10))
    boards = leaderboards([a, b, fewer, other])
    by_run = {run: board for board in boards for run, _ in board.models}
    assert boards[0] is by_run[a.id] is by_run[b.id]
    assert by_run[fewer.id].apart == "it has other items, or another number of them"
    assert by_run[other.id].apart == "the sample budgets differ (samples)"
    assert by_run[other.id].ranking is None


def test_a_model_stands_in_a_table_with_its_newest_run(store):
    model = Identity(provider="p", name="m")
    old = at(stored_run(store, "x", bits("1010"), model=model), 1)
    new = at(stored_run(store, "y", bits("1110"), model=model), 2)
    (board,) = leaderboards([old, new])
    assert (board.models, board.older) == (((new.id, "p/m"),), 1)


def test_a_model_with_two_decodings_stands_there_twice_and_says_how_it_was_sampled(store):
    model = Identity(provider="p", name="m")
    runs = [
        stored_run(
            store, name, bits(text), model=model, protocol=replace(PROTOCOL, sampling=Sampling(**sampling))
        )
        for name, text, sampling in (
            ("x", "1010", {}),
            ("y", "1110", {"temperature": 0.7, "top_p": 0.9}),
            ("z", "1111", {"temperature": 1.0}),
        )
    ]
    (board,) = leaderboards([at(run, minute) for minute, run in enumerate(runs)])
    assert dict(board.models) == {
        runs[0].id: "p/m (greedy)",
        runs[1].id: "p/m (temperature 0.7, top_p 0.9)",
        runs[2].id: "p/m (temperature 1)",
    }
    assert board.older == 0


def test_tasks_are_chosen_by_name(store):
    run = stored_run(store, "a", {"sums": bits("10"), "chess": bits("10")})
    assert [board.task for board in leaderboards([run])] == ["chess", "sums"]
    assert [board.task for board in leaderboards([run], tasks=["sums"])] == ["sums"]
    assert leaderboards([run], tasks=["go"]) == ()
