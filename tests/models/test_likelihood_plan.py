"""Which tokens are seen and which are scored: no model is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as some

from probatum.core.errors import UsageError
from probatum.core.records import Finish, Rolling, Scoring
from probatum.models.likelihood import SPLIT, NotScorableError, Plan, check_scoring, plan

BEGIN, END = 1, 2
MERGES = ["un", "unbe", " B", "():", "\n\n", "<s>"]


@dataclass(frozen=True)
class Greedy:
    """The longest piece first; every other character is its code."""

    opening: tuple[int, ...] = (BEGIN,)
    begin: int | None = BEGIN
    end: int | None = END

    def pieces(self, text: str) -> list[str]:
        found = []
        while text:
            piece = max((one for one in MERGES if text.startswith(one)), key=len, default=text[0])
            found.append(piece)
            text = text[len(piece) :]
        return found

    def number(self, piece: str) -> int:
        if piece == "<s>":
            return BEGIN
        return 1000 + MERGES.index(piece) if piece in MERGES else ord(piece) + 10

    def encode(self, text: str) -> list[int]:
        return [self.number(piece) for piece in self.pieces(text)]

    def bytes_before(self, text: str, tokens: list[int], count: int) -> int:
        pieces = self.pieces(text)
        place = count - (len(tokens) - len(pieces))
        return len("".join(pieces[:place]).encode())


WITH = Greedy()
BARE = Greedy(opening=())
NEITHER = Greedy(opening=(), begin=None, end=None)
END_ONLY = Greedy(opening=(), begin=None)


def codes(text: str) -> list[int]:
    return WITH.encode(text)


def planned(prompt: str, continuation: str, vocabulary: Greedy = WITH, context: int = 99, **rules) -> Plan:
    return plan(prompt, continuation, Scoring(**rules), vocabulary, context)


def only(result: Plan) -> tuple[list[int], list[int]]:
    [stretch] = result.stretches
    return list(stretch.seen), list(stretch.scored)


@pytest.mark.parametrize(
    ("boundary", "prompt", "continuation", "seen", "scored", "scored_bytes"),
    [
        ("common", "ab", "cd", "ab", "cd", 2),
        ("common", "x un", "be", "x ", "unbe", 4),
        ("common", "a:", " B", "a:", " B", 2),
        ("common", "a: ", "B", "a:", " B", 2),
        ("common", "f(", "):", "f", "():", 3),
        ("common", "a\n", "\nb", "a", "\n\nb", 3),
        ("count", "ab", "cd", "ab", "cd", 2),
        ("count", "a: ", "B", "a:", " B", 2),
        ("count", "a\n", "\nb", "a", "\n\nb", 3),
        ("apart", "a: ", "B", "a: ", "B", 1),
        ("own", "ab", "cd", "ab", "cd", 2),
        ("own", "a:", " B", "a:", " B", 2),
        ("own", "x un", "be", "x un", "be", 2),
        ("own", "a\n", "\nb", "a\n", "\nb", 2),
        ("common", "中", "国", "中", "国", 3),
    ],
)
def test_the_boundary(boundary, prompt, continuation, seen, scored, scored_bytes):
    result = planned(prompt, continuation, boundary=boundary)
    expected = codes(seen) if boundary != "apart" else [ord(one) + 10 for one in seen]
    assert only(result) == ([BEGIN, *expected], codes(scored))
    assert result.scored_bytes == scored_bytes


def test_a_prompt_that_keeps_its_own_tokens_says_where_the_whole_would_have_changed_them():
    assert planned("ab", "cd", boundary="own").remark is None
    assert planned("x un", "be", boundary="own").remark == SPLIT


def test_lm_evals_rule_scores_what_exceeds_the_prompts_own_number_of_tokens():
    """ "unbe" is one token, so is "un": nothing is left, where lm-eval aborts."""
    result = planned("x un", "be", boundary="count")
    assert only(result) == ([BEGIN, *codes("x ")], codes("unbe"))
    assert "spans the boundary" in result.remark
    result = planned("x un", "be!", boundary="count")
    assert only(result) == ([BEGIN, *codes("x un")], codes("!"))
    assert (result.scored_bytes, result.remark) == (1, None)


@pytest.mark.parametrize(
    ("begin", "vocabulary", "prompt", "seen"),
    [
        ("tokenizer", WITH, "ab", [BEGIN, *codes("ab")]),
        ("tokenizer", WITH, "<s>ab", [BEGIN, *codes("ab")]),
        ("tokenizer", BARE, "ab", codes("ab")),
        ("always", BARE, "ab", [BEGIN, *codes("ab")]),
        ("always", BARE, "<s>ab", [BEGIN, *codes("ab")]),
        ("always", WITH, "ab", [BEGIN, *codes("ab")]),
        ("never", WITH, "ab", codes("ab")),
        ("tokenizer", WITH, "", [BEGIN]),
        ("never", WITH, "", [BEGIN]),
        ("tokenizer", BARE, "", [BEGIN]),
        ("tokenizer", END_ONLY, "", [END]),
    ],
)
def test_the_beginning_token_stands_there_once(begin, vocabulary, prompt, seen):
    result = planned(prompt, "cd", vocabulary, begin=begin)
    assert only(result) == (seen, codes("cd"))
    assert (result.prompt_tokens, result.scored_bytes) == (len(seen), 2)


def test_a_beginning_token_that_the_continuation_writes_is_given_rather_than_scored():
    result = planned("", "<s>ab")
    assert only(result) == ([BEGIN], codes("ab"))
    assert result.scored_bytes == 2


def test_a_first_token_with_nothing_before_it_can_be_left_out():
    result = planned("", "中ab", BARE, first="skip")
    assert only(result) == (codes("中"), codes("ab"))
    assert result.scored_bytes == 2


def test_a_text_of_one_token_whose_first_is_left_out_scores_nothing():
    result = planned("", "a", BARE, first="skip")
    assert (result.stretches, result.tokens, result.scored_bytes) == ((), (), 0)
    assert "nothing is scored" in result.remark


@pytest.mark.parametrize(
    ("prompt", "continuation", "vocabulary", "rules", "words"),
    [
        ("ab", "", WITH, {}, "empty"),
        ("", "ab", NEITHER, {}, "first='skip'"),
        ("ab", "cd", NEITHER, {"begin": "always"}, "no beginning token"),
        ("ab", "cd", WITH, {"rolling": Rolling(window=200)}, "window=200"),
    ],
)
def test_what_cannot_be_scored_is_told(prompt, continuation, vocabulary, rules, words):
    with pytest.raises(NotScorableError) as raised:
        planned(prompt, continuation, vocabulary, **rules)
    assert raised.value.finish is Finish.MODEL_ERROR
    assert words in raised.value.reason


@pytest.mark.parametrize(
    ("overflow", "kept", "cut"),
    [("left", [BEGIN, *codes("ef")], 4), ("left_bare", codes("def"), 4)],
)
def test_a_prompt_that_does_not_fit_is_cut_from_the_left_and_the_loss_is_told(overflow, kept, cut):
    result = planned("abcdef", "xy", context=4, overflow=overflow)
    assert only(result) == (kept, codes("xy"))
    assert (result.cut_tokens, result.prompt_tokens, result.scored_bytes) == (cut, 3, 2)


@pytest.mark.parametrize(("overflow", "context"), [("refuse", 7), ("left", 3), ("left_bare", 2)])
def test_what_does_not_fit_is_refused(overflow, context):
    """Four tokens are scored: a context of 3 would hold the three that are given to the last, and no more."""
    with pytest.raises(NotScorableError) as raised:
        planned("abcdef", "wxyz", context=context, overflow=overflow)
    assert raised.value.finish is Finish.CONTEXT_OVERFLOW


def test_the_last_token_takes_no_place_in_the_context():
    assert planned("abc", "xy", context=5).cut_tokens == 0
    with pytest.raises(NotScorableError):
        planned("abc", "xy", context=4)


# ── windows ─────────────────────────────────────────────────────────────────────────────────────


def lm_eval_windows(tokens, prefix, length):
    """`get_rolling_token_windows(context_len=1)` and `make_disjoint_window` of lm-eval 0.4.13, from their
    documentation: the first window predicts `length` tokens from the prefix on, each later one as many after
    one token of context, and the last one is filled up with context."""
    first = min(length, len(tokens))
    windows = [([prefix], tokens[:first])]
    done = first
    while done < len(tokens):
        count = min(len(tokens) - done, length)
        end = done + count
        context = tokens[end - length - 1 : done]
        windows.append((context, tokens[done:end]))
        done = end
    return windows


@given(some.integers(1, 60), some.integers(2, 20))
def test_with_the_whole_window_as_stride_the_windows_are_lm_evals(length, window):
    text = "".join(chr(97 + place % 26) for place in range(length))
    result = planned("", text, rolling=Rolling(window=window))
    found = [(list(one.seen), list(one.scored)) for one in result.stretches]
    assert found == lm_eval_windows(codes(text), BEGIN, window)


@given(
    some.integers(0, 30),
    some.integers(1, 60),
    some.integers(2, 20),
    some.integers(1, 20),
    some.booleans(),
    some.booleans(),
)
def test_each_token_is_scored_once_with_all_the_context_that_fits(
    before, length, window, stride, again, adds
):
    text = "".join(chr(200 + place) for place in range(before + length))
    prompt, continuation = text[:before], text[before:]
    rolling = Rolling(window=window, stride=min(stride, window), begin_each=again)
    result = planned(prompt, continuation, WITH if adds else BARE, rolling=rolling)
    whole = codes(text)
    assert list(result.tokens) == whole[before:]
    place = before
    for number, one in enumerate(result.stretches):
        seen = list(one.seen)
        assert len(one.evaluated) <= window
        assert len(seen) >= 1
        own = seen[1:] if seen[0] == BEGIN else seen
        assert own == whole[place - len(own) : place]
        place += len(one.scored)
        if number and place < len(whole):
            assert len(one.scored) == min(rolling.stride, window - (1 if again and seen[0] == BEGIN else 0))
        if number:
            assert len(one.evaluated) == min(window, place - 1 + (seen[0] == BEGIN))


def test_the_number_of_windows_is_what_the_stride_says():
    text = "".join(chr(200 + place) for place in range(101))
    for window, stride in ((10, 10), (10, 5), (10, 1), (50, 7)):
        result = planned("", text, rolling=Rolling(window=window, stride=stride))
        assert len(result.stretches) == 1 + math.ceil((101 - window) / stride)


def test_lm_evals_double_beginning_is_scored_where_the_tokenizer_adds_one():
    result = planned("", "ab", rolling=Rolling(), begin_twice=True)
    assert only(result) == ([BEGIN], [BEGIN, *codes("ab")])
    assert only(planned("", "ab", BARE, rolling=Rolling(), begin_twice=True)) == ([BEGIN], codes("ab"))


def test_windows_see_the_prompt_and_do_not_score_it():
    result = planned("abcdef", "xyz", rolling=Rolling(window=4, stride=2))
    found = [(list(one.seen), list(one.scored)) for one in result.stretches]
    assert found == [(codes("def"), codes("xy")), (codes("efxy"), codes("z"))]
    assert list(result.tokens) == codes("xyz")


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        (Scoring(boundary="middle"), "boundary='middle'"),
        (Scoring(begin="yes"), "begin='yes'"),
        (Scoring(first="last"), "first='last'"),
        (Scoring(overflow="right"), "overflow='right'"),
        (Scoring(begin_twice=True), "rolling=Rolling()"),
        (Scoring(rolling=Rolling(window=1)), "window=1"),
        (Scoring(rolling=Rolling(window=8, stride=9)), "stride=9"),
        (Scoring(rolling=Rolling(stride=0)), "stride=0"),
    ],
)
def test_rules_that_nobody_knows_are_refused_by_name(scoring, words):
    with pytest.raises(UsageError) as raised:
        check_scoring(scoring)
    assert words in str(raised.value)
