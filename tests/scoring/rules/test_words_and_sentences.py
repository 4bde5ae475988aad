"""Words and sentences: what counts as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.scoring.rules import (
    InstructionError,
    count_sentences,
    count_words,
    equal_sentences_of_different_words,
    first_letters,
    ngram_overlap,
    occurrences,
    sentences,
    word_span,
    words,
)
from probatum.scoring.rules.sentences import japanese_lines
from probatum.scoring.rules.words import capital_words, word_at


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Cats run.", 2),
        ("well-known don't", 4),
        ("", 0),
        ("... !?", 0),
        ("हिन्दी भाषा", 2),
        ("re\u0301sume\u0301", 1),
        ("می‌آیند", 1),
        ("a_b 3.14", 3),
    ],
)
def test_words_are_runs_of_letters_and_digits_with_their_marks(text: str, count: int) -> None:
    assert count_words(text) == len(words(text)) == count


def test_a_rule_may_bring_its_own_tokenizer() -> None:
    assert count_words("well-known don't", r"\S+") == 2
    with pytest.raises(InstructionError, match=r"tokenizer '\('"):
        count_words("x", "(")


@pytest.mark.parametrize(
    ("phrase", "text", "count"),
    [
        ("art", "Start each part with art.", 1),
        ("free time", "Free\n time, free  time", 2),
        ("C++", "C++, c++; C+", 2),
        ("a.c", "abc a.c", 1),
        ("café", "Le CAFÉ, cafés", 1),
    ],
)
def test_a_phrase_occurs_as_whole_words_in_any_case(phrase: str, text: str, count: int) -> None:
    assert occurrences(phrase, text) == count


def test_capital_words_are_not_parted_by_what_stands_within_them() -> None:
    assert capital_words("I'M in the U.S.A. for AT&T, X-RAY NO2 Ok") == [
        "I'M",
        "U.S.A",
        "AT&T",
        "X-RAY",
        "NO2",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Lee arrived. It rained.", 2),
        ("Read parts A through L. Then stop.", 2),
        ("John F. Kennedy spoke. George W. Bush left.", 2),
        ("Take vitamin C. It helps.", 2),
        ("It costs 3.14 at example.com now. Fine?", 2),
        ("Fruit, e.g. apples, is good. Buy some, etc. They last.", 3),
        ('"Stop!" he said. "Why?"', 2),
        ("Wait... what? No!", 2),
        ("What?! Really...", 2),
        ("Dear Anna,\n\nI am well today. Bye.\n\nBest regards,\nTom", 2),
        ("# A title\n\nOne line here. Two.", 2),
        ("**Bold title**\nOne line here. Two.", 2),
        ("- we eat bread today\n- we drink some tea\n", 2),
        ("1. First we eat. Then we drink.\n2. Last we sleep.", 3),
        ("small letters. all the way. really", 2),
        ("Yes", 1),
        ("", 0),
        ("***\n---", 0),
        ("今天天气好。我们走吧！好吗？", 3),
        ("彼は「雨だ。寒い。」と言った。", 1),
        ("¿Qué? ¡Eso! Vale.", 3),
        ("यह घर है। वह पेड़ है।", 2),
        ("See No. 5. No. That is all.", 3),
        ("I live in the U.S. The weather is fine.", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, count: int) -> None:
    assert count_sentences(text) == count, sentences(text)


@given(st.text(alphabet=st.sampled_from(" ab.A!?…。「」\n*-#1\"'"), max_size=60))
def test_sentences_are_parts_of_the_text_in_order(text: str) -> None:
    place = 0
    for sentence in sentences(text):
        place = text.index(sentence, place) + len(sentence)
        assert any(map(str.isalnum, sentence))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("雨です。  \n雪です！\n", 2),
        ("彼は「雨だ。」と言った。", 1),
        ("雪（白い。）です", 1),
        ("私の  \n猫です。", 1),
        ("見出し\n\n雨です。本当？！", 4),
    ],
)
def test_the_published_japanese_checker_counts_lines_and_full_stops(text: str, count: int) -> None:
    assert len(japanese_lines(text)) == count


def test_a_long_text_without_an_end_takes_linear_time() -> None:
    assert len(sentences("e.g. " * 100_000)) == 1
    assert len(sentences("a. " * 100_000)) <= 100_000
    assert sentences("\n" * 300_000) == []


def test_measures_of_words_have_the_values_of_their_definitions() -> None:
    assert first_letters(sentences('"Apples fell." Bees came. (Cats) ran.')) == ["A", "B", "C"]
    assert ngram_overlap("the cat sat on", "The cat sat up") == 0.5
    assert ngram_overlap("the cat", "the cat", 3) is None
    assert ngram_overlap("a b a b a b", "a b", 2) == 0.5
    assert word_span("a1 b2 c3 d4 e5 f6", 2, 4) == "c3 d4 e5"
    assert word_span("a1 b2", 1, 2) is None
    with pytest.raises(InstructionError, match="n must be at least 1"):
        ngram_overlap("a", "a", 0)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Dogs run. Cats sit. Bees hum.", True),
        ("Dog. Dog. Dog.", False),
        ("Dogs run. Cats sit. Birds hum.", False),
        ("Dogs run. Cats sit.", False),
        ("", False),
    ],
)
def test_three_sentences_equally_long_with_no_word_twice(text: str, holds: bool) -> None:
    assert equal_sentences_of_different_words(text) is holds


def test_typographic_apostrophes_and_hyphens_are_the_plain_ones() -> None:
    assert occurrences("don't", "I don’t send an e‑mail.") == 1
    assert occurrences("e-mail", "I don’t send an e‑mail.") == 1
    assert occurrences("don’t", "I don't.") == 1


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("alpha, beta target gamma.", 3, "target"),
        ("One whisper. Then the whisper ended!", 2, "whisper"),
        ("One whisper. Then the whisper ended!", -2, "whisper"),
        ('"Quoted" words — don\'t count signs', 3, "don't"),
        ("well-known", 1, "well-known"),
        ("two words", 3, None),
        ("two words", -3, None),
        ("...", 1, None),
    ],
)
def test_signs_are_no_words_where_places_are_counted(text, place, word):
    assert word_at(text, place) == word
