"""Results sent to trackers, and written for the hub: every number with what defends it, nothing of a broken run."""

from __future__ import annotations

import importlib.util
import json
import math
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import yaml

from probatum.core.errors import UsageError
from probatum.report.sending import TRACKERS, hub_text, send
from probatum.report.sending.figures import metrics_of, params_of
from probatum.report.verification import verify_bundle
from probatum.runner import EvaluatedRun
from probatum.scoring import PassAtK, Rate
from tests.report.reported import EVERY_ENDING, made_run, right

ABSENT = {name: importlib.util.find_spec(name) is None for name in TRACKERS}


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(ABSENT[name], reason=f"needs pip install 'probatum[{name}]'")


@pytest.fixture
def run(tmp_path):
    found = made_run(
        tmp_path,
        [*EVERY_ENDING, right(9)],
        "org/model",
        metrics=(Rate(), PassAtK(score="correct", ks=(1,))),
        strata=["a", "b"] * 5,
    )
    yield found
    found.store.close()


def broken(run: EvaluatedRun) -> EvaluatedRun:
    (task,) = run.record.tasks
    return EvaluatedRun(replace(run.record, tasks=(replace(task, planned=99),)), run.store)


# ── what is sent ────────────────────────────────────────────────────────────────────────────────────


def test_metrics_are_the_estimates_with_what_defends_them(run):
    found = metrics_of(run)
    first = run.estimates[0]
    assert found["sums/correct"] == first.value
    assert (found["sums/correct/low"], found["sums/correct/high"]) == (first.low, first.high)
    assert (found["sums/correct/n"], found["sums/correct/coverage"]) == (first.n, first.coverage)
    assert (
        found["sums/correct/if missing are wrong"],
        found["sums/correct/if missing are right"],
    ) == first.bounds
    assert found["sums/pass_at_1"] == found["sums/correct"]
    assert found["sums/correct answered"] == run.estimates[1].value
    assert found["sums/statuses/refused"] == 1
    assert sum(value for name, value in found.items() if "/statuses/" in name) == 10
    assert all(math.isfinite(value) for value in found.values())


def test_names_that_become_equal_stay_apart(run):
    (task,) = run.record.tasks
    estimates = [{**task.summary["estimates"][0], "name": name} for name in ("a@b", "a_at_b", "a_at_b\u202e")]
    odd = replace(run.record, tasks=(replace(task, summary={**task.summary, "estimates": estimates}),))
    found = metrics_of(EvaluatedRun(odd, run.store))
    assert len([name for name in found if name.endswith(("a_at_b", "a_at_b_2", "a_at_b_"))]) == 3
    assert all(name.isascii() for name in found)


def test_parameters_are_the_digests_and_the_fields_of_the_protocol(run):
    found = params_of(run)
    (task,) = run.record.tasks
    assert found["sums/protocol digest"] == task.protocol
    assert (found["sums/items digest"], found["sums/requests digest"]) == (task.items, task.requests)
    assert found["model digest"] == run.record.model.digest
    assert (found["run"], found["model"], found["state"]) == (
        run.id,
        "fake/org/model",
        run.record.state.value,
    )
    assert (found["sums/shots"], found["sums/samples"], found["sums/form"]) == ("0", "1", "chat")
    assert found["sums/sampling.temperature"] == "0"
    assert "sums/task.scorer" in found


# ── who refuses ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("to", [*TRACKERS, "hf"])
def test_a_broken_run_is_sent_to_nobody(run, tmp_path, to):
    sending = partial(send, to=to) if to in TRACKERS else partial(hub_text, path=tmp_path / "m.yaml")
    with pytest.raises(UsageError, match=r"is INVALID \(sums: .*numbers are not sent"):
        sending(broken(run))


def test_an_unknown_tracker_is_told(run):
    with pytest.raises(UsageError, match="'neptune' is no tracker: use wandb or mlflow"):
        send(run, "neptune")


@pytest.mark.parametrize("to", TRACKERS)
def test_a_tracker_that_is_not_installed_is_told_in_one_line(run, monkeypatch, to):
    monkeypatch.setitem(__import__("sys").modules, to, None)
    with pytest.raises(UsageError, match=rf"pip install 'probatum\[{to}\]'") as error:
        send(run, to, bundle=False)
    assert "\n" not in str(error.value)


# ── MLflow and W&B, the real ones ───────────────────────────────────────────────────────────────────


@needs("mlflow")
@pytest.mark.filterwarnings("default")
def test_mlflow_holds_what_was_sent(run, tmp_path, monkeypatch):
    from mlflow.tracking import MlflowClient

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    sent = send(run, "mlflow", project="tests", redact=True)
    again = send(run, "mlflow", project="tests", bundle=False)
    client = MlflowClient()
    held = client.get_run(sent.id)
    assert held.data.metrics == pytest.approx(metrics_of(run))
    assert held.data.params == {**params_of(run), "bundle sha256": sent.bundle}
    assert (held.info.status, held.data.tags["probatum.run"]) == ("FINISHED", run.id)
    assert client.get_experiment(held.info.experiment_id).name == "tests"
    assert client.get_run(again.id).info.experiment_id == held.info.experiment_id
    assert client.list_artifacts(again.id) == []
    (artifact,) = client.list_artifacts(sent.id)
    path = Path(client.download_artifacts(sent.id, artifact.path, str(tmp_path)))
    found = verify_bundle(path, sent.bundle)
    assert (found.whole, found.redacted, found.run) == (True, True, run.id)


@needs("mlflow")
@pytest.mark.filterwarnings("default")
def test_a_tracker_that_refuses_is_told_in_one_line(run, tmp_path, monkeypatch):
    (tmp_path / "no").write_text("a file where a folder should be")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/no/folder/mlflow.db")
    with pytest.raises(UsageError, match="mlflow refused the run") as error:
        send(run, "mlflow", bundle=False)
    assert "\n" not in str(error.value)


@needs("wandb")
@pytest.mark.filterwarnings("default")
def test_wandb_takes_a_run_offline(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    sent = send(run, "wandb", project="tests")
    (folder,) = [one for one in (tmp_path / "wandb").iterdir() if one.name.endswith(sent.id)]
    assert folder.name.startswith("offline-run-")
    written = (folder / f"run-{sent.id}.wandb").read_bytes()
    for text in (b"sums/correct/low", b"sums/pass_at_1", b"sums/protocol digest", run.id.encode()):
        assert text in written
    assert f"probatum-{run.id}".encode() in written


# ── the hub ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_metadata_of_a_model_card_is_what_the_hub_reads(run, tmp_path):
    from huggingface_hub import ModelCard
    from huggingface_hub.repocard_data import model_index_to_eval_results

    metadata = yaml.safe_load(hub_text(run, tmp_path / "metadata.yaml"))
    name, results = model_index_to_eval_results(metadata["model-index"])
    assert name == "org/model"
    told = {each.metric_name: each for each in results}
    whole = [each for each in run.estimates if "/" not in each.name]
    assert set(told) == {f"{each.name} [{each.denominator}]" for each in whole}
    for each in whole:
        result = told[f"{each.name} [{each.denominator}]"]
        assert result.metric_value == each.value
        args = result.metric_args
        assert (args["low"], args["high"], args["n"], args["level"]) == (each.low, each.high, each.n, 0.95)
        assert tuple(args["bounds"]) == each.bounds
        assert args["run"] == run.id
    card = ModelCard(hub_text(run, tmp_path / "README.md"))
    assert {each.metric_name for each in card.data.eval_results} == set(told)
    assert f"# Evaluation card of run {run.id}" in card.text


def with_hub(run: EvaluatedRun, kind: str) -> EvaluatedRun:
    (task,) = run.record.tasks
    recipe = json.loads(json.dumps(dict(task.recipe)))
    source = recipe["protocol"]["fields"]["task"]["fields"]["source"]
    source["fields"]["hub"] = {
        "is": "Hub",
        "fields": {"repository": "org/sums", "revision": "abc", "files": []},
    }
    origin = {**task.origin, "kind": kind, "revision": "abc"}
    return EvaluatedRun(replace(run.record, tasks=(replace(task, recipe=recipe, origin=origin),)), run.store)


@pytest.mark.parametrize(("kind", "revision"), [("hub", "abc"), ("local", None)])
def test_results_of_a_set_of_the_hub_are_entries_that_the_hub_reads(run, tmp_path, kind, revision):
    from huggingface_hub import parse_eval_result_entries

    text = hub_text(with_hub(run, kind), tmp_path / ".eval_results" / "sums.yaml")
    (entry,) = parse_eval_result_entries(yaml.safe_load(text))
    first = run.estimates[0]
    assert (entry.dataset_id, entry.task_id, entry.value) == ("org/sums", "sums", first.value)
    assert entry.dataset_revision == revision
    assert f"[{first.low:.4f}, {first.high:.4f}], n {first.n}" in entry.notes


def test_what_the_hub_has_no_place_for_is_refused(run, tmp_path):
    with pytest.raises(UsageError, match="names no data set of the hub"):
        hub_text(run, tmp_path / ".eval_results" / "sums.yaml")
    with pytest.raises(UsageError, match=r"end it with \.md or \.yaml"):
        hub_text(run, tmp_path / "metadata.json")
    (task,) = run.record.tasks
    unfinished = EvaluatedRun(replace(run.record, tasks=(replace(task, summary={}),)), run.store)
    with pytest.raises(UsageError, match="has no result to write down"):
        hub_text(unfinished, tmp_path / "metadata.yaml")


def test_the_card_in_a_bundle_says_that_the_run_is_broken(run, tmp_path):
    from probatum.report.bundle import write_bundle

    write_bundle(tmp_path / "b.zip", run)
    with zipfile.ZipFile(tmp_path / "b.zip") as opened:
        assert "INVALID" not in opened.read("card.md").decode()
    write_bundle(tmp_path / "broken.zip", broken(run))
    with zipfile.ZipFile(tmp_path / "broken.zip") as opened:
        assert "INVALID" in opened.read("card.md").decode()
