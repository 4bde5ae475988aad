import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.errors import ModelError, UsageError
from probatum.models.pairs import check_prompt_logprobs, encode_pair, steps, sum_logprobs


def longest_match(vocabulary):
    names = sorted(vocabulary, key=len, reverse=True)

    def encode(text):
        tokens = []
        while text:
            name = next(name for name in names if text.startswith(name))
            tokens.append(vocabulary[name])
            text = text[len(name) :]
        return tokens

    return encode


LETTERS = longest_match({"a": 0, "b": 1, " ": 2, "ab": 3, " a": 4, "b a": 5})


@pytest.mark.parametrize(
    ("vocabulary", "context", "continuation", "tokens", "flag"),
    [
        ({"Ans": 0, "wer": 1, "Answer": 2}, "Ans", "wer", ((0,), (1,)), "boundary_split"),
        ({"Answer": 0, ":": 1, " C": 2, ": C": 3}, "Answer:", " C", ((0, 1), (2,)), "boundary_split"),
        ({"Answer": 0, ":": 1, " C": 2}, "Answer:", " C", ((0, 1), (2,)), None),
        ({"a": 0}, "", "aa", ((), (0, 0)), None),
    ],
)
def test_the_continuation_owns_its_tokens(vocabulary, context, continuation, tokens, flag):
    pair = encode_pair(longest_match(vocabulary), context, continuation)
    assert ((pair.context, pair.continuation), pair.flag) == (tokens, flag)


@given(st.text(alphabet="ab ", max_size=8), st.text(alphabet="ab ", min_size=1, max_size=8))
def test_a_pair_stands_for_its_texts_and_is_never_empty(context, continuation):
    pair = encode_pair(LETTERS, context, continuation)
    assert pair.continuation
    assert pair.context == tuple(LETTERS(context))
    if pair.flag is None:
        assert pair.context + pair.continuation == tuple(LETTERS(context + continuation))
    else:
        assert pair.continuation == tuple(LETTERS(continuation))


@pytest.mark.parametrize("encode", [LETTERS, lambda _: []])
def test_an_empty_continuation_is_refused(encode):
    with pytest.raises(UsageError, match="continuation"):
        encode_pair(encode, "a", "" if encode is LETTERS else "b")


def test_each_token_is_scored_after_all_before_it():
    table = {((5,), 6): -0.5, ((5, 6), 7): -1.25}
    assert sum_logprobs(lambda seen, token: table[seen, token], [5], [6, 7]) == -1.75
    assert list(steps([], [1, 2])) == [((), 1), ((1,), 2)]


def test_a_prompt_scored_in_part_is_refused():
    check_prompt_logprobs(117, 116)
    check_prompt_logprobs(1, 0)
    for returned in (5, 117, 0):
        with pytest.raises(ModelError, match="116 expected"):
            check_prompt_logprobs(117, returned)
