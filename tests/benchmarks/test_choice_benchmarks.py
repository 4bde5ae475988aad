"""Multiple choice and texts: what is asked equals what other harnesses publish; items are whole."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from probatum.benchmarks import find_task
from probatum.core.records import Item
from probatum.datasets import load_items

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs PROBATUM_DATA")


def items(name):
    task = find_task(name)
    return task, {
        item.id: item for item in load_items(task.source, task.row, task.to_item, data_directory=DATA)
    }


def logged(name):
    """What another harness asked: item → (context, continuation) of each option, in order."""
    asked = defaultdict(list)
    with gzip.open(DATA / "prompt_oracle" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            request = row["request"]
            asked[row["native_id"], row["doc_id"]].append((request["context"], request["continuation"]))
    return asked


@pytest.mark.parametrize(
    ("name", "items", "options"),
    [
        ("mmlu", 2632, {4}),
        ("cmmlu", 2280, {4}),
        ("arc_challenge", 1172, {3, 4, 5}),
        ("arc_easy", 2376, {3, 4, 5}),
        ("hellaswag", 1000, {4}),
        ("winogrande", 1267, {2}),
        ("piqa", 1838, {2}),
        ("openbookqa", 500, {4}),
        ("commonsense_qa", 1221, {5}),
        ("boolq", 400, {2}),
        ("c3", 3816, {2, 3, 4}),
        ("xcopa", 5500, {2}),
        ("truthfulqa_mc1", 790, None),
        ("mmlu_pro", 1003, None),
    ],
)
def test_every_item_has_its_options(name, items, options):
    task = find_task(name)
    found = list(load_items(task.source, task.row, task.to_item, data_directory=DATA))
    assert len(found) == items
    if options is not None:
        assert {len(item.choices) for item in found} == options


def test_few_shot_prompts_of_arc_equal_the_published_ones_byte_for_byte():
    """The five examples are the harness's own; they are read back out of what it logged."""
    task, found = items("arc_challenge")
    asked = logged("olmo_arc_challenge_test_mc_5shot_requests")
    first = next(iter(asked.values()))[0][0]
    shots = [shot(block) for block in first.split("\n\n")[:5]]
    assert len(asked) == 1172
    for (native, _), pairs in asked.items():
        parts = task.letters.parts(found[native], shots, None)
        assert [(part.prompt, part.continuation) for part in parts] == pairs


def shot(block):
    question, *options = block.rpartition("\nAnswer: ")[0].removeprefix("Question: ").split("\n ")
    texts = tuple(option[3:] for option in options)
    return Item(
        id=question, fields={"question": question}, choices=texts, targets=(block.rpartition(" ")[2],)
    )


def test_continuations_of_arc_equal_the_published_ones_byte_for_byte():
    task = find_task("arc_challenge")
    found = {
        item.id: item for item in load_items(task.shot_source, task.row, task.to_item, data_directory=DATA)
    }
    asked = logged("olmo_arc_challenge_rc_0shot_requests")
    published = defaultdict(list)  # it asked each option twice: after the question, and without it for PMI
    for (native, _), pairs in asked.items():
        published[native] += pairs
    assert len(published) == len(found) == 299
    for native, pairs in published.items():
        parts = task.continuations.parts(found[native], (), None)
        assert sorted((part.prompt, part.continuation) for part in parts) == sorted(pairs)


def test_partial_sentences_of_winogrande_equal_the_published_ones_byte_for_byte():
    task = find_task("winogrande")
    found = list(load_items(task.source, task.row, task.to_item, data_directory=DATA))
    asked = logged("olmo_winogrande_rc_0shot_requests")
    assert len(asked) == len(found) == 1267
    for (_, number), pairs in asked.items():
        parts = task.continuations.parts(found[number], (), None)
        assert [(part.prompt, part.continuation) for part in parts] == pairs


def test_lettered_questions_of_hellaswag_equal_the_published_ones_but_for_a_blank_at_the_end_of_a_line():
    """Contexts of articles end in one there: an empty second half was joined on. It stands in no row here."""
    task, found = items("hellaswag")
    with gzip.open(DATA / "hellaswag" / "hellaswag_mc_5shot_docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    published = {row["query"].replace(" \nChoose", "\nChoose"): row for row in rows}
    assert len(published) == len(found) == 1000
    for item in found.values():
        parts = task.letters.parts(item, (), None)
        row = published[parts[0].prompt]
        assert [part.continuation for part in parts] == [f" {label}" for label in row["choices"]]
        assert item.targets == (row["choices"][row["gold"]],)


def test_sentences_of_twins_and_translations_are_clusters():
    _, twins = items("winogrande")
    sizes = Counter(item.cluster for item in twins.values())
    assert Counter(sizes.values())[2] >= 265  # many sentences lost their twin to the set's filter
    _, translated = items("xcopa")
    assert set(Counter(item.cluster for item in translated.values()).values()) == {11}


def test_what_follows_a_gap_is_one_text_and_has_no_normalisation():
    task, _ = items("winogrande")
    assert task.scorer.for_form("continuations").normalisations == ("sum",)
    task, _ = items("piqa")
    assert "per_character" in task.scorer.for_form("continuations").normalisations


def test_premises_keep_their_last_letter_where_lm_eval_takes_it_off():
    task, found = items("xcopa")
    item = next(one for name, one in found.items() if name.startswith("ta/"))
    ours = task.continuations.parts(item, (), None)[0].prompt
    theirs = task.continuations.for_compat("lm_eval").parts(item, (), None)[0].prompt
    joined = item.fields["join"]
    assert ours.removesuffix(f" {joined}")[:-1] == theirs.removesuffix(f" {joined}")
    english = next(one for name, one in found.items() if name.startswith("it/"))
    assert task.continuations.parts(english, (), None) == task.continuations.for_compat("lm_eval").parts(
        english, (), None
    )


def test_articles_are_documents_and_domains_are_strata():
    _, articles = items("wikitext")
    assert len(articles) == 62
    assert all(item.fields["text"].startswith("= ") for item in articles.values())
    _, passages = items("text_domains")
    assert len({item.stratum for item in passages.values()}) == 10
    with gzip.open(DATA / "text_domains" / "domains.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            own = [item for item in passages.values() if item.stratum == row["domain"]]
            assert "".join(item.fields["text"] for item in own) == row["text"]


@pytest.mark.parametrize("name", ["mmlu", "cmmlu"])
def test_every_subject_has_five_questions_for_prompts_with_ids_of_their_own(name):
    task, asked = items(name)
    shown = list(load_items(task.shot_source, task.row, task.to_item, data_directory=DATA))
    assert {shot.id for shot in shown}.isdisjoint(asked)
    assert {item.stratum for item in asked.values()} == {shot.stratum for shot in shown}
    assert set(Counter(shot.stratum for shot in shown).values()) == {5}
