"""lm-eval's published figures, made again from what it logged: values and standard errors, each by itself."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from probatum.core.protocol import Protocol
from probatum.core.records import Estimate, Item, Mark, Outcome, Response, Sampling
from probatum.core.status import Status
from probatum.scoring import OptionLikelihood, TextLikelihood
from probatum.scoring.compat_lm_eval import LmEvalMean, compat_metrics
from tests.fakes import sums_task

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
LOGS, PYTHIA = DATA / "lm_eval_logs", DATA / "pythia_evals"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="needs PROBATUM_DATA with lm_eval_logs")
SIZES = {
    "lambada_openai": 5153, "logiqa": 651, "wsc": 104, "arc_easy": 2376, "arc_challenge": 1172, "sciq": 1000,
    "piqa": 1838, "winogrande": 1267,
}  # fmt: skip
"""Items of the tasks of Pythia, whose files name no sizes; those of MMLU stand in another file."""


def stored(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def lines(name: str) -> list[dict[str, Any]]:
    path = LOGS / name
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def made_again(
    scorer: OptionLikelihood | TextLikelihood, logged: Sequence[dict[str, Any]], item: Callable[[Any], Item]
) -> tuple[dict[str, Estimate], list[Outcome]]:
    """What a run under compat prints beside our own estimates, if the model says what was logged."""
    protocol = Protocol(
        task=sums_task(scorer=scorer),
        form="letters",
        shots=0,
        samples=1,
        sampling=Sampling(),
        compat="lm_eval",
    )
    outcomes = []
    for row in logged:
        pairs = [pair[0] if isinstance(pair[0], list) else pair for pair in row["resps"]]
        said = [
            Response(request="", logprobs=(float(total),), greedy=best == "True") for total, best in pairs
        ]
        outcomes.append(protocol.scorer.grade(item(row), 0, said))
    assert {outcome.status for outcome in outcomes} == {Status.SCORED}
    marks = [Mark(str(place), 0, one.status, one.scores) for place, one in enumerate(outcomes)]
    found = [
        one for metric in compat_metrics(protocol) for one in metric.estimate(marks, protocol.task, 0.95)
    ]
    return {one.name: one for one in found}, outcomes


def equal(found: Estimate, results: dict[str, float], name: str) -> None:
    assert found.value == pytest.approx(results[f"{name},none"], rel=1e-14)
    assert found.se == pytest.approx(results[f"{name}_stderr,none"], rel=1e-12)


def two_options(row: Any) -> Item:
    doc = row["doc"]
    return Item(id=str(row["doc_id"]), fields={}, choices=tuple(doc["choices"]), targets=(doc["gold"],))


@pytest.mark.parametrize("of", ["labels", "texts"])
def test_the_choices_of_609_logged_items(of: str) -> None:
    logged = lines("samples_bias_classification_llama3-8b.jsonl.gz")
    results = stored(LOGS / "results_bias_classification_llama3-8b.json")["results"]["bias_classification"]
    figures, outcomes = made_again(OptionLikelihood(of=of), logged, two_options)  # type: ignore[arg-type]
    for name in ("acc", "acc_norm"):
        equal(figures[name], results, name)
    for outcome, row in zip(outcomes, logged, strict=True):
        assert outcome.scores["sum"] == row["acc"]
        assert outcome.scores["sum" if of == "labels" else "per_character"] == row["acc_norm"]
    assert figures["acc"].n == 609


def test_the_greedy_answers_of_50_logged_items() -> None:
    logged = lines("samples_asdiv_llama3-8b-instruct.jsonl")
    results = stored(LOGS / "results_asdiv_llama3-8b-instruct.json")["results"]["asdiv"]
    figures, outcomes = made_again(
        TextLikelihood(primary="greedy"),
        logged,
        lambda row: Item(id=str(row["doc_id"]), fields={}, targets=(row["target"],)),
    )
    equal(figures["acc"], results, "acc")
    assert [outcome.scores["greedy"] for outcome in outcomes] == [row["acc"] for row in logged]


def published() -> list[Any]:
    """(file, task, figure, value, standard error, items) of every accuracy whose number of items is known."""
    if not LOGS.is_dir():
        return []
    many = stored(LOGS / "results_llama-3.2-1b_many_tasks.json")
    sizes = {task: one["effective"] for task, one in many["n-samples"].items()}
    pythia = SIZES | {
        f"hendrycksTest-{task.removeprefix('mmlu_')}": size
        for task, size in sizes.items()
        if task.startswith("mmlu_")
    }
    files = [("llama-3.2-1b", many, sizes, ",none")]
    files += [(path.stem, stored(path), pythia, "") for path in sorted(PYTHIA.glob("*.json"))]
    return [
        pytest.param(
            scores[name + end], scores[f"{name}_stderr{end}"], known[task], id=f"{file}-{task}-{name}"
        )
        for file, content, known, end in files
        for task, scores in content["results"].items()
        for name in ("acc", "acc_norm")
        if task in known and name + end in scores
    ]


def marks_of(accuracy: float, size: int, stratum: str | None = None) -> list[Mark]:
    right = round(accuracy * size)
    assert right / size == pytest.approx(accuracy, rel=1e-14)
    return [
        Mark(f"{stratum}/{place}", 0, Status.SCORED, {"sum": float(place < right)}, stratum=stratum)
        for place in range(size)
    ]


ACC = LmEvalMean(name="acc", score="sum")


@pytest.mark.parametrize(("accuracy", "error", "size"), published())
def test_an_accuracy_has_the_published_standard_error(accuracy: float, error: float, size: int) -> None:
    (found,) = ACC.estimate(marks_of(accuracy, size), sums_task(), 0.95)
    assert found.value == pytest.approx(accuracy, rel=1e-14)
    assert found.se == pytest.approx(error, rel=1e-10)


def groups() -> dict[str, list[str]]:
    """The subjects of MMLU below each of its groups, as the results list them."""
    many = stored(LOGS / "results_llama-3.2-1b_many_tasks.json")
    found: dict[str, list[str]] = {"mmlu": []}
    last = ""
    for task in many["results"]:
        if task.startswith("mmlu_") and task not in many["n-samples"]:
            last = task
            found[last] = []
        elif task.startswith("mmlu_"):
            found[last].append(task)
            found["mmlu"].append(task)
    return found


@pytest.mark.parametrize(
    "group", ["mmlu", "mmlu_humanities", "mmlu_other", "mmlu_social_sciences", "mmlu_stem"]
)
def test_a_group_pools_the_errors_of_its_parts(group: str) -> None:
    many = stored(LOGS / "results_llama-3.2-1b_many_tasks.json")
    marks = [
        mark
        for task in groups()[group]
        for mark in marks_of(
            many["results"][task]["acc,none"], many["n-samples"][task]["effective"], stratum=task
        )
    ]
    (found,) = ACC.estimate(marks, sums_task(), 0.95)
    equal(found, many["results"][group], "acc")
    assert any("pools the variances" in note for note in found.warnings)
