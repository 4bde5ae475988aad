from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from probatum.core.errors import UsageError
from probatum.core.records import Item
from probatum.prompting import ChatPrompt, CompletionPrompt, ShotPool, content_key

PROMPT = CompletionPrompt(
    template="{{ question }}{% for choice in choices %}\n{{ 'ABCD'[loop.index0] }}. {{ choice }}{% endfor %}",
    shot_template="{{ question }} {{ target }}",
)


def question(number: int, **changes: object) -> Item:
    item = Item(id=f"id-{number}", fields={"question": f"What is number {number}?"}, targets=(str(number),))
    return replace(item, **changes)


POOL = tuple(question(number) for number in range(40))


def chosen(pool: ShotPool, item: Item, count: int = 5, seed: int = 0, version: int = 1) -> list[str]:
    return [shot.id for shot in pool.choose(item, count, seed=seed, version=version)]


# ── content keys ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What is IT?", "what is it"),
        ("Ｗｈａｔ　ｉｓ　ｉｔ？", "What is it?"),
        ("What  is\n\tit ?", "What is it?"),
        ("Pick one.\nA. cat\nB. dog", "Pick one.\nA. dog\nB. cat"),
        ("“Straße”", "STRASSE"),
        ("首都是哪里？", "首都是哪里"),
    ],
)
def test_the_same_question_in_another_dress_has_the_same_key(first, second):
    assert content_key(first) == content_key(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What is 12?", "What is 13?"),
        ("Is it hot?", "Is it hot hot?"),
        ("A. cat\nB. dog", "A. cat\nB. cow"),
        ("首都是哪里？", "首都在哪里？"),
    ],
)
def test_another_question_has_another_key(first, second):
    assert content_key(first) != content_key(second)


# ── what is never shown ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["fixed", "drawn"])
@pytest.mark.parametrize(
    "shot",
    [
        pytest.param(question(1, fields={"question": "Quite another one"}), id="same id"),
        pytest.param(question(99, fields={"question": "what is NUMBER 1"}), id="same words"),
    ],
)
def test_the_item_itself_is_never_shown(place, shot):
    pool = ShotPool(PROMPT, **{place: (shot, *POOL[2:10])})
    shown = chosen(pool, question(1), count=8)
    assert shot.id not in shown
    assert len(shown) == 8


@pytest.mark.parametrize("place", ["fixed", "drawn"])
def test_the_item_with_its_options_in_another_order_is_never_shown(place):
    item = Item(id="q", fields={"question": "Which?"}, choices=("cat", "dog", "cow"), targets=("A",))
    turned = replace(item, id="other", choices=("cow", "cat", "dog"), targets=("B",))
    pool = ShotPool(PROMPT, **{place: (turned, *POOL[:3])})
    assert "other" not in chosen(pool, item, count=3)
    assert "other" in chosen(pool, question(77), count=4)


def test_a_question_that_the_pool_holds_twice_is_shown_once():
    twice = (*POOL[:3], question(98, fields={"question": "what is number 2 ?"}))
    for seed in range(20):
        shown = chosen(ShotPool(PROMPT, drawn=twice), question(50), count=3, seed=seed)
        assert not {"id-2", "id-98"} <= set(shown)
    fixed = ShotPool(PROMPT, fixed=twice[2:3], drawn=(*POOL[:2], twice[3]))
    assert set(chosen(fixed, question(50), count=3)) == {"id-0", "id-1", "id-2"}


@given(st.integers(0, 39), st.integers(0, 38), st.integers(0, 5))
def test_shots_are_as_many_as_asked_all_different_and_never_the_item(number, count, seed):
    shown = chosen(ShotPool(PROMPT, drawn=POOL), POOL[number], count=count, seed=seed)
    assert len(shown) == len(set(shown)) == count
    assert POOL[number].id not in shown


# ── what the choice depends on ──────────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(0, 200), unique=True, min_size=1, max_size=20), st.randoms())
def test_the_choice_does_not_depend_on_what_else_is_asked_or_in_which_order(numbers, chance):
    """So that `--limit`, sharding and concurrency change no prompt."""
    alone = {number: chosen(ShotPool(PROMPT, drawn=POOL), question(number)) for number in numbers}
    shuffled = list(numbers)
    chance.shuffle(shuffled)
    pool = ShotPool(PROMPT, drawn=POOL)
    assert {number: chosen(pool, question(number)) for number in shuffled} == alone


def test_the_choice_depends_on_seed_version_and_item():
    pool = ShotPool(PROMPT, drawn=POOL)
    base = chosen(pool, question(50))
    assert chosen(pool, question(50), seed=1) != base
    assert chosen(pool, question(50), version=2) != base
    assert chosen(pool, question(51)) != base
    assert chosen(pool, question(50)) == base


def test_drawn_shots_are_spread_over_the_pool():
    pool = ShotPool(PROMPT, drawn=POOL)
    counts = dict.fromkeys((shot.id for shot in POOL), 0)
    for number in range(100, 900):
        for shot in chosen(pool, question(number)):
            counts[shot] += 1
    assert 60 < min(counts.values()) <= max(counts.values()) < 145  # 100 expected, standard deviation 9


def test_fixed_shots_are_shown_first_and_in_their_order():
    pool = ShotPool(PROMPT, fixed=(POOL[7], POOL[3]), drawn=POOL[20:])
    shown = chosen(pool, question(50), count=4)
    assert shown[:2] == ["id-7", "id-3"]
    assert len(set(shown)) == 4
    assert chosen(pool, question(50), count=1) == ["id-7"]


# ── too few ─────────────────────────────────────────────────────────────────────────────────────────


def test_too_small_a_pool_is_told_with_what_can_be_shown():
    pool = ShotPool(PROMPT, drawn=POOL[:3])
    with pytest.raises(UsageError, match=r"4 shots asked for, and only 3 .*'id-50'; use --shots 3 or fewer"):
        pool.choose(question(50), 4, seed=0, version=1)
    with pytest.raises(UsageError, match=r"only 0 .*; use --shots 0$"):
        ShotPool(PROMPT).choose(question(50), 1, seed=0, version=1)


def test_an_item_that_finds_too_few_shots_is_found_before_anything_is_asked():
    pool = ShotPool(PROMPT, fixed=POOL[:4])
    items = [question(60), question(2), question(61)]
    with pytest.raises(UsageError, match="only 3 can be shown beside item 'id-2'"):
        pool.check(items, 4, seed=0, version=1)
    pool.check(items, 3, seed=0, version=1)


def test_a_large_pool_is_not_checked_item_by_item():
    def never():
        raise AssertionError("the items were read")
        yield

    ShotPool(PROMPT, drawn=POOL).check(never(), 4, seed=0, version=1)
    ShotPool(PROMPT).check(never(), 0, seed=0, version=1)


def test_conversations_are_compared_by_their_question_alone():
    chat = ChatPrompt(
        template="{{ question }}", system="The system prompt of all.", shot_answer="{{ target }}"
    )
    pool = ShotPool(chat, drawn=(question(99, fields={"question": "number 1: what is?"}), *POOL[2:6]))
    assert "id-99" not in chosen(pool, question(1), count=4)
