"""Benchmarks by likelihood, in one table: their chance, their units and strata; a blind model scores chance."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from math import fsum
from pathlib import Path

import pytest

import probatum as pb
from probatum.benchmarks import find_task
from probatum.core.records import Response
from probatum.datasets import load_items
from probatum.models.seam import Capabilities
from probatum.store import open_store
from tests.fakes import FakeModel

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="needs PROBATUM_DATA")

CHOICES = [
    # task, forms by likelihood, chance of a blind guess, strata, clusters of several items
    ("mmlu", {"letters", "continuations"}, 0.25, 16, False),
    ("mmlu_pro", {"letters"}, 0.113, 14, False),
    ("arc_easy", {"continuations", "letters"}, 0.25, 0, False),
    ("arc_challenge", {"continuations", "letters"}, 0.25, 0, False),
    ("hellaswag", {"continuations", "letters"}, 0.25, 0, False),
    ("winogrande", {"continuations"}, 0.5, 0, True),
    ("piqa", {"continuations", "letters"}, 0.5, 0, False),
    ("openbookqa", {"continuations", "letters"}, 0.25, 0, False),
    ("commonsense_qa", {"continuations", "letters"}, 0.2, 0, True),
    ("boolq", {"continuations"}, 0.5, 0, True),
    ("truthfulqa_mc1", {"continuations"}, 0.2235, 0, False),
    ("truthfulqa_mc2", {"continuations"}, 0.4684, 0, False),
    ("cmmlu", {"letters"}, 0.25, 15, False),
    ("c3", {"letters", "continuations"}, 0.2713, 2, True),
    ("xcopa", {"continuations"}, 0.5, 11, True),
    ("agieval", {"letters"}, 0.242, 9, True),
]
TEXTS = [("wikitext", 0), ("text_domains", 10)]


def loaded(name):
    task = find_task(name)
    found = load_items(task.source, task.row, task.to_item, data_directory=DATA)
    return task, [item for item in found if item.id not in found.invalid]


@pytest.mark.parametrize(("name", "forms", "chance", "strata", "clusters"), CHOICES)
def test_forms_chance_and_units_are_declared(name, forms, chance, strata, clusters):
    task, items = loaded(name)
    assert {form for form in task.forms if form in ("letters", "continuations")} == forms
    blind = fsum(len(set(item.targets)) / len(item.choices) for item in items) / len(items)
    assert blind == pytest.approx(chance, abs=0.003)
    assert task.chance is None or task.chance == pytest.approx(blind, abs=0.003)
    assert len({item.stratum for item in items} - {None}) == strata
    sizes = Counter(item.cluster or item.id for item in items)
    assert (max(sizes.values()) > 1) == clusters


def guess(request):
    """A model that knows nothing: its log-likelihoods follow from the digest of what is asked."""
    share = (
        int(hashlib.sha256(f"{request.prompt}\n{request.continuation}".encode()).hexdigest()[:8], 16) / 2**32
    )
    return Response(request="", logprobs=(-1.0 - share,), greedy=False, scored_bytes=1)


@pytest.mark.parametrize("name", [name for name, *_ in CHOICES])
def test_a_model_that_knows_nothing_is_held_against_chance_and_is_not_better(name, tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    blind = FakeModel(reply=guess, capabilities=Capabilities(score=True))
    run = pb.evaluate(name, model=blind, store=store, data_directory=DATA, limit=150, shots=0, level=0.999)
    first = run.estimates[0]
    assert first.low < first.chance < first.high
    assert first.p_chance > 0.001
    store.close()


def test_no_place_is_blamed_where_no_option_has_one(tmp_path):
    """The right options of this set all come first; a model that is asked about each alone cannot know."""
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    blind = FakeModel(reply=guess, capabilities=Capabilities(score=True))
    run = pb.evaluate("truthfulqa_mc1", model=blind, store=store, data_directory=DATA, limit=100)
    assert not [note for note in run.record.tasks[0].summary["notes"] if "place" in note]
    store.close()


@pytest.mark.parametrize(("name", "strata"), TEXTS)
def test_texts_are_measured_in_bits_per_byte(name, strata, tmp_path):
    _, items = loaded(name)
    assert len({item.stratum for item in items} - {None}) == strata
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    even = FakeModel(
        reply=lambda one: Response(
            request="",
            logprobs=(-1.0,) * len(one.continuation),
            greedy=False,
            scored_bytes=len(one.continuation.encode()),
        ),
        capabilities=Capabilities(score=True),
    )
    run = pb.evaluate(name, model=even, store=store, data_directory=DATA)
    names = [one.name for one in run.estimates]
    assert names[:4] == [
        "bits per byte",
        "perplexity per word",
        "perplexity per byte",
        "perplexity per token",
    ]
    assert sum(one.startswith("bits per byte/") for one in names) == strata
    assert ("bits per byte (mean of domains)" in names) == (strata > 0)
    store.close()
