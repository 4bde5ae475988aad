"""Baselines: the same text for everything, and guesses that follow from a seed."""

from __future__ import annotations

from collections import Counter

import pytest

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Message, Request, Sampling
from probatum.models import load_model
from probatum.models.random_choice import listed_letters


def ask(model, *requests):
    return list(model.answer(iter(requests)))


def test_constant_gives_its_text_to_texts_and_messages():
    model = load_model("constant/Answer: B")
    requests = [
        Request(item_id="1", prompt="What?"),
        Request(item_id="2", prompt=(Message("user", "What?"),), sample=3),
    ]
    responses = ask(model, *requests)
    assert [one.text for one in responses] == ["Answer: B"] * 2
    assert [one.request for one in responses] == [one.key for one in requests]
    assert model.capabilities.completion
    assert model.capabilities.chat
    assert model.capabilities.reproducible
    assert model.count_tokens("What?") is None


@pytest.mark.parametrize(
    ("stop", "text", "found"),
    [
        ((), "one two three", None),
        (("three", "two"), "one ", "two"),
        (("four",), "one two three", None),
        (("one",), "", "one"),
        (("",), "one two three", None),
    ],
)
def test_constant_ends_before_the_stop_string_that_begins_first(stop, text, found):
    request = Request(item_id="1", prompt="", sampling=Sampling(stop=stop))
    (response,) = ask(load_model("constant/one two three"), request)
    assert (response.text, response.stop) == (text, found)


def test_constant_takes_requests_one_at_a_time():
    pulled = []

    def requests():
        for number in range(5):
            pulled.append(number)
            yield Request(item_id=str(number), prompt="")

    next(iter(load_model("constant/B").answer(requests())))
    assert pulled == [0]


@pytest.mark.parametrize("name", ["constant/B", "random/1"])
def test_baselines_refuse_to_score(name):
    with pytest.raises(ModelError, match="cannot score"):
        ask(load_model(name), Request(item_id="1", prompt="a", continuation="b"))


def test_another_text_is_another_model():
    assert load_model("constant/A").identity.digest != load_model("constant/B").identity.digest


OPTIONS = "Which?\nA. one\nB. two\nC. three\n"


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        (OPTIONS, "ABC"),
        ("Which?\n(A) one\n(B) two\n\nAnswer:", "AB"),
        ("Which?\nA) one\nB) two", "AB"),
        ("问题\nA、一\nB、二\nC、三\nD、四\n答案：", "ABCD"),
        ("问题\nA．一\nB．二", "AB"),
        ("Q\nA. 1\nB. 2\nC. 3\nAnswer: A\n\nQ\nA. 1\nB. 2\nAnswer:", "AB"),
        ("A. Turing was born in 1912.", ""),
        ("B. one\nC. two", ""),
        ("A. one\nC. two", ""),
        ("no options", ""),
        ("", ""),
    ],
)
def test_the_last_list_of_options_counts(text, letters):
    assert listed_letters(text) == tuple(letters)


def test_guesses_follow_from_seed_request_and_sample_alone():
    requests = [Request(item_id=str(n), sample=n % 3, prompt=f"{n} {OPTIONS}") for n in range(60)]
    first = {one.request: one.text for one in ask(load_model("random/1"), *requests)}
    again = {one.request: one.text for one in ask(load_model("random/1"), *requests[::-1])}
    other = {one.request: one.text for one in ask(load_model("random/2"), *requests)}
    assert first == again
    assert first != other
    assert set(first.values()) == {"Answer: A", "Answer: B", "Answer: C"}


def test_each_letter_has_the_same_chance():
    requests = [Request(item_id="1", sample=sample, prompt=OPTIONS) for sample in range(3000)]
    counts = Counter(one.text for one in ask(load_model("random/7"), *requests))
    # 1,000 of each are expected with a standard deviation of 26; the seed is fixed.
    assert all(abs(counts[f"Answer: {letter}"] - 1000) < 5 * 26 for letter in "ABC")


def test_without_options_a_number_is_guessed():
    requests = [Request(item_id="1", sample=sample, prompt="How many?") for sample in range(300)]
    numbers = [int(one.text.removeprefix("Answer: ")) for one in ask(load_model("random/1"), *requests)]
    assert min(numbers) >= 0
    assert max(numbers) <= 99
    assert len(set(numbers)) > 50


@pytest.mark.parametrize(
    ("prompt", "beginnings"),
    [
        (OPTIONS + "Answer:", (" A", " B", " C")),
        (OPTIONS + "答案： ", (" A", " B", " C")),
        ((Message("system", "x"), Message("user", OPTIONS)), ("Answer: A", "Answer: B", "Answer: C")),
    ],
)
def test_the_guess_continues_a_cue_or_is_a_line_of_its_own(prompt, beginnings):
    (response,) = ask(load_model("random/3"), Request(item_id="1", prompt=prompt))
    assert response.text in beginnings


def test_the_line_can_be_set():
    (response,) = ask(load_model("random/3", {"line": "#### {}"}), Request(item_id="1", prompt="How many?"))
    assert response.text.startswith("#### ")
    assert (
        load_model("random/3", {"line": "#### {}"}).identity.digest != load_model("random/3").identity.digest
    )


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [("random/x", {}, "'x' is no seed"), ("random/1", {"line": "Answer"}, "no place for the guess")],
)
def test_random_says_what_is_wrong(name, settings, words):
    with pytest.raises(UsageError, match=words):
        load_model(name, settings)
