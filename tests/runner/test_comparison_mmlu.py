"""Ten models on the same 1,079 questions of MMLU (HELM's predictions): held against statsmodels and scipy."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from probatum.runner.comparing import compare
from probatum.store import open_store
from tests.runner.stored import stored_run

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("PROBATUM_DATA") or ROOT / "shared" / "data")
FILE = DATA / "mmlu" / "helm_predictions_10models.jsonl.gz"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason=f"needs {FILE.name} of MMLU in PROBATUM_DATA")


@pytest.fixture(scope="module")
def vectors() -> dict[str, dict[str, float]]:
    """Model → item → whether its letter is the gold's."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            right = row["output"].strip() == row["gold"]
            found[row["model"]][f"{row['subject']}/{row['id']}"] = float(right)
    return dict(found)


@pytest.fixture(scope="module")
def runs(vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("mmlu") / "s.db"
    with open_store(f"sqlite:///{path}") as store:
        strata = {name: name.split("/")[0] for items in vectors.values() for name in items}
        yield {model: stored_run(store, model, items, strata=strata) for model, items in vectors.items()}


def test_every_pair_has_the_standard_error_of_scipy_and_the_p_value_of_statsmodels(vectors, runs):
    assert len(runs) == 10
    for first, second in itertools.combinations(runs, 2):
        (pair,) = compare(runs[first], runs[second]).pairs
        names = [name for name in vectors[first] if name in vectors[second]]
        a, b = (np.array([vectors[model][name] for name in names]) for model in (first, second))
        contrast, estimate = pair.contrast, pair.contrast.estimate
        assert estimate.n == len(names) == 1079
        assert estimate.value == pytest.approx(b.mean() - a.mean(), abs=1e-15)
        if (a == b).all():  # the same answers under two names
            assert (estimate.se, contrast.p_value) == (None, 1.0)
            assert estimate.low < 0 < estimate.high
            continue
        assert estimate.se == pytest.approx(scipy_stats.sem(b - a), rel=1e-12)
        interval = scipy_stats.ttest_rel(b, a).confidence_interval(0.95)
        assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
        wins, losses = int((b > a).sum()), int((b < a).sum())
        both, neither = int((a * b).sum()), int(((1 - a) * (1 - b)).sum())
        exact = mcnemar([[both, losses], [wins, neither]], exact=True)
        assert contrast.p_value == pytest.approx(exact.pvalue, rel=1e-9)
        assert (contrast.wins, contrast.losses, contrast.ties) == (wins, losses, both + neither)


def test_ten_models_against_one_are_corrected_as_statsmodels_corrects(vectors, runs):
    found = compare(*runs.values())
    p = [pair.contrast.p_value for pair in found.pairs]
    assert [pair.contrast.p_adjusted for pair in found.pairs] == pytest.approx(
        multipletests(p, method="holm")[1].tolist(), rel=1e-12
    )
    (ranking,) = found.rankings
    means = {
        run.letter: math.fsum(vectors[run.model.removeprefix("fake/")].values()) / 1079 for run in found.runs
    }
    assert {row.run: row.mean for row in ranking.rows} == pytest.approx(means)
    assert [row.run for row in ranking.rows] == sorted(means, key=lambda one: -means[one])
    assert all(row.low <= row.rank <= row.high for row in ranking.rows)
    assert {run for group in ranking.groups for run in group} == set(means)


def test_what_is_not_shown_lies_below_the_effect_that_would_have_been_seen(runs):
    for pair in compare(*runs.values()).pairs:
        estimate = pair.contrast.estimate
        if pair.verdict.startswith("no difference shown"):
            assert abs(estimate.value) < pair.detectable
        else:
            assert not estimate.low <= 0 <= estimate.high
