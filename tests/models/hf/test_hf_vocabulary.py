"""Text to tokens: line by line where that is the same, and where tokens lie in the text."""

from __future__ import annotations

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as some
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from probatum.models.hf.vocabulary import PROBES, HFVocabulary

TEXT = some.text(
    some.sampled_from("aA1 \n\n\t.中龘:é") | some.characters(exclude_categories=["Cs"]), max_size=40
)


def byte_level(*, spanning: bool, prefix: bool = False) -> PreTrainedTokenizerFast:
    """GPT-2's manner: a regular expression cuts the text, bytes are letters, white space looks ahead."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("a", "A"), ("Ċ", "Ċ"), ("Ġ", "a"), ("Ġ", "Ġ"), ("1", "1"), *([("Ċ", "A")] if spanning else [])]
    tokens = ["<end>", *alphabet, *(left + right for left, right in merges)]
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE({token: place for place, token in enumerate(tokens)}, merges)
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    made.decoder = tokenizers.decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>")


@pytest.fixture(scope="module")
def pieces(tiny):
    return HFVocabulary(AutoTokenizer.from_pretrained(tiny()), special=True)


@pytest.fixture(scope="module")
def by_bytes():
    return HFVocabulary(byte_level(spanning=False), special=True)


@given(TEXT)
def test_lines_give_the_tokens_of_the_whole(pieces, by_bytes, text):
    for vocabulary in (pieces, by_bytes):
        assert vocabulary.by_line
        assert vocabulary.encode(text) == vocabulary.tokenizer.encode(text, add_special_tokens=False)


def test_each_distinct_line_is_tokenised_once(by_bytes):
    text = "Question: a\nAnswer: b\n\n" * 50
    by_bytes.encode(text)
    known = len(by_bytes._lines)
    by_bytes.encode(text + "Question: c\nAnswer:")
    assert len(by_bytes._lines) == known + 2


@pytest.mark.parametrize("tokenizer", [byte_level(spanning=True), byte_level(spanning=False, prefix=True)])
def test_where_a_token_spans_lines_or_a_line_gets_a_prefix_texts_stay_whole(tokenizer):
    vocabulary = HFVocabulary(tokenizer, special=True)
    assert not vocabulary.by_line
    for probe in PROBES:
        assert vocabulary.encode(probe) == tokenizer.encode(probe, add_special_tokens=False)


def test_the_opening_is_what_the_tokenizer_adds(pieces, by_bytes, tiny):
    assert (pieces.opening, pieces.begin, pieces.end) == ((1,), 1, 2)
    assert (by_bytes.opening, by_bytes.begin, by_bytes.end) == ((), None, 0)
    bare = HFVocabulary(AutoTokenizer.from_pretrained(tiny(begin=False)), special=True)
    assert (bare.opening, bare.begin) == ((), 1)


def test_special_tokens_are_letters_where_that_is_asked(tiny):
    read = HFVocabulary(AutoTokenizer.from_pretrained(tiny()), special=True)
    letters = HFVocabulary(AutoTokenizer.from_pretrained(tiny()), special=False)
    assert read.encode("a</s>") == [read.encode("a")[0], 2]
    assert 2 not in letters.encode("a</s>")
    assert letters.text(letters.encode("a</s>")) == "a</s>"


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [("the sky", 1, 3), ("中龘 a", 1, 3), ("中龘 a", 4, 6), ("a", 0, 0), ("ab", 2, 2)],
)
def test_bytes_before_a_token(pieces, text, count, expected):
    assert pieces.bytes_before(text, pieces.encode(text), count) == expected
    with_beginning = [1, *pieces.encode(text)]
    assert pieces.bytes_before(text, with_beginning, count + 1) == expected


def test_half_a_surrogate_pair_is_no_text(pieces):
    for text in ("a\ud800", "\ud800\nA"):
        with pytest.raises(UnicodeEncodeError):
            pieces.encode(text)
