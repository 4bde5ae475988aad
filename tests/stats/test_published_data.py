"""Published numbers, made again from the published data."""

import csv
import gzip
import itertools
import json
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, log_loss, roc_auc_score

from probatum import stats

DATA = Path(os.environ.get("PROBATUM_DATA") or Path(__file__).parents[3] / "shared" / "data")


def opened(name):
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"no {name}: set PROBATUM_DATA to the folder of benchmark data")
    return gzip.open(path, "rt", encoding="utf-8") if name.endswith(".gz") else path.open(encoding="utf-8")


def json_lines(name):
    with opened(name) as file:
        return [json.loads(line) for line in file]


def table(name):
    with opened(name) as file:
        return list(csv.DictReader(file))


def test_tau_bench_airline_reliability_falls_from_42_to_20_percent():
    rewards = defaultdict(list)
    for row in json_lines("tau_bench/gpt-4o-airline_rewards.jsonl"):
        rewards[row["task_id"]].append(row["reward"] == 1.0)
    assert {len(runs) for runs in rewards.values()} == {4}
    successes = [sum(runs) for runs in rewards.values()]
    found = [stats.pass_hat_k_interval([4] * 50, successes, k) for k in (1, 2, 3, 4)]
    assert [interval.value for interval in found] == pytest.approx([0.42, 0.82 / 3, 0.22, 0.2], abs=1e-12)
    assert [interval.n for interval in found] == [50] * 4
    assert stats.pass_power_k(list(rewards.values())).value == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("preferences", "leaderboard", "models"),
    [
        (
            "preferences_by_model.jsonl.gz",
            "data_AlpacaEval_2_weighted_alpaca_eval_gpt4_turbo_leaderboard.csv",
            59,
        ),
        ("v1_preferences_by_model.jsonl.gz", "data_AlpacaEval_alpaca_eval_gpt4_leaderboard.csv", 52),
    ],
)
def test_alpaca_eval_win_rates_and_their_errors_are_those_of_the_leaderboard(
    preferences, leaderboard, models
):
    published = {row[""]: row for row in table(f"alpaca_eval/{leaderboard}")}
    compared = 0
    for row in json_lines(f"alpaca_eval/{preferences}"):
        if row.get("model") not in published:
            continue
        # 1: the baseline won, 2: the model won; the older set codes a draw as 0
        scores = np.array([(value or 1.5) - 1 for value in row["pref"] if value is not None])
        found = stats.mean_interval(np.clip(scores, 0, 1))
        win_rate, error = (float(published[row["model"]][name]) for name in ("win_rate", "standard_error"))
        assert 100 * found.value == pytest.approx(win_rate, abs=1e-4)
        if error == 0:
            assert found.se is None, "the baseline against itself has no spread, and so no standard error"
        else:
            assert 100 * found.se == pytest.approx(error, abs=1e-4)
        compared += 1
    assert compared == models


@pytest.mark.parametrize("name", ["simple.csv", "food.csv", "llmfao.csv.gz"])
def test_rankings_are_the_golden_ones_of_evalica(name):
    outcome = {"left": "a", "right": "b", "tie": "tie"}
    rows = [row for row in table(f"evalica/{name}") if row["winner"] in outcome]
    battles = stats.Battles.of_triples((row["left"], row["right"], outcome[row["winner"]]) for row in rows)
    golden = defaultdict(dict)
    for row in table(f"evalica/{name.split('.')[0]}-golden.csv"):
        golden[row["algorithm"]][row["item"]] = float(row["score"])
    strengths = np.exp(stats.bradley_terry(battles).strengths)
    found = {
        "bradley_terry": strengths / strengths.sum(),
        "counting": stats.win_points(battles),
        "average_win_rate": stats.average_win_rates(battles),
        "eigen": stats.eigenvector_scores(battles, "losses"),
        "pagerank": stats.pagerank_scores(battles),
        "elo": stats.elo(battles).ratings,
    }
    for algorithm, scores in found.items():
        expected = [golden[algorithm][str(model)] for model in battles.models]
        assert scores == pytest.approx(expected, abs=1e-9), algorithm
    newman = np.log([golden["newman"][str(model)] for model in battles.models])
    davidson = stats.bradley_terry(battles, ties="davidson").strengths
    assert davidson == pytest.approx(newman - newman.mean(), abs=1e-9)


@pytest.mark.parametrize(("name", "alpha"), [("codings.csv", 0.743421052631579), ("gcl.csv", 0.0833333)])
def test_krippendorff_alpha_is_that_of_evalica(name, alpha):
    with opened(f"evalica/{name}") as file:
        ratings = [[label or None for label in row] for row in csv.reader(file)]
    assert stats.krippendorff_alpha(ratings, samples=0).value == pytest.approx(alpha, abs=1e-7)


@pytest.mark.parametrize(
    ("sport", "n", "brier", "loss", "auc", "ece"),
    [
        ("nfl", 1882, 0.220826328118605, 0.6315162289302523, 0.6917817585122384, 0.032302096670174286),
        ("wnba", 450, 0.2179314089584541, 0.6242906157363766, 0.7084593347127168, 0.0678304117558201),
    ],
)
def test_forecasts_of_games_score_as_published(sport, n, brier, loss, auc, ece):
    rows = [
        row for row in table(f"calibration/538_{sport}_games.csv.gz") if row["prob1_outcome"] in ("0", "1")
    ]
    p = np.array([float(row["prob1"]) for row in rows])
    y = np.array([int(row["prob1_outcome"]) for row in rows])
    found = stats.calibration_report(p, y)
    assert found.n == n
    assert found.brier.value == pytest.approx(brier, abs=1e-12)
    assert found.nll.value == pytest.approx(loss, abs=1e-12)
    assert found.nll.value == pytest.approx(log_loss(y, p), abs=1e-12)
    assert found.ece.value == pytest.approx(ece, abs=1e-12)
    assert stats.auroc(p, y).value == pytest.approx(auc, abs=1e-12)
    assert stats.auroc(p, y).value == pytest.approx(roc_auc_score(y, p), abs=1e-12)


def test_annotators_of_pandalm_agree_as_their_authors_say():
    rows = json_lines("pandalm/testset_v1_labels.jsonl")
    published = {
        ("annotator1", "annotator2"): 0.85,
        ("annotator1", "annotator3"): 0.88,
        ("annotator2", "annotator3"): 0.86,
    }
    for one, two in itertools.combinations(("annotator1", "annotator2", "annotator3", "pandalm7b"), 2):
        a, b = ([str(row[rater]) for row in rows] for rater in (one, two))
        found = stats.cohen_kappa(a, b, samples=200)
        assert found.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        assert found.low < found.value < found.high
        if (one, two) in published:
            assert found.value == pytest.approx(published[one, two], abs=0.01)


def test_judges_of_llmbar_agree_with_themselves_as_published():
    with opened("llmbar/official_statistics.json") as file:
        published = json.load(file)
    verdicts = defaultdict(list)
    for subset in {row["subset"] for row in published}:
        name = subset.replace("/", "_")
        for row in json_lines(f"llmbar/{name}_verdicts.jsonl.gz"):
            verdicts[subset, row["evaluator"], row["strategy"]].append((row["winner"], row["winner_swapped"]))
    compared = 0
    for row in published:
        pairs = verdicts[row["subset"], row["evaluator"], row["strategy"]]
        found = stats.cohen_kappa([a == "1" for a, _ in pairs], [b == "1" for _, b in pairs], samples=0)
        expected = row["official"]["kappa_agreement"]
        assert found.n == row["n"]
        assert found.value == pytest.approx(expected, abs=1e-9)
        compared += 1
    assert compared == 110
