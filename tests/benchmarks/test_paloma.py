"""Paloma's layout, from rows written here: its texts are behind terms of use."""

from __future__ import annotations

import contextlib
import gzip
import json
import math

import pytest

import probatum as pb
from probatum.benchmarks import find_task
from probatum.core.records import Response
from probatum.datasets import load_items
from probatum.models.seam import Capabilities
from probatum.store import open_store
from tests.fakes import FakeModel

TASK = find_task("paloma")
ROWS = {
    "c4_en/test/test.jsonl.gz": [
        {"id": "0", "text": "a" * 40, "source": "c4", "added": "2023", "metadata": {"url": "u"}},
        {"id": "1", "text": "b" * 60, "source": "c4", "added": "2023", "metadata": {"url": "v"}},
    ],
    "dolma_100_subreddits/test/a.jsonl.gz": [
        {"id": "0", "text": "c" * 10, "source": "reddit", "subdomain": "00_AskReddit"},
        {"id": "0", "text": "d" * 30, "source": "reddit", "subdomain": "01_politics"},
        {"id": "2", "text": "", "source": "reddit", "subdomain": "01_politics"},
    ],
    "c4_en/val/val.jsonl.gz": [{"id": "9", "text": "never asked", "source": "c4"}],
}


@pytest.fixture
def data(tmp_path):
    for name, rows in ROWS.items():
        path = tmp_path / "paloma" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


def test_sources_and_their_subdomains_are_domains(data):
    items = {one.id: one for one in load_items(TASK.source, TASK.row, TASK.to_item, data_directory=data)}
    assert {name: one.stratum for name, one in items.items()} == {
        "c4_en/test/1": "c4_en",
        "c4_en/test/2": "c4_en",
        "dolma_100_subreddits/a/1": "dolma_100_subreddits/00_AskReddit",
        "dolma_100_subreddits/a/2": "dolma_100_subreddits/01_politics",
    }


def test_micro_is_totals_and_macro_the_mean_of_the_domains(data, tmp_path):
    """Losses a byte: 1 nat of c4, 2 and 3 of the subreddits."""
    loss = {"a": 1.0, "b": 1.0, "c": 2.0, "d": 3.0}
    model = FakeModel(
        reply=lambda one: Response(
            request="",
            logprobs=tuple(-loss[letter] for letter in one.continuation),
            greedy=False,
            scored_bytes=len(one.continuation),
        ),
        capabilities=Capabilities(score=True),
    )
    with contextlib.closing(open_store(f"sqlite:///{tmp_path}/store.db")) as store:
        run = pb.evaluate("paloma", model=model, store=store, data_directory=data)
        found = {one.name: one.value for one in run.estimates}
    bits = 1 / math.log(2)
    assert found["bits per byte"] == pytest.approx((100 * 1 + 10 * 2 + 30 * 3) / 140 * bits)
    assert found["bits per byte/c4_en"] == pytest.approx(bits)
    assert found["bits per byte/dolma_100_subreddits/01_politics"] == pytest.approx(3 * bits)
    assert found["bits per byte (mean of domains)"] == pytest.approx((1 + 2 + 3) / 3 * bits)
