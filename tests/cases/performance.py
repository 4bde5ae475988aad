"""What must stay fast, whatever comes in."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from probatum import stats
from probatum.core.records import Item, Request, Response
from probatum.prompting import OptionsPrompt
from probatum.scoring import OptionLikelihood
from probatum.store import open_store
from tests.cases.frame import Given, NotMappedError, operation


def within(ours: float, expected: Any) -> bool:
    """CPU seconds of ours, and the limit that the right value begins with."""
    limit = re.match(r"< ([\d.]+) s", str(expected))
    return limit is not None and ours < float(limit[1])


@operation("clustered_se_speed", agrees=within)
def clustered_se_speed(given: Given) -> float:
    values = np.arange(given["n"]) % 7 / 7
    clusters = np.arange(given["n"]) % given["clusters"]
    start = time.process_time()
    stats.mean_interval(values, clusters=clusters)
    return time.process_time() - start


@operation("cache_lookup_speed", agrees=within)
def cache_lookup_speed(given: Given) -> float:
    size = 500
    asked = [Request(item_id=str(n), prompt=f"question {n}") for n in range(given["n"])]
    batches = [asked[at : at + size] for at in range(0, len(asked), size)]
    with tempfile.TemporaryDirectory() as place:
        store = open_store(str(Path(place) / "store.db"))
        for batch in batches:
            store.keep_responses("m", [(each, Response(request=each.key, text="4")) for each in batch])
        start = time.process_time()
        hits = sum(len(store.responses("m", [each.key for each in batch])) for batch in batches)
        seconds = time.process_time() - start
        store.close()
    return seconds if hits == given["n"] else float("inf")


SCORES_OF = {"acc": "sum", "acc_norm": "per_character", "prob": "probability"}
"""Metrics by the names of the cases → scores of one and the same scorer."""


@operation("request_count")
def request_count(given: Given) -> int:
    """Requests to the model; every metric is a score of the responses to them."""
    scorer = OptionLikelihood()
    if not all(SCORES_OF.get(name) in scorer.scores for name in given["metrics"]):
        raise NotMappedError(f"metrics {given['metrics']!r}")
    prompt = OptionsPrompt(template="{{ question }}", continuation=" {{ choice }}")
    choices = tuple(f"option {place}" for place in range(given["options"]))
    items = [
        Item(id=str(place), fields={"question": f"Question {place}?"}, choices=choices)
        for place in range(given["items"])
    ]
    return sum(len(prompt.parts(item, (), None)) for item in items)
