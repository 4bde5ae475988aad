"""Sequences as passes: every token is seen by the right ones, every wanted place comes once."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra: pip install 'probatum[hf]'")

from hypothesis import given
from hypothesis import strategies as some

from probatum.models.hf.tree import Query, build, passes

SEQUENCES = some.lists(
    some.lists(some.integers(0, 2), min_size=1, max_size=12)
    | some.integers(0, 60).flatmap(
        lambda length: some.lists(some.integers(0, 1), min_size=1, max_size=4).map(
            lambda end: [7] * length + end
        )
    ),
    min_size=1,
    max_size=12,
)


def histories(queries, budget):
    """Runs the passes by hand: (query, number of its target) → the tokens up to that place, as computed."""
    kept: list[int] = []
    found: dict[tuple[int, int], list[int]] = {}
    computed = 0
    for one in passes(build(queries), budget):
        assert 0 < len(one.tokens) <= budget
        assert one.groups[0][0] == 0
        assert one.groups[-1][1] == len(one.tokens)
        computed += len(one.tokens)
        del kept[one.prefix :]
        assert len(kept) == one.prefix
        group_of = {place: pair for pair in one.groups for place in range(*pair)}

        def history(place, one=one, group_of=group_of, kept=tuple(kept)):
            begin, _ = group_of[place]
            own = [j for j in range(begin, place + 1) if place < one.stops[j]]
            positions = [int(one.positions[j]) for j in own]
            assert positions == list(range(one.prefix, one.prefix + len(own)))
            return [*kept, *(int(one.tokens[j]) for j in own)]

        for wanted in one.wanted:
            for number in range(wanted.count):
                key = (wanted.query, wanted.first + number)
                assert key not in found
                found[key] = history(wanted.place + number)
        if one.keeps:
            kept += [int(token) for token in one.tokens]
    return found, computed


@given(SEQUENCES, some.integers(4, 64), some.data())
def test_each_wanted_place_is_computed_once_after_its_own_tokens(sequences, budget, data):
    queries = []
    for tokens in sequences:
        count = data.draw(some.integers(1, len(tokens)))
        queries.append(Query(np.array(tokens), np.arange(count)))
    found, computed = histories(queries, budget)
    expected = {}
    for number, query in enumerate(queries):
        length, count = len(query.tokens), len(query.targets)
        for place in range(count):
            expected[number, place] = query.tokens[: length - count + place + 1].tolist()
    assert found == expected
    assert computed <= sum(len(query.tokens) for query in queries)


def query(*parts: int, count: int = 1) -> Query:
    """Stretches named by numbers: the first digits say which, and each is ten times as long."""
    tokens = np.concatenate([np.arange(1000 * part, 1000 * part + 10 * (part % 10)) for part in parts])
    return Query(tokens, np.arange(count))


def test_what_is_shared_is_computed_once():
    few_shot, questions = 9, [11, 12, 13, 14, 15]
    queries = [query(few_shot, question) for question in questions for _ in range(4)]
    _, computed = histories(queries, 512)
    assert computed == 90 + 10 + 20 + 30 + 40 + 50
    _, computed = histories(queries, 100)
    assert computed == 90 + 150


def test_a_short_beginning_is_computed_again_rather_than_in_a_pass_of_its_own():
    queries = [query(1, question) for question in (15, 25, 35, 45, 55, 65)]
    made = list(passes(build(queries), 128))
    assert [len(one.tokens) for one in made] == [120, 120, 120]
    assert all(one.prefix == 0 for one in made)


def test_a_pass_packs_subtrees_until_the_budget_is_full():
    queries = [query(9, question) for question in (13, 23, 33, 43, 53)]
    made = list(passes(build(queries), 100))
    assert [(len(one.tokens), one.prefix, one.keeps) for one in made] == [
        (90, 0, True),
        (90, 90, False),
        (60, 90, False),
    ]


def test_a_long_text_goes_through_in_parts():
    made = list(passes(build([Query(np.arange(250), np.arange(250))]), 100))
    assert [(len(one.tokens), one.prefix) for one in made] == [(100, 0), (100, 100), (50, 200)]
    assert [[(one.place, one.count, one.first) for one in each.wanted] for each in made] == [
        [(0, 100, 0)],
        [(0, 100, 100)],
        [(0, 50, 200)],
    ]


def test_the_passes_do_not_depend_on_the_order_of_the_queries():
    queries = [query(9, question, option) for question in (13, 23) for option in (31, 41, 51)]
    one = [each.tokens.tolist() for each in passes(build(queries), 100)]
    other = [each.tokens.tolist() for each in passes(build(queries[::-1]), 100)]
    assert one == other


def test_thousands_of_nested_sequences_need_no_recursion():
    queries = [Query(np.arange(length), np.array([0])) for length in range(1, 3000)]
    _, computed = histories(queries[::50], 64)
    assert computed == len(queries[-49].tokens)
    made = list(passes(build(queries), 64))
    assert sum(len(one.wanted) for one in made) == len(queries)
