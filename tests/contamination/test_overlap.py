"""What a corpus holds of a benchmark is said for every item, and "clean" only where it was looked for."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.contamination import Overlap, near_duplicates, same_question, scan, tokenise, window_count
from probatum.core.errors import UsageError
from probatum.core.records import Item

DATA = Path(os.environ.get("PROBATUM_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
RAVEN = "Once upon a midnight dreary while I pondered weak and weary over many a quaint volume"


def item(question, targets=(), choices=(), name="q"):
    return Item(id=name, fields={"question": question}, targets=targets, choices=choices)


def one(corpus, asked, n=8, **options):
    return scan(corpus, [asked], n, **options).items[0]


def test_an_item_is_found_wherever_it_stands():
    found = one(["nothing here", f"He read: {RAVEN}, and slept."], item(RAVEN))
    assert (found.overlap, found.share, found.document) == (Overlap.INPUT, 1.0, "document 2")
    assert found.excerpt == "once upon a midnight dreary while i pondered"


def test_the_answer_must_stand_behind_the_question():
    asked = item(RAVEN, ("A",), ("of forgotten lore", "of rain"))
    kinds = {
        f"{RAVEN} of forgotten lore": Overlap.INPUT_AND_LABEL,
        f"{RAVEN} (a) of rain. Answer: A": Overlap.INPUT_AND_LABEL,
        f"of forgotten lore. {RAVEN} of rain": Overlap.INPUT,
        RAVEN + " word" * 60 + " of forgotten lore": Overlap.INPUT,
        "of forgotten lore": Overlap.CLEAN,
    }
    for text, kind in kinds.items():
        assert one([text], asked).overlap is kind, text


@pytest.mark.parametrize(
    ("corpus", "exact"), [("What is 2+2? It is 4.", True), ("What is 2+3?", False), ("2 2 is what", False)]
)
def test_a_short_question_is_not_called_clean(corpus, exact):
    found = one([corpus], item("What is 2+2?"))
    assert (found.overlap, found.exact, found.grams) == (Overlap.NOT_CHECKABLE, exact, 0)


INSTRUCTION = "Choose one of the options below. Reason about each of them before you decide on it."


def test_instructions_are_no_overlap():
    asked = item(f"{INSTRUCTION} Why is the sky blue on a clear day in summer?")
    corpus = [f"{INSTRUCTION} Who wrote Faust?"]
    assert one(corpus, asked).overlap is Overlap.INPUT
    assert one(corpus, asked, template=[INSTRUCTION]).overlap is Overlap.CLEAN


def test_what_many_items_share_is_ignored_and_counted():
    asked = [
        item(f"{INSTRUCTION} What is the capital of country number {i} of the list?", name=str(i))
        for i in range(12)
    ]
    report = scan([f"{INSTRUCTION} Who wrote Faust?"], asked, 8)
    assert report.counts[Overlap.CLEAN] == 12
    assert report.boilerplate > 0
    assert scan([INSTRUCTION], asked, 8, boilerplate=None).counts[Overlap.INPUT] == 12


def test_scripts_without_blanks_are_cut_into_characters():
    asked = item("北京是中国的首都")
    assert one(["我们知道北京是中国的首都。"], asked).overlap is Overlap.INPUT
    assert one(["我们知道北京是中国的首都。"], asked, unit="words").overlap is Overlap.NOT_CHECKABLE


@pytest.mark.parametrize("corpus", [[], [""], ["?!"]])
def test_without_a_corpus_nothing_is_clean(corpus):
    with pytest.raises(UsageError, match="no corpus"):
        scan(corpus, [item(RAVEN)])


def test_an_item_whose_question_cannot_be_told_is_refused():
    odd = Item(id="x", fields={"alpha": "a", "beta": "b"})
    with pytest.raises(UsageError, match="'x'"):
        scan(["text"], [odd])
    assert scan([RAVEN], [Item(id="x", fields={"alpha": RAVEN, "beta": "b"})], 8, question="alpha").items


def test_a_share_can_be_asked_for():
    half = " ".join(RAVEN.split()[:10])
    assert one([half], item(RAVEN)).overlap is Overlap.INPUT
    assert one([half], item(RAVEN), share=0.8).overlap is Overlap.CLEAN


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.integers(1, 6))
def test_windows_are_counted_as_they_are_cut(letters, n):
    tokens = tokenise(" ".join(letters))
    assert len(list(zip(*(tokens[i:] for i in range(n)), strict=False))) == window_count(len(letters), n)


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=5),
    st.lists(st.text(max_size=40), min_size=1, max_size=4),
)
def test_every_item_has_one_verdict(questions, corpus):
    asked = [item(text, name=str(place)) for place, text in enumerate(questions)]
    try:
        report = scan(corpus, asked, 2)
    except UsageError:
        assert not any(tokenise(text) for text in corpus)
    else:
        assert sum(report.counts.values()) == len(asked)
        assert [each.item_id for each in report.items] == [each.id for each in asked]


PERU = {"q": "Capital of Peru?", "options": ["Quito", "Lima"]}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"q": "Capital of Peru ?", "options": ["Lima", "Quito"]}, True),
        ({"q": "capital of PERU", "choices": {"A": "lima.", "B": "Quito"}}, True),
        ({"question": "Capital of Peru?"}, True),
        ({"q": "Capital of Peru?", "options": ["Lima", "Cusco"]}, False),
        ({"q": "Capital of Chile?", "options": ["Quito", "Lima"]}, False),
        ({"q": "Capital of Peru?", "options": ["Quito", "Lima", "Lima"]}, False),
    ],
)
def test_order_and_spelling_do_not_make_another_question(other, same):
    assert same_question(PERU, other) is same
    assert same_question(other, PERU) is same


def test_ids_and_signs_decide():
    assert same_question({"id": 7, "q": "a"}, {"id": 7, "q": "b"})
    assert not same_question({"q": "7-2"}, {"q": "7+2"})
    assert same_question({"q": "a well-known fact"}, {"q": "a well known fact"})


def test_near_duplicates_are_found_and_sorted():
    texts = [RAVEN, f"{RAVEN} of lore", "something else entirely, of other words"]
    found = near_duplicates(texts)
    assert [(each.first, each.second) for each in found] == [(0, 1)]
    assert near_duplicates([RAVEN], [RAVEN.upper()])[0].similarity == 1
    with pytest.raises(UsageError, match="threshold"):
        near_duplicates(texts, threshold=0)


@pytest.mark.skipif(not (DATA / "contamination").is_dir(), reason="the published data are not here")
def test_rephrased_benchmarks_escape_n_grams_in_part():
    """llm-decontaminator's point: a rephrased test set passes an n-gram check, its own text does not."""
    rows = [
        json.loads(line)
        for line in (DATA / "contamination/lmdecon_rephrase_gsm8k.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    fields = [next(value for value in row.values() if isinstance(value, str)) for row in rows[:200]]
    asked = [item(text, name=str(place)) for place, text in enumerate(fields)]
    itself = scan(fields, asked, 13)
    checkable = len(asked) - itself.counts[Overlap.NOT_CHECKABLE]
    assert itself.counts[Overlap.INPUT] + itself.counts[Overlap.INPUT_AND_LABEL] == checkable > 100


def test_signs_of_full_width_are_the_same_question() -> None:
    assert same_question({"q": "2+2?"}, {"q": "２＋２？"})
    assert not same_question({"q": "2+2?"}, {"q": "２－２？"})
